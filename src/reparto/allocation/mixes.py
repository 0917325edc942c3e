"""Devices that share stocks: which units of which demands a component serves at once, and what to choose of each component.

Of a component (the partitions of a GPU, the shares of a device, devices whose values must differ) all useful mixes of units are
listed, and one mix of each component is chosen. Where there are too many to list, devices are assigned one after the other instead.
Both remember what led nowhere.

A vector of units, one number for each demand, is one int with a lane of bits for each, so that whole vectors are compared and
subtracted at once.
"""

from collections.abc import Callable, Iterable, Sequence
from operator import mul
from typing import Final, TypeAlias

from reparto.allocation.flow import Flow
from reparto.allocation.instance import Cost

_LANE: Final = 16
"""Bits for the units of one demand. The highest bit of a lane stays free, to catch the borrow when lanes are compared."""

_TOTAL: Final = (1 << _LANE) - 1
"""The remainder of a vector by it is the sum of its lanes, as long as that is less."""

_DEPTH: Final = 500
"""Kinds of device, and devices taken one by one, that functions may call each other for: the interpreter allows twice as many."""

_STEPS_OF_A_MIX: Final = 5
STEPS_OF_A_FLOW: Final = 40
"""What is counted for them as steps: a step is what the walk of `search` takes for a device, a microsecond or two."""
_MOST_MIXES: Final = 6_000
"""Mixes looked at before a component counts as one with too many. A GPU with all its MIG profiles asked for has a tenth."""

MANY_MIXES: Final = 600
"""Mixes looked at before they are listed only for questions that must be answered, and no more for those that may be."""

Mix: TypeAlias = "tuple[int, _Picks]"
"""Units by demand, a lane each, and the devices that give them."""
_Picks: TypeAlias = "tuple[int, int, _Picks] | None"
"""(demand, kind of device, the rest)."""
Kind: TypeAlias = tuple[bool, int, Cost, tuple[tuple[int, int], ...], tuple[Cost | None, ...]]
"""Devices of a component that are alike: exclusive, how many, price, groups, extra cost by demand (None: not for it). Stocks and
sets are counted inside the component."""


class TooIntricate(Exception):
    """There is no way to find out that would not go too deep, or take too long."""


class TooManyMixes(Exception):
    """There are too many mixes to list."""


