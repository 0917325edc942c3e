"""One claim and its allocation: everything that can be judged without looking at other claims.

A claim is read, not searched for: its results say which devices are for which request, and each rule is asked whether that can
be. `ClaimCheck.breaches` names the rules in the order in which upstream-dra.md section 3 has them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from reparto.allocation.features import Features
from reparto.allocation.verification.agreement import attribute_of, clash
from reparto.allocation.verification.amounts import Unobtainable, nano, written
from reparto.allocation.verification.breaches import Breach, BreachKind
from reparto.allocation.verification.configuration import entries, of_claim, of_classes
from reparto.allocation.verification.holdings import Holding
from reparto.allocation.verification.matching import Matching
from reparto.allocation.verification.nodes import Requirement, only_node, requirements
from reparto.allocation.verification.publication import DeviceID, Offer, Publication
from reparto.allocation.verification.requests import Ask, asks
from reparto.allocation.verification.sites import NODE_CAN_SKIP, Sites
from reparto.model.core import Node
from reparto.model.v1 import AllocationResult, DeviceAttribute, DeviceClass, DeviceConstraint, ResourceClaim

MAX_DEVICES = 32
"""Devices in a claim: AllocationResultsMaxSize of the API."""


@dataclass(slots=True, eq=False)
class Setting:
    """What claims are judged against."""

    classes: Mapping[str, DeviceClass]
    publication: Publication
    sites: Sites
    features: Features
    matching: Matching
    knows_skipping: bool = False
    """True if skipped node operations are known at all: upstream's variant with the newest features is in use."""


