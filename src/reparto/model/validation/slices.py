"""ResourceSlice: the handwritten rules. Source: validation-1.37.md section 6; `pkg/apis/resource/validation` of 1.37.2.

A cluster has hundreds of thousands of devices that look alike, so a device is first held against what was found good before
(`_plainly_valid`); only one that fails there is gone through rule by rule.
"""

from collections.abc import Collection, Iterable
from typing import TypeVar

from reparto.model import names, v1
from reparto.model.gates import Gates
from reparto.model.quantity import Quantity
from reparto.model.validation.capacity import capacity
from reparto.model.validation.claim_status import binding_conditions, skip_node_operations
from reparto.model.validation.findings import Findings, cover, invalid, not_found, repeated, required, too_long, too_many
from reparto.model.validation.formats import (
    KEY_BYTES,
    byte_length,
    driver,
    fully_qualified_name,
    label,
    pool,
    qualified_name,
    shortened,
    version,
)
from reparto.model.validation.metadata import object_meta, object_meta_update
from reparto.model.validation.node_selectors import node_name, node_selector
from reparto.model.validation.taints import TAINTS_MAX, taint
from reparto.model.validation.values import as_json, equal

DEVICES_MAX = 128
ADVANCED_DEVICES_MAX = 64  # with taints, counters or list attributes, which make devices bigger
COUNTER_SETS_MAX = 8
COUNTERS_MAX = 32
CONSUMPTIONS_MAX = 2
ENTRIES_MAX = 32  # attributes and capacities of a device together
VALUES_MAX = 48  # attribute values of a device, list items counted singly
VALUE_BYTES = 64
COUNTER_KEY_BYTES = 63

_NODES = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required"
_DEVICE_NODES = (
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required "
    "when `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
)
_NO_DEVICE_NODES = (
    "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec"
)
_UNSET_OR_TRUE = "must be either unset or set to true"

_T = TypeVar("_T")

# What was found valid before, by value. Bounded, because identifiers (uuid, serial) are different in every device.
_GOOD_LIMIT = 100_000
_good_labels: set[str] = set()  # of devices, counter sets and counters
_good_names: set[str] = set()
_good_values: set[v1.DeviceAttribute] = set()


def resource_slice(obj: v1.ResourceSlice, gates: Gates | None) -> Findings:
    return object_meta(obj.metadata, namespaced=False) + _spec(obj.spec, None, gates)


def resource_slice_update(new: v1.ResourceSlice, old: v1.ResourceSlice, gates: Gates | None) -> Findings:
    return object_meta_update(new.metadata, old.metadata) + _spec(new.spec, old.spec, gates)


def _spec(spec: v1.ResourceSliceSpec, old: v1.ResourceSliceSpec | None, gates: Gates | None) -> Findings:
    findings = driver(spec.driver, "spec.driver") + pool(spec.pool.name, "spec.pool.name")
    if spec.pool.resource_slice_count <= 0:
        findings.append(invalid("spec.pool.resourceSliceCount", spec.pool.resource_slice_count, "must be greater than zero"))
    if spec.pool.generation < 0:
        findings.append(invalid("spec.pool.generation", spec.pool.generation, "must be greater than or equal to zero"))
    if old is not None:
        for path, new_value, old_value in (
            ("spec.pool.name", spec.pool.name, old.pool.name),
            ("spec.driver", spec.driver, old.driver),
            ("spec.nodeName", spec.node_name, old.node_name),
        ):
            if new_value != old_value:
                findings.append(invalid(path, new_value, "field is immutable"))
    findings += _nodes(spec)
    if spec.shared_counters is not None and spec.devices is not None:
        findings.append(invalid("spec", "", "only one of `sharedCounters` or `devices` is allowed"))
    if spec.devices:
        findings += _devices(spec, spec.devices, old, gates)
    if spec.shared_counters:
        findings += _shared_counters(spec.shared_counters)
    if spec.partition_type_attribute is not None:
        findings += _partition_type(spec, spec.partition_type_attribute)
    return findings + skip_node_operations(spec.skip_node_operations, "spec.skipNodeOperations")


