"""The declarative rules: the second layer, which the API server generates from markers in its types.

They judge the object in the version of the request, which matters for paths only: v1beta1 has no `exactly` and keeps devices
under `basic`. Two things set them apart from the handwritten layer. They say the same things in their own words, and where both
speak these words win (`findings.merge`). And on an update they never look at what did not change, element by element where a list
has keys. Rules that upstream still marks as alpha are not enforced and not here (conditions, metadata, lengths in list
attributes).

Source: `pkg/apis/resource/v1*/zz_generated.validations.go`, apimachinery `pkg/api/validate` of 1.37.2.
"""

from collections.abc import Iterable, Sequence

from reparto.model import names, v1
from reparto.model.gates import Gates
from reparto.model.meta import Base
from reparto.model.validation.declarative_checks import Checks
from reparto.model.validation.features import enabled
from reparto.model.validation.findings import Findings
from reparto.model.versions import v1alpha3

_SKIP_OPERATIONS = ("*", "NodePrepareResources", "NodeUnprepareResources")
_EFFECTS = ("NoExecute", "NoSchedule", "None")
_UNION = (
    ("int", "int_value"),
    ("bool", "bool_value"),
    ("string", "string_value"),
    ("version", "version_value"),
    ("ints", "int_values"),
    ("bools", "bool_values"),
    ("strings", "string_values"),
    ("versions", "version_values"),
)
_MAPPING_UNION = (("capacityKey", "capacity_key"), ("deviceMultiplier", "device_multiplier"))


def declared(new: Base, old: Base | None, gates: Gates | None, *, flat: bool) -> Findings:
    """What the declarative layer finds in an object of v1's shape. `flat`: the request came in v1beta1, whose paths are flat."""
    rules = _Rules(gates, update=old is not None, flat=flat)
    match new, old:
        case v1.ResourceClaim(), v1.ResourceClaim() | None:
            rules.claim(new, old)
        case v1.ResourceClaimTemplate(), v1.ResourceClaimTemplate() | None:
            if not rules.unchanged(new.spec, old, "spec"):
                rules.claim_spec(new.spec.spec, None if old is None else old.spec.spec, "spec.spec")
        case v1.ResourceSlice(), v1.ResourceSlice() | None:
            if not rules.unchanged(new.spec, old, "spec"):
                rules.slice_spec(new.spec, None if old is None else old.spec)
        case v1.DeviceClass(), v1.DeviceClass() | None:
            if not rules.unchanged(new.spec, old, "spec"):
                rules.class_spec(new.spec, None if old is None else old.spec)
        case v1.DeviceTaintRule(), v1.DeviceTaintRule() | None:
            if not rules.unchanged(new.spec.taint, None if old is None else old.spec, "taint"):
                rules.taint(new.spec.taint, None if old is None else old.spec.taint, "spec.taint")
        case v1alpha3.ResourcePoolStatusRequest(), v1alpha3.ResourcePoolStatusRequest() | None:
            rules.pool_status_request(new, old)
        case _:
            pass
    if not enabled(gates, "DeclarativeValidationBeta"):
        return [finding for finding in rules.findings if not finding.beta]
    return rules.findings


