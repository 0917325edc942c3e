"""Attempts to allocate on a node, remembered: in a plan the same question comes up for every pod of a template on every node.

Two claims with the same spec get the same answer on a node for as long as nothing that the node can see was taken since. What does
not fit stays so until something is freed, for in a plan devices are only ever taken otherwise.

Claims on which the search gives up are likely to defeat it on every node. Each time they do, the next node gets half the steps, so
that a pod costs about two budgets in all and not one for each node of the cluster; an attempt that gave up is not repeated either.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from reparto.allocation import Allocator, GaveUp
from reparto.model.core import Node
from reparto.model.v1 import AllocationResult, ResourceClaim, ResourceSlice

# An attempt costs no more than a few dozen steps where it goes well; this many (some 25 ms) are always granted.
_LEAST_STEPS: Final = 10_000

_Allocations = list[AllocationResult]
# The specs of the claims (by identity: claims of one template share theirs) and the node.
_Specs = tuple[int, ...]
_Question = tuple[_Specs, str]


class Attempts:
    """Asks an allocator, unless the answer is known. Whoever changes the allocated state says so: `took`, `freed`."""

    def __init__(self, allocator: Allocator, slices: Iterable[ResourceSlice]) -> None:
        self._allocator = allocator
        self._roaming = {(item.spec.driver, item.spec.pool.name) for item in slices if not item.spec.node_name}
        self._hopeless: set[_Question] = set()
        self._fitting: dict[str, dict[_Specs, _Allocations]] = {}
        self._undecided: dict[_Question, GaveUp] = {}
        self._defeats: dict[_Specs, int] = {}

    def allocate(self, node: Node, claims: Sequence[ResourceClaim]) -> _Allocations | None:
        """As `Allocator.allocate`, errors included; no claims need nothing."""
        if not claims:
            return []
        specs, name = tuple(id(claim.spec) for claim in claims), node.metadata.name
        if (specs, name) in self._hopeless:
            return None
        if (gave_up := self._undecided.get((specs, name))) is not None:
            raise gave_up
        known = self._fitting.setdefault(name, {})
        if specs not in known:
            allocations = self._search(node, claims, specs)
            if allocations is None:
                self._hopeless.add((specs, name))
                return None
            known[specs] = allocations
        return known[specs]

    def _search(self, node: Node, claims: Sequence[ResourceClaim], specs: _Specs) -> _Allocations | None:
        granted = self._allocator.step_budget
        if defeats := self._defeats.get(specs, 0):
            granted = min(granted, max(granted >> defeats, _LEAST_STEPS))
        try:
            return self._allocator.allocate(node, claims, step_budget=granted)
        except GaveUp as error:
            self._defeats[specs] = defeats + 1
            self._undecided[specs, node.metadata.name] = error
            raise

    def took(self, claim: ResourceClaim, node: Node) -> bool:
        """`claim` was allocated on `node`. Pools of one node concern nobody else; others may be seen from anywhere: then True."""
        allocation = claim.status.allocation
        if allocation is not None and any((result.driver, result.pool) in self._roaming for result in allocation.devices.results):
            self._fitting.clear()
            return True
        self._fitting.pop(node.metadata.name, None)
        return False

    def freed(self) -> None:
        """Devices were given back: nothing that was learned holds any more."""
        self._hopeless.clear()
        self._fitting.clear()
        self._undecided.clear()
