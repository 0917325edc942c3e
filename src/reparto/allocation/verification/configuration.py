"""Which configuration belongs into an allocation: that of the classes in use, then what of the claim's own applies.

Source: upstream-dra.md 3.14.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from reparto.allocation.verification.requests import Ask
from reparto.model.v1 import DeviceAllocationConfiguration, DeviceClass, OpaqueDeviceConfiguration, ResourceClaim

Entry: TypeAlias = tuple[tuple[str, ...], OpaqueDeviceConfiguration | None]
"""References of the requests it is for, none meaning all, and what it says."""


def entries(config: Iterable[DeviceAllocationConfiguration], source: str) -> list[Entry]:
    """The entries of an allocation that come from `FromClass` or `FromClaim`."""
    return [(tuple(entry.requests), entry.opaque) for entry in config if entry.source == source]


def of_classes(chosen: Sequence[Ask], classes: Mapping[str, DeviceClass]) -> list[Entry]:
    """What the classes say, each once, in the order of the requests that first use them."""
    used: dict[str, list[str]] = {}
    for ask in chosen:
        used.setdefault(ask.body.device_class_name, []).append(ask.reference)
    return [
        (_for_all(references, chosen), config.opaque) for name, references in used.items() for config in classes[name].spec.config
    ]


def of_claim(claim: ResourceClaim, chosen: Sequence[Ask]) -> list[Entry]:
    """What of the claim's configuration is about a request, or about the alternative that was chosen for it."""
    return [
        (_for_all(config.requests, chosen), config.opaque)
        for config in claim.spec.devices.config
        if not config.requests or any(ask.named_by(config.requests) for ask in chosen)
    ]


def _for_all(references: Sequence[str], chosen: Sequence[Ask]) -> tuple[str, ...]:
    """No references where these are about every request."""
    named = tuple(references)
    return () if all(ask.named_by(named) for ask in chosen) else named
