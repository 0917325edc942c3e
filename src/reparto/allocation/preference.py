"""In which order best fit tries devices: the cheapest first, as `packing` counts cost; where costs are equal, in upstream's order.

Only the order is changed. Which devices satisfy a request, alone and together, is the search's business; so best fit places
whatever first fit places. An order is made once, when a request is begun, after the devices of the requests before it were taken.
For a request of several devices it foresees them one by one, each after the former, among those that the request would take.

Source: design.md 2; upstream's order: upstream-dra.md 3.3.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from reparto.allocation.errors import AllocationError
from reparto.allocation.inventory import PublishedDevice
from reparto.allocation.packing import NEVER, Moment, Packing, Taken, size_of
from reparto.allocation.pools import Pool
from reparto.allocation.requests import PreparedClaim
from reparto.allocation.search import Search
from reparto.allocation.setting import Candidate, Requested, Setting, capacity_draw, selectable
from reparto.allocation.state import PoolID
from reparto.allocation.taints import untolerated
from reparto.model.quantity import Quantity
from reparto.model.v1 import AllocationResult, DeviceRequestAllocationResult


class BestFit:
    """The preferences of one attempt on one node."""

    def __init__(self, setting: Setting, packing: Packing) -> None:
        self._setting = setting
        self._packing = packing

    def order(self, alternative: Requested, candidates: Sequence[Candidate], search: Search) -> Sequence[int]:
        """Positions in `candidates`, all of them, in the order in which to try them for `alternative`, as the search stands.

        Cost: the candidates; for a request of several devices, those times the devices, and every candidate is tested against the
        request. A test that fails with an error leaves the candidate for last.
        """
        if alternative.admin_access:
            return range(len(candidates))  # takes nothing from anybody
        taken: list[Taken] = [
            (each.pool, each.record, None if each.share is None else each.share.amounts)
            for each in search.taken
            if not each.alternative.admin_access
        ]
        moment = Moment(self._packing, taken)
        costs = (
            [self._cost(moment, alternative, *candidate) for candidate in candidates] if taken else self._costs(moment, alternative)
        )
        if alternative.need <= 1:
            return sorted(range(len(candidates)), key=costs.__getitem__)
        open_ = [
            place
            for place, (_, record) in enumerate(candidates)
            if costs[place] < NEVER and wanted(self._setting, alternative, record)
        ]
        foreseen: list[int] = []
        while open_ and len(foreseen) < alternative.need:
            now = [self._cost(moment, alternative, *candidates[place]) for place in open_]
            least = min(now)
            if least >= NEVER:
                break
            place = open_.pop(now.index(least))
            foreseen.append(place)
            pool, record = candidates[place]
            moment.take(pool, record, self._amounts(alternative, record))
        first = set(foreseen)
        rest = [place for place in range(len(candidates)) if place not in first]
        return [*foreseen, *sorted(rest, key=costs.__getitem__)]

    def _costs(self, moment: Moment, alternative: Requested) -> list[int]:
        """What each candidate costs the first request, of which nothing is taken yet: mostly known."""
        costs: list[int] = []
        for pool in self._setting.pools:
            if pool.usable:
                parts, start = self._packing.parts(pool), len(costs)
                costs += parts.costs()
                for place, record in parts.shareable:
                    costs[start + place] = self._cost(moment, alternative, pool, record)
        return costs

    def _cost(self, moment: Moment, alternative: Requested, pool: Pool, record: PublishedDevice) -> int:
        amounts: Mapping[str, Quantity] | None = None
        if record.multi and self._setting.features.consumable_capacity:
            try:
                amounts = self._amounts(alternative, record)
            except AllocationError:
                return NEVER
            if amounts is None:
                return NEVER
        cost = moment.cost_of(pool, record, amounts)
        return NEVER if cost is None else cost

    def _amounts(self, alternative: Requested, record: PublishedDevice) -> Mapping[str, Quantity] | None:
        """What a share for the request takes; None: it takes the device whole, or cannot take it at all."""
        if not (record.multi and self._setting.features.consumable_capacity):
            return None
        drawn = capacity_draw(self._setting.draws, alternative, record)
        return None if drawn is None else drawn.amounts


def wanted(setting: Setting, alternative: Requested, record: PublishedDevice) -> bool:
    """Whether class, request, taints and capacity allow the device, in use or not. What fails with an error allows nothing."""
    try:
        if setting.features.device_taints and untolerated(record.blocking_taints, alternative.tolerations) is not None:
            return False
        if not selectable(setting, alternative, record):
            return False
        return not setting.features.consumable_capacity or capacity_draw(setting.draws, alternative, record) is not None
    except AllocationError:
        return False


class Choice(NamedTuple):
    """What speaks for a device that was chosen, at the moment when it was.

    `smaller` and `larger` say whether the request could have had a device of another size. `part` is what the device is a part of,
    by the name of its counter set (empty: nothing), `unused` says whether nothing of that was taken before. `kept` are the devices
    that can still be made of it, `ended` those that cannot any more, the heaviest first. `shared` says whether others hold shares
    of the device already; None: it is taken whole.
    """

    record: PublishedDevice
    smaller: bool
    larger: bool
    part: str
    unused: bool
    kept: Sequence[PublishedDevice]
    ended: Sequence[PublishedDevice]
    shared: bool | None


def choices(
    setting: Setting, packing: Packing, claims: Iterable[PreparedClaim[Candidate]], allocations: Iterable[AllocationResult]
) -> list[list[Choice | None]]:
    """For each claim and each result of its allocation: what spoke for the device; None where there was nothing to choose.

    The allocations were found on the node of `setting` and are not committed yet. Cost: for each device the devices of the node,
    each tested against its request.
    """
    pools = {pool.id: pool for pool in setting.pools if pool.usable}
    taken: list[Taken] = []
    found: list[list[Choice | None]] = []
    for claim, allocation in zip(claims, allocations, strict=True):
        asked = {each.reference: each for request in claim.requests for each in request.alternatives}
        line: list[Choice | None] = []
        for result in allocation.devices.results:
            alternative, pool = asked[result.request], pools[result.driver, result.pool]
            record, amounts = packing.parts(pool).named[result.device], shared_amounts(result)
            chosen = not result.admin_access and alternative.every is None
            line.append(_choice(setting, packing, alternative, (pool, record, amounts), taken) if chosen else None)
            if not result.admin_access:
                taken.append((pool, record, amounts))
        found.append(line)
    return found


def _choice(setting: Setting, packing: Packing, alternative: Requested, chosen: Taken, taken: Sequence[Taken]) -> Choice:
    pool, record, amounts = chosen
    moment = Moment(packing, taken)
    sizes = {
        size_of(other)
        for each in setting.pools
        if each.usable
        for other in each.devices
        if wanted(setting, alternative, other) and moment.cost_of(each, other, {} if other.multi else None) is not None
    }
    own, before, in_use = size_of(record), moment.part(pool, record), moment.in_use(record)
    kept: Sequence[PublishedDevice] = ()
    ended: Sequence[PublishedDevice] = ()
    if before is not None:
        moment.take(*chosen)
        after = moment.part(pool, record)
        assert after is not None
        kept = before.part.devices(after.worth.possible)
        ended = before.part.devices(before.worth.possible & ~after.worth.possible & ~(1 << before.number))
    return Choice(
        record,
        smaller=any(size < own for size in sizes),
        larger=any(size > own for size in sizes),
        part=record.device.consumes_counters[0].counter_set if before is not None else "",
        unused=before is not None and before.unused,
        kept=kept,
        ended=ended,
        shared=None if amounts is None else in_use,
    )


class Loss(NamedTuple):
    """What an allocation costs, and what its node is worth afterwards: of two nodes the one with the lower loss is the better.

    At equal cost the node that has less left is: nodes are filled one after the other.
    """

    cost: int
    left: int


def loss(setting: Setting, packing: Packing, allocations: Iterable[AllocationResult]) -> Loss:
    """The loss of allocations that were found on the node of `setting` and are not committed yet.

    Cost: the pools of the node and the devices allocated.
    """
    moment = Moment(packing)
    pools = {pool.id: pool for pool in setting.pools if pool.usable}
    for taken in taken_by(packing, pools, allocations):
        moment.take(*taken)
    return Loss(moment.cost, sum(packing.parts(pool).value for pool in pools.values()) + moment.value)


def taken_by(packing: Packing, pools: Mapping[PoolID, Pool], allocations: Iterable[AllocationResult]) -> Iterator[Taken]:
    """The devices of allocations as they are taken, those with admin access left out, for they take nothing."""
    for allocation in allocations:
        for result in allocation.devices.results:
            pool = pools[result.driver, result.pool]
            if not result.admin_access:
                yield pool, packing.parts(pool).named[result.device], shared_amounts(result)


def shared_amounts(result: DeviceRequestAllocationResult) -> Mapping[str, Quantity] | None:
    """What the share of a device holds; None if the device is taken whole."""
    if result.share_id is None:
        return None
    return {name: Quantity.parse(text) for name, text in (result.consumed_capacity or {}).items()}
