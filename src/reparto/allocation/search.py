"""The search: the first combination of devices that satisfies all claims, in upstream's order, within a budget.

Depth first. Claims, requests and devices are taken in order, an alternative is explored together with everything that follows
before the next alternative is, and within one request only combinations are tried, never permutations. The first complete solution
is the answer; nothing is scored. That is how nearly every question is settled, and errors are met just where upstream meets them.

A search that has to give devices back again and again is heading for upstream's exponential cases. It writes the whole attempt down
as an `Instance`, and `Completion` finds the same answer by proofs, symmetry and memory. Where an error may lurk in what the
search has not seen yet, it goes on step by step. In any case it keeps its own stack, so neither 32 devices nor many claims meet an
interpreter limit, and counts its steps, so it ends: with an answer, or with `GaveUp`.

Source: upstream-dra.md 3.5 and 3.8.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Literal, TypeAlias

from reparto.allocation import compatibility, constraints
from reparto.allocation.capacity import Draw
from reparto.allocation.compatibility import CommonGroups
from reparto.allocation.constraints import Constraint
from reparto.allocation.counters import CounterName, CounterUse
from reparto.allocation.errors import AllocationError, FailureKind, GaveUp
from reparto.allocation.feasibility import Completion
from reparto.allocation.instance import Instance, written_down
from reparto.allocation.inventory import PublishedDevice
from reparto.allocation.mixes import TooIntricate
from reparto.allocation.pools import Pool
from reparto.allocation.proofs import proof_of
from reparto.allocation.requests import MAX_DEVICES, PreparedClaim
from reparto.allocation.results import Choice, Pick
from reparto.allocation.selectors import texts_of
from reparto.allocation.setting import (
    Answer,
    Candidate,
    Picked,
    Requested,
    Setting,
    attribute_of,
    capacity_draw,
    may_skip_node_operations,
)
from reparto.allocation.state import PoolID
from reparto.allocation.taints import untolerated

_LEAST_STEPS: Final = 64
_STEP_IN_LOOKS: Final = 12
"""A step of the walk costs as much as writing down some devices for an alternative. Walking on is cheaper up to the product."""

_SCREENED_FROM: Final = 256
"""Devices, times requests, from which on it pays to remember which devices were refused."""

_NOTHING: Mapping[str, int] = {}

Preference: TypeAlias = Callable[[Requested, Sequence[Candidate], "Search"], Sequence[int]]
"""In which order candidates (by position) are tried for an alternative that is begun now. Positions left out come last."""


@dataclass(frozen=True, slots=True)
class Solution:
    """One claim's part of the solution."""

    choices: list[Choice]
    picks: list[Pick]


@dataclass(slots=True, eq=False)
class Taken:
    """A device that the attempt holds now. `share` is what it draws of a device that allows several allocations, else None."""

    claim: int
    alternative: Requested
    pool: Pool
    record: PublishedDevice
    share: Draw | None


@dataclass(slots=True, eq=False)
class _Screen:
    """Which devices the same selectors have let pass, for all requests that ask them.

    All places before `end` that are not in `places` (ascending) are refused. Of those in it, `passed` marks the ones that have
    passed; the others were held when they were met, and nobody asks about such a device before it is free.
    """

    passed: bytearray
    places: list[int] = field(default_factory=list[int])
    end: int = 0

    def ahead(self, start: int) -> Iterator[int]:
        """The places from `start` on without the refused ones; whoever gets one says so if it is refused."""
        places = self.places
        following = bisect_left(places, start)
        while following < len(places):
            place = places[following]
            yield place
            following = following + 1 if following < len(places) and places[following] == place else following
        # A walk that begins behind the end, after picks, has not seen what lies between.
        for place in range(max(start, self.end), len(self.passed)):
            if place == self.end:
                places.append(place)
                self.end += 1
            yield place

    def refuse(self, place: int) -> None:
        """The latest place is not for those who ask these selectors."""
        if self.places and self.places[-1] == place:
            self.places.pop()


