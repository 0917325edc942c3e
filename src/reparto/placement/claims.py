"""Which ResourceClaims a pod uses: the ones it names, and the ones the resourceclaim controller makes from templates.

What the controller would have created is created here, with the controller's names except that the random suffix is derived from
the pod, so that the same input always gives the same plan. A claim that the pod cannot have is a reason, never an exception.

Source: upstream-dra.md 2.3 (generated claims), 3.17 (reservations), 5.1 (PreEnqueue, PreFilter), 5.2 (controller).
"""

from collections.abc import Iterable, Mapping, Set
from typing import Final, Literal

import msgspec

from reparto.hardware.classes import built_in_classes
from reparto.model import codes, core, v1
from reparto.model.meta import ObjectMeta, OwnerReference
from reparto.placement.drawn_names import drawn_name
from reparto.placement.extended_resources import ResourceField
from reparto.placement.plan import Reason
from reparto.placement.reasons import reason_of
from reparto.placement.snapshot import Key, Snapshot, class_names, key, reference

POD_CLAIM_ANNOTATION: Final = "resource.kubernetes.io/pod-claim-name"
MAX_GROUP_CLAIMS: Final = 4  # validation of a PodGroup's spec.resourceClaims
_GROUP: Final = "scheduling.k8s.io"
_GROUP_VERSION: Final = f"{_GROUP}/v1beta1"
_GROUPS: Final = "podgroups"
MAX_CONSUMERS: Final = 256  # validation of status.reservedFor
_BASE_LENGTH: Final = 57  # of 63: leaves room for a hyphen and five random characters


class Membership(msgspec.Struct, frozen=True):
    """What the group of a pod means for one of its claims. Reservations for the group that is `named` count for the pod, by name
    alone: a pod does not know its group's uid. `holder` is the group where the claim is the group's, not the pod's."""

    named: str = ""
    holder: core.PodGroup | None = None


NO_GROUP: Final = Membership()


class PodClaim(msgspec.Struct, frozen=True):
    """One entry of `spec.resourceClaims` with its claim, and where a person would edit the claim's spec: `origin` is the object,
    `path` the spec's field in it (those of the template, where the claim comes from one).

    The claim for a pod's extended resources has no entry, and `fields`: what each of its requests stands for in the pod.
    `membership` says for whom else than the pod the claim may be reserved."""

    name: str
    claim: v1.ResourceClaim
    origin: str
    path: str
    fields: Mapping[str, ResourceField] = {}
    membership: Membership = NO_GROUP


