"""The rules of allocation (upstream-dra.md section 3), each with a variant of the plain allocator that does without it.

A rule has *decided* a problem if the variant answers otherwise. So a rule that no random problem exercises shows, and a comparison
with Kubernetes that never depended on it proves nothing about it. A rule that ends an attempt with an error is switched off by
having nothing fit instead.

Rules that the variants leave alone: 3.5 where a depth-first search has no choice, 3.8.8 (the plain allocator has nothing to undo;
scripts/mutations.py breaks that in the real one), 3.15 and 3.17 (not the allocator's).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import msgspec

from conformance import allocation_answers as answers
from conformance.allocation_problems import Problem
from reparto.allocation import AllocationError, capacity, results
from reparto.allocation.constraints import DistinctAttribute, MatchAttribute, static_attribute
from reparto.allocation.counters import demand_of
from reparto.allocation.errors import FailureKind
from reparto.allocation.plain import Attempt, Found, Offer, PlainAllocator, Taken
from reparto.allocation.taints import untolerated
from reparto.model.v1 import CapacityRequestPolicy, DeviceCapacity

STEPS = 3_000
"""Steps after which the plain allocator may give up; such a problem tells nothing about rules."""

_structs = msgspec.structs.replace


@dataclass(frozen=True)
class Rule:
    """`without` is the allocator that does not know the rule; `needs` is a text without which a problem cannot depend on it."""

    section: str
    says: str
    without: type[PlainAllocator]
    needs: str

    @property
    def name(self) -> str:
        return f"{self.section} {self.says}"


RULES: list[Rule] = []


def rule(section: str, says: str, needs: str = "") -> Callable[[type[Attempt]], type[Attempt]]:
    """Registers an attempt that does without the rule."""

    def register(attempt: type[Attempt]) -> type[Attempt]:
        RULES.append(Rule(section, says, type("Without", (PlainAllocator,), {"attempt": attempt}), needs))
        return attempt

    return register


def error(section: str, says: str, kind: FailureKind, text: str = "", needs: str = "", node_only: bool = False) -> None:
    """Registers a rule that ends the attempt with an error of `kind`, with `text` in it."""

    class Lenient(PlainAllocator):
        def allocate(self, node: Any, claims: Any) -> Any:
            try:
                return super().allocate(node, claims)
            except AllocationError as problem:
                if problem.kind is kind and text in problem.message and problem.node_only == node_only:
                    return None
                raise

    RULES.append(Rule(section, says, Lenient, needs))


def allocator(section: str, says: str, needs: str = "") -> Callable[[type[PlainAllocator]], type[PlainAllocator]]:
    """Registers an allocator that does without a rule that is not the attempt's."""

    def register(without: type[PlainAllocator]) -> type[PlainAllocator]:
        RULES.append(Rule(section, says, without, needs))
        return without

    return register


@contextmanager
def _patched(*patches: tuple[Any, str, Any]) -> Iterator[None]:
    with ExitStack() as stack:
        for module, name, other in patches:
            stack.enter_context(patch.object(module, name, other))
        yield


# --- 3.1 to 3.3: what is taken, what a node sees ----------------------------------------------------------------------------------


@allocator("3.1", "a device that an allocated claim holds is taken", needs='"allocated')
class _NothingAllocated(PlainAllocator):
    def __init__(self, *arguments: Any, allocated: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)


@rule("3.2", "a name selects one node", needs='"nodeName"')
class _AnyName(Attempt):
    def is_candidate(self, published: Any) -> bool:
        return True

    def is_relevant(self, published: Any) -> bool:
        return bool(published.spec.node_name) or super().is_relevant(published)


@rule("3.2", "a selector selects nodes by their labels and name", needs='"nodeSelector"')
class _AnyLabels(Attempt):
    def is_relevant(self, published: Any) -> bool:
        return published.spec.node_selector is not None or super().is_relevant(published)


error("3.2", "a selector that cannot be read is an error", FailureKind.NODE_SELECTOR_INVALID, needs='"nodeSelector"')


@rule("3.3.2", "without partitions, slices with counters or per-device nodes are not there", needs='"partitionable_devices": false')
class _PartitionsAlways(Attempt):
    def partitions_known(self, published: Any) -> bool:
        return True