class _Way:
    """An alternative with what the search asks of it again and again."""

    __slots__ = ("alternative", "binding", "class_origin", "class_selectors", "origin", "screen", "selectors")

    def __init__(self, alternative: Requested, binding: Sequence[Constraint], screen: _Screen | None) -> None:
        self.alternative = alternative
        self.binding = binding
        self.screen = screen
        self.class_selectors = alternative.device_class.spec.selectors
        self.selectors = alternative.source.selectors
        self.class_origin = alternative.class_origin
        self.origin = alternative.request_origin


class _AlternativeFrame:
    """Frame: a request with `firstAvailable`, and the alternative that is being explored."""

    __slots__ = ("all_too_many", "chosen", "claim", "request")

    def __init__(self, claim: int, request: int) -> None:
        self.claim, self.request = claim, request
        self.chosen = -1
        self.all_too_many = True


class _DeviceFrame:
    """Frame: one device of one request, where the next one is looked for, and from where on the trail is its own."""

    __slots__ = ("choice", "claim", "mark", "order", "picked", "position", "request", "way")

    def __init__(
        self,
        claim: int,
        request: int,
        choice: int,
        way: _Way,
        picked: int,
        position: int,
        order: Sequence[int] | None,
        mark: int,
    ) -> None:
        self.claim, self.request, self.choice, self.way, self.picked = claim, request, choice, way, picked
        self.position, self.order, self.mark = position, order, mark


class _OutOfPatience(Exception):
    """The walk has gone back too often."""


class Unsettled(Exception):
    """The whole cannot be judged at once: only the walk meets errors where upstream meets them.

    `picks` are what the walk takes before it gets anywhere: all that it tries earlier leads nowhere, without an error.
    """

    def __init__(self, picks: Sequence[Picked] = ()) -> None:
        super().__init__()
        self.picks = picks


_Chosen: TypeAlias = Mapping[tuple[int, int], int]
"""The alternative of each request that has a choice, by (claim, request)."""

# What was changed, and what is needed to undo it.
_MARKED: Final = 0
_COUNTED: Final = 1
_GROUPED: Final = 2
_CONSTRAINED: Final = 3
_SHARED: Final = 4

_Change: TypeAlias = (
    tuple[Literal[0], int, tuple[int, ...]]
    | tuple[Literal[1], CounterUse, Mapping[CounterName, int]]
    | tuple[Literal[2], tuple[PoolID, str], CommonGroups | None]
    | tuple[Literal[3], Constraint, None]
    | tuple[Literal[4], int, Draw]
)


