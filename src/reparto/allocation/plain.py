"""The contract, executable: the allocator written down as upstream-dra.md section 3 says it, without any thought of speed.

It exists to be read beside the specification, and to be compared with Kubernetes and with the real allocator in tests. It keeps no
indexes and undoes nothing: whether a device can be taken is worked out afresh from the devices taken so far. Only rules that have
no state (quantities, node selectors, tolerations, one constraint, CEL, the shape of an allocation) are shared with the real one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from reparto.allocation import compatibility, constraints
from reparto.allocation.allocator import STEP_BUDGET, ShareIDs
from reparto.allocation.capacity import CapacityError, Draw, draw
from reparto.allocation.counters import CounterName, demand_of, unknown_counter
from reparto.allocation.errors import AllocationError, FailureKind, GaveUp
from reparto.allocation.features import Features
from reparto.allocation.node_matching import NodeSelection
from reparto.allocation.requests import MAX_DEVICES, Alternative, Preparation, PreparedClaim
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
    DeviceClass,
    DeviceCounterConsumption,
    ResourceClaim,
    ResourceSlice,
)

_TOO_MANY = "too many"
"""The signal SIZE of the specification: the claim would hold more than 32 devices."""


@dataclass(frozen=True, slots=True, eq=False)
class _Offer:
    """A device as the node sees it. `number` identifies it to the cache of selector answers."""

    number: int
    id: DeviceID
    device: Device
    slice: ResourceSlice


@dataclass(slots=True, eq=False)
class _Pool:
    id: tuple[str, str]
    problem: str = ""
    targeting: list[_Offer] = field(default_factory=list[_Offer])
    not_targeting: list[_Offer] = field(default_factory=list[_Offer])
    counter_sets: dict[str, CounterSet] = field(default_factory=dict[str, CounterSet])

    @property
    def invalid(self) -> bool:
        return self.problem not in ("", "incomplete")


_Candidate = tuple[_Pool, _Offer]
_Request = Alternative[_Candidate]


@dataclass(frozen=True, slots=True, eq=False)
class _Taken:
    claim: int
    request: _Request
    pool: _Pool
    offer: _Offer
    pays: bool
    """False for a further share of a device, whose counters and groups count already."""
    share_id: str | None
    draw: Draw | None


@dataclass(frozen=True, slots=True)
class _Found:
    taken: tuple[_Taken, ...]
    chosen: dict[tuple[int, int], int]


class PlainAllocator:
    """The same answers as `Allocator`, one rule after the other. Recursion is as deep as devices and requests are many."""

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
        attempt = _Attempt(node, self._slices, self._features, self._allocated, self._share_ids, self._step_budget)
        return attempt.allocate(self._classes, claims)


class _Attempt:
    def __init__(
        self,
        node: Node,
        slices: Sequence[ResourceSlice],
        features: Features,
        allocated: AllocatedState,
        new_share_id: Callable[[], str],
        step_budget: int,
    ) -> None:
        self._node, self._slices, self._features = node, slices, features
        self._allocated, self._new_share_id = allocated, new_share_id
        self._steps, self._step_budget = 0, step_budget
        self._selectors = Selectors(features)
        self._offers = 0
        self._claims: list[PreparedClaim[_Candidate]] = []
        self._pools = self._gather()

    def allocate(self, classes: dict[str, DeviceClass], claims: Sequence[ResourceClaim]) -> list[AllocationResult] | None:
        self._claims = Preparation(classes, self._features, self._all_devices).prepare(claims)
        found = self._solve(0, 0, None, 0, 0, ())
        if not isinstance(found, _Found):
            if any(pool.invalid for pool in self._pools):
                raise AllocationError("invalid resource pools were encountered", kind=FailureKind.POOL_INVALID, node_only=True)
            return None
        return [self._result(index, claim, found) for index, claim in enumerate(self._claims)]

    # --- 3.3 pool gathering -------------------------------------------------------------------------------------------------------

    def _gather(self) -> list[_Pool]:
        relevant: dict[tuple[str, str], list[ResourceSlice]] = {}
        for published in self._slices:
            if (
                published.spec.node_name in (None, "", self._node.metadata.name)
                and self._known(published)
                and self._relevant(published)
            ):
                relevant.setdefault((published.spec.driver, published.spec.pool.name), []).append(published)
        pools: list[_Pool] = []
        for identity, slices in relevant.items():
            newest = max(published.spec.pool.generation for published in slices)
            kept = [published for published in slices if published.spec.pool.generation == newest]
            kept.sort(key=lambda published: published.metadata.name)
            pool = self._pool(identity, newest, kept)
            if pool is not None:
                pools.append(pool)
        waits = {pool.id: any(offer.device.binding_conditions for offer in pool.targeting) for pool in pools}
        return sorted(pools, key=lambda pool: (waits[pool.id], pool.id))

    def _known(self, published: ResourceSlice) -> bool:
        """False for slices that use a feature which is off: they count as not there (step 2)."""
        spec = published.spec
        if not self._features.partitionable_devices and (spec.per_device_node_selection is not None or spec.shared_counters):
            return False
        return self._groups_known(published)

    def _groups_known(self, published: ResourceSlice) -> bool:
        return self._features.compatibility_groups or not compatibility.declares_groups(published)

    def _relevant(self, published: ResourceSlice) -> bool:
        spec = published.spec
        selection = NodeSelection(spec.node_name, spec.all_nodes, spec.node_selector, f"slice {published.metadata.name}")
        if selection.known:
            return selection.matches(self._node)
        pool = f"{spec.driver}/{spec.pool.name}"
        return bool(spec.per_device_node_selection) and any(self._is_for_node(pool, device) for device in spec.devices or ())

    def _is_for_node(self, pool: str, device: Device) -> bool:
        selection = NodeSelection(device.node_name, device.all_nodes, device.node_selector, f"device {pool}/{device.name}")
        return selection.matches(self._node)

    def _pool(self, identity: tuple[str, str], generation: int, kept: list[ResourceSlice]) -> _Pool | None:
        """Steps 5 and 6."""
        wanted = kept[0].spec.pool.resource_slice_count
        others: list[ResourceSlice] = []
        if len(kept) != wanted:
            everywhere = [s for s in self._slices if (s.spec.driver, s.spec.pool.name) == identity]
            if any(published.spec.pool.generation > generation for published in everywhere):
                return None
            same = [s for s in everywhere if s.spec.pool.generation == generation and self._groups_known(s)]
            if len(same) != wanted:
                return _Pool(identity, problem="incomplete")
            names = {published.metadata.name for published in kept}
            others = [published for published in same if published.metadata.name not in names]
        pool = _Pool(identity)
        partitionable = self._features.partitionable_devices
        for published in kept + others:
            if partitionable and published.spec.shared_counters:
                for counter_set in published.spec.shared_counters:
                    if counter_set.name in pool.counter_sets:
                        pool.problem = f"duplicate counter set name {counter_set.name}"
                    pool.counter_sets[counter_set.name] = counter_set
            elif published in others:
                pool.not_targeting += self._offered(published)
            else:
                pool.targeting += self._offered(published)
        names = [offer.device.name for offer in pool.targeting]
        if len(names) != len(set(names)):
            pool.problem = "duplicate device name"
        if partitionable:
            devices = [offer.device for offer in pool.targeting + pool.not_targeting]
            pool.problem = pool.problem or unknown_counter(pool.counter_sets, devices) or ""
        if pool.problem:
            pool.targeting, pool.not_targeting = [], []
        elif not partitionable:
            pool.not_targeting = []
        return pool

    def _offered(self, published: ResourceSlice) -> list[_Offer]:
        offers: list[_Offer] = []
        for device in published.spec.devices or ():
            self._offers += 1
            identity = (published.spec.driver, published.spec.pool.name, device.name)
            offers.append(_Offer(self._offers, identity, device, published))
        return offers

    # --- 3.4 mode All -------------------------------------------------------------------------------------------------------------

    def _all_devices(self, request: _Request) -> list[_Candidate]:
        devices: list[_Candidate] = []
        for pool in self._pools:
            if pool.problem:
                incomplete = pool.problem == "incomplete"
                state = "currently being updated" if incomplete else "currently invalid"
                raise AllocationError(
                    f"claim {request.claim}, request {request.name}: asks for all devices, "
                    f"but resource pool {'/'.join(pool.id)} is {state}",
                    kind=FailureKind.POOL_INCOMPLETE if incomplete else FailureKind.POOL_INVALID,
                )
            for offer in pool.targeting:
                if not self._selectable(request, offer):
                    continue
                if self._features.consumable_capacity:
                    drawn = self._draw(request, offer)
                    if drawn is None or not drawn.fits({}, {}):
                        continue
                devices.append((pool, offer))
        return devices

    # --- 3.5 search ---------------------------------------------------------------------------------------------------------------

    def _solve(self, c: int, r: int, s: int | None, d: int, start: int, taken: tuple[_Taken, ...]) -> _Found | str | None:
        """The first solution, None for failure, or the signal that the claim would get too big."""
        self._step()
        if c == len(self._claims):
            return _Found(taken, {})
        if r == len(self._claims[c].requests):
            found = self._solve(c + 1, 0, None, 0, 0, taken)
            return found if isinstance(found, _Found) else None
        request = self._claims[c].requests[r]
        if s is None:
            return self._solve_alternatives(c, r, taken) if request.has_choice else self._solve(c, r, 0, d, start, taken)
        alternative = request.alternatives[s]
        if alternative.every is not None and not alternative.every:
            return None
        if d >= alternative.need:
            return self._solve(c, r + 1, None, 0, 0, taken)
        if sum(each.claim == c for each in taken) + alternative.need - d > MAX_DEVICES:
            return _TOO_MANY
        if alternative.every is not None:
            more = self._try(c, alternative, *alternative.every[d], taken, must=True)
            return None if more is None else self._solve(c, r, s, d + 1, 0, (*taken, more))
        candidates = [(pool, offer) for pool in self._pools for offer in pool.targeting]
        for position in range(start, len(candidates)):
            self._step()
            pool, offer = candidates[position]
            if self._in_use(c, alternative, offer, taken) or not self._selectable(alternative, offer):
                continue
            if self._features.consumable_capacity and not self._has_room(alternative, offer, taken):
                continue
            more = self._try(c, alternative, pool, offer, taken, must=False)
            if more is not None:
                found = self._solve(c, r, s, d + 1, position + 1, (*taken, more))
                if found is not None:
                    return found
        return None

    def _solve_alternatives(self, c: int, r: int, taken: tuple[_Taken, ...]) -> _Found | str | None:
        signals: list[str | None] = []
        for s in range(len(self._claims[c].requests[r].alternatives)):
            found = self._solve(c, r, s, 0, 0, taken)
            if isinstance(found, _Found):
                return _Found(found.taken, {**found.chosen, (c, r): s})
            signals.append(found)
        return _TOO_MANY if all(signals) else None

    def _step(self) -> None:
        self._steps += 1
        if self._steps > self._step_budget:
            raise GaveUp(self._step_budget)

    # --- 3.6 selectable -----------------------------------------------------------------------------------------------------------

    def _selectable(self, request: _Request, offer: _Offer) -> bool:
        device = offer.device
        if device.binding_conditions and not self._features.device_binding_and_status:
            return False
        if self._selectors.first_unmatched(offer, request.device_class.spec.selectors, request.class_origin) is not None:
            return False
        if self._selectors.first_unmatched(offer, request.source.selectors, request.request_origin) is not None:
            return False
        return not offer.slice.spec.per_device_node_selection or self._is_for_node("/".join(offer.id[:2]), device)

    # --- 3.8 one device -----------------------------------------------------------------------------------------------------------

    def _try(
        self, claim: int, request: _Request, pool: _Pool, offer: _Offer, taken: tuple[_Taken, ...], must: bool
    ) -> _Taken | None:
        features, device = self._features, offer.device
        shareable = self._shareable(offer)
        if self._in_use(claim, request, offer, taken):
            return None
        if offer.slice.spec.skip_node_operations and features.experimental:
            declared = "DRAOptionalNodeOperations" in self._node.status.declared_features
            if not (features.optional_node_operations and declared):
                return None
        if device.consumes_counters and not features.partitionable_devices:
            return None
        shared = shareable and (self._allocated.is_shared(offer.id) or any(each.offer is offer for each in taken))
        pays = bool(device.consumes_counters) and not shared
        if pays and features.compatibility_groups and not self._compatible(pool, offer, taken):
            return None
        if pays and not self._counters_suffice(pool, offer, taken):
            return None
        if features.device_taints and untolerated(blocking_taints(device), request.tolerations) is not None:
            return None
        for constraint in self._claims[claim].constraints:
            replay = constraints.make(constraint, features.list_type_attributes)
            if replay is None:
                continue
            for each in taken:
                if each.claim == claim and replay.covers(each.request.name, each.request.parent):
                    replay.add(partial(self._attribute, each.request, each.offer))
            if replay.covers(request.name, request.parent) and not replay.add(partial(self._attribute, request, offer)):
                if must:
                    raise AllocationError(
                        f"claim {request.claim}, request {request.name}: cannot add device {'/'.join(offer.id)} because a claim "
                        "constraint would not be satisfied",
                        kind=FailureKind.CONSTRAINT_ON_ALL,
                    )
                return None
        if features.consumable_capacity and not self._has_room(request, offer, taken):
            return None
        drawn = self._draw(request, offer) if shareable else None
        return _Taken(claim, request, pool, offer, pays, self._new_share_id() if shareable else None, drawn)

    def _in_use(self, claim: int, request: _Request, offer: _Offer, taken: tuple[_Taken, ...]) -> bool:
        holders = [each.claim for each in taken if each.offer is offer and not self._shareable(offer)]
        if request.admin_access:
            return claim in holders
        return bool(holders) or self._allocated.in_use(offer.id, self._features.consumable_capacity)

    def _shareable(self, offer: _Offer) -> bool:
        return bool(offer.device.allow_multiple_allocations) and self._features.consumable_capacity

    # --- 3.9 attributes -----------------------------------------------------------------------------------------------------------

    def _attribute(self, request: _Request, offer: _Offer, name: str) -> DeviceAttribute | None:
        if name in request.derived:
            return self._selectors.derived_attribute(name, request.derived[name], offer)
        return constraints.static_attribute(offer.device, offer.id[0], name)

    # --- 3.10 counters, 3.16 compatibility groups ---------------------------------------------------------------------------------

    def _counters_suffice(self, pool: _Pool, offer: _Offer, taken: tuple[_Taken, ...]) -> bool:
        """Every counter of every set of the pool covers all that is allocated, taken, and wanted now."""
        used: dict[CounterName, int] = {}
        drawing = [each.device for each in self._allocated_of(pool)]
        drawing += [each.offer.device for each in taken if each.pool is pool and each.pays]
        for device in [*drawing, offer.device]:
            for name, amount in demand_of(device).items():
                used[name] = used.get(name, 0) + amount
        return all(
            used.get((counter_set.name, name), 0) <= Quantity.parse(counter.value).nano
            for counter_set in pool.counter_sets.values()
            for name, counter in (counter_set.counters or {}).items()
        )

    def _allocated_of(self, pool: _Pool) -> list[_Offer]:
        return [offer for offer in pool.targeting + pool.not_targeting if self._allocated.is_allocated(offer.id)]

    def _compatible(self, pool: _Pool, offer: _Offer, taken: tuple[_Taken, ...]) -> bool:
        members: list[DeviceCounterConsumption] = [c for each in self._allocated_of(pool) for c in each.device.consumes_counters]
        members += [c for each in taken if each.pool is pool and each.pays for c in each.offer.device.consumes_counters]
        for consumption in offer.device.consumes_counters:
            common = compatibility.folded(members).get(consumption.counter_set)
            if common is not None and not common.admits(consumption.compatibility_groups):
                return False
            members.append(consumption)
        return True

    # --- 3.11 capacity ------------------------------------------------------------------------------------------------------------

    def _draw(self, request: _Request, offer: _Offer) -> Draw | None:
        try:
            return draw(offer.device.capacity or {}, request.capacity, self._features.fractional_capacity_range)
        except CapacityError as error:
            raise AllocationError(
                f"claim {request.claim}, request {request.name}: checking capacity for device {'/'.join(offer.id)}: {error}",
                kind=FailureKind.CAPACITY_UNUSABLE,
            ) from error

    def _has_room(self, request: _Request, offer: _Offer, taken: tuple[_Taken, ...]) -> bool:
        drawn = self._draw(request, offer)
        if drawn is None:
            return False
        provisional: dict[str, int] = {}
        for each in taken:
            if each.offer is offer and each.draw is not None:
                for name, amount in each.draw.amounts.items():
                    provisional[name] = provisional.get(name, 0) + amount.nano
        return drawn.fits(self._allocated.consumed(offer.id), provisional)

    # --- 3.14 results -------------------------------------------------------------------------------------------------------------

    def _result(self, index: int, claim: PreparedClaim[_Candidate], found: _Found) -> AllocationResult:
        choices: list[Choice] = []
        for number, request in enumerate(claim.requests):
            alternative = request.alternatives[found.chosen.get((index, number), 0)]
            choices.append(Choice(request.source.name, alternative.reference, alternative.device_class))
        picks = [
            Pick(
                reference=each.request.reference,
                device=each.offer.device,
                slice=each.offer.slice.spec,
                tolerations=each.request.tolerations,
                admin_access=each.request.admin_access,
                share_id=each.share_id,
                consumed=each.draw.amounts if each.draw is not None else {},
            )
            for each in found.taken
            if each.claim == index
        ]
        return assemble(claim.source, choices, picks, self._node, self._features)
