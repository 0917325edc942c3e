"""The search: the first combination of devices that satisfies all claims, in upstream's order, within a budget.

Depth first. Claims, requests and devices are taken in order, an alternative is explored together with everything that follows
before the next alternative is, and within one request only combinations are tried, never permutations. The first complete solution
is the answer; nothing is scored. The search keeps its own stack, so neither 32 devices nor many claims meet an interpreter limit,
and counts its steps, so it ends: with an answer, or with `GaveUp`.

Source: upstream-dra.md 3.5 and 3.8.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import NamedTuple, TypeAlias

from reparto.allocation import compatibility, constraints
from reparto.allocation.capacity import CapacityError, Draw
from reparto.allocation.compatibility import CommonGroups
from reparto.allocation.constraints import Constraint, static_attribute
from reparto.allocation.counters import CounterUse
from reparto.allocation.errors import AllocationError, FailureKind, GaveUp
from reparto.allocation.features import Features
from reparto.allocation.inventory import PoolID, PublishedDevice
from reparto.allocation.pools import Pool
from reparto.allocation.requests import MAX_DEVICES, Alternative, PreparedClaim
from reparto.allocation.results import Choice, Pick
from reparto.allocation.selectors import Selectors
from reparto.allocation.state import AllocatedState
from reparto.allocation.taints import untolerated
from reparto.model.core import Node
from reparto.model.quantity import Quantity
from reparto.model.v1 import DeviceAttribute

NODE_OPERATIONS_FEATURE = "DRAOptionalNodeOperations"
"""What a node declares in `status.declaredFeatures` when its kubelet can leave out calls to a driver."""

_NOTHING: Mapping[str, int] = {}

Drawer = Callable[[PublishedDevice, Mapping[str, str]], Draw | None]
"""What a share of a device with these capacity requests takes; None if the device cannot serve them. Raises CapacityError."""


Candidate: TypeAlias = tuple[Pool, PublishedDevice]
Requested: TypeAlias = Alternative[Candidate]


class _Outcome(Enum):
    """How a branch of the search ended without a solution."""

    FAILURE = 1
    TOO_MANY = 2
    """The claim would hold more devices than it may, whichever devices are picked: sibling devices need not be tried."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What one attempt depends on besides the claims."""

    node: Node
    pools: Sequence[Pool]
    features: Features
    allocated: AllocatedState
    selectors: Selectors
    draws: Drawer
    new_share_id: Callable[[], str]
    step_budget: int


@dataclass(frozen=True, slots=True)
class Solution:
    """One claim's part of the solution."""

    choices: list[Choice]
    picks: list[Pick]


@dataclass(slots=True)
class _Taken:
    """What taking a device has changed, so that it can be undone."""

    pool: Pool
    record: PublishedDevice
    groups: list[tuple[str, CommonGroups | None]] | None = None
    counters: bool = False
    constraints: Sequence[Constraint] = ()
    marked: bool = False
    share: Mapping[str, Quantity] | None = None
    picked: bool = False


class _Cursor(NamedTuple):
    """What is to be found next: a device for an alternative of a request of a claim.

    `alternative` is None while none is chosen, `picked` devices are found already, the next is looked for from candidate `start`
    on.
    """

    claim: int
    request: int = 0
    alternative: int | None = None
    picked: int = 0
    start: int = 0


_Step: TypeAlias = tuple[_Cursor | None, _Outcome | None]
"""Where to go on; or nowhere, and how the branch ended (None: there is a new frame to work on)."""


class _ClaimEnd:
    """Frame: everything after it belongs to later claims."""

    __slots__ = ()


class _AlternativeFrame:
    """Frame: a request with `firstAvailable`, and the alternative that is being explored."""

    __slots__ = ("all_too_many", "chosen", "claim", "request")

    def __init__(self, claim: int, request: int) -> None:
        self.claim, self.request = claim, request
        self.chosen = -1
        self.all_too_many = True


class _DeviceFrame:
    """Frame: one device of one request, and what has to be undone to try the next."""

    __slots__ = ("alternative", "alternative_index", "claim", "picked", "position", "request", "taken")

    def __init__(
        self, claim: int, request: int, alternative_index: int, alternative: Requested, picked: int, position: int
    ) -> None:
        self.claim, self.request, self.alternative_index, self.picked = claim, request, alternative_index, picked
        self.alternative = alternative
        self.position = position
        self.taken: _Taken | None = None


_Frame: TypeAlias = _ClaimEnd | _AlternativeFrame | _DeviceFrame


