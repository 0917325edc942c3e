"""Verification: is what claims hold legal? Worked out from scratch, apart from the search that made the allocations.

A search that undoes one step too few still returns something that looks like an answer. So this package derives every rule anew
from the specification and Kubernetes' code, as a statement about what is there: no order of steps, nothing to undo, sums over all
claims. It shares no code with the search, nor with the rules the search uses (pools, node matching, counters, capacity,
constraints, taints, results, state); a rule misread there is not misread here by importing it. Common are the objects of
`reparto.model` with quantities, the CEL language of `reparto.cel`, and `Features`, which is only a list of switches. A test holds
this. (The language is held to Kubernetes' by tests of its own, the quantities too.)
"""

from collections.abc import Iterable

from reparto.allocation.features import Features
from reparto.allocation.verification.breaches import Breach, BreachKind, Standing
from reparto.allocation.verification.claims import ClaimCheck, Setting
from reparto.allocation.verification.holdings import Holding, Together
from reparto.allocation.verification.matching import Matching
from reparto.allocation.verification.publication import Publication
from reparto.allocation.verification.sites import Sites
from reparto.model.core import Node
from reparto.model.v1 import DeviceClass, ResourceClaim, ResourceSlice

__all__ = ["Breach", "BreachKind", "Standing", "verify"]


def verify(
    slices: Iterable[ResourceSlice],
    classes: Iterable[DeviceClass],
    claims: Iterable[ResourceClaim],
    nodes: Iterable[Node],
    *,
    features: Features | None = None,
) -> list[Breach]:
    """Everything that is wrong with the allocations of `claims`; empty if all are legal and would be made the same way now.

    Claims without an allocation are ignored. Slices, classes and nodes are those of now, slices with the taints of rules applied
    (`apply_taint_rules`). Since they may have changed after a claim was allocated, each breach has a `standing`: made wrong
    whatever was published then, impossible as things are now, or merely not to be had again. A device tainted under a running pod
    is of the last sort. `features` are by default those of the newest release.

    Order: claims as given, each with its own breaches in the order of the rules; then what several claims break together, which is
    reported once, on the last of them, with the others named. Rules that upstream applies to a whole attempt and then forgets
    (admin access pays for counters and groups, a pod's claims do not share a device by admin access) are not rules about what is
    held, and not checked. Counters are judged where all slices of a pool's generation are there.

    Cost: O(slices) to index them (O(devices published) where compatibility groups are off), O(devices) of the pools of which
    something is held, and O(devices allocated × their selectors, attributes, constraints and counters). Besides, for each claim
    that is not bound to one node, the nodes it may be used on, once per kind of such claim, and for each request for all devices,
    the devices of its node. It never raises for anything that decoded.

    Source: upstream-dra.md section 3; KEP-4381, 4815, 4816, 5018, 5055, 5075, 5007, 5491, 5945, 5963, 6080.
    """
    features = Features.for_version() if features is None else features
    publication = Publication(slices, features)
    by_name: dict[str, DeviceClass] = {}
    for device_class in classes:
        by_name.setdefault(device_class.metadata.name, device_class)
    newest = (
        features.optional_node_operations,
        features.list_type_attributes,
        features.derived_attributes,
        features.compatibility_groups,
    )
    sites = Sites(publication, nodes, skipping=features.optional_node_operations)
    matching = Matching(by_name, publication, features)
    setting = Setting(by_name, publication, sites, features, matching, knows_skipping=any(newest))
    breaches: list[Breach] = []
    holdings: list[Holding] = []
    for number, claim in enumerate(claims):
        if claim.status.allocation is not None:
            check = ClaimCheck(claim, claim.status.allocation, number, setting)
            breaches += check.breaches()
            holdings += check.holdings
    return breaches + list(Together(holdings, publication, features).breaches())
