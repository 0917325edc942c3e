"""Pools as one node sees them: which slices are current, whether all of them are there, and whether they make sense together.

Drivers replace a pool slice by slice, so a reader sees mixed generations and missing slices all the time. A pool that is not
complete offers nothing; one that contradicts itself neither, and makes a failure on its node an error of that node. Pools are the
only unit of preference: devices are tried pool by pool, slice by slice, in the order of names.

Source: upstream-dra.md 3.3. Where slices of a pool disagree about their number, upstream believes the first that its cache happens
to list; here the first by name counts (3.18).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from reparto.allocation.compatibility import CommonGroups, folded
from reparto.allocation.counters import CounterName, demand_of, remaining, unknown_counter
from reparto.allocation.features import Features
from reparto.allocation.inventory import Inventory, PoolID, PublishedDevice, PublishedSlice
from reparto.allocation.state import AllocatedState
from reparto.model.core import Node
from reparto.model.v1 import CounterSet


@dataclass(slots=True, eq=False)
class Pool:
    """A pool for one node: the devices to choose from, and the rest of the pool as far as counters need it.

    `incomplete` and `invalid` (a sentence, else empty) pools have no devices; what their slices hold for the node is `withheld`.
    `devices` are those of slices that target the node, in the order in which they are tried. Pools with `binding_conditions` have
    a device that may not be ready when it is chosen, and come after all others.
    """

    id: PoolID
    incomplete: bool = False
    invalid: str = ""
    slices_seen: int = 0
    slices_wanted: int = 0
    devices: Sequence[PublishedDevice] = ()
    elsewhere: Sequence[PublishedDevice] = ()
    withheld: Sequence[PublishedDevice] = ()
    binding_conditions: bool = False
    counter_sets: dict[str, CounterSet] = field(default_factory=dict[str, CounterSet])
    _demands: dict[int, dict[CounterName, int]] = field(default_factory=dict[int, dict[CounterName, int]])
    _derived_from: tuple[AllocatedState, int] | None = None
    _left: dict[CounterName, int] = field(default_factory=dict[CounterName, int])
    _groups: dict[str, CommonGroups] = field(default_factory=dict[str, CommonGroups])

    def __str__(self) -> str:
        return "/".join(self.id)

    @property
    def usable(self) -> bool:
        """False if nothing may be taken from the pool now."""
        return not self.incomplete and not self.invalid

    def demand(self, record: PublishedDevice) -> dict[CounterName, int]:
        """What a device of this pool draws from its counters, in 1e-9 units."""
        demand = self._demands.get(record.number)
        if demand is None:
            demand = self._demands[record.number] = demand_of(record.device)
        return demand

    def counters_left(self, allocated: AllocatedState) -> dict[CounterName, int]:
        """Counters left after all committed allocations; computed once per version of the state."""
        self._derive(allocated)
        return self._left

    def common_groups(self, allocated: AllocatedState) -> dict[str, CommonGroups]:
        """Compatibility groups that the allocated devices of each counter set have in common."""
        self._derive(allocated)
        return self._groups

    def _derive(self, allocated: AllocatedState) -> None:
        if self._derived_from == (allocated, allocated.version):
            return
        drawing = [
            record.device
            for records in (self.devices, self.elsewhere)
            for record in records
            if record.device.consumes_counters and allocated.is_allocated(record.id)
        ]
        self._left = remaining(self.counter_sets.values(), drawing)
        self._groups = folded(consumption for device in drawing for consumption in device.consumes_counters)
        self._derived_from = (allocated, allocated.version)


class PoolGathering:
    """Gathers the pools of a node. Nodes that see the same slices of a pool share one `Pool`."""

    def __init__(self, inventory: Inventory, features: Features) -> None:
        self._inventory = inventory
        self._features = features
        self._built: dict[tuple[PublishedSlice, ...], Pool] = {}

    def pools(self, node: Node) -> list[Pool]:
        """The pools with devices for `node`, in the order in which they are tried.

        Raises AllocationError if a node selector that decides cannot be read. Cost: the slices of the node and all slices for more
        than one node; pools built for another node are reused.
        """
        current: dict[PoolID, list[PublishedSlice]] = {}
        for published in self._inventory.candidates(node.metadata.name):
            if self._known(published) and _concerns(published, node):
                kept = current.setdefault(published.pool, [])
                if kept and published.generation > kept[0].generation:
                    kept.clear()
                if not kept or published.generation == kept[0].generation:
                    kept.append(published)
        pools = [pool for kept in current.values() if (pool := self._pool(kept)) is not None]
        pools.sort(key=lambda pool: (pool.binding_conditions, pool.id))
        return pools

    def _known(self, published: PublishedSlice) -> bool:
        if published.partitioned and not self._features.partitionable_devices:
            return False
        return self._features.compatibility_groups or not published.declares_groups

    def _pool(self, kept: list[PublishedSlice]) -> Pool | None:
        """The pool that the current slices for the node belong to; None if a newer generation has replaced it elsewhere."""
        kept.sort(key=lambda published: published.name)
        key = tuple(kept)
        if key not in self._built:
            pool = self._examine(kept)
            if pool is None:
                return None
            self._built[key] = pool
        return self._built[key]

    def _examine(self, kept: list[PublishedSlice]) -> Pool | None:
        wanted = kept[0].slice_count
        if len(kept) == wanted:
            return self._build(kept, [])
        everywhere = self._inventory.of_pool(kept[0].pool)
        if any(published.generation > kept[0].generation for published in everywhere):
            return None
        whole = [
            published
            for published in everywhere
            if published.generation == kept[0].generation and (self._features.compatibility_groups or not published.declares_groups)
        ]
        if len(whole) != wanted:
            withheld = [record for published in kept for record in published.devices]
            return Pool(kept[0].pool, incomplete=True, slices_seen=len(whole), slices_wanted=wanted, withheld=withheld)
        return self._build(kept, whole)

    def _build(self, kept: list[PublishedSlice], whole: list[PublishedSlice]) -> Pool:
        seen = {published.name for published in kept}
        others = [published for published in whole if published.name not in seen] if len(kept) < len(whole) else []
        partitionable = self._features.partitionable_devices
        targeting = [published for published in kept if not (partitionable and published.spec.shared_counters)]
        elsewhere = [published for published in others if not (partitionable and published.spec.shared_counters)]
        devices = [record for published in targeting for record in published.devices]
        pool = Pool(kept[0].pool, slices_seen=len(kept) + len(others), slices_wanted=kept[0].slice_count, withheld=devices)
        names: set[str] = set()
        for record in devices:
            if record.device.name in names:
                pool.invalid = f"duplicate device name {record.device.name}"
                return pool
            names.add(record.device.name)
        if partitionable:
            remote = [record for published in elsewhere for record in published.devices]
            pool.invalid = _collect_counter_sets(pool.counter_sets, kept + others) or (
                unknown_counter(pool.counter_sets, [record.device for record in devices])
                or unknown_counter(pool.counter_sets, [record.device for record in remote])
                or ""
            )
            if pool.invalid:
                return pool
            pool.elsewhere = remote
        pool.devices, pool.withheld = devices, ()
        pool.binding_conditions = any(record.device.binding_conditions for record in devices)
        return pool


def _concerns(published: PublishedSlice, node: Node) -> bool:
    """Whether the slice has devices for the node. A slice that says in no known way where it belongs has none."""
    if published.selection.known:
        return published.selection.matches(node)
    if not published.spec.per_device_node_selection:
        return False
    return any(record.selection is not None and record.selection.matches(node) for record in published.devices)


def _collect_counter_sets(into: dict[str, CounterSet], slices: Sequence[PublishedSlice]) -> str:
    for published in slices:
        for counter_set in published.spec.shared_counters or ():
            if counter_set.name in into:
                return f"duplicate counter set name {counter_set.name}"
            into[counter_set.name] = counter_set
    return ""