def _nodes(spec: v1.ResourceSliceSpec) -> Findings:
    findings: Findings = []
    chosen: list[str] = []
    if spec.node_name is not None:
        if spec.node_name:
            chosen.append("`nodeName`")
            findings += node_name(spec.node_name, "spec.nodeName")
        else:
            findings.append(invalid("spec.nodeName", "", "must be either unset or set to a non-empty string"))
    if spec.node_selector is not None:
        chosen.append("`nodeSelector`")
        findings += node_selector(spec.node_selector, "spec.nodeSelector")
        terms = spec.node_selector.node_selector_terms
        if len(terms) != 1:
            shown = [as_json(term) for term in terms]
            findings.append(invalid("spec.nodeSelector.nodeSelectorTerms", shown, "must have exactly one node selector term"))
    for name, value in (("allNodes", spec.all_nodes), ("perDeviceNodeSelection", spec.per_device_node_selection)):
        if value:
            chosen.append(f"`{name}`")
        elif value is not None:
            findings.append(invalid(f"spec.{name}", value, _UNSET_OR_TRUE))
    if not chosen:
        findings.append(required("spec", _NODES))
    elif len(chosen) > 1:
        findings.append(invalid("spec", f"{{{', '.join(chosen)}}}", f"{_NODES}, but multiple fields are set"))
    return findings


def _devices(
    spec: v1.ResourceSliceSpec, devices: tuple[v1.Device, ...], old: v1.ResourceSliceSpec | None, gates: Gates | None
) -> Findings:
    if len(devices) > ADVANCED_DEVICES_MAX:
        limit = ADVANCED_DEVICES_MAX if _advanced(devices) else DEVICES_MAX
        if len(devices) > limit:
            return [too_many("spec.devices", len(devices), limit)]
    findings: Findings = []
    # The first of several with one name is the old device of all of them.
    before = {device.name: device for device in reversed(old.devices or ())} if old is not None else {}
    per_device = bool(spec.per_device_node_selection)
    good_maps: set[int] = set()
    for index, device in enumerate(devices):
        if per_device or not _plainly_valid(device, good_maps):
            findings += _device(device, before.get(device.name), f"spec.devices[{index}]", per_device, gates)
    if len({device.name for device in devices}) != len(devices):
        findings += repeated("spec.devices", (device.name for device in devices))
    return findings


def _advanced(devices: Iterable[v1.Device]) -> bool:
    for device in devices:
        if device.taints or device.consumes_counters:
            return True
        for attribute in (device.attributes or {}).values():
            if (
                attribute.bool_values is not None
                or attribute.int_values is not None
                or attribute.string_values is not None
                or attribute.version_values is not None
            ):
                return True
    return False


def _plainly_valid(device: v1.Device, good_maps: set[int]) -> bool:
    """True for a device that has nothing but a name, scalar attributes, capacities and counters, all good. False proves nothing.

    `good_maps` remembers attributes by identity from device to device of one slice, for partitions of a GPU share them.
    """
    if (
        device.taints
        or device.node_name is not None
        or device.node_selector is not None
        or device.all_nodes is not None
        or device.binding_conditions
        or device.binding_failure_conditions
        or device.node_allocatable_resources
    ):
        return False
    if device.name not in _good_labels and not _good_label(device.name):
        return False
    entries = 0
    attributes = device.attributes
    if attributes:
        entries = len(attributes)
        if id(attributes) not in good_maps:
            if not _good_names.issuperset(attributes) and not all(map(_good_name, attributes)):
                return False
            if not are_good_scalars(attributes.values()):
                return False
            good_maps.add(id(attributes))
    capacities = device.capacity
    if capacities:
        entries += len(capacities)
        if not _good_names.issuperset(capacities) and not all(map(_good_name, capacities)):
            return False
        for each in capacities.values():
            if each.request_policy is not None:
                return False
    return entries <= ENTRIES_MAX and (not device.consumes_counters or _good_consumption(device.consumes_counters))


