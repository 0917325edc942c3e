"""What is published, as a node sees it: which pools are whole, valid and current, and which devices they hold.

The checker's own reading of how slices make up pools. It is asked for one pool and one node at a time, since only the pools of
allocated devices matter, and a cluster has many more. Nothing is looked up by walking all slices.

Source: upstream-dra.md 3.3; KEP-4381, "ResourceSlice"; KEP-4815 for counters.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from reparto.allocation.features import Features
from reparto.allocation.verification.breaches import BreachKind
from reparto.allocation.verification.nodes import selects
from reparto.model.core import Node
from reparto.model.v1 import CounterSet, Device, ResourceSlice

DeviceID: TypeAlias = tuple[str, str, str]
"""(driver, pool, device)."""
PoolID: TypeAlias = tuple[str, str]
"""(driver, pool)."""


@dataclass(frozen=True, slots=True, eq=False)
class Offer:
    """A device, and the slice that publishes it."""

    device: Device
    slice: ResourceSlice

    @property
    def id(self) -> DeviceID:
        return self.slice.spec.driver, self.slice.spec.pool.name, self.device.name

    def is_for(self, node: Node) -> bool:
        """True if the node may use the device: what the slice says, unless it leaves that to its devices."""
        spec = self.slice.spec
        if spec.node_name or spec.all_nodes or spec.node_selector is not None or not spec.per_device_node_selection:
            if not selects(spec, node):
                return False
        return not spec.per_device_node_selection or selects(self.device, node)


@dataclass(slots=True, eq=False)
class PoolView:
    """A pool as one node sees it. With a `problem` (a kind and a sentence) none of its devices can be allocated there."""

    generation: int
    problem: tuple[BreachKind, str] | None = None
    devices: dict[str, Offer] = field(default_factory=dict[str, Offer])


class Generation:
    """All slices of one generation of a pool, wherever they belong. Devices are indexed when one is first asked for."""

    def __init__(self) -> None:
        self.slices: list[ResourceSlice] = []
        self.by_node: dict[str, list[ResourceSlice]] = {}
        self.shared: list[ResourceSlice] = []
        """Those that name no node."""
        self._by_name: dict[str, list[Offer]] = {}

    def seen_by(self, node: Node) -> list[ResourceSlice]:
        """The slices with something for the node."""
        return [*self.by_node.get(node.metadata.name, ()), *(each for each in self.shared if _concerns(each, node))]

    def offers(self, name: str) -> Sequence[Offer]:
        """What is published under this name."""
        if not self._by_name:
            for offer in _offers(self.slices):
                self._by_name.setdefault(offer.device.name, []).append(offer)
        return self._by_name.get(name, ())

    @property
    def whole(self) -> bool:
        """True if there are as many slices as they say."""
        return len(self.slices) == _count(self.slices)


class Publication:
    """All slices, by pool and generation.

    Slices that use a feature which is off take no part, as if they were not there. To build it costs O(slices), where compatibility
    groups are off O(devices); devices are looked at in pools that are asked about.
    """

    def __init__(self, slices: Iterable[ResourceSlice], features: Features) -> None:
        self._features = features
        self._pools: dict[PoolID, dict[int, Generation]] = {}
        self._pools_on: dict[str, dict[PoolID, None]] = {}
        self._shared_pools: dict[PoolID, None] = {}
        self._views: dict[tuple[PoolID, str], PoolView | None] = {}
        self._checked: dict[tuple[PoolID, int, tuple[int, ...]], str] = {}
        for published in slices:
            if features.compatibility_groups or not _declares_groups(published):
                self._add(published)

    def _add(self, published: ResourceSlice) -> None:
        spec = published.spec
        identity = (spec.driver, spec.pool.name)
        generation = self._pools.setdefault(identity, {}).setdefault(spec.pool.generation, Generation())
        generation.slices.append(published)
        if not self._features.partitionable_devices and (spec.per_device_node_selection is not None or spec.shared_counters):
            return  # counts for whether the pool is whole, but offers nothing
        if spec.node_name:
            generation.by_node.setdefault(spec.node_name, []).append(published)
            self._pools_on.setdefault(spec.node_name, {})[identity] = None
        else:
            generation.shared.append(published)
            self._shared_pools[identity] = None

    def offers(self, identity: DeviceID) -> Iterator[Offer]:
        """Everything published under this name, in any slice, newest generation first."""
        generations = self._pools.get(identity[:2], {})
        for number in sorted(generations, reverse=True):
            yield from generations[number].offers(identity[2])

    def generation(self, pool: PoolID, number: int) -> Generation:
        """One generation of a pool."""
        return self._pools[pool][number]

    def pools_of(self, node: Node) -> Iterator[PoolView]:
        """The pools with devices for the node, broken ones included. Cost: the slices of the node and all that name no node."""
        for identity in {**self._pools_on.get(node.metadata.name, {}), **self._shared_pools}:
            view = self.view(identity, node)
            if view is not None:
                yield view

    def view(self, pool: PoolID, node: Node) -> PoolView | None:
        """The pool as the node sees it; None if it sees nothing of it. Cost: the slices of the pool for the node, once."""
        key = (pool, node.metadata.name)
        if key not in self._views:
            self._views[key] = self._view(pool, node)
        return self._views[key]

    def _view(self, pool: PoolID, node: Node) -> PoolView | None:
        generations = self._pools.get(pool, {})
        for number in sorted(generations, reverse=True):
            seen = generations[number].seen_by(node)
            if seen:
                return self._judged(pool, number, seen, node)
        return None

    def _judged(self, pool: PoolID, number: int, seen: list[ResourceSlice], node: Node) -> PoolView:
        name = "/".join(pool)
        generations = self._pools[pool]
        wanted, of_pool = _count(seen), seen
        if len(seen) != wanted:
            newest = max(generations)
            if newest > number:
                return PoolView(number, (BreachKind.POOL_OUTDATED, f"generation {number} of pool {name} gives way to {newest}"))
            of_pool = generations[number].slices
            if len(of_pool) != wanted:
                text = f"pool {name} has {len(of_pool)} slices of generation {number} instead of {wanted}"
                return PoolView(number, (BreachKind.POOL_INCOMPLETE, text))
        contradiction = self._contradiction(pool, number, seen, of_pool)
        if contradiction:
            return PoolView(number, (BreachKind.POOL_INVALID, f"pool {name} is invalid: {contradiction}"))
        view = PoolView(number)
        for offer in _offers(each for each in seen if not self._holds_counters(each)):
            if offer.is_for(node):
                view.devices[offer.device.name] = offer
        return view

    def _contradiction(self, pool: PoolID, number: int, seen: Sequence[ResourceSlice], of_pool: Sequence[ResourceSlice]) -> str:
        repeated = _repeated_device(each for each in seen if not self._holds_counters(each))
        if repeated or not self._features.partitionable_devices:
            return repeated
        whole = of_pool is self._pools[pool][number].slices
        key = (pool, number, () if whole else tuple(map(id, of_pool)))
        if key not in self._checked:
            self._checked[key] = _unknown_counter(of_pool)
        return self._checked[key]

    def _holds_counters(self, published: ResourceSlice) -> bool:
        return self._features.partitionable_devices and bool(published.spec.shared_counters)


def _repeated_device(slices: Iterable[ResourceSlice]) -> str:
    names: set[str] = set()
    for offer in _offers(slices):
        if offer.device.name in names:
            return f"two devices are called {offer.device.name}"
        names.add(offer.device.name)
    return ""


def _unknown_counter(slices: Sequence[ResourceSlice]) -> str:
    sets: dict[str, CounterSet] = {}
    for published in slices:
        for counter_set in published.spec.shared_counters or ():
            if counter_set.name in sets:
                return f"two counter sets are called {counter_set.name}"
            sets[counter_set.name] = counter_set
    for offer in _offers(each for each in slices if not each.spec.shared_counters):
        for drawn in offer.device.consumes_counters:
            if drawn.counter_set not in sets:
                return f"device {offer.device.name} draws on counter set {drawn.counter_set}, which does not exist"
            for counter in drawn.counters or ():
                if counter not in (sets[drawn.counter_set].counters or ()):
                    return f"device {offer.device.name} draws on counter {drawn.counter_set}/{counter}, which does not exist"
    return ""


def _offers(slices: Iterable[ResourceSlice]) -> Iterator[Offer]:
    for published in slices:
        for device in published.spec.devices or ():
            yield Offer(device, published)


def _count(slices: Sequence[ResourceSlice]) -> int:
    """How many slices the pool has, by the first of its slices in the order of their names (upstream-dra.md 3.18)."""
    return min(slices, key=lambda published: published.metadata.name).spec.pool.resource_slice_count


def _concerns(published: ResourceSlice, node: Node) -> bool:
    spec = published.spec
    if spec.all_nodes or spec.node_selector is not None:
        return selects(spec, node)
    return bool(spec.per_device_node_selection) and any(selects(device, node) for device in spec.devices or ())


def _declares_groups(published: ResourceSlice) -> bool:
    return any(drawn.compatibility_groups for device in published.spec.devices or () for drawn in device.consumes_counters)
