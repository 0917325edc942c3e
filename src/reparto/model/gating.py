"""Fields whose feature gate is off: the API server drops them silently when an object is written, unless the old object used them.

What is dropped is noted, so that a tool can say what the server does not. Source: validation-1.37.md section 3; `dropDisabled…` in
`pkg/registry/resource` and `pkg/api/resourceclaimspec` of 1.37.2.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from reparto.model import v1
from reparto.model.conversion import from_v1, to_v1
from reparto.model.gates import Gates
from reparto.model.meta import Base
from reparto.model.validation.features import enabled
from reparto.model.validation.slices import are_good_scalars
from reparto.model.versions import v1alpha3, v1beta1

_T = TypeVar("_T", bound=msgspec.Struct)

_LISTS = (("ints", "int_values"), ("bools", "bool_values"), ("strings", "string_values"), ("versions", "version_values"))


class Dropped(msgspec.Struct, frozen=True):
    """One field that the API server would not store: its path in the version of the object, and the gate that is off."""

    path: str
    gate: str


def drop_disabled(obj: Base, gates: Gates | None = None, old: Base | None = None) -> Base:
    """`obj` without the fields whose gate is off, `obj` itself where there are none. See `dropped`."""
    return dropped(obj, gates, old)[0]


def dropped(obj: Base, gates: Gates | None = None, old: Base | None = None) -> tuple[Base, list[Dropped]]:
    """`obj` as the API server would store it, and what it leaves out.

    `gates` are settings over the defaults of 1.37; `old` is the object that an update replaces: what it used may stay. The status
    is stripped as on an update of the status.
    """
    flat = isinstance(obj, v1beta1.ResourceClaim | v1beta1.ResourceClaimTemplate | v1beta1.ResourceSlice | v1alpha3.ResourceSlice)
    hub, old_hub = to_v1(obj), None if old is None else to_v1(old)
    strip = _Stripper(gates, flat)
    match hub, old_hub:
        case v1.ResourceSlice(), v1.ResourceSlice() | None:
            spec = strip.slice_spec(hub.spec, None if old_hub is None else old_hub.spec)
            kept = replace(hub, spec=spec) if spec is not hub.spec else hub
        case v1.ResourceClaim(), v1.ResourceClaim() | None:
            claim_spec = strip.claim_spec(hub.spec, None if old_hub is None else old_hub.spec, "spec")
            status = strip.status(hub.status, old_hub)
            kept = replace(hub, spec=claim_spec, status=status)
        case v1.ResourceClaimTemplate(), v1.ResourceClaimTemplate() | None:
            claim_spec = strip.claim_spec(hub.spec.spec, None if old_hub is None else old_hub.spec.spec, "spec.spec")
            kept = replace(hub, spec=replace(hub.spec, spec=claim_spec))
        case v1.DeviceClass(), v1.DeviceClass() | None:
            used = old_hub is not None and old_hub.spec.extended_resource_name is not None
            kept = replace(
                hub, spec=strip.field(hub.spec, "extended_resource_name", "spec.extendedResourceName", "DRAExtendedResource", used)
            )
        case v1alpha3.ResourcePoolStatusRequest(), v1alpha3.ResourcePoolStatusRequest() | None:
            used = old_hub is not None and old_hub.spec.default_partition_type_attribute is not None
            name, path = "default_partition_type_attribute", "spec.defaultPartitionTypeAttribute"
            kept = replace(hub, spec=strip.field(hub.spec, name, path, "DRAPartitionableDevicesType", used))
        case _:
            return obj, []
    if not strip.notes:
        return obj, []
    if not flat or isinstance(obj, v1alpha3.ResourceSlice):
        version = getattr(obj, "api_version", v1.API_VERSION)
        return (kept if isinstance(obj, v1alpha3.ResourceSlice) else replace(kept, api_version=version)), strip.notes
    return from_v1(kept, v1beta1.API_VERSION), strip.notes


class _Stripper:
    """Takes fields out and notes each; the methods answer with the same object where there is nothing to take."""

    def __init__(self, gates: Gates | None, flat: bool) -> None:
        self.notes: list[Dropped] = []
        self._gates = gates
        self._exactly = "" if flat else ".exactly"
        self._basic = ".basic" if flat else ""

    def field(self, obj: _T, attribute: str, path: str, gate: str, used: bool = False) -> _T:
        """`obj` without one field, unless it is unset, in use before, or enabled."""
        value = getattr(obj, attribute)
        if value is None or value == () or value == [] or used or enabled(self._gates, gate):
            return obj
        self.notes.append(Dropped(path, gate))
        empty: Any = () if isinstance(value, tuple) else [] if isinstance(value, list) else None
        return replace(obj, **{attribute: empty})

    # --- slices ---

    def slice_spec(self, new: v1.ResourceSliceSpec, old: v1.ResourceSliceSpec | None) -> v1.ResourceSliceSpec:
        before = old.devices or () if old is not None else ()

        def off(gate: str, in_use: Callable[[v1.Device], Any], also: Any = False) -> bool:
            return not enabled(self._gates, gate) and not also and not any(in_use(device) for device in before)

        taints = off("DRADeviceTaints", lambda each: each.taints)
        partitions = off(
            "DRAPartitionableDevices",
            lambda each: (
                each.consumes_counters or each.node_name is not None or each.node_selector is not None or each.all_nodes is not None
            ),
            old is not None and (old.shared_counters or old.per_device_node_selection is not None),
        )
        both = enabled(self._gates, "DRADeviceBindingConditions") and enabled(self._gates, "DRAResourceClaimDeviceStatus")
        binding = not both and not any(
            each.binding_conditions or each.binding_failure_conditions or each.binds_to_node is not None for each in before
        )
        consumable = off(
            "DRAConsumableCapacity",
            lambda each: (
                each.allow_multiple_allocations is not None
                or any(entry.request_policy is not None for entry in (each.capacity or {}).values())
            ),
        )
        groups = off("DRADeviceCompatibilityGroups", _has_groups)
        allocatable = off("DRANodeAllocatableResources", lambda each: each.node_allocatable_resources)
        lists = off("DRAListTypeAttributes", lambda each: any(_has_list(value) for value in (each.attributes or {}).values()))
        if partitions:
            new = self.field(new, "shared_counters", "spec.sharedCounters", "DRAPartitionableDevices")
            new = self.field(new, "per_device_node_selection", "spec.perDeviceNodeSelection", "DRAPartitionableDevices")
            if new.shared_counters is not None:
                new = replace(new, shared_counters=None)  # an empty list, or what remains of one
        used = old is not None and old.partition_type_attribute is not None
        new = self.field(new, "partition_type_attribute", "spec.partitionTypeAttribute", "DRAPartitionableDevicesType", used)
        used = old is not None and bool(old.skip_node_operations)
        new = self.field(new, "skip_node_operations", "spec.skipNodeOperations", "DRAOptionalNodeOperations", used)
        if not new.devices:
            return new
        touched: Sequence[int] = range(len(new.devices))
        if not (taints or partitions or binding or consumable):  # gates that are on unless somebody turned them off
            touched = _alpha_users(new.devices, groups, allocatable, lists)
            if not touched:
                return new
        devices = list(new.devices)
        for index in touched:
            kept, path = devices[index], f"spec.devices[{index}]{self._basic}"
            if taints:
                kept = self.field(kept, "taints", f"{path}.taints", "DRADeviceTaints")
            if partitions:
                for attribute, name in _PARTITION_FIELDS:
                    kept = self.field(kept, attribute, f"{path}.{name}", "DRAPartitionableDevices")
            if binding:
                for attribute, name in _BINDING_FIELDS:
                    gate = "DRADeviceBindingConditions"
                    if enabled(self._gates, gate):
                        gate = "DRAResourceClaimDeviceStatus"
                    kept = self.field(kept, attribute, f"{path}.{name}", gate)
            if consumable:
                kept = self._consumable(kept, path)
            if groups and kept.consumes_counters:
                kept = self._groups(kept, path)
            if allocatable and kept.node_allocatable_resources:
                name = f"{path}.nodeAllocatableResources"
                kept = self.field(kept, "node_allocatable_resources", name, "DRANodeAllocatableResources")
            if lists and kept.attributes and not are_good_scalars(kept.attributes.values()):
                kept = self._list_attributes(kept, kept.attributes, path)
            devices[index] = kept
        if all(one is other for one, other in zip(devices, new.devices, strict=True)):
            return new
        return replace(new, devices=tuple(devices))

    def _consumable(self, device: v1.Device, path: str) -> v1.Device:
        gate = "DRAConsumableCapacity"
        device = self.field(device, "allow_multiple_allocations", f"{path}.allowMultipleAllocations", gate)
        if not device.capacity or all(entry.request_policy is None for entry in device.capacity.values()):
            return device
        capacity = {
            name: self.field(entry, "request_policy", f"{path}.capacity[{name}].requestPolicy", gate)
            for name, entry in device.capacity.items()
        }
        return replace(device, capacity=capacity)

    def _groups(self, device: v1.Device, path: str) -> v1.Device:
        if not _has_groups(device):
            return device
        kept = tuple(
            self.field(
                entry,
                "compatibility_groups",
                f"{path}.consumesCounters[{index}].compatibilityGroups",
                "DRADeviceCompatibilityGroups",
            )
            for index, entry in enumerate(device.consumes_counters)
        )
        return replace(device, consumes_counters=kept)

    def _list_attributes(self, device: v1.Device, attributes: dict[str, v1.DeviceAttribute], path: str) -> v1.Device:
        # The attribute stays without a value, which validation then refuses.
        kept = dict(attributes)
        for name, value in attributes.items():
            changes: dict[str, Any] = {}
            for member, attribute in _LISTS:
                if getattr(value, attribute) is not None:
                    changes[attribute] = None
                    self.notes.append(Dropped(f"{path}.attributes[{name}].{member}", "DRAListTypeAttributes"))
            if changes:
                kept[name] = replace(value, **changes)
        return replace(device, attributes=kept) if kept != attributes else device

    # --- claims ---

    def claim_spec(self, new: v1.ResourceClaimSpec, old: v1.ResourceClaimSpec | None, path: str) -> v1.ResourceClaimSpec:
        before = old.devices if old is not None else v1.DeviceClaim()
        used = _used_in(before)
        alternatives_used = any(each.first_available for each in before.requests)
        admin_used = any(each.exactly is not None and each.exactly.admin_access is not None for each in before.requests)
        requests: list[v1.DeviceRequest] = []
        path += ".devices"
        for index, request in enumerate(new.devices.requests):
            where = f"{path}.requests[{index}]"
            kept = self.field(request, "first_available", f"{where}.firstAvailable", "DRAPrioritizedList", alternatives_used)
            if kept.exactly is not None:
                exactly = self._request(kept.exactly, used, where + self._exactly)
                exactly = self.field(exactly, "admin_access", f"{where}{self._exactly}.adminAccess", "DRAAdminAccess", admin_used)
                kept = kept if exactly is kept.exactly else replace(kept, exactly=exactly)
            if kept.first_available:
                alternatives = tuple(
                    self._request(each, used, f"{where}.firstAvailable[{position}]")
                    for position, each in enumerate(kept.first_available)
                )
                kept = replace(kept, first_available=alternatives)
            requests.append(kept)
        gate = "DRAConsumableCapacity"
        constraints = tuple(
            self.field(each, "distinct_attribute", f"{path}.constraints[{index}].distinctAttribute", gate, gate in used)
            for index, each in enumerate(new.devices.constraints)
        )
        return replace(new, devices=replace(new.devices, requests=tuple(requests), constraints=constraints))

    def _request(self, request: "_Request", used: set[str], path: str) -> "_Request":
        for attribute, name, gate in _REQUEST_FIELDS:
            request = self.field(request, attribute, f"{path}.{name}", gate, gate in used)
        return request

    def status(self, new: v1.ResourceClaimStatus, old: v1.ResourceClaim | None) -> v1.ResourceClaimStatus:
        before = v1.ResourceClaimStatus() if old is None else old.status
        results = before.allocation.devices.results if before.allocation is not None else []
        new = self.field(new, "devices", "status.devices", "DRAResourceClaimDeviceStatus", bool(before.devices))
        used = _used_in(old.spec.devices) if old is not None else set[str]()
        if any(each.share_id is not None or each.consumed_capacity is not None for each in results) or any(
            each.share_id is not None for each in before.devices
        ):
            used.add("DRAConsumableCapacity")
        if any(each.binding_conditions or each.binding_failure_conditions for each in results):
            used.add("DRADeviceBindingConditions")
        if any(each.skip_node_operations for each in results):
            used.add("DRAOptionalNodeOperations")
        if any(each.admin_access is not None for each in results) or _admin_access(old):
            used.add("DRAAdminAccess")
        if new.allocation is not None:
            kept: list[v1.DeviceRequestAllocationResult] = []
            for index, result in enumerate(new.allocation.devices.results):
                for attribute, name, gate in _RESULT_FIELDS:
                    path = f"status.allocation.devices.results[{index}].{name}"
                    result = self.field(result, attribute, path, gate, gate in used)
                kept.append(result)
            devices = replace(new.allocation.devices, results=kept)
            new = replace(new, allocation=replace(new.allocation, devices=devices))
        gate = "DRAConsumableCapacity"
        shared = tuple(
            self.field(each, "share_id", f"status.devices[{index}].shareID", gate, gate in used)
            for index, each in enumerate(new.devices)
        )
        return replace(new, devices=shared)


_Request = TypeVar("_Request", v1.ExactDeviceRequest, v1.DeviceSubRequest)

_PARTITION_FIELDS = (
    ("consumes_counters", "consumesCounters"),
    ("node_name", "nodeName"),
    ("node_selector", "nodeSelector"),
    ("all_nodes", "allNodes"),
)
_BINDING_FIELDS = (
    ("binding_conditions", "bindingConditions"),
    ("binding_failure_conditions", "bindingFailureConditions"),
    ("binds_to_node", "bindsToNode"),
)
_REQUEST_FIELDS = (
    ("tolerations", "tolerations", "DRADeviceTaints"),
    ("capacity", "capacity", "DRAConsumableCapacity"),
    ("derived_attributes", "derivedAttributes", "DRADerivedAttributes"),
)
_RESULT_FIELDS = (
    ("admin_access", "adminAccess", "DRAAdminAccess"),
    ("share_id", "shareID", "DRAConsumableCapacity"),
    ("consumed_capacity", "consumedCapacity", "DRAConsumableCapacity"),
    ("binding_conditions", "bindingConditions", "DRADeviceBindingConditions"),
    ("binding_failure_conditions", "bindingFailureConditions", "DRADeviceBindingConditions"),
    ("skip_node_operations", "skipNodeOperations", "DRAOptionalNodeOperations"),
)


def _used_in(devices: v1.DeviceClaim) -> set[str]:
    """Gates that the spec of an old claim makes use of, as far as they guard fields of requests and constraints."""
    used: set[str] = set()
    for request in devices.requests:
        for each in (*request.first_available, *([request.exactly] if request.exactly is not None else ())):
            if each.tolerations:
                used.add("DRADeviceTaints")
            if each.capacity is not None:
                used.add("DRAConsumableCapacity")
            if each.derived_attributes:
                used.add("DRADerivedAttributes")
    if any(each.distinct_attribute is not None for each in devices.constraints):
        used.add("DRAConsumableCapacity")
    return used


def _admin_access(claim: v1.ResourceClaim | None) -> bool:
    if claim is None:
        return False
    return any(each.exactly is not None and each.exactly.admin_access is not None for each in claim.spec.devices.requests)


def _has_list(value: v1.DeviceAttribute) -> bool:
    return any(getattr(value, attribute) is not None for _, attribute in _LISTS)


def _has_groups(device: v1.Device) -> bool:
    return any(entry.compatibility_groups for entry in device.consumes_counters)


def _alpha_users(devices: Sequence[v1.Device], groups: bool, allocatable: bool, lists: bool) -> list[int]:
    """Which devices use a field whose gate is off until somebody turns it on: hardly any, of a million that are asked."""
    found: list[int] = []
    scalar: set[int] = set()  # attributes without lists, by identity: partitions of a GPU share them
    for index, device in enumerate(devices):
        attributes = device.attributes
        if lists and attributes and id(attributes) not in scalar:
            if not are_good_scalars(attributes.values()):
                found.append(index)
                continue
            scalar.add(id(attributes))
        used = allocatable and bool(device.node_allocatable_resources)
        for entry in device.consumes_counters if groups else ():
            used = used or bool(entry.compatibility_groups)
        if used:
            found.append(index)
    return found
