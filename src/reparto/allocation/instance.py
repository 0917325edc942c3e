"""One attempt, written down as a problem in numbers: who may take which device, what that costs, and what must agree.

A search that has to look ahead must know everything at once, and know it cheaply. So each alternative becomes a set of positions
(an int, one bit for each device of the node in published order) that pass every test that does not depend on what else is taken.
All else becomes amounts of *stocks* that must not run out (counters of pools, capacity of shared devices, one use of each value of
a distinctAttribute, one use of a device), sets of compatibility groups that must keep something in common, and for each
matchAttribute the values in which devices could agree.

Looking at a device before upstream would can find errors that Kubernetes never meets. So an instance ends before the first request
at which an error is possible (it is `cut`), or in which the order of devices decides what is allowed: negative counters, and lists
under a distinctAttribute where lists are not known. Upstream only gets there if the requests before it can be served; if not, there
is no solution. An instance that is not cut has a solution exactly if the walk of `search` has one, and the same first one.

Source: upstream-dra.md 3.5 to 3.13.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

from reparto.allocation import constraints
from reparto.allocation.errors import AllocationError
from reparto.allocation.inventory import PublishedDevice
from reparto.allocation.pools import Pool
from reparto.allocation.requests import PreparedClaim
from reparto.allocation.selectors import FAILS, YES, text_of, texts_of
from reparto.allocation.setting import Candidate, Requested, Setting, attribute_of, capacity_draw, may_skip_node_operations
from reparto.allocation.state import PoolID
from reparto.allocation.taints import untolerated
from reparto.model.v1 import DeviceSelector

Cost = tuple[tuple[int, int], ...]
"""What a step takes from stocks: (stock, amount) pairs, amounts positive, stocks ascending."""


@dataclass(slots=True)
class Way:
    """One alternative of one request.

    `mask` are the positions that could be taken, `extra` what a position costs in this way besides its own price (positions without
    extra cost are left out), `matches` the matchAttributes that cover the way, with the positions of each of their values, and
    `apart` the distinctAttributes likewise. With `every` all positions of `mask` are to be taken. `profile` is equal for ways whose
    costs are equal everywhere.
    """

    number: int
    claim: int
    request: int
    choice: int
    need: int
    mask: int = 0
    every: bool = False
    admin: bool = False
    extra: dict[int, Cost] = field(default_factory=dict[int, Cost])
    matches: dict[int, dict[int, int]] = field(default_factory=dict[int, dict[int, int]])
    apart: dict[int, dict[int, int]] = field(default_factory=dict[int, dict[int, int]])
    profile: int = -1


@dataclass(slots=True)
class Instance:
    """The whole attempt.

    `requests` holds the ways of each request, requests of all claims in order. `exclusive` are the positions that are gone once
    they are taken; the others can be taken as long as stocks last, but not twice by one request. `price` is what a position costs
    when it is taken first, in whatever way, and `groups` what it then demands of sets of compatibility groups: (set, groups it is
    in). `cut` if requests that follow are left out.
    """

    size: int
    cut: bool = False
    requests: list[list[Way]] = field(default_factory=list[list[Way]])
    exclusive: int = 0
    price: dict[int, Cost] = field(default_factory=dict[int, Cost])
    groups: dict[int, tuple[tuple[int, int], ...]] = field(default_factory=dict[int, tuple[tuple[int, int], ...]])
    stock: list[int] = field(default_factory=list[int])
    stock_names: list[tuple[str, ...]] = field(default_factory=list[tuple[str, ...]])
    common: list[int] = field(default_factory=list[int])
    agreed: list[int] = field(default_factory=list[int])
    """For each matchAttribute, all its values: a device's values are a bit each."""
    match_names: list[tuple[int, int, str]] = field(default_factory=list[tuple[int, int, str]])
    """For each matchAttribute: the claim, the index of the constraint in it, the attribute."""
    distinct_names: list[tuple[int, int, str]] = field(default_factory=list[tuple[int, int, str]])

    def key(self) -> Hashable:
        """Equal for instances that have the same answer, whatever the names of nodes, devices and attributes."""
        return (
            self.size,
            self.cut,
            tuple(
                tuple(
                    (
                        way.claim,
                        way.need,
                        way.mask,
                        way.every,
                        tuple(sorted(way.extra.items())),
                        tuple((match, tuple(values.items())) for match, values in way.matches.items()),
                    )
                    for way in ways
                )
                for ways in self.requests
            ),
            self.exclusive,
            tuple(sorted(self.price.items())),
            tuple(sorted(self.groups.items())),
            tuple(self.stock),
            tuple(self.common),
            tuple(self.agreed),
        )