def _good_consumption(entries: tuple[v1.DeviceCounterConsumption, ...]) -> bool:
    """Whether counters are drawn from one set, as partitions do, or two, with good names throughout."""
    for entry in entries:
        if entry.counter_set not in _good_labels and not _good_label(entry.counter_set):
            return False
        if not _good_counters(entry.counters):
            return False
    return len(entries) == 1 or (len(entries) == CONSUMPTIONS_MAX and entries[0].counter_set != entries[1].counter_set)


def _good_counters(counters: dict[str, v1.Counter] | None) -> bool:
    if not counters or len(counters) > COUNTERS_MAX:
        return False
    return _good_labels.issuperset(counters) or all(map(_good_label, counters))


def _good_label(text: str) -> bool:
    if text not in _good_labels:
        if names.dns1123_label(text):
            return False
        _remember(_good_labels, text)
    return True


def _good_name(name: str) -> bool:
    if name not in _good_names:
        if qualified_name(name, ""):
            return False
        _remember(_good_names, name)
    return True


def are_good_scalars(values: Collection[v1.DeviceAttribute]) -> bool:
    """Whether each attribute has exactly one value, a scalar one, and that is valid."""
    for value in values:
        if value in _good_values:
            continue
        if not _is_good_scalar(value):
            return False
    return True


def _is_good_scalar(value: v1.DeviceAttribute) -> bool:
    text, release = value.string_value, value.version_value
    if text is not None and len(text) * 4 > VALUE_BYTES and byte_length(text) > VALUE_BYTES:
        return False
    if release is not None and (not version(release) or len(release) > VALUE_BYTES):
        return False
    if (
        value.int_values is not None
        or value.bool_values is not None
        or value.string_values is not None
        or value.version_values is not None
    ):
        return False
    number, flag = value.int_value, value.bool_value
    good = (text is not None) + (release is not None) + (number is not None) + (flag is not None) == 1
    if good:
        _remember(_good_values, value)
    return good


def _remember(known: set[_T], value: _T) -> None:
    if len(known) >= _GOOD_LIMIT:
        known.clear()
    known.add(value)


def _device(device: v1.Device, old: v1.Device | None, path: str, per_device_nodes: bool, gates: Gates | None) -> Findings:
    findings = label(device.name, f"{path}.name")
    attributes, capacities = device.attributes or {}, device.capacity or {}
    entries = len(attributes) + len(capacities)
    if entries > ENTRIES_MAX:
        message = f"the total number of attributes and capacities must not exceed {ENTRIES_MAX}"
        findings.append(invalid(path, entries, message))
    values = sum(_number_of_values(attribute) for attribute in attributes.values())
    if values > VALUES_MAX:
        findings.append(invalid(path, values, f"the total number of attribute values must not exceed {VALUES_MAX}"))
    for name, attribute in attributes.items():
        findings += qualified_name(name, f"{path}.attributes")
        findings += _attribute(attribute, f"{path}.attributes[{shortened(name, KEY_BYTES)}]")
    if old is None or not equal(old.capacity, device.capacity):
        shared = bool(device.allow_multiple_allocations)
        for name, entry in capacities.items():
            findings += qualified_name(name, f"{path}.capacity")
            findings += capacity(entry, f"{path}.capacity[{shortened(name, KEY_BYTES)}]", shared=shared, gates=gates)
    if old is None or not equal(old.taints, device.taints):
        if len(device.taints) > TAINTS_MAX:
            findings.append(too_many(f"{path}.taints", len(device.taints), TAINTS_MAX))
        else:
            for index, entry in enumerate(device.taints):
                findings += taint(entry, f"{path}.taints[{index}]")
    findings += _consumption(device.consumes_counters, f"{path}.consumesCounters")
    findings += _device_nodes(device, path, per_device_nodes)
    findings += binding_conditions(device.binding_conditions, device.binding_failure_conditions, path)
    if device.node_allocatable_resources:
        findings += _node_allocatable(device.node_allocatable_resources, capacities, f"{path}.nodeAllocatableResources")
    return findings


