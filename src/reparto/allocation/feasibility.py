"""The first solution of an instance, found by asking at every step whether the rest can still be completed.

The walk of `search` tries devices in order and finds out late that a choice was wrong. Here each choice is tested first: an
alternative or a device is taken if, with it, *some* completion exists, in whatever order. The first choice that passes is the one
that the walk would have come back with, for all earlier ones lead nowhere. Since the test gives a whole completion, most later
choices need no test of their own: a device that the completion uses, or that can stand for one it uses, passes.

Whether a completion exists is found by settling the scarcest thing first: what must agree (values of matchAttribute), then which
alternatives are taken, each narrowing what is possible for the others until something is short; what is left is an assignment of
devices.

Source: upstream-dra.md 3.5 for what is first; nothing else here is upstream's.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from reparto.allocation.assignment import Assignments, Demand, State, twin_key
from reparto.allocation.instance import Instance, Way, positions_of
from reparto.allocation.requests import MAX_DEVICES
from reparto.allocation.setting import Picked

_STEPS_OF_A_CHOICE: Final = 40
"""What is counted as steps for settling one thing: a step is what the walk of `search` takes for a device."""

Order: TypeAlias = Callable[[Sequence[Picked]], Sequence[int] | None]
"""The order of positions for the alternative that stands last, without positions yet; None for the order of the numbers."""


@dataclass(slots=True)
class _Option:
    """One way that an open request may still go: `need` more units from the positions of `mask`."""

    way: Way
    need: int
    mask: int


_Open: TypeAlias = tuple[int, list[_Option]]
"""A request, by its place in the instance, and its options."""
_Likeness: TypeAlias = tuple[int, int]
"""(-1, positions told apart by nothing) where nothing is shared, else (form of the component, place in it)."""
_Completion: TypeAlias = dict[int, tuple[Way, list[int]]]
"""For each open request the way that it goes and the positions that it takes."""


class Completion:
    """Solves one instance. `spend` is told of every step, and may raise to end the whole.

    Cost: polynomial in devices, requests and alternatives where devices share nothing, no request has a choice and no
    matchAttribute several values; otherwise what proofs do not settle is a search over alternatives, values and mixes of
    components, never over single devices that are alike.
    """

    def __init__(self, instance: Instance, spend: Callable[[int], None]) -> None:
        self._instance = instance
        self._spend = spend
        self._assignments = Assignments(instance, spend)
        self._narrowed: dict[tuple[int, int, int], int] = {}
        self._hopeless: set[object] = set()
        self._blamed: set[int] = set()
        self._crowded: dict[int, set[int]] = {}
        self._bound_by: list[set[int]] = [
            {place for place, ways in enumerate(instance.requests) if any(match in way.matches for way in ways)}
            for match in range(len(instance.agreed))
        ]
        self._apart_within = sorted({each for ways in instance.requests for way in ways for each in way.apart})
        self._refuted: dict[object, tuple[list[tuple[State, _Likeness]], set[int]]] = {}

    def first(self, order: Order) -> list[Picked] | None:
        """The solution that comes first by alternatives and devices, requests in order; None if there is none."""
        state, rooms, rest, completion = self._begin()
        if completion is None:
            return None
        picked: list[Picked] = []
        while rest:
            (place, options), rest = rest[0], rest[1:]
            for option in options:
                chosen = _Option(option.way, option.need, option.mask)
                if completion[place][0] is option.way:
                    break
                other = self._complete(state, rooms, [(place, [chosen]), *rest])
                if other is not None:
                    completion = other
                    break
            else:
                raise AssertionError("a completion goes one of the ways it was made from")
            way = chosen.way
            begun = Picked(way.claim, way.request, way.choice, ())
            if way.every:
                positions = positions_of(way.mask)
                for position in positions:
                    state = self._taken(state, way, position)
            else:
                sequence = order([*picked, begun]) if way.need else None
                state, completion, positions = self._devices(state, rooms, place, way, rest, completion, sequence)
            rooms = list(rooms)
            rooms[way.claim] -= way.need
            picked.append(begun._replace(positions=tuple(positions)))
        return picked

    def _begin(self) -> tuple[State, list[int], list[_Open], _Completion | None]:
        instance, state = self._instance, self._assignments.start()
        rooms = [MAX_DEVICES] * (max((way.claim for ways in instance.requests for way in ways), default=0) + 1)
        rest: list[_Open] = [
            (place, [_Option(way, way.need, way.mask) for way in ways]) for place, ways in enumerate(instance.requests)
        ]
        return state, rooms, rest, self._complete(state, rooms, rest)

    def _devices(
        self,
        state: State,
        rooms: list[int],
        place: int,
        way: Way,
        rest: list[_Open],
        completion: _Completion,
        sequence: Sequence[int] | None,
    ) -> tuple[State, _Completion, list[int]]:
        """The first devices of one request with which the rest can be completed."""
        positions: list[int] = []
        # What led nowhere once leads nowhere later, and neither for a later request that asks for just the same.
        hopeless, refused = self._refuted.setdefault(self._twins(way), ([], set()))
        exclusive = self._instance.exclusive
        candidates = iter(positions_of(way.mask) if sequence is None else [p for p in sequence if way.mask >> p & 1])
        while len(positions) < way.need:
            for position in candidates:
                used = position in completion[place][1]
                if not used and (position in refused or (exclusive >> position & 1 and not state.free >> position & 1)):
                    continue
                # To take a device of a component is dear, to take another one cheap: the cheaper test goes first.
                after = None
                if self._assignments.simple >> position & 1 and (after := self._assignments.take(state, way, position)) is None:
                    continue
                likeness = self._likeness(state, position) if not used else None
                if likeness is not None and self._is_among(hopeless, position, likeness):
                    refused.add(position)
                    continue
                if after is None and (after := self._assignments.take(state, way, position)) is None:
                    continue
                if likeness is not None:
                    if not self._exchange(state, completion, place, position, likeness):
                        mine = _Option(way, way.need - len(positions) - 1, way.mask)
                        other = self._complete(after, rooms, [(place, [mine]), *rest])
                        if other is None:
                            hopeless.append((state, likeness))
                            refused.add(position)
                            continue
                        other[place][1].append(position)
                        completion = other
                completion[place][1].remove(position)
                positions.append(position)
                state = after
                break
            else:
                raise AssertionError("a completion has devices for all that is needed")
        return state, completion, positions

    def _twins(self, way: Way) -> object:
        """Equal for ways of requests that could exchange any two of their devices."""
        if way.mask & ~self._instance.exclusive:
            return way.number
        return twin_key(way)

    # --- likeness -----------------------------------------------------------------------------------------------------------------

    def _likeness(self, state: State, position: int) -> _Likeness:
        """Equal for positions that can stand for each other: what is true of one of them is true of the other."""
        assignments = self._assignments
        if assignments.simple >> position & 1:
            return -1, assignments.atom_of(position)
        number = assignments.component_of[position]
        return assignments.form(number, state), assignments.place_of[position]

    def _is_among(self, refuted: Sequence[tuple[State, _Likeness]], position: int, likeness: _Likeness) -> bool:
        """Whether the position was like one that was refuted, at the time."""
        if likeness[0] < 0:
            return any(unlike == likeness for _, unlike in refuted)
        return any(self._likeness(before, position) == unlike for before, unlike in refuted)

    def _exchange(self, state: State, completion: _Completion, place: int, position: int, likeness: _Likeness) -> bool:
        """Make the completion use the position for the request, if one that it uses is like it."""
        assignments = self._assignments
        for other in completion[place][1]:
            if self._likeness(state, other) != likeness:
                continue
            if likeness[0] < 0:
                swapped = {position: other, other: position}
            else:
                mine = assignments.components[assignments.component_of[position]].positions
                theirs = assignments.components[assignments.component_of[other]].positions
                swapped = dict(zip([*mine, *theirs], [*theirs, *mine], strict=True))
            for _, used in completion.values():
                used[:] = [swapped.get(each, each) for each in used]
            return True
        return False

    def _taken(self, state: State, way: Way, position: int) -> State:
        after = self._assignments.take(state, way, position)
        assert after is not None, "a completion takes what can be taken"
        return after

    # --- completions --------------------------------------------------------------------------------------------------------------

    def _complete(self, state: State, rooms: Sequence[int], opened: Sequence[_Open]) -> _Completion | None:
        """Some way to serve the open requests after what is taken, or None if there is none."""
        self._spend(_STEPS_OF_A_CHOICE)
        key = (
            state.free & self._assignments.simple,
            state.version,
            tuple(state.agreed),
            tuple([(place, tuple([(option.way.number, option.need) for option in options])) for place, options in opened]),
        )
        if key in self._hopeless:
            return None
        agreed = list(state.agreed)
        usable = state.free | ~self._instance.exclusive
        narrowed = [
            (place, [_Option(each.way, each.need, self._within(each.way, agreed) & usable) for each in options])
            for place, options in opened
        ]
        completion = self._settle(state, rooms, agreed, narrowed)
        if completion is None:
            self._hopeless.add(key)
        return completion

    def _settle(self, state: State, rooms: Sequence[int], agreed: list[int], opened: list[_Open]) -> _Completion | None:
        """Settle values and alternatives one after the other, the scarcest first. Changes `agreed` and `opened`.

        After None `_blamed` holds the requests that are enough to make it impossible: what is settled for others does not matter.
        """
        self._spend(_STEPS_OF_A_CHOICE)
        if not self._narrow(rooms, agreed, opened):
            return None
        scarcest: tuple[int, int, int] | None = None
        for match, values in enumerate(agreed):
            if values & (values - 1) and any(
                option.need and match in option.way.matches for _, options in opened for option in options
            ):
                scarcest = min(scarcest or (values.bit_count(), 0, match), (values.bit_count(), 0, match))
        for index, (_, options) in enumerate(opened):
            if len(options) > 1:
                scarcest = min(scarcest or (len(options), 1, index), (len(options), 1, index))
        demands = [_demand(options) for _, options in opened]
        if scarcest is None:
            assigned = self._assignments.assign(state, demands)
            if assigned is None:
                self._blame_short(opened)
                return None
            return {place: (options[0].way, units) for (place, options), units in zip(opened, assigned, strict=True)}
        if not self._assignments.possible(state, demands):
            self._blame_short(opened)
            return None
        _, kind, number = scarcest
        blamed: set[int] = set()
        if kind == 0:
            bound = self._bound_by[number]
            for value in _values(agreed[number]):
                completion = self._settle(state, rooms, *_with_value(agreed, opened, number, value))
                if completion is not None or self._blamed.isdisjoint(bound):
                    return completion
                blamed |= self._blamed
            self._blame(blamed | bound)
            return None
        for option in opened[number][1]:
            branch = [
                (place, [_Option(each.way, each.need, each.mask) for each in (options if index != number else [option])])
                for index, (place, options) in enumerate(opened)
            ]
            completion = self._settle(state, rooms, list(agreed), branch)
            if completion is not None or opened[number][0] not in self._blamed:
                return completion
            blamed |= self._blamed
        self._blame(blamed)
        return None

    def _blame_short(self, opened: Sequence[_Open]) -> None:
        short = self._assignments.short
        self._blame([place for index, (place, _) in enumerate(opened) if short is None or index in short])

    def _blame(self, places: Iterable[int]) -> None:
        """Blame these requests, and those whose options decide with theirs, by a matchAttribute or by the size of the claim."""
        blamed = set(places)
        while True:
            more = set(blamed)
            for bound in (*self._bound_by, *self._crowded.values()):
                if not blamed.isdisjoint(bound):
                    more |= bound
            if more == blamed:
                break
            blamed = more
        self._blamed = blamed

    def _narrow(self, rooms: Sequence[int], agreed: list[int], opened: list[_Open]) -> bool:
        """Drop options and values that cannot be part of a completion, until none is left to drop; False if a request has none."""
        changed = True
        while changed:
            changed = False
            for place, options in opened:
                kept = [option for option in options if _most(option, option.mask) >= option.need]
                if not kept:
                    self._blame((place,))
                    return False
                if len(kept) > 1:
                    kept = _undominated(kept)
                if len(kept) < len(options):
                    options[:] = kept
                    changed = True
            left = list(rooms)
            for _, options in opened:
                left[options[0].way.claim] -= min(option.way.need for option in options)
            for _, options in opened:
                claim, least = options[0].way.claim, min(option.way.need for option in options)
                if left[claim] < 0:
                    self._crowd(claim)
                    self._blame(self._crowded[claim])
                    return False
                kept = [option for option in options if option.way.need - least <= left[claim]]
                if len(kept) < len(options):
                    self._crowd(claim)
                    options[:] = kept
                    changed = True
            for match, values in enumerate(agreed):
                if not values:
                    # No device has the attribute, so those that need one have been found to be short already.
                    continue
                viable, bound = values, self._bound_by[match]
                for place, options in opened:
                    if place not in bound:
                        continue
                    supported = 0
                    kept: list[_Option] = []
                    for option in options:
                        support = _support(option, match, values)
                        if support:
                            kept.append(option)
                        supported |= support
                    if not kept:
                        self._blame((place,))
                        return False
                    if len(kept) < len(options):
                        options[:] = kept
                        changed = True
                    viable &= supported
                if viable and self._apart_within:
                    viable = self._with_enough_apart(match, viable, opened)
                if not viable:
                    self._blame(self._bound_by[match])
                    return False
                if viable != values:
                    agreed[match] = viable
                    changed = True
                    for _, options in opened:
                        for option in options:
                            if match in option.way.matches:
                                option.mask &= self._of_values(option.way, match, viable)
        return True

    def _with_enough_apart(self, match: int, values: int, opened: Sequence[_Open]) -> int:
        """The values of a matchAttribute with enough devices that differ where they must, counting requests together."""
        for apart in self._apart_within:
            needed, masks = 0, list[tuple[int, Way]]()
            for _, options in opened:
                if all(option.need and match in option.way.matches and apart in option.way.apart for option in options):
                    needed += min(option.need for option in options)
                    masks += [(option.mask, option.way) for option in options]
            if needed < 2:
                continue
            for value in _values(values):
                within = [(mask & way.matches[match].get(value, 0), way) for mask, way in masks]
                found = {each for mask, way in within for each, positions in way.apart[apart].items() if positions & mask}
                if len(found) < needed:
                    values &= ~value
        return values

    def _crowd(self, claim: int) -> None:
        """The requests of a claim decide together: it may not hold what all of them would like."""
        if claim not in self._crowded:
            self._crowded[claim] = {place for place, ways in enumerate(self._instance.requests) if ways[0].claim == claim}

    def _within(self, way: Way, agreed: Sequence[int]) -> int:
        """The positions of a way that have one of the values that are still possible, for each matchAttribute."""
        mask = way.mask
        for match in way.matches:
            if agreed[match] != self._instance.agreed[match]:
                mask &= self._of_values(way, match, agreed[match])
        return mask

    def _of_values(self, way: Way, match: int, values: int) -> int:
        key = (way.number, match, values)
        mask = self._narrowed.get(key)
        if mask is None:
            mask = 0
            for value, positions in way.matches[match].items():
                if value & values:
                    mask |= positions
            self._narrowed[key] = mask
        return mask


def _demand(options: Sequence[_Option]) -> Demand:
    """What a request needs at least, whichever way it goes."""
    if len(options) == 1:
        return Demand(options[0].mask, options[0].need, options[0].way)
    mask = 0
    for option in options:
        mask |= option.mask
    return Demand(mask, min(option.need for option in options), None)


def _most(option: _Option, mask: int) -> int:
    """How many devices of `mask` the option could take at once at the most, by their number and by the values that must differ."""
    most = mask.bit_count()
    if most > 1:
        for values in option.way.apart.values():
            differing = sum(1 for positions in values.values() if positions & mask)
            most = min(most, differing)
    return most


def _support(option: _Option, match: int, values: int) -> int:
    """The values in which all devices of an option could agree; all if it is not about them."""
    if not option.need or match not in option.way.matches:
        return -1
    support = 0
    for value, positions in option.way.matches[match].items():
        if value & values and _most(option, option.mask & positions) >= option.need:
            support |= value
    return support


def _with_value(agreed: Sequence[int], opened: Sequence[_Open], match: int, value: int) -> tuple[list[int], list[_Open]]:
    settled = list(agreed)
    settled[match] = value
    return settled, [
        (
            place,
            [
                _Option(
                    each.way,
                    each.need,
                    each.mask & each.way.matches[match].get(value, 0) if match in each.way.matches else each.mask,
                )
                for each in options
            ],
        )
        for place, options in opened
    ]


def _undominated(options: list[_Option]) -> list[_Option]:
    """The options without those for which another one always could be taken."""
    union = total = 0
    for option in options:
        union |= option.mask
        total += option.mask.bit_count() or len(options)
    if union.bit_count() == total:
        # None holds what another one does, unless it holds nothing.
        return options
    kept: list[_Option] = []
    for option in options:
        if not any(_stands_for(other, option) for other in kept):
            kept = [other for other in kept if not _stands_for(option, other)]
            kept.append(option)
    return kept


def _stands_for(option: _Option, other: _Option) -> bool:
    if option.need > other.need or option.way.need > other.way.need or other.mask & ~option.mask:
        return False
    if option.way.profile != other.way.profile:
        return False
    for match, values in option.way.matches.items():
        theirs = other.way.matches.get(match)
        if theirs is None or any(other.mask & positions & ~values.get(value, 0) for value, positions in theirs.items()):
            return False
    return True


def _values(mask: int) -> Iterable[int]:
    while mask:
        low = mask & -mask
        yield low
        mask ^= low
