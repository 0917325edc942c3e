"""Defaults: what the API server fills into an object before it validates it.

Defaults belong to a version: v1beta1 leaves a request without `deviceClassName` alone, because it may be one with `firstAvailable`.
No default of resource.k8s.io depends on a feature gate. The clock is injected. Source: `pkg/apis/resource/v1*/defaults.go` and the
generated `+default` markers of 1.37.2; validation-1.37.md section 2.
"""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any, TypeVar

from msgspec.structs import replace

from reparto.model import v1
from reparto.model.canonical import ZERO_TIME
from reparto.model.meta import Base
from reparto.model.versions import v1alpha3, v1beta1

_T = TypeVar("_T")
POOL_STATUS_LIMIT = 100


def default(obj: Base, now: str | None = None) -> Base:
    """`obj` with its version's defaults; `obj` itself where nothing is missing.

    `now` is the RFC 3339 time that a taint without `timeAdded` gets; None means the clock's, in whole seconds.
    """
    match obj:
        case v1.ResourceSlice():
            return _slice(obj, now)
        case v1.ResourceClaim():
            spec = _spec(obj.spec)
            status = _status(obj.status)
            return obj if spec is obj.spec and status is obj.status else replace(obj, spec=spec, status=status)
        case v1.ResourceClaimTemplate():
            spec = _spec(obj.spec.spec)
            return obj if spec is obj.spec.spec else replace(obj, spec=replace(obj.spec, spec=spec))
        case v1.DeviceTaintRule():
            taint = _taint(obj.spec.taint, now)
            return obj if taint is obj.spec.taint else replace(obj, spec=replace(obj.spec, taint=taint))
        case v1beta1.ResourceSlice():
            devices = _each(obj.spec.devices or (), lambda device: _basic(device, now))
            return obj if devices is obj.spec.devices or not devices else replace(obj, spec=replace(obj.spec, devices=devices))
        case v1beta1.ResourceClaim():
            flat = _flat_spec(obj.spec)
            status = _status(obj.status)
            return obj if flat is obj.spec and status is obj.status else replace(obj, spec=flat, status=status)
        case v1beta1.ResourceClaimTemplate():
            flat = _flat_spec(obj.spec.spec)
            return obj if flat is obj.spec.spec else replace(obj, spec=replace(obj.spec, spec=flat))
        case v1alpha3.ResourceSlice():
            retired = _each(obj.spec.devices or (), lambda device: _retired(device, now))
            return obj if retired is obj.spec.devices or not retired else replace(obj, spec=replace(obj.spec, devices=retired))
        case v1alpha3.ResourcePoolStatusRequest():
            return obj if obj.spec.limit is not None else replace(obj, spec=replace(obj.spec, limit=POOL_STATUS_LIMIT))
        case _:
            return obj


def _slice(obj: v1.ResourceSlice, now: str | None) -> v1.ResourceSlice:
    devices = obj.spec.devices
    if not devices or not any(device.taints for device in devices):
        return obj
    new = _each(devices, lambda device: _tainted(device, now))
    return obj if new is devices else replace(obj, spec=replace(obj.spec, devices=new))


def _tainted(device: v1.Device, now: str | None) -> v1.Device:
    taints = _each(device.taints, lambda taint: _taint(taint, now))
    return device if taints is device.taints else replace(device, taints=taints)


def _basic(device: v1beta1.Device, now: str | None) -> v1beta1.Device:
    basic = device.basic
    if basic is None:
        return device
    taints = _each(basic.taints, lambda taint: _taint(taint, now))
    return device if taints is basic.taints else replace(device, basic=replace(basic, taints=taints))


def _retired(device: v1alpha3.Device, now: str | None) -> v1alpha3.Device:
    basic = device.basic
    if basic is None:
        return device
    taints = _each(basic.taints, lambda taint: _taint(taint, now))
    return device if taints is basic.taints else replace(device, basic=replace(basic, taints=taints))


def _taint(taint: v1.DeviceTaint, now: str | None) -> v1.DeviceTaint:
    if taint.time_added == ZERO_TIME:
        return replace(taint, time_added=None)  # set, and so not defaulted, but null once it is written
    if taint.time_added is not None:
        return taint
    return replace(taint, time_added=now or datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"))


def _spec(spec: v1.ResourceClaimSpec) -> v1.ResourceClaimSpec:
    requests = _each(spec.devices.requests, _request)
    return spec if requests is spec.devices.requests else replace(spec, devices=replace(spec.devices, requests=requests))


def _request(request: v1.DeviceRequest) -> v1.DeviceRequest:
    exactly = None if request.exactly is None else _amount(request.exactly)
    alternatives = _each(request.first_available, _amount)
    if exactly is request.exactly and alternatives is request.first_available:
        return request
    return replace(request, exactly=exactly, first_available=alternatives)


def _flat_spec(spec: v1beta1.ResourceClaimSpec) -> v1beta1.ResourceClaimSpec:
    requests = _each(spec.devices.requests, _flat_request)
    return spec if requests is spec.devices.requests else replace(spec, devices=replace(spec.devices, requests=requests))


def _flat_request(request: v1beta1.DeviceRequest) -> v1beta1.DeviceRequest:
    alternatives = _each(request.first_available, _amount)
    if alternatives is not request.first_available:
        request = replace(request, first_available=alternatives)
    if request.device_class_name:
        return _amount(request)
    tolerations = _each(request.tolerations, _toleration) if request.tolerations else request.tolerations
    return request if tolerations is request.tolerations else replace(request, tolerations=tolerations)


_Request = TypeVar("_Request", v1.ExactDeviceRequest, v1.DeviceSubRequest, v1beta1.DeviceRequest)


def _amount(request: _Request) -> _Request:
    changes: dict[str, Any] = {}
    mode = request.allocation_mode
    if not mode:
        mode = changes["allocation_mode"] = "ExactCount"
    if mode == "ExactCount" and request.count == 0:
        changes["count"] = 1
    if request.tolerations:
        tolerations = _each(request.tolerations, _toleration)
        if tolerations is not request.tolerations:
            changes["tolerations"] = tolerations
    return replace(request, **changes) if changes else request


def _toleration(toleration: v1.DeviceToleration) -> v1.DeviceToleration:
    return toleration if toleration.operator else replace(toleration, operator="Equal")


def _status(status: v1.ResourceClaimStatus) -> v1.ResourceClaimStatus:
    if status.allocation is None:
        return status
    results = status.allocation.devices.results
    if all(toleration.operator for result in results for toleration in result.tolerations):
        return status
    new = [replace(result, tolerations=[_toleration(each) for each in result.tolerations]) for result in results]
    return replace(status, allocation=replace(status.allocation, devices=replace(status.allocation.devices, results=new)))


def _each(items: tuple[_T, ...], function: Callable[[_T], _T]) -> tuple[_T, ...]:
    new = tuple(function(item) for item in items)
    return items if _identical(items, new) else new


def _identical(left: Iterable[object], right: Iterable[object]) -> bool:
    return all(one is other for one, other in zip(left, right, strict=True))
