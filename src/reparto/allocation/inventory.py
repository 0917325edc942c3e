"""Everything that drivers publish, indexed once for all questions: slices by name, by node and by pool, devices by number.

Each device gets a number that stands for it wherever something is remembered about it (selector answers, capacity, counters); the
records keep what allocation asks for again and again. Devices are recorded when their pool is first looked at, so an inventory of a
large cluster costs little until it is used.

Slices come, change and go one at a time, each at the cost of that slice. A device that is published again as it was, whatever
became of its taints or its generation, keeps its number, and with it everything that is known of it. No number is ever used for
another device: whoever remembers something by number is told which numbers are gone.
"""

from bisect import insort
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

import msgspec

from reparto.allocation.compatibility import declares_groups
from reparto.allocation.counters import CounterName, demand_of, published_values
from reparto.allocation.node_matching import NodeSelection
from reparto.allocation.state import DeviceID, PoolID
from reparto.allocation.taints import blocking_taints
from reparto.model.core import Node
from reparto.model.v1 import Device, DeviceCapacity, DeviceCounterConsumption, ResourceSlice, ResourceSliceSpec

ITSELF: Final = "\0"
"""Stands for a counter set where a counter of it would stand."""


class PublishedDevice:
    """One device of one slice."""

    __slots__ = ("_demand", "blocking_taints", "capacity", "capacity_kind", "device", "id", "multi", "number", "selection", "slice")

    def __init__(self, number: int, device: Device, published: "PublishedSlice", capacity_kind: int) -> None:
        self.number = number
        self.device = device
        self.slice = published
        self.id: DeviceID = (*published.pool, device.name)
        self.multi = bool(device.allow_multiple_allocations)
        self.capacity: dict[str, DeviceCapacity] = device.capacity or _NO_CAPACITY
        # The same for all devices with this capacity: what a share of them takes is worked out once.
        self.capacity_kind = capacity_kind
        self._demand: Mapping[CounterName, int] | None = None
        self.blocking_taints = blocking_taints(device) if device.taints else ()
        # Under per-device node selection only; None otherwise, for then the slice has decided.
        self.selection: NodeSelection | None = None
        if published.spec.per_device_node_selection:
            self.selection = NodeSelection(device.node_name, device.all_nodes, device.node_selector, f"device {self}")

    @property
    def demand(self) -> Mapping[CounterName, int]:
        """What the device draws from the counters of its pool while it is allocated, in 1e-9 units."""
        if self._demand is None:
            self._demand = self.slice.inventory.demand_of(self.device)
        return self._demand

    def __str__(self) -> str:
        return "/".join(self.id)


class SliceContent:
    """What a slice holds, whatever its generation."""

    __slots__ = ("_compared", "_spec")

    def __init__(self, spec: ResourceSliceSpec) -> None:
        self._spec = spec
        self._compared: tuple[SliceContent, Difference | None] | None = None

    def difference(self, other: "SliceContent") -> "Difference | None":
        """By which devices this differs from `other`; None if it differs in anything else, the order of devices included.

        Devices of each have different names. Cost: the devices of both, once for all who ask the same one after the other.
        """
        if self is other:
            return _EQUAL
        compared = self._compared
        if compared is None or compared[0] is not other:
            compared = self._compared = other, _difference(self._spec, other._spec)
        return compared[1]


class Difference(NamedTuple):
    """The names of devices by which one content of a slice differs from another."""

    gone: AbstractSet[str] = frozenset()
    """Those that are not there any more, or are others."""
    gained: AbstractSet[str] = frozenset()
    """Those that were not there, were others, or had a taint that they do not have. More taints on a device are none of it."""


