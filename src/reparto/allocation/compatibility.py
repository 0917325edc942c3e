"""Compatibility groups: devices that draw on one counter set only together with their like (KEP-5963).

Per pool and counter set the groups of *all* devices there must have one in common; pairwise overlap is not enough. A device without
groups goes only with devices without groups.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from reparto.model.v1 import DeviceCounterConsumption, ResourceSlice


@dataclass(frozen=True, slots=True)
class CommonGroups:
    """What the devices on one counter set have in common so far: nothing declared (`groups` is None), or these groups."""

    groups: frozenset[str] | None

    def admits(self, declared: tuple[str, ...]) -> bool:
        """Whether a device that declares these groups may join."""
        if self.groups is None or not declared:
            return self.groups is None and not declared
        return not self.groups.isdisjoint(declared)

    def joined_by(self, declared: tuple[str, ...]) -> "CommonGroups":
        """What is common once the device has joined.

        A slice edited later can hold devices that should never have met; the first counts.
        """
        if self.groups is None or not declared:
            return self
        return CommonGroups(self.groups.intersection(declared))


def first(declared: tuple[str, ...]) -> CommonGroups:
    """The state of a counter set with one device on it."""
    return CommonGroups(frozenset(declared) if declared else None)


def folded(consumptions: Iterable[DeviceCounterConsumption]) -> dict[str, CommonGroups]:
    """Common groups per counter set of devices that are allocated already, in the order of the pool."""
    common: dict[str, CommonGroups] = {}
    for consumption in consumptions:
        groups = common.get(consumption.counter_set)
        declared = consumption.compatibility_groups
        common[consumption.counter_set] = first(declared) if groups is None else groups.joined_by(declared)
    return common


def declares_groups(published: ResourceSlice) -> bool:
    """True if some device of the slice declares groups. Such slices do not exist for an allocator without the feature."""
    return any(
        consumption.compatibility_groups for device in published.spec.devices or () for consumption in device.consumes_counters
    )