class Search:
    """One attempt to satisfy all claims on one node."""

    def __init__(self, setting: Setting, claims: Sequence[PreparedClaim[Candidate]]) -> None:
        self._setting = setting
        self._features = setting.features
        self._claims = claims
        self._candidates: list[Candidate] = [(pool, record) for pool in setting.pools if pool.usable for record in pool.devices]
        self._constraints = [self._constraints_of(claim) for claim in claims]
        self._picks: list[list[Pick]] = [[] for _ in claims]
        self._in_use_by: dict[int, list[int]] = {}
        """Devices taken whole in this attempt, with the claims that took them: several only for admin access."""
        self._shares: dict[int, int] = {}
        self._provisional: dict[int, dict[str, int]] = {}
        self._counters: dict[PoolID, CounterUse] = {}
        self._groups: dict[tuple[PoolID, str], CommonGroups] = {}
        self._steps = 0

    def run(self) -> list[Solution] | None:
        """The first solution, one part per claim, or None if there is none. Raises AllocationError, GaveUp included."""
        stack: list[_Frame] = []
        cursor: _Cursor | None = _Cursor(0)
        outcome: _Outcome | None = None
        while True:
            if cursor is not None:
                if cursor.claim == len(self._claims):
                    return self._solution(stack)
                cursor, outcome = self._descend(cursor, stack)
                if cursor is not None:
                    continue
            if not stack:
                return None
            frame = stack[-1]
            if isinstance(frame, _DeviceFrame):
                cursor, outcome = self._next_device(frame, outcome)
            elif isinstance(frame, _AlternativeFrame):
                cursor, outcome = self._next_alternative(frame, outcome)
            else:
                # A later claim that holds too many devices may hold fewer if this one is solved differently.
                outcome = _Outcome.FAILURE
            if cursor is None:
                stack.pop()

    def _descend(self, cursor: _Cursor, stack: list[_Frame]) -> _Step:
        """Go one step towards a solution."""
        self._step()
        claim, request, alternative_index, picked, start = cursor
        requests = self._claims[claim].requests
        if request == len(requests):
            stack.append(_ClaimEnd())
            return _Cursor(claim + 1), None
        if alternative_index is None:
            if requests[request].has_choice:
                stack.append(_AlternativeFrame(claim, request))
                return None, None
            alternative_index = 0
        alternative = requests[request].alternatives[alternative_index]
        if alternative.every is not None and not alternative.every:
            return None, _Outcome.FAILURE
        if picked >= alternative.need:
            return _Cursor(claim, request + 1), None
        if alternative.need - picked > MAX_DEVICES - len(self._picks[claim]):
            return None, _Outcome.TOO_MANY
        stack.append(_DeviceFrame(claim, request, alternative_index, alternative, picked, start))
        return None, None

    def _next_alternative(self, frame: _AlternativeFrame, outcome: _Outcome | None) -> _Step:
        if outcome is _Outcome.FAILURE:
            frame.all_too_many = False
        frame.chosen += 1
        if frame.chosen < len(self._claims[frame.claim].requests[frame.request].alternatives):
            return _Cursor(frame.claim, frame.request, frame.chosen), None
        return None, _Outcome.TOO_MANY if frame.all_too_many else _Outcome.FAILURE

    def _next_device(self, frame: _DeviceFrame, outcome: _Outcome | None) -> _Step:
        if frame.taken is not None:
            self._undo(frame.claim, frame.taken)
            frame.taken = None
        if outcome is _Outcome.TOO_MANY:
            return None, outcome
        alternative = frame.alternative
        if alternative.every is not None:
            # The devices of mode All are given, so there is one try only. Their order does not matter.
            if outcome is None:
                frame.taken = self._take(frame.claim, alternative, *alternative.every[frame.picked], must=True)
        else:
            frame.taken = self._take_next(frame, alternative)
        if frame.taken is None:
            return None, _Outcome.FAILURE
        return _Cursor(frame.claim, frame.request, frame.alternative_index, frame.picked + 1, frame.position), None

    def _take_next(self, frame: _DeviceFrame, alternative: Requested) -> _Taken | None:
        """Take the first suitable device at or after the frame's position, which moves behind it."""
        while frame.position < len(self._candidates):
            pool, record = self._candidates[frame.position]
            frame.position += 1
            self._step()
            # Cheap tests first, and no test of a device in use: its selectors could fail, which would stop the pod.
            if self._unavailable(frame.claim, alternative, record) or not selectable(self._setting, alternative, record):
                continue
            if self._features.consumable_capacity and not self._has_room(alternative, record):
                continue
            taken = self._take(frame.claim, alternative, pool, record, must=False)
            if taken is not None:
                return taken
        return None

    def _step(self) -> None:
        self._steps += 1
        if self._steps > self._setting.step_budget:
            raise GaveUp(self._setting.step_budget)

    # --- one device ---------------------------------------------------------------------------------------------------------------

    def _unavailable(self, claim: int, alternative: Requested, record: PublishedDevice) -> bool:
        """In use, as far as this request minds: admin access minds only the same claim."""
        holders = self._in_use_by.get(record.number)
        if alternative.admin_access:
            return holders is not None and claim in holders
        return bool(holders) or self._setting.allocated.in_use(record.id, self._features.consumable_capacity)

    def _has_room(self, alternative: Requested, record: PublishedDevice) -> bool:
        draw = capacity_draw(self._setting.draws, alternative, record)
        return draw is not None and self._fits(draw, record)

    def _fits(self, draw: Draw, record: PublishedDevice) -> bool:
        return draw.fits(self._setting.allocated.consumed(record.id), self._provisional.get(record.number, _NOTHING))

    def _take(self, claim: int, alternative: Requested, pool: Pool, record: PublishedDevice, must: bool) -> _Taken | None:
        """Take a selectable device, or leave everything as it was.

        `must`: a violated constraint is an error, for there is no other.
        """
        features, device = self._features, record.device
        shareable = record.multi and features.consumable_capacity
        if self._unavailable(claim, alternative, record):
            return None
        if not may_skip_node_operations(self._setting, record):
            return None
        taken = _Taken(pool, record)
        if device.consumes_counters:
            if not features.partitionable_devices:
                return None
            # A shared device pays for its counters once, with its first share.
            already_paid = shareable and (record.number in self._shares or self._setting.allocated.is_shared(record.id))
            if not already_paid and not self._draw_on_pool(taken):
                return None
        if features.device_taints and untolerated(record.blocking_taints, alternative.tolerations) is not None:
            self._undo(claim, taken)
            return None
        if not self._satisfies_constraints(claim, alternative, taken, must):
            self._undo(claim, taken)
            return None
        if not shareable:
            self._in_use_by.setdefault(record.number, []).append(claim)
            taken.marked = True
        share_id = None
        if features.consumable_capacity:
            draw = capacity_draw(self._setting.draws, alternative, record)
            # A device out of all devices was looked at for its room a moment ago; one that must be taken was not.
            if draw is None or (must and not self._fits(draw, record)):
                self._undo(claim, taken)
                return None
            if shareable:
                taken.share = draw.amounts
                self._reserve(record, draw.amounts)
                share_id = self._setting.new_share_id()
        self._picks[claim].append(
            Pick(
                reference=alternative.reference,
                device=device,
                slice=record.slice.spec,
                tolerations=alternative.tolerations,
                admin_access=alternative.admin_access,
                share_id=share_id,
                consumed=taken.share or {},
            )
        )
        taken.picked = True
        return taken

    def _draw_on_pool(self, taken: _Taken) -> bool:
        """Join the counter sets of the pool, and draw on its counters."""
        pool, record = taken.pool, taken.record
        if self._features.compatibility_groups and not self._join_groups(taken):
            return False
        use = self._counters.get(pool.id)
        if use is None:
            use = self._counters[pool.id] = CounterUse(pool.counters_left(self._setting.allocated))
        demand = pool.demand(record)
        if use.short_of(demand) is not None:
            self._leave_groups(taken)
            return False
        use.draw(demand)
        taken.counters = True
        return True

    def _join_groups(self, taken: _Taken) -> bool:
        pool = taken.pool
        taken.groups = []
        for consumption in taken.record.device.consumes_counters:
            key = (pool.id, consumption.counter_set)
            before = self._groups.get(key)
            common = before if before is not None else pool.common_groups(self._setting.allocated).get(consumption.counter_set)
            declared = consumption.compatibility_groups
            if common is not None and not common.admits(declared):
                self._leave_groups(taken)
                return False
            taken.groups.append((consumption.counter_set, before))
            self._groups[key] = compatibility.first(declared) if common is None else common.joined_by(declared)
        return True

    def _leave_groups(self, taken: _Taken) -> None:
        for counter_set, before in reversed(taken.groups or ()):
            if before is None:
                del self._groups[taken.pool.id, counter_set]
            else:
                self._groups[taken.pool.id, counter_set] = before
        taken.groups = None

    def _satisfies_constraints(self, claim: int, alternative: Requested, taken: _Taken, must: bool) -> bool:
        added: list[Constraint] = []
        taken.constraints = added
        lookup = partial(self._attribute, alternative, taken.record)
        for constraint in self._constraints[claim]:
            if not constraint.covers(alternative.name, alternative.parent):
                continue
            if not constraint.add(lookup):
                if must:
                    raise AllocationError(
                        f"claim {alternative.claim}, request {alternative.name}: cannot add device {taken.record} because a claim "
                        "constraint would not be satisfied",
                        kind=FailureKind.CONSTRAINT_ON_ALL,
                        claim=alternative.claim,
                        request=alternative.reference,
                        device=str(taken.record),
                    )
                return False
            added.append(constraint)
        return True

    def _attribute(self, alternative: Requested, record: PublishedDevice, name: str) -> DeviceAttribute | None:
        expression = alternative.derived.get(name)
        if expression is not None:
            return self._setting.selectors.derived_attribute(name, expression, record)
        return static_attribute(record.device, record.id[0], name)

    def _reserve(self, record: PublishedDevice, amounts: Mapping[str, Quantity]) -> None:
        self._shares[record.number] = self._shares.get(record.number, 0) + 1
        held = self._provisional.setdefault(record.number, {})
        for name, amount in amounts.items():
            held[name] = held.get(name, 0) + amount.nano

    def _undo(self, claim: int, taken: _Taken) -> None:
        number = taken.record.number
        if taken.picked:
            self._picks[claim].pop()
        if taken.marked:
            self._in_use_by[number].remove(claim)
        if taken.share is not None:
            self._shares[number] -= 1
            held = self._provisional[number]
            for name, amount in taken.share.items():
                held[name] -= amount.nano
            if not self._shares[number]:
                del self._shares[number]
        for constraint in reversed(taken.constraints):
            constraint.remove()
        self._leave_groups(taken)
        if taken.counters:
            self._counters[taken.pool.id].give_back(taken.pool.demand(taken.record))

    # --- the whole ----------------------------------------------------------------------------------------------------------------

    def _constraints_of(self, claim: PreparedClaim[Candidate]) -> list[Constraint]:
        made = [constraints.make(source, self._features.list_type_attributes) for source in claim.constraints]
        return [constraint for constraint in made if constraint is not None]

    def _solution(self, stack: Sequence[_Frame]) -> list[Solution]:
        chosen = {(frame.claim, frame.request): frame.chosen for frame in stack if isinstance(frame, _AlternativeFrame)}
        solutions: list[Solution] = []
        for number, claim in enumerate(self._claims):
            choices = [
                Choice(request.source.name, alternative.reference, alternative.device_class)
                for index, request in enumerate(claim.requests)
                for alternative in [request.alternatives[chosen.get((number, index), 0)]]
            ]
            solutions.append(Solution(choices, self._picks[number]))
        return solutions


