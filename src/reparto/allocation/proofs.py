"""Why an instance has no solution, where counting shows it: the proof is the reason that a person reads.

Each proof is a condition that every solution meets, so that one that fails settles the question without a search. They are tried in
the order in which a person would ask: is one request short by itself; is there a value on which enough devices agree, are there
enough that differ; do requests need more devices together than there are for them; do counters or capacity suffice in sum. What
none of them shows may still be impossible: then only a search can tell, and it has no better reason than that.

Source: upstream-dra.md 7.2 names the cases on which Kubernetes' own search drowns for want of these.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from reparto.allocation.flow import unserved
from reparto.allocation.instance import Instance, Way, positions_of


class ProofKind(StrEnum):
    """What was counted."""

    SHORTAGE = "shortage"
    AGREEMENT = "agreement"
    DIFFERENCE = "difference"
    COMPETITION = "competition"
    COUNTERS = "counters"
    CAPACITY = "capacity"


@dataclass(frozen=True, slots=True)
class Proof:
    """`requests` (claim and request by index) need `need` of something of which there are `have`, out of `total` devices.

    `constraint` is the index in the first request's claim of the constraint that cannot be met, `attribute` what it is about;
    `counter` names the counter or capacity that does not suffice, whose amounts are then in 1e-9 units.
    """

    kind: ProofKind
    requests: tuple[tuple[int, int], ...]
    have: int
    need: int
    total: int = 0
    constraint: int | None = None
    attribute: str = ""
    counter: str = ""


def proof_of(instance: Instance) -> Proof | None:
    """The first proof that the instance has no solution; None if counting does not show it.

    Cost: the devices, times the alternatives; no search.
    """
    checks: tuple[Callable[[Instance], Iterator[Proof]], ...] = (_shortages, _agreements, _differences, _competitions, _sums)
    return next((proof for check in checks for proof in check(instance)), None)


def _shortages(instance: Instance) -> Iterator[Proof]:
    for ways in instance.requests:
        if all(way.mask.bit_count() < way.need for way in ways):
            closest = min(ways, key=lambda way: way.need - way.mask.bit_count())
            yield Proof(ProofKind.SHORTAGE, (_name(ways),), closest.mask.bit_count(), closest.need, instance.size)


def _agreements(instance: Instance) -> Iterator[Proof]:
    """No value is common to enough devices, for one request or for all that must agree with each other."""
    for match, (_, constraint, attribute) in enumerate(instance.match_names):
        viable, bound = -1, list[Sequence[Way]]()
        for ways in instance.requests:
            if not all(way.need and match in way.matches for way in ways):
                continue
            bound.append(ways)
            largest, supported = 0, 0
            for way in ways:
                for value, positions in way.matches[match].items():
                    agreeing = (positions & way.mask).bit_count()
                    largest = max(largest, agreeing)
                    if agreeing >= way.need:
                        supported |= value
            if not supported:
                least = min(way.need for way in ways)
                total = max(way.mask.bit_count() for way in ways)
                yield Proof(ProofKind.AGREEMENT, (_name(ways),), largest, least, total, constraint, attribute)
            viable &= supported
        if not viable:
            need = sum(min(way.need for way in ways) for ways in bound)
            have, total = _largest_group(bound, match)
            if have < need:
                yield Proof(ProofKind.AGREEMENT, tuple(map(_name, bound)), have, need, total, constraint, attribute)


def _largest_group(bound: Sequence[Sequence[Way]], match: int) -> tuple[int, int]:
    """The most units that can be had of one value, each request taking no more than it needs, and the devices there are."""
    served: dict[int, int] = {}
    mask = 0
    for ways in bound:
        for value in {value for way in ways for value in way.matches[match]}:
            most = max((way.matches[match].get(value, 0) & way.mask).bit_count() for way in ways)
            served[value] = served.get(value, 0) + min(most, min(way.need for way in ways))
        for way in ways:
            mask |= way.mask
    return max(served.values(), default=0), mask.bit_count()


def _differences(instance: Instance) -> Iterator[Proof]:
    """Fewer values than devices that must all differ."""
    for number, (_, constraint, attribute) in enumerate(instance.distinct_names):
        bound = [ways for ways in instance.requests if all(way.need and number in way.apart for way in ways)]
        values = {value for ways in bound for way in ways for value, positions in way.apart[number].items() if positions & way.mask}
        need = sum(min(way.need for way in ways) for ways in bound)
        if len(values) < need:
            total = _union(bound).bit_count()
            yield Proof(ProofKind.DIFFERENCE, tuple(map(_name, bound)), len(values), need, total, constraint, attribute)


def _competitions(instance: Instance) -> Iterator[Proof]:
    """Requests that together need more devices than there are for any of them; shared devices are as many as it takes."""
    wanted = [ways for ways in instance.requests if all(way.need for way in ways)]
    alone = [ways for ways in wanted if not _union([ways]) & ~instance.exclusive]
    masks = [_union([ways]) for ways in alone]
    needs = [min(way.need for way in ways) for ways in alone]
    short = unserved(masks, needs)
    if short:
        need = sum(needs[place] for place in short)
        have = _union([alone[place] for place in short]).bit_count()
        yield Proof(ProofKind.COMPETITION, tuple(_name(alone[place]) for place in short), have, need, instance.size)


def _sums(instance: Instance) -> Iterator[Proof]:
    """Counters and capacity of all devices together, by name: what requests draw at least, against what is left."""
    left: dict[tuple[str, str], int] = {}
    of_stock: dict[int, tuple[str, str]] = {}
    for stock, (amount, name) in enumerate(zip(instance.stock, instance.stock_names, strict=True)):
        if name[0] in ("counter", "capacity"):
            # The last part is the name of the counter or capacity; several sets of a pool, or devices, have it.
            of_stock[stock] = (name[0], name[-1])
            left[of_stock[stock]] = left.get(of_stock[stock], 0) + amount
    if not left:
        return
    known: dict[tuple[int, int], dict[tuple[str, str], int]] = {}
    drawn: dict[tuple[str, str], int] = {}
    requests: dict[tuple[str, str], list[tuple[int, int]]] = {}
    # Requests that ask the same draw the same.
    draws: dict[object, dict[tuple[str, str], int]] = {}
    for ways in instance.requests:
        key = tuple([(way.mask, way.profile, way.need) for way in ways])
        if key not in draws:
            leasts = [_leasts(instance, way, of_stock, known) for way in ways]
            draws[key] = {
                name: least
                for name in leasts[0]
                if (least := min([way.need * of_way.get(name, 0) for way, of_way in zip(ways, leasts, strict=True)]))
            }
        for name, least in draws[key].items():
            drawn[name] = drawn.get(name, 0) + least
            requests.setdefault(name, []).append(_name(ways))
    for name, amount in drawn.items():
        if amount > left[name]:
            kind = ProofKind.COUNTERS if name[0] == "counter" else ProofKind.CAPACITY
            yield Proof(kind, tuple(requests[name]), left[name], amount, counter=name[1])


def _leasts(
    instance: Instance,
    way: Way,
    of_stock: dict[int, tuple[str, str]],
    known: dict[tuple[int, int], dict[tuple[str, str], int]],
) -> dict[tuple[str, str], int]:
    """What a device of the way draws at least, by name."""
    # A shared device may have paid its price with an earlier share.
    if not way.extra and way.mask & ~instance.exclusive:
        return {}
    key = (way.mask, way.profile)
    leasts = known.get(key)
    if leasts is None:
        for position in positions_of(way.mask):
            price = instance.price.get(position, ()) if instance.exclusive >> position & 1 else ()
            draws: dict[tuple[str, str], int] = {}
            for stock, amount in (*price, *way.extra.get(position, ())):
                name = of_stock.get(stock)
                if name is not None and (leasts is None or name in leasts):
                    draws[name] = draws.get(name, 0) + amount
            leasts = draws if leasts is None else {name: min(amount, leasts[name]) for name, amount in draws.items()}
            if not leasts:
                break
        leasts = known[key] = leasts or {}
    return leasts


def _union(requests: Sequence[Sequence[Way]]) -> int:
    mask = 0
    for ways in requests:
        for way in ways:
            mask |= way.mask
    return mask


def _name(ways: Sequence[Way]) -> tuple[int, int]:
    return ways[0].claim, ways[0].request