class Claims:
    """The claims that exist at one moment of a plan: those of the input, and those that pods were given since.

    `group_claims`: whether pods share the claims of their PodGroups (gate DRAWorkloadResourceClaims)."""

    def __init__(self, snapshot: Snapshot, *, group_claims: bool = False) -> None:
        self._snapshot = snapshot
        self._group_claims = group_claims
        self._claims: dict[Key, v1.ResourceClaim] = {}
        self._names: dict[str, set[str]] = {}
        # (namespace, pod or group, its claim) → the claim that was made for it, as the controller finds it again.
        self._made_for: dict[tuple[str, str, str], Key] = {}
        self._made_for_group: dict[tuple[str, str, str], Key] = {}
        for claim in snapshot.claims.values():
            self.put(claim)

    def put(self, claim: v1.ResourceClaim) -> None:
        """Add a claim, or replace it by its newer state."""
        identity = key(claim.metadata)
        self._claims[identity] = claim
        self._names.setdefault(claim.metadata.namespace, set()).add(claim.metadata.name)
        pod_claim = (claim.metadata.annotations or {}).get(POD_CLAIM_ANNOTATION)
        if pod_claim is None:
            return
        if (owner := _pod_owner(claim)) is not None:
            self._made_for.setdefault((claim.metadata.namespace, owner.name, pod_claim), identity)
        if (group := _group_owner(claim)) is not None:
            self._made_for_group.setdefault((claim.metadata.namespace, group.name, pod_claim), identity)

    def remove(self, claim: v1.ResourceClaim) -> None:
        """The claim is deleted."""
        del self._claims[key(claim.metadata)]
        self._names[claim.metadata.namespace].discard(claim.metadata.name)

    def names(self, namespace: str) -> Set[str]:
        """The names of all claims in a namespace."""
        return self._names.get(namespace, frozenset())

    def existing(self) -> tuple[v1.ResourceClaim, ...]:
        """All claims, by namespace and name."""
        return tuple(claim for _, claim in sorted(self._claims.items()))

    def holds(self, claim: v1.ResourceClaim) -> bool:
        """Whether the claim exists, rather than would have to be created from its template."""
        return key(claim.metadata) in self._claims

    def resolve(self, pod: core.Pod) -> tuple[tuple[PodClaim, ...], tuple[Reason, ...]]:
        """The claims of `pod` in the order of its spec, each once, and a reason for each that it cannot have.

        An entry for which the pod's status says that no claim is needed is left out. Nothing is made for a pod whose PodGroup is
        missing; where it has its node already, what it has is found all the same.
        """
        if (group_missing := self._no_group(pod)) is not None and not pod.spec.node_name:
            return (), (group_missing,)
        found: dict[Key, PodClaim] = {}
        reasons: list[Reason] = []
        for index, entry in enumerate(pod.spec.resource_claims):
            path = f"spec.resourceClaims[{index}]"
            membership = self._membership(pod, entry)
            if entry.resource_claim_name is not None:
                answer = self._named(pod, entry.name, entry.resource_claim_name, f"{path}.resourceClaimName")
            elif entry.resource_claim_template_name is not None:
                answer = self._from_template(pod, entry, membership, f"{path}.resourceClaimTemplateName")
            else:
                message = f"claim {entry.name!r} names neither a claim nor a template"
                answer = reason_of(codes.POD_CLAIM_EMPTY, reference("Pod", pod.metadata), path, message)
            if isinstance(answer, Reason):
                reasons.append(answer)
            elif answer is not None:
                found.setdefault(key(answer.claim.metadata), msgspec.structs.replace(answer, membership=membership))
        return tuple(found.values()), tuple(reasons)

    def unused(self, pods: Iterable[core.Pod]) -> tuple[v1.ResourceClaim, ...]:
        """The claims of the input that none of `pods` uses, by namespace and name."""
        used: set[Key] = set()
        for pod in pods:
            namespace = pod.metadata.namespace
            for entry in pod.spec.resource_claims:
                used.add((namespace, entry.resource_claim_name or ""))
                if (made := self._made_for.get((namespace, pod.metadata.name, entry.name))) is not None:
                    used.add(made)
                group = self._membership(pod, entry).holder
                if group is not None and (made := self._made_for_group.get((namespace, group.metadata.name, entry.name))):
                    used.add(made)
            used.update((namespace, status.resource_claim_name or "") for status in pod.status.resource_claim_statuses)
            if (extended := pod.status.extended_resource_claim_status) is not None:
                used.add((namespace, extended.resource_claim_name))
        return tuple(claim for identity, claim in sorted(self._snapshot.claims.items()) if identity not in used)

    def _group_name(self, pod: core.Pod) -> str | None:
        """The group whose claims the pod may share; None where it has none, or the feature is off."""
        group = pod.spec.scheduling_group if self._group_claims else None
        return group.pod_group_name if group is not None else None

    def _no_group(self, pod: core.Pod) -> Reason | None:
        """Why the pod waits for its group: no such group exists."""
        name = self._group_name(pod)
        if name is None:
            return None
        namespace, path = pod.metadata.namespace, "spec.schedulingGroup.podGroupName"
        subject, group = f"PodGroup/{namespace}/{name}", self._snapshot.pod_groups.get((namespace, name))
        if group is not None and (count := len(group.spec.resource_claims)) > MAX_GROUP_CLAIMS:
            message = f"PodGroup {name} has {count} claims, more than {MAX_GROUP_CLAIMS}, so the API server would refuse it"
            return reason_of(codes.POD_GROUP_MISSING, subject, "spec.resourceClaims", message, "give it fewer claims")
        if group is not None:
            return None
        if subject in self._snapshot.refused:
            message = f"PodGroup {name} is invalid, so the API server would refuse it"
            return reason_of(codes.POD_GROUP_MISSING, subject, "", message, "correct the PodGroup")
        hint = _near(name, [other for space, other in self._snapshot.pod_groups if space == namespace])
        message = f"there is no PodGroup {name} in namespace {namespace}"
        return reason_of(codes.POD_GROUP_MISSING, reference("Pod", pod.metadata), path, message, hint)

    def _membership(self, pod: core.Pod, entry: core.PodResourceClaim) -> Membership:
        """A claim is the group's where the group has the very same entry: its name, claim and template."""
        name = self._group_name(pod)
        if name is None:
            return NO_GROUP
        group = self._snapshot.pod_groups.get((pod.metadata.namespace, name))
        return Membership(name, group if group is not None and entry in group.spec.resource_claims else None)

    def _named(self, pod: core.Pod, pod_claim: str, name: str, path: str) -> PodClaim | Reason:
        namespace = pod.metadata.namespace
        claim = self._claims.get((namespace, name))
        if claim is not None:
            return self._existing(pod_claim, claim)
        if (wanted := f"ResourceClaim/{namespace}/{name}") in self._snapshot.refused:
            return reason_of(codes.CLAIM_INVALID, wanted, "", f"claim {name} is invalid, so the API server would refuse it")
        owner = reference("Pod", pod.metadata)
        elsewhere = sorted(other for other, claim_name in self._claims if claim_name == name)
        if elsewhere:
            message = f"claim {name} is in namespace {', '.join(elsewhere)}, the pod in {namespace}"
            return reason_of(codes.CLAIM_ELSEWHERE, owner, path, message)
        hint = _near(name, [claim_name for space, claim_name in self._claims if space == namespace])
        return reason_of(codes.CLAIM_MISSING, owner, path, f"there is no claim {name} in namespace {namespace}", hint)

    def _from_template(
        self, pod: core.Pod, entry: core.PodResourceClaim, membership: Membership, path: str
    ) -> PodClaim | Reason | None:
        namespace = pod.metadata.namespace
        for status in pod.status.resource_claim_statuses:
            if status.name != entry.name:
                continue
            if status.resource_claim_name is None:
                return None
            recorded = self._claims.get((namespace, status.resource_claim_name))
            if recorded is None:
                break  # the controller makes a recorded claim that vanished anew
            if not _is_for(recorded, pod) and not _is_for_group(recorded, membership.named):
                name = reference("ResourceClaim", recorded.metadata)
                message = f"claim {recorded.metadata.name} was not made for pod {pod.metadata.name}"
                return reason_of(codes.CLAIM_NOT_OWNED, name, "metadata.ownerReferences", message)
            return self._existing(entry.name, recorded)
        if membership.holder is not None:
            return self._of_group(pod, membership.holder, entry, path)
        made = self._made_for.get((namespace, pod.metadata.name, entry.name))
        if made is not None and _is_for(self._claims[made], pod):
            return self._existing(entry.name, self._claims[made])
        return self._generated(pod, None, entry, path)

    def _of_group(self, pod: core.Pod, group: core.PodGroup, entry: core.PodResourceClaim, path: str) -> PodClaim | Reason:
        """The one claim of a group's entry: as the group's status records it, as it is found again, or made for the group."""
        namespace, name = group.metadata.namespace, group.metadata.name
        candidates = [
            (namespace, status.resource_claim_name or "")
            for status in group.status.resource_claim_statuses
            if status.name == entry.name
        ]
        if (made := self._made_for_group.get((namespace, name, entry.name))) is not None:
            candidates.append(made)
        for identity in candidates:
            claim = self._claims.get(identity)
            owner = _group_owner(claim) if claim is not None else None
            if claim is not None and owner is not None and _same(owner.uid, owner.name, group.metadata):
                return self._existing(entry.name, claim)
        return self._generated(pod, group, entry, path)

    def _existing(self, pod_claim: str, claim: v1.ResourceClaim) -> PodClaim:
        return PodClaim(pod_claim, claim, reference("ResourceClaim", claim.metadata), "spec")

    def _generated(self, pod: core.Pod, group: core.PodGroup | None, entry: core.PodResourceClaim, path: str) -> PodClaim | Reason:
        """A claim from a template, for the pod or for its group."""
        owner, api_version, kind = (pod.metadata, "v1", "Pod") if group is None else (group.metadata, _GROUP_VERSION, "PodGroup")
        namespace, name = pod.metadata.namespace, entry.resource_claim_template_name or ""
        template = self._snapshot.templates.get((namespace, name))
        if template is None:
            return self._no_template(pod, name, path)
        metadata = ObjectMeta(
            name=self._generated_name(owner, entry.name, "" if group is None else "PodGroup/"),
            namespace=namespace,
            labels=template.spec.metadata.labels,
            annotations={**(template.spec.metadata.annotations or {}), POD_CLAIM_ANNOTATION: entry.name},
            owner_references=(OwnerReference(api_version=api_version, kind=kind, name=owner.name, uid=owner.uid, controller=True),),
        )
        claim = v1.ResourceClaim(metadata=metadata, spec=template.spec.spec)
        return PodClaim(entry.name, claim, reference("ResourceClaimTemplate", template.metadata), "spec.spec")

    def _no_template(self, pod: core.Pod, name: str, path: str) -> Reason:
        namespace = pod.metadata.namespace
        if (wanted := f"ResourceClaimTemplate/{namespace}/{name}") in self._snapshot.refused:
            return reason_of(codes.CLAIM_INVALID, wanted, "", f"template {name} is invalid, so the API server would refuse it")
        owner, templates = reference("Pod", pod.metadata), self._snapshot.templates
        elsewhere = sorted(other for other, template_name in templates if template_name == name)
        if elsewhere:
            message = f"template {name} is in namespace {', '.join(elsewhere)}, the pod in {namespace}"
            return reason_of(codes.TEMPLATE_ELSEWHERE, owner, path, message)
        hint = _near(name, [template_name for space, template_name in templates if space == namespace])
        return reason_of(codes.TEMPLATE_MISSING, owner, path, f"there is no template {name} in namespace {namespace}", hint)

    def _generated_name(self, owner: ObjectMeta, pod_claim: str, apart: str) -> str:
        """`<pod>-<podClaim>-<suffix>`; parts too long are cut in proportion, then without the last hyphen (controller's rule).

        `apart` tells a group from a pod of the same name."""
        base = f"{owner.name}-{pod_claim}-"
        if (length := len(base)) > _BASE_LENGTH:
            base = (
                f"{owner.name[: len(owner.name) * _BASE_LENGTH // length]}-{pod_claim[: len(pod_claim) * _BASE_LENGTH // length]}"
            )
        return drawn_name(base, f"{apart}{owner.namespace}/{owner.name}/{pod_claim}", self.names(owner.namespace))


