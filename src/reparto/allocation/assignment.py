"""Units of demand onto devices: can these requests have their numbers of devices at once, where nothing else is left to choose?

Two kinds of device need two methods. Devices that share nothing are alike in all that matters if the same demands may take them:
that is a flow between demands and groups of devices. Devices that share stocks (the partitions of one GPU, the shares of one
device, the values of a distinctAttribute) form *components*, for which all useful mixes (how many units of each demand fit at once)
are listed, and of each component one mix is chosen. Equal components have equal mixes, which are worked out once, and what was
found not to lead anywhere is remembered.

The order of requests plays no part here, so the answer says whether there is an assignment and gives one: not the first.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from reparto.allocation.flow import Flow, atoms_of
from reparto.allocation.instance import Cost, Instance, Way, positions_of
from reparto.allocation.mixes import (
    MANY_MIXES,
    STEPS_OF_A_FLOW,
    Kind,
    Mix,
    Mixes,
    OneByOne,
    Selection,
    TooManyMixes,
    bounds_of,
    in_order,
    rounded,
)

_Kinds: TypeAlias = tuple[object, list[Kind], list[list[int]], tuple[int, ...], tuple[int, ...]]
"""What a component holds for some demands: a key that is equal where all of it is, the kinds of device with the positions of each,
and what is left of the stocks and groups."""


class State:
    """What is taken so far, and how much is left. Never changed: taking a device makes a new one."""

    __slots__ = ("agreed", "common", "free", "paid", "stock", "version")

    def __init__(
        self, free: int, stock: list[int], common: list[int], agreed: list[int], paid: int, version: tuple[int, ...]
    ) -> None:
        self.free, self.stock, self.common, self.agreed, self.paid = free, stock, common, agreed, paid
        self.version = version
        """For each component a number that changes with what is taken of it; equal numbers mean equal states."""


@dataclass(frozen=True, slots=True)
class Demand:
    """`need` units from the positions of `mask`. `way` says what they cost; None where they are only known to cost their price."""

    mask: int
    need: int
    way: Way | None


@dataclass(slots=True)
class Component:
    """Positions that share stocks or groups, with both."""

    mask: int
    positions: list[int]
    stocks: list[int]
    sets: list[int]
    versions: dict[object, int] = field(default_factory=dict[object, int])


class Assignments:
    """Answers for one instance. `spend` is told of every step, and may raise to end the whole."""

    def __init__(self, instance: Instance, spend: Callable[[int], None]) -> None:
        self._instance = instance
        self._spend = spend
        # Of ways that may take the same at the same cost one is enough to tell positions apart.
        self._ways = list({twin_key(way): way for ways in reversed(instance.requests) for way in reversed(ways)}.values())
        used = 0
        for way in self._ways:
            used |= way.mask
        tied = used & ~instance.exclusive
        for costs in (instance.price, instance.groups, *(way.extra for way in self._ways)):
            for position in costs:
                tied |= 1 << position
        self.simple = used & ~tied
        self.components = _components(instance, positions_of(tied & used), self._ways)
        self.component_of = {position: number for number, each in enumerate(self.components) for position in each.positions}
        self.place_of = {position: place for each in self.components for place, position in enumerate(each.positions)}
        self._codes: dict[tuple[int, int], dict[int, int]] = {}
        for way in [way for ways in instance.requests for way in ways]:
            for match, values in way.matches.items():
                codes = self._codes[way.number, match] = {}
                for value, mask in values.items():
                    for position in positions_of(mask):
                        codes[position] = codes.get(position, 0) | value
        self._atoms = self._alike(self.simple)
        self._bounds: dict[object, tuple[dict[int, int], int]] = {}
        self._intricate = False
        self.short: set[int] | None = None
        """After None (or False) the demands that cannot be served together, whatever the others are; None if that is not known."""
        self._atom_of: dict[int, int] = {}
        self._types: dict[int, object] = {}
        self._forms: dict[tuple[int, int], int] = {}
        self._contents: dict[object, int] = {}
        self._mixes: dict[object, list[Mix] | None] = {}
        self._lists: dict[object, list[Mix]] = {}
        self._kinds: dict[object, tuple[list[Kind], list[list[int]], tuple[int, ...], tuple[int, ...]]] = {}

    # --- states -------------------------------------------------------------------------------------------------------------------

    def start(self) -> State:
        """Nothing is taken."""
        instance = self._instance
        state = State((1 << instance.size) - 1, list(instance.stock), list(instance.common), list(instance.agreed), 0, ())
        state.version = tuple(self._version(number, state) for number in range(len(self.components)))
        return state

    def take(self, state: State, way: Way, position: int) -> State | None:
        """The state after the position was taken; None if it cannot be."""
        instance, bit = self._instance, 1 << position
        if not way.mask & bit or (instance.exclusive & bit and not state.free & bit):
            return None
        agreed = state.agreed
        for match in way.matches:
            left = self._codes[way.number, match].get(position, 0) & agreed[match]
            if not left:
                return None
            if left != agreed[match]:
                agreed = agreed if agreed is not state.agreed else list(agreed)
                agreed[match] = left
        if self.simple & bit:
            return State(state.free & ~bit, state.stock, state.common, agreed, state.paid, state.version)
        stock, common = list(state.stock), state.common
        cost = way.extra.get(position, ())
        if not state.paid & bit:
            cost += instance.price.get(position, ())
            if position in instance.groups:
                common = list(common)
                for number, groups in instance.groups[position]:
                    common[number] &= groups
                    if not common[number]:
                        return None
        for number, amount in cost:
            stock[number] -= amount
            if stock[number] < 0:
                return None
        after = State(
            state.free & ~bit if instance.exclusive & bit else state.free, stock, common, agreed, state.paid | bit, state.version
        )
        number = self.component_of[position]
        after.version = (*state.version[:number], self._version(number, after), *state.version[number + 1 :])
        return after

    def _version(self, number: int, state: State) -> int:
        component = self.components[number]
        content = (
            state.free & component.mask,
            state.paid & component.mask,
            tuple([state.stock[stock] for stock in component.stocks]),
            tuple([state.common[each] for each in component.sets]),
        )
        return component.versions.setdefault(content, len(component.versions))

    def form(self, number: int, state: State) -> int:
        """Equal for two components that can stand for each other in every way, device by device."""
        known = self._forms.get((number, state.version[number]))
        if known is None:
            component = self.components[number]
            content = (
                self._type(number),
                tuple([(state.free >> p & 1, state.paid >> p & 1) for p in component.positions]),
                tuple([state.stock[stock] for stock in component.stocks]),
                tuple([state.common[each] for each in component.sets]),
            )
            known = self._contents.setdefault(content, len(self._contents))
            self._forms[number, state.version[number]] = known
        return known

    def _type(self, number: int) -> object:
        known = self._types.get(number)
        if known is None:
            component = self.components[number]
            stocks = {stock: place for place, stock in enumerate(component.stocks)}
            sets = {each: place for place, each in enumerate(component.sets)}
            known = tuple(
                (
                    self._instance.exclusive >> p & 1,
                    tuple([(stocks[s], amount) for s, amount in self._instance.price.get(p, ())]),
                    tuple([(sets[s], groups) for s, groups in self._instance.groups.get(p, ())]),
                    tuple(
                        [
                            (
                                way.number,
                                tuple([(stocks[s], amount) for s, amount in way.extra.get(p, ())]),
                                tuple([(m, self._codes[way.number, m][p]) for m in way.matches]),
                            )
                            for way in self._ways
                            if way.mask >> p & 1
                        ]
                    ),
                )
                for p in component.positions
            )
            self._types[number] = known
        return known

    # --- assignment ---------------------------------------------------------------------------------------------------------------

    def possible(self, state: State, demands: Sequence[Demand]) -> bool:
        """False if it was easy to find that `assign` would say None."""
        self.short = None
        merged, of_demand = _merged(demands)
        if not merged:
            return True
        try:
            possible = self._promising(state, merged) if self._intricate else self._assign_merged(state, merged) is not None
        except TooManyMixes:
            possible = True
        self._blame(of_demand)
        return possible

    def assign(self, state: State, demands: Sequence[Demand]) -> list[list[int]] | None:
        """Positions for each demand, or None if there is no way to give all of them what they need."""
        self.short = None
        merged, of_demand = _merged(demands)
        if not merged:
            return [[] for _ in demands]
        try:
            found = self._assign_merged(state, merged)
        except TooManyMixes:
            found = self._assign_one_by_one(state, merged)
        if found is None:
            self._blame(of_demand)
            return None
        given: list[list[int]] = []
        for demand, place in zip(demands, of_demand, strict=True):
            given.append(found[place][: demand.need] if place >= 0 else [])
            if place >= 0:
                found[place] = found[place][demand.need :]
        return given

    def _assign_merged(self, state: State, demands: list[Demand]) -> list[list[int]] | None:
        self._spend(STEPS_OF_A_FLOW)
        if self._intricate and not self._promising(state, demands):
            return None
        groups, counts = self._single_devices(state, demands)
        # Components: those of which one unit at most is useful are like a single device; of the others a mix is chosen.
        single: dict[int, list[tuple[int, list[Mix], list[list[int]]]]] = {}
        several: list[tuple[list[Mix], list[list[int]]]] = []
        wanted = _union(demands)
        for number, component in enumerate(self.components):
            if not component.mask & wanted:
                continue
            mixes, kinds = self._mixes_of(number, state, demands)
            if not mixes[0][0]:
                continue
            if all(picks is not None and picks[2] is None for _, picks in mixes):
                serves = 0
                for _, picks in mixes:
                    assert picks is not None
                    serves |= 1 << picks[0]
                single.setdefault(serves, []).append((number, mixes, kinds))
                counts[serves] = counts.get(serves, 0) + 1
            else:
                several.append((mixes, kinds))
        chosen: list[Mix] = []
        needs = [demand.need for demand in demands]
        if several:
            several.sort(key=lambda each: (len(each[0]), id(each[0])))
            selection = Selection([mixes for mixes, _ in several], needs, counts, self._spend).choose()
            if selection is None:
                return None
            chosen, needs = selection
        flow = Flow(len(demands), counts)
        routes = flow.route(needs)
        if routes is None:
            self.short = set(flow.short)
            return None
        given: list[list[int]] = [[] for _ in demands]
        for (_, kinds), (_, picks) in zip(several, chosen, strict=False):
            left = [list(positions) for positions in kinds]
            while picks is not None:
                place, kind, picks = picks
                position = left[kind][-1] if not self._instance.exclusive >> left[kind][-1] & 1 else left[kind].pop()
                if len(given[place]) < demands[place].need - needs[place]:
                    given[place].append(position)
        for serves, routed in routes.items():
            simple = [position for available in groups.get(serves, ()) for position in positions_of(available)]
            tied = list(single.get(serves, ()))
            for place, units in routed.items():
                for _ in range(units):
                    if simple:
                        given[place].append(simple.pop())
                    else:
                        _, mixes, kinds = tied.pop()
                        given[place].append(
                            next(kinds[picks[1]][0] for _, picks in mixes if picks is not None and picks[0] == place)
                        )
        return given

    def _promising(self, state: State, demands: Sequence[Demand]) -> bool:
        """Whether the demands could be served if devices of a component got in each other's way only by their number."""
        self._spend(STEPS_OF_A_FLOW)
        _, counts = self._single_devices(state, demands)
        lanes, limits, total = len(demands), dict[int, int](), sum(demand.need for demand in demands)
        wanted = _union(demands)
        for number, component in enumerate(self.components):
            if not component.mask & wanted:
                continue
            key, kinds, _, stock, _ = self._kinds_of(number, state, demands)
            known = self._bounds.get(key)
            if known is None:
                known = self._bounds[key] = bounds_of(kinds, stock)
            by_serves, limit = known
            for serves, count in by_serves.items():
                counts[serves | (number + 1) << lanes] = count if count >= 0 else total
            if limit >= 0:
                limits[number + 1] = limit
        flow = Flow(lanes, counts, limits)
        if flow.route([demand.need for demand in demands]) is None:
            self.short = set(flow.short)
            return False
        return True

    def _blame(self, of_demand: Sequence[int]) -> None:
        """`short` from merged demands to those that were asked about."""
        if self.short is not None:
            self.short = {index for index, place in enumerate(of_demand) if place in self.short}

    def _single_devices(self, state: State, demands: Sequence[Demand]) -> tuple[dict[int, list[int]], dict[int, int]]:
        """The devices that share nothing, by the demands that they could serve: sets of positions, and how many there are."""
        groups: dict[int, list[int]] = {}
        counts: dict[int, int] = {}
        for atom in self._atoms:
            available = atom & state.free
            if available:
                serves = 0
                for place, demand in enumerate(demands):
                    if demand.mask & available:
                        serves |= 1 << place
                if serves:
                    groups.setdefault(serves, []).append(available)
                    counts[serves] = counts.get(serves, 0) + available.bit_count()
        return groups, counts

    def _assign_one_by_one(self, state: State, demands: list[Demand]) -> list[list[int]] | None:
        """As `_assign_merged`, for components whose mixes are too many to list."""
        groups, counts = self._single_devices(state, demands)
        wanted = _union(demands)
        parts = [self._kinds_of(number, state, demands)[1:] for number, each in enumerate(self.components) if each.mask & wanted]
        needs = [demand.need for demand in demands]
        found = OneByOne(parts, needs, counts, self._spend).found()
        if found is None:
            return None
        picks, needs = found
        routes = Flow(len(needs), counts).route(needs)
        if routes is None:
            return None
        given: list[list[int]] = [[] for _ in demands]
        left = [[list(positions) for positions in positions_of_kinds] for _, positions_of_kinds, _, _ in parts]
        for part, place, kind in picks:
            positions = left[part][kind]
            given[place].append(positions.pop() if self._instance.exclusive >> positions[-1] & 1 else positions[-1])
        for serves, routed in routes.items():
            free = [position for available in groups[serves] for position in positions_of(available)]
            for place, units in routed.items():
                for _ in range(units):
                    given[place].append(free.pop())
        return given

    # --- mixes of a component -----------------------------------------------------------------------------------------------------

    def _mixes_of(self, number: int, state: State, demands: Sequence[Demand]) -> tuple[list[Mix], list[list[int]]]:
        """The useful mixes of a component, and the positions of each kind of device that they speak of."""
        key, kinds, positions, stock, common = self._kinds_of(number, state, demands)
        component, shared = self.components[number], ~self._instance.exclusive
        # More than there are devices is no more than their number.
        caps = tuple(
            [
                rounded(demand.need) if mask & shared else min(rounded(demand.need), mask.bit_count())
                for demand in demands
                for mask in [demand.mask & component.mask]
            ]
        )
        known = self._lists.get((key, caps))
        if known is None:
            known = self._lists[key, caps] = self._listed(kinds, stock, common, caps)
        return known, positions

    def _listed(self, kinds: Sequence[Kind], stock: tuple[int, ...], common: tuple[int, ...], caps: tuple[int, ...]) -> list[Mix]:
        question = (tuple(kinds), stock, common, caps)
        if question not in self._mixes:
            listing = Mixes(kinds, caps, self._spend)
            try:
                self._mixes[question] = listing.best(stock, common)
            except TooManyMixes:
                self._mixes[question] = None
            self._intricate = self._intricate or listing.seen > MANY_MIXES
        mixes = self._mixes[question]
        if mixes is None:
            raise TooManyMixes
        return mixes

    def _kinds_of(self, number: int, state: State, demands: Sequence[Demand]) -> _Kinds:
        """The kinds of device in a component as it is now."""
        component = self.components[number]
        mask, first = component.mask, component.positions[0]
        # Of components with equal forms one is looked at, in so far as the demands ask for the same places of each.
        key = (
            self.form(number, state),
            mask >> first,
            tuple([(demand.mask & mask) >> first for demand in demands]),
            tuple([demand.way.profile if demand.way is not None else -2 for demand in demands]),
        )
        known = self._kinds.get(key)
        if known is None:
            known = self._kinds[key] = self._sorted(component, state, demands)
        kinds, places, stock, common = known
        positions = component.positions
        return key, kinds, [[positions[place] for place in each] for each in places], stock, common

    def _sorted(
        self, component: Component, state: State, demands: Sequence[Demand]
    ) -> tuple[list[Kind], list[list[int]], tuple[int, ...], tuple[int, ...]]:
        """The kinds of device, the places of each in the component, and what is left of the stocks and groups."""
        instance = self._instance
        stocks = {stock: place for place, stock in enumerate(component.stocks)}
        sets = {each: place for place, each in enumerate(component.sets)}
        together: dict[tuple[bool, Cost, Cost, tuple[Cost | None, ...], int], list[int]] = {}
        wanted = _union(demands)
        for place, position in enumerate(component.positions):
            bit = 1 << position
            if not wanted & bit:
                continue
            exclusive = bool(instance.exclusive & bit)
            if exclusive and not state.free & bit:
                continue
            paid = bool(state.paid & bit)
            price = () if paid else tuple([(stocks[s], amount) for s, amount in instance.price.get(position, ())])
            groups = () if paid else tuple([(sets[s], bits) for s, bits in instance.groups.get(position, ())])
            if price and any(amount > state.stock[component.stocks[s]] for s, amount in price):
                continue
            if groups and any(not bits & state.common[component.sets[s]] for s, bits in groups):
                continue
            extras: list[Cost | None] = []
            for demand in demands:
                if not demand.mask & bit:
                    extras.append(None)
                    continue
                extra = demand.way.extra.get(position, ()) if demand.way is not None else ()
                if not extra:
                    extras.append(())
                elif any(amount > state.stock[s] for s, amount in extra):
                    extras.append(None)
                else:
                    extras.append(tuple([(stocks[s], amount) for s, amount in extra]))
            if any(extra is not None for extra in extras):
                alike = (exclusive, price, groups, tuple(extras), 0 if exclusive else position)
                together.setdefault(alike, []).append(place)
        listed = in_order(((key[0], len(places), key[1], key[2], key[3]), places) for key, places in together.items())
        kinds = [kind for kind, _ in listed]
        stock = tuple([state.stock[s] for s in component.stocks])
        common = tuple([state.common[s] for s in component.sets])
        return kinds, [places for _, places in listed], stock, common

    # --- likeness -----------------------------------------------------------------------------------------------------------------

    def _alike(self, mask: int) -> list[int]:
        """`mask` in parts whose positions no way and no matchAttribute tells apart."""
        cuts = {way.mask for way in self._ways}
        cuts.update(part for way in self._ways for values in way.matches.values() for part in values.values())
        return atoms_of(mask, cuts)

    def atom_of(self, position: int) -> int:
        """The number of the positions that no way and no matchAttribute tells from a position that shares nothing."""
        if not self._atom_of:
            self._atom_of = {each: number for number, atom in enumerate(self._atoms) for each in positions_of(atom)}
        return self._atom_of[position]


