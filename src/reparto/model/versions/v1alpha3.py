"""resource.k8s.io/v1alpha3: ResourcePoolStatusRequest, which exists in no other version, and slices as Kubernetes 1.31 wrote them.

Slices of 1.31 and 1.32 look like v1beta1, except that a capacity is a bare quantity. 1.37 no longer knows them; they are read so
that an old dump can be planned. DeviceTaintRule has the shape of v1.
"""

import msgspec

from reparto.model import v1
from reparto.model.meta import Condition, Int32, Int64, NodeSelector, ObjectMeta, QuantityText, Strict

API_VERSION = f"{v1.GROUP}/v1alpha3"


def _api_version() -> str:
    return API_VERSION


class BasicDevice(Strict, frozen=True, gc=False):
    attributes: dict[str, v1.DeviceAttribute] | None = None
    capacity: dict[str, QuantityText] | None = None
    consumes_counters: tuple[v1.DeviceCounterConsumption, ...] = ()
    node_name: str | None = None
    node_selector: NodeSelector | None = None
    all_nodes: bool | None = None
    taints: tuple[v1.DeviceTaint, ...] = ()


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


class ResourceSlice(Strict, frozen=True, gc=False, tag_field="kind", tag="ResourceSlice"):
    api_version: str = msgspec.field(default_factory=_api_version)
    metadata: ObjectMeta = ObjectMeta()
    spec: ResourceSliceSpec = ResourceSliceSpec()


class ResourcePoolStatusRequestSpec(Strict, frozen=True, gc=False):
    driver: str = ""
    pool_name: str | None = None
    limit: Int32 | None = None
    default_partition_type_attribute: str | None = None


class ShareableCapacityStatus(Strict, frozen=True, gc=False):
    name: str = ""
    total: QuantityText | None = None
    consumed: QuantityText | None = None
    available: QuantityText | None = None


class ShareableSummaryStatus(Strict, frozen=True, gc=False):
    fully_available_devices: Int32 | None = None
    partially_available_devices: Int32 | None = None
    capacity: tuple[ShareableCapacityStatus, ...] = ()


class PartitionTypeStatus(Strict, frozen=True, gc=False):
    attribute: str = ""
    type: str = ""
    total: Int32 | None = None
    allocatable: Int32 | None = None


class PoolStatus(Strict, frozen=True, gc=False):
    driver: str = ""
    pool_name: str = ""
    generation: Int64 = 0
    resource_slice_count: Int32 | None = None
    total_devices: Int32 | None = None
    allocated_devices: Int32 | None = None
    available_devices: Int32 | None = None
    unavailable_devices: Int32 | None = None
    node_name: str | None = None
    validation_error: str | None = None
    partition_summary: tuple[PartitionTypeStatus, ...] = ()
    shareable_summary: ShareableSummaryStatus | None = None


class ResourcePoolStatusRequestStatus(Strict, frozen=True, gc=False):
    pool_count: Int32 | None = None
    pools: tuple[PoolStatus, ...] = ()
    conditions: tuple[Condition, ...] = ()


class ResourcePoolStatusRequest(Strict, frozen=True, gc=False, tag_field="kind", tag="ResourcePoolStatusRequest"):
    api_version: str = msgspec.field(default_factory=_api_version)
    metadata: ObjectMeta = ObjectMeta()
    spec: ResourcePoolStatusRequestSpec = ResourcePoolStatusRequestSpec()
    status: ResourcePoolStatusRequestStatus | None = None
