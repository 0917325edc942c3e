"""resource.k8s.io/v1beta1: what differs from v1.

A request is flat (`deviceClassName` beside `name`, no `exactly`), the data of a device lies under `basic`, and a slice's
`nodeName` and `allNodes` cannot tell unset from empty. Everything else is shared with `reparto.model.v1`. The flat lists are
`None` when absent: an empty list already makes a request an exact one (a rule of the conversion).
"""

import msgspec

from reparto.model import v1
from reparto.model.meta import Int64, NodeSelector, ObjectMeta, Strict

API_VERSION = f"{v1.GROUP}/v1beta1"


def _api_version() -> str:
    return API_VERSION


class BasicDevice(Strict, frozen=True, gc=False):
    attributes: dict[str, v1.DeviceAttribute] | None = None
    capacity: dict[str, v1.DeviceCapacity] | None = None
    consumes_counters: tuple[v1.DeviceCounterConsumption, ...] = ()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    taints: tuple[v1.DeviceTaint, ...] = ()
    binds_to_node: bool | None = None
    binding_conditions: tuple[str, ...] = ()
    binding_failure_conditions: tuple[str, ...] = ()
    allow_multiple_allocations: bool | None = None
    node_allocatable_resources: dict[str, v1.NodeAllocatableResource] | None = None


class Device(Strict, frozen=True, gc=False):
    name: str = ""
    basic: BasicDevice | None = None


class ResourceSliceSpec(Strict, frozen=True, gc=False):
    driver: str = ""
    pool: v1.ResourcePool = v1.ResourcePool()
    node_name: str = ""
    node_selector: NodeSelector | None = None
    all_nodes: bool = False
    devices: tuple[Device, ...] | None = None
    per_device_node_selection: bool | None = None
    shared_counters: tuple[v1.CounterSet, ...] | None = None
    partition_type_attribute: str | None = None
    skip_node_operations: tuple[str, ...] = ()


class ResourceSlice(Strict, frozen=True, gc=False, tag_field="kind", tag="ResourceSlice"):
    api_version: str = msgspec.field(default_factory=_api_version)
    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceSliceSpec = ResourceSliceSpec()


class DeviceRequest(Strict, frozen=True, gc=False):
    name: str = ""
    device_class_name: str = ""
    selectors: tuple[v1.DeviceSelector, ...] | None = None
    allocation_mode: str = ""
    count: Int64 = 0
    admin_access: bool | None = None
    first_available: tuple[v1.DeviceSubRequest, ...] = ()
    tolerations: tuple[v1.DeviceToleration, ...] | None = None
    capacity: v1.CapacityRequirements | None = None
    derived_attributes: tuple[v1.DeviceDerivedAttribute, ...] | None = None


class DeviceClaim(Strict, frozen=True, gc=False):
    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[v1.DeviceConstraint, ...] = ()
    config: tuple[v1.DeviceClaimConfiguration, ...] = ()


class ResourceClaimSpec(Strict, frozen=True, gc=False):
    devices: DeviceClaim = DeviceClaim()


class ResourceClaim(Strict, frozen=True, gc=False, tag_field="kind", tag="ResourceClaim"):
    api_version: str = msgspec.field(default_factory=_api_version)
    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()
    status: v1.ResourceClaimStatus = v1.ResourceClaimStatus()


class ResourceClaimTemplateSpec(Strict, frozen=True, gc=False):
    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimSpec = ResourceClaimSpec()


class ResourceClaimTemplate(Strict, frozen=True, gc=False, tag_field="kind", tag="ResourceClaimTemplate"):
    api_version: str = msgspec.field(default_factory=_api_version)
    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceClaimTemplateSpec = ResourceClaimTemplateSpec()
