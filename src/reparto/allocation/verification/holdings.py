"""One device in one claim's allocation, and what several claims hold together.

Rules about more than one claim are sums: who holds a device, how much of its capacity, how much of its pool's counters. They are
taken over all claims at once, so the order in which claims were allocated does not matter. Admin access holds nothing.

Source: upstream-dra.md 3.1, 3.8, 3.10, 3.11, 3.16; KEP-4815, KEP-5075, KEP-5963.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reparto.allocation.features import Features
from reparto.allocation.verification.amounts import nano, written
from reparto.allocation.verification.breaches import Breach, BreachKind
from reparto.allocation.verification.publication import DeviceID, Offer, PoolID, Publication
from reparto.allocation.verification.requests import Ask
from reparto.model.v1 import CounterSet, DeviceRequestAllocationResult


@dataclass(frozen=True, slots=True, eq=False)
class Holding:
    """A result of an allocation. `ask` is the request it is for, `offer` the device as published, each None where there is none."""

    claim: str
    number: int
    """Of the claim, among all that are checked."""
    path: str
    result: DeviceRequestAllocationResult
    ask: Ask | None
    offer: Offer | None
    share: bool

    @property
    def id(self) -> DeviceID:
        return self.result.driver, self.result.pool, self.result.device

    @property
    def device(self) -> str:
        return "/".join(self.id)

    def breach(self, kind: BreachKind, message: str, *, path: str = "", others: Sequence[str] = ()) -> Breach:
        """A breach of a rule by this result."""
        return Breach(
            kind=kind,
            object=self.claim,
            path=self.path + path,
            message=message,
            device=self.device,
            others=tuple(sorted(set(others) - {self.claim})),
        )


class Together:
    """All that is held, by device and by pool.

    Of what a pool counts, a shared device takes its part once, with its first share. Cost: O(devices held × what each publishes).
    """

    def __init__(self, holdings: Sequence[Holding], publication: Publication, features: Features) -> None:
        self._publication = publication
        self._features = features
        self._all = holdings
        self._by_device: dict[DeviceID, list[Holding]] = {}
        self._by_pool: dict[PoolID, dict[DeviceID, list[Holding]]] = {}
        for holding in holdings:
            if holding.result.admin_access is not True:
                held = self._by_device.setdefault(holding.id, [])
                held.append(holding)
                self._by_pool.setdefault(holding.id[:2], {})[holding.id] = held

    def breaches(self) -> Iterator[Breach]:
        """What the claims break together. A breach is reported on the last of the claims that take part."""
        yield from self._share_ids()
        for held in self._by_device.values():
            yield from _held_twice(held)
            yield from self._capacity(held)
        if self._features.partitionable_devices:
            for pool, held in self._by_pool.items():
                yield from self._pool(pool, held)

    def _share_ids(self) -> Iterator[Breach]:
        first: dict[tuple[DeviceID, str], Holding] = {}
        for holding in self._all:
            if holding.result.share_id is None:
                continue
            other = first.setdefault((holding.id, holding.result.share_id), holding)
            if other is not holding:
                yield holding.breach(
                    BreachKind.SHARE_ID_REPEATED,
                    f"share {holding.result.share_id} of device {holding.device} is also {other.path} of {other.claim}",
                    path=".shareID",
                    others=(other.claim,),
                )

    def _capacity(self, held: Sequence[Holding]) -> Iterator[Breach]:
        shares = [holding for holding in held if holding.share]
        offer = _latest_offer(shares)
        if offer is None:
            return
        for name, published in (offer.device.capacity or {}).items():
            consumers = [(each, nano((each.result.consumed_capacity or {}).get(name, "0"))) for each in shares]
            total = sum(amount for _, amount in consumers)
            if total > nano(published.value):
                last = consumers[-1][0]
                yield last.breach(
                    BreachKind.CAPACITY_OVERDRAWN,
                    f"{len(shares)} shares of device {last.device} hold {written(total)} of capacity {name}, "
                    f"of which there is {published.value}",
                    path=".consumedCapacity",
                    others=[each.claim for each, _ in consumers],
                )

    # --- pools with counters ------------------------------------------------------------------------------------------------------

    def _pool(self, pool: PoolID, held: dict[DeviceID, list[Holding]]) -> Iterator[Breach]:
        offers = [offer for holdings in held.values() if (offer := _latest_offer(holdings)) is not None]
        drawing = [offer for offer in offers if offer.device.consumes_counters]
        if not drawing:
            return
        newest = max(offer.slice.spec.pool.generation for offer in drawing)
        generation = self._publication.generation(pool, newest)
        if not generation.whole:
            return  # what the counters are worth is not known until all slices are there
        current = [offer for offer in drawing if offer.slice.spec.pool.generation == newest]
        sets = [counter_set for published in generation.slices for counter_set in published.spec.shared_counters or ()]
        yield from self._counters(sets, current, held)
        if self._features.compatibility_groups:
            yield from self._groups(current, held)

    def _counters(
        self, sets: Sequence[CounterSet], drawing: Sequence[Offer], held: dict[DeviceID, list[Holding]]
    ) -> Iterator[Breach]:
        draws: dict[tuple[str, str], list[tuple[Offer, int]]] = {}
        for offer in drawing:
            for consumption in offer.device.consumes_counters:
                for counter, drawn in (consumption.counters or {}).items():
                    draws.setdefault((consumption.counter_set, counter), []).append((offer, nano(drawn.value)))
        for counter_set in sets:
            for counter, published in (counter_set.counters or {}).items():
                drawn = draws.get((counter_set.name, counter), [])
                total = sum(amount for _, amount in drawn)
                if total > nano(published.value):
                    # Whoever draws; where nobody does, the counter is negative as published, and bars all devices with counters.
                    takers = [offer for offer, amount in drawn if amount] or drawing
                    yield _on_last(
                        [held[offer.id][0] for offer in takers],
                        BreachKind.COUNTERS_OVERDRAWN,
                        f"{len(takers)} devices of pool {'/'.join(takers[0].id[:2])} draw {written(total)} from counter "
                        f"{counter_set.name}/{counter}, which has {published.value}",
                    )

    def _groups(self, drawing: Sequence[Offer], held: dict[DeviceID, list[Holding]]) -> Iterator[Breach]:
        members: dict[str, list[tuple[Offer, frozenset[str]]]] = {}
        for offer in drawing:
            for consumption in offer.device.consumes_counters:
                groups = frozenset(consumption.compatibility_groups)
                members.setdefault(consumption.counter_set, []).append((offer, groups))
        for counter_set, listed in members.items():
            declared = [groups for _, groups in listed]
            if any(declared) and not declared[0].intersection(*declared):
                text = ", ".join(f"{offer.device.name} ({'/'.join(sorted(groups)) or 'none'})" for offer, groups in listed)
                yield _on_last(
                    [held[offer.id][0] for offer, _ in listed],
                    BreachKind.COMPATIBILITY_GROUPS,
                    f"devices on counter set {counter_set} have no compatibility group in common: {text}",
                )


def _held_twice(held: Sequence[Holding]) -> Iterator[Breach]:
    """Each claim that holds the device though an earlier one does, unless all of them hold shares."""
    reported: set[int] = set()
    for position, holding in enumerate(held):
        others = [each for each in held[:position] if each.number != holding.number and not (each.share and holding.share)]
        if others and holding.number not in reported:
            reported.add(holding.number)
            shared = holding.share or all(each.share for each in others)
            mine = "a share" if holding.share else "all"
            theirs = ", ".join(sorted({f"{each.claim} ({'a share' if each.share else 'all of it'})" for each in others}))
            yield holding.breach(
                BreachKind.DEVICE_HELD_AND_SHARED if shared else BreachKind.DEVICE_HELD_TWICE,
                f"holds {mine} of device {holding.device}, which is held by {theirs}",
                others=[each.claim for each in others],
            )


def _latest_offer(held: Sequence[Holding]) -> Offer | None:
    return next((holding.offer for holding in reversed(held) if holding.offer is not None), None)


def _on_last(holdings: Sequence[Holding], kind: BreachKind, message: str) -> Breach:
    last = max(holdings, key=lambda holding: holding.number)
    return last.breach(kind, message, others=[holding.claim for holding in holdings])
