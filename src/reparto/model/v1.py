"""resource.k8s.io/v1 as Kubernetes 1.37.2 defines it: the hub version that every layer above `model` works with.

Field meaning and limits: KEP-4381 and its followers; the rules live in `reparto.model.validation`. Where Go distinguishes an
absent list from an empty one and a rule depends on it, the field is `tuple | None`; everywhere else an absent list is `()`.
Sequences are tuples, except in what an allocation produces (`AllocationResult` and below, `NodeSelector`): there they are lists,
so that `msgspec.to_builtins` of a result compares equal to the API's JSON. Quantities are text (`"80Gi"`), read with
`reparto.model.quantity.Quantity.parse`, which is cached.
"""

from typing import Any

import msgspec

from reparto.model.meta import Condition, Int64, NodeSelector, ObjectMeta, QuantityText, Strict, TimeText

GROUP = "resource.k8s.io"
API_VERSION = "resource.k8s.io/v1"


def _api_version() -> str:
    # A factory, not a plain default: msgspec omits plain defaults when writing, and an object without apiVersion is no object.
    return API_VERSION


# --- ResourceSlice ---------------------------------------------------------------------------------------------------------------


class DeviceAttribute(Strict, frozen=True, gc=False, cache_hash=True):
    """One attribute: exactly one field is set in a valid object. Python names are Go's (`int` and `bool` would hide the types)."""

    int_value: Int64 | None = msgspec.field(default=None, name="int")
    bool_value: bool | None = msgspec.field(default=None, name="bool")
    string_value: str | None = msgspec.field(default=None, name="string")
    version_value: str | None = msgspec.field(default=None, name="version")
    int_values: tuple[Int64, ...] | None = msgspec.field(default=None, name="ints")
    bool_values: tuple[bool, ...] | None = msgspec.field(default=None, name="bools")
    string_values: tuple[str, ...] | None = msgspec.field(default=None, name="strings")
    version_values: tuple[str, ...] | None = msgspec.field(default=None, name="versions")


class CapacityRequestPolicyRange(Strict, frozen=True, gc=False):
    min: QuantityText | None = None
    max: QuantityText | None = None
    step: QuantityText | None = None


class CapacityRequestPolicy(Strict, frozen=True, gc=False):
    default: QuantityText | None = None
    valid_values: tuple[QuantityText, ...] = ()
    valid_range: CapacityRequestPolicyRange | None = None


class DeviceCapacity(Strict, frozen=True, gc=False):
    value: QuantityText = "0"
    request_policy: CapacityRequestPolicy | None = None


class Counter(Strict, frozen=True, gc=False):
    value: QuantityText = "0"


class CounterSet(Strict, frozen=True, gc=False):
    name: str = ""
    counters: dict[str, Counter] | None = None


class DeviceCounterConsumption(Strict, frozen=True, gc=False):
    counter_set: str = ""
    counters: dict[str, Counter] | None = None
    compatibility_groups: tuple[str, ...] = ()


class DeviceTaint(Strict, frozen=True, gc=False):
    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: TimeText | None = None


class NodeAllocatableMapping(Strict, frozen=True, gc=False):
    capacity_key: str | None = None
    capacity_multiplier: QuantityText | None = None
    device_multiplier: QuantityText | None = None


class NodeAllocatableOverhead(Strict, frozen=True, gc=False):
    per_pod: QuantityText | None = None
    per_container: QuantityText | None = None


class NodeAllocatableResource(Strict, frozen=True, gc=False):
    mapping: NodeAllocatableMapping | None = None
    overhead: NodeAllocatableOverhead | None = None


class Device(Strict, frozen=True, gc=False):
    name: str = ""
    attributes: dict[str, DeviceAttribute] | None = None
    capacity: dict[str, DeviceCapacity] | None = None
    consumes_counters: tuple[DeviceCounterConsumption, ...] = ()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    taints: tuple[DeviceTaint, ...] = ()
    binds_to_node: bool | None = None
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    allow_multiple_allocations: bool | None = None
    node_allocatable_resources: dict[str, NodeAllocatableResource] | None = None


class ResourcePool(Strict, frozen=True, gc=False):
    name: str = ""
    generation: Int64 = 0
    resource_slice_count: Int64 = 0


class ResourceSliceSpec(Strict, frozen=True, gc=False):
    driver: str = ""
    pool: ResourcePool = ResourcePool()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    devices: tuple[Device, ...] | None = None
    per_device_node_selection: bool | None = None
    shared_counters: tuple[CounterSet, ...] | None = None
    partition_type_attribute: str | None = None
    skip_node_operations: tuple[str, ...] = ()


class ResourceSlice(Strict, frozen=True, gc=False, tag_field="kind", tag="ResourceSlice"):
    api_version: str = msgspec.field(default_factory=_api_version)
    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceSliceSpec = ResourceSliceSpec()


# --- DeviceTaintRule -------------------------------------------------------------------------------------------------------------


class DeviceTaintSelector(Strict, frozen=True, gc=False):
    driver: str | None = None
    pool: str | None = None
    device: str | None = None


class DeviceTaintRuleSpec(Strict, frozen=True, gc=False):
    device_selector: DeviceTaintSelector | None = None
    taint: DeviceTaint = DeviceTaint()


class DeviceTaintRuleStatus(Strict, frozen=True, gc=False):
    conditions: tuple[Condition, ...] = ()


class DeviceTaintRule(Strict, frozen=True, gc=False, tag_field="kind", tag="DeviceTaintRule"):
    api_version: str = msgspec.field(default_factory=_api_version)
    metadata: ObjectMeta = ObjectMeta()
    spec: DeviceTaintRuleSpec = DeviceTaintRuleSpec()
    status: DeviceTaintRuleStatus = DeviceTaintRuleStatus()


