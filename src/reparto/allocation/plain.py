"""The contract, executable: the allocator written down as upstream-dra.md section 3 says it, without any thought of speed.

It exists to be read beside the specification, and to be compared with Kubernetes and with the real allocator in tests. It keeps no
indexes and undoes nothing: whether a device can be taken is worked out afresh from the devices taken so far. Only rules that have
no state (quantities, node selectors, tolerations, one constraint, CEL, the shape of an allocation) are shared with the real one.

Every rule is a method of `Attempt`, so that a test can switch one off and see which answers depended on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from reparto.allocation import compatibility, constraints
from reparto.allocation.allocator import STEP_BUDGET, ShareIDs
from reparto.allocation.capacity import CapacityError, Draw, draw
from reparto.allocation.constraints import Constraint
from reparto.allocation.counters import CounterName, demand_of, unknown_counter
from reparto.allocation.errors import AllocationError, FailureKind, GaveUp
from reparto.allocation.features import Features
from reparto.allocation.node_matching import NodeSelection
from reparto.allocation.requests import MAX_DEVICES, Alternative, Preparation, PreparedClaim, PreparedRequest
from reparto.allocation.results import Choice, Pick, assemble
from reparto.allocation.selectors import Selectors
from reparto.allocation.state import AllocatedState, DeviceID
from reparto.allocation.taints import blocking_taints, untolerated
from reparto.model.core import Node
from reparto.model.quantity import Quantity
from reparto.model.v1 import (
    AllocationResult,
    CounterSet,
    Device,
    DeviceAttribute,
    DeviceCapacity,
    DeviceClass,
    DeviceCounterConsumption,
    ResourceClaim,
    ResourceSlice,
)

TOO_MANY = "too many"
"""The signal SIZE of the specification: the claim would hold more than 32 devices."""
INCOMPLETE = "incomplete"
"""The problem of a pool of which slices are missing. Any other problem makes it invalid."""


@dataclass(frozen=True, slots=True, eq=False)
class Offer:
    """A device as the node sees it. `number` identifies it to the cache of selector answers."""

    number: int
    id: DeviceID
    device: Device
    slice: ResourceSlice


@dataclass(slots=True, eq=False)
class Pool:
    """A pool as the node sees it. One with a problem has no devices."""

    id: tuple[str, str]
    problem: str = ""
    targeting: list[Offer] = field(default_factory=list[Offer])
    not_targeting: list[Offer] = field(default_factory=list[Offer])
    counter_sets: dict[str, CounterSet] = field(default_factory=dict[str, CounterSet])

    @property
    def invalid(self) -> bool:
        """True if the pool contradicts itself."""
        return self.problem not in ("", INCOMPLETE)


Candidate = tuple[Pool, Offer]
Request = Alternative[Candidate]


@dataclass(frozen=True, slots=True, eq=False)
class Taken:
    """A device taken for a request. `pays` is False for a further share of a device, whose counters and groups count already."""

    claim: int
    request: Request
    pool: Pool
    offer: Offer
    pays: bool
    draw: Draw | None


@dataclass(frozen=True, slots=True)
class Found:
    """A solution: the devices in the order in which they were taken, and the alternative chosen for (claim, request)."""

    taken: tuple[Taken, ...]
    chosen: dict[tuple[int, int], int]


class Attempt:
    """One attempt to satisfy all claims of a pod on one node."""

    def __init__(
        self,
        node: Node,
        slices: Sequence[ResourceSlice],
        features: Features,
        allocated: AllocatedState,
        new_share_id: Callable[[], str],
        step_budget: int,
    ) -> None:
        self.node, self.slices, self.features = node, slices, features
        self.allocated, self.new_share_id = allocated, new_share_id
        self.steps, self.step_budget = 0, step_budget
        self.selectors = Selectors(features)
        self.offers = 0
        self.claims: list[PreparedClaim[Candidate]] = []
        self.pools: list[Pool] = []

    def allocate(self, classes: dict[str, DeviceClass], claims: Sequence[ResourceClaim]) -> list[AllocationResult] | None:
        """As `Allocator.allocate`."""
        self.pools = self.gather()
        self.claims = self.prepare(classes, claims)
        found = self.solve(0, 0, None, 0, 0, ())
        if isinstance(found, Found):
            return [self.result(index, claim, found) for index, claim in enumerate(self.claims)]
        if any(pool.invalid for pool in self.pools):
            raise AllocationError("invalid resource pools were encountered", kind=FailureKind.POOL_INVALID, node_only=True)
        return None

    # --- 3.3 pool gathering -------------------------------------------------------------------------------------------------------

    def gather(self) -> list[Pool]:
        """The pools of the node, in the order in which they are tried."""
        relevant: dict[tuple[str, str], list[ResourceSlice]] = {}
        for published in self.slices:
            if self.is_candidate(published) and self.is_known(published) and self.is_relevant(published):
                relevant.setdefault((published.spec.driver, published.spec.pool.name), []).append(published)
        pools = [self.pool(identity, self.newest(slices)) for identity, slices in relevant.items()]
        return self.in_order([pool for pool in pools if pool is not None])

    def is_candidate(self, published: ResourceSlice) -> bool:
        """Step 1: the node's own slices, and those that name no node."""
        return published.spec.node_name in (None, "", self.node.metadata.name)

    def is_known(self, published: ResourceSlice) -> bool:
        """Step 2: slices that use a feature which is off count as not there."""
        return self.partitions_known(published) and self.groups_known(published)

    def partitions_known(self, published: ResourceSlice) -> bool:
        """Step 2 for partitionable devices."""
        spec = published.spec
        return self.features.partitionable_devices or not (spec.per_device_node_selection is not None or spec.shared_counters)

    def groups_known(self, published: ResourceSlice) -> bool:
        """Step 2 for compatibility groups."""
        return self.features.compatibility_groups or not compatibility.declares_groups(published)

    def is_relevant(self, published: ResourceSlice) -> bool:
        """Step 3."""
        spec = published.spec
        selection = NodeSelection(spec.node_name, spec.all_nodes, spec.node_selector, f"slice {published.metadata.name}")
        if selection.known:
            return selection.matches(self.node)
        return bool(spec.per_device_node_selection) and self.has_device_for_node(published)

    def has_device_for_node(self, published: ResourceSlice) -> bool:
        """Step 3 for slices whose devices say themselves where they are."""
        pool = f"{published.spec.driver}/{published.spec.pool.name}"
        return any(self.is_for_node(pool, device) for device in published.spec.devices or ())

    def is_for_node(self, pool: str, device: Device) -> bool:
        """3.2 for a device."""
        selection = NodeSelection(device.node_name, device.all_nodes, device.node_selector, f"device {pool}/{device.name}")
        return selection.matches(self.node)

    def newest(self, slices: list[ResourceSlice]) -> list[ResourceSlice]:
        """Step 4, and the order of step 6."""
        generation = max(published.spec.pool.generation for published in slices)
        return self.by_name([published for published in slices if published.spec.pool.generation == generation])

    def by_name(self, slices: list[ResourceSlice]) -> list[ResourceSlice]:
        """The order of a pool's slices (step 6)."""
        return sorted(slices, key=lambda published: published.metadata.name)

    def pool(self, identity: tuple[str, str], kept: list[ResourceSlice]) -> Pool | None:
        """Step 5."""
        if len(kept) == kept[0].spec.pool.resource_slice_count:
            return self.complete(Pool(identity), kept, [])
        everywhere = [s for s in self.slices if (s.spec.driver, s.spec.pool.name) == identity]
        if self.is_replaced(kept, everywhere):
            return None
        same = [s for s in everywhere if s.spec.pool.generation == kept[0].spec.pool.generation and self.groups_known(s)]
        if self.is_incomplete(kept, same):
            return Pool(identity, problem=INCOMPLETE)
        names = {published.metadata.name for published in kept}
        return self.complete(Pool(identity), kept, [published for published in same if published.metadata.name not in names])

    def is_replaced(self, kept: list[ResourceSlice], everywhere: list[ResourceSlice]) -> bool:
        """Step 5b: some other node has seen a newer generation."""
        return any(published.spec.pool.generation > kept[0].spec.pool.generation for published in everywhere)

    def is_incomplete(self, kept: list[ResourceSlice], same_generation: list[ResourceSlice]) -> bool:
        """Step 5b: the slices of all nodes together are not what the pool says that it has."""
        return len(same_generation) != kept[0].spec.pool.resource_slice_count

    def complete(self, pool: Pool, kept: list[ResourceSlice], others: list[ResourceSlice]) -> Pool:
        """Step 6. `others` are slices of the pool that do not target the node."""
        partitionable = self.features.partitionable_devices
        for published in kept + others:
            if partitionable and published.spec.shared_counters:
                for counter_set in published.spec.shared_counters:
                    if counter_set.name in pool.counter_sets:
                        pool.problem = self.duplicate_counter_set(counter_set.name)
                    pool.counter_sets[counter_set.name] = counter_set
            elif published in others:
                pool.not_targeting += self.offered(published)
            else:
                pool.targeting += self.offered(published)
        pool.problem = self.duplicate_device(pool) or pool.problem
        if partitionable:
            pool.problem = pool.problem or self.unknown_counter(pool)
        if pool.problem:
            pool.targeting, pool.not_targeting = [], []
        elif not partitionable:
            pool.not_targeting = []
        return pool

    def duplicate_counter_set(self, name: str) -> str:
        """What is wrong with a pool that publishes a counter set twice."""
        return f"duplicate counter set name {name}"

    def duplicate_device(self, pool: Pool) -> str:
        """What is wrong with a pool whose targeting slices name a device twice; else empty."""
        names = [offer.device.name for offer in pool.targeting]
        return "" if len(names) == len(set(names)) else "duplicate device name"

    def unknown_counter(self, pool: Pool) -> str:
        """What is wrong with a pool of which a device, targeting or not, draws on what the pool does not publish; else empty."""
        devices = [offer.device for offer in pool.targeting + pool.not_targeting]
        return unknown_counter(pool.counter_sets, devices) or ""

    def offered(self, published: ResourceSlice) -> list[Offer]:
        """The devices of a slice, in its order."""
        offers: list[Offer] = []
        for device in published.spec.devices or ():
            self.offers += 1
            identity = (published.spec.driver, published.spec.pool.name, device.name)
            offers.append(Offer(self.offers, identity, device, published))
        return offers

    def in_order(self, pools: list[Pool]) -> list[Pool]:
        """Step 7."""
        return sorted(pools, key=lambda pool: (self.waits_for_binding(pool), pool.id))

    def waits_for_binding(self, pool: Pool) -> bool:
        """True for pools that come last (step 7)."""
        return any(offer.device.binding_conditions for offer in pool.targeting)

    # --- 3.4 requests -------------------------------------------------------------------------------------------------------------

    def prepare(self, classes: dict[str, DeviceClass], claims: Sequence[ResourceClaim]) -> list[PreparedClaim[Candidate]]:
        """What is refused whatever the devices, and how many devices each request needs."""
        return Preparation(classes, self.features, self.every).prepare(claims)

    def every(self, request: Request) -> list[Candidate]:
        """The devices of mode All. Who uses them does not matter here."""
        devices: list[Candidate] = []
        for pool in self.pools:
            if pool.problem:
                incomplete = pool.problem == INCOMPLETE
                state = "currently being updated" if incomplete else "currently invalid"
                raise AllocationError(
                    f"claim {request.claim}, request {request.name}: asks for all devices, "
                    f"but resource pool {'/'.join(pool.id)} is {state}",
                    kind=FailureKind.POOL_INCOMPLETE if incomplete else FailureKind.POOL_INVALID,
                )
            devices += [(pool, offer) for offer in pool.targeting if self.belongs(request, offer)]
        return devices

    def belongs(self, request: Request, offer: Offer) -> bool:
        """Whether the device is one of those that mode All asks for."""
        if not self.selectable(request, offer):
            return False
        if not self.features.consumable_capacity:
            return True
        drawn = self.draw(request, offer)
        return drawn is not None and drawn.fits({}, {})

    # --- 3.5 search ---------------------------------------------------------------------------------------------------------------

    def solve(self, c: int, r: int, s: int | None, d: int, start: int, taken: tuple[Taken, ...]) -> Found | str | None:
        """The first solution, None for failure, or the signal that the claim would get too big."""
        self.step()
        if c == len(self.claims):
            return Found(taken, {})
        if r == len(self.claims[c].requests):
            found = self.solve(c + 1, 0, None, 0, 0, taken)
            return found if isinstance(found, Found) else None
        request = self.claims[c].requests[r]
        if s is None:
            return self.solve_alternatives(c, r, taken) if request.has_choice else self.solve(c, r, 0, d, start, taken)
        alternative = request.alternatives[s]
        if alternative.every is not None and self.is_nothing(alternative.every):
            return None
        if d >= alternative.need:
            return self.solve(c, r + 1, None, 0, 0, taken)
        if self.holds_too_many(c, alternative.need - d, taken):
            return TOO_MANY
        if alternative.every is not None:
            more = self.take(c, alternative, *alternative.every[d], taken, must=True)
            return None if more is None else self.solve(c, r, s, d + 1, 0, (*taken, more))
        candidates = [(pool, offer) for pool in self.pools for offer in pool.targeting]
        for position in range(start, len(candidates)):
            self.step()
            pool, offer = candidates[position]
            if self.in_use(c, alternative, offer, taken) or not self.selectable(alternative, offer):
                continue
            if self.features.consumable_capacity and not self.has_room(alternative, offer, taken):
                continue
            more = self.take(c, alternative, pool, offer, taken, must=False)
            if more is not None:
                found = self.solve(c, r, s, d + 1, self.after(position), (*taken, more))
                if found is not None:
                    return found
        return None

    def solve_alternatives(self, c: int, r: int, taken: tuple[Taken, ...]) -> Found | str | None:
        """The first alternative for which there is a solution, with all that follows."""
        signals: list[str | None] = []
        for s in self.by_preference(self.claims[c].requests[r]):
            found = self.solve(c, r, s, 0, 0, taken)
            if isinstance(found, Found):
                return Found(found.taken, {**found.chosen, (c, r): s})
            signals.append(found)
        return TOO_MANY if all(signals) else None

    def by_preference(self, request: PreparedRequest[Candidate]) -> Sequence[int]:
        """The order in which alternatives are tried."""
        return range(len(request.alternatives))

    def is_nothing(self, every: Sequence[Candidate]) -> bool:
        """All of no device cannot be had."""
        return not every

    def holds_too_many(self, c: int, missing: int, taken: tuple[Taken, ...]) -> bool:
        """Whether the claim would exceed its limit with what it still needs."""
        return sum(each.claim == c for each in taken) + missing > MAX_DEVICES

    def after(self, position: int) -> int:
        """Where the next device of the same request is looked for: combinations, not permutations."""
        return position + 1

    def step(self) -> None:
        """Ours, not upstream's: an end to all searches."""
        self.steps += 1
        if self.steps > self.step_budget:
            raise GaveUp(self.step_budget)

    # --- 3.6 selectable -----------------------------------------------------------------------------------------------------------

    def selectable(self, request: Request, offer: Offer) -> bool:
        """Whether the request may have the device, whoever uses it."""
        return (
            self.binding_known(offer.device)
            and self.class_selects(request, offer)
            and self.request_selects(request, offer)
            and self.is_here(offer)
        )

    def binding_known(self, device: Device) -> bool:
        """Step 1."""
        return not device.binding_conditions or self.features.device_binding_and_status

    def class_selects(self, request: Request, offer: Offer) -> bool:
        """Step 2, with 3.7: an expression that fails ends the attempt."""
        return self.selectors.first_unmatched(offer, request.device_class.spec.selectors, request.class_origin) is None

    def request_selects(self, request: Request, offer: Offer) -> bool:
        """Step 2, with 3.7: an expression that fails ends the attempt."""
        return self.selectors.first_unmatched(offer, request.source.selectors, request.request_origin) is None

    def is_here(self, offer: Offer) -> bool:
        """Step 3."""
        return not offer.slice.spec.per_device_node_selection or self.is_for_node("/".join(offer.id[:2]), offer.device)

    # --- 3.8 one device -----------------------------------------------------------------------------------------------------------

    def take(self, claim: int, request: Request, pool: Pool, offer: Offer, taken: tuple[Taken, ...], must: bool) -> Taken | None:
        """The device, taken; None if it cannot be."""
        if self.in_use(claim, request, offer, taken):
            return None
        if not self.may_skip_node_operations(offer) or not self.may_consume_counters(offer.device):
            return None
        pays = bool(offer.device.consumes_counters) and self.is_first_share(offer, taken)
        if pays and not (self.compatible(pool, offer, taken) and self.counters_suffice(request, pool, offer, taken)):
            return None
        if not self.tolerated(request, offer.device):
            return None
        if not self.constraints_hold(claim, request, offer, taken):
            if must:
                self.refuse_all(request, offer)
            return None
        if not self.still_has_room(request, offer, taken):
            return None
        return Taken(claim, request, pool, offer, pays, self.draw(request, offer) if self.shareable(offer) else None)

    def in_use(self, claim: int, request: Request, offer: Offer, taken: tuple[Taken, ...]) -> bool:
        """Step 1."""
        if request.admin_access:
            return self.taken_by_claim(claim, offer, taken)
        return self.taken_before(offer, taken) or self.allocated.in_use(offer.id, self.features.consumable_capacity)

    def taken_before(self, offer: Offer, taken: tuple[Taken, ...]) -> bool:
        """Whether this attempt has the device already, for whichever claim."""
        return any(each.offer is offer and not self.shareable(offer) for each in taken)

    def taken_by_claim(self, claim: int, offer: Offer, taken: tuple[Taken, ...]) -> bool:
        """Whether this attempt has the device already for the same claim: all that admin access minds (3.13)."""
        return any(each.offer is offer and each.claim == claim and not self.shareable(offer) for each in taken)

    def may_skip_node_operations(self, offer: Offer) -> bool:
        """Step 2."""
        if not offer.slice.spec.skip_node_operations or not self.features.experimental:
            return True
        return self.features.optional_node_operations and "DRAOptionalNodeOperations" in self.node.status.declared_features

    def may_consume_counters(self, device: Device) -> bool:
        """Step 3."""
        return self.features.partitionable_devices or not device.consumes_counters

    def is_first_share(self, offer: Offer, taken: tuple[Taken, ...]) -> bool:
        """Step 4: counters and groups do not count again for a shared device."""
        shared = self.allocated.is_shared(offer.id) or any(each.offer is offer for each in taken)
        return not (self.shareable(offer) and shared)

    def tolerated(self, request: Request, device: Device) -> bool:
        """Step 5, which is 3.12."""
        return not self.features.device_taints or untolerated(blocking_taints(device), request.tolerations) is None

    def constraints_hold(self, claim: int, request: Request, offer: Offer, taken: tuple[Taken, ...]) -> bool:
        """Step 6, which is 3.9."""
        mine = [each for each in taken if each.claim == claim]
        made = [constraints.make(source, self.features.list_type_attributes) for source in self.claims[claim].constraints]
        return all(self.constraint_holds(each, request, offer, mine) for each in made if each is not None)

    def refuse_all(self, request: Request, offer: Offer) -> None:
        """Step 6: mode All with a device that violates a constraint ends the attempt."""
        raise AllocationError(
            f"claim {request.claim}, request {request.name}: cannot add device {'/'.join(offer.id)} because a claim "
            "constraint would not be satisfied",
            kind=FailureKind.CONSTRAINT_ON_ALL,
        )

    def still_has_room(self, request: Request, offer: Offer, taken: tuple[Taken, ...]) -> bool:
        """Step 7: capacity, again, for a device that mode All must take has not been asked before."""
        return not self.features.consumable_capacity or self.has_room(request, offer, taken)

    def shareable(self, offer: Offer) -> bool:
        """Whether several claims may have the device at once."""
        return bool(offer.device.allow_multiple_allocations) and self.features.consumable_capacity

    # --- 3.9 constraints ----------------------------------------------------------------------------------------------------------

    def constraint_holds(self, constraint: Constraint, request: Request, offer: Offer, taken: Sequence[Taken]) -> bool:
        """Whether the devices that the claim has taken so far, which satisfy the constraint, do so together with this one."""
        if not self.covers(constraint, request):
            return True
        for each in taken:
            if self.covers(constraint, each.request):
                constraint.add(partial(self.attribute, each.request, each.offer))
        return constraint.add(partial(self.attribute, request, offer))

    def covers(self, constraint: Constraint, request: Request) -> bool:
        """Whether the constraint speaks about the request."""
        return constraint.covers(request.name, request.parent)

    def attribute(self, request: Request, offer: Offer, name: str) -> DeviceAttribute | None:
        """The attribute that a constraint names."""
        if name in request.derived:
            return self.selectors.derived_attribute(name, request.derived[name], offer)
        return constraints.static_attribute(offer.device, offer.id[0], name)

    # --- 3.10 counters, 3.16 compatibility groups ---------------------------------------------------------------------------------

    def counters_suffice(self, request: Request, pool: Pool, offer: Offer, taken: tuple[Taken, ...]) -> bool:
        """Every counter of every set of the pool covers all that is allocated, taken, and wanted now; admin access included."""
        drawing = [each.device for each in self.allocated_of(pool)]
        drawing += [each.device for each in self.paying(pool, taken)]
        used: dict[CounterName, int] = {}
        for device in [*drawing, offer.device]:
            for name, amount in demand_of(device).items():
                used[name] = used.get(name, 0) + amount
        return all(used.get(name, 0) <= value for name, value in self.counters_to_check(pool, offer).items())

    def counters_to_check(self, pool: Pool, offer: Offer) -> dict[CounterName, int]:
        """All counters of the pool with their values, used by the device or not."""
        return {
            (counter_set.name, name): Quantity.parse(counter.value).nano
            for counter_set in pool.counter_sets.values()
            for name, counter in (counter_set.counters or {}).items()
        }

    def allocated_of(self, pool: Pool) -> list[Offer]:
        """The devices of the pool that are allocated in any form, for this node or others, as they are published now."""
        return [offer for offer in pool.targeting + pool.not_targeting if self.allocated.is_allocated(offer.id)]

    def paying(self, pool: Pool, taken: tuple[Taken, ...]) -> list[Offer]:
        """The devices of the pool that this attempt has taken, each once."""
        return [each.offer for each in taken if each.pool is pool and each.pays]

    def compatible(self, pool: Pool, offer: Offer, taken: tuple[Taken, ...]) -> bool:
        """The device has a group in common with all others on each counter set that it draws on; or none of them has any."""
        if not self.features.compatibility_groups:
            return True
        others = self.allocated_of(pool) + self.paying(pool, taken)
        members: list[DeviceCounterConsumption] = [consumption for each in others for consumption in each.device.consumes_counters]
        for consumption in offer.device.consumes_counters:
            common = compatibility.folded(members).get(consumption.counter_set)
            if common is not None and not common.admits(consumption.compatibility_groups):
                return False
            members.append(consumption)
        return True

    # --- 3.11 capacity ------------------------------------------------------------------------------------------------------------

    def draw(self, request: Request, offer: Offer) -> Draw | None:
        """What the request takes of the device; None if that cannot be had. Impossible amounts end the attempt."""
        try:
            return draw(self.capacity(offer), request.capacity, self.features.fractional_capacity_range)
        except CapacityError as error:
            raise AllocationError(
                f"claim {request.claim}, request {request.name}: checking capacity for device {'/'.join(offer.id)}: {error}",
                kind=FailureKind.CAPACITY_UNUSABLE,
            ) from error

    def capacity(self, offer: Offer) -> dict[str, DeviceCapacity]:
        """The capacities of the device, requested or not."""
        return offer.device.capacity or {}

    def has_room(self, request: Request, offer: Offer, taken: tuple[Taken, ...]) -> bool:
        """Whether the share fits beside what others hold and what this attempt has taken."""
        drawn = self.draw(request, offer)
        return drawn is not None and drawn.fits(self.allocated.consumed(offer.id), self.provisional(offer, taken))

    def provisional(self, offer: Offer, taken: tuple[Taken, ...]) -> dict[str, int]:
        """What this attempt holds of the device."""
        held: dict[str, int] = {}
        for each in taken:
            if each.offer is offer and each.draw is not None:
                for name, amount in each.draw.amounts.items():
                    held[name] = held.get(name, 0) + amount.nano
        return held

    # --- 3.14 results -------------------------------------------------------------------------------------------------------------

    def result(self, index: int, claim: PreparedClaim[Candidate], found: Found) -> AllocationResult:
        """The allocation of one claim."""
        choices: list[Choice] = []
        for number, request in enumerate(claim.requests):
            alternative = request.alternatives[found.chosen.get((index, number), 0)]
            choices.append(Choice(request.source.name, alternative.reference, alternative.device_class))
        picks = [self.pick(each) for each in found.taken if each.claim == index]
        return assemble(claim.source, choices, picks, self.node, self.features)

    def pick(self, each: Taken) -> Pick:
        """A device of the solution; shares get their IDs here."""
        return Pick(
            reference=each.request.reference,
            device=each.offer.device,
            slice=each.offer.slice.spec,
            tolerations=each.request.tolerations,
            admin_access=each.request.admin_access,
            share_id=self.new_share_id() if self.shareable(each.offer) else None,
            consumed=each.draw.amounts if each.draw is not None else {},
        )


