"""Pools as one node sees them: which slices are current, whether all of them are there, and whether they make sense together.

Drivers replace a pool slice by slice, so a reader sees mixed generations and missing slices all the time. A pool that is not
complete offers nothing; one that contradicts itself neither, and makes a failure on its node an error of that node. Pools are the
only unit of preference: devices are tried pool by pool, slice by slice, in the order of names.

Pools are built when a node is first asked about, shared by all nodes that see the same slices of them, and built again only after a
slice of theirs changed.

Source: upstream-dra.md 3.3. Where slices of a pool disagree about their number, upstream believes the first that its cache happens
to list; here the first by name counts (3.18).
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import NamedTuple

from reparto.allocation.compatibility import CommonGroups, folded
from reparto.allocation.counters import CounterName, unknown_counter
from reparto.allocation.errors import AllocationError
from reparto.allocation.features import Features
from reparto.allocation.inventory import ITSELF, Inventory, PublishedDevice, PublishedSlice, SliceContent
from reparto.allocation.state import AllocatedState, PoolID
from reparto.model.core import Node
from reparto.model.v1 import CounterSet


class _Standing:
    """What the allocated devices of a pool leave of it, as of one version of its allocations."""

    __slots__ = ("allocated", "groups", "left", "state", "version")

    def __init__(self, state: AllocatedState, left: dict[CounterName, int]) -> None:
        self.state = state
        self.version = -1
        self.allocated: frozenset[str] = frozenset()
        self.left = left
        self.groups: dict[str, CommonGroups] | None = None


class PoolContent(NamedTuple):
    """What the slices of a usable pool hold, whatever their generation: those for the node, `here` in number, then the others."""

    id: PoolID
    here: int
    slices: tuple[SliceContent, ...]

    def gained(self, other: "PoolContent", allocated: AbstractSet[str]) -> AbstractSet[str] | None:
        """The devices by which this may be more than `other` while the devices called `allocated` are in use; None: all may be.

        A device in use draws on its counters. Where it is gone others may get what it drew.
        """
        if self.id != other.id or self.here != other.here or len(self.slices) != len(other.slices):
            return None
        gained: set[str] = set()
        for one, before in zip(self.slices, other.slices, strict=True):
            if one is not before:
                difference = one.difference(before)
                if difference is None or not difference.gone.isdisjoint(allocated):
                    return None
                gained |= difference.gained
        return gained


@dataclass(slots=True, eq=False)
class Pool:
    """A pool for one node: the devices to choose from, and the rest of the pool as far as counters need it.

    `incomplete` and `invalid` (a sentence, else empty) pools have no devices; what their slices hold for the node is `withheld`.
    `devices` are those of slices that target the node, in the order in which they are tried. Pools with `binding_conditions` have
    a device that may not be ready when it is chosen, and come after all others. Pools of equal `content` that are usable differ in
    nothing but their generation.
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
    content: PoolContent | None = None
    counter_sets: dict[str, CounterSet] = field(default_factory=dict[str, CounterSet])
    _published: dict[CounterName, int] = field(default_factory=dict[CounterName, int])
    _consuming: dict[str, list[PublishedDevice]] | None = None
    _standing: _Standing | None = None

    def __str__(self) -> str:
        return "/".join(self.id)

    @property
    def usable(self) -> bool:
        """False if nothing may be taken from the pool now."""
        return not self.incomplete and not self.invalid

    @property
    def counter_names(self) -> AbstractSet[CounterName]:
        """The counters of the pool, and for each of its sets `ITSELF`."""
        return {*self._published, *((name, ITSELF) for name in self.counter_sets)}

    def add_counters(self, published: Mapping[CounterName, int]) -> None:
        """Counters of the pool, for whoever builds it."""
        self._published.update(published)

    def counters_left(self, allocated: AllocatedState) -> dict[CounterName, int]:
        """Counters left after all committed allocations, in 1e-9 units; not to be changed by the caller.

        Values may be negative: the pool is then over-drawn, and no device of it that consumes counters fits any more, whatever set
        it uses. Cost: the counters of the pool and the devices of it that came and went since it was last asked; none if none did.
        Source: upstream-dra.md 3.10.
        """
        return self._stand(allocated).left

    def common_groups(self, allocated: AllocatedState) -> dict[str, CommonGroups]:
        """Compatibility groups that the allocated devices of each counter set have in common.

        Cost: the devices of the pool that consume counters, if any of them came or went since it was last asked.
        """
        standing = self._stand(allocated)
        if standing.groups is None:
            # In the order of the pool: of devices that should never have met, the first counts.
            standing.groups = folded(
                consumption
                for record in (*self.devices, *self.elsewhere)
                if record.device.consumes_counters and allocated.is_allocated(record.id)
                for consumption in record.device.consumes_counters
            )
        return standing.groups

    def _stand(self, allocated: AllocatedState) -> _Standing:
        standing = self._standing
        if standing is None or standing.state is not allocated:
            standing = self._standing = _Standing(allocated, self._published)
        version = allocated.pool_version(self.id)
        if standing.version != version:
            self._catch_up(standing, allocated.allocated_in(self.id))
            standing.version, standing.groups = version, None
        return standing

    def _catch_up(self, standing: _Standing, names: Mapping[str, int]) -> None:
        if self._consuming is None:
            self._consuming = {}
            for record in (*self.devices, *self.elsewhere):
                if record.device.consumes_counters:
                    self._consuming.setdefault(record.device.name, []).append(record)
        consuming = self._consuming
        if not consuming:
            return
        before, standing.allocated = standing.allocated, frozenset(names)
        # Whoever was given the former counters keeps them as they were.
        left = standing.left = dict(standing.left)
        for name in standing.allocated - before:
            self._charge(left, consuming.get(name, ()), -1)
        for name in before - standing.allocated:
            self._charge(left, consuming.get(name, ()), 1)

    def _charge(self, left: dict[CounterName, int], records: Iterable[PublishedDevice], sign: int) -> None:
        for record in records:
            for counter, amount in record.demand.items():
                if counter in left:
                    left[counter] += sign * amount


