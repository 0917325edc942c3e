"""ResourceQuota: what a namespace may still create, as the API server's admission counts it.

A claim is charged when it is created, by the devices that it may get at most, so a quota keeps a pod pending long before a node is
looked at: nobody creates the claim. Pods are charged too, and those that a workload makes may be refused. What exists already has
passed admission; it only counts.

Source: upstream-dra.md 2.5; kubernetes 1.37.2, `pkg/quota/v1/evaluator/core`; apiserver 0.37.2, admission plugin ResourceQuota.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

import msgspec

from reparto.model import core, v1
from reparto.model.meta import OwnerReference
from reparto.model.quantity import Quantity
from reparto.placement.extended_resources import IMPLICIT_PREFIX, ClassMapping, is_extended, is_invented
from reparto.placement.resource_sums import (
    Sums,
    container_limits,
    is_pod_level,
    pod_limits,
    pod_requests,
    with_overhead,
)
from reparto.placement.resources import container_requests

ALL_DEVICES: Final = 32  # an allocation holds no more (AllocationResultsMaxSize), so that is what `All` may cost
CLAIMS: Final = "count/resourceclaims.resource.k8s.io"
PODS: Final = "count/pods"
_CLASS_SUFFIX: Final = ".deviceclass.resource.k8s.io/devices"
_REQUESTS: Final = "requests."
_HUGEPAGES: Final = "hugepages-"
_ONE: Final = Quantity.from_int(1)
_NOTHING: Final = Quantity.from_int(0)
_COMPUTE: Final = ("cpu", "memory", "ephemeral-storage")
# A quota on one of these demands that every container says what it needs.
_MUST_BE_STATED: Final = frozenset(f"{prefix}{name}" for prefix in ("", _REQUESTS, "limits.") for name in ("cpu", "memory"))
_POD_RESOURCES: Final = frozenset(
    (PODS, "pods", *(f"{prefix}{name}" for prefix in ("", _REQUESTS, "limits.") for name in _COMPUTE))
)


# --- what an object costs --------------------------------------------------------------------------------------------------------


def claim_usage(claim: v1.ResourceClaim, mapping: ClassMapping, paid: Mapping[str, Quantity] | None = None) -> Sums:
    """What a claim is charged: itself, and per class the devices that it may get at most.

    `firstAvailable` counts the most that any alternative takes of a class. The devices are charged again under the names of the
    extended resources that the class stands for, less what the pod of an extended-resource claim has `paid` for these.
    """
    devices: dict[str, int] = {}
    for request in claim.spec.devices.requests:
        most: dict[str, int] = {}
        for part in (request.exactly,) if request.exactly else request.first_available:
            most[part.device_class_name] = max(most.get(part.device_class_name, 0), _most(part))
        for name, count in most.items():
            devices[name] = devices.get(name, 0) + count
    usage: Sums = {CLAIMS: _ONE}
    already = paid or dict[str, Quantity]()
    for name, count in devices.items():
        charged = Quantity.from_int(count)
        usage[f"{name}{_CLASS_SUFFIX}"] = charged
        for resource in (IMPLICIT_PREFIX + name, mapping.resources.get(name)) if mapping.enabled else ():
            if resource is None:
                continue
            rest = charged.sub(already.get(_REQUESTS + resource, _NOTHING))
            if rest.sign() > 0:
                usage[_REQUESTS + resource] = rest
    return usage


def pod_usage(pod: core.Pod) -> Sums:
    """What a pod is charged; one that has finished only counts as an object.

    A pod that is being deleted is charged like any other, for whether its time is up depends on the clock.
    """
    usage: Sums = {PODS: _ONE}
    if pod.status.phase in ("Succeeded", "Failed"):
        return usage
    requests = with_overhead(pod_requests(pod), pod, everywhere=True)
    limits = with_overhead(pod_limits(pod), pod, everywhere=False)
    return {**usage, **_compute_usage(requests, limits)}


def _compute_usage(requests: Mapping[str, Quantity], limits: Mapping[str, Quantity]) -> Sums:
    usage: Sums = {"pods": _ONE}
    for name, quantity in requests.items():
        if name in _COMPUTE or name.startswith(_HUGEPAGES):
            usage[name] = usage[_REQUESTS + name] = quantity
        elif is_extended(name):
            usage[_REQUESTS + name] = quantity
    usage.update({f"limits.{name}": limits[name] for name in _COMPUTE if name in limits})
    return usage


def _most(part: v1.ExactDeviceRequest | v1.DeviceSubRequest) -> int:
    return {"ExactCount": part.count, "All": ALL_DEVICES}.get(part.allocation_mode, 0)


# --- who is charged --------------------------------------------------------------------------------------------------------------


class Refusal(msgspec.Struct, frozen=True):
    """Why an object is not created: `quota` names the ResourceQuota, `message` says what is used, asked for and allowed."""

    quota: str
    message: str


class _Account:
    """One ResourceQuota with what is used of it."""

    def __init__(self, quota: core.ResourceQuota) -> None:
        self.name = quota.metadata.name
        self.reference = f"ResourceQuota/{quota.metadata.namespace}/{quota.metadata.name}"
        # The quota controller copies spec.hard to the status, which is what admission reads.
        hard = quota.spec.hard or quota.status.hard or {}
        self.hard = {name: Quantity.parse(text) for name, text in sorted(hard.items())}
        self.used = dict.fromkeys(self.hard, _NOTHING)
        self._reported = {name: Quantity.parse(text) for name, text in (quota.status.used or {}).items() if name in hard}
        selector = quota.spec.scope_selector
        self.scopes = (
            *(core.ScopedResourceSelectorRequirement(scope, "Exists") for scope in quota.spec.scopes),
            *(selector.match_expressions if selector else ()),
        )

    def add(self, usage: Mapping[str, Quantity], sign: int = 1) -> None:
        for name in self.hard.keys() & usage.keys():
            old, change = self.used[name], usage[name]
            self.used[name] = old.add(change) if sign > 0 else old.sub(change)

    def settle(self) -> None:
        """What exists is counted. Where the quota's own status says more, part of what exists is not in the input."""
        for name, quantity in self._reported.items():
            self.used[name] = max(self.used[name], quantity)

    def refuse(self, usage: Mapping[str, Quantity]) -> Refusal | None:
        over = [
            f"{name}: {usage[name]} more, {self.used[name]} of {limit} used"
            for name, limit in self.hard.items()
            if name in usage and usage[name].sign() and self.used[name].add(usage[name]) > limit
        ]
        return Refusal(self.reference, f"quota {self.name} is exceeded ({'; '.join(over)})") if over else None