def selectable(setting: Setting, alternative: Requested, record: PublishedDevice) -> bool:
    """Whether class, request and node select the device, whoever uses it (upstream-dra.md 3.6). Raises AllocationError."""
    device = record.device
    if device.binding_conditions and not setting.features.device_binding_and_status:
        return False
    ask = setting.selectors.first_unmatched
    if ask(record, alternative.device_class.spec.selectors, alternative.class_origin) is not None:
        return False
    if ask(record, alternative.source.selectors, alternative.request_origin) is not None:
        return False
    return record.selection is None or record.selection.matches(setting.node)


def may_skip_node_operations(setting: Setting, record: PublishedDevice) -> bool:
    """Whether the node can do without the calls to the driver that the device's slice wants left out, if it wants any."""
    if not record.slice.spec.skip_node_operations or not setting.features.experimental:
        return True
    return setting.features.optional_node_operations and NODE_OPERATIONS_FEATURE in setting.node.status.declared_features


def capacity_draw(draws: Drawer, alternative: Requested, record: PublishedDevice) -> Draw | None:
    """What a share for the request takes of the device, None if the device cannot serve it.

    Raises AllocationError, which stops the pod.
    """
    try:
        return draws(record, alternative.capacity)
    except CapacityError as error:
        raise AllocationError(
            f"claim {alternative.claim}, request {alternative.name}: checking capacity for device {record}: {error}",
            kind=FailureKind.CAPACITY_UNUSABLE,
            claim=alternative.claim,
            request=alternative.reference,
            device=str(record),
        ) from error
