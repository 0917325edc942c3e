"""Taints: devices that must not be used, unless a request says that it can live with it.

Drivers taint their own devices in the slice; administrators taint devices with DeviceTaintRules. The allocator knows only taints in
slices, so rules are merged into them first, as upstream's slice tracker does.
"""

from collections.abc import Iterable, Sequence

import msgspec

from reparto.model.v1 import Device, DeviceTaint, DeviceTaintRule, DeviceToleration, ResourceSlice

_PREVENTS_ALLOCATION = ("NoSchedule", "NoExecute")


def blocking_taints(device: Device) -> tuple[DeviceTaint, ...]:
    """The taints of a device that prevent its use unless tolerated. All other effects (`None`, unknown ones) are ignored."""
    return tuple(taint for taint in device.taints if taint.effect in _PREVENTS_ALLOCATION)


def tolerates(toleration: DeviceToleration, taint: DeviceTaint) -> bool:
    """True if `toleration` covers `taint`. Empty effect and empty key cover all; the empty operator means Equal.

    Source: upstream-dra.md 3.12.
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator in ("", "Equal"):
        return toleration.value == taint.value
    return toleration.operator == "Exists"


def untolerated(taints: Sequence[DeviceTaint], tolerations: Sequence[DeviceToleration]) -> DeviceTaint | None:
    """The first of `taints` (blocking ones) that no toleration covers, or None."""
    for taint in taints:
        if not any(tolerates(toleration, taint) for toleration in tolerations):
            return taint
    return None


def apply_taint_rules(slices: Iterable[ResourceSlice], rules: Iterable[DeviceTaintRule]) -> list[ResourceSlice]:
    """The slices with the taint of each matching rule appended to the devices it selects.

    Slices that no rule matches are returned as they are. A rule without a selector matches nothing, one with an empty selector
    every device. Upstream appends rules in no particular order; here they come by name. Source: `applyPatches` of the slice
    tracker, upstream-dra.md 3.15.
    """
    ordered = sorted((rule for rule in rules if rule.spec.device_selector is not None), key=lambda rule: rule.metadata.name)
    return [_patched(published, ordered) for published in slices]


def _patched(published: ResourceSlice, rules: Sequence[DeviceTaintRule]) -> ResourceSlice:
    spec = published.spec
    matching = [rule for rule in rules if _selects_pool(rule, spec.driver, spec.pool.name)]
    if not matching or not spec.devices:
        return published
    devices = tuple(_tainted(device, matching) for device in spec.devices)
    if all(new is old for new, old in zip(devices, spec.devices, strict=True)):
        return published
    return msgspec.structs.replace(published, spec=msgspec.structs.replace(spec, devices=devices))


def _selects_pool(rule: DeviceTaintRule, driver: str, pool: str) -> bool:
    selector = rule.spec.device_selector
    return selector is not None and selector.driver in (None, driver) and selector.pool in (None, pool)


def _tainted(device: Device, rules: Sequence[DeviceTaintRule]) -> Device:
    added = tuple(
        rule.spec.taint
        for rule in rules
        if rule.spec.device_selector is not None and rule.spec.device_selector.device in (None, device.name)
    )
    return msgspec.structs.replace(device, taints=device.taints + added) if added else device
