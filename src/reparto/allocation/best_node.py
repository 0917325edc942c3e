"""The best of several nodes: where the claims of a pod cost the rest least.

For programs that use the engine alone. A plan weighs what users ask of nodes first, and asks about as many nodes as it needs.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from reparto.allocation.allocator import Allocator
from reparto.allocation.errors import AllocationError
from reparto.allocation.preference import Loss
from reparto.model.core import Node
from reparto.model.v1 import AllocationResult, ResourceClaim


class BestNode(NamedTuple):
    """The node at `position` of those asked about, what the claims get there, and what that costs."""

    position: int
    allocations: list[AllocationResult]
    loss: Loss


def best_node(allocator: Allocator, nodes: Iterable[Node], claims: Sequence[ResourceClaim]) -> BestNode | None:
    """The node with the least loss, of equal ones the first; None if the claims fit on none.

    The allocator's policy must be best-fit. Raises AllocationError where that ends the pod's attempt. Cost: one allocation a node.
    """
    best: BestNode | None = None
    for position, node in enumerate(nodes):
        try:
            allocations = allocator.allocate(node, claims)
        except AllocationError as error:
            if not error.node_only:
                raise
            continue
        if allocations is None:
            continue
        lost = allocator.loss(node, allocations)
        if best is None or lost < best.loss:
            best = BestNode(position, allocations, lost)
    return best
