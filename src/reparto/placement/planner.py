"""What would happen to every pod of a snapshot, one after the other, each seeing what the former took.

This is one scheduling attempt per pod in queue order, each after the former was bound: what a quiet cluster does. What runs already
counts first. Claims and templates that no pod uses are tried last, each with one hypothetical consumer and each by itself, since
nothing says how many there would be.

The scheduler itself is in `cycle.py`; here is what happens around it: claims are found or made, what was chosen is made to count,
and what was refused is put into words. Source: upstream-dra.md 5.1.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from reparto.allocation import AllocatedState, AllocationError, Allocator, Features, Fleet, apply_taint_rules
from reparto.allocation.allocator import STEP_BUDGET, Policy
from reparto.model import codes, core, v1
from reparto.model.meta import ObjectMeta
from reparto.placement.admission import Admission
from reparto.placement.admitted import as_admitted
from reparto.placement.claims import Claims, PodClaim, binding, obstacles, reserve, reserved_for, unreserved
from reparto.placement.cluster import Cluster, NodeState
from reparto.placement.cycle import Outcome, Refusals, Sampling, Scheduling
from reparto.placement.extended_resources import (
    Bridge,
    ClassMapping,
    Demand,
    invented_claim,
    invented_for,
    is_invented,
    map_classes,
    owned_by_pods,
)
from reparto.placement.failures import Explanations, failure_of_error
from reparto.placement.label_selectors import SelectorError
from reparto.placement.plan import Choices, ClaimPlan, NodeScore, Note, Plan, PodPlan, Reason, Verdict
from reparto.placement.plugins.devices import Devices, PodDevices
from reparto.placement.plugins.packing import NodePacking
from reparto.placement.plugins.pod_affinity import PodAffinity, known_namespaces
from reparto.placement.plugins.spread import Spread
from reparto.placement.pod_view import PodView, Shapes
from reparto.placement.queue import DEFAULT_SCHEDULER, in_order, preempts, priority_of, set_aside
from reparto.placement.reasons import group, reason_of
from reparto.placement.refusals import RefusalReasons
from reparto.placement.remarks import remarks, volume_remark
from reparto.placement.snapshot import Key, Snapshot, key, reference

HYPOTHETICAL: Final = "hypothetical-"
_HYPOTHETICAL_POD_CLAIM: Final = "claim"
_NOT_YET: Final = "~"  # after every time
_SCORES_KEPT: Final = 3
_GANGS_SHOWN: Final = 3

_Given = dict[Key, v1.AllocationResult]  # what open claims get, by claim


def make_plan(
    snapshot: Snapshot,
    features: Features,
    *,
    taint_rules: bool = True,
    extended_resources: bool = True,
    group_claims: bool = False,
    max_steps: int | None = None,
    sampling: Sampling | None = None,
    keep_scores: bool = False,
    policy: Policy = "first-fit",
    keep_choices: bool = False,
) -> Plan:
    """Decide every pod of `snapshot`.

    `taint_rules` says whether DeviceTaintRules are in force (gate DRADeviceTaintRules), `extended_resources` whether DRA serves
    extended resources (DRAExtendedResource), `group_claims` whether pods share the claims of their PodGroups
    (DRAWorkloadResourceClaims). `max_steps` bounds the search of one pod on one node (None: the allocator's default).
    `sampling` says at how many nodes the scheduler looks (None: as it does by default), `keep_scores` whether the plan has the
    scores of the best nodes. With `policy` best-fit devices and nodes are those whose loss costs the rest least, all nodes are
    looked at, and `keep_choices` says whether the plan has why. The answer is a function of the arguments alone.
    """
    sampling = (sampling or Sampling()) if policy == "first-fit" else Sampling(all_nodes=True)
    return _Planner(
        snapshot, features, taint_rules, extended_resources, group_claims, max_steps, sampling, keep_scores, policy, keep_choices
    ).run()


class _Planner:
    def __init__(
        self,
        snapshot: Snapshot,
        features: Features,
        taint_rules: bool,
        extended_resources: bool,
        group_claims: bool,
        max_steps: int | None,
        sampling: Sampling,
        keep_scores: bool,
        policy: Policy,
        keep_choices: bool,
    ) -> None:
        self._snapshot = snapshot
        self._keep_scores = keep_scores
        self._features = features
        self._claims = Claims(snapshot, group_claims=group_claims)
        self._slices = apply_taint_rules(snapshot.slices, snapshot.taint_rules) if taint_rules else list(snapshot.slices)
        self._state = AllocatedState.from_claims(snapshot.claims.values())
        allocator = Allocator(
            self._slices,
            snapshot.classes.values(),
            allocated=self._state,
            features=features,
            policy=policy,
            step_budget=max_steps or STEP_BUDGET,
        )
        self._cluster = Cluster(snapshot.nodes)
        self._devices = Devices(self._cluster, Fleet(allocator, (state.node for state in self._cluster.nodes)), features)
        mapping = map_classes(snapshot.classes.values()) if extended_resources else ClassMapping()
        self._bridge = Bridge(mapping)
        self._admission = Admission(snapshot, mapping)
        spread = Spread(self._cluster, snapshot.default_selectors)
        affinity = PodAffinity(self._cluster, known_namespaces(snapshot.namespaces, snapshot.pods))
        self._packing = NodePacking(self._cluster, allocator) if policy == "best-fit" else None
        self._keep_choices = keep_choices
        self._scheduling = Scheduling(self._cluster, spread, affinity, self._bridge, sampling, self._packing)
        self._shapes = Shapes()
        self._why = RefusalReasons(self._cluster, self._devices, Explanations(allocator), snapshot.nodes_inferred)
        self._leaving = {item.metadata.name for item in snapshot.namespaces if _is_leaving(item)}
        self._invented = owned_by_pods(filter(is_invented, snapshot.claims.values()))
        self._notes: list[Note] = [*_gang_note(snapshot)] if group_claims else []

    def run(self) -> Plan:
        self._create_claims()
        ordered, notes = in_order(self._admission.pods, self._snapshot.priority_classes)
        self._notes += [*remarks(self._snapshot), *notes]
        pods = [self._consider(pod) for pod in ordered]
        pods += [_invalid(item) for item in sorted(self._snapshot.refused) if item.startswith("Pod/") and item.count("/") == 2]
        pods += self._hypothetical()
        claims = tuple(filter(self._admission.exists, self._claims.existing()))
        return Plan(tuple(pods), tuple(dict.fromkeys(self._notes)), claims=claims, slices=tuple(self._slices))

    def _create_claims(self) -> None:
        """Claims from templates are created in the order in which their pods came, long before a scheduler sees the pods."""
        if not self._snapshot.quotas:
            return
        for pod in sorted(self._admission.pods, key=lambda pod: pod.metadata.creation_timestamp or _NOT_YET):
            over = pod.status.phase in ("Succeeded", "Failed") or pod.metadata.deletion_timestamp is not None
            if not pod.spec.resource_claims or over or self._admission.pod(pod) is not None:
                continue
            for entry in self._claims.resolve(pod)[0]:
                if not self._claims.holds(entry.claim):
                    self._admission.claim(entry.claim)

    # --- one pod -----------------------------------------------------------------------------------------------------------------

    def _consider(self, pod: core.Pod) -> PodPlan:
        if (refused := self._admission.pod(pod)) is not None:
            return _answer(pod, "pending", "", (), (refused,))
        if (aside := set_aside(pod)) is not None:
            verdict, reason = aside
            entries, _ = self._claims.resolve(pod)
            held = [entry for entry in entries if self._claims.holds(entry.claim)]
            if verdict == "waiting":
                self._scheduling.nominate(self._view(pod))
            return _answer(pod, verdict, pod.spec.node_name, held, (reason,))
        if pod.spec.node_name:
            return self._bound(pod)
        return self._schedule(pod, commit=True)

    def _view(self, pod: core.Pod) -> PodView:
        priority, _ = priority_of(pod, self._snapshot.priority_classes)
        return self._shapes.view(as_admitted(pod), priority)

    def _bound(self, pod: core.Pod) -> PodPlan:
        """A pod that has its node. What its claims hold was counted at the start; one that holds nothing is a trap."""
        if (position := self._cluster.position.get(pod.spec.node_name)) is not None:
            self._scheduling.placed(self._view(pod), position)
        entries, missing = self._claims.resolve(pod)
        reasons: list[Reason] = []
        for entry in entries:
            if entry.claim.status.allocation is not None:
                continue
            if self._claims.holds(entry.claim) or not _runs(pod):
                message = f"the pod names node {pod.spec.node_name} itself, so nobody allocates claim {entry.name}"
                subject = reference("Pod", pod.metadata)
                reasons.append(reason_of(codes.POD_BYPASSES_SCHEDULER, subject, "spec.nodeName", message))
            else:
                self._unseen(pod, f"claim {entry.name}")
        for reason in missing:
            if _runs(pod):
                self._unseen(pod, reason.message)
            else:
                reasons.append(reason)
        if (claim := self._serving(pod)) is not None:
            entries = (*entries, PodClaim("", claim, reference("ResourceClaim", claim.metadata), "spec"))
        status = pod.status.extended_resource_claim_status
        return _answer(pod, "pending" if reasons else "bound", pod.spec.node_name, entries, reasons, extended=status)

    def _serving(self, pod: core.Pod) -> v1.ResourceClaim | None:
        """The claim that serves the extended resources of a pod that has its node."""
        status = pod.status.extended_resource_claim_status
        if status is None:
            return self._invented_for(pod)
        claim = self._snapshot.claims.get((pod.metadata.namespace, status.resource_claim_name))
        if claim is None:
            self._unseen(pod, f"claim {status.resource_claim_name}")
        return claim

    def _unseen(self, pod: core.Pod, what: str) -> None:
        message = f"pod {pod.metadata.name} runs, but its claim is not in the input, so what it holds is not counted ({what})"
        self._notes.append(Note(codes.CLAIM_UNSEEN, reference("Pod", pod.metadata), message))

    def _schedule(self, pod: core.Pod, *, commit: bool, hypothetical: bool = False) -> PodPlan:
        entries, reasons = self._claims.resolve(pod)
        obstructed = (
            reasons
            or self._unmade(pod, entries)
            or tuple(filter(None, (self._admission.claim(entry.claim, keep=commit) for entry in entries)))
            or tuple(reason for entry in entries for reason in obstacles(pod, entry, self._snapshot))
        )
        if not obstructed and not self._snapshot.nodes:
            obstructed = (_no_nodes(pod),)
        if obstructed:
            if commit:
                self._scheduling.nominate(self._view(pod))
            return _answer(pod, "pending", "", entries, obstructed, hypothetical)
        demand = self._bridge.demand(pod)
        if demand is not None and (left_over := self._invented_for(pod)) is not None:
            return self._tidy(pod, entries, left_over)
        view = self._view(pod)
        devices = self._devices.of(view, entries, demand)
        try:
            if commit:
                self._remark_volumes(pod)
                outcome = self._scheduling.attempt(view, devices)
            else:
                outcome = self._scheduling.unmoved(lambda: self._scheduling.attempt(view, devices))
        except AllocationError as error:
            asked = [*entries, *([_asked(demand, self._bridge)] if demand is not None else [])]
            reasons = group([failure_of_error(error, None, asked)], len(self._snapshot.nodes))
            return _answer(pod, "pending", "", entries, reasons, hypothetical)
        except SelectorError as error:
            return _answer(pod, "pending", "", entries, (_unparsable(pod, error),), hypothetical)
        if outcome.node is None:
            assert outcome.refusals is not None
            if commit:
                self._after_refusal(view, entries, outcome.refusals)
            return _answer(pod, "pending", "", entries, self._why.reasons(view, outcome.refusals), hypothetical)
        return self._place(view, entries, devices, outcome, commit, hypothetical)

    def _place(
        self,
        view: PodView,
        entries: Sequence[PodClaim],
        devices: PodDevices | None,
        outcome: Outcome,
        commit: bool,
        hypothetical: bool,
    ) -> PodPlan:
        pod, node = view.pod, outcome.node
        assert node is not None
        given: _Given = {}
        status: core.PodExtendedResourceClaimStatus | None = None
        if devices is not None and devices.answers is not None:
            allocations = devices.allocations(node)
            assert allocations is not None
            given = {key(claim.metadata): allocation for claim, allocation in zip(devices.open, allocations, strict=False)}
            if (extended := devices.extended(node)) is not None:
                claim = invented_claim(pod, extended.spec, self._claims.names(pod.metadata.namespace))
                failed = _never_bound(pod, node) if extended.fails_when_bound else self._admission.claim(claim) if commit else None
                if failed is not None:
                    return self._half_bound(view, entries, given, node, failed, commit, hypothetical)
                status = core.PodExtendedResourceClaimStatus(extended.mappings, claim.metadata.name)
                entries = (*entries, PodClaim("", claim, reference("Pod", pod.metadata), "spec.containers"))
                given[key(claim.metadata)] = allocations[-1]
        placed = [self._given(entry, given, pod) for entry in entries]
        choices = self._choices(node, devices, outcome)
        if commit:
            self._scheduling.placed(view, node.position)
            self._commit(placed, given)
        waiting = self._waiting(placed)
        answer = _answer(pod, "waiting" if waiting else "placed", node.name, placed, waiting, hypothetical, status)
        answer = msgspec.structs.replace(answer, choices=choices)
        return msgspec.structs.replace(answer, scores=_best(outcome, self._cluster.nodes)) if self._keep_scores else answer

    def _choices(self, node: NodeState, devices: PodDevices | None, outcome: Outcome) -> Choices | msgspec.UnsetType:
        """Why node and devices were chosen, where best-fit chose them; to be asked before they are taken."""
        if self._packing is None or not self._keep_choices or devices is None or devices.answers is None:
            return msgspec.UNSET
        chosen = self._packing.node_choice(node, outcome.packed, outcome.fitting)
        return Choices(chosen, tuple(self._packing.device_choices(node, devices)))

    def _half_bound(
        self,
        view: PodView,
        entries: Sequence[PodClaim],
        given: _Given,
        node: NodeState,
        reason: Reason,
        commit: bool,
        hypothetical: bool,
    ) -> PodPlan:
        """Binding fails at the claim for extended resources, after those of the pod were written: they keep their devices, although
        nobody has reserved them."""
        written = [
            msgspec.structs.replace(entry, claim=unreserved(self._given(entry, given, view.pod).claim, view.pod))
            for entry in entries
        ]
        if commit:
            self._commit(written, given)
        return _answer(view.pod, "pending", "", written, (reason,), hypothetical)

    def _given(self, entry: PodClaim, given: _Given, pod: core.Pod) -> PodClaim:
        """The entry with its claim as it is after the pod was placed."""
        allocation = entry.claim.status.allocation or given[key(entry.claim.metadata)]
        return msgspec.structs.replace(entry, claim=reserve(entry.claim, allocation, pod, entry.membership))

    def _commit(self, placed: Sequence[PodClaim], given: _Given) -> None:
        """Write the claims, for the pods that follow."""
        for entry in placed:
            self._claims.put(entry.claim)
            if key(entry.claim.metadata) in given:
                self._state.add(entry.claim)

    # --- pods that are not placed ------------------------------------------------------------------------------------------------

    def _unmade(self, pod: core.Pod, entries: Sequence[PodClaim]) -> tuple[Reason, ...]:
        """In a namespace that is being deleted, neither a new pod nor a claim for an old one can be created."""
        if pod.metadata.namespace not in self._leaving:
            return ()
        if pod.metadata.uid and all(self._claims.holds(entry.claim) for entry in entries):
            return ()
        message = f"namespace {pod.metadata.namespace} is being deleted, so nothing can be created in it"
        return (reason_of(codes.NAMESPACE_DELETED, f"Namespace/{pod.metadata.namespace}", "status.phase", message),)

    def _invented_for(self, pod: core.Pod) -> v1.ResourceClaim | None:
        """The claim of the input that the scheduler made for the pod's extended resources."""
        owned = self._invented.get((pod.metadata.namespace, pod.metadata.name), ())
        return invented_for(pod, filter(self._claims.holds, owned))

    def _tidy(self, pod: core.Pod, entries: Sequence[PodClaim], left_over: v1.ResourceClaim) -> PodPlan:
        """A claim of an attempt that failed: the scheduler refuses the pod on every node, and deletes the claim."""
        if left_over.status.allocation is not None:
            self._state.remove(left_over)
        self._scheduling.refused_everywhere(self._view(pod))
        if not preempts(pod, self._snapshot.priority_classes):
            self._scheduling.nominate(self._view(pod))
        self._claims.remove(left_over)
        self._admission.withdrawn(left_over)
        message = f"claim {left_over.metadata.name} of an earlier attempt is in the way; the scheduler deletes it"
        reason = reason_of(codes.LEFT_OVER, reference("ResourceClaim", left_over.metadata), "", message)
        return _answer(pod, "pending", "", entries, (reason,))

    def _after_refusal(self, view: PodView, entries: Sequence[PodClaim], refusals: Refusals) -> None:
        """What the scheduler does for a pod that found no node: it gives devices back, or tries to evict pods."""
        freed = self._free_unusable(view.pod, entries, refusals)
        preempting = preempts(view.pod, self._snapshot.priority_classes)
        if not preempting or self._scheduling.waits_for_evicted(view, refusals):
            self._scheduling.nominate(view)
        elif not freed and self._scheduling.could_preempt(view, refusals):
            message = f"pod {view.pod.metadata.name} might be placed by evicting pods of lower priority, which is not simulated"
            self._notes.append(Note(codes.PREEMPTION, reference("Pod", view.pod.metadata), message))

    def _free_unusable(self, pod: core.Pod, entries: Sequence[PodClaim], refusals: Refusals) -> bool:
        """Of the allocated claims that were in the way the scheduler frees one that nobody else has reserved. It takes any; the
        plan takes the first. Source: upstream-dra.md 5.1, PostFilter."""
        in_the_way = self._why.in_the_way(refusals)
        for entry in entries:
            claim, name = entry.claim, reference("ResourceClaim", entry.claim.metadata)
            consumers = claim.status.reserved_for
            if key(claim.metadata) not in in_the_way or len(consumers) > 1 or (consumers and not reserved_for(claim, pod)):
                continue
            self._state.remove(claim)
            self._claims.put(msgspec.structs.replace(claim, status=v1.ResourceClaimStatus()))
            user, used = pod.metadata.name, claim.metadata.name
            message = f"pod {user} cannot use claim {used} where it is allocated, so the scheduler frees the claim"
            self._notes.append(Note(codes.ALLOCATION_FREED, name, message))
            return True
        return False

    def _remark_volumes(self, pod: core.Pod) -> None:
        if (note := volume_remark(pod)) is not None:
            self._notes.append(note)

    def _waiting(self, entries: Sequence[PodClaim]) -> tuple[Reason, ...]:
        if not self._features.device_binding_and_status:
            return ()
        reasons: list[Reason] = []
        for entry in entries:
            state, condition = binding(entry.claim)
            if state == "waiting":
                message = f"claim {entry.claim.metadata.name} waits for binding condition {condition}"
                subject = reference("ResourceClaim", entry.claim.metadata)
                reasons.append(reason_of(codes.BINDING_CONDITIONS, subject, "status.devices", message))
        return tuple(reasons)

    # --- hypothetical consumers --------------------------------------------------------------------------------------------------

    def _hypothetical(self) -> Iterator[PodPlan]:
        claims = [claim for claim in self._claims.unused(self._snapshot.pods) if not is_invented(claim)]
        for claim in claims:
            entry = core.PodResourceClaim(name=_HYPOTHETICAL_POD_CLAIM, resource_claim_name=claim.metadata.name)
            pod = _consumer(claim.metadata, entry)
            if claim.status.allocation is None:
                yield self._schedule(pod, commit=False, hypothetical=True)
            else:
                entries, _ = self._claims.resolve(pod)
                yield _answer(pod, "bound", self._pinned(claim.status.allocation), entries, (), True)
        used = {
            (pod.metadata.namespace, entry.resource_claim_template_name)
            for pod in self._snapshot.pods
            for entry in pod.spec.resource_claims
        }
        named = {key(claim.metadata) for claim in claims}
        for identity, template in sorted(self._snapshot.templates.items()):
            if identity not in used:
                entry = core.PodResourceClaim(name=_HYPOTHETICAL_POD_CLAIM, resource_claim_template_name=template.metadata.name)
                pod = _consumer(template.metadata, entry, "template-" if identity in named else "")
                yield self._schedule(pod, commit=False, hypothetical=True)

    def _pinned(self, allocation: v1.AllocationResult) -> str:
        """The one node on which an allocation can be used; empty where there are several."""
        lanes = self._devices.selected(allocation)
        return self._cluster.nodes[lanes.index(1)].name if lanes.count(1) == 1 else ""


def _best(outcome: Outcome, nodes: Sequence[NodeState]) -> tuple[NodeScore, ...]:
    """The scores of the nodes that came out best, the chosen one first; empty where one node fitted and nothing was compared."""
    compared = [(-score, nodes[position]) for position, score in zip(outcome.compared, outcome.scores, strict=True)]
    compared.sort(key=lambda item: (item[0], item[1] is not outcome.node, item[1].name))
    return tuple(NodeScore(state.name, -negative) for negative, state in compared[:_SCORES_KEPT])


def _runs(pod: core.Pod) -> bool:
    return pod.status.phase == "Running" or bool(pod.status.resource_claim_statuses)


def _gang_note(snapshot: Snapshot) -> Iterator[Note]:
    """That gangs are planned pod by pod: once, however many there are."""
    gangs = [reference("PodGroup", item.metadata) for _, item in sorted(snapshot.pod_groups.items()) if _is_gang(item)]
    if gangs:
        message = f"gang scheduling is not simulated, the pods of a gang were planned one by one: {', '.join(gangs[:_GANGS_SHOWN])}"
        more = f" and {len(gangs) - _GANGS_SHOWN} more" if len(gangs) > _GANGS_SHOWN else ""
        yield Note(codes.NOT_PLANNED, gangs[0], message + more)


def _is_gang(group: core.PodGroup) -> bool:
    return group.spec.scheduling_policy.gang is not None


def _is_leaving(namespace: core.Namespace) -> bool:
    return namespace.status.phase == "Terminating" or namespace.metadata.deletion_timestamp is not None


def _consumer(metadata: ObjectMeta, entry: core.PodResourceClaim, apart: str = "") -> core.Pod:
    """A pod for a claim or template; `apart` tells those of a claim and a template of one name apart."""
    name = ObjectMeta(name=HYPOTHETICAL + apart + metadata.name, namespace=metadata.namespace)
    return core.Pod(metadata=name, spec=core.PodSpec(resource_claims=(entry,)))


def _invalid(item: str) -> PodPlan:
    _, namespace, name = item.split("/", 2)
    reason = reason_of(codes.POD_INVALID, item, "", "the API server would refuse this pod")
    return PodPlan(namespace, name, "invalid", reasons=(reason,))


def _no_nodes(pod: core.Pod) -> Reason:
    return reason_of(codes.NODE_UNKNOWN, reference("Pod", pod.metadata), "", "there is no node in the input")


def _unparsable(pod: core.Pod, error: SelectorError) -> Reason:
    return reason_of(codes.POD_SELECTOR, reference("Pod", pod.metadata), "spec", f"a selector cannot be parsed: {error}")


def _asked(demand: Demand, bridge: Bridge) -> PodClaim:
    """The claim that an allocator was asked for on some node, for the extended resources of a pod."""
    pod, wanted = demand.pod, bridge.node_claim(demand.pod, demand.resources)
    claim = v1.ResourceClaim(metadata=pod.metadata, spec=wanted.spec)
    return PodClaim("", claim, reference("Pod", pod.metadata), "spec.containers", wanted.fields)


def _never_bound(pod: core.Pod, node: NodeState) -> Reason:
    message = f"node {node.name} is chosen, but a device plugin serves the pod's extended resources there, and binding fails"
    return reason_of(codes.DEVICE_PLUGIN_AND_CLAIM, reference("Pod", pod.metadata), "spec.containers", message)


def _answer(
    pod: core.Pod,
    verdict: Verdict,
    node: str,
    entries: Iterable[PodClaim],
    reasons: Iterable[Reason],
    hypothetical: bool = False,
    extended: core.PodExtendedResourceClaimStatus | None = None,
) -> PodPlan:
    claims = tuple(
        ClaimPlan(entry.claim.metadata.namespace, entry.claim.metadata.name, entry.name, entry.claim.status.allocation)
        for entry in entries
    )
    return PodPlan(
        pod.metadata.namespace,
        pod.metadata.name,
        verdict,
        node,
        hypothetical,
        pod.spec.scheduler_name or DEFAULT_SCHEDULER,
        claims,
        tuple(reasons),
        extended,
    )