class ClaimCheck:
    """One claim with an allocation. `number` is its place among all that are checked."""

    def __init__(self, claim: ResourceClaim, allocation: AllocationResult, number: int, setting: Setting) -> None:
        self._claim, self._allocation, self._setting = claim, allocation, setting
        meta = claim.metadata
        self._ref = f"ResourceClaim/{meta.namespace}/{meta.name}" if meta.namespace else f"ResourceClaim/{meta.name}"
        self._asks = asks(claim)
        by_reference = {ask.reference: ask for _, alternatives in self._asks for ask in alternatives}
        results = allocation.devices.results
        self._identities = [(result.driver, result.pool, result.device) for result in results]
        self.site: Node | None = setting.sites.site(allocation.node_selector, self._identities)
        self.holdings: list[Holding] = [
            Holding(
                claim=self._ref,
                number=number,
                path=f"status.allocation.devices.results[{index}]",
                result=result,
                ask=by_reference.get(result.request),
                offer=self._offer(identity),
                share=result.share_id is not None and setting.features.consumable_capacity,
            )
            for index, (result, identity) in enumerate(zip(results, self._identities, strict=True))
        ]

    def _offer(self, device: DeviceID) -> Offer | None:
        """The device as the site has it; where it has none, as it is published anywhere."""
        seen = None if self.site is None else self._setting.sites.offer(device, self.site)
        return seen if seen is not None else next(self._setting.publication.offers(device), None)

    def breaches(self) -> Iterator[Breach]:
        """What the claim breaks by itself. Cost: O(its devices × selectors, constraints and attributes of each)."""
        yield from self._requests()
        yield from self._repeated()
        yield from self._whereabouts()
        for holding in self.holdings:
            yield from self._copies(holding)
            if holding.ask is not None and holding.offer is not None:
                yield from self._selectable(holding, holding.ask, holding.offer)
                yield from self._capacity(holding, holding.ask, holding.offer)
                yield from self._taints(holding, holding.ask, holding.offer)
                yield from self._published_copies(holding, holding.offer)
        for index, constraint in enumerate(self._claim.spec.devices.constraints):
            yield from self._constraint(index, constraint)
        yield from self._all_devices()
        yield from self._configuration()

    def _breach(self, kind: BreachKind, path: str, message: str) -> Breach:
        return Breach(kind=kind, object=self._ref, path=path, message=message)

    # --- requests and counts: 3.4, 3.5 --------------------------------------------------------------------------------------------

    def _requests(self) -> Iterator[Breach]:
        for holding in self.holdings:
            if holding.ask is None:
                listed = ", ".join(ask.reference for _, alternatives in self._asks for ask in alternatives) or "none"
                yield holding.breach(
                    BreachKind.REQUEST_UNKNOWN,
                    f"is for request {holding.result.request!r}, but the claim's requests are: {listed}",
                    path=".request",
                )
        for index, (request, alternatives) in enumerate(self._asks):
            path = f"spec.devices.requests[{index}]"
            used = [ask for ask in alternatives if self._for(ask)]
            if len(used) > 1:
                names = " and ".join(ask.reference for ask in used)
                yield self._breach(
                    BreachKind.ALTERNATIVES_MIXED, path, f"only one alternative may be taken, but there are devices for {names}"
                )
            counted = used if used or self._takes_nothing(alternatives) else alternatives[:1]
            for ask in counted:
                yield from self._count(ask)
            if request.first_available and not self._setting.features.prioritized_list:
                yield self._breach(BreachKind.FEATURE_OFF, path, "lists alternatives, but prioritized lists are off")
        if len(self.holdings) > MAX_DEVICES:
            text = f"holds {len(self.holdings)} devices; a claim may hold {MAX_DEVICES}"
            yield self._breach(BreachKind.TOO_MANY_DEVICES, "status.allocation.devices.results", text)

    def _for(self, ask: Ask) -> list[Holding]:
        return [holding for holding in self.holdings if holding.ask is ask]

    @staticmethod
    def _takes_nothing(alternatives: Sequence[Ask]) -> bool:
        """True if an alternative asks for a count of zero, which validation refuses and no device answers."""
        return any(ask.body.allocation_mode == "ExactCount" and ask.body.count == 0 for ask in alternatives)

    def _count(self, ask: Ask) -> Iterator[Breach]:
        have, mode = len(self._for(ask)), ask.body.allocation_mode
        if mode == "ExactCount" and have != ask.body.count:
            text = f"request {ask.reference} has {have} devices and asks for {ask.body.count}"
        elif mode == "All" and not have:
            text = f"request {ask.reference} asks for all devices and has none"
        elif mode not in ("ExactCount", "All"):
            text = f"request {ask.reference} has {have} devices and asks for them in the unknown mode {mode!r}"
        else:
            return
        yield self._breach(BreachKind.COUNT, ask.path, text)

    def _repeated(self) -> Iterator[Breach]:
        seen: dict[DeviceID, list[Holding]] = {}
        for holding in self.holdings:
            earlier = seen.setdefault(holding.id, [])
            for other in earlier:
                if not (holding.share and other.share):
                    text = f"device {holding.device} is also {other.path.rpartition('.')[2]}, and not both are shares"
                elif holding.result.request == other.result.request:
                    text = f"request {holding.result.request} has two shares of device {holding.device}"
                else:
                    continue
                yield holding.breach(BreachKind.DEVICE_REPEATED, text)
                break
            earlier.append(holding)

    # --- where the claim may be used: 3.2, 3.3, 3.14 ------------------------------------------------------------------------------

    def _whereabouts(self) -> Iterator[Breach]:
        path = "status.allocation.nodeSelector"
        selector = self._allocation.node_selector
        if self.site is None and self.holdings:
            only = only_node(selector)
            text = f"node {only} does not exist" if only is not None else "no node is one on which the claim may be used"
            yield self._breach(BreachKind.NODE_UNKNOWN, path, text)
        for holding in self.holdings:
            yield from self._there(holding)
        yield from self._node_selector(path)

    def _there(self, holding: Holding) -> Iterator[Breach]:
        if holding.offer is None:
            yield holding.breach(BreachKind.DEVICE_NOT_PUBLISHED, f"no slice has device {holding.device}")
            return
        if self.site is None:
            return
        site = self.site.metadata.name
        view = self._setting.publication.view(holding.id[:2], self.site)
        if view is not None and view.problem is not None:
            kind, text = view.problem
            yield holding.breach(kind, f"on node {site} {text}")
        elif view is None or holding.result.device not in view.devices:
            current = view is None or view.generation == holding.offer.slice.spec.pool.generation
            if not current and holding.offer.is_for(self.site):
                text = f"device {holding.device} belongs to another generation of its pool than {view.generation if view else 0}"
                yield holding.breach(BreachKind.POOL_OUTDATED, text)
            else:
                text = f"device {holding.device} is not for node {site}, on which the claim may be used"
                yield holding.breach(BreachKind.DEVICE_NOT_ON_NODE, text)
        else:
            stray = self._setting.sites.stray(self._allocation.node_selector, holding.offer)
            if stray is not None:
                text = f"device {holding.device} is not for node {stray.metadata.name}, on which the claim may be used"
                yield holding.breach(BreachKind.DEVICE_NOT_ON_NODE, text)

    def _node_selector(self, path: str) -> Iterator[Breach]:
        offers = [holding.offer for holding in self.holdings if holding.offer is not None]
        if len(offers) < len(self.holdings):
            return
        selector = self._allocation.node_selector
        places = [offer.device if offer.slice.spec.per_device_node_selection else offer.slice.spec for offer in offers]
        if any(place.node_name is not None for place in places) or any(offer.device.binds_to_node for offer in offers):
            if only_node(selector) is None:
                text = "a device of the claim is bound to one node; the selector must allow that one alone"
                yield self._breach(BreachKind.NODE_SELECTOR, path, text)
            return
        wanted = {each for place in places if place.node_selector is not None for each in requirements(place.node_selector)}
        have = set(requirements(selector)) if selector is not None else set[tuple[str, Requirement]]()
        if have != wanted or (selector is not None and len(selector.node_selector_terms) != 1):
            text = f"has {len(have)} requirements in {len(selector.node_selector_terms) if selector else 0} terms, "
            text += f"but the slices of its devices have {len(wanted)}, which are {len(have & wanted)} of these and make one term"
            yield self._breach(BreachKind.NODE_SELECTOR, path, text)

    # --- what a result repeats of the request and of the device: 3.13, 3.14 -------------------------------------------------------

    def _copies(self, holding: Holding) -> Iterator[Breach]:
        ask, result = holding.ask, holding.result
        if ask is None:
            return
        if list(result.tolerations) != list(ask.tolerations):
            text = f"has {len(result.tolerations)} tolerations that are not the {len(ask.tolerations)} of request {ask.reference}"
            yield holding.breach(BreachKind.TOLERATIONS_NOT_COPIED, text, path=".tolerations")
        if (result.admin_access is True) != ask.admin_access:
            text = f"is {result.admin_access is True}, but request {ask.reference} has it {ask.admin_access}"
            yield holding.breach(BreachKind.ADMIN_ACCESS, text, path=".adminAccess")

    def _published_copies(self, holding: Holding, offer: Offer) -> Iterator[Breach]:
        result, device = holding.result, offer.device
        if self._setting.features.device_binding_and_status:
            for path, have, published in (
                (".bindingConditions", result.binding_conditions, device.binding_conditions),
                (".bindingFailureConditions", result.binding_failure_conditions, device.binding_failure_conditions),
            ):
                if list(have) != list(published):
                    text = f"is {_listed(have)}; device {holding.device} has {_listed(published)}"
                    yield holding.breach(BreachKind.BINDING_CONDITIONS, text, path=path)
        elif device.binding_conditions:
            text = f"device {holding.device} has binding conditions, but these are off"
            yield holding.breach(BreachKind.FEATURE_OFF, text)
        if self._setting.knows_skipping:
            yield from self._node_operations(holding, offer)

    def _node_operations(self, holding: Holding, offer: Offer) -> Iterator[Breach]:
        skipped = offer.slice.spec.skip_node_operations
        if list(holding.result.skip_node_operations) != list(skipped):
            text = f"is {_listed(holding.result.skip_node_operations)}; the slice of device {holding.device} has {_listed(skipped)}"
            yield holding.breach(BreachKind.NODE_OPERATIONS, text, path=".skipNodeOperations")
        if not skipped:
            return
        if not self._setting.features.optional_node_operations:
            text = f"the slice of device {holding.device} lets node operations be skipped, but that is off"
            yield holding.breach(BreachKind.FEATURE_OFF, text)
        elif self.site is not None and self._setting.sites.cannot_skip(offer, self.site):
            text = f"device {holding.device} needs a node that declares {NODE_CAN_SKIP}; {self.site.metadata.name} does not"
            yield holding.breach(BreachKind.NODE_OPERATIONS, text)

    # --- selectors: 3.6, 3.7 ------------------------------------------------------------------------------------------------------

    def _selectable(self, holding: Holding, ask: Ask, offer: Offer) -> Iterator[Breach]:
        features, body = self._setting.features, ask.body
        for used, on, what in (
            (body.capacity is not None, features.consumable_capacity, "asks for capacity, but consumable capacity is off"),
            (bool(body.derived_attributes), features.derived_attributes, "derives attributes, but derived attributes are off"),
            (getattr(body, "admin_access", None) is not None, features.admin_access, "speaks of admin access, but that is off"),
            (bool(offer.device.consumes_counters), features.partitionable_devices, "takes a partition, but partitions are off"),
        ):
            if used and not on:
                yield holding.breach(BreachKind.FEATURE_OFF, f"request {ask.reference} {what}")
        problem = self._setting.matching.mismatch(ask, offer)
        if problem is not None:
            yield holding.breach(problem[0], problem[1])

    # --- capacity: 3.11 -----------------------------------------------------------------------------------------------------------

    def _capacity(self, holding: Holding, ask: Ask, offer: Offer) -> Iterator[Breach]:
        features, result, device = self._setting.features, holding.result, offer.device
        several = features.consumable_capacity and device.allow_multiple_allocations is True
        if (result.share_id is not None) != several:
            have = f"has the share ID {result.share_id}" if result.share_id is not None else "has no share ID"
            allowed = "allows several allocations" if several else "allows one allocation"
            yield holding.breach(BreachKind.SHARE_ID, f"{have}, but device {holding.device} {allowed}", path=".shareID")
        if not features.consumable_capacity:
            return
        try:
            wanted = self._setting.matching.amounts(ask, offer)
        except Unobtainable as problem:
            yield holding.breach(BreachKind.CAPACITY_REQUEST, f"request {ask.reference} {problem} (device {holding.device})")
            return
        have = {name: nano(amount) for name, amount in (result.consumed_capacity or {}).items()}
        expected = wanted if several else {}
        if have != expected:
            text = f"is {_amounts(have)}, but request {ask.reference} consumes {_amounts(expected)} of device {holding.device}"
            yield holding.breach(BreachKind.CONSUMED_CAPACITY, text, path=".consumedCapacity")

    # --- taints: 3.12 -------------------------------------------------------------------------------------------------------------

    def _taints(self, holding: Holding, ask: Ask, offer: Offer) -> Iterator[Breach]:
        if not self._setting.features.device_taints:
            return
        for taint in offer.device.taints:
            if taint.effect not in ("NoSchedule", "NoExecute"):
                continue
            tolerated = any(
                each.effect in ("", taint.effect)
                and each.key in ("", taint.key)
                and (each.operator == "Exists" or (each.operator in ("", "Equal") and each.value == taint.value))
                for each in ask.tolerations
            )
            if not tolerated:
                text = f"device {holding.device} has the taint {taint.key}={taint.value}:{taint.effect}, "
                yield holding.breach(BreachKind.TAINT, text + f"which none of the tolerations of request {ask.reference} covers")

    # --- constraints: 3.9 ---------------------------------------------------------------------------------------------------------

    def _constraint(self, index: int, constraint: DeviceConstraint) -> Iterator[Breach]:
        path = f"spec.devices.constraints[{index}]"
        name = constraint.match_attribute if constraint.match_attribute is not None else constraint.distinct_attribute
        if name is None:
            yield self._breach(BreachKind.CONSTRAINT, path, "names no attribute")
            return
        values: list[DeviceAttribute] = []
        of: list[Holding] = []
        for holding in self.holdings:
            if holding.ask is None or holding.offer is None or not holding.ask.named_by(constraint.requests):
                continue
            value = self._value(holding.ask, holding.offer, name)
            if not isinstance(value, DeviceAttribute):
                yield holding.breach(BreachKind.CONSTRAINT, f"{path} needs attribute {name} of device {holding.device}: {value}")
                continue
            values.append(value)
            of.append(holding)
        distinct = constraint.match_attribute is None
        found = clash(values, distinct=distinct, lists=self._setting.features.list_type_attributes)
        if found is not None:
            first, second = found
            rule = "must differ" if distinct else "must agree"
            yield of[second].breach(
                BreachKind.CONSTRAINT,
                f"{path}: {name} {rule}, but is {_plain(values[first])} for device {of[first].device} "
                f"and {_plain(values[second])} for device {of[second].device}",
            )

    def _value(self, ask: Ask, offer: Offer, name: str) -> DeviceAttribute | str:
        if name in ask.derived:
            return self._setting.matching.expressions.derive(ask.derived[name], offer)
        value = attribute_of(offer.device.attributes, offer.slice.spec.driver, name)
        return "there is none" if value is None else value

    # --- all devices: 3.4 ---------------------------------------------------------------------------------------------------------

    def _all_devices(self) -> Iterator[Breach]:
        """Of the nodes on which the claim could be obtained, one must have no more devices than are here."""
        wanted = [ask for _, alternatives in self._asks for ask in alternatives if ask.all_devices and self._for(ask)]
        first: list[Breach] = []
        for node in self._setting.sites.alike(self._allocation.node_selector, self._identities) if wanted else ():
            breaches = [breach for ask in wanted for breach in self._not_all(ask, node)]
            if not breaches:
                return
            first = first or breaches
        yield from first

    def _not_all(self, ask: Ask, node: Node) -> Iterator[Breach]:
        have = frozenset(holding.id for holding in self._for(ask))
        wanted = self._setting.matching.all_on(node, ask)
        if isinstance(wanted, str):
            yield self._breach(BreachKind.ALL_DEVICES, ask.path, f"request {ask.reference} asks for all devices, but {wanted}")
        elif have != wanted:
            examples = sorted("/".join(device) for device in have ^ wanted)
            text = f"request {ask.reference} has {len(have)} devices, and {len(wanted)} match on node {node.metadata.name}; "
            yield self._breach(BreachKind.ALL_DEVICES, ask.path, text + f"not in both are {', '.join(examples[:3])}")

    # --- configuration: 3.14 ------------------------------------------------------------------------------------------------------

    def _configuration(self) -> Iterator[Breach]:
        chosen: list[Ask] = []
        for _, alternatives in self._asks:
            used = [ask for ask in alternatives if self._for(ask)] or (alternatives if len(alternatives) == 1 else [])
            if len(used) != 1:
                return  # which alternative applies is not known; that is a breach of its own
            chosen.append(used[0])
        config, path = self._allocation.devices.config, "status.allocation.devices.config"
        if all(ask.body.device_class_name in self._setting.classes for ask in chosen):
            have, wanted = entries(config, "FromClass"), of_classes(chosen, self._setting.classes)
            if have != wanted:
                text = f"has {len(have)} entries of classes that are not the {len(wanted)} of the classes in use"
                yield self._breach(BreachKind.CONFIG_OF_CLASS, path, text)
        have, wanted = entries(config, "FromClaim"), of_claim(self._claim, chosen)
        if have != wanted:
            text = f"has {len(have)} entries of the claim that are not the {len(wanted)} that apply"
            yield self._breach(BreachKind.CONFIG_OF_CLAIM, path, text)


def _listed(texts: Sequence[str]) -> str:
    return "[" + ", ".join(texts) + "]"


def _amounts(amounts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {written(amount)}" for name, amount in sorted(amounts.items())) or "nothing"


def _plain(attribute: DeviceAttribute) -> str:
    """The one field that is set."""
    values = (getattr(attribute, name) for name in attribute.__struct_fields__)
    return next((str(value) for value in values if value is not None), "nothing")