def obstacles(pod: core.Pod, entry: PodClaim, snapshot: Snapshot) -> tuple[Reason, ...]:
    """What keeps `pod` from the claim on every node: it is going away or full, or a class that it names does not exist."""
    claim = entry.claim
    name = reference("ResourceClaim", claim.metadata)
    if claim.metadata.deletion_timestamp is not None:
        return (
            reason_of(codes.CLAIM_DELETED, name, "metadata.deletionTimestamp", f"claim {claim.metadata.name} is being deleted"),
        )
    if claim.status.allocation is not None:
        # The scheduler itself does not count; the API server refuses the next reservation, so the pod is never bound.
        if len(claim.status.reserved_for) >= MAX_CONSUMERS and not reserved_for(claim, pod, entry.membership):
            message = f"claim {claim.metadata.name} is in use by {len(claim.status.reserved_for)} consumers, the most it can have"
            return (reason_of(codes.CLAIM_FULL, name, "status.reservedFor", message),)
        return ()
    return tuple(_missing_classes(entry, snapshot))


def reserved_for(claim: v1.ResourceClaim, pod: core.Pod, membership: Membership = NO_GROUP) -> bool:
    """Whether `pod` is among the claim's consumers: by uid, or by name where a trimmed dump has no uid; or its group, by name."""
    return any(
        (consumer.resource == "pods" and not consumer.api_group and _same(consumer.uid, consumer.name, pod.metadata))
        or (membership.named and (consumer.api_group, consumer.resource, consumer.name) == (_GROUP, _GROUPS, membership.named))
        for consumer in claim.status.reserved_for
    )


