"""The allocator's answers in the words of a plan: which object and field is to blame, and what to do.

The allocator speaks of claims, requests and devices; a person edits templates and classes. Here the one is turned into the other: a
request of a claim that was made from a template points at the template, a selector of a class at the class.
"""

from collections.abc import Sequence

from reparto.allocation import AllocationError, Allocator
from reparto.allocation.trace import Gate, explain_failure, of_error
from reparto.model.core import Node
from reparto.placement.claims import PodClaim
from reparto.placement.reasons import Failure, Tally


def failure_of_error(error: AllocationError, node: Node | None, entries: Sequence[PodClaim]) -> Failure:
    """An error of the allocator; `node` is None where it concerns the pod wherever it might run."""
    gate = of_error(error)
    subject, path = _blame(gate, _entry(gate, entries))
    return Failure(node.metadata.name if node else "", gate.code, subject, path, gate.cause)


class Explanations:
    """Why open claims do not fit on a node, where the allocator said that they do not.

    A full cluster is asked the same for every pod of a template on every node, so gates are remembered until the state changes.
    """

    def __init__(self, allocator: Allocator) -> None:
        self._allocator = allocator
        self._version = allocator.allocated.version
        self._known: dict[tuple[tuple[int, ...], str], tuple[Gate, int]] = {}

    def failure(self, node: Node, entries: Sequence[PodClaim]) -> Failure:
        """The first gate that keeps the claims of `entries` from `node`."""
        if self._version != self._allocator.allocated.version:
            self._version = self._allocator.allocated.version
            self._known.clear()
        question = tuple(id(entry.claim.spec) for entry in entries), node.metadata.name
        if question not in self._known:
            gate = explain_failure(self._allocator, node, [entry.claim for entry in entries])
            entry = _entry(gate, entries)
            if entry is None or not gate.total:
                # Its words may name the claims of this pod.
                return _counted(gate, node, entry)
            self._known[question] = gate, entries.index(entry)
        gate, index = self._known[question]
        return _counted(gate, node, entries[index])


def _counted(gate: Gate, node: Node, entry: PodClaim | None) -> Failure:
    subject, path = _blame(gate, entry)
    cause = f"too few devices match {' '.join(gate.expression.split())}" if gate.expression else gate.cause
    if entry is not None and gate.request:
        field = entry.fields.get(gate.request)
        cause = f"{field.resource if field else f'{entry.name}/{gate.request}'}: {cause}"
    tallies = (Tally(gate.what or "devices", gate.matching, gate.total, gate.needed),) if gate.total else ()
    return Failure(node.metadata.name, gate.code, subject, path, cause, tallies=tallies, holders=gate.owners)


def _entry(gate: Gate, entries: Sequence[PodClaim]) -> PodClaim | None:
    return next((entry for entry in entries if gate.claim == f"{entry.claim.metadata.namespace}/{entry.claim.metadata.name}"), None)


def _blame(gate: Gate, entry: PodClaim | None) -> tuple[str, str]:
    """The object and field that decide: of the class where a selector is its own, else of the claim, or of its template."""
    if gate.class_name and gate.selector is not None:
        return f"DeviceClass/{gate.class_name}", f"spec.selectors[{gate.selector}].cel.expression"
    if entry is None:
        return (f"DeviceClass/{gate.class_name}", "spec") if gate.class_name else ("", "")
    if entry.fields:
        field = entry.fields.get(gate.request)
        return entry.origin, field.path if field else entry.path
    if gate.constraint is not None:
        return entry.origin, f"{entry.path}.devices.constraints[{gate.constraint}]"
    path = _request_path(entry, gate.request)
    if path and gate.class_name:
        path += ".deviceClassName"
    elif path and gate.selector is not None:
        path += f".selectors[{gate.selector}].cel.expression"
    return entry.origin, path or f"{entry.path}.devices"


def _request_path(entry: PodClaim, reference: str) -> str:
    name, _, alternative = reference.partition("/")
    for index, request in enumerate(entry.claim.spec.devices.requests):
        if request.name != name:
            continue
        path = f"{entry.path}.devices.requests[{index}]"
        if request.exactly is not None:
            return f"{path}.exactly"
        for number, subrequest in enumerate(request.first_available):
            if subrequest.name == alternative:
                return f"{path}.firstAvailable[{number}]"
        return path
    return ""
