"""Allocated claims for the tests of `verify`, written by hand: what the tests check is not made by the code they check."""

from typing import Any

import msgspec

from reparto.allocation import BreachKind, Features, verify
from reparto.model.v1 import AllocationResult, ResourceClaim
from unit.allocation_objects import ALL_FEATURES, DRIVER, device_class, node


def on(node_name: str) -> dict[str, Any]:
    """The node selector of an allocation that is bound to one node."""
    fields = [{"key": "metadata.name", "operator": "In", "values": [node_name]}]
    return {"nodeSelectorTerms": [{"matchFields": fields}]}


def held(claim: ResourceClaim, *results: Any, selector: Any = None, config: Any = (), anywhere: bool = False) -> ResourceClaim:
    """`claim`, allocated on node n1 unless `selector` says otherwise. A result may be just a device, of request r0 and pool n1."""
    full = [
        {"request": "r0", "driver": DRIVER, "pool": "n1"} | ({"device": result} if isinstance(result, str) else result)
        for result in results
    ]
    allocation: dict[str, Any] = {"devices": {"results": full, "config": list(config)}}
    if not anywhere:
        allocation["nodeSelector"] = selector or on("n1")
    status = msgspec.structs.replace(claim.status, allocation=msgspec.convert(allocation, AllocationResult))
    return msgspec.structs.replace(claim, status=status)


def broken(slices: Any, claims: Any, *, classes: Any = None, nodes: Any = None, features: Any = ALL_FEATURES) -> list[BreachKind]:
    """The kinds of all breaches, in the order found."""
    classes = [device_class()] if classes is None else classes
    nodes = [node()] if nodes is None else nodes
    return [breach.kind for breach in verify(slices, classes, claims, nodes, features=features)]


def without(*off: str) -> Features:
    """All features but these."""
    return Features(**{name: name not in off for name in Features.__slots__})
