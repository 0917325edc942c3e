"""Why no node fits, in the words of a plan: what every filter said about every node, grouped.

A full cluster is asked the same for every pod of a workload, so that answers are kept until something changes.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

import msgspec

from reparto.allocation import AllocationError
from reparto.model import codes
from reparto.placement.claims import PodClaim
from reparto.placement.cluster import Cluster, NodeState
from reparto.placement.cycle import Refusals
from reparto.placement.failures import Explanations, failure_of_error
from reparto.placement.plan import Reason
from reparto.placement.plugins.devices import Devices, PodDevices
from reparto.placement.pod_view import PodView
from reparto.placement.reasons import Failure, group
from reparto.placement.rejections import Rejection
from reparto.placement.snapshot import Key, key, reference

_LABELS_UNKNOWN: Final = "the input has no Node objects, so labels are not known: add `kubectl get nodes -o yaml`"
_OTHER_NODES: Final = "the pod's required node affinity names other nodes"
_NAMES: Final = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"
# Stands for the pod in reasons that other pods share.
_THE_POD: Final = "\0"


class _Known:
    """What was found for a question, and when: how many charges of nodes, and which changes of devices, had been before."""

    __slots__ = ("charges", "failures", "moment", "reasons")

    def __init__(self, failures: dict[int, tuple[Failure, ...]], reasons: tuple[Reason, ...]) -> None:
        self.failures = failures
        self.reasons = reasons
        self.charges = 0
        self.moment = 0


class RefusalReasons:
    """Turns `Refusals` into reasons."""

    def __init__(self, cluster: Cluster, devices: Devices, explanations: Explanations, labels_unknown: bool) -> None:
        self._cluster = cluster
        self._devices = devices
        self._explanations = explanations
        self._labels_unknown = labels_unknown
        self._known: dict[object, _Known] = {}

    def reasons(self, view: PodView, refusals: Refusals) -> tuple[Reason, ...]:
        """One reason for each kind of failure, that of most nodes first."""
        subject = reference("Pod", view.pod.metadata)
        return tuple(
            msgspec.structs.replace(reason, object=subject) if reason.object == _THE_POD else reason
            for reason in self._shared(view, refusals)
        )

    def in_the_way(self, refusals: Refusals) -> set[Key]:
        """The allocated claims that alone kept the pod from a node where everything before them passed."""
        devices = refusals.devices
        if devices is None or devices.available() is None:
            return set()
        return {
            key(entry.claim.metadata)
            for position in refusals.looked_at
            if refusals.rejected(position) is None and self._have(devices, position)
            for entry in devices.in_the_way(position)
        }

    def _shared(self, view: PodView, refusals: Refusals) -> tuple[Reason, ...]:
        """The reasons, kept for all pods that are alike and have claims of the same templates."""
        devices = refusals.devices
        if not refusals.local or (devices is not None and devices.available() is not None):
            return self._group(self._failures(refusals))
        asked = () if devices is None else (devices.key, tuple((entry.name, entry.origin, entry.path) for entry in devices.entries))
        question = view.shape, asked
        known = self._known.get(question)
        changed = self._changed_since(known) if known is not None else None
        if known is None or changed is None:
            failures = {position: tuple(self._on(refusals, position)) for position in refusals.looked_at}
            known = self._known[question] = _Known(failures, self._group(chain.from_iterable(failures.values())))
        else:
            anew = {position: tuple(self._on(refusals, position)) for position in changed}
            if any(known.failures[position] != failures for position, failures in anew.items()):
                known.failures.update(anew)
                known.reasons = self._group(chain.from_iterable(known.failures.values()))
        known.charges, known.moment = len(self._cluster.changes), self._devices.moment
        names = [view.pod.metadata.name, *(entry.claim.metadata.name for entry in devices.entries)] if devices else []
        # Where devices were counted, the words are ours, and no names are in them but those of who holds devices.
        uncounted = [reason for reason in known.reasons if len(reason.counts) < 2]
        if any(name in reason.message for reason in uncounted for name in names):
            # They are the allocator's, and about the claims of this pod.
            del self._known[question]
        return known.reasons

    def _changed_since(self, known: "_Known") -> set[int] | None:
        devices = self._devices.changed_since(known.moment)
        return None if devices is None else {*self._cluster.changes[known.charges :], *devices}

    def _group(self, failures: Iterable[Failure]) -> tuple[Reason, ...]:
        return group(list(failures), len(self._cluster))

    def _failures(self, refusals: Refusals) -> Iterator[Failure]:
        if refusals.named is not None:
            looked_at = set(refusals.looked_at)
            for state in self._cluster.nodes:
                if state.position not in looked_at:
                    yield self._failure(state, Rejection(codes.NODE_AFFINITY, _NAMES, _OTHER_NODES))
        for position in refusals.looked_at:
            yield from self._on(refusals, position)

    def _on(self, refusals: Refusals, position: int) -> Iterator[Failure]:
        """What is against one node that was looked at."""
        state = self._cluster.nodes[position]
        if (rejected := refusals.rejected(position)) is not None:
            yield self._failure(state, rejected)
            return
        devices = refusals.devices
        if devices is not None and not self._have(devices, position):
            yield self._without_devices(devices, state)
        elif devices is not None and (entries := devices.in_the_way(position)):
            yield from (devices.failure(entry, state) for entry in entries)
        elif refusals.features is not None and (rejected := refusals.features.why(position)) is not None:
            yield self._failure(state, rejected)

    def _have(self, devices: PodDevices, position: int) -> bool:
        return devices.answers is None or bool(devices.answers.fits[position])

    def _failure(self, state: NodeState, rejected: Rejection) -> Failure:
        hint = _LABELS_UNKNOWN if self._labels_unknown and rejected.code == codes.NODE_AFFINITY else ""
        return Failure(state.name, rejected.code, _THE_POD, rejected.path, rejected.cause, hint)

    def _without_devices(self, devices: PodDevices, state: NodeState) -> Failure:
        entries = _asked(devices, state)
        try:
            devices.allocations(state)
        except AllocationError as error:
            return failure_of_error(error, state.node, entries)
        return self._explanations.failure(state.node, entries)


def _asked(devices: PodDevices, state: NodeState) -> Sequence[PodClaim]:
    """The open claims of the pod, and the one that the scheduler would make for its extended resources on the node."""
    entries = [entry for entry in devices.entries if entry.claim.status.allocation is None]
    if (extended := devices.extended(state)) is not None:
        entries.append(PodClaim("", devices.claims(state)[-1], _THE_POD, "spec.containers", extended.fields))
    return entries