@rule("3.3.2", "without compatibility groups, slices with them are not there", needs='"compatibility_groups": false')
class _GroupsAlways(Attempt):
    def groups_known(self, published: Any) -> bool:
        return True


@rule("3.3.3", "a slice with nodes per device counts if one device is for the node", needs='"perDeviceNodeSelection"')
class _AnyPerDevice(Attempt):
    def has_device_for_node(self, published: Any) -> bool:
        return True


@rule("3.3.3", "a slice that selects nodes in no known way is ignored")
class _UnknownSelection(Attempt):
    def is_relevant(self, published: Any) -> bool:
        spec = published.spec
        unknown = not (spec.node_name or spec.all_nodes or spec.node_selector or spec.per_device_node_selection)
        return unknown or super().is_relevant(published)


@rule("3.3.4", "only the newest generation counts")
class _AllGenerations(Attempt):
    def newest(self, slices: Any) -> Any:
        return self.by_name(slices)


@rule("3.3.5", "a pool with a newer generation elsewhere is gone")
class _NotReplaced(Attempt):
    def is_replaced(self, kept: Any, everywhere: Any) -> bool:
        return False


@rule("3.3.5", "a pool of which slices are missing has no devices")
class _Incomplete(Attempt):
    def is_incomplete(self, kept: Any, same_generation: Any) -> bool:
        return False


@rule("3.3.5", "slices of other nodes complete a pool")
class _OnlyMine(Attempt):
    def is_incomplete(self, kept: Any, same_generation: Any) -> bool:
        return super().is_incomplete(kept, kept)


@rule("3.3.6", "slices are taken by name")
class _AsListed(Attempt):
    def by_name(self, slices: Any) -> Any:
        return slices


@rule("3.3.6", "a device named twice makes the pool invalid")
class _DeviceTwice(Attempt):
    def duplicate_device(self, pool: Any) -> str:
        return ""


@rule("3.3.6", "a counter set published twice makes the pool invalid", needs='"sharedCounters"')
class _SetTwice(Attempt):
    def duplicate_counter_set(self, name: str) -> str:
        return ""


@rule("3.3.6", "an unknown counter makes the pool invalid", needs='"consumesCounters"')
class _UnknownCounter(Attempt):
    def unknown_counter(self, pool: Any) -> str:
        return ""


@rule("3.3.7", "pools with binding conditions come last", needs='"bindingConditions"')
class _BindingAnywhere(Attempt):
    def waits_for_binding(self, pool: Any) -> bool:
        return False


@rule("3.3.7", "pools come by driver and name")
class _PoolsBackwards(Attempt):
    def in_order(self, pools: Any) -> Any:
        return sorted(sorted(pools, key=lambda pool: pool.id, reverse=True), key=self.waits_for_binding)


# --- 3.4: requests ----------------------------------------------------------------------------------------------------------------

error("3.4", "what needs a feature that is off is refused", FailureKind.FEATURE_DISABLED)
error("3.4", "a class that is missing is an error", FailureKind.NO_SUCH_CLASS, needs='"missing"')
error("3.4", "an empty class name is an error", FailureKind.UNSUPPORTED_REQUEST, "class name", needs='"deviceClassName": ""')
error("3.4", "an unknown mode is an error", FailureKind.UNSUPPORTED_REQUEST, "count mode")
error("3.4", "a constraint without an attribute is an error", FailureKind.UNSUPPORTED_REQUEST, "empty constraint")
error("3.4", "a claim for more than 32 devices is an error", FailureKind.TOO_MANY_DEVICES)
error("3.4", "All with an incomplete pool is an error", FailureKind.POOL_INCOMPLETE, needs='"All"')
error("3.4", "All with an invalid pool is an error", FailureKind.POOL_INVALID, needs='"All"')


@rule("3.4", "All means devices in use, too", needs='"All"')
class _AllThatAreFree(Attempt):
    def belongs(self, request: Any, offer: Offer) -> bool:
        return super().belongs(request, offer) and not self.in_use(0, request, offer, ())


@rule("3.4", "All leaves out devices whose whole capacity is too small", needs='"All"')
class _AllWhateverSize(Attempt):
    def belongs(self, request: Any, offer: Offer) -> bool:
        return self.selectable(request, offer)


@rule("3.4", "All of nothing cannot be had", needs='"All"')
class _AllOfNothing(Attempt):
    def is_nothing(self, every: Any) -> bool:
        return False