class Quotas:
    """The quotas of all namespaces at one moment of a plan."""

    def __init__(
        self,
        quotas: Iterable[core.ResourceQuota],
        claims: Iterable[v1.ResourceClaim],
        pods: Iterable[core.Pod],
        mapping: ClassMapping,
    ) -> None:
        """`claims` and `pods` are those that exist: they are counted, never refused."""
        self._mapping = mapping
        self._accounts: dict[str, list[_Account]] = {}
        for quota in sorted(quotas, key=lambda quota: quota.metadata.name):
            self._accounts.setdefault(quota.metadata.namespace, []).append(_Account(quota))
        # Pods by (namespace, name); the extended-resource claims of each by (namespace, name, uid).
        self._pods: dict[tuple[str, str], core.Pod] = {}
        self._invented: dict[tuple[str, str, str], dict[str, v1.ResourceClaim]] = {}
        for pod in pods:
            if pod.metadata.namespace in self._accounts:
                self._know(pod)
                for account in self._for_pod(pod):
                    account.add(pod_usage(pod))
        existing = [claim for claim in claims if claim.metadata.namespace in self._accounts]
        for claim in existing:
            self._note_owner(claim)
        for claim in existing:
            for account in self._for_claim(claim):
                account.add(self._claim_usage(claim))
        for accounts in self._accounts.values():
            for account in accounts:
                account.settle()

    def used(self, namespace: str) -> Mapping[str, Mapping[str, Quantity]]:
        """What each quota of a namespace has used, by its name."""
        return {account.name: account.used for account in self._accounts.get(namespace, ())}

    def admit_claim(self, claim: v1.ResourceClaim) -> Refusal | None:
        """Create `claim`: charge it to all quotas of its namespace, or to none where one refuses it."""
        if claim.metadata.namespace not in self._accounts:
            return None
        refusal = _charge(self._for_claim(claim), self._claim_usage(claim))
        if refusal is None:
            self._note_owner(claim)
        return refusal

    def withdraw_claim(self, claim: v1.ResourceClaim) -> None:
        """`claim`, once admitted, is deleted."""
        if claim.metadata.namespace in self._accounts:
            usage = self._claim_usage(claim)
            for account in self._for_claim(claim):
                account.add(usage, -1)
            if (owner := _pod_owner(claim)) is not None:
                self._invented.get((claim.metadata.namespace, owner.name, owner.uid), {}).pop(claim.metadata.name, None)

    def admit_pod(self, pod: core.Pod) -> Refusal | None:
        """Create `pod`, as `admit_claim` does; a quota on CPU or memory also refuses a pod whose containers do not state these."""
        if pod.metadata.namespace not in self._accounts:
            return None
        accounts = self._for_pod(pod)
        for account in accounts:
            if missing := _unstated(pod, account.hard):
                return Refusal(account.reference, f"quota {account.name} demands that every container states {', '.join(missing)}")
        refusal = _charge(accounts, pod_usage(pod))
        if refusal is None:
            self._know(pod)
        return refusal

    def _note_owner(self, claim: v1.ResourceClaim) -> None:
        if (owner := _pod_owner(claim)) is not None and is_invented(claim):
            self._invented.setdefault((claim.metadata.namespace, owner.name, owner.uid), {})[claim.metadata.name] = claim

    def _know(self, pod: core.Pod) -> None:
        self._pods[pod.metadata.namespace, pod.metadata.name] = pod

    def _for_claim(self, claim: v1.ResourceClaim) -> list[_Account]:
        """A claim has no scope, so a quota that has one never concerns it."""
        return [
            account
            for account in self._accounts[claim.metadata.namespace]
            if not account.scopes and any(_concerns_claims(name, self._mapping) for name in account.hard)
        ]

    def _for_pod(self, pod: core.Pod) -> list[_Account]:
        return [
            account
            for account in self._accounts[pod.metadata.namespace]
            if any(map(_concerns_pods, account.hard)) and all(_in_scope(pod, scope) for scope in account.scopes)
        ]

    def _claim_usage(self, claim: v1.ResourceClaim) -> Sums:
        return claim_usage(claim, self._mapping, self._paid(claim))

    def _paid(self, claim: v1.ResourceClaim) -> Sums | None:
        """What the owner of an extended-resource claim was charged, where the claim is the one that counts for it."""
        owner = _pod_owner(claim)
        pod = self._pods.get((claim.metadata.namespace, owner.name)) if owner and is_invented(claim) else None
        if owner is None or pod is None or owner.uid != pod.metadata.uid:
            return None
        status = pod.status.extended_resource_claim_status
        if status is not None:
            return pod_usage(pod) if status.resource_claim_name == claim.metadata.name else None
        others = self._invented.get((claim.metadata.namespace, owner.name, owner.uid), {}).values()
        return None if any(_age(other) < _age(claim) for other in others) else pod_usage(pod)