class PublishedSlice:
    """One ResourceSlice with what the gathering of pools asks about it."""

    __slots__ = (
        "_counters_published",
        "_counters_used",
        "_device_names",
        "_devices",
        "_predecessor",
        "_selection",
        "_traits",
        "content",
        "generation",
        "inventory",
        "name",
        "object",
        "partitioned",
        "pool",
        "slice_count",
        "spec",
    )

    def __init__(self, published: ResourceSlice, inventory: "Inventory", predecessor: "PublishedSlice | None" = None) -> None:
        self.inventory = inventory
        self.object = published
        self.spec = published.spec
        self.name = published.metadata.name
        self.pool: PoolID = (published.spec.driver, published.spec.pool.name)
        self.generation = published.spec.pool.generation
        self.slice_count = published.spec.pool.resource_slice_count
        self.partitioned = self.spec.per_device_node_selection is not None or bool(self.spec.shared_counters)
        self._selection: NodeSelection | None = None
        self._devices: Sequence[PublishedDevice] | None = None
        self._traits: Traits | None = None
        self._device_names: frozenset[str] | None = None
        self._counters_published: Mapping[CounterName, int] | None = None
        self._counters_used: frozenset[CounterName] | None = None
        # The same object as long as nothing but the generation changes.
        if predecessor is not None and _same_content(predecessor.spec, self.spec):
            self.content = predecessor.content
            self._traits, self._device_names = predecessor._traits, predecessor._device_names
            self._counters_published, self._counters_used = predecessor._counters_published, predecessor._counters_used
        else:
            self.content = SliceContent(self.spec)
        # The devices that were numbered when the slice was published before, until these are.
        self._predecessor = predecessor.numbered if predecessor is not None else ()

    @property
    def node_name(self) -> str:
        """The one node that the slice is for; empty where there may be several."""
        return self.spec.node_name or ""

    @property
    def selection(self) -> NodeSelection:
        """Where the slice as a whole belongs."""
        if self._selection is None:
            spec = self.spec
            self._selection = NodeSelection(spec.node_name, spec.all_nodes, spec.node_selector, f"slice {self.name}")
        return self._selection

    @property
    def devices(self) -> Sequence[PublishedDevice]:
        """The devices in the order of the slice."""
        if self._devices is None:
            self._devices = self.inventory.record(self, self._predecessor)
            self._predecessor = ()
        return self._devices

    @property
    def numbered(self) -> Sequence[PublishedDevice]:
        """The devices that have a number: those of the slice, or of the one it replaced if nobody has looked at it yet."""
        return self._predecessor if self._devices is None else self._devices

    def concerns(self, node: Node) -> bool:
        """Whether the slice has devices for the node; one that says in no known way where it belongs has none.

        Raises AllocationError for a node selector that cannot be read and would decide.
        """
        if self.spec.node_name:
            return self.spec.node_name == node.metadata.name
        if self.selection.known:
            return self.selection.matches(node)
        if not self.spec.per_device_node_selection:
            return False
        return any(record.selection is not None and record.selection.matches(node) for record in self.devices)

    @property
    def device_names(self) -> frozenset[str]:
        """The names of the devices; fewer than devices if a name stands twice."""
        if self._device_names is None:
            self._device_names = frozenset(device.name for device in self.spec.devices or ())
        return self._device_names

    @property
    def counters_published(self) -> Mapping[CounterName, int]:
        """What the counter sets of the slice hold, in 1e-9 units."""
        if self._counters_published is None:
            self._counters_published = published_values(self.spec.shared_counters or ())
        return self._counters_published

    @property
    def counters_used(self) -> frozenset[CounterName]:
        """The counters that devices of the slice name, and for each of their sets `ITSELF`."""
        if self._counters_used is None:
            used: set[CounterName] = set()
            for device in self.spec.devices or ():
                for consumption in device.consumes_counters:
                    used.add((consumption.counter_set, ITSELF))
                    used.update((consumption.counter_set, name) for name in consumption.counters or ())
            self._counters_used = frozenset(used)
        return self._counters_used

    @property
    def traits(self) -> "Traits":
        """What is true of any device of the slice."""
        if self._traits is None:
            self._traits = _traits_of(self.object)
        return self._traits


class Traits(NamedTuple):
    """What some device of a slice does."""

    declares_groups: bool = False
    """It declares compatibility groups."""
    shares_counters: bool = False
    """It allows several allocations, and consumes counters."""
    frees_counters: bool = False
    """It consumes less than nothing of a counter (validation refuses it): taking it frees some."""
    waits: bool = False
    """It has binding conditions: it may not be ready when it is chosen."""


