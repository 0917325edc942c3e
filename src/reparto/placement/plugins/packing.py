"""Best fit for nodes: of those that fit, the one on which the pod's devices cost the rest least.

Part of no scheduler of Kubernetes; used with the policy best-fit only. What users ask of nodes comes first, as kube-scheduler
scores it: taints to avoid, preferred affinity to nodes and pods, spread that the pod itself asks for, the order of alternatives. Of
the nodes that are best by that, the one with the least loss is taken, at equal loss the one that has least left, and of equal ones
the first in the scheduler's order. How much CPU and memory a node has left does not count.
"""

from collections.abc import Iterator, Sequence, Set
from heapq import heappop, heappush
from typing import NamedTuple

from reparto.allocation import Allocator
from reparto.allocation.inventory import PublishedDevice
from reparto.allocation.preference import Choice, Loss
from reparto.hardware.products import profile
from reparto.model.v1 import AllocationResult
from reparto.placement.cluster import Cluster, NodeState
from reparto.placement.plan import DeviceChoice, NodeChoice
from reparto.placement.plugins.devices import PodDevices

_KINDS_NAMED = 2


class Packed(NamedTuple):
    """The chosen node, by its place among those compared, and for how many of them the pod's wishes were as good."""

    place: int
    equals: int


class _Losses:
    """What one question costs on each node, as far as that is known (`known`), and the nodes by that.

    The heap keeps what was known once; an entry counts while it is what is known.
    """

    __slots__ = ("heap", "known")

    def __init__(self) -> None:
        self.known: dict[int, Loss] = {}
        self.heap: list[tuple[Loss, int]] = []

    def least(self, allowed: Set[int]) -> int:
        """The position with the least loss of those allowed, all of which are known; of equal ones the first."""
        aside: list[tuple[Loss, int]] = []
        while True:
            loss, position = self.heap[0]
            if self.known.get(position) == loss:
                if position in allowed:
                    break
                aside.append((loss, position))
            heappop(self.heap)
        for entry in aside:
            heappush(self.heap, entry)
        return position


class NodePacking:
    """The loss of what is asked for on each node, kept until the node's devices change."""

    def __init__(self, cluster: Cluster, allocator: Allocator) -> None:
        self._cluster = cluster
        self._allocator = allocator
        self._losses: dict[object, _Losses] = {}
        self._seen = allocator.allocated.journal.end

    def best(self, devices: PodDevices, fitting: Sequence[int], wishes: Sequence[int]) -> Packed:
        """The best of the nodes that fit; `wishes` says how well each suits the pod otherwise.

        Cost: an allocation's loss for each node whose devices changed since the question was last asked, and a walk over positions.
        """
        self._catch_up()
        losses = self._losses.setdefault(devices.key, _Losses())
        most = max(wishes)
        alike = wishes.count(most) == len(wishes)
        equals = set(fitting if alike else (position for position, wish in zip(fitting, wishes, strict=True) if wish == most))
        for position in equals - losses.known.keys():
            state = self._cluster.nodes[position]
            loss = losses.known[position] = self._allocator.loss(state.node, devices.allocations(state) or [])
            heappush(losses.heap, (loss, position))
        return Packed(fitting.index(losses.least(equals)), len(equals))

    def _catch_up(self) -> None:
        journal = self._allocator.allocated.journal
        if self._seen == journal.end:
            return
        changes = journal.since(self._seen)
        self._seen = journal.end
        if changes is None:
            self._losses.clear()
            return
        for change in changes:
            for name in self._allocator.seen_by(change.pool):
                if (position := self._cluster.position.get(name)) is not None:
                    for losses in self._losses.values():
                        losses.known.pop(position, None)

    def node_choice(self, state: NodeState, packed: Packed | None, compared: int) -> NodeChoice:
        """Why this node, of so many that fit; to be asked before the pod's devices are taken."""
        if packed is None:
            return NodeChoice(state.name, "the only node that fits" if compared == 1 else "the pod is nominated for this node")
        if packed.equals == 1:
            return NodeChoice(state.name, f"{compared} nodes fit, and the pod prefers this one")
        among = f"of the {compared} nodes that fit"
        among += f" the pod prefers {packed.equals}, and of those" if packed.equals < compared else ""
        return NodeChoice(state.name, f"{among} it costs the rest least here")

    def device_choices(self, state: NodeState, devices: PodDevices) -> Iterator[DeviceChoice]:
        """Why these devices, one line for each that was chosen; to be asked before they are taken."""
        claims, allocations = devices.claims(state), devices.allocations(state) or []
        found = self._allocator.choices(state.node, claims, allocations)
        for allocation, line in zip(allocations, found, strict=True):
            yield from self._lines(allocation, line)

    def _lines(self, allocation: AllocationResult, line: Sequence[Choice | None]) -> Iterator[DeviceChoice]:
        for result, choice in zip(allocation.devices.results, line, strict=True):
            if choice is not None:
                yield DeviceChoice(result.request, result.driver, result.pool, result.device, "; ".join(_why(choice)))


def _why(choice: Choice) -> Iterator[str]:
    if choice.smaller:
        yield "a smaller one would cost the rest more"
    elif choice.larger:
        yield "the smallest that fits"
    if choice.shared is not None:
        yield "shared already" if choice.shared else "not shared before"
    if choice.part:
        kept, ended = _kinds(choice.kept), _kinds(choice.ended)
        yield f"keeps {_some(kept)} possible" if kept else f"nothing else can be made of {choice.part} now"
        if lost := [kind for kind in ended if kind not in kept]:
            yield f"ends {_some(lost)}"
        yield f"{choice.part} was unused" if choice.unused else f"{choice.part} is in use already"
    elif not choice.smaller and not choice.larger and choice.shared is None:
        yield "all that fit are alike; the first"


def _kinds(records: Sequence[PublishedDevice]) -> list[str]:
    """The kinds of devices, each once: profiles of partitions, else names."""
    return list(dict.fromkeys(profile(record.id[0], record.device) or record.device.name for record in records))


def _some(kinds: Sequence[str]) -> str:
    return " and ".join(kinds[:_KINDS_NAMED])