def written_down(setting: Setting, claims: Sequence[PreparedClaim[Candidate]], candidates: Sequence[Candidate]) -> Instance:
    """The attempt as an instance, up to the first request at which an error is possible or the order of devices could matter.

    Cost: every alternative looks at every device of the node once.
    """
    return _Writing(setting, claims, candidates).write()


_TRUE = bytes([ord("1") if verdict == YES else ord("0") for verdict in range(256)])
_FAILED = bytes([ord("1") if verdict == FAILS else ord("0") for verdict in range(256)])
"""Verdicts to binary digits."""

_USE = ("use",)
_NO_VALUE = ("", "")


class _Unsafe(Exception):
    """The attempt has something that only the walk can judge."""


class _Writing:
    def __init__(self, setting: Setting, claims: Sequence[PreparedClaim[Candidate]], candidates: Sequence[Candidate]) -> None:
        self._setting = setting
        self._features = setting.features
        self._claims = claims
        self._candidates = candidates
        self._instance = Instance(len(candidates))
        self._stocks: dict[tuple[object, ...], int] = {}
        self._sets: dict[tuple[PoolID, str], tuple[int, dict[str, int]]] = {}
        self._values: list[dict[tuple[str, object], int]] = []
        self._seen: dict[object, int] = {}
        self._opened: dict[bool, tuple[list[int], list[PublishedDevice]]] = {}
        self._preparable: dict[int, bool] = {}
        self._verdicts: dict[tuple[str, bool], tuple[int, int]] = {}
        self._overdrawn: dict[PoolID, bool] = {}
        self._number = 0
        self._counting = 0
        self._seen_counting = 0
        self._attributes: dict[tuple[str, str | None, int], Sequence[tuple[str, int | bool | str]] | None] = {}

    @cached_property
    def _positions(self) -> dict[int, int]:
        """The position of each device, by its number: only mode All asks."""
        return {record.number: position for position, (_, record) in enumerate(self._candidates)}

    def write(self) -> Instance:
        instance, consumable = self._instance, self._features.consumable_capacity
        for position, (_, record) in enumerate(self._candidates):
            if not (record.multi and consumable):
                instance.exclusive |= 1 << position
        try:
            for claim_number, claim in enumerate(self._claims):
                self._write_claim(claim_number, claim)
        except (AllocationError, _Unsafe):
            instance.cut = True
        if any(way.admin for ways in instance.requests for way in ways):
            self._regulate_admin_access()
        self._bar_second_shares()
        self._drop_idle_stocks()
        profiles: dict[object, int] = {}
        for ways in instance.requests:
            for way in ways:
                way.profile = profiles.setdefault(tuple(sorted(way.extra.items())), len(profiles)) if way.extra else -1
        return instance

    def _write_claim(self, claim_number: int, claim: PreparedClaim[Candidate]) -> None:
        binding = [
            (index, made)
            for index, source in enumerate(claim.constraints)
            if (made := constraints.make(source, self._features.list_type_attributes)) is not None
        ]
        alone = {
            index
            for index, each in binding
            if sum(any(each.covers(a.name, a.parent) for a in request.alternatives) for request in claim.requests) == 1
        }
        places: dict[int, int] = {}
        for request_number, request in enumerate(claim.requests):
            ways: list[Way] = []
            for choice, alternative in enumerate(request.alternatives):
                way = Way(self._number, claim_number, request_number, choice, max(alternative.need, 0))
                way.every, way.admin = alternative.every is not None, alternative.admin_access
                self._number += 1
                covering = [(index, each) for index, each in binding if each.covers(alternative.name, alternative.parent)]
                if way.every and covering:
                    if not alone.issuperset(index for index, _ in covering):
                        # What other requests take decides whether a constraint is violated, which would be an error here.
                        raise _Unsafe
                    self._rehearse(alternative, [each for _, each in covering])
                    covering = []
                self._fill(way, alternative, covering, places)
                ways.append(way)
            self._instance.requests.append(ways)

    # --- one way ------------------------------------------------------------------------------------------------------------------

    def _fill(
        self,
        way: Way,
        alternative: Requested,
        covering: Sequence[tuple[int, constraints.Constraint]],
        places: dict[int, int],
    ) -> None:
        """Find the positions of the way and what they cost."""
        if alternative.every is not None:
            if not alternative.every:
                # All of nothing is never satisfied.
                way.need = 1
                return
            positions = [self._positions[record.number] for _, record in alternative.every]
            if all(self._could_take(alternative, position) for position in positions):
                for position in positions:
                    way.mask |= 1 << position
        elif way.need:
            way.mask = self._selected(alternative)
        codes = [self._constraint(way.claim, index, constraint, places) for index, constraint in covering]
        for position in positions_of(way.mask & self._counting & ~self._seen_counting):
            self._price(position)
        self._seen_counting |= way.mask & self._counting
        for position in positions_of(way.mask if codes else way.mask & ~self._instance.exclusive):
            self._cost(way, alternative, position, codes)
        if way.every and way.mask.bit_count() < way.need:
            way.mask = 0

    def _rehearse(self, alternative: Requested, covering: Sequence[constraints.Constraint]) -> None:
        """Make sure that the devices of mode All violate no constraint among themselves: that would be an error, not a failure.

        Upstream takes them in order and stops at the first that it cannot have.
        """
        added: list[constraints.Constraint] = []
        try:
            for _, record in alternative.every or ():
                if not self._comes_to_constraints(alternative, self._positions[record.number]):
                    break
                for constraint in covering:
                    if not constraint.add(partial(attribute_of, self._setting, alternative, record)):
                        raise _Unsafe
                    added.append(constraint)
                if not self._has_room(alternative, record):
                    break
        finally:
            for constraint in reversed(added):
                constraint.remove()

    def _selected(self, alternative: Requested) -> int:
        """The positions that pass all tests of the device by itself; alternatives that ask the same share the answer."""
        # Selectors, taints and capacity decide, and nothing that depends on the names of requests.
        question = (
            texts_of(alternative.device_class.spec.selectors),
            texts_of(alternative.source.selectors),
            tuple(alternative.capacity.items()),
            tuple(alternative.tolerations),
            alternative.admin_access,
        )
        mask = self._seen.get(question)
        if mask is None:
            mask = self._seen[question] = self._examined(alternative)
        return mask

    def _examined(self, alternative: Requested) -> int:
        positions, records = self._open(alternative.admin_access)
        mask, selected = 0, (1 << len(records)) - 1
        for selector in (*alternative.device_class.spec.selectors, *alternative.source.selectors):
            true, fails = self._asked(selector, alternative.admin_access)
            if selected & fails:
                raise _Unsafe
            selected &= true
        for at in positions_of(selected):
            position, record = positions[at], records[at]
            # Upstream looks at the capacity of what is selected before anything else, and may fail there.
            if record.selection is None or record.selection.matches(self._setting.node):
                roomy = not (record.capacity or alternative.capacity) or self._has_room(alternative, record)
                if roomy and self._could_be_prepared(position) and self._tolerates(alternative, record):
                    mask |= 1 << position
        return mask

    def _asked(self, selector: DeviceSelector, admin: bool) -> tuple[int, int]:
        """Of the devices that selectors are asked about, those on which one is true and those on which it fails, a bit each."""
        question = (text_of(selector), admin)
        known = self._verdicts.get(question)
        if known is None:
            answers = self._setting.selectors.matching(self._open(admin)[1], (selector,))[::-1]
            known = self._verdicts[question] = (
                int(b"0" + answers.translate(_TRUE), 2),
                int(b"0" + answers.translate(_FAILED), 2) if FAILS in answers else 0,
            )
        return known

    def _open(self, admin: bool) -> tuple[list[int], list[PublishedDevice]]:
        """The positions that upstream asks selectors about, with their devices."""
        known = self._opened.get(admin)
        if known is None:
            in_use, consumable = self._setting.allocated.in_use, self._features.consumable_capacity
            bound = self._features.device_binding_and_status
            positions = [
                position
                for position, (_, record) in enumerate(self._candidates)
                if (admin or not in_use(record.id, consumable)) and (bound or not record.device.binding_conditions)
            ]
            known = self._opened[admin] = (positions, [self._candidates[position][1] for position in positions])
        return known

    def _could_take(self, alternative: Requested, position: int) -> bool:
        """Whether a device that mode All has selected could be taken if nothing else was."""
        return self._comes_to_constraints(alternative, position) and self._has_room(alternative, self._candidates[position][1])

    def _comes_to_constraints(self, alternative: Requested, position: int) -> bool:
        """Whether the device passes what is looked at before the constraints, if nothing else was taken."""
        record = self._candidates[position][1]
        if not alternative.admin_access and self._setting.allocated.in_use(record.id, self._features.consumable_capacity):
            return False
        return self._could_be_prepared(position) and self._tolerates(alternative, record)

    def _has_room(self, alternative: Requested, record: PublishedDevice) -> bool:
        if not self._features.consumable_capacity:
            return True
        draw = capacity_draw(self._setting.draws, alternative, record)
        return draw is not None and draw.fits(self._setting.allocated.consumed(record.id), {})

    def _could_be_prepared(self, position: int) -> bool:
        """Whether node and counters allow the device, whoever asks."""
        known = self._preparable.get(position)
        if known is None:
            pool, record = self._candidates[position]
            known = not record.slice.spec.skip_node_operations or may_skip_node_operations(self._setting, record)
            if known and record.device.consumes_counters:
                self._counting |= 1 << position
                known = self._affordable(pool, record)
            self._preparable[position] = known
        return known

    def _tolerates(self, alternative: Requested, record: PublishedDevice) -> bool:
        return not (
            record.blocking_taints
            and self._features.device_taints
            and untolerated(record.blocking_taints, alternative.tolerations) is not None
        )

    def _affordable(self, pool: Pool, record: PublishedDevice) -> bool:
        """Whether the counters that are left cover the device alone."""
        if not self._features.partitionable_devices:
            return False
        if self._has_paid(record):
            return True
        return self._afford(pool, record)

    def _afford(self, pool: Pool, record: PublishedDevice) -> bool:
        left, demand = pool.counters_left(self._setting.allocated), record.demand
        if demand and min(demand.values()) < 0:
            raise _Unsafe
        # A counter that is over-drawn blocks all devices of the pool that draw on any.
        overdrawn = self._overdrawn.get(pool.id)
        if overdrawn is None:
            overdrawn = self._overdrawn[pool.id] = min(left.values(), default=0) < 0
        if overdrawn:
            return False
        for name, amount in demand.items():
            if amount > left[name]:
                return False
        if self._features.compatibility_groups:
            common = pool.common_groups(self._setting.allocated)
            for consumption in record.device.consumes_counters:
                groups = common.get(consumption.counter_set)
                if groups is not None and not groups.admits(consumption.compatibility_groups):
                    return False
        return True

    def _has_paid(self, record: PublishedDevice) -> bool:
        return record.multi and self._features.consumable_capacity and self._setting.allocated.is_shared(record.id)

    # --- what it costs ------------------------------------------------------------------------------------------------------------

    def _price(self, position: int) -> None:
        """What the position costs in any way, when it is taken first."""
        instance = self._instance
        pool, record = self._candidates[position]
        if position in instance.price or not record.device.consumes_counters or self._has_paid(record):
            return
        left = pool.counters_left(self._setting.allocated)
        instance.price[position] = tuple(
            sorted(
                (self._stock((pool.id, *name), left[name], ("counter", *pool.id, *name)), amount)
                for name, amount in record.demand.items()
                if amount
            )
        )
        if self._features.compatibility_groups:
            joined = [
                self._group(pool, consumption.counter_set, consumption.compatibility_groups)
                for consumption in record.device.consumes_counters
            ]
            instance.groups[position] = tuple(joined)

    def _stock(self, key: tuple[object, ...], amount: int, name: tuple[str, ...]) -> int:
        stock = self._stocks.get(key)
        if stock is None:
            stock = self._stocks[key] = len(self._instance.stock)
            self._instance.stock.append(amount)
            self._instance.stock_names.append(name)
        return stock

    def _group(self, pool: Pool, counter_set: str, declared: Sequence[str]) -> tuple[int, int]:
        """The set of groups, and the groups of the device as bits: the first bit for a device that is in none."""
        key = (pool.id, counter_set)
        if key not in self._sets:
            self._sets[key] = (len(self._instance.common), {})
            common = pool.common_groups(self._setting.allocated).get(counter_set)
            names = self._sets[key][1]
            if common is None:
                self._instance.common.append(-1)
            elif common.groups is None:
                self._instance.common.append(1)
            else:
                self._instance.common.append(sum(2 << names.setdefault(group, len(names)) for group in sorted(common.groups)))
        number, names = self._sets[key]
        bits = 0
        for group in declared:
            bits |= 2 << names.setdefault(group, len(names))
        return number, bits or 1

    def _constraint(
        self, claim: int, index: int, constraint: constraints.Constraint, places: dict[int, int]
    ) -> tuple[bool, int, constraints.Constraint]:
        """Whether it is a matchAttribute, and its number among those of its kind."""
        match = isinstance(constraint, constraints.MatchAttribute)
        if index not in places:
            names = self._instance.match_names if match else self._instance.distinct_names
            places[index] = len(names)
            names.append((claim, index, constraint.attribute))
            if match:
                self._instance.agreed.append(0)
                self._values.append({})
        return match, places[index], constraint

    def _cost(
        self,
        way: Way,
        alternative: Requested,
        position: int,
        codes: Sequence[tuple[bool, int, constraints.Constraint]],
    ) -> None:
        """Fill in what the position costs in this way, or drop it from the way where it lacks an attribute."""
        instance, record = self._instance, self._candidates[position][1]
        values = [self._values_of(alternative, position, record, constraint.attribute) for _, _, constraint in codes]
        if None in values:
            way.mask &= ~(1 << position)
            return
        extra: dict[int, int] = {}
        for (match, number, _), value in zip(codes, values, strict=True):
            assert value is not None
            for each in value:
                if each is _NO_VALUE:
                    # Upstream takes a device whose value it does not understand, but only as the first, and nothing agrees with it.
                    if not match or not instance.exclusive >> position & 1:
                        raise _Unsafe
                    each = ("alone", position)
                if match:
                    known = self._values[number]
                    bit = 1 << known.setdefault(each, len(known))
                    instance.agreed[number] |= bit
                    held = way.matches.setdefault(number, {})
                    held[bit] = held.get(bit, 0) | 1 << position
                else:
                    stock = self._stock(("distinct", number, each), 1, ("value", str(number), each[0], str(each[1])))
                    extra[stock] = 1
                    values_apart = way.apart.setdefault(number, {})
                    values_apart[stock] = values_apart.get(stock, 0) | 1 << position
        if not instance.exclusive >> position & 1:
            draw = capacity_draw(self._setting.draws, alternative, record)
            assert draw is not None
            committed = self._setting.allocated.consumed(record.id)
            for name, amount in draw.amounts.items():
                if amount.nano:
                    left = draw.limits[name] - committed.get(name, 0)
                    stock = self._stock(("capacity", position, name), left, ("capacity", str(record), name))
                    extra[stock] = extra.get(stock, 0) + amount.nano
        if extra:
            way.extra[position] = tuple(sorted(extra.items()))

    def _values_of(
        self, alternative: Requested, position: int, record: PublishedDevice, attribute: str
    ) -> Sequence[tuple[str, int | bool | str]] | None:
        """The values a device brings to a constraint, None if it violates it whatever else is taken."""
        key = (attribute, alternative.derived.get(attribute), position)
        if key not in self._attributes:
            self._attributes[key] = self._looked_up(alternative, record, attribute)
        return self._attributes[key]

    def _looked_up(
        self, alternative: Requested, record: PublishedDevice, attribute: str
    ) -> Sequence[tuple[str, int | bool | str]] | None:
        published = attribute_of(self._setting, alternative, record, attribute)
        if published is None:
            return None
        if self._features.list_type_attributes:
            several = constraints.values_of(published)
            return None if several is None else [(several[0], value) for value in sorted(several[1], key=repr)]
        value = constraints.scalar_of(published)
        return [value if value is not None else _NO_VALUE]

    # --- rules of use -------------------------------------------------------------------------------------------------------------

    def _regulate_admin_access(self) -> None:
        """Uses of a device as stocks: admin access takes what others hold, but one claim takes a device once, and what an earlier
        request takes with admin access is taken for later requests without it."""
        instance = self._instance
        ways = [(place, way) for place, several in enumerate(instance.requests) for way in several]
        wanted = 0
        for _, way in ways:
            if way.admin:
                wanted |= way.mask & instance.exclusive
        instance.exclusive &= ~wanted
        for position in positions_of(wanted):
            bit = 1 << position
            users = [(place, way) for place, way in ways if way.mask & bit]
            # Each use pays the counters anew (kubernetes#140729).
            price = instance.price.pop(position, ())
            for _, way in users:
                cost = dict(way.extra.get(position, ()))
                cost.update(price)
                cost[self._stock(("claim", position, way.claim), 1, _USE)] = 1
                if not way.admin:
                    cost[self._stock(("plain", position), 1, _USE)] = 1
                way.extra[position] = tuple(sorted(cost.items()))
            for place, way in users:
                if way.admin:
                    continue
                earlier = [other for before, other in users if other.admin and before < place and other.claim != way.claim]
                if earlier:
                    stock = self._stock(("order", position, way.number), len(earlier), _USE)
                    for other, amount in [(way, len(earlier)), *((other, 1) for other in earlier)]:
                        other.extra[position] = tuple(sorted((*other.extra[position], (stock, amount))))

    def _bar_second_shares(self) -> None:
        """A request takes a device once, though others may take it again: one use for each request and device."""
        instance = self._instance
        for place, ways in enumerate(instance.requests):
            for way in ways:
                shared = way.mask & ~instance.exclusive
                if way.need < 2 or not shared:
                    continue
                for position in positions_of(shared):
                    stock = self._stock(("once", position, place), 1, _USE)
                    way.extra[position] = tuple(sorted((*way.extra.get(position, ()), (stock, 1))))

    def _drop_idle_stocks(self) -> None:
        """Forget stocks that cannot run out: what is left ties devices together only where it matters."""
        instance = self._instance
        most = [0] * len(instance.stock)
        for cost in instance.price.values():
            for stock, amount in cost:
                most[stock] += amount
        exclusive: dict[int, dict[int, int]] = {}
        for ways in instance.requests:
            # One alternative of a request is taken: of a position the dearest counts.
            dearest: dict[tuple[int, int], int] = {}
            for way in ways:
                for position, cost in way.extra.items():
                    for stock, amount in cost:
                        dearest[position, stock] = max(dearest.get((position, stock), 0), amount)
            for (position, stock), amount in dearest.items():
                if instance.exclusive >> position & 1:
                    once = exclusive.setdefault(position, {})
                    once[stock] = max(once.get(stock, 0), amount)
                else:
                    most[stock] += amount
        for once in exclusive.values():
            for stock, amount in once.items():
                most[stock] += amount
        # Uses stay: that a request takes a device once was assumed just now, and they are what says so.
        idle = {s for s, amount in enumerate(instance.stock) if most[s] <= amount and instance.stock_names[s] != _USE}
        if not idle:
            return
        renamed = {stock: place for place, stock in enumerate(s for s in range(len(instance.stock)) if s not in idle)}
        instance.stock = [amount for stock, amount in enumerate(instance.stock) if stock not in idle]
        instance.stock_names = [name for stock, name in enumerate(instance.stock_names) if stock not in idle]

        def kept(costs: Mapping[int, Cost]) -> dict[int, Cost]:
            trimmed = ((p, tuple((renamed[s], amount) for s, amount in cost if s not in idle)) for p, cost in costs.items())
            return {position: cost for position, cost in trimmed if cost}

        instance.price = kept(instance.price)
        for ways in instance.requests:
            for way in ways:
                way.extra = kept(way.extra)


def positions_of(mask: int) -> list[int]:
    """The positions of a set, ascending."""
    positions: list[int] = []
    while mask:
        low = mask & -mask
        positions.append(low.bit_length() - 1)
        mask ^= low
    return positions