_PLAIN: Final = Traits()


def _traits_of(published: ResourceSlice) -> Traits:
    devices = published.spec.devices or ()
    consuming = [device for device in devices if device.consumes_counters]
    found = Traits(
        bool(consuming) and declares_groups(published),
        any(device.allow_multiple_allocations for device in consuming),
        any(_frees(device.consumes_counters) for device in consuming),
        any(device.binding_conditions for device in devices),
    )
    return _PLAIN if found == _PLAIN else found


def _frees(consumed: Sequence[DeviceCounterConsumption]) -> bool:
    return any(counter.value.startswith("-") for each in consumed for counter in (each.counters or {}).values())


class Inventory:
    """All slices, in the order of their names: where upstream's answer depends on the order of its cache, this is ours.

    `on_gone` is told the numbers of devices that are no more.
    """

    def __init__(self, slices: Iterable[ResourceSlice], on_gone: Callable[[Sequence[int]], None] | None = None) -> None:
        self._on_gone = on_gone
        self._next_number = 0
        self._kinds: dict[tuple[tuple[str, DeviceCapacity], ...], int] = {}
        self._last_kind = 0
        self._demands: dict[int, tuple[object, Mapping[CounterName, int]]] = {}
        # In a cluster names are unique; what is given directly may have several slices of one name.
        self._of_name: dict[str, list[PublishedSlice]] = {}
        self._on_node: dict[str, list[PublishedSlice]] = {}
        self._shared: list[PublishedSlice] = []
        self._of_pool: dict[PoolID, list[PublishedSlice]] = {}
        for published in sorted(slices, key=lambda each: each.metadata.name):
            self._add(PublishedSlice(published, self))

    def put(self, published: ResourceSlice) -> list[PublishedSlice]:
        """Add a slice, or replace the one of its name. Returns the slices that came and went.

        Cost: the slice, and where it is inserted among those of its pool and of its node.
        """
        replaced = self._take_out(published.metadata.name)
        record = PublishedSlice(published, self, replaced[0] if replaced else None)
        for other in replaced[1:]:
            self._forget(other.numbered)
        self._add(record)
        return [*replaced, record]

    def remove(self, name: str) -> list[PublishedSlice]:
        """Forget the slice of this name, if there is one. Returns what went."""
        removed = self._take_out(name)
        for published in removed:
            self._forget(published.numbered)
        return removed

    def record(self, published: PublishedSlice, predecessor: Sequence[PublishedDevice]) -> list[PublishedDevice]:
        """Number the devices of a slice; for `PublishedSlice.devices`, which asks once."""
        known = {record.device.name: record for record in predecessor if record.slice.pool[0] == published.pool[0]}
        devices: list[PublishedDevice] = []
        for device in published.spec.devices or ():
            before = known.pop(device.name, None) if known else None
            if before is not None and _alike(before.device, device):
                number = before.number
            else:
                number = self._next_number
                self._next_number += 1
            devices.append(PublishedDevice(number, device, published, self._kind_of(device)))
        if predecessor:
            kept = {record.number for record in devices}
            self._forget([record for record in predecessor if record.number not in kept])
        return devices

    def _kind_of(self, device: Device) -> int:
        if not device.capacity:
            return 0
        content = tuple(device.capacity.items())
        kind = self._kinds.get(content)
        if kind is None:
            if len(self._kinds) >= _KINDS:
                # Capacities that change all the time. Devices that are there keep their kind, and share it with fewer.
                self._kinds.clear()
            self._last_kind += 1
            kind = self._kinds[content] = self._last_kind
        return kind

    def demand_of(self, device: Device) -> Mapping[CounterName, int]:
        """What a device draws from counters; devices that were made of the same parts share it."""
        consumed = device.consumes_counters
        if not consumed:
            return _NO_DEMAND
        known = self._demands.get(id(consumed))
        if known is None:
            if len(self._demands) >= _DEMANDS:
                self._demands.clear()
            # With the consumption, for as long as it is held nothing else can have its identity.
            known = self._demands[id(consumed)] = consumed, demand_of(device)
        return known[1]

    def on_node(self, node_name: str) -> Sequence[PublishedSlice]:
        """The slices that name the node."""
        return self._on_node.get(node_name, ())

    @property
    def shared(self) -> Sequence[PublishedSlice]:
        """The slices that name no node; which nodes they concern is to be asked of each."""
        return self._shared

    def of_pool(self, pool: PoolID) -> Sequence[PublishedSlice]:
        """All slices of a pool, of every generation and for every node."""
        return self._of_pool.get(pool, ())

    def _add(self, record: PublishedSlice) -> None:
        self._of_name.setdefault(record.name, []).append(record)
        insort(self._at_home(record), record, key=_name)
        insort(self._of_pool.setdefault(record.pool, []), record, key=_name)

    def _take_out(self, name: str) -> list[PublishedSlice]:
        found = self._of_name.pop(name, [])
        for record in found:
            self._at_home(record).remove(record)
            if record.node_name and not self._on_node[record.node_name]:
                del self._on_node[record.node_name]
            of_pool = self._of_pool[record.pool]
            of_pool.remove(record)
            if not of_pool:
                del self._of_pool[record.pool]
        return found

    def _at_home(self, record: PublishedSlice) -> list[PublishedSlice]:
        return self._on_node.setdefault(record.node_name, []) if record.node_name else self._shared

    def _forget(self, records: Sequence[PublishedDevice]) -> None:
        if records and self._on_gone is not None:
            self._on_gone([record.number for record in records])