def reserve(
    claim: v1.ResourceClaim, allocation: v1.AllocationResult, pod: core.Pod, membership: Membership = NO_GROUP
) -> v1.ResourceClaim:
    """The claim as it is once `pod` was placed: allocated, and reserved for the pod as well, or for the group that holds it."""
    consumers = claim.status.reserved_for
    if not reserved_for(claim, pod, membership):
        consumers = (*consumers, _consumer(pod, membership.holder))
    status = msgspec.structs.replace(claim.status, allocation=allocation, reserved_for=consumers)
    return msgspec.structs.replace(claim, status=status)


def unreserved(claim: v1.ResourceClaim, pod: core.Pod) -> v1.ResourceClaim:
    """The claim without `pod` among its consumers."""
    consumers = tuple(
        each for each in claim.status.reserved_for if each.resource != "pods" or not _same(each.uid, each.name, pod.metadata)
    )
    return msgspec.structs.replace(claim, status=msgspec.structs.replace(claim.status, reserved_for=consumers))


def binding(claim: v1.ResourceClaim) -> tuple[Literal["ready", "waiting", "failed"], str]:
    """How far the binding conditions of an allocated claim are, with the condition that decides.

    A timeout (600 s by default) is not looked at: a plan has no clock. Source: upstream-dra.md 5.1.
    """
    waiting = ""
    for result in claim.status.allocation.devices.results if claim.status.allocation else ():
        if not result.binding_conditions:
            continue
        true = {
            condition.type
            for status in claim.status.devices
            if (status.driver, status.pool, status.device, status.share_id)
            == (result.driver, result.pool, result.device, result.share_id)
            for condition in status.conditions
            if condition.status == "True"
        }
        if failed := [condition for condition in result.binding_failure_conditions if condition in true]:
            return "failed", f"{failed[0]} of device {result.device}"
        if missing := [condition for condition in result.binding_conditions if condition not in true]:
            waiting = waiting or f"{missing[0]} of device {result.device}"
    return ("waiting", waiting) if waiting else ("ready", "")


