"""ResourceClaim status: the handwritten rules for an update of it. Source: validation-1.37.md section 5.

What needs a caller's rights or a namespace's labels (admin access, binding, writing device status) is the REST layer's and not
here.
"""

from collections.abc import Sequence
from typing import Any

from reparto.model import v1
from reparto.model.validation.claims import RequestNames, request_names, request_reference, request_references
from reparto.model.validation.findings import (
    Findings,
    cover,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    repeated,
    required,
    too_long,
    too_many,
)
from reparto.model.validation.formats import byte_length, driver, interface_address, label, label_key, pool, uuid
from reparto.model.validation.metadata import conditions, object_meta_update
from reparto.model.validation.node_selectors import node_selector
from reparto.model.validation.opaque import configuration, json_object
from reparto.model.validation.taints import tolerations
from reparto.model.validation.values import as_json, equal

RESERVED_MAX = 256
RESULTS_MAX = 32
CONFIG_MAX = 64  # a class's and a claim's
CONDITIONS_MAX = 8
BINDING_CONDITIONS_MAX = 4
ADDRESSES_MAX = 16
INTERFACE_BYTES = 256
HARDWARE_ADDRESS_BYTES = 128
SOURCES = ("FromClaim", "FromClass")

_SharedDevice = tuple[str, str, str, str | None]


def claim_status_update(new: v1.ResourceClaim, old: v1.ResourceClaim) -> Findings:
    findings = object_meta_update(new.metadata, old.metadata)
    status, was = new.status, old.status
    names = request_names(new.spec.devices)
    findings += _reserved_for(status.reserved_for)
    allocated: set[_SharedDevice] = set()
    if status.allocation is not None:
        allocated = {(each.driver, each.pool, each.device, each.share_id or None) for each in status.allocation.devices.results}
    findings += _devices(status.devices, allocated)
    if status.reserved_for:
        if status.allocation is None:
            findings.append(forbidden("status.reservedFor", "may not be specified when `allocated` is not set"))
        elif new.metadata.deletion_timestamp is not None and set(status.reserved_for) - set(was.reserved_for):
            message = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
            findings.append(forbidden("status.reservedFor", message))
    if status.allocation is not None:
        if was.allocation is None:
            findings += _allocation(status.allocation, names)
        elif not equal(was.allocation, status.allocation):
            found = invalid("status.allocation", as_json(status.allocation), "field is immutable", "update", covered=True)
            findings.append(found)
    return findings


def binding_conditions(success: Sequence[str], failure: Sequence[str], path: str) -> Findings:
    """Binding conditions and binding failure conditions of a device or an allocation result."""
    findings: Findings = []
    for name, entries in (("bindingConditions", success), ("bindingFailureConditions", failure)):
        if len(entries) > BINDING_CONDITIONS_MAX:
            findings.append(too_many(f"{path}.{name}", len(entries), BINDING_CONDITIONS_MAX, covered=True))
        else:
            for index, entry in enumerate(entries):
                findings += label_key(entry, f"{path}.{name}[{index}]")
    findings += repeated(f"{path}.bindingConditions", success)
    findings += repeated(f"{path}.bindingFailureConditions", failure)
    for index, entry in enumerate(failure):
        if entry in success:
            where = f"{path}.bindingFailureConditions[{index}]"
            findings.append(invalid(where, entry, "bindingFailureConditions must not overlap with bindingConditions"))
    if failure and not success:
        message = "bindingConditions are required to use bindingFailureConditions"
        findings.append(invalid(f"{path}.bindingConditions", list(success), message))
    if success and not failure:
        message = "bindingFailureConditions are required to use bindingConditions"
        findings.append(invalid(f"{path}.bindingFailureConditions", list(failure), message))
    return findings


def skip_node_operations(entries: Sequence[str], path: str) -> Findings:
    if "NodePrepareResources" in entries and "NodeUnprepareResources" not in entries and "*" not in entries:
        message = "NodePrepareResources cannot be skipped unless NodeUnprepareResources is also skipped"
        return [invalid(path, list(entries), message)]
    return []


def _reserved_for(entries: tuple[v1.ResourceClaimConsumerReference, ...]) -> Findings:
    path = "status.reservedFor"
    if len(entries) > RESERVED_MAX:
        return [too_many(path, len(entries), RESERVED_MAX, covered=True)]
    findings = [
        required(f"{path}[{index}].{name}")
        for index, entry in enumerate(entries)
        for name, value in (("resource", entry.resource), ("name", entry.name), ("uid", entry.uid))
        if not value
    ]
    return findings + repeated(path, (entry.uid for entry in entries), covered=True)