class _Rules(Checks):
    """One walk over a new object and, on an update, the old one beside it. Methods append what they find.

    `old` is None where nothing of the old object corresponds: then everything counts as new.
    """

    # --- claims ---

    def claim(self, new: v1.ResourceClaim, old: v1.ResourceClaim | None) -> None:
        if not self.unchanged(new.spec, old, "spec"):
            if self._update:
                self._invalid("spec", None, "field is immutable", "immutable")
            else:
                self.claim_spec(new.spec, None, "spec")
        if not self.unchanged(new.status, old, "status"):
            self._claim_status(new.status, None if old is None else old.status)

    def claim_spec(self, new: v1.ResourceClaimSpec, old: v1.ResourceClaimSpec | None, path: str) -> None:
        path += ".devices"
        devices, was = new.devices, None if old is None else old.devices
        if self.unchanged(devices, old, "devices"):
            return
        if not self.unchanged(devices.requests, was, "requests") and self._at_most(devices.requests, 32, f"{path}.requests"):
            self._unique(devices.requests, lambda each: each.name, f"{path}.requests")
            for where, request, before in self._each(
                devices.requests, was and was.requests, f"{path}.requests", lambda each: each.name
            ):
                self._request(request, before, where)
        if not self.unchanged(devices.constraints, was, "constraints") and self._at_most(
            devices.constraints, 32, f"{path}.constraints"
        ):
            for index, constraint in enumerate(devices.constraints):
                where = f"{path}.constraints[{index}]"
                self._request_list(constraint.requests, f"{where}.requests")
                if constraint.match_attribute is not None:
                    self._fully_qualified(constraint.match_attribute, f"{where}.matchAttribute")
                if constraint.distinct_attribute is not None:
                    self._fully_qualified(constraint.distinct_attribute, f"{where}.distinctAttribute")
        if not self.unchanged(devices.config, was, "config") and self._at_most(devices.config, 32, f"{path}.config"):
            for index, entry in enumerate(devices.config):
                where = f"{path}.config[{index}]"
                self._request_list(entry.requests, f"{where}.requests")
                self._opaque(entry.opaque, where)

    def _request(self, new: v1.DeviceRequest, old: v1.DeviceRequest | None, path: str) -> None:
        exactly, was = new.exactly, None if old is None else old.exactly
        if exactly is not None and not self.unchanged(exactly, old, "exactly"):
            self._device_request(exactly, was, path + self._exactly)
        alternatives = new.first_available
        path += ".firstAvailable"
        if not self.unchanged(alternatives, old, "first_available") and self._at_most(alternatives, 8, path):
            self._unique(alternatives, lambda each: each.name, path)
            for where, request, before in self._each(alternatives, old and old.first_available, path, lambda each: each.name):
                if not self.unchanged(request.device_class_name, before, "device_class_name"):
                    if not request.device_class_name:
                        self._required(f"{where}.deviceClassName")
                    else:
                        self._long_name(request.device_class_name, f"{where}.deviceClassName")
                self._device_request(request, before, where)

    def _device_request(
        self,
        new: v1.ExactDeviceRequest | v1.DeviceSubRequest,
        old: v1.ExactDeviceRequest | v1.DeviceSubRequest | None,
        path: str,
    ) -> None:
        if not self.unchanged(new.selectors, old, "selectors"):
            self._at_most(new.selectors, 32, f"{path}.selectors")
        if new.allocation_mode and not self.unchanged(new.allocation_mode, old, "allocation_mode"):
            self._enum(new.allocation_mode, ("All", "ExactCount"), f"{path}.allocationMode")
        if not self.unchanged(new.tolerations, old, "tolerations"):
            self._tolerations(new.tolerations, f"{path}.tolerations")
        if not self.unchanged(new.derived_attributes, old, "derived_attributes"):
            self._beta = False
            path += ".derivedAttributes"
            if self._at_most(new.derived_attributes, 32, path):
                for index, entry in enumerate(new.derived_attributes):
                    if not entry.name:
                        self._required(f"{path}[{index}].name")
                    else:
                        self._fully_qualified(entry.name, f"{path}[{index}].name")
                    if not entry.expression:
                        self._required(f"{path}[{index}].expression")
            self._beta = True

    def _tolerations(self, entries: Iterable[v1.DeviceToleration], path: str) -> None:
        for index, entry in enumerate(entries):
            if entry.key:
                self._formats(f"{path}[{index}].key", entry.key, names.qualified_name(entry.key), "format=k8s-label-key")
            if not entry.operator:
                self._required(f"{path}[{index}].operator")
            else:
                self._enum(entry.operator, ("Equal", "Exists"), f"{path}[{index}].operator")
            if entry.effect:
                self._enum(entry.effect, _EFFECTS, f"{path}[{index}].effect")

    def _request_list(self, entries: Sequence[str], path: str) -> None:
        if self._at_most(entries, 32, path):
            self._unique(entries, lambda each: each, path)

    def _opaque(self, entry: v1.OpaqueDeviceConfiguration | None, path: str) -> None:
        if entry is not None:
            self._driver(entry.driver, f"{path}.opaque.driver", limit=63)

    def _claim_status(self, new: v1.ResourceClaimStatus, old: v1.ResourceClaimStatus | None) -> None:
        allocation = new.allocation
        if allocation is not None and not self.unchanged(allocation, old, "allocation"):
            if old is not None and old.allocation is not None:
                self._invalid("status.allocation", None, "field cannot be modified once set", "update")
            else:
                self._allocation(allocation)
        if not self.unchanged(new.reserved_for, old, "reserved_for") and self._at_most(new.reserved_for, 256, "status.reservedFor"):
            self._unique(new.reserved_for, lambda each: each.uid, "status.reservedFor")
        if not self.unchanged(new.devices, old, "devices"):

            def key(device: v1.AllocatedDeviceStatus) -> object:
                return device.driver, device.device, device.pool, device.share_id

            self._unique(new.devices, key, "status.devices")
            for where, device, before in self._each(new.devices, old and old.devices, "status.devices", key):
                self._device_status(device, before, where)

    def _device_status(self, new: v1.AllocatedDeviceStatus, old: v1.AllocatedDeviceStatus | None, path: str) -> None:
        if new.share_id is not None and not self.unchanged(new.share_id, old, "share_id"):
            self._uuid(new.share_id, f"{path}.shareID")
        data = new.network_data
        if data is None or self.unchanged(data, old, "network_data"):
            return
        was = None if old is None else old.network_data
        path += ".networkData"
        if not self.unchanged(data.interface_name, was, "interface_name"):
            self._at_most_bytes(data.interface_name, 256, f"{path}.interfaceName")
        if not self.unchanged(data.hardware_address, was, "hardware_address"):
            self._at_most_bytes(data.hardware_address, 128, f"{path}.hardwareAddress")
        if not self.unchanged(data.ips, was, "ips") and self._at_most(data.ips, 16, f"{path}.ips"):
            self._unique(data.ips, lambda each: each, f"{path}.ips")

    def _allocation(self, allocation: v1.AllocationResult) -> None:
        path = "status.allocation.devices"
        results, config = allocation.devices.results, allocation.devices.config
        if self._at_most(results, 32, f"{path}.results"):
            for index, result in enumerate(results):
                self._result(result, f"{path}.results[{index}]")
        if self._at_most(config, 64, f"{path}.config"):
            for index, entry in enumerate(config):
                where = f"{path}.config[{index}]"
                if not entry.source:
                    self._required(f"{where}.source")
                else:
                    self._enum(entry.source, ("FromClaim", "FromClass"), f"{where}.source")
                self._request_list(entry.requests, f"{where}.requests")
                self._opaque(entry.opaque, where)

    def _result(self, result: v1.DeviceRequestAllocationResult, path: str) -> None:
        self._driver(result.driver, f"{path}.driver", limit=63)
        self._pool(result.pool, f"{path}.pool")
        self._tolerations(result.tolerations, f"{path}.tolerations")
        self._at_most(result.binding_conditions, 4, f"{path}.bindingConditions")
        self._at_most(result.binding_failure_conditions, 4, f"{path}.bindingFailureConditions")
        if result.share_id is not None:
            self._uuid(result.share_id, f"{path}.shareID")
        self._skip_operations(result.skip_node_operations, None, f"{path}.skipNodeOperations")

    # --- classes, taints ---

    def class_spec(self, new: v1.DeviceClassSpec, old: v1.DeviceClassSpec | None) -> None:
        if not self.unchanged(new.selectors, old, "selectors"):
            self._at_most(new.selectors, 32, "spec.selectors")
        if not self.unchanged(new.config, old, "config") and self._at_most(new.config, 32, "spec.config"):
            for index, entry in enumerate(new.config):
                self._opaque(entry.opaque, f"spec.config[{index}]")
        name = new.extended_resource_name
        if name is not None and not self.unchanged(name, old, "extended_resource_name"):
            messages = names.is_extended_resource_name(name)
            self._formats("spec.extendedResourceName", name, messages, "format=k8s-extended-resource-name")

    def taint(self, new: v1.DeviceTaint, old: v1.DeviceTaint | None, path: str) -> None:
        if not self.unchanged(new.effect, old, "effect"):
            if not new.effect:
                self._required(f"{path}.effect")
            else:
                self._enum(new.effect, _EFFECTS, f"{path}.effect")

    # --- slices ---

    def slice_spec(self, new: v1.ResourceSliceSpec, old: v1.ResourceSliceSpec | None) -> None:
        if not self.unchanged(new.devices, old, "devices"):
            for index, device in enumerate(new.devices or ()):
                # Devices have no keys upstream: a list that changed is judged anew as a whole.
                self._device(device, f"spec.devices[{index}]{self._basic}")
        counters, path = new.shared_counters or (), "spec.sharedCounters"
        if not self.unchanged(counters, old, "shared_counters") and self._at_most(counters, 8, path):
            self._unique(counters, lambda each: each.name, path)
            for where, entry, before in self._each(counters, old and old.shared_counters, path, lambda each: each.name):
                if not self.unchanged(entry.name, before, "name"):
                    self._short_name_or_required(entry.name, f"{where}.name")
                if not self.unchanged(entry.counters, before, "counters"):
                    self._counters(entry.counters, before and before.counters, f"{where}.counters")
        name = new.partition_type_attribute
        self._beta = False
        if name is not None and not self.unchanged(name, old, "partition_type_attribute"):
            self._gated_name(name, "spec.partitionTypeAttribute")
        self._beta = True
        if not self.unchanged(new.skip_node_operations, old, "skip_node_operations"):
            self._skip_operations(new.skip_node_operations, old and old.skip_node_operations, "spec.skipNodeOperations")

    def _device(self, device: v1.Device, path: str) -> None:
        for name, attribute in (device.attributes or {}).items():
            # An empty list is not set here, although the handwritten rule counts it as set.
            chosen = [member for member, field in _UNION if (value := getattr(attribute, field)) is not None and value != ()]
            self._union(chosen, _UNION, f"{path}.attributes[{name}]")
        where = f"{path}.consumesCounters"
        if self._at_most(device.consumes_counters, 2, where):
            self._unique(device.consumes_counters, lambda each: each.counter_set, where)
            for index, entry in enumerate(device.consumes_counters):
                self._short_name_or_required(entry.counter_set, f"{where}[{index}].counterSet")
                self._counters(entry.counters, None, f"{where}[{index}].counters")
                self._beta = False
                groups, inside = entry.compatibility_groups, f"{where}[{index}].compatibilityGroups"
                if self._at_most(groups, 2, inside):
                    for position, group in enumerate(groups):
                        self._short_name(group, f"{inside}[{position}]")
                    self._unique(groups, lambda each: each, inside)
                self._beta = True
        for index, taint in enumerate(device.taints):
            self.taint(taint, None, f"{path}.taints[{index}]")
        self._at_most(device.binding_conditions, 4, f"{path}.bindingConditions")
        self._at_most(device.binding_failure_conditions, 4, f"{path}.bindingFailureConditions")
        self._beta = False
        for name, resource in (device.node_allocatable_resources or {}).items():
            if resource.mapping is not None:
                chosen = [member for member, field in _MAPPING_UNION if getattr(resource.mapping, field) is not None]
                self._union(chosen, _MAPPING_UNION, f"{path}.nodeAllocatableResources[{name}].mapping")
        self._beta = True

    def _counters(self, new: dict[str, v1.Counter] | None, old: dict[str, v1.Counter] | None, path: str) -> None:
        if not new:
            self._required(path)
            return
        for name in new:
            if not (self._update and old and name in old):
                self._short_name(name, path)

    def _skip_operations(self, new: Sequence[str], old: Sequence[str] | None, path: str) -> None:
        self._beta = False
        self._unique(new, lambda each: each, path)
        for index, operation in enumerate(new):
            if not (self._update and old and operation in old):
                self._enum(operation, _SKIP_OPERATIONS, f"{path}[{index}]")
        self._beta = True

    # --- pool status requests: no rule of theirs has a handwritten twin ---

    def pool_status_request(self, new: v1alpha3.ResourcePoolStatusRequest, old: v1alpha3.ResourcePoolStatusRequest | None) -> None:
        self._beta = False
        if not self.unchanged(new.spec, old, "spec"):
            if self._update:
                self._invalid("spec", None, "field is immutable", "immutable")
            else:
                self._pool_status_spec(new.spec)
        if new.status is not None and not self.unchanged(new.status, old, "status"):
            self._pool_status(new.status, None if old is None else old.status)

    def _pool_status_spec(self, spec: v1alpha3.ResourcePoolStatusRequestSpec) -> None:
        self._driver(spec.driver, "spec.driver", limit=63)
        if spec.pool_name is not None:
            self._pool_format(spec.pool_name, "spec.poolName")
        if spec.limit is None:
            self._required("spec.limit")
        elif spec.limit > 1000:
            self._invalid("spec.limit", spec.limit, "must be less than or equal to 1000", "maximum")
        else:
            self._minimum(spec.limit, 1, "spec.limit")
        if spec.default_partition_type_attribute is not None:
            self._gated_name(spec.default_partition_type_attribute, "spec.defaultPartitionTypeAttribute")

    def _pool_status(
        self, new: v1alpha3.ResourcePoolStatusRequestStatus, old: v1alpha3.ResourcePoolStatusRequestStatus | None
    ) -> None:
        if not self.unchanged(new.pool_count, old, "pool_count"):
            self._required_minimum(new.pool_count, 0, "status.poolCount")
        if not self.unchanged(new.pools, old, "pools") and self._at_most(new.pools, 1000, "status.pools"):
            for index, pool in enumerate(new.pools):
                self._pool_entry(pool, f"status.pools[{index}]")
        if not self.unchanged(new.conditions, old, "conditions"):
            self._at_most(new.conditions, 10, "status.conditions")

    def _pool_entry(self, pool: v1alpha3.PoolStatus, path: str) -> None:
        self._driver(pool.driver, f"{path}.driver", limit=63)
        self._pool(pool.pool_name, f"{path}.poolName")
        if pool.generation == 0:
            self._required(f"{path}.generation")
        else:
            self._minimum(pool.generation, 0, f"{path}.generation")
        for name, value, least in (
            ("resourceSliceCount", pool.resource_slice_count, 1),
            ("totalDevices", pool.total_devices, 0),
            ("allocatedDevices", pool.allocated_devices, 0),
            ("availableDevices", pool.available_devices, 0),
            ("unavailableDevices", pool.unavailable_devices, 0),
        ):
            if value is not None:
                self._minimum(value, least, f"{path}.{name}")
        if pool.node_name is not None:
            self._long_name(pool.node_name, f"{path}.nodeName")
        if pool.validation_error is not None:
            self._at_most_bytes(pool.validation_error, 256, f"{path}.validationError")
        where = f"{path}.partitionSummary"
        if self._at_most(pool.partition_summary, 32, where):
            self._unique(pool.partition_summary, lambda each: (each.attribute, each.type), where)
            for index, entry in enumerate(pool.partition_summary):
                if not entry.attribute:
                    self._required(f"{where}[{index}].attribute")
                if not entry.type:
                    self._required(f"{where}[{index}].type")
                self._required_minimum(entry.total, 0, f"{where}[{index}].total")
                self._required_minimum(entry.allocatable, 0, f"{where}[{index}].allocatable")
        if pool.shareable_summary is not None:
            self._shareable(pool.shareable_summary, f"{path}.shareableSummary")

    def _shareable(self, summary: v1alpha3.ShareableSummaryStatus, path: str) -> None:
        self._required_minimum(summary.fully_available_devices, 0, f"{path}.fullyAvailableDevices")
        self._required_minimum(summary.partially_available_devices, 0, f"{path}.partiallyAvailableDevices")
        if self._at_most(summary.capacity, 32, f"{path}.capacity"):
            for index, entry in enumerate(summary.capacity):
                where = f"{path}.capacity[{index}]"
                if not entry.name:
                    self._required(f"{where}.name")
                for name, value in (("total", entry.total), ("consumed", entry.consumed), ("available", entry.available)):
                    if value is None:
                        self._required(f"{where}.{name}")
