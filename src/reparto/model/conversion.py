"""Conversion between the versions of resource.k8s.io, by way of v1.

Lossless up to what the versions cannot say: v1beta1 slices cannot tell an empty `nodeName` or a false `allNodes` from an unset
one, and v1beta1 knows no DeviceTaintRule. Source: `pkg/apis/resource/v1beta1/conversion.go` of 1.37.2 (its hub is the internal
version, which has the shape of v1).
"""

from msgspec.structs import replace

from reparto.model import v1
from reparto.model.errors import DecodeError
from reparto.model.meta import Base, Strict
from reparto.model.versions import GROUP, RETIRED, STRUCTS, V1, V1BETA1, kind_of, v1alpha3, v1beta1


def to_v1(obj: Base) -> Base:
    """`obj` in the shape and version of v1. ResourcePoolStatusRequest, which v1 lacks, and core objects come back as they are."""
    match obj:
        case v1.ResourceSlice() | v1.ResourceClaim() | v1.ResourceClaimTemplate() | v1.DeviceClass() | v1.DeviceTaintRule():
            return obj if obj.api_version == V1 else replace(obj, api_version=V1)
        case v1beta1.ResourceSlice():
            devices = None if obj.spec.devices is None else tuple(_device(device) for device in obj.spec.devices)
            return v1.ResourceSlice(metadata=obj.metadata, spec=_slice_spec(obj.spec, devices))
        case v1alpha3.ResourceSlice():
            devices = None if obj.spec.devices is None else tuple(_retired_device(device) for device in obj.spec.devices)
            return v1.ResourceSlice(metadata=obj.metadata, spec=_slice_spec(obj.spec, devices))
        case v1beta1.ResourceClaim():
            return v1.ResourceClaim(metadata=obj.metadata, spec=_claim_spec(obj.spec), status=obj.status)
        case v1beta1.ResourceClaimTemplate():
            spec = v1.ResourceClaimTemplateSpec(metadata=obj.spec.metadata, spec=_claim_spec(obj.spec.spec))
            return v1.ResourceClaimTemplate(metadata=obj.metadata, spec=spec)
        case _:
            return obj


def from_v1(obj: Base, api_version: str) -> Base:
    """A v1 object in another version. Raises `DecodeError` where that version does not know the kind."""
    if not isinstance(obj, Strict):
        return obj
    kind = kind_of(obj)
    if (api_version, kind) not in STRUCTS or (api_version, kind) in RETIRED:
        raise DecodeError(f'no kind "{kind}" is registered for version "{api_version}"', "apiVersion", api_version)
    if api_version != V1BETA1:
        return replace(obj, api_version=api_version)
    match obj:
        case v1.ResourceSlice():
            spec = obj.spec
            devices = None if spec.devices is None else tuple(_basic_device(device) for device in spec.devices)
            return v1beta1.ResourceSlice(
                metadata=obj.metadata,
                spec=v1beta1.ResourceSliceSpec(
                    driver=spec.driver,
                    pool=spec.pool,
                    node_name=spec.node_name or "",
                    node_selector=spec.node_selector,
                    all_nodes=bool(spec.all_nodes),
                    devices=devices,
                    per_device_node_selection=spec.per_device_node_selection,
                    shared_counters=spec.shared_counters,
                    partition_type_attribute=spec.partition_type_attribute,
                    skip_node_operations=spec.skip_node_operations,
                ),
            )
        case v1.ResourceClaim():
            return v1beta1.ResourceClaim(metadata=obj.metadata, spec=_flat_spec(obj.spec), status=obj.status)
        case v1.ResourceClaimTemplate():
            template = v1beta1.ResourceClaimTemplateSpec(metadata=obj.spec.metadata, spec=_flat_spec(obj.spec.spec))
            return v1beta1.ResourceClaimTemplate(metadata=obj.metadata, spec=template)
        case _:
            return replace(obj, api_version=api_version)


def convert(obj: Base, api_version: str) -> Base:
    """`obj` in `api_version` (`"resource.k8s.io/v1beta1"`), by way of v1. Raises `DecodeError` if it lacks the kind."""
    if not api_version.startswith(f"{GROUP}/"):
        raise DecodeError(f'"{api_version}" is not a version of {GROUP}', "apiVersion", api_version, f"for example {V1}")
    return from_v1(to_v1(obj), api_version)


def _slice_spec(
    spec: v1beta1.ResourceSliceSpec | v1alpha3.ResourceSliceSpec, devices: tuple[v1.Device, ...] | None
) -> v1.ResourceSliceSpec:
    alpha = isinstance(spec, v1alpha3.ResourceSliceSpec)
    return v1.ResourceSliceSpec(
        driver=spec.driver,
        pool=spec.pool,
        node_name=spec.node_name or None,
        node_selector=spec.node_selector,
        all_nodes=spec.all_nodes or None,
        devices=devices,
        per_device_node_selection=spec.per_device_node_selection,
        shared_counters=spec.shared_counters,
        partition_type_attribute=None if alpha else spec.partition_type_attribute,
        skip_node_operations=() if alpha else spec.skip_node_operations,
    )