# --- 3.5: search ------------------------------------------------------------------------------------------------------------------


@rule("3.5", "a device is given up when what follows fails")
class _Greedy(Attempt):
    def allocate(self, classes: Any, claims: Any) -> Any:
        try:
            return super().allocate(classes, claims)
        except _DeadEnd:
            return None

    def solve(self, c: int, r: int, s: int | None, d: int, start: int, taken: tuple[Taken, ...]) -> Found | str | None:
        found = super().solve(c, r, s, d, start, taken)
        if d and not isinstance(found, Found):
            raise _DeadEnd
        return found


class _DeadEnd(Exception):
    pass


@rule("3.5", "a request takes combinations, not permutations")
class _Permutations(Attempt):
    def after(self, position: int) -> int:
        return 0


@rule("3.5", "alternatives are tried in their order", needs='"firstAvailable"')
class _AlternativesBackwards(Attempt):
    def by_preference(self, request: Any) -> Sequence[int]:
        return super().by_preference(request)[::-1]


@rule("3.5", "a claim holds 32 devices at most", needs='"count": ')
class _AnyNumber(Attempt):
    def holds_too_many(self, c: int, missing: int, taken: Any) -> bool:
        return False


# --- 3.6 and 3.7: selection -------------------------------------------------------------------------------------------------------


@rule("3.6.1", "without the feature, devices with binding conditions are not selectable", needs='"bindingConditions"')
class _BindingKnown(Attempt):
    def binding_known(self, device: Any) -> bool:
        return True


@rule("3.6.2", "the selectors of the class hold")
class _AnyOfClass(Attempt):
    def class_selects(self, request: Any, offer: Offer) -> bool:
        return True


@rule("3.6.2", "the selectors of the request hold")
class _AnyForRequest(Attempt):
    def request_selects(self, request: Any, offer: Offer) -> bool:
        return True


@rule("3.6.3", "a device under per-device selection is for the node", needs='"perDeviceNodeSelection"')
class _AnywhereInSlice(Attempt):
    def is_here(self, offer: Offer) -> bool:
        return True


error("3.7", "a selector that fails on a device is an error", FailureKind.SELECTOR_FAILED)
error("3.7", "a selector that is no valid expression is an error", FailureKind.SELECTOR_INVALID)


# --- 3.8: one device --------------------------------------------------------------------------------------------------------------


@rule("3.8.1", "a device that is taken whole is in use", needs='"allocated')
class _CommittedFree(Attempt):
    def in_use(self, claim: int, request: Any, offer: Offer, taken: Any) -> bool:
        return self.taken_by_claim(claim, offer, taken) if request.admin_access else self.taken_before(offer, taken)


@rule("3.8.1", "a device that this attempt has taken is in use")
class _ProvisionalFree(Attempt):
    def taken_before(self, offer: Offer, taken: Any) -> bool:
        return False


@rule("3.8.2", "node operations are skipped on nodes that know how", needs='"skipNodeOperations"')
class _SkipAnywhere(Attempt):
    def may_skip_node_operations(self, offer: Offer) -> bool:
        return True


@rule("3.8.3", "without partitions, a device that consumes counters cannot be had", needs='"consumesCounters"')
class _ConsumersAlways(Attempt):
    def may_consume_counters(self, device: Any) -> bool:
        return True


@rule("3.8.4", "a further share of a device pays no counters", needs='"consumesCounters"')
class _EveryShare(Attempt):
    def is_first_share(self, offer: Offer, taken: Any) -> bool:
        return True


error("3.8.6", "a violated constraint under mode All is an error", FailureKind.CONSTRAINT_ON_ALL, needs='"All"')


@rule("3.8.7", "capacity is checked again", needs='"All"')
class _CheckedOnce(Attempt):
    def still_has_room(self, request: Any, offer: Offer, taken: Any) -> bool:
        return True


@rule("3.8.7", "each share has an ID", needs='"allowMultipleAllocations"')
class _NoShareID(Attempt):
    def pick(self, each: Taken) -> Any:
        return replace(super().pick(each), share_id=None)


# --- 3.9: constraints -------------------------------------------------------------------------------------------------------------


@rule("3.9", "matchAttribute: devices agree", needs='"matchAttribute"')
class _NoMatch(Attempt):
    def covers(self, constraint: Any, request: Any) -> bool:
        return not isinstance(constraint, MatchAttribute) and super().covers(constraint, request)


