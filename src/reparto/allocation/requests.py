"""Requests made ready for the search: every alternative of every request with its class, its number of devices, and nothing unsaid.

Here falls what no device can cure: a feature that is off, a class that does not exist, more devices than a claim may hold. A
request with `exactly` has one alternative, one with `firstAvailable` as many as subrequests.

Source: upstream-dra.md 3.4.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from reparto.allocation.errors import AllocationError, FailureKind
from reparto.allocation.features import Features
from reparto.allocation.selectors import Origin
from reparto.allocation.state import claim_name
from reparto.model.v1 import (
    DeviceClass,
    DeviceConstraint,
    DeviceRequest,
    DeviceSubRequest,
    DeviceToleration,
    ExactDeviceRequest,
    ResourceClaim,
)

MAX_DEVICES = 32
"""Devices one claim may hold: AllocationResultsMaxSize of resource.k8s.io."""

D = TypeVar("D")

Classes = Mapping[str, DeviceClass]


@dataclass(frozen=True, slots=True, eq=False)
class Alternative(Generic[D]):
    """One way to satisfy a request: the request itself, or one of its subrequests.

    `parent` is the name of the request that a subrequest belongs to, else empty. `need` is the number of devices; in mode All,
    `every` holds exactly the devices to take, otherwise it is None.
    """

    claim: str
    name: str
    parent: str
    source: ExactDeviceRequest | DeviceSubRequest
    device_class: DeviceClass
    admin_access: bool
    capacity: Mapping[str, str]
    derived: Mapping[str, str]
    need: int = 0
    every: Sequence[D] | None = None

    @property
    def reference(self) -> str:
        """How results and configs name it: `request` or `request/subrequest`."""
        return f"{self.parent}/{self.name}" if self.parent else self.name

    @property
    def tolerations(self) -> Sequence[DeviceToleration]:
        """Taints that it can live with."""
        return self.source.tolerations

    @property
    def class_origin(self) -> Origin:
        """For errors of selectors of its class."""
        return Origin(self.claim, self.reference, self.device_class.metadata.name)

    @property
    def request_origin(self) -> Origin:
        """For errors of its own selectors."""
        return Origin(self.claim, self.reference)


@dataclass(frozen=True, slots=True, eq=False)
class PreparedRequest(Generic[D]):
    """A request with its alternatives, in the order of preference. `has_choice` even if `firstAvailable` lists one only."""

    source: DeviceRequest
    has_choice: bool
    alternatives: Sequence[Alternative[D]]


@dataclass(frozen=True, slots=True, eq=False)
class PreparedClaim(Generic[D]):
    """A claim with its requests and constraints."""

    source: ResourceClaim
    name: str
    requests: Sequence[PreparedRequest[D]]
    constraints: Sequence[DeviceConstraint]


@dataclass(frozen=True, slots=True)
class Preparation(Generic[D]):
    """How to make requests ready: with which classes and features, and where the devices of mode All come from.

    `every` returns all devices that an alternative selects, in order, and raises AllocationError if that cannot be said.
    """

    classes: Classes
    features: Features
    every: Callable[[Alternative[D]], Sequence[D]] = field(repr=False)

    def prepare(self, claims: Iterable[ResourceClaim]) -> list[PreparedClaim[D]]:
        """The claims, ready for the search. Raises AllocationError for the first thing that upstream would refuse."""
        return [self._claim(claim) for claim in claims]

    def _claim(self, claim: ResourceClaim) -> PreparedClaim[D]:
        name = claim_name(claim)
        requests: list[PreparedRequest[D]] = []
        devices = 0
        for request in claim.spec.devices.requests:
            prepared = self._request(name, request)
            fewest = min(alternative.need for alternative in prepared.alternatives)
            if fewest > MAX_DEVICES - devices:
                raise AllocationError(
                    f"claim {name}, request {request.name}: adding {fewest} devices exceeds the claim limit of {MAX_DEVICES}, "
                    f"with {devices} already accounted for",
                    kind=FailureKind.TOO_MANY_DEVICES,
                    claim=name,
                    request=request.name,
                )
            devices += fewest
            requests.append(prepared)
        constraints = claim.spec.devices.constraints
        for index, constraint in enumerate(constraints):
            if constraint.match_attribute is None and constraint.distinct_attribute is None:
                raise AllocationError(
                    f"claim {name}, constraint #{index}: empty constraint (unsupported constraint type?)",
                    kind=FailureKind.UNSUPPORTED_REQUEST,
                    claim=name,
                )
        return PreparedClaim(claim, name, requests, constraints)

    def _request(self, claim: str, request: DeviceRequest) -> PreparedRequest[D]:
        subrequests = request.first_available
        if subrequests and not self.features.prioritized_list:
            raise self._disabled(claim, request.name, "has subrequests, but the DRAPrioritizedList feature is disabled")
        if not self.features.consumable_capacity:
            if request.exactly is not None and request.exactly.capacity is not None:
                raise self._disabled(
                    claim, request.name, "has capacity requests, but the DRAConsumableCapacity feature is disabled"
                )
            for subrequest in subrequests:
                if subrequest.capacity is not None:
                    why = "has capacity requests, but the DRAConsumableCapacity feature is disabled"
                    raise self._disabled(claim, subrequest.name, why, "subrequest")
        if subrequests:
            alternatives = [self._alternative(claim, subrequest.name, request.name, subrequest) for subrequest in subrequests]
            return PreparedRequest(request, True, alternatives)
        if request.exactly is None:
            raise AllocationError(
                f"claim {claim}, request {request.name}: neither exactly nor firstAvailable is set (unsupported request type?)",
                kind=FailureKind.UNSUPPORTED_REQUEST,
                claim=claim,
                request=request.name,
            )
        return PreparedRequest(request, False, [self._alternative(claim, request.name, "", request.exactly)])

    def _alternative(self, claim: str, name: str, parent: str, source: ExactDeviceRequest | DeviceSubRequest) -> Alternative[D]:
        reference = f"{parent}/{name}" if parent else name
        if source.derived_attributes and not self.features.derived_attributes:
            raise self._disabled(claim, name, "cannot handle request with derived attributes, the feature is disabled")
        for index, selector in enumerate(source.selectors):
            if selector.cel is None:
                raise self._unsupported(claim, name, f", selector #{index}: CEL expression empty (unsupported selector type?)")
        admin_access = source.admin_access if isinstance(source, ExactDeviceRequest) else None
        if admin_access is not None and not self.features.admin_access:
            raise self._disabled(claim, name, "admin access is requested, but the feature is disabled")
        if not source.device_class_name:
            raise self._unsupported(claim, name, ": missing device class name (unsupported request type?)")
        device_class = self.classes.get(source.device_class_name)
        if device_class is None:
            raise AllocationError(
                f"claim {claim}, request {name}: could not retrieve device class {source.device_class_name}: "
                f'deviceclass.resource.k8s.io "{source.device_class_name}" not found',
                kind=FailureKind.NO_SUCH_CLASS,
                claim=claim,
                request=reference,
                class_name=source.device_class_name,
            )
        alternative: Alternative[D] = Alternative(
            claim=claim,
            name=name,
            parent=parent,
            source=source,
            device_class=device_class,
            admin_access=bool(admin_access),
            capacity=(source.capacity.requests or {}) if source.capacity is not None else {},
            derived={attribute.name: attribute.expression for attribute in source.derived_attributes},
            need=source.count,
        )
        if source.allocation_mode == "ExactCount":
            return alternative
        if source.allocation_mode != "All":
            raise self._unsupported(claim, name, f": unsupported count mode {source.allocation_mode}")
        every = self.every(alternative)
        return replace(alternative, need=len(every), every=every)

    def _disabled(self, claim: str, request: str, why: str, what: str = "request") -> AllocationError:
        return AllocationError(
            f"claim {claim}, {what} {request}: {why}", kind=FailureKind.FEATURE_DISABLED, claim=claim, request=request
        )

    def _unsupported(self, claim: str, request: str, why: str) -> AllocationError:
        return AllocationError(
            f"claim {claim}, request {request}{why}", kind=FailureKind.UNSUPPORTED_REQUEST, claim=claim, request=request
        )