def _devices(entries: tuple[v1.AllocatedDeviceStatus, ...], allocated: set[_SharedDevice]) -> Findings:
    findings: Findings = []
    seen: set[_SharedDevice] = set()
    repetitions: Findings = []
    for index, entry in enumerate(entries):
        path = f"status.devices[{index}]"
        findings += driver(entry.driver, f"{path}.driver")
        findings += pool(entry.pool, f"{path}.pool")
        findings += label(entry.device, f"{path}.device")
        if entry.share_id is not None:
            findings += cover(uuid(entry.share_id, f"{path}.shareID"))
        # An empty share ID and an absent one are the same device.
        device = (entry.driver, entry.pool, entry.device, entry.share_id or None)
        if device not in allocated:
            findings.append(invalid(path, _device_json(device), "must be an allocated device in the claim"))
        if device in seen:
            repetitions.append(duplicate(path, _device_json(device), covered=True))
        seen.add(device)
        findings += conditions(entry.conditions, f"{path}.conditions", CONDITIONS_MAX)
        if entry.data is not None:
            findings += json_object(entry.data, f"{path}.data")
        if entry.network_data is not None:
            findings += _network_data(entry.network_data, f"{path}.networkData")
    return findings + repetitions


def _device_json(device: _SharedDevice) -> Any:
    driver_name, pool_name, name, share_id = device
    return {"Driver": driver_name, "Pool": pool_name, "Device": name, "ShareID": share_id or ""}


def _network_data(data: v1.NetworkDeviceData, path: str) -> Findings:
    findings: Findings = []
    if byte_length(data.interface_name) > INTERFACE_BYTES:
        findings.append(too_long(f"{path}.interfaceName", INTERFACE_BYTES, "maxBytes", covered=True))
    if byte_length(data.hardware_address) > HARDWARE_ADDRESS_BYTES:
        findings.append(too_long(f"{path}.hardwareAddress", HARDWARE_ADDRESS_BYTES, "maxBytes", covered=True))
    if len(data.ips) > ADDRESSES_MAX:
        findings.append(too_many(f"{path}.ips", len(data.ips), ADDRESSES_MAX, covered=True))
        return findings
    for index, address in enumerate(data.ips):
        findings += interface_address(address, f"{path}.ips[{index}]")
    return findings + repeated(f"{path}.ips", data.ips, covered=True)


def _allocation(allocation: v1.AllocationResult, names: RequestNames) -> Findings:
    findings: Findings = []
    path = "status.allocation.devices"
    results, config = allocation.devices.results, allocation.devices.config
    if len(results) > RESULTS_MAX:
        findings.append(too_many(f"{path}.results", len(results), RESULTS_MAX, covered=True))
    else:
        for index, result in enumerate(results):
            findings += _result(result, f"{path}.results[{index}]", names)
    if len(config) > CONFIG_MAX:
        findings.append(too_many(f"{path}.config", len(config), CONFIG_MAX, covered=True))
    else:
        for index, entry in enumerate(config):
            where = f"{path}.config[{index}]"
            if not entry.source:
                findings.append(required(f"{where}.source", covered=True))
            elif entry.source not in SOURCES:
                findings.append(not_supported(f"{where}.source", entry.source, SOURCES, covered=True))
            findings += request_references(entry.requests, f"{where}.requests", names)
            findings += configuration(entry.opaque, where)
    if allocation.node_selector is not None:
        findings += node_selector(allocation.node_selector, "status.allocation.nodeSelector")
    return findings


def _result(result: v1.DeviceRequestAllocationResult, path: str, names: RequestNames) -> Findings:
    findings = request_reference(result.request, f"{path}.request", names)
    findings += driver(result.driver, f"{path}.driver", covered=True)
    findings += cover(pool(result.pool, f"{path}.pool"))
    findings += label(result.device, f"{path}.device")
    findings += binding_conditions(result.binding_conditions, result.binding_failure_conditions, path)
    findings += tolerations(result.tolerations, f"{path}.tolerations")
    if result.share_id is not None:
        findings += cover(uuid(result.share_id, f"{path}.shareID"))
    return findings + skip_node_operations(result.skip_node_operations, f"{path}.skipNodeOperations")