@rule("3.9", "distinctAttribute: devices differ", needs='"distinctAttribute"')
class _NoDistinct(Attempt):
    def covers(self, constraint: Any, request: Any) -> bool:
        return not isinstance(constraint, DistinctAttribute) and super().covers(constraint, request)


@rule("3.9", "lists are sets, of which a scalar is one with one member", needs='"list_type_attributes": true')
class _NoLists(Attempt):
    def constraints_hold(self, claim: int, request: Any, offer: Offer, taken: Any) -> bool:
        features, self.features = self.features, replace(self.features, list_type_attributes=False)
        try:
            return super().constraints_hold(claim, request, offer, taken)
        finally:
            self.features = features


@rule("3.9", "a device without the attribute violates", needs='"constraints"')
class _AbsentIsFine(Attempt):
    def constraint_holds(self, constraint: Any, request: Any, offer: Offer, taken: Any) -> bool:
        absent = self.covers(constraint, request) and self.attribute(request, offer, constraint.attribute) is None
        return absent or super().constraint_holds(constraint, request, offer, taken)


@rule("3.9", "a constraint applies to the requests that it names", needs='"constraints"')
class _AllRequests(Attempt):
    def covers(self, constraint: Any, request: Any) -> bool:
        return True


@rule("3.9", "a request's name stands for all of its alternatives", needs='"firstAvailable"')
class _OnlyFullNames(Attempt):
    def covers(self, constraint: Any, request: Any) -> bool:
        named = constraint.source.requests
        return super().covers(constraint, request) and (not request.parent or not named or request.reference in named)


@rule("3.9", "request/subrequest stands for one alternative", needs='"firstAvailable"')
class _OnlyParents(Attempt):
    def covers(self, constraint: Any, request: Any) -> bool:
        named = constraint.source.requests
        return super().covers(constraint, request) and (not request.parent or not named or request.parent in named)


@rule("3.9", "a driver may leave its name out of an attribute's", needs='"constraints"')
class _OnlyExact(Attempt):
    def attribute(self, request: Any, offer: Offer, name: str) -> Any:
        return super().attribute(request, offer, name) if name in request.derived else (offer.device.attributes or {}).get(name)


@rule("3.9", "an attribute without a driver's name is that driver's alone", needs='"constraints"')
class _AnyDriver(Attempt):
    def attribute(self, request: Any, offer: Offer, name: str) -> Any:
        bare = (offer.device.attributes or {}).get(name.partition("/")[2])
        return super().attribute(request, offer, name) or (None if name in request.derived else bare)


@rule("3.9", "a derived attribute stands before a published one", needs='"derivedAttributes"')
class _NotDerived(Attempt):
    def attribute(self, request: Any, offer: Offer, name: str) -> Any:
        return static_attribute(offer.device, offer.id[0], name)


error("3.9", "a derived attribute that fails is an error", FailureKind.DERIVED_ATTRIBUTE_FAILED, needs='"derivedAttributes"')
error("3.9", "a derived attribute that is no valid expression is an error", FailureKind.DERIVED_ATTRIBUTE_INVALID)


# --- 3.10 and 3.16: counters, compatibility groups --------------------------------------------------------------------------------


@rule("3.10", "counters suffice", needs='"consumesCounters"')
class _NoCounters(Attempt):
    def counters_suffice(self, request: Any, pool: Any, offer: Offer, taken: Any) -> bool:
        return True


@rule("3.10", "every counter of the pool suffices, used or not", needs='"consumesCounters"')
class _OwnCounters(Attempt):
    def counters_to_check(self, pool: Any, offer: Offer) -> Any:
        mine = demand_of(offer.device)
        return {name: value for name, value in super().counters_to_check(pool, offer).items() if name in mine}


@rule("3.10", "devices that are allocated draw", needs='"consumesCounters"')
class _AllocatedDrawNothing(Attempt):
    def allocated_of(self, pool: Any) -> list[Offer]:
        return []


@rule("3.10", "devices of other nodes that are allocated draw, too", needs='"consumesCounters"')
class _OthersDrawNothing(Attempt):
    def allocated_of(self, pool: Any) -> list[Offer]:
        return [offer for offer in super().allocated_of(pool) if offer in pool.targeting]