class Mixes:
    """All mixes of a component that are not below another one."""

    def __init__(self, kinds: Sequence[Kind], caps: Sequence[int], spend: Callable[[int], None]) -> None:
        self._kinds = kinds
        self._spend = spend
        self._lanes = len(caps)
        self._high = _high(self._lanes)
        self._cap = caps
        self.seen = 0
        self._caps = sum(cap << (_LANE * place) for place, cap in enumerate(caps))
        self._memo: dict[object, list[Mix]] = {}
        # The most that the kinds from each on could take of a stock: what is left beyond that makes no difference.
        self._most: list[dict[int, int]] = [{}]
        self._sets: list[frozenset[int]] = [frozenset()]
        for exclusive, count, price, groups, extras in reversed(kinds):
            most = dict(self._most[-1])
            for stock, amount in price:
                most[stock] = most.get(stock, 0) + amount * (count if exclusive else 1)
            dearest: dict[int, int] = {}
            for place, extra in enumerate(extras):
                for stock, amount in extra or ():
                    times = count if exclusive else max(caps[place], 1)
                    dearest[stock] = (
                        max(dearest.get(stock, 0), amount * times) if exclusive else dearest.get(stock, 0) + amount * times
                    )
            for stock, amount in dearest.items():
                most[stock] = most.get(stock, 0) + amount
            self._most.append(most)
            self._sets.append(self._sets[-1] | {number for number, _ in groups})
        self._most.reverse()
        self._sets.reverse()

    def best(self, stock: tuple[int, ...], common: tuple[int, ...]) -> list[Mix]:
        """The mixes, fullest first."""
        if len(self._kinds) > _DEPTH // 2 or sum(self._cap) >= _TOTAL:
            raise TooManyMixes
        found = self._from(0, -1, 0, False, stock, common)
        return sorted(found, key=lambda mix: mix[0] % _TOTAL, reverse=True)

    def _from(self, kind: int, left: int, lowest: int, paid: bool, stock: tuple[int, ...], common: tuple[int, ...]) -> list[Mix]:
        """Mixes of the devices of `kind` (`left` of them, -1: all) for demands from `lowest` on, and of all kinds behind it."""
        if kind == len(self._kinds):
            return [(0, None)]
        most = self._most[kind]
        key = (
            kind,
            left,
            lowest,
            paid,
            tuple([min(stock[number], amount) for number, amount in most.items()]),
            tuple([common[number] for number in self._sets[kind]]),
        )
        known = self._memo.get(key)
        if known is not None:
            return known
        self._spend(_STEPS_OF_A_MIX)
        exclusive, count, price, groups, extras = self._kinds[kind]
        if left < 0:
            left = count
        found = list(self._from(kind + 1, -1, 0, False, stock, common))
        for place in range(lowest, self._lanes if left else 0):
            extra = extras[place]
            if extra is None:
                continue
            after, shared, now_paid, unit = list(stock), common, paid, 1 << (_LANE * place)
            for units in range(1, (min(left, self._cap[place]) if exclusive else self._cap[place]) + 1):
                short = False
                for number, amount in extra if now_paid else (*price, *extra):
                    after[number] -= amount
                    short = short or after[number] < 0
                if short:
                    break
                if groups and not now_paid:
                    narrowed = _joined(shared, groups)
                    if narrowed is None:
                        break
                    shared = narrowed
                now_paid = not exclusive
                rest = self._from(kind, left - units if exclusive else left, place + 1, now_paid, tuple(after), shared)
                for others, picks in rest:
                    total = self._capped(others + unit * units)
                    for _ in range(units):
                        picks = (place, kind, picks)
                    found.append((total, picks))
        best = self._memo[key] = self._upper(found)
        return best

    def _capped(self, units: int) -> int:
        return _less(self._caps, _less(self._caps, units, self._high), self._high)

    def _upper(self, mixes: list[Mix]) -> list[Mix]:
        """Those that are not below (or equal to) another."""
        if len(mixes) == 1:
            return mixes
        best: list[Mix] = []
        high = self._high
        by_units: dict[int, Mix] = {}
        for mix in mixes:
            by_units.setdefault(mix[0], mix)
        self.seen += len(by_units)
        if self.seen > _MOST_MIXES:
            raise TooManyMixes
        kept: list[int] = []
        for units in sorted(by_units, key=_TOTAL.__rmod__, reverse=True):
            for other in kept:
                if (other - units) & high == high:
                    break
            else:
                kept.append(units | high)
                best.append(by_units[units])
        self._spend(len(by_units) + (len(by_units) * len(best) >> 5))
        return best


