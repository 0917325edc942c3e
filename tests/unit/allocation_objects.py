"""Objects for the allocation tests, as short as the tests need them: everything that does not matter has a default."""

from typing import Any

import msgspec

from reparto.allocation import Features
from reparto.model.core import Node
from reparto.model.v1 import AllocationResult, DeviceClass, ResourceClaim, ResourceSlice

DRIVER = "gpu.example.com"
ALL_FEATURES = Features(
    admin_access=True,
    compatibility_groups=True,
    consumable_capacity=True,
    derived_attributes=True,
    device_binding_and_status=True,
    device_taints=True,
    fractional_capacity_range=True,
    list_type_attributes=True,
    optional_node_operations=True,
    partitionable_devices=True,
    prioritized_list=True,
)


def node(name: str = "n1", *, features: tuple[str, ...] = (), **labels: str) -> Node:
    """A node; keyword arguments are labels."""
    return msgspec.convert(
        {"kind": "Node", "metadata": {"name": name, "labels": labels}, "status": {"declaredFeatures": features}}, Node
    )


def pool(*devices: Any, name: str = "n1", **spec: Any) -> ResourceSlice:
    """A slice that is a pool of its own, for node n1 unless `spec` says otherwise. A device may be just its name."""
    where = {"allNodes", "nodeSelector", "perDeviceNodeSelection", "nodeName"} & set(spec)
    listed = [{"name": device} if isinstance(device, str) else device for device in devices]
    body = {"driver": DRIVER, "pool": {"name": name, "generation": 1, "resourceSliceCount": 1}, "devices": listed}
    return published(f"slice-{name}", **(body | ({} if where else {"nodeName": "n1"}) | spec))


def published(slice_name: str, **spec: Any) -> ResourceSlice:
    """A slice with exactly this spec."""
    return msgspec.convert({"kind": "ResourceSlice", "metadata": {"name": slice_name}, "spec": spec}, ResourceSlice)


def device_class(name: str = "gpu", *expressions: str, config: tuple[Any, ...] = ()) -> DeviceClass:
    """A class with these selectors."""
    selectors = [{"cel": {"expression": expression}} for expression in expressions]
    spec = {"selectors": selectors, "config": list(config)}
    return msgspec.convert({"kind": "DeviceClass", "metadata": {"name": name}, "spec": spec}, DeviceClass)


def ask(count: int = 1, *expressions: str, **fields: Any) -> dict[str, Any]:
    """What a request or subrequest says besides its name: count devices of class gpu that match the selectors."""
    selectors = [{"cel": {"expression": expression}} for expression in expressions]
    return {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count, "selectors": selectors} | fields


def everything(**fields: Any) -> dict[str, Any]:
    """A request for all devices."""
    return ask(0, **({"allocationMode": "All"} | fields))


def claim(*requests: Any, name: str = "claim", constraints: tuple[Any, ...] = (), config: tuple[Any, ...] = ()) -> ResourceClaim:
    """A claim. A request is what `ask` returns (named r0, r1, …), or a list of those: alternatives named s0, s1, …"""
    written = [
        {"name": f"r{index}", "firstAvailable": [{"name": f"s{number}"} | each for number, each in enumerate(request)]}
        if isinstance(request, list)
        else {"name": f"r{index}", "exactly": request}
        for index, request in enumerate(requests)
    ]
    devices = {"requests": written, "constraints": list(constraints), "config": list(config)}
    metadata = {"name": name, "namespace": "ns", "uid": f"uid-{name}"}
    return msgspec.convert({"kind": "ResourceClaim", "metadata": metadata, "spec": {"devices": devices}}, ResourceClaim)


def allocated_claim(*results: dict[str, Any], name: str = "holder") -> ResourceClaim:
    """A claim that holds these devices; a result needs no more than its device."""
    full = [{"request": "r0", "driver": DRIVER, "pool": "n1"} | result for result in results]
    metadata = {"name": name, "namespace": "ns", "uid": f"uid-{name}"}
    status = {"allocation": {"devices": {"results": full}}}
    return msgspec.convert({"kind": "ResourceClaim", "metadata": metadata, "status": status}, ResourceClaim)


def names(results: list[AllocationResult] | None) -> list[list[str]] | None:
    """The devices of each claim, by name."""
    if results is None:
        return None
    return [[result.device for result in allocation.devices.results] for allocation in results]