def _charge(accounts: list[_Account], usage: Mapping[str, Quantity]) -> Refusal | None:
    for account in accounts:
        if (refusal := account.refuse(usage)) is not None:
            return refusal
    for account in accounts:
        account.add(usage)
    return None


def _pod_owner(claim: v1.ResourceClaim) -> OwnerReference | None:
    owner = next((owner for owner in claim.metadata.owner_references if owner.controller), None)
    return owner if owner is not None and (owner.kind, owner.api_version) == ("Pod", "v1") else None


def _age(claim: v1.ResourceClaim) -> tuple[str, str]:
    return claim.metadata.creation_timestamp or "", claim.metadata.name


# --- which quotas concern an object ----------------------------------------------------------------------------------------------


def _concerns_claims(name: str, mapping: ClassMapping) -> bool:
    if name == CLAIMS or name.endswith(_CLASS_SUFFIX):
        return True
    resource = name.removeprefix(_REQUESTS)
    if resource == name:
        return False
    class_name = resource.removeprefix(IMPLICIT_PREFIX)
    if class_name != resource and class_name in mapping.resources:
        return True
    return _is_extended_quota(name) and mapping.class_of(resource) is not None


def _concerns_pods(name: str) -> bool:
    return name in _POD_RESOURCES or name.startswith((_HUGEPAGES, _REQUESTS + _HUGEPAGES)) or _is_extended_quota(name)


