"""CPU, memory and the like: NodeResourcesFit as filter and score, NodeResourcesBalancedAllocation as score.

Source: scheduler `noderesources` of 1.37.2: fit.go, least_allocated.go, balanced_allocation.go, resource_allocation.go.
"""

from collections.abc import Callable, Iterable
from typing import Final

from reparto.model import codes
from reparto.placement.cluster import Cluster, NodeState
from reparto.placement.rejections import Rejection, rejection
from reparto.placement.resources import CPU, MEMORY, PODS, PodResources

_HIGHEST: Final = 100


class ResourcesFit:
    """What must be left on a node. `delegated(resource, node)` says that DRA serves an extended resource there instead."""

    def __init__(self, resources: PodResources, delegated: Callable[[str, NodeState], bool] | None = None) -> None:
        self._needs = [(PODS, 1), *((name, amount) for name, amount in resources.requested.items() if amount > 0 and name != PODS)]
        self._delegated = delegated

    def suspects(self, cluster: Cluster) -> Iterable[int]:
        for resource, amount in self._needs:
            yield from [position for position, free in enumerate(cluster.free(resource)) if free < amount]

    def __call__(self, state: NodeState) -> Rejection | None:
        short = [
            (resource, amount)
            for resource, amount in self._needs
            if state.free(resource) < amount and not (self._delegated is not None and self._delegated(resource, state))
        ]
        if not short:
            return None
        # Where the node as a whole is too small, no eviction helps.
        resolvable = all(amount <= state.has(resource) or resource == PODS for resource, amount in short)
        causes = [_cause(resource, state.has(resource) < amount) for resource, amount in short]
        return rejection(codes.NODE_RESOURCES, "spec.containers", ", ".join(causes), resolvable)


def _cause(resource: str, too_small: bool) -> str:
    if resource == PODS:
        return "the node has as many pods as it can take"
    return f"the node has too little {resource}" if too_small else f"too little {resource} is left"


class LoadScores:
    """The two scores about resources of pods that ask for the same, added up."""

    def __init__(self, resources: PodResources) -> None:
        self._usual_cpu, self._usual_memory = resources.usual
        self._cpu, self._memory = resources.plain
        # BalancedAllocation does not score pods that ask for neither.
        self._balances = any(resources.plain)

    def score(self, state: NodeState) -> int:
        cpu, memory = state.cpu, state.memory
        if state.allocatable is None:
            return 0
        total = 0
        if cpu or memory:
            # LeastAllocated: the mean share of CPU and memory that would be left, in percent.
            left_cpu, left_memory = cpu - state.usual_cpu - self._usual_cpu, memory - state.usual_memory - self._usual_memory
            of_cpu = left_cpu * _HIGHEST // cpu if cpu and left_cpu >= 0 else 0
            of_memory = left_memory * _HIGHEST // memory if memory and left_memory >= 0 else 0
            total = (of_cpu + of_memory) // 2 if cpu and memory else of_cpu + of_memory
        if self._balances:
            # BalancedAllocation: whether the pod brings the used shares of both nearer to each other.
            used_cpu, used_memory = state.charged.get(CPU, 0), state.charged.get(MEMORY, 0)
            if state.evenness is None:
                state.evenness = _evenness(used_cpu, cpu, used_memory, memory)
            after = _evenness(used_cpu + self._cpu, cpu, used_memory + self._memory, memory)
            total += _HIGHEST // 2 + (_HIGHEST // 2 + after - state.evenness) // 2
        return total


def _evenness(cpu: int, cpus: int, memory: int, memories: int) -> int:
    """100 where both shares are equal, 50 where one is used up and the other unused. In the floating point of the scheduler."""
    if not cpus or not memories:
        return _HIGHEST
    deviation = abs((min(cpu / cpus, 1.0) - min(memory / memories, 1.0)) / 2)
    return int((1 - deviation) * float(_HIGHEST))