@rule("3.10", "devices that this attempt has taken draw", needs='"consumesCounters"')
class _TakenDrawNothing(Attempt):
    def paying(self, pool: Any, taken: Any) -> list[Offer]:
        return []


@rule("3.10", "admin access draws like any other", needs='"adminAccess": true')
class _AdminDrawsNothing(Attempt):
    def counters_suffice(self, request: Any, pool: Any, offer: Offer, taken: Any) -> bool:
        return request.admin_access or super().counters_suffice(request, pool, offer, taken)


@rule("3.16", "devices of a counter set have a compatibility group in common", needs='"compatibilityGroups"')
class _Incompatible(Attempt):
    def compatible(self, pool: Any, offer: Offer, taken: Any) -> bool:
        return True


# --- 3.11: capacity ---------------------------------------------------------------------------------------------------------------


class _Capacity(Attempt):
    """An attempt that reads capacities otherwise."""

    def capacity(self, offer: Offer) -> dict[str, DeviceCapacity]:
        return {name: self.read(value) for name, value in super().capacity(offer).items()}

    def read(self, published: DeviceCapacity) -> DeviceCapacity:
        policy = published.request_policy
        return published if policy is None else _structs(published, request_policy=self.policy(policy))

    def policy(self, policy: CapacityRequestPolicy) -> CapacityRequestPolicy:
        return policy

    @staticmethod
    def without(policy: CapacityRequestPolicy, bound: str) -> CapacityRequestPolicy:
        return policy if policy.valid_range is None else _structs(policy, valid_range=_structs(policy.valid_range, **{bound: None}))


@rule("3.11", "a device without the requested capacity is skipped", needs='"requests": {')
class _LackingIsFine(Attempt):
    def draw(self, request: Any, offer: Offer) -> Any:
        present = {name: amount for name, amount in request.capacity.items() if name in self.capacity(offer)}
        return super().draw(replace(request, capacity=present), offer)


@rule("3.11", "a capacity that is not named takes the policy's default", needs='"requestPolicy"')
class _NoDefault(_Capacity):
    def policy(self, policy: CapacityRequestPolicy) -> CapacityRequestPolicy:
        return _structs(policy, default=None)


@rule("3.11", "without a default, all of it is taken", needs='"capacity"')
class _NothingByDefault(_Capacity):
    def read(self, published: DeviceCapacity) -> DeviceCapacity:
        return _structs(published, request_policy=published.request_policy or CapacityRequestPolicy(default="0"))


@rule("3.11", "validRange: no less than the minimum", needs='"validRange"')
class _NoMinimum(Attempt):
    def draw(self, request: Any, offer: Offer) -> Any:
        up = capacity._round_up

        def round_up(wanted: Any, minimum: Any, *rest: Any) -> Any:
            return wanted if wanted < minimum else up(wanted, minimum, *rest)

        with _patched((capacity, "_round_up", round_up)):
            return super().draw(request, offer)


@rule("3.11", "validRange: up to the next step", needs='"validRange"')
class _NoStep(_Capacity):
    def policy(self, policy: CapacityRequestPolicy) -> CapacityRequestPolicy:
        return self.without(policy, "step")


@rule("3.11", "validRange: no more than the maximum", needs='"validRange"')
class _NoMaximum(_Capacity):
    def policy(self, policy: CapacityRequestPolicy) -> CapacityRequestPolicy:
        return self.without(policy, "max")


@rule("3.11", "validValues: up to the next value, and no more than the largest", needs='"validValues"')
class _NoValues(_Capacity):
    def policy(self, policy: CapacityRequestPolicy) -> CapacityRequestPolicy:
        return _structs(policy, valid_values=())


@rule("3.11", "an amount that breaks the policy cannot be had", needs='"requestPolicy"')
class _AnyAmount(Attempt):
    def draw(self, request: Any, offer: Offer) -> Any:
        with _patched((capacity, "_violates", lambda *_: False)):
            return super().draw(request, offer)


error("3.11", "an amount that is negative or too large is an error", FailureKind.CAPACITY_UNUSABLE)


@rule("3.11", "what allocated shares hold counts", needs='"consumedCapacity"')
class _NothingConsumed(Attempt):
    def has_room(self, request: Any, offer: Offer, taken: Any) -> bool:
        drawn = self.draw(request, offer)
        return drawn is not None and drawn.fits({}, self.provisional(offer, taken))


