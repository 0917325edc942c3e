"""Shared counters: how much of each counter set of a pool is left.

A partitionable device (KEP-4815) draws on counters that its pool publishes once for all devices. What is left is derived, never
stored: published value minus the draw of every allocated device, as the slices describe it *now*. That a driver can thereby free
counters by editing a slice is upstream's behaviour too (kubernetes#140802).
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from reparto.model.quantity import Quantity
from reparto.model.v1 import CounterSet, Device

CounterName: TypeAlias = tuple[str, str]
"""(counter set, counter)."""


def demand_of(device: Device) -> dict[CounterName, int]:
    """What a device draws while it is allocated, in 1e-9 units."""
    demand: dict[CounterName, int] = {}
    for consumption in device.consumes_counters:
        for name, counter in (consumption.counters or {}).items():
            key = (consumption.counter_set, name)
            demand[key] = demand.get(key, 0) + Quantity.parse(counter.value).nano
    return demand


def published_values(sets: Iterable[CounterSet]) -> dict[CounterName, int]:
    """What drivers publish, in 1e-9 units: what is there while no device is allocated."""
    return {
        (counter_set.name, name): Quantity.parse(counter.value).nano
        for counter_set in sets
        for name, counter in (counter_set.counters or {}).items()
    }


class CounterUse:
    """Counters of one pool during one attempt: what is left of them, and what the attempt has drawn so far.

    Devices leave in the opposite order in which they came. So only the counters that a device touches need a look: the others held
    when the previous device came, and before the first one nothing but an over-drawn pool can be wrong.
    """

    __slots__ = ("_drawn", "_left", "_overdrawn")

    def __init__(self, left: Mapping[CounterName, int]) -> None:
        self._left = left
        self._drawn: dict[CounterName, int] = {}
        self._overdrawn = [name for name, amount in left.items() if amount < 0]

    def short_of(self, demand: Mapping[CounterName, int]) -> CounterName | None:
        """The first counter that does not cover `demand`, or None if all do."""
        for name in self._overdrawn:
            if self._drawn.get(name, 0) + demand.get(name, 0) > self._left[name]:
                return name
        for name, amount in demand.items():
            if self._drawn.get(name, 0) + amount > self._left[name]:
                return name
        return None

    def draw(self, demand: Mapping[CounterName, int]) -> None:
        """Take what `short_of` found to be there."""
        for name, amount in demand.items():
            self._drawn[name] = self._drawn.get(name, 0) + amount

    def give_back(self, demand: Mapping[CounterName, int]) -> None:
        """Undo the latest `draw`."""
        for name, amount in demand.items():
            self._drawn[name] -= amount


def unknown_counter(sets: Mapping[str, CounterSet], devices: Sequence[Device]) -> str | None:
    """What is wrong with the counters that `devices` name, as upstream words it; None if all exist in `sets`."""
    for device in devices:
        for consumption in device.consumes_counters:
            counter_set = sets.get(consumption.counter_set)
            if counter_set is None:
                return f"counter set {consumption.counter_set} not found"
            for name in consumption.counters or {}:
                if name not in (counter_set.counters or {}):
                    return f"counter {name} not found in counter set {counter_set.name}"
    return None
