"""Why claims do not fit on a node: the first gate that keeps them out, with counts.

A question of its own, asked after `Allocator.allocate` said None or failed; the search itself records nothing. Each request is
looked at by itself first: how many devices are left after each gate, in the order in which gates depend on less and less permanent
things (selectors, then capacity, use, taints, counters). The gate at which fewer are left than the request needs is the answer. If
every request alone could be served, small searches tell whether a constraint or the competition of requests is to blame, and a
proof, where there is one, tells what was counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from reparto.allocation.allocator import Allocator
from reparto.allocation.errors import AllocationError, FailureKind, GaveUp
from reparto.allocation.instance import written_down
from reparto.allocation.inventory import PublishedDevice
from reparto.allocation.node_matching import NodeSelection
from reparto.allocation.pools import Pool
from reparto.allocation.proofs import Proof, ProofKind, proof_of
from reparto.allocation.requests import PreparedClaim, PreparedRequest
from reparto.allocation.search import Search
from reparto.allocation.selectors import text_of
from reparto.allocation.setting import Candidate, Requested, Setting, capacity_draw, may_skip_node_operations
from reparto.allocation.taints import untolerated
from reparto.model import codes
from reparto.model.core import Node
from reparto.model.v1 import DeviceRequest, ResourceClaim

SEARCH_STEPS = 10_000
"""Steps that one of the small searches may take: an explanation must not cost more than the answer."""

_KINDS = {
    FailureKind.FEATURE_DISABLED: codes.FEATURE_OFF,
    FailureKind.NO_SUCH_CLASS: codes.NO_SUCH_CLASS,
    FailureKind.SELECTOR_INVALID: codes.SELECTOR_ERROR,
    FailureKind.SELECTOR_FAILED: codes.SELECTOR_ERROR,
    FailureKind.DERIVED_ATTRIBUTE_INVALID: codes.SELECTOR_ERROR,
    FailureKind.DERIVED_ATTRIBUTE_FAILED: codes.SELECTOR_ERROR,
    FailureKind.POOL_INCOMPLETE: codes.POOL_INCOMPLETE,
    FailureKind.POOL_INVALID: codes.POOL_INVALID,
    FailureKind.TOO_MANY_DEVICES: codes.TOO_MANY,
    FailureKind.CAPACITY_UNUSABLE: codes.CAPACITY,
    FailureKind.CONSTRAINT_ON_ALL: codes.CONSTRAINT,
    FailureKind.GAVE_UP: codes.GAVE_UP,
}


@dataclass(frozen=True, slots=True)
class Gate:
    """The gate that keeps the claims from a node.

    `code` is one of `reparto.model.codes`. `cause` says it in words that hold no name or number of this node, so that nodes with
    the same cause can be grouped. `matching` of `total` devices are `what` where the request needs `needed`; all is empty where
    nothing was counted. `claim` is `namespace/name`, `request` the request or `request/subrequest`; `selector` is the index of a
    selector of `class_name`, or of the request if that is empty. `devices` are those that do not pass, `owners` the claims that
    hold them, `pool` the pool (`driver/pool`) that withholds its devices.
    """

    code: str
    cause: str
    what: str = ""
    claim: str = ""
    request: str = ""
    class_name: str = ""
    selector: int | None = None
    constraint: int | None = None
    expression: str = ""
    matching: int = 0
    total: int = 0
    needed: int = 0
    devices: tuple[str, ...] = ()
    owners: tuple[str, ...] = ()
    pool: str = ""


@dataclass(frozen=True, slots=True)
class _Fall:
    """Where a device falls out. `rank` orders the gates; devices that fall at the same gate have equal `rank` and `selector`."""

    rank: int
    code: str
    selector: int = 0
    reason: str = ""
    owners: tuple[str, ...] = ()


_CLASS_SELECTOR, _REQUEST_SELECTOR, _NODE, _FEATURE, _STATIC_CAPACITY, _IN_USE, _OPERATIONS, _TAINT, _COUNTERS, _CAPACITY_LEFT = (
    range(10)
)


def explain_failure(allocator: Allocator, node: Node, claims: Sequence[ResourceClaim]) -> Gate:
    """The first gate that keeps `claims` from `node`, for claims that `allocator` does not allocate there."""
    try:
        setting = replace(allocator.setting(node), step_budget=SEARCH_STEPS, new_share_id=str)
        prepared = allocator.prepare(setting, claims)
    except AllocationError as error:
        return of_error(error)
    return _Explanation(setting).gate(prepared)


def of_error(error: AllocationError) -> Gate:
    """An error of the allocator as a gate."""
    default = codes.NODE_ERROR if error.node_only else codes.ALLOCATION_ERROR
    return Gate(
        _KINDS.get(error.kind, default),
        error.message,
        claim=error.claim,
        request=error.request,
        class_name=error.class_name,
        selector=error.selector,
        devices=(error.device,) if error.device else (),
    )


class _Explanation:
    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._candidates: list[Candidate] = [(pool, record) for pool in setting.pools if pool.usable for record in pool.devices]
        self._withheld: list[Candidate] = [(pool, record) for pool in setting.pools if not pool.usable for record in pool.withheld]

    def gate(self, claims: Sequence[PreparedClaim[Candidate]]) -> Gate:
        if not self._candidates and not self._setting.pools:
            return Gate(codes.NO_DEVICES, "no driver publishes devices for it")
        for claim in claims:
            for request in claim.requests:
                gate = self._gate_of_request(request)
                if gate is not None:
                    return gate
        for claim in claims:
            gate = self._gate_of_claim(claim)
            if gate is not None:
                return gate
        if len(claims) == 1 or not all(self._solvable([claim]) for claim in claims):
            # The small searches ended before they found out more.
            return Gate(codes.COMBINATION, "no combination of devices serves all requests", claim=claims[0].name)
        names = ", ".join(claim.name for claim in claims)
        return Gate(codes.COMBINATION, f"each of the claims {names} alone fits, but not all together")

    # --- one request -------------------------------------------------------------------------------------------------------------

    def _gate_of_request(self, request: PreparedRequest[Candidate]) -> Gate | None:
        """The gate that stops the request by itself; with several alternatives, that of the one that came closest."""
        closest: tuple[int, Gate] | None = None
        for alternative in request.alternatives:
            stopped = self._gate_of_alternative(alternative)
            if stopped is None:
                return None
            if closest is None or stopped[0] > closest[0]:
                closest = stopped
        return closest[1] if closest is not None else None

    def _gate_of_alternative(self, alternative: Requested) -> tuple[int, Gate] | None:
        if alternative.every is None and not alternative.need:
            return None
        base = Gate("", "", claim=alternative.claim, request=alternative.reference)
        falls = [(self._fall(alternative, pool, record), pool, record) for pool, record in self._candidates]
        left, needed = len(falls), max(alternative.need, 1)
        if left < needed:
            pool_gate = self._gate_of_pools(alternative, left, needed)
            cause = f"fewer devices than the {needed} that the request needs"
            too_few = replace(base, code=codes.TOO_FEW, cause=cause, what="devices", matching=left, total=left, needed=needed)
            return -1, pool_gate or too_few
        for key in sorted({(fall.rank, fall.selector) for fall, _, _ in falls if fall is not None}):
            fallen = [(fall, record) for fall, _, record in falls if fall is not None and (fall.rank, fall.selector) == key]
            before, left = left, left - len(fallen)
            if left >= needed:
                continue
            if key[0] <= _STATIC_CAPACITY:
                pool_gate = self._gate_of_pools(alternative, left, needed)
                if pool_gate is not None:
                    return -1, pool_gate
            gate = replace(base, matching=left, total=before, needed=needed)
            return key[0] * 100 + key[1], _describe(gate, alternative, fallen)
        return self._gate_of_joint_use(alternative, base)

    def _gate_of_pools(self, alternative: Requested, left: int, needed: int) -> Gate | None:
        """The pool that withholds its devices, if with them there would be enough."""
        able = [
            (pool, record)
            for pool, record in self._withheld
            if (fall := self._fall(alternative, pool, record)) is None or fall.rank > _STATIC_CAPACITY
        ]
        if not able or left + len(able) < needed:
            return None
        pool = able[0][0]
        if pool.incomplete:
            code = codes.POOL_INCOMPLETE
            cause = f"a pool of {pool.id[0]} is incomplete: {pool.slices_seen} of {pool.slices_wanted} slices"
        else:
            code, cause = codes.POOL_INVALID, f"a pool of {pool.id[0]} is invalid: {pool.invalid}"
        return Gate(
            code,
            cause,
            what="devices in usable pools",
            claim=alternative.claim,
            request=alternative.reference,
            matching=left,
            total=left + len(able),
            needed=needed,
            pool=str(pool),
        )

    def _gate_of_joint_use(self, alternative: Requested, base: Gate) -> tuple[int, Gate] | None:
        """What keeps the devices from being used together, though each of them could be used."""
        alone: PreparedRequest[Candidate] = PreparedRequest(DeviceRequest(name=alternative.name), False, [alternative])
        if self._solvable([PreparedClaim(ResourceClaim(), alternative.claim, [alone], [])]) is not False:
            return None
        proof = self._proof([PreparedClaim(ResourceClaim(), alternative.claim, [alone], [])])
        if proof is not None and proof.kind is ProofKind.CAPACITY:
            cause = f"capacity {proof.counter} of all devices does not suffice for {alternative.need} shares at once"
            return _CAPACITY_LEFT * 100, replace(base, code=codes.CAPACITY, cause=cause, needed=alternative.need)
        if any(record.device.consumes_counters for _, record in self._candidates):
            cause = f"the shared counters do not allow {alternative.need} such devices at once"
            return _COUNTERS * 100, replace(base, code=codes.COUNTERS, cause=cause, needed=alternative.need)
        return _COUNTERS * 100, replace(base, code=codes.COMBINATION, cause="the devices cannot be used together")

    def _fall(self, alternative: Requested, pool: Pool, record: PublishedDevice) -> _Fall | None:
        """The first gate that the device does not pass for the request, with nothing else taken in this attempt."""
        setting, features, allocated = self._setting, self._setting.features, self._setting.allocated
        unmatched = self._unmatched(alternative, record)
        if unmatched is not None:
            return unmatched
        if record.selection is not None and not _for_node(record.selection, setting.node):
            return _Fall(_NODE, codes.NODE_SELECTION)
        if record.device.binding_conditions and not features.device_binding_and_status:
            return _Fall(_FEATURE, codes.FEATURE_OFF, reason="DRADeviceBindingConditions")
        if record.device.consumes_counters and not features.partitionable_devices:
            return _Fall(_FEATURE, codes.FEATURE_OFF, reason="DRAPartitionableDevices")
        draw = None
        if features.consumable_capacity:
            try:
                draw = capacity_draw(setting.draws, alternative, record)
            except AllocationError:
                draw = None
            short = draw.short_of({}, {}) if draw is not None else ", ".join(alternative.capacity) or "its request policy"
            if short is not None:
                return _Fall(_STATIC_CAPACITY, codes.CAPACITY, reason=short)
        if not alternative.admin_access and allocated.in_use(record.id, features.consumable_capacity):
            return _Fall(_IN_USE, codes.IN_USE, owners=allocated.owners(record.id))
        if not may_skip_node_operations(setting, record):
            return _Fall(_OPERATIONS, codes.FEATURE_OFF, reason="DRAOptionalNodeOperations")
        taint = untolerated(record.blocking_taints, alternative.tolerations) if features.device_taints else None
        if taint is not None:
            text = f"{taint.key}={taint.value}:{taint.effect}" if taint.value else f"{taint.key}:{taint.effect}"
            return _Fall(_TAINT, codes.DEVICE_TAINTED, reason=text)
        if record.device.consumes_counters and pool.usable and not (record.multi and allocated.is_shared(record.id)):
            left, demand = pool.counters_left(allocated), record.demand
            short_of = next((name for name, amount in left.items() if demand.get(name, 0) > amount), None)
            if short_of is not None:
                return _Fall(_COUNTERS, codes.COUNTERS, reason="/".join(short_of))
        if draw is not None:
            short = draw.short_of(allocated.consumed(record.id), {})
            if short is not None:
                return _Fall(_CAPACITY_LEFT, codes.CAPACITY, reason=short, owners=allocated.owners(record.id))
        return None

    def _unmatched(self, alternative: Requested, record: PublishedDevice) -> _Fall | None:
        ask = self._setting.selectors.first_unmatched
        for rank, selectors, origin in (
            (_CLASS_SELECTOR, alternative.device_class.spec.selectors, alternative.class_origin),
            (_REQUEST_SELECTOR, alternative.source.selectors, alternative.request_origin),
        ):
            try:
                index = ask(record, selectors, origin)
            except AllocationError as error:
                # The search did not come this far, or this explanation would be about the error.
                return _Fall(rank, codes.SELECTOR, selector=error.selector or 0)
            if index is not None:
                return _Fall(rank, codes.SELECTOR, selector=index)
        return None

    # --- requests together --------------------------------------------------------------------------------------------------------

    def _gate_of_claim(self, claim: PreparedClaim[Candidate]) -> Gate | None:
        """What stops a claim each of whose requests could be served by itself; None if nothing does, or nobody knows."""
        if self._solvable([claim]) is not False:
            return None
        unbound = replace(claim, constraints=[])
        if self._solvable([unbound]) is False:
            return _of_requests(claim, self._proof([unbound]))
        for index, constraint in enumerate(claim.constraints):
            bound = replace(claim, constraints=[constraint])
            if self._solvable([bound]) is False:
                return _of_constraint(claim, index, self._proof([bound]))
        return Gate(codes.CONSTRAINT, "no combination of free devices meets all constraints at once", claim=claim.name)

    def _proof(self, claims: Sequence[PreparedClaim[Candidate]]) -> Proof | None:
        """Why these claims have no solution, if counting shows it."""
        return proof_of(written_down(self._setting, claims, self._candidates))

    def _solvable(self, claims: Sequence[PreparedClaim[Candidate]]) -> bool | None:
        try:
            return Search(self._setting, claims).run() is not None
        except GaveUp:
            return None
        except AllocationError:
            return False


def _describe(gate: Gate, alternative: Requested, fallen: Sequence[tuple[_Fall, PublishedDevice]]) -> Gate:
    """The gate at which `fallen` fell, in words."""
    fall = fallen[0][0]
    gate = replace(
        gate,
        code=fall.code,
        devices=tuple(str(record) for _, record in fallen),
        owners=tuple(sorted({owner for each, _ in fallen for owner in each.owners})),
    )
    reasons = sorted({each.reason for each, _ in fallen if each.reason})
    if fall.code == codes.SELECTOR:
        return _describe_selector(gate, alternative, fall)
    if fall.code == codes.NODE_SELECTION:
        return replace(gate, cause="the matching devices are for other nodes", what="devices for the node")
    if fall.code == codes.FEATURE_OFF:
        return replace(gate, cause=f"the devices need {reasons[0]}", what="devices that need no feature that is off")
    if fall.rank == _STATIC_CAPACITY:
        return replace(gate, cause=f"capacity {reasons[0]} of the devices does not serve the request", what="devices large enough")
    if fall.rank == _CAPACITY_LEFT:
        return replace(gate, cause=f"not enough of capacity {reasons[0]} is left", what="devices with enough left")
    if fall.code == codes.DEVICE_TAINTED:
        return replace(gate, cause=f"taint {reasons[0]} is not tolerated", what="devices without such a taint")
    if fall.code == codes.COUNTERS:
        return replace(gate, cause=f"counter {reasons[0]} is used up", what="devices with counters left")
    if alternative.every is not None:
        return replace(
            gate, code=codes.ALL_MODE, cause="all matching devices are asked for, and some are in use", what="devices free"
        )
    return replace(gate, cause="the matching devices are in use", what="devices free")


def _describe_selector(gate: Gate, alternative: Requested, fall: _Fall) -> Gate:
    of_class = fall.rank == _CLASS_SELECTOR
    selectors = alternative.device_class.spec.selectors if of_class else alternative.source.selectors
    selector = selectors[fall.selector]
    owner = f"class {alternative.device_class.metadata.name}" if of_class else f"request {alternative.reference}"
    return replace(
        gate,
        # People count from one; the path in the object, made from `selector`, counts from zero.
        cause=f"selector {fall.selector + 1} of {owner} is true for too few devices",
        what=f"selector {fall.selector + 1} of {owner} true",
        class_name=alternative.device_class.metadata.name if of_class else "",
        selector=fall.selector,
        expression=text_of(selector),
    )


def _of_requests(claim: PreparedClaim[Candidate], proof: Proof | None) -> Gate:
    """What keeps the requests of a claim from being served together, though each could be."""
    if proof is None:
        names = ", ".join(request.source.name for request in claim.requests)
        return Gate(codes.COMBINATION, f"requests {names} compete for the same devices", claim=claim.name)
    names = ", ".join(claim.requests[request].source.name for _, request in proof.requests)
    if proof.kind is ProofKind.COUNTERS:
        return Gate(codes.COUNTERS, f"counter {proof.counter} does not suffice for requests {names} together", claim=claim.name)
    if proof.kind is ProofKind.CAPACITY:
        return Gate(codes.CAPACITY, f"capacity {proof.counter} does not suffice for requests {names} together", claim=claim.name)
    return Gate(
        codes.COMBINATION,
        f"requests {names} compete for the same devices",
        what=f"devices for requests {names}",
        claim=claim.name,
        matching=proof.have,
        total=proof.total,
        needed=proof.need,
    )


def _of_constraint(claim: PreparedClaim[Candidate], index: int, proof: Proof | None) -> Gate:
    """The constraint that no combination meets, with what was counted."""
    constraint = claim.constraints[index]
    if constraint.match_attribute is not None:
        cause, what = f"no combination of free devices agrees in {constraint.match_attribute}", "devices that agree"
    else:
        cause, what = f"no combination of free devices differs in {constraint.distinct_attribute}", "devices that differ"
    gate = Gate(codes.CONSTRAINT, cause, claim=claim.name, constraint=index)
    if proof is None or proof.kind not in (ProofKind.AGREEMENT, ProofKind.DIFFERENCE):
        return gate
    return replace(gate, what=what, matching=proof.have, total=max(proof.total, proof.have), needed=proof.need)


def _for_node(selection: NodeSelection, node: Node) -> bool:
    try:
        return selection.matches(node)
    except AllocationError:
        # As with selectors: the search did not ask, or the explanation would be about this error.
        return False