@rule("3.11", "what this attempt's shares hold counts", needs='"allowMultipleAllocations"')
class _NothingProvisional(Attempt):
    def provisional(self, offer: Offer, taken: Any) -> dict[str, int]:
        return {}


@rule("3.11", "a device for one claim must have what is requested", needs='"requests": {')
class _WholeWhateverSize(Attempt):
    def has_room(self, request: Any, offer: Offer, taken: Any) -> bool:
        return not self.shareable(offer) or super().has_room(request, offer, taken)


@rule("3.11", "all capacities are recorded, requested or not", needs='"allowMultipleAllocations"')
class _OnlyNamed(Attempt):
    def pick(self, each: Taken) -> Any:
        pick = super().pick(each)
        return replace(pick, consumed={name: amount for name, amount in pick.consumed.items() if name in each.request.capacity})


@rule("3.11", "fractions are counted in thousandths", needs='"fractional_capacity_range": true')
class _NoFractions(Attempt):
    def draw(self, request: Any, offer: Offer) -> Any:
        features, self.features = self.features, replace(self.features, fractional_capacity_range=False)
        try:
            return super().draw(request, offer)
        finally:
            self.features = features


# --- 3.12 and 3.13: taints, admin access ------------------------------------------------------------------------------------------


class _Taints(Attempt):
    """An attempt that reads taints or tolerations otherwise."""

    def tolerated(self, request: Any, device: Any) -> bool:
        taints = [taint for taint in device.taints if self.blocks(taint)]
        tolerations = [self.read(toleration) for toleration in request.tolerations]
        return not self.features.device_taints or untolerated(taints, tolerations) is None

    def blocks(self, taint: Any) -> bool:
        return taint.effect in ("NoSchedule", "NoExecute")

    def read(self, toleration: Any) -> Any:
        return toleration


@rule("3.12", "NoSchedule keeps requests away", needs='"NoSchedule"')
class _NoScheduleIgnored(_Taints):
    def blocks(self, taint: Any) -> bool:
        return taint.effect == "NoExecute"


@rule("3.12", "NoExecute keeps requests away", needs='"NoExecute"')
class _NoExecuteIgnored(_Taints):
    def blocks(self, taint: Any) -> bool:
        return taint.effect == "NoSchedule"


@rule("3.12", "other effects keep nobody away", needs='"taints"')
class _AllBlock(_Taints):
    def blocks(self, taint: Any) -> bool:
        return True


@rule("3.12", "a toleration makes up for a taint", needs='"tolerations"')
class _NothingTolerated(_Taints):
    def read(self, toleration: Any) -> Any:
        return _structs(toleration, operator="Never")


@rule("3.12", "an effect in a toleration restricts it", needs='"tolerations"')
class _AnyEffect(_Taints):
    def read(self, toleration: Any) -> Any:
        return _structs(toleration, effect="")


@rule("3.12", "a key in a toleration restricts it", needs='"tolerations"')
class _AnyKey(_Taints):
    def read(self, toleration: Any) -> Any:
        return _structs(toleration, key="")


@rule("3.12", "without Exists, values are equal", needs='"tolerations"')
class _AnyValue(_Taints):
    def read(self, toleration: Any) -> Any:
        return _structs(toleration, operator="Exists")


@rule("3.13", "admin access does not mind other claims", needs='"adminAccess": true')
class _AdminMinds(Attempt):
    def in_use(self, claim: int, request: Any, offer: Offer, taken: Any) -> bool:
        return super().in_use(claim, replace(request, admin_access=False), offer, taken)


@rule("3.13", "two admin requests of one claim get different devices", needs='"adminAccess": true')
class _AdminTwice(Attempt):
    def taken_by_claim(self, claim: int, offer: Offer, taken: Any) -> bool:
        return False


# --- 3.14: results ----------------------------------------------------------------------------------------------------------------


class _Results(Attempt):
    """An attempt that assembles results with some functions replaced."""

    replaced: tuple[tuple[str, Any], ...] = ()

    def result(self, *arguments: Any) -> Any:
        with _patched(*((results, name, other) for name, other in self.replaced)):
            return super().result(*arguments)