class Search:
    """One attempt to satisfy all claims on one node.

    `preference` says in which order devices are tried, request by request; without it they come as they are published. Any order
    finds a solution if there is one. `candidates` are the devices of the node in published order, `taken` what is held at the
    moment, in the order in which it was taken: both are for preferences to read.
    """

    def __init__(self, setting: Setting, claims: Sequence[PreparedClaim[Candidate]], preference: Preference | None = None) -> None:
        self._setting = setting
        self._features = setting.features
        self._claims = claims
        self._preference = preference
        self.candidates: list[Candidate] = [(pool, record) for pool in setting.pools if pool.usable for record in pool.devices]
        self.taken: list[Taken] = []
        self._ways: list[dict[tuple[int, int], _Way]] = [{} for _ in claims]
        self._constraints: list[list[Constraint] | None] = [None] * len(claims)
        self._held = [0] * len(claims)
        self._trail: list[_Change] = []
        self._holders: dict[int, tuple[int, ...]] = {}
        """Devices taken whole in this attempt, with the claims that took them: several only for admin access."""
        self._shares: dict[int, int] = {}
        self._provisional: dict[int, dict[str, int]] = {}
        self._counters: dict[PoolID, CounterUse] = {}
        self._groups: dict[tuple[PoolID, str], CommonGroups] = {}
        self._screened = len(self.candidates) * sum([len(each.requests) for each in claims]) >= _SCREENED_FROM
        self._screens: dict[object, _Screen] = {}
        self._steps = 0
        self._last_step = 0

    def run(self) -> list[Solution] | None:
        """The first solution, one part per claim, or None if there is none. Raises AllocationError, GaveUp included."""
        patience = self._setting.patience
        if patience is None:
            return self._solution(self._walk(None))
        if patience >= 0:
            try:
                return self._solution(self._walk(patience))
            except _OutOfPatience:
                self._clear()
        try:
            return self._solution(self._whole())
        except Unsettled as unsettled:
            self._clear()
            return self._solution(self._walk(None, unsettled.picks))

    # --- depth first --------------------------------------------------------------------------------------------------------------

    def _walk(self, patience: int | None, picks: Sequence[Picked] = ()) -> _Chosen | None:
        """Walk to the first solution, whose devices are then in `taken`, and say which alternatives it has; None if there is none.

        It begins behind `picks`. Raises _OutOfPatience when it has gone back more than `patience` times, or a long way since it did
        for the first time.
        """
        claims, budget, held = self._claims, self._setting.step_budget, self._held
        frames: list[_AlternativeFrame | _DeviceFrame | None] = []
        claim = request = choice = picked = position = 0
        order: Sequence[int] | None = None
        down, chosen, too_many, returns, last_step = True, False, False, 0, 0
        for picked_for in picks:
            self._resume(frames, picked_for)
            claim, request = picked_for.claim, picked_for.request + 1
        while True:
            # Down: look for what comes next, until everything is found or something is not.
            while down:
                self._steps += 1
                if self._steps > budget:
                    raise GaveUp(budget)
                if claim == len(claims):
                    return {(frame.claim, frame.request): frame.chosen for frame in frames if isinstance(frame, _AlternativeFrame)}
                requests = claims[claim].requests
                if request == len(requests):
                    frames.append(None)
                    claim, request, chosen = claim + 1, 0, False
                    continue
                if not chosen:
                    choice = picked = position = 0
                    if requests[request].has_choice:
                        frames.append(_AlternativeFrame(claim, request))
                        down = False
                        break
                    chosen = True
                alternative = requests[request].alternatives[choice]
                if alternative.every is not None and not alternative.every:
                    down = too_many = False
                elif picked >= alternative.need:
                    request, chosen = request + 1, False
                elif alternative.need - picked > MAX_DEVICES - held[claim]:
                    # The claim would hold more than it may, whichever devices are picked.
                    down, too_many = False, True
                else:
                    if not picked:
                        order = self._order(alternative)
                    way = self._way(claim, request, choice)
                    frame = _DeviceFrame(claim, request, choice, way, picked, position, order, len(self._trail))
                    if self._take_next(frame):
                        frames.append(frame)
                        picked, position = picked + 1, frame.position
                    else:
                        down = too_many = False
            # Up: to the latest choice that can be made differently.
            if not frames:
                return None
            top = frames[-1]
            if top is None:
                # A later claim that holds too many devices may hold fewer if this one is solved differently.
                too_many = False
            elif isinstance(top, _DeviceFrame):
                last_step = last_step or self._long_detour()
                self._give_back(top)
                returns += 1
                # Of the devices of mode All there is one choice only; and where too many are asked for, no other choice helps.
                if not too_many and top.way.alternative.every is None and self._take_next(top):
                    claim, request, choice, order = top.claim, top.request, top.choice, top.order
                    picked, position = top.picked + 1, top.position
                    down = chosen = True
            else:
                if top.chosen >= 0:
                    last_step = last_step or self._long_detour()
                    returns += 1
                    top.all_too_many = top.all_too_many and too_many
                top.chosen += 1
                if top.chosen < len(claims[top.claim].requests[top.request].alternatives):
                    claim, request, choice, picked, position = top.claim, top.request, top.chosen, 0, 0
                    down = chosen = True
                else:
                    too_many = top.all_too_many
            if not down:
                frames.pop()
            if patience is not None and returns and (returns > patience or self._steps > last_step):
                raise _OutOfPatience

    def _long_detour(self) -> int:
        """The step at which a detour that begins now has taken as long as writing the attempt down would."""
        alternatives = sum([len(request.alternatives) for each in self._claims for request in each.requests])
        return self._steps + max(_LEAST_STEPS, len(self.candidates) * alternatives // _STEP_IN_LOOKS)

    def _resume(self, frames: list[_AlternativeFrame | _DeviceFrame | None], picks: Picked) -> None:
        """Take what is picked for one request, with the frames that the walk would have come there with."""
        claim, request, choice, positions = picks
        # Claims before it have ended.
        frames += [None] * (claim - sum(1 for frame in frames if frame is None))
        if self._claims[claim].requests[request].has_choice:
            frame = _AlternativeFrame(claim, request)
            frame.chosen, frame.all_too_many = choice, False
            frames.append(frame)
        way = self._way(claim, request, choice)
        order = self._order(way.alternative) if positions else None
        for picked, position in enumerate(positions):
            start = position if order is None else order.index(position)
            frame = _DeviceFrame(claim, request, choice, way, picked, start, order, len(self._trail))
            if not self._take_next(frame) or frame.position != start + (way.alternative.every is None):
                raise AssertionError("what is picked can be taken")
            frames.append(frame)

    def _take_next(self, frame: _DeviceFrame) -> bool:
        """Take the first suitable device at or after the frame's position, which moves behind it."""
        way, claim, order, candidates = frame.way, frame.claim, frame.order, self.candidates
        alternative = way.alternative
        if alternative.every is not None:
            return self._take(claim, way, *alternative.every[frame.picked], must=True)
        admin, holders, consumable = alternative.admin_access, self._holders, self._features.consumable_capacity
        in_use, unmatched = self._setting.allocated.in_use, self._setting.selectors.first_unmatched
        budget, end, screen = self._setting.step_budget, len(candidates), way.screen if order is None else None
        for place in range(frame.position, end) if screen is None else screen.ahead(frame.position):
            pool, record = candidates[place if order is None else order[place]]
            self._steps += 1
            if self._steps > budget:
                raise GaveUp(budget)
            # Cheap tests first, and no test of a device in use: its selectors could fail, which would stop the pod.
            if admin:
                if claim in holders.get(record.number, ()):
                    continue
            elif record.number in holders or in_use(record.id, consumable):
                continue
            if screen is None or not screen.passed[place]:
                # `selectable`, written out with what the way keeps at hand: this is asked of every device on every node.
                if (
                    (record.device.binding_conditions and not self._features.device_binding_and_status)
                    or (way.class_selectors and unmatched(record, way.class_selectors, way.class_origin) is not None)
                    or (way.selectors and unmatched(record, way.selectors, way.origin) is not None)
                    or (record.selection is not None and not record.selection.matches(self._setting.node))
                ):
                    if screen is not None:
                        screen.refuse(place)
                    continue
                if screen is not None:
                    screen.passed[place] = 1
            if self._take(claim, way, pool, record, must=False):
                frame.position = place + 1
                return True
        frame.position = end
        return False

    def _order(self, alternative: Requested) -> Sequence[int] | None:
        if self._preference is None or alternative.every is not None:
            return None
        order = list(self._preference(alternative, self.candidates, self))
        if len(order) < len(self.candidates):
            named = set(order)
            order += [position for position in range(len(self.candidates)) if position not in named]
        return order

    def _way(self, claim: int, request: int, choice: int) -> _Way:
        ways = self._ways[claim]
        key = (request, choice)
        way = ways.get(key)
        if way is None:
            alternative = self._claims[claim].requests[request].alternatives[choice]
            name, parent = alternative.name, alternative.parent
            binding = [each for each in self._constraints_of(claim) if each.covers(name, parent)]
            way = ways[key] = _Way(alternative, binding, self._screen(alternative) if self._screened else None)
        return way

    def _screen(self, alternative: Requested) -> _Screen:
        question = texts_of(alternative.device_class.spec.selectors), texts_of(alternative.source.selectors)
        screen = self._screens.get(question)
        if screen is None:
            screen = self._screens[question] = _Screen(bytearray(len(self.candidates)))
        return screen

    def _constraints_of(self, claim: int) -> Sequence[Constraint]:
        known = self._constraints[claim]
        if known is None:
            made = [constraints.make(source, self._features.list_type_attributes) for source in self._claims[claim].constraints]
            known = self._constraints[claim] = [constraint for constraint in made if constraint is not None]
        return known

    # --- one device ---------------------------------------------------------------------------------------------------------------

    def _take(self, claim: int, way: _Way, pool: Pool, record: PublishedDevice, must: bool) -> bool:
        """Take a selectable device, or leave everything as it was.

        `must`: it is one of mode All, was not asked yet whether it is in use, and a violated constraint is an error, for there is
        no other device.
        """
        features, setting, number, alternative = self._features, self._setting, record.number, way.alternative
        if must and self._unavailable(claim, alternative, record):
            return False
        draw = None
        if features.consumable_capacity and (record.capacity or record.multi or alternative.capacity):
            draw = capacity_draw(setting.draws, alternative, record)
            # Upstream looks at the capacity first, except in mode All, where it is known to raise no error.
            if not must and (draw is None or not self._fits(draw, record)):
                return False
        if record.slice.spec.skip_node_operations and not may_skip_node_operations(setting, record):
            return False
        mark = len(self._trail)
        shareable = record.multi and features.consumable_capacity
        if record.device.consumes_counters:
            if not features.partitionable_devices:
                return False
            # A shared device pays for its counters once, with its first share.
            already_paid = shareable and (number in self._shares or setting.allocated.is_shared(record.id))
            if not already_paid and not self._draw_on_pool(pool, record):
                return False
        if (
            record.blocking_taints
            and features.device_taints
            and untolerated(record.blocking_taints, alternative.tolerations) is not None
        ):
            self._revert(mark)
            return False
        if way.binding and not self._satisfies_constraints(way, record, must):
            self._revert(mark)
            return False
        if must and draw is not None and not self._fits(draw, record):
            self._revert(mark)
            return False
        if shareable:
            assert draw is not None
            self._reserve(number, draw)
        else:
            before = self._holders.get(number, ())
            self._trail.append((_MARKED, number, before))
            self._holders[number] = (*before, claim)
        self.taken.append(Taken(claim, alternative, pool, record, draw if shareable else None))
        self._held[claim] += 1
        return True

    def _unavailable(self, claim: int, alternative: Requested, record: PublishedDevice) -> bool:
        """In use, as far as this request minds: admin access minds only the same claim."""
        holders = self._holders.get(record.number, ())
        if alternative.admin_access:
            return claim in holders
        return bool(holders) or self._setting.allocated.in_use(record.id, self._features.consumable_capacity)

    def _fits(self, draw: Draw, record: PublishedDevice) -> bool:
        return draw.fits(self._setting.allocated.consumed(record.id), self._provisional.get(record.number, _NOTHING))

    def _draw_on_pool(self, pool: Pool, record: PublishedDevice) -> bool:
        """Join the counter sets of the pool, and draw on its counters."""
        mark = len(self._trail)
        if self._features.compatibility_groups and not self._join_groups(pool, record):
            return False
        use = self._counters.get(pool.id)
        if use is None:
            use = self._counters[pool.id] = CounterUse(pool.counters_left(self._setting.allocated))
        demand = record.demand
        if use.short_of(demand) is not None:
            self._revert(mark)
            return False
        use.draw(demand)
        self._trail.append((_COUNTED, use, demand))
        return True

    def _join_groups(self, pool: Pool, record: PublishedDevice) -> bool:
        mark = len(self._trail)
        for consumption in record.device.consumes_counters:
            key = (pool.id, consumption.counter_set)
            before = self._groups.get(key)
            common = before if before is not None else pool.common_groups(self._setting.allocated).get(consumption.counter_set)
            declared = consumption.compatibility_groups
            if common is not None and not common.admits(declared):
                self._revert(mark)
                return False
            self._trail.append((_GROUPED, key, before))
            self._groups[key] = compatibility.first(declared) if common is None else common.joined_by(declared)
        return True

    def _satisfies_constraints(self, way: _Way, record: PublishedDevice, must: bool) -> bool:
        alternative = way.alternative
        lookup = partial(attribute_of, self._setting, alternative, record)
        for constraint in way.binding:
            if constraint.add(lookup):
                self._trail.append((_CONSTRAINED, constraint, None))
            elif must:
                raise AllocationError(
                    f"claim {alternative.claim}, request {alternative.name}: cannot add device {record} because a claim "
                    "constraint would not be satisfied",
                    kind=FailureKind.CONSTRAINT_ON_ALL,
                    claim=alternative.claim,
                    request=alternative.reference,
                    device=str(record),
                )
            else:
                return False
        return True

    def _reserve(self, number: int, draw: Draw) -> None:
        self._trail.append((_SHARED, number, draw))
        self._shares[number] = self._shares.get(number, 0) + 1
        held = self._provisional.setdefault(number, {})
        for name, amount in draw.amounts.items():
            held[name] = held.get(name, 0) + amount.nano

    def _give_back(self, frame: _DeviceFrame) -> None:
        self.taken.pop()
        self._held[frame.claim] -= 1
        self._revert(frame.mark)

    def _revert(self, mark: int) -> None:
        """Undo all changes after the mark, the latest first."""
        trail = self._trail
        while len(trail) > mark:
            change = trail.pop()
            if change[0] == _MARKED:
                _, number, before = change
                if before:
                    self._holders[number] = before
                else:
                    del self._holders[number]
            elif change[0] == _COUNTED:
                change[1].give_back(change[2])
            elif change[0] == _CONSTRAINED:
                change[1].remove()
            elif change[0] == _GROUPED:
                _, key, group = change
                if group is None:
                    del self._groups[key]
                else:
                    self._groups[key] = group
            else:
                _, number, draw = change
                self._shares[number] -= 1
                if not self._shares[number]:
                    del self._shares[number]
                held = self._provisional[number]
                for name, amount in draw.amounts.items():
                    held[name] -= amount.nano

    def _clear(self) -> None:
        """Give everything back."""
        self._revert(0)
        self.taken.clear()
        self._held = [0] * len(self._claims)

    # --- the whole ----------------------------------------------------------------------------------------------------------------

    def _whole(self) -> _Chosen | None:
        """As `_walk`, but with the whole attempt in view. Raises Unsettled where the walk must meet errors in their order."""
        instance = written_down(self._setting, self._claims, self.candidates)
        # With a preference the answer depends on more than the instance says.
        key = instance.key() if self._preference is None else None
        known = self._setting.answers.get(key) if key is not None else None
        if known is None:
            known = Answer(self._first_of(instance))
            if key is not None:
                self._setting.answers.put(key, known)
            self._clear()
        if known.picks is None:
            return None
        if instance.cut:
            # The requests that are left out are reached, and nothing before has met an error.
            raise Unsettled(known.picks)
        return self._replayed(known.picks)

    def _first_of(self, instance: Instance) -> Sequence[Picked] | None:
        if proof_of(instance) is not None:
            return None
        # Half of the steps that are left are the walk's, for the case that it is luckier.
        self._last_step = (self._steps + self._setting.step_budget) // 2
        try:
            return Completion(instance, self._spend).first(self._begun)
        except TooIntricate:
            raise Unsettled from None

    def _spend(self, steps: int) -> None:
        self._steps += steps
        if self._steps > self._last_step:
            raise TooIntricate

    def _begun(self, picks: Sequence[Picked]) -> Sequence[int] | None:
        """The order in which devices are tried for the alternative that is last in `picks`, the others being served."""
        if self._preference is None:
            return None
        self._clear()
        self._replayed(picks)
        latest = picks[-1]
        return self._order(self._claims[latest.claim].requests[latest.request].alternatives[latest.choice])

    def _replayed(self, picks: Sequence[Picked]) -> _Chosen:
        """Take the devices that were picked, as the walk would have."""
        chosen: dict[tuple[int, int], int] = {}
        for claim, request, choice, positions in picks:
            chosen[claim, request] = choice
            way = self._way(claim, request, choice)
            must = way.alternative.every is not None
            for position in positions:
                if not self._take(claim, way, *self.candidates[position], must=must):
                    raise Unsettled
        return chosen

    def _solution(self, chosen: _Chosen | None) -> list[Solution] | None:
        if chosen is None:
            return None
        picks: list[list[Pick]] = [[] for _ in self._claims]
        for taken in self.taken:
            alternative, record = taken.alternative, taken.record
            picks[taken.claim].append(
                Pick(
                    reference=alternative.reference,
                    device=record.device,
                    slice=record.slice.spec,
                    tolerations=alternative.tolerations,
                    admin_access=alternative.admin_access,
                    share_id=self._setting.new_share_id() if taken.share is not None else None,
                    consumed=taken.share.amounts if taken.share is not None else {},
                )
            )
        return [
            Solution(
                [
                    Choice(request.source.name, alternative.reference, alternative.device_class)
                    for index, request in enumerate(claim.requests)
                    for alternative in [request.alternatives[chosen.get((number, index), 0)]]
                ],
                picks[number],
            )
            for number, claim in enumerate(self._claims)
        ]
