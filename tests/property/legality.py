"""What every step of a test asks of the cluster: nothing that was allocated just now is illegal.

`assert_legal` is for whoever allocates: after each step it is given what was held before and what the step made. Breaches that
were there before are not the step's, so tests may start from a state that contradicts itself, or change slices between steps.
"""

from collections.abc import Iterable, Sequence

import msgspec

from reparto.allocation import Breach, BreachKind, Features, verify
from reparto.model.core import Node
from reparto.model.v1 import AllocationResult, DeviceClass, ResourceClaim, ResourceSlice


def allocated(claims: Sequence[ResourceClaim], results: Sequence[AllocationResult]) -> list[ResourceClaim]:
    """The claims with these allocations in their status."""
    return [
        msgspec.structs.replace(claim, status=msgspec.structs.replace(claim.status, allocation=result))
        for claim, result in zip(claims, results, strict=True)
    ]


def new_breaches(
    slices: Iterable[ResourceSlice],
    classes: Iterable[DeviceClass],
    held: Iterable[ResourceClaim],
    made: Iterable[ResourceClaim],
    nodes: Iterable[Node],
    *,
    features: Features,
) -> list[Breach]:
    """What `verify` finds now that it did not find before `made` came to `held`, all other things being as they are.

    Compatibility groups that contradicted each other before are left out: what may join them then depends on the order in which
    upstream meets them, so there is no right and wrong.
    """
    slices, classes, held, nodes = list(slices), list(classes), list(held), list(nodes)
    before = set(verify(slices, classes, held, nodes, features=features))
    hopeless = {_pool(breach) for breach in before if breach.kind is BreachKind.COMPATIBILITY_GROUPS}
    return [
        breach
        for breach in verify(slices, classes, [*held, *made], nodes, features=features)
        if breach not in before and not (breach.kind is BreachKind.COMPATIBILITY_GROUPS and _pool(breach) in hopeless)
    ]


def _pool(breach: Breach) -> str:
    return breach.device.rpartition("/")[0]


def assert_legal(
    slices: Iterable[ResourceSlice],
    classes: Iterable[DeviceClass],
    held: Iterable[ResourceClaim],
    made: Iterable[ResourceClaim],
    nodes: Iterable[Node],
    *,
    features: Features,
) -> None:
    """Fails with every breach that the allocations of `made` brought, given the claims `held` before."""
    breaches = new_breaches(slices, classes, held, made, nodes, features=features)
    assert not breaches, "\n".join(f"{breach.kind} ({breach.standing}): {breach}" for breach in breaches)