class _Configs(Attempt):
    """An attempt that changes the configuration in the end."""

    def result(self, *arguments: Any) -> Any:
        result = super().result(*arguments)
        return _structs(result, devices=_structs(result.devices, config=[*filter(None, map(self.config, result.devices.config))]))

    def config(self, entry: Any) -> Any:
        raise NotImplementedError


@rule("3.14", "configuration of the class comes along", needs='"opaque"')
class _NoClassConfig(_Configs):
    def config(self, entry: Any) -> Any:
        return None if entry.source == "FromClass" else entry


@rule("3.14", "configuration of a class names all requests that use it", needs='"opaque"')
class _FirstRequestOnly(_Configs):
    def config(self, entry: Any) -> Any:
        return _structs(entry, requests=entry.requests[:1]) if entry.source == "FromClass" else entry


@rule("3.14", "configuration of the claim comes along", needs='"opaque"')
class _NoClaimConfig(_Configs):
    def config(self, entry: Any) -> Any:
        return None if entry.source == "FromClaim" else entry


@rule("3.14", "configuration for alternatives that were not chosen stays behind", needs='"firstAvailable"')
class _ConfigOfAll(Attempt):
    def result(self, index: int, claim: Any, found: Found) -> Any:
        result = super().result(index, claim, found)
        of_claim = [entry for entry in result.devices.config if entry.source == "FromClaim"]
        return result if len(of_claim) == len(claim.source.spec.devices.config) else None


@rule("3.14", "configuration for all requests names none", needs='"opaque"')
class _NamesKept(_Results):
    replaced = (("_unless_all", lambda requests, choices: list(requests)),)


@rule("3.14", "a device of one node binds the claim to it")
class _NotBoundByName(Attempt):
    def result(self, *arguments: Any) -> Any:
        result = super().result(*arguments)
        terms = result.node_selector.node_selector_terms if result.node_selector is not None else []
        bound = any(field.key == "metadata.name" and not term.match_expressions for term in terms for field in term.match_fields)
        return _structs(result, node_selector=None) if bound else result


@rule("3.14", "a device that binds to the node binds the claim to it", needs='"bindsToNode"')
class _NotBoundByDevice(Attempt):
    def pick(self, each: Taken) -> Any:
        pick = super().pick(each)
        return replace(pick, device=_structs(pick.device, binds_to_node=None))


@rule("3.14", "the selectors of all devices are united", needs='"nodeSelector"')
class _FirstSelector(_Results):
    replaced = (("_node_selector", lambda picks, node, original=results._node_selector: original(picks[:1], node)),)


@rule("3.14", "a requirement that several selectors have is there once", needs='"nodeSelector"')
class _Repeated(_Results):
    replaced = (("_add_new", lambda requirements, to: to.extend(requirements)),)


error("3.14", "nothing found beside an invalid pool is an error of the node", FailureKind.POOL_INVALID, node_only=True)


# --- counting ---------------------------------------------------------------------------------------------------------------------


class Coverage:
    """How often each rule has decided a problem. A rule that has done so `enough` times is not tried any more."""

    def __init__(self, enough: int, rules: Sequence[Rule] = RULES) -> None:
        self.enough = enough
        self.rules = rules
        self.problems = 0
        self.decided = {each.name: 0 for each in rules}
        self.tried = {each.name: 0 for each in rules}
        """Problems looked at until it was enough, those that cannot depend on the rule included."""

    def look_at(self, problem: Problem) -> None:
        """Count the rules that decide the problem."""
        self.problems += 1
        waiting = [each for each in self.rules if self.decided[each.name] < self.enough]
        for each in waiting:
            self.tried[each.name] += 1
        posed = answers.pose(problem)
        answer = answers.answer(PlainAllocator, posed, STEPS)
        if answers.timed_out(answer):
            return
        expected = answers.comparable(answer)
        text = json.dumps(problem)
        for each in waiting:
            if each.needs in text:
                other = answers.answer(each.without, posed, STEPS)
                if not answers.timed_out(other) and answers.comparable(other) != expected:
                    self.decided[each.name] += 1

    @property
    def is_enough(self) -> bool:
        """True if nothing is left to try."""
        return all(times >= self.enough for times in self.decided.values())

    @property
    def undecided(self) -> list[str]:
        """Rules that have decided nothing so far."""
        return [name for name, times in self.decided.items() if not times]