# --- ResourceClaim ---------------------------------------------------------------------------------------------------------------


class CELDeviceSelector(Strict, frozen=True, gc=False):
    expression: str = ""


class DeviceSelector(Strict, frozen=True, gc=False):
    cel: CELDeviceSelector | None = None


class DeviceDerivedAttribute(Strict, frozen=True, gc=False):
    name: str = ""
    expression: str = ""


class DeviceToleration(Strict, frozen=True, gc=False):
    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: Int64 | None = None


class CapacityRequirements(Strict, frozen=True, gc=False):
    requests: dict[str, QuantityText] | None = None


class ExactDeviceRequest(Strict, frozen=True, gc=False):
    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = ""
    count: Int64 = 0
    admin_access: bool | None = None
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: CapacityRequirements | None = None
    derived_attributes: tuple[DeviceDerivedAttribute, ...] = ()


class DeviceSubRequest(Strict, frozen=True, gc=False):
    name: str = ""
    device_class_name: str = ""
    selectors: tuple[DeviceSelector, ...] = ()
    allocation_mode: str = ""
    count: Int64 = 0
    tolerations: tuple[DeviceToleration, ...] = ()
    capacity: CapacityRequirements | None = None
    derived_attributes: tuple[DeviceDerivedAttribute, ...] = ()


class DeviceRequest(Strict, frozen=True, gc=False):
    name: str = ""
    exactly: ExactDeviceRequest | None = None
    first_available: tuple[DeviceSubRequest, ...] = ()


class DeviceConstraint(Strict, frozen=True, gc=False):
    requests: tuple[str, ...] = ()
    match_attribute: str | None = None
    distinct_attribute: str | None = None


class OpaqueDeviceConfiguration(Strict, frozen=True, gc=False):
    driver: str = ""
    parameters: Any = None


class DeviceClaimConfiguration(Strict, frozen=True, gc=False):
    requests: tuple[str, ...] = ()
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClaim(Strict, frozen=True, gc=False):
    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[DeviceConstraint, ...] = ()
    config: tuple[DeviceClaimConfiguration, ...] = ()


class ResourceClaimSpec(Strict, frozen=True, gc=False):
    devices: DeviceClaim = DeviceClaim()


class ResourceClaimConsumerReference(Strict, frozen=True, gc=False):
    api_group: str = ""
    resource: str = ""
    name: str = ""
    uid: str = ""


# Empty lists as defaults are safe here: msgspec gives every struct its own (ruff does not see that these are msgspec structs).


class DeviceRequestAllocationResult(Strict, frozen=True, gc=False):
    request: str = ""
    driver: str = ""
    pool: str = ""
    device: str = ""
    admin_access: bool | None = None
    tolerations: list[DeviceToleration] = []  # noqa: RUF012
    binding_conditions: list[str] = []  # noqa: RUF012
    binding_failure_conditions: list[str] = []  # noqa: RUF012
    share_id: str | None = msgspec.field(default=None, name="shareID")
    consumed_capacity: dict[str, QuantityText] | None = None
    skip_node_operations: list[str] = []  # noqa: RUF012


class DeviceAllocationConfiguration(Strict, frozen=True, gc=False):
    source: str = ""
    requests: list[str] = []  # noqa: RUF012
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceAllocationResult(Strict, frozen=True, gc=False):
    results: list[DeviceRequestAllocationResult] = []  # noqa: RUF012
    config: list[DeviceAllocationConfiguration] = []  # noqa: RUF012


class AllocationResult(Strict, frozen=True, gc=False):
    devices: DeviceAllocationResult = DeviceAllocationResult()
    node_selector: NodeSelector | None = None
    allocation_timestamp: TimeText | None = None


class NetworkDeviceData(Strict, frozen=True, gc=False):
    interface_name: str = ""
    ips: tuple[str, ...] = ()
    hardware_address: str = ""


class AllocatedDeviceStatus(Strict, frozen=True, gc=False):
    driver: str = ""
    pool: str = ""
    device: str = ""
    share_id: str | None = msgspec.field(default=None, name="shareID")
    conditions: tuple[Condition, ...] = ()
    data: Any = None
    network_data: NetworkDeviceData | None = None


class ResourceClaimStatus(Strict, frozen=True, gc=False):
    allocation: AllocationResult | None = None
    reserved_for: tuple[ResourceClaimConsumerReference, ...] = ()
    devices: tuple[AllocatedDeviceStatus, ...] = ()


class ResourceClaim(Strict, frozen=True, gc=False, tag_field="kind", tag="ResourceClaim"):
    api_version: str = msgspec.field(default_factory=_api_version)
    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: ResourceClaimStatus = ResourceClaimStatus()


class ResourceClaimTemplateSpec(Strict, frozen=True, gc=False):
    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(Strict, frozen=True, gc=False, tag_field="kind", tag="ResourceClaimTemplate"):
    api_version: str = msgspec.field(default_factory=_api_version)
    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()


# --- DeviceClass -----------------------------------------------------------------------------------------------------------------


class DeviceClassConfiguration(Strict, frozen=True, gc=False):
    opaque: OpaqueDeviceConfiguration | None = None


class DeviceClassSpec(Strict, frozen=True, gc=False):
    selectors: tuple[DeviceSelector, ...] = ()
    config: tuple[DeviceClassConfiguration, ...] = ()
    extended_resource_name: str | None = None


class DeviceClass(Strict, frozen=True, gc=False, tag_field="kind", tag="DeviceClass"):
    api_version: str = msgspec.field(default_factory=_api_version)
    metadata: ObjectMeta = ObjectMeta()
    spec: DeviceClassSpec = DeviceClassSpec()