class PlainAllocator:
    """The same answers as `Allocator`, one rule after the other. Recursion is as deep as devices and requests are many."""

    attempt: type[Attempt] = Attempt
    """The rules that it goes by."""

    def __init__(
        self,
        slices: Iterable[ResourceSlice],
        classes: Iterable[DeviceClass],
        *,
        allocated: AllocatedState | None = None,
        features: Features | None = None,
        policy: str = "first-fit",
        step_budget: int = STEP_BUDGET,
        share_ids: Callable[[], str] | None = None,
    ) -> None:
        if policy != "first-fit":
            raise ValueError(f"unknown policy {policy!r}: only first-fit exists")
        self._slices = list(slices)
        self._classes: dict[str, DeviceClass] = {}
        for device_class in classes:
            self._classes.setdefault(device_class.metadata.name, device_class)
        self._allocated = allocated if allocated is not None else AllocatedState()
        self._features = features if features is not None else Features.for_version()
        self._step_budget = step_budget
        self._share_ids = share_ids if share_ids is not None else ShareIDs(self._allocated)

    def allocate(self, node: Node, claims: Sequence[ResourceClaim]) -> list[AllocationResult] | None:
        """As `Allocator.allocate`."""
        attempt = self.attempt(node, self._slices, self._features, self._allocated, self._share_ids, self._step_budget)
        return attempt.allocate(self._classes, claims)