def _device(device: v1beta1.Device) -> v1.Device:
    basic = device.basic
    if basic is None:
        return v1.Device(name=device.name)
    return v1.Device(
        name=device.name,
        attributes=basic.attributes or None,
        capacity=basic.capacity or None,
        consumes_counters=basic.consumes_counters,
        node_name=basic.node_name,
        node_selector=basic.node_selector,
        all_nodes=basic.all_nodes,
        taints=basic.taints,
        binds_to_node=basic.binds_to_node,
        binding_conditions=basic.binding_conditions,
        binding_failure_conditions=basic.binding_failure_conditions,
        allow_multiple_allocations=basic.allow_multiple_allocations,
        node_allocatable_resources=basic.node_allocatable_resources,
    )


def _retired_device(device: v1alpha3.Device) -> v1.Device:
    basic = device.basic
    if basic is None:
        return v1.Device(name=device.name)
    capacity = {name: v1.DeviceCapacity(value=value) for name, value in (basic.capacity or {}).items()}
    return v1.Device(
        name=device.name,
        attributes=basic.attributes or None,
        capacity=capacity or None,
        consumes_counters=basic.consumes_counters,
        node_name=basic.node_name,
        node_selector=basic.node_selector,
        all_nodes=basic.all_nodes,
        taints=basic.taints,
    )


def _basic_device(device: v1.Device) -> v1beta1.Device:
    return v1beta1.Device(
        name=device.name,
        basic=v1beta1.BasicDevice(
            attributes=device.attributes or None,
            capacity=device.capacity or None,
            consumes_counters=device.consumes_counters,
            node_name=device.node_name,
            node_selector=device.node_selector,
            all_nodes=device.all_nodes,
            taints=device.taints,
            binds_to_node=device.binds_to_node,
            binding_conditions=device.binding_conditions,
            binding_failure_conditions=device.binding_failure_conditions,
            allow_multiple_allocations=device.allow_multiple_allocations,
            node_allocatable_resources=device.node_allocatable_resources,
        ),
    )


def _claim_spec(spec: v1beta1.ResourceClaimSpec) -> v1.ResourceClaimSpec:
    devices = spec.devices
    requests = tuple(_request(request) for request in devices.requests)
    return v1.ResourceClaimSpec(devices=v1.DeviceClaim(requests=requests, constraints=devices.constraints, config=devices.config))


def _request(request: v1beta1.DeviceRequest) -> v1.DeviceRequest:
    # Any of the flat fields makes it an exact request, a list that is there but empty included.
    exact = (
        request.device_class_name
        or request.selectors is not None
        or request.allocation_mode
        or request.count
        or request.admin_access is not None
        or request.tolerations is not None
        or request.capacity is not None
        or request.derived_attributes is not None
    )
    exactly = None
    if exact:
        exactly = v1.ExactDeviceRequest(
            device_class_name=request.device_class_name,
            selectors=request.selectors or (),
            allocation_mode=request.allocation_mode,
            count=request.count,
            admin_access=request.admin_access,
            tolerations=request.tolerations or (),
            capacity=request.capacity,
            derived_attributes=request.derived_attributes or (),
        )
    return v1.DeviceRequest(name=request.name, exactly=exactly, first_available=request.first_available)


def _flat_spec(spec: v1.ResourceClaimSpec) -> v1beta1.ResourceClaimSpec:
    devices = spec.devices
    requests = tuple(flat_request(request) for request in devices.requests)
    return v1beta1.ResourceClaimSpec(
        devices=v1beta1.DeviceClaim(requests=requests, constraints=devices.constraints, config=devices.config)
    )


def flat_request(request: v1.DeviceRequest) -> v1beta1.DeviceRequest:
    """A request in the shape of v1beta1. One with both kinds, which no version allows, keeps both."""
    exactly = request.exactly
    if exactly is None:
        return v1beta1.DeviceRequest(name=request.name, first_available=request.first_available)
    return v1beta1.DeviceRequest(
        name=request.name,
        device_class_name=exactly.device_class_name,
        selectors=exactly.selectors or None,
        allocation_mode=exactly.allocation_mode,
        count=exactly.count,
        admin_access=exactly.admin_access,
        first_available=request.first_available,
        tolerations=exactly.tolerations or None,
        capacity=exactly.capacity,
        derived_attributes=exactly.derived_attributes or None,
    )