def _number_of_values(attribute: v1.DeviceAttribute) -> int:
    lists = (attribute.bool_values, attribute.int_values, attribute.string_values, attribute.version_values)
    return sum(len(each) for each in lists if each) or 1


def _attribute(attribute: v1.DeviceAttribute, path: str) -> Findings:
    findings: Findings = []
    members = 0
    if attribute.bool_value is not None:
        members += 1
    if attribute.int_value is not None:
        members += 1
    if attribute.string_value is not None:
        members += 1
        findings += _text_value(attribute.string_value, f"{path}.string")
    if attribute.version_value is not None:
        members += 1
        findings += _version_value(attribute.version_value, f"{path}.version")
    for name, items in (
        ("bools", attribute.bool_values),
        ("ints", attribute.int_values),
        ("strings", attribute.string_values),
        ("versions", attribute.version_values),
    ):
        if items is not None:
            members += 1
            if not items:
                findings.append(invalid(f"{path}.{name}", [], "must not be empty if specified"))
    for index, text in enumerate(attribute.string_values or ()):
        findings += _text_value(text, f"{path}.strings[{index}]")
    for index, text in enumerate(attribute.version_values or ()):
        findings += _version_value(text, f"{path}.versions[{index}]")
    if members != 1:
        value = as_json(attribute) if members else ""
        findings.append(invalid(path, value, "exactly one value must be specified", "union", covered=True))
    return findings


def _text_value(text: str, path: str) -> Findings:
    return [too_long(path, VALUE_BYTES)] if byte_length(text) > VALUE_BYTES else []


def _version_value(text: str, path: str) -> Findings:
    findings = [] if version(text) else [invalid(path, text, "must be a string compatible with semver.org spec 2.0.0")]
    return findings + _text_value(text, path)


def _consumption(entries: tuple[v1.DeviceCounterConsumption, ...], path: str) -> Findings:
    if len(entries) > CONSUMPTIONS_MAX:
        return [too_many(path, len(entries), CONSUMPTIONS_MAX, covered=True)]
    findings: Findings = []
    for index, entry in enumerate(entries):
        where = f"{path}[{index}].counterSet"
        findings += cover(label(entry.counter_set, where) if entry.counter_set else [required(where)])
        findings += _counters(entry.counters, f"{path}[{index}].counters")
    return findings + repeated(path, (entry.counter_set for entry in entries), covered=True)


def _shared_counters(entries: tuple[v1.CounterSet, ...]) -> Findings:
    path = "spec.sharedCounters"
    if len(entries) > COUNTER_SETS_MAX:
        return [too_many(path, len(entries), COUNTER_SETS_MAX, covered=True)]
    findings: Findings = []
    for index, entry in enumerate(entries):
        if _good_label(entry.name) and _good_counters(entry.counters):
            continue
        where = f"{path}[{index}].name"
        findings += cover(label(entry.name, where) if entry.name else [required(where)])
        findings += _counters(entry.counters, f"{path}[{index}].counters")
    return findings + repeated(path, (entry.name for entry in entries), covered=True)


def _counters(counters: dict[str, v1.Counter] | None, path: str) -> Findings:
    """A map of counters by name. Their values are not checked: negative ones pass."""
    if not counters:
        return [required(path, covered=True)]
    if len(counters) > COUNTERS_MAX:
        return [too_many(path, len(counters), COUNTERS_MAX, origin="")]
    return cover([finding for name in counters for finding in label(name, path)])


def _device_nodes(device: v1.Device, path: str, per_device_nodes: bool) -> Findings:
    if not per_device_nodes:
        if device.node_name is None and device.node_selector is None and device.all_nodes is None:
            return []
        return [invalid(path, None, _NO_DEVICE_NODES)]
    findings: Findings = []
    chosen: list[str] = []
    if device.node_name is not None:
        if device.node_name:
            chosen.append("`nodeName`")
            findings += node_name(device.node_name, f"{path}.nodeName")
        else:
            findings.append(invalid(f"{path}.nodeName", "", "must not be empty"))
    if device.node_selector is not None:
        chosen.append("`nodeSelector`")
        findings += node_selector(device.node_selector, f"{path}.nodeSelector")
    if device.all_nodes:
        chosen.append("`allNodes`")
    elif device.all_nodes is not None:
        findings.append(invalid(f"{path}.allNodes", False, _UNSET_OR_TRUE))
    if not chosen:
        findings.append(required(path, _DEVICE_NODES))
    elif len(chosen) > 1:
        findings.append(invalid(path, f"{{{', '.join(chosen)}}}", _DEVICE_NODES))
    return findings


