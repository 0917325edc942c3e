"""Why nodes were refused, grouped: a hundred nodes that fail alike are one reason with a count, not a hundred lines.

A `Failure` is one node's first failing gate. Failures with the same code, object, path and cause are one reason; device counts are
summed over its nodes, and the claims that hold devices are listed once.
"""

from collections.abc import Sequence

import msgspec

from reparto.model import codes
from reparto.placement.plan import Count, Reason

# So many holders of devices are named in a message; the rest are counted.
_NAMED_HOLDERS = 4
# So many nodes are named in a reason: every pending pod of a large cluster has one.
_NAMED_NODES = 10


class Tally(msgspec.Struct, frozen=True):
    """`matching` of `total` devices on one node, where `needed` are needed; `what` says what they match."""

    what: str
    matching: int
    total: int
    needed: int


class Failure(msgspec.Struct, frozen=True):
    """The first gate that keeps a pod from `node`, or from every node where that is empty.

    `cause` may not name the node: nodes with equal causes are grouped.
    """

    node: str
    code: str
    object: str
    path: str
    cause: str
    hint: str = ""
    tallies: tuple[Tally, ...] = ()
    holders: tuple[str, ...] = ()


def reason_of(code: str, subject: str, path: str, message: str, hint: str = "") -> Reason:
    """A reason with what its code says to do, unless there is something better: `hint`."""
    return Reason(code, subject, path, message, hint or codes.lookup(code).fix)


def group(failures: Sequence[Failure], nodes: int) -> tuple[Reason, ...]:
    """One reason for each kind of failure, the one of most nodes first; `nodes` is how many nodes there are."""
    kinds: dict[tuple[str, str, str, str], list[Failure]] = {}
    for failure in failures:
        kinds.setdefault((failure.code, failure.object, failure.path, failure.cause), []).append(failure)
    ordered = sorted(kinds.values(), key=lambda members: -len({member.node for member in members}))
    return tuple(_reason(members, nodes) for members in ordered)


def _reason(members: Sequence[Failure], nodes: int) -> Reason:
    first, failing = members[0], sorted({member.node for member in members})
    tallies: dict[str, list[Tally]] = {}
    for member in members:
        for tally in member.tallies:
            tallies.setdefault(tally.what, []).append(tally)
    counts = [
        Count(what, sum(tally.matching for tally in each), sum(tally.total for tally in each), len(each))
        for what, each in tallies.items()
    ]
    holders = sorted({holder for member in members for holder in member.holders})
    message = f"{_where(failing, nodes)}{first.cause}"
    if counts:
        message += f" ({'; '.join(_counted(count, tallies[count.what][0].needed) for count in counts)})"
    if holders:
        message += f", held by {_listed(holders)}"
    named: tuple[str, ...] = ()
    if failing != [""]:
        counts.append(Count("nodes", len(failing), nodes, len(failing)))
        named = tuple(failing[:_NAMED_NODES])
    found = reason_of(first.code, first.object, first.path, message, first.hint)
    return msgspec.structs.replace(found, counts=tuple(counts), nodes=named)


def _where(failing: Sequence[str], nodes: int) -> str:
    if failing == [""]:
        return ""
    if nodes == 1:
        return "on the only node: "
    return f"on node {failing[0]}: " if len(failing) == 1 else f"on {len(failing)} of {nodes} nodes: "


def _counted(count: Count, needed: int) -> str:
    if count.nodes == 1:
        return f"{count.what}: {count.matching} of {count.total}, {needed} needed"
    return f"{count.what}: {count.matching} of {count.total} on {count.nodes} nodes, {needed} needed on one"


def _listed(holders: Sequence[str]) -> str:
    more = len(holders) - _NAMED_HOLDERS
    return ", ".join(holders[:_NAMED_HOLDERS]) + (f" and {more} more" if more > 0 else "")