def twin_key(way: Way) -> object:
    """Equal for ways that may take the same positions at the same cost, under the same matchAttributes with the same values."""
    return way.mask, way.profile, tuple([(match, tuple(values.items())) for match, values in way.matches.items()])


def _union(demands: Sequence[Demand]) -> int:
    """The positions that any of the demands may take."""
    mask = 0
    for demand in demands:
        mask |= demand.mask
    return mask


def _components(instance: Instance, positions: list[int], ways: Sequence[Way]) -> list[Component]:
    """The positions in parts that share no stock and no set of groups."""
    extras = [way.extra for way in ways if way.extra]
    # Each part with the stocks and sets that it has so far, and whose they are.
    owner: dict[tuple[bool, int], int] = {}
    parts: dict[int, tuple[list[int], set[tuple[bool, int]]]] = {}
    for position in positions:
        touched = {(True, s) for s, _ in instance.price.get(position, ())}
        touched.update([(False, s) for s, _ in instance.groups.get(position, ())])
        for extra in extras:
            if position in extra:
                touched.update([(True, s) for s, _ in extra[position]])
        mine = [position]
        for other in {owner[item] for item in touched if item in owner}:
            theirs, more = parts.pop(other)
            mine += theirs
            touched |= more
        owner.update(dict.fromkeys(touched, position))
        parts[position] = mine, touched
    components: list[Component] = []
    for mine, touched in parts.values():
        several = sorted(mine)
        stocks, sets = [s for is_stock, s in touched if is_stock], [s for is_stock, s in touched if not is_stock]
        components.append(Component(sum([1 << p for p in several]), several, sorted(stocks), sorted(sets)))
    components.sort(key=lambda each: each.positions[0])
    return components


def _merged(demands: Sequence[Demand]) -> tuple[list[Demand], list[int]]:
    """Demands that may take the same positions at the same cost as one, and for each demand which (-1 if it needs nothing)."""
    places: dict[tuple[int, int], int] = {}
    merged: list[Demand] = []
    of_demand: list[int] = []
    for demand in demands:
        if not demand.need:
            of_demand.append(-1)
            continue
        key = (demand.mask, demand.way.profile if demand.way is not None else -2)
        place = places.get(key)
        if place is None:
            place = places[key] = len(merged)
            merged.append(demand)
        else:
            merged[place] = Demand(demand.mask, merged[place].need + demand.need, demand.way)
        of_demand.append(place)
    return merged, of_demand