def _missing_classes(entry: PodClaim, snapshot: Snapshot) -> Iterable[Reason]:
    for request, path, name in class_names(entry.claim.spec):
        if name in snapshot.classes:
            continue
        message, hint = f"request {request}: there is no DeviceClass {name}", _near(name, [*snapshot.classes, *built_in_classes()])
        if f"DeviceClass/{name}" in snapshot.refused:
            message, hint = (
                f"request {request}: DeviceClass {name} is invalid, so the API server would refuse it",
                "correct the class",
            )
        yield reason_of(codes.NO_SUCH_CLASS, entry.origin, f"{entry.path}.{path}", message, hint)


def _consumer(pod: core.Pod, holder: core.PodGroup | None) -> v1.ResourceClaimConsumerReference:
    if holder is None:
        return v1.ResourceClaimConsumerReference(resource="pods", name=pod.metadata.name, uid=pod.metadata.uid)
    name, uid = holder.metadata.name, holder.metadata.uid
    return v1.ResourceClaimConsumerReference(api_group=_GROUP, resource=_GROUPS, name=name, uid=uid)


def _group_owner(claim: v1.ResourceClaim) -> OwnerReference | None:
    """The PodGroup that the claim was made for; the version of its API may be any."""
    owner = next((owner for owner in claim.metadata.owner_references if owner.controller), None)
    return owner if owner is not None and owner.kind == "PodGroup" and owner.api_version.startswith(f"{_GROUP}/") else None


def _is_for_group(claim: v1.ResourceClaim, name: str) -> bool:
    """Whether the claim was made for the group of that name, which is all that a pod knows of its group."""
    owner = _group_owner(claim)
    return bool(name) and owner is not None and owner.name == name


def _pod_owner(claim: v1.ResourceClaim) -> OwnerReference | None:
    return next((owner for owner in claim.metadata.owner_references if owner.controller and owner.kind == "Pod"), None)


def _is_for(claim: v1.ResourceClaim, pod: core.Pod) -> bool:
    owner = _pod_owner(claim)
    return owner is not None and _same(owner.uid, owner.name, pod.metadata)


def _same(uid: str, name: str, metadata: ObjectMeta) -> bool:
    return uid == metadata.uid if uid and metadata.uid else name == metadata.name


def _near(name: str, names: list[str]) -> str:
    from difflib import get_close_matches  # only where something is wrong

    near = get_close_matches(name, sorted(set(names)), n=1)
    return f"did you mean {near[0]}?" if near else ""