class PoolGathering:
    """Gathers the pools of a node. Nodes that see the same slices of a pool share one `Pool`."""

    def __init__(self, inventory: Inventory, features: Features) -> None:
        self._inventory = inventory
        self._features = features
        self._built: dict[PoolID, dict[tuple[PublishedSlice, ...], Pool | None]] = {}
        self._gathered: dict[str, tuple[Node, list[Pool]]] = {}
        self._seen_by: dict[PoolID, set[str]] = {}

    def pools(self, node: Node) -> list[Pool]:
        """The pools with devices for `node`, in the order in which they are tried; not to be changed by the caller.

        Raises AllocationError if a node selector that decides cannot be read. Cost: none for a node that was asked about before
        and whose slices did not change since; otherwise the slices of the node and all slices for more than one node, for pools
        that were built for another node are reused.
        """
        name = node.metadata.name
        found = self._gathered.get(name)
        if found is not None and found[0] is node:
            return found[1]
        current: dict[PoolID, list[PublishedSlice]] = {}
        for candidates in (self._inventory.on_node(name), self._inventory.shared):
            for published in candidates:
                if self._known(published) and published.concerns(node):
                    kept = current.setdefault(published.pool, [])
                    if kept and published.generation > kept[0].generation:
                        kept.clear()
                    if not kept or published.generation == kept[0].generation:
                        kept.append(published)
        pools: list[Pool] = []
        for identity, kept in current.items():
            self._seen_by.setdefault(identity, set()).add(name)
            if (pool := self._pool(kept)) is not None:
                pools.append(pool)
        pools.sort(key=_precedence)
        self._gathered[name] = node, pools
        return pools

    def seen_by(self, pool: PoolID) -> AbstractSet[str]:
        """The names of all nodes that were asked about and see the pool, and of some that did once."""
        return self._seen_by.get(pool, frozenset())

    def changed(self, published: PublishedSlice) -> AbstractSet[str]:
        """This slice came or went. Returns the names of the nodes that were asked about and may see other pools now.

        Cost: the nodes that have seen its pool; all that were asked about, if it names no node.
        """
        self._built.pop(published.pool, None)
        touched = self._seen_by.pop(published.pool, set[str]())
        if published.node_name:
            touched.add(published.node_name)
        else:
            touched.update(name for name, (node, _) in self._gathered.items() if _may_concern(published, node))
        for name in touched:
            self._gathered.pop(name, None)
        return touched

    def _known(self, published: PublishedSlice) -> bool:
        if published.partitioned and not self._features.partitionable_devices:
            return False
        return self._groups_known(published)

    def _groups_known(self, published: PublishedSlice) -> bool:
        return self._features.compatibility_groups or not published.traits.declares_groups

    def _pool(self, kept: list[PublishedSlice]) -> Pool | None:
        """The pool that the current slices for the node belong to; None if a newer generation has replaced it elsewhere."""
        kept.sort(key=lambda published: published.name)
        built = self._built.setdefault(kept[0].pool, {})
        key = tuple(kept)
        if key not in built:
            built[key] = self._examine(kept)
        return built[key]

    def _examine(self, kept: list[PublishedSlice]) -> Pool | None:
        wanted = kept[0].slice_count
        if len(kept) == wanted:
            return self._build(kept, [])
        everywhere = self._inventory.of_pool(kept[0].pool)
        if any(published.generation > kept[0].generation for published in everywhere):
            return None
        whole = [
            published for published in everywhere if published.generation == kept[0].generation and self._groups_known(published)
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
        if len(frozenset[str]().union(*(published.device_names for published in targeting))) < len(devices):
            pool.invalid = f"duplicate device name {_first_duplicate(devices)}"
            return pool
        if partitionable:
            remote = [record for published in elsewhere for record in published.devices]
            pool.invalid = _collect_counter_sets(pool, kept + others) or _unknown_counter(pool, targeting, elsewhere)
            if pool.invalid:
                return pool
            pool.elsewhere = remote
        pool.devices, pool.withheld = devices, ()
        pool.content = PoolContent(pool.id, len(kept), tuple([published.content for published in (*kept, *others)]))
        pool.binding_conditions = any(published.traits.waits for published in targeting)
        return pool


def _may_concern(published: PublishedSlice, node: Node) -> bool:
    try:
        return published.concerns(node)
    except AllocationError:
        return True  # the error is news for the node


def _precedence(pool: Pool) -> tuple[bool, PoolID]:
    return pool.binding_conditions, pool.id


def _first_duplicate(devices: Sequence[PublishedDevice]) -> str:
    names: set[str] = set()
    for record in devices:
        if record.device.name in names:
            return record.device.name
        names.add(record.device.name)
    return ""


def _unknown_counter(pool: Pool, *groups: Sequence[PublishedSlice]) -> str:
    """What is wrong with the counters that devices name; empty if nothing is. Which device is to blame is asked only then."""
    known = pool.counter_names
    for slices in groups:
        if not all(published.counters_used <= known for published in slices):
            devices = [device for published in slices for device in published.spec.devices or ()]
            return unknown_counter(pool.counter_sets, devices) or ""
    return ""


def _collect_counter_sets(pool: Pool, slices: Sequence[PublishedSlice]) -> str:
    for published in slices:
        for counter_set in published.spec.shared_counters or ():
            if counter_set.name in pool.counter_sets:
                return f"duplicate counter set name {counter_set.name}"
            pool.counter_sets[counter_set.name] = counter_set
        if published.spec.shared_counters:
            pool.add_counters(published.counters_published)
    return ""