def _name(published: PublishedSlice) -> str:
    return published.name


def _same_content(one: ResourceSliceSpec, other: ResourceSliceSpec) -> bool:
    """Whether two versions of a slice differ in nothing but the generation of their pool, down to the order of maps."""
    if one.devices is not other.devices and one.devices != other.devices:
        return False
    aligned = msgspec.structs.replace(one, pool=msgspec.structs.replace(one.pool, generation=other.pool.generation))
    if aligned != other:
        return False
    return one.devices is other.devices or msgspec.msgpack.encode(one.devices) == msgspec.msgpack.encode(other.devices)


def _difference(now: ResourceSliceSpec, before: ResourceSliceSpec) -> Difference | None:
    """As `SliceContent.difference`."""
    if msgspec.structs.replace(before, devices=now.devices, pool=now.pool) != now:
        return None
    pool = msgspec.structs.replace(before.pool, generation=now.pool.generation)
    if pool != now.pool:
        return None
    known = {device.name: device for device in before.devices or ()}
    gone, gained = set(known), set[str]()
    common: list[str] = []
    for device in now.devices or ():
        former = known.get(device.name)
        if former is not device:
            if former is None or not all(taint in device.taints for taint in former.taints):
                gained.add(device.name)
            if former is not None and not _differs_in_taints(device, former):
                gained.add(device.name)
                continue
        if former is not None:
            gone.discard(device.name)
            common.append(device.name)
    if common != [name for name in known if name not in gone]:
        return None
    return Difference(gone, gained)


def _differs_in_taints(one: Device, other: Device) -> bool:
    """Whether two devices differ in nothing else."""
    # Encoded, for what goes through a map goes in its order.
    first, second = (msgspec.msgpack.encode(msgspec.structs.replace(device, taints=())) for device in (one, other))
    return first == second


def _alike(one: Device, other: Device) -> bool:
    """Whether all that is remembered by number is the same for both: what selectors see of a device, and its capacity."""
    return one is other or (
        one.attributes == other.attributes
        and one.capacity == other.capacity
        and one.allow_multiple_allocations == other.allow_multiple_allocations
        # What goes through a map goes in its order.
        and list(one.attributes or ()) == list(other.attributes or ())
        and list(one.capacity or ()) == list(other.capacity or ())
    )


_KINDS: Final = 10_000
"""Different capacities that are told apart at a time."""

_DEMANDS: Final = 20_000
"""Counter consumptions, each told apart by identity, whose sum is kept for other devices."""

_EQUAL: Final = Difference()
_NO_DEMAND: Final[Mapping[CounterName, int]] = {}
_NO_CAPACITY: Final[dict[str, DeviceCapacity]] = {}
