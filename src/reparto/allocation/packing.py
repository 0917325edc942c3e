"""What a device is worth to the rest: how much else stops being possible when it is taken.

First fit takes whatever has the first name. On a GPU that is cut up on demand that is dear: the smallest partition at slot 0 ends
the largest ones, at slot 6 hardly any. Which partitions end is not a table of products here, it follows from what the driver
publishes. Devices that draw on the same counter sets compete for one *part* (a GPU, say). A part in some state is worth the sum of
the weights of all devices that could still be made of it, one at a time; taking a device costs what the part is worth less
afterwards, and half of what it is still worth then, so that of two equal losses the one on the fuller part is cheaper.

What a device weighs is its share of the counters of its part; what a part weighs is the largest capacity of a device of it
(memory, wherever memory is published, for bytes outnumber everything else). A device without counters is a part of its own, all of
which goes when it is taken: of such, the smallest is the cheapest. Of a device that allows several allocations the first share
costs the device and every other one no more than the share, and of those in use the fullest is the cheapest.

Costs are integers, so equal things cost the same to the last digit, whatever the order in which they are looked at.
Source: packing.md 4; upstream-dra.md 3.10. The half: measured, see `_STAYING`.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from reparto.allocation.counters import CounterName, published_values
from reparto.allocation.inventory import PublishedDevice
from reparto.allocation.pools import Pool
from reparto.allocation.state import AllocatedState, PoolID
from reparto.model.quantity import Quantity

_WEIGHT: Final = 10_000
"""The weight of a device that takes all of every counter of its part: fine enough to tell any two partitions apart."""

_STAYING: Final = 2
"""One part in so many of what stays possible counts as cost. Measured with benchmarks/mig_mixes.py, seeds 0 to 5: with none of it
0.7 points more of the GPUs are idle when demand drifts, with nine tenths 0.4 points more when most partitions are small."""

_MILLI: Final = 1_000_000  # 1e-9 units in a thousandth

_STATES_KEPT: Final = 16_384
"""States of parts of one shape that are remembered, many times what a GPU with MIG can be in; then they are worked out anew."""

NEVER: Final = 1 << 200
"""More than anything that can be taken costs."""

Taken: TypeAlias = tuple[Pool, PublishedDevice, Mapping[str, Quantity] | None]
"""A device that an attempt has taken, with the amounts if it took a share of it."""


class Worth(NamedTuple):
    """A part in one state: what it is worth, which devices could be made of it (a bit each), and what each of them costs.

    The cost of a device that cannot be taken whole is None.
    """

    value: int
    possible: int
    costs: tuple[int | None, ...]


class Shape:
    """Parts that differ in nothing but names: same devices, same counters, same size. What is learned about one holds for all."""

    def __init__(self, published: tuple[int, ...], demands: tuple[tuple[int, ...], ...], size: int) -> None:
        self.published = published
        self.size = size
        self._demands = demands
        self._everything = (1 << len(demands)) - 1
        self._weights = [self._weight(demand) for demand in demands]
        # By counter: the amounts that devices draw, and for each how many draw no more, as bits.
        self._ladders = [self._ladder(column) for column in zip(*demands, strict=True)]
        self._sums: dict[int, int] = {}
        self._known: dict[tuple[tuple[int, ...], int], Worth] = {}
        self._unused = self._sum(self._fitting(published))

    def worth(self, left: tuple[int, ...], taken: int) -> Worth:
        """The part with these counters left and the devices of the bits `taken` in use.

        Cost: a look-up. For a state that no part of this shape was in before, devices times counters, and the state is remembered.
        """
        known = self._known.get((left, taken))
        if known is None:
            if len(self._known) >= _STATES_KEPT:
                self._known.clear()
                self._sums.clear()
            known = self._known[left, taken] = self._examine(left, taken)
        return known

    def _examine(self, left: tuple[int, ...], taken: int) -> Worth:
        possible = self._fitting(left) & ~taken
        before = self._sum(possible)
        costs: list[int | None] = []
        for index, demand in enumerate(self._demands):
            if not possible >> index & 1:
                costs.append(None)
                continue
            rest = tuple(amount - drawn for amount, drawn in zip(left, demand, strict=True))
            after = self._sum(self._fitting(rest) & possible & ~(1 << index))
            costs.append(self.scaled(before - after, after))
        return Worth(self.scaled(before, 0), possible, tuple(costs))

    def scaled(self, lost: int, staying: int) -> int:
        """A cost in the size of the part: an unused part is worth its size."""
        return self.size * (_STAYING * lost + staying) // (_STAYING * self._unused) if self._unused else 0

    def weight(self, index: int) -> int:
        """The weight of a device within the part."""
        return self._weights[index]

    def _weight(self, demand: tuple[int, ...]) -> int:
        shares = [_WEIGHT * amount // total for amount, total in zip(demand, self.published, strict=True) if total > 0]
        return max(sum(shares) // len(shares), 1) if shares else 1

    def _ladder(self, column: tuple[int, ...]) -> tuple[list[int], list[int]]:
        steps = sorted(set(column))
        masks = [sum(1 << index for index, amount in enumerate(column) if amount <= step) for step in steps]
        return steps, [0, *masks]

    def _fitting(self, left: tuple[int, ...]) -> int:
        """The devices whose demand is covered, in use or not."""
        fitting = self._everything
        for amount, (steps, masks) in zip(left, self._ladders, strict=True):
            fitting &= masks[bisect_right(steps, amount)]
        return fitting

    def _sum(self, devices: int) -> int:
        known = self._sums.get(devices)
        if known is None:
            known = self._sums[devices] = sum(weight for index, weight in enumerate(self._weights) if devices >> index & 1)
        return known


class Part:
    """Devices of a pool that draw on the same counter sets, and the state that they are in."""

    __slots__ = ("counters", "left", "records", "shape", "taken", "worth")

    def __init__(self, shape: Shape, counters: tuple[CounterName, ...], records: tuple[PublishedDevice, ...]) -> None:
        self.shape = shape
        self.counters = counters
        self.records = records
        self.left = shape.published
        self.taken = 0
        self.worth = shape.worth(self.left, 0)

    @property
    def unused(self) -> bool:
        """Nothing of it is taken."""
        return self.taken == 0 and self.left == self.shape.published

    def devices(self, bits: int) -> list[PublishedDevice]:
        """The devices that these bits stand for, the heaviest first, else in order."""
        found = [index for index in range(len(self.records)) if bits >> index & 1]
        found.sort(key=lambda index: -self.shape.weight(index))
        return [self.records[index] for index in found]


class PoolParts:
    """The parts of one pool, kept as the allocated state has them."""

    def __init__(self, pool: Pool, parts: list[Part], sizes: Mapping[int, int]) -> None:
        self.pool = pool
        self.parts = parts
        self.size_of = sizes
        self.place = {record.number: (part, index) for part in parts for index, record in enumerate(part.records)}
        self.named = {record.device.name: record for record in pool.devices}
        self.single = {record.device.name: record for record in _all(pool) if record.number not in self.place}
        self._named: dict[str, list[tuple[Part, int]]] = {}
        for part in parts:
            for index, record in enumerate(part.records):
                self._named.setdefault(record.device.name, []).append((part, index))
        self.value = sum(part.worth.value for part in parts) + sum(sizes[record.number] for record in self.single.values())
        """What all that could still be taken is worth."""
        self.shareable = [(place, record) for place, record in enumerate(pool.devices) if record.multi]
        """Devices that allow several allocations, with their place in the pool."""
        self._costs: list[int] | None = None
        self._held: frozenset[str] = frozenset()
        self._as_of: tuple[AllocatedState, int] | None = None

    def catch_up(self, allocated: AllocatedState) -> None:
        """Take note of devices that came and went. Cost: those, and the parts that they belong to; none if none did."""
        as_of = allocated, allocated.pool_version(self.pool.id)
        if self._as_of == as_of:
            return
        self._costs = None
        held = frozenset(allocated.allocated_in(self.pool.id))
        left = self.pool.counters_left(allocated)
        touched: dict[int, Part] = {}
        for name in held ^ self._held:
            if (record := self.single.get(name)) is not None:
                self.value += -self.size_of[record.number] if name in held else self.size_of[record.number]
            for part, index in self._named.get(name, ()):
                part.taken ^= 1 << index
                touched[id(part)] = part
        for part in touched.values():
            self.value -= part.worth.value
            part.left = tuple(left[counter] for counter in part.counters)
            part.worth = part.shape.worth(part.left, part.taken)
            self.value += part.worth.value
        self._held, self._as_of = held, as_of

    def costs(self) -> Sequence[int]:
        """What each device of the pool costs if it is taken whole, in the order of the pool; `NEVER` where it cannot be.

        Cost: the devices of the pool, if any came or went since it was last asked; none if none did.
        """
        if self._costs is None:
            held, place, found = self._held, self.place, list[int]()
            for record in self.pool.devices:
                if (at := place.get(record.number)) is not None:
                    cost = at[0].worth.costs[at[1]]
                else:
                    cost = None if record.device.name in held else self.size_of[record.number]
                found.append(NEVER if cost is None else cost)
            self._costs = found
        return self._costs


class Packing:
    """The parts of all pools that were asked about. Shapes are shared, pools are taken apart when first asked about."""

    def __init__(self, allocated: AllocatedState) -> None:
        self.allocated = allocated
        self._pools: dict[PoolID, PoolParts] = {}
        self._shapes: dict[object, Shape] = {}

    def parts(self, pool: Pool) -> PoolParts:
        """The parts of `pool` as they are now.

        Cost: none that grows with the pool if it was asked about before and is as it was; a pool that was published anew, or that
        another node sees with other devices, is taken apart again: devices times counters.
        """
        known = self._pools.get(pool.id)
        if known is None or known.pool is not pool:
            known = self._pools[pool.id] = self._take_apart(pool)
        known.catch_up(self.allocated)
        return known

    def forget(self, pool: PoolID) -> None:
        """The pool was published anew, or is gone."""
        self._pools.pop(pool, None)

    def _take_apart(self, pool: Pool) -> PoolParts:
        # Without the feature no counters are known, and nothing that draws on them can be taken.
        records = [record for record in _all(pool) if record.device.consumes_counters and pool.counter_sets]
        sizes = {record.number: size_of(record) for record in _all(pool)}
        return PoolParts(pool, [self._part(pool, sets, members, sizes) for sets, members in _connected(pool, records)], sizes)

    def _part(self, pool: Pool, sets: Sequence[str], records: Sequence[PublishedDevice], sizes: Mapping[int, int]) -> Part:
        published = published_values(pool.counter_sets[name] for name in sets)
        counters, amounts = tuple(published), tuple(published.values())
        demands = tuple(_amounts(record.demand, counters) for record in records)
        key = amounts, demands, max(sizes[record.number] for record in records)
        if key not in self._shapes:
            self._shapes[key] = Shape(*key)
        return Part(self._shapes[key], counters, tuple(records))


class Place(NamedTuple):
    """Where a device belongs: its part, its number there, what the part is worth now, and whether nothing of it is taken."""

    part: Part
    number: int
    worth: Worth
    unused: bool


class Moment:
    """What can be taken and at which cost, after an attempt has taken some devices (`taken`) that are not committed."""

    def __init__(self, packing: Packing, taken: Iterable[Taken] = ()) -> None:
        self._packing = packing
        self._parts: dict[int, PoolParts] = {}
        self._changed: dict[int, tuple[tuple[int, ...], int, Worth]] = {}
        self._numbers: dict[int, dict[str, int]] = {}
        """Devices that the attempt has taken, with the capacity that its shares of them hold."""
        self.value = 0
        """By how much the attempt has lowered what all that could still be taken is worth (a negative number)."""
        self.cost = 0
        """What everything that the attempt has taken has cost."""
        for each in taken:
            self.take(*each)

    def part(self, pool: Pool, record: PublishedDevice) -> Place | None:
        """What the device is a part of, as it is now; None: of nothing, for it draws on no counters."""
        place = self._parts_of(pool).place.get(record.number)
        if place is None:
            return None
        part, index = place
        changed = self._changed.get(id(part))
        return Place(part, index, part.worth, part.unused) if changed is None else Place(part, index, changed[2], False)

    def in_use(self, record: PublishedDevice) -> bool:
        """Whether somebody, this attempt included, holds the device or a share of it."""
        return record.number in self._numbers or self._packing.allocated.is_allocated(record.id)

    def cost_of(self, pool: Pool, record: PublishedDevice, amounts: Mapping[str, Quantity] | None = None) -> int | None:
        """What taking the device costs, or a share of it with these amounts; None if it cannot be taken.

        Cost: none that grows, for a part in a state that was met before.
        """
        parts = self._parts_of(pool)
        place = parts.place.get(record.number)
        size = parts.size_of[record.number]
        if amounts is None:
            if place is None:
                return None if self.in_use(record) else size
            return self._part_cost(*place)
        # The first share takes the device from all who want it whole.
        whole = 0 if self.in_use(record) else size if place is None else self._part_cost(*place)
        if whole is None:
            return None
        share, room = self._share(record, amounts)
        return whole + (size * (share * _ROOM + room)) // (_ROOM * _ROOM)

    def take(self, pool: Pool, record: PublishedDevice, amounts: Mapping[str, Quantity] | None = None) -> None:
        """Take it, from now on. What upstream would refuse may be taken too; it is then free of charge."""
        self.cost += self.cost_of(pool, record, amounts) or 0
        pays, parts = not self.in_use(record), self._parts_of(pool)
        place = parts.place.get(record.number)
        held = self._numbers.setdefault(record.number, {})
        for name, amount in (amounts or {}).items():
            held[name] = held.get(name, 0) + amount.nano
        if place is None:
            self.value -= parts.size_of[record.number] if pays else 0
        elif pays:
            part, index = place
            left, taken, worth = self._changed.get(id(part)) or (part.left, part.taken, part.worth)
            demand = record.demand
            left = tuple(amount - demand.get(counter, 0) for amount, counter in zip(left, part.counters, strict=True))
            taken |= 1 << index
            after = part.shape.worth(left, taken)
            self._changed[id(part)] = left, taken, after
            self.value += after.value - worth.value

    def _parts_of(self, pool: Pool) -> PoolParts:
        known = self._parts.get(id(pool))
        if known is None:
            known = self._parts[id(pool)] = self._packing.parts(pool)
        return known

    def _part_cost(self, part: Part, index: int) -> int | None:
        changed = self._changed.get(id(part))
        return (part.worth if changed is None else changed[2]).costs[index]

    def _share(self, record: PublishedDevice, amounts: Mapping[str, Quantity]) -> tuple[int, int]:
        """How much of the device the share is, and how much room it leaves, by the tightest capacity; in 1 / `_ROOM`."""
        share, room = 0, _ROOM
        committed, held = self._packing.allocated.consumed(record.id), self._numbers.get(record.number, {})
        for name, amount in amounts.items():
            total = Quantity.parse(record.capacity[name].value).nano
            if total > 0:
                before = committed.get(name, 0) + held.get(name, 0)
                share = max(share, _ROOM * amount.nano // total)
                room = min(room, max(_ROOM * (total - before - amount.nano) // total, 0))
        return share, room


_ROOM: Final = 1_000_000


def size_of(record: PublishedDevice) -> int:
    """The largest capacity of a device, in thousandths of its unit; 1 where it publishes none."""
    return max((Quantity.parse(each.value).nano // _MILLI for each in record.capacity.values()), default=1) or 1


def _amounts(demand: Mapping[CounterName, int], counters: Sequence[CounterName]) -> tuple[int, ...]:
    return tuple([demand.get(counter, 0) for counter in counters])


def _all(pool: Pool) -> Sequence[PublishedDevice]:
    return [*pool.devices, *pool.elsewhere]


def _connected(pool: Pool, records: Sequence[PublishedDevice]) -> list[tuple[list[str], list[PublishedDevice]]]:
    """The devices by the counter sets that they draw on; sets that one device draws on together belong together."""
    root: dict[str, str] = {name: name for name in pool.counter_sets}

    def find(name: str) -> str:
        while root[name] != name:
            name = root[name]
        return name

    for record in records:
        first, *others = (consumption.counter_set for consumption in record.device.consumes_counters)
        for other in others:
            root[find(other)] = find(first)
    sets: dict[str, list[str]] = {}
    for name in pool.counter_sets:
        sets.setdefault(find(name), []).append(name)
    members: dict[str, list[PublishedDevice]] = {}
    for record in records:
        members.setdefault(find(record.device.consumes_counters[0].counter_set), []).append(record)
    return [(sets[name], found) for name, found in members.items()]