def _partition_type(spec: v1.ResourceSliceSpec, name: str) -> Findings:
    devices = spec.devices or ()
    if not any(device.consumes_counters for device in devices):
        message = "may only be set on a slice which declares devices that consume counters"
        return [invalid("spec.partitionTypeAttribute", name, message)]
    if fully_qualified_name(name, ""):
        return []
    bare = name.removeprefix(f"{spec.driver}/")
    findings: Findings = []
    for index, device in enumerate(devices):
        if not device.consumes_counters:
            continue
        path = f"spec.devices[{index}].attributes[{name}]"
        attributes = device.attributes or {}
        attribute = attributes.get(name) or (attributes.get(bare) if bare else None)
        if attribute is None:
            message = "device consumes counters and `partitionTypeAttribute` names this attribute, so it must be set"
            findings.append(required(path, message))
        elif attribute.string_value is None:
            message = "must be a string value because `partitionTypeAttribute` names this attribute"
            findings.append(invalid(path, as_json(attribute), message))
    return findings


def _node_allocatable(
    resources: dict[str, v1.NodeAllocatableResource], capacities: dict[str, v1.DeviceCapacity], path: str
) -> Findings:
    findings: Findings = []
    for name, entry in resources.items():
        where = f"{path}[{name}]"
        if name not in ("cpu", "memory") and not name.startswith("hugepages-"):
            findings.append(invalid(where, name, "must be a node allocatable resource name"))
        if entry.mapping is None and entry.overhead is None:
            findings.append(required(where, "at least one of mapping or overhead must be set"))
        if entry.mapping is not None:
            findings += _mapping(entry.mapping, capacities, f"{where}.mapping")
        if entry.overhead is not None:
            findings += _overhead(entry.overhead, f"{where}.overhead")
    return findings


def _mapping(mapping: v1.NodeAllocatableMapping, capacities: dict[str, v1.DeviceCapacity], path: str) -> Findings:
    findings: Findings = []
    key, multiplier = mapping.capacity_key, mapping.capacity_multiplier
    if key is not None:
        if not key:
            findings.append(invalid(f"{path}.capacityKey", "", "capacityKey must not be an empty string"))
        elif key not in capacities:
            findings.append(not_found(f"{path}.capacityKey", key))
        if multiplier is None:
            findings.append(required(f"{path}.capacityMultiplier", "capacityMultiplier is required when capacityKey is set"))
        else:
            findings += _positive(multiplier, f"{path}.capacityMultiplier")
    elif multiplier is not None:
        findings.append(required(f"{path}.capacityKey", "capacityKey is required when capacityMultiplier is set"))
    if mapping.device_multiplier is not None:
        findings += _positive(mapping.device_multiplier, f"{path}.deviceMultiplier")
    return findings


def _positive(text: str, path: str) -> Findings:
    amount = Quantity.parse(text)
    return [invalid(path, str(amount), "must be positive")] if amount.sign() <= 0 else []


def _overhead(overhead: v1.NodeAllocatableOverhead, path: str) -> Findings:
    if overhead.per_pod is None and overhead.per_container is None:
        return [invalid(path, "", "at least one of perPod or perContainer must be set")]
    findings: Findings = []
    for name, text in (("perPod", overhead.per_pod), ("perContainer", overhead.per_container)):
        if text is not None and (amount := Quantity.parse(text)).sign() < 0:
            findings.append(invalid(f"{path}.{name}", str(amount), "must be non-negative"))
    return findings