class Selection:
    """One mix of each component, so that what is left over can be served by single devices."""

    def __init__(
        self, mixes: Sequence[list[Mix]], needs: Sequence[int], counts: dict[int, int], spend: Callable[[int], None]
    ) -> None:
        self._mixes = mixes
        self._lanes = len(needs)
        self._high = _high(self._lanes)
        self._needs = sum(need << (_LANE * place) for place, need in enumerate(needs))
        self._counts = counts
        self._spend = spend
        self._flows: dict[int, bool] = {}
        supply = [0] * self._lanes
        for serves, count in counts.items():
            for place in range(self._lanes):
                if serves >> place & 1:
                    supply[place] += count
        # What one unit takes of a component at least, as a share of it: a component gives no more than its best mix in such shares.
        # Equal components have one list of mixes.
        vectors = {id(each): [_unpacked(units, self._lanes) for units, _ in each] for each in {id(e): e for e in mixes}.values()}
        tallest = {of_list: [max(column) for column in zip(*each, strict=True)] for of_list, each in vectors.items()}
        largest = [max(column) for column in zip([0] * self._lanes, *tallest.values(), strict=True)]
        base = 1
        for most in set(largest):
            base *= most or 1
        self._weights = [[1] * self._lanes]
        if base < 1 << 60:
            self._weights.append([base // most if most else 0 for most in largest])
        self._supply: list[int] = [0] * (len(mixes) + 1)
        self._worth = [[0] * (len(mixes) + 1) for _ in self._weights]
        self._supply[-1] = sum(min(amount, 0x7FFF) << (_LANE * place) for place, amount in enumerate(supply))
        for number, weights in enumerate(self._weights):
            self._worth[number][-1] = sum(
                count * max((weights[place] for place in range(self._lanes) if serves >> place & 1), default=0)
                for serves, count in counts.items()
            )
        tops: dict[int, tuple[list[int], list[int]]] = {}
        for index in range(len(mixes) - 1, -1, -1):
            each = mixes[index]
            if id(each) not in tops:
                tops[id(each)] = (
                    tallest[id(each)],
                    [max([_weighed(weights, vector) for vector in vectors[id(each)]]) for weights in self._weights],
                )
            most, worths = tops[id(each)]
            supply = [min(amount + more, 0x7FFF) for amount, more in zip(supply, most, strict=True)]
            self._supply[index] = sum(amount << (_LANE * place) for place, amount in enumerate(supply))
            for number, worth in enumerate(worths):
                self._worth[number][index] = self._worth[number][index + 1] + worth

    def choose(self) -> tuple[list[Mix], list[int]] | None:
        """The mixes chosen and the needs that are left for single devices; None if no choice serves all."""
        failed: set[tuple[int, int]] = set()
        path: list[Mix] = []
        if not self._promising(0, self._needs):
            return None
        stack = [(self._needs, iter(self._options(0, self._needs)))]
        while stack:
            index = len(stack) - 1
            left, options = stack[-1]
            if index == len(self._mixes) or not left:
                if self._served(left):
                    return path, _unpacked(left, self._lanes)
                failed.add((index, left))
                stack.pop()
                if path:
                    path.pop()
                continue
            for after, mix in options:
                if (index + 1, after) not in failed and self._promising(index + 1, after):
                    self._spend(_STEPS_OF_A_MIX)
                    path.append(mix)
                    options_after = self._options(index + 1, after) if index + 1 < len(self._mixes) else []
                    stack.append((after, iter(options_after)))
                    break
            else:
                failed.add((index, left))
                stack.pop()
                if path:
                    path.pop()
        return None

    def _options(self, index: int, left: int) -> list[tuple[int, Mix]]:
        """What is left after each mix of a component, the least first; what leaves more than another in everything is no option."""
        after: dict[int, Mix] = {}
        for mix in self._mixes[index]:
            after.setdefault(_less(left, mix[0], self._high), mix)
        weights = self._weights[-1]
        ordered = sorted(after, key=lambda each: _weighed(weights, _unpacked(each, self._lanes)))
        kept: list[int] = []
        for each in ordered:
            if not any(((each | self._high) - other) & self._high == self._high for other in kept):
                kept.append(each)
        return [(each, after[each]) for each in kept]

    def _promising(self, index: int, left: int) -> bool:
        if ((self._supply[index] | self._high) - left) & self._high != self._high:
            return False
        vector = _unpacked(left, self._lanes)
        return all(_weighed(weights, vector) <= self._worth[number][index] for number, weights in enumerate(self._weights))

    def _served(self, left: int) -> bool:
        if not left:
            return True
        known = self._flows.get(left)
        if known is None:
            needs = _unpacked(left, self._lanes)
            known = self._flows[left] = Flow(self._lanes, self._counts).route(needs) is not None
        return known


class OneByOne:
    """Devices of components one after the other: whom each serves, so that single devices can serve what is left over."""

    def __init__(
        self,
        parts: Sequence[tuple[list[Kind], list[list[int]], tuple[int, ...], tuple[int, ...]]],
        needs: Sequence[int],
        counts: dict[int, int],
        spend: Callable[[int], None],
    ) -> None:
        self._parts = parts
        self._needs = needs
        self._counts = counts
        self._spend = spend
        self._lanes = len(needs)
        self._high = _high(self._lanes)
        self._kinds = [(part, number, kind) for part, each in enumerate(parts) for number, kind in enumerate(each[0])]
        self._failed: set[object] = set()
        self._served: dict[tuple[int, int], bool] = {}
        self._limits = {
            part + 1: limit for part, (kinds, _, stock, _) in enumerate(parts) if (limit := bounds_of(kinds, stock)[1]) >= 0
        }
        # From each kind on: who could be served by how many devices, and which stocks still matter.
        self._behind: list[dict[int, int]] = [dict(counts)]
        self._relevant: list[dict[int, int]] = [{}]
        later = -1
        for part, _, (exclusive, count, price, _, extras) in reversed(self._kinds):
            behind, relevant = dict(self._behind[-1]), dict(self._relevant[-1]) if part == later else {}
            serves = _serves(extras)
            units = count if exclusive else sum(need for place, need in enumerate(needs) if serves >> place & 1)
            group = serves | (part + 1) << self._lanes
            behind[group] = behind.get(group, 0) + units
            for stock, amount in price:
                relevant[stock] = relevant.get(stock, 0) + amount * (count if exclusive else 1)
            for place, extra in enumerate(extras):
                for stock, amount in extra or ():
                    relevant[stock] = relevant.get(stock, 0) + amount * min(needs[place], count if exclusive else needs[place])
            self._behind.append(behind)
            self._relevant.append(relevant)
            later = part
        self._behind.reverse()
        self._relevant.reverse()
        order = sorted(
            range(self._lanes), key=lambda place: sum(n for s, n in self._behind[0].items() if s >> place & 1) - needs[place]
        )
        self._order = order

    def found(self) -> tuple[list[tuple[int, int, int]], list[int]] | None:
        """(part, demand, kind) of each device, and what is left for single devices; None if there is no way."""
        if len(self._kinds) + sum(self._needs) > _DEPTH:
            raise TooIntricate
        packed = sum(need << (_LANE * place) for place, need in enumerate(self._needs))
        picks: list[tuple[int, int, int]] = []
        left = self._serve(0, packed, picks)
        return None if left is None else (picks, _unpacked(left, self._lanes))

    def _serve(self, at: int, left: int, picks: list[tuple[int, int, int]]) -> int | None:
        """Serve from a kind on that begins a part; what is left for single devices, or None."""
        if at == len(self._kinds) or not left:
            return left if self._possible(len(self._kinds), left) else None
        _, _, stock, common = self._parts[self._kinds[at][0]]
        return self._go_on(at, self._kinds[at][2][1], 0, False, left, stock, common, picks)

    def _go_on(
        self,
        at: int,
        devices: int,
        lowest: int,
        paid: bool,
        left: int,
        stock: tuple[int, ...],
        common: tuple[int, ...],
        picks: list[tuple[int, int, int]],
    ) -> int | None:
        """Serve with `devices` of a kind, for demands from `lowest` (in order of scarcity) on, and with the kinds behind it."""
        if not lowest and not self._possible(at, left):
            return None
        key = (at, devices, lowest, paid, left, tuple([min(stock[s], most) for s, most in self._relevant[at].items()]), common)
        if key in self._failed:
            return None
        self._spend(_STEPS_OF_A_MIX)
        part, number, (exclusive, _, price, groups, extras) = self._kinds[at]
        for rank in range(lowest, self._lanes if devices else 0):
            place = self._order[rank]
            extra = extras[place]
            if extra is None or not left >> (_LANE * place) & 0xFFFF:
                continue
            after, shared = list(stock), common
            for each, amount in extra if paid else (*price, *extra):
                after[each] -= amount
            if min(after, default=0) < 0:
                continue
            if groups and not paid:
                narrowed = _joined(common, groups)
                if narrowed is None:
                    continue
                shared = narrowed
            picks.append((part, place, number))
            rest = self._go_on(
                at, devices - exclusive, rank, not exclusive, left - (1 << (_LANE * place)), tuple(after), shared, picks
            )
            if rest is not None:
                return rest
            picks.pop()
        behind = at + 1
        if behind < len(self._kinds) and self._kinds[behind][0] == part:
            rest = self._go_on(behind, self._kinds[behind][2][1], 0, False, left, stock, common, picks)
        else:
            rest = self._serve(behind, left, picks)
        if rest is None:
            self._failed.add(key)
        return rest

    def _possible(self, at: int, left: int) -> bool:
        """Whether the kinds from `at` on could serve what is left if they shared nothing."""
        known = self._served.get((at, left))
        if known is None:
            self._spend(STEPS_OF_A_FLOW)
            needs = _unpacked(left, self._lanes)
            known = self._served[at, left] = not left or Flow(self._lanes, self._behind[at], self._limits).route(needs) is not None
        return known


def _serves(extras: Sequence[Cost | None]) -> int:
    """The demands that a kind of device could serve, a bit each."""
    return sum([1 << place for place, extra in enumerate(extras) if extra is not None])


def _joined(common: tuple[int, ...], groups: Sequence[tuple[int, int]]) -> tuple[int, ...] | None:
    """What sets of groups have in common once a device is in them; None if one is left with nothing."""
    narrowed = list(common)
    for number, bits in groups:
        narrowed[number] &= bits
    return tuple(narrowed) if all(narrowed[number] for number, _ in groups) else None


def bounds_of(kinds: Sequence[Kind], stock: Sequence[int]) -> tuple[dict[int, int], int]:
    """How many devices of a component could serve which demands (-1: as many as it takes), and the most units it gives."""
    by_serves: dict[int, int] = {}
    for exclusive, count, _, _, extras in kinds:
        serves = _serves(extras)
        before = by_serves.get(serves, 0)
        by_serves[serves] = before + count if exclusive and before >= 0 else -1
    limit = -1
    for number, amount in enumerate(stock):
        draws: list[int] = []
        repeated = -1
        for exclusive, count, price, _, extras in kinds:
            extra = min([sum([a for s, a in each if s == number]) for each in extras if each is not None])
            if exclusive:
                draws += [extra + sum([a for s, a in price if s == number])] * count
            else:
                repeated = extra if repeated < 0 else min(repeated, extra)
        if not repeated:
            continue
        units, left = 0, amount
        for draw in sorted(draws):
            if draw > left or (0 < repeated <= draw):
                break
            units, left = units + 1, left - draw
        if repeated > 0:
            units += left // repeated
        limit = units if limit < 0 else min(limit, units)
    return by_serves, limit


def in_order(kinds: Iterable[tuple[Kind, list[int]]]) -> list[tuple[Kind, list[int]]]:
    """The kinds by the stocks that tell them apart, so that neighbours follow each other and what lies behind can be forgotten."""
    listed = list(kinds)
    users: dict[int, int] = {}
    touched = [
        sorted({stock for stock, _ in kind[2]} | {stock for extra in kind[4] if extra is not None for stock, _ in extra})
        for kind, _ in listed
    ]
    for stocks in touched:
        for stock in stocks:
            users[stock] = users.get(stock, 0) + 1
    keys = [[stock for stock in stocks if users[stock] < len(listed)] for stocks in touched]
    return [listed[place] for place in sorted(range(len(listed)), key=keys.__getitem__)]


def rounded(need: int) -> int:
    """The next power of two: mixes worked out for a need serve the smaller ones, too."""
    return 1 << (need - 1).bit_length() if need else 0


def _high(lanes: int) -> int:
    return sum(1 << (_LANE * place + _LANE - 1) for place in range(lanes))


def _less(left: int, taken: int, high: int) -> int:
    """`left` minus `taken` lane by lane, nothing where that would be negative."""
    difference = (left | high) - taken
    kept = difference & high
    return difference & (kept - (kept >> (_LANE - 1)))


def _weighed(weights: Sequence[int], vector: Sequence[int]) -> int:
    return sum(map(mul, weights, vector))


def _unpacked(units: int, lanes: int) -> list[int]:
    return [units >> (_LANE * place) & 0xFFFF for place in range(lanes)]