def _is_extended_quota(name: str) -> bool:
    if not name.startswith(_REQUESTS):
        return False
    return name.startswith(_REQUESTS + IMPLICIT_PREFIX) or ("/" in name and "kubernetes.io/" not in name)


def _unstated(pod: core.Pod, hard: Mapping[str, Quantity]) -> list[str]:
    """Of the resources that every container has to state where a quota counts them, those that one does not."""
    if _stated_by_pod(pod) is not None:
        return []
    demanded = _MUST_BE_STATED & hard.keys()
    missing: set[str] = set()
    for container in (*pod.spec.containers, *pod.spec.init_containers):
        requests = {name: Quantity.parse(text) for name, text in container_requests(container).items()}
        limits = {name: Quantity.parse(text) for name, text in container_limits(container).items()}
        missing.update(demanded - _compute_usage(requests, limits).keys())
    return sorted(missing)


def _in_scope(pod: core.Pod, scope: core.ScopedResourceSelectorRequirement) -> bool:
    match scope.scope_name:
        case "Terminating":
            return _is_terminating(pod)
        case "NotTerminating":
            return not _is_terminating(pod)
        case "BestEffort":
            return _is_best_effort(pod)
        case "NotBestEffort":
            return not _is_best_effort(pod)
        case "PriorityClass":
            return scope.operator in _SELECTS and _SELECTS[scope.operator](pod.spec.priority_class_name, scope.values)
        case "CrossNamespacePodAffinity":
            return _crosses_namespaces(pod)
        case _:
            return False


_SELECTS: Final[dict[str, Callable[[str, tuple[str, ...]], bool]]] = {
    "Exists": lambda name, _: bool(name),
    "DoesNotExist": lambda name, _: not name,
    "In": lambda name, values: bool(name) and name in values,
    "NotIn": lambda name, values: not name or name not in values,
}


def _is_terminating(pod: core.Pod) -> bool:
    return pod.spec.active_deadline_seconds is not None and pod.spec.active_deadline_seconds >= 0


def _is_best_effort(pod: core.Pod) -> bool:
    """Whether neither the pod nor any of its containers asks for CPU or memory."""
    if (stated := _stated_by_pod(pod)) is not None:
        asked = [stated.requests or {}, stated.limits or {}]
    else:
        containers = (*pod.spec.containers, *pod.spec.init_containers)
        asked = [resources(container) for container in containers for resources in (container_requests, container_limits)]
    return not any(Quantity.parse(each[name]).sign() for each in asked for name in ("cpu", "memory") if name in each)


def _stated_by_pod(pod: core.Pod) -> core.ContainerResources | None:
    """The resources of the pod itself, where it states any that pods may state."""
    resources = pod.spec.resources
    names = (*(resources.requests or {}), *(resources.limits or {})) if resources else ()
    return resources if any(is_pod_level(name) for name in names) else None


def _crosses_namespaces(pod: core.Pod) -> bool:
    affinity = pod.spec.affinity
    for rules in (affinity.pod_affinity, affinity.pod_anti_affinity) if affinity else ():
        if rules is not None:
            preferred = (weighted.pod_affinity_term for weighted in rules.preferred_during_scheduling_ignored_during_execution)
            for term in (*rules.required_during_scheduling_ignored_during_execution, *preferred):
                if term.namespaces or term.namespace_selector is not None:
                    return True
    return False
