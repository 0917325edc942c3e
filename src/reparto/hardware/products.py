"""How to name a device to a person: its product, and what tells it from others.

Drivers name the same thing differently (`productName`, `model`, `family`, …); a table that shows only `gpu-3` helps nobody.
"""

from collections.abc import Mapping
from typing import Final

from reparto.model.v1 import Device, DeviceAttribute

# Looked up in this order; the first that the device carries names the product (gpu-landscape.md 2.2 and 6).
_PRODUCT: Final = ("productName", "model", "accelerator", "tpuGen", "instanceType", "pciDevice", "family")
# A MIG or AMD partition profile.
_PROFILE: Final = ("profile", "partitionProfile")
# What tells devices of one product apart: a profile, a network interface.
_DETAIL: Final = (*_PROFILE, "ifName", "rdmaDevice")


def describe(driver: str, device: Device) -> str:
    """Product and detail, as in `NVIDIA A100-SXM4-40GB` or `CX8 Family [ConnectX-8], rdma0`; empty where it has neither."""
    attributes = device.attributes or {}
    product = _first(driver, attributes, _PRODUCT)
    detail = _first(driver, attributes, _DETAIL)
    return ", ".join(part for part in (product, detail) if part)


def product(driver: str, device: Device) -> str:
    """By what devices are counted: the product, with the profile of a partition; empty where it has neither."""
    attributes = device.attributes or {}
    name, profile = _first(driver, attributes, _PRODUCT), _first(driver, attributes, _PROFILE)
    return ", ".join(part for part in (name, profile) if part)


def profile(driver: str, device: Device) -> str:
    """The profile of a partition, as in `1g.10gb`; empty for what is none."""
    return _first(driver, device.attributes or {}, _PROFILE)


def _first(driver: str, attributes: Mapping[str, DeviceAttribute], names: tuple[str, ...]) -> str:
    for name in names:
        attribute = attributes.get(name) or attributes.get(f"{driver}/{name}")
        if attribute is not None and attribute.string_value:
            return attribute.string_value
    return ""
