"""Admission: what the API server lets into the cluster before the scheduler sees it, by the LimitRanges and quotas of namespaces.

Three things are created while a plan is made: the pods of workloads, the claims of their templates, and the claims for extended
resources. Objects of a manifest that were never in a cluster are created too. Each may be refused; then it does not exist, and
whoever needs it is told why. What exists already only counts.

Claims from templates are made in the order in which their pods came, long before a scheduler looks at priorities.
"""

from collections.abc import Iterable

from reparto.model import codes, core, v1
from reparto.placement.extended_resources import ClassMapping
from reparto.placement.limit_ranges import violations, with_defaults
from reparto.placement.plan import Reason
from reparto.placement.quota import Quotas, Refusal
from reparto.placement.reasons import reason_of
from reparto.placement.snapshot import Key, Snapshot, key


class Admission:
    """The state of admission while a plan is made. Without quotas and LimitRanges everything is let in."""

    def __init__(self, snapshot: Snapshot, mapping: ClassMapping) -> None:
        self._ranges: dict[str, list[core.LimitRange]] = {}
        for item in snapshot.limit_ranges:
            self._ranges.setdefault(item.metadata.namespace, []).append(item)
        claims = snapshot.claims.values()
        existing = [pod for pod in snapshot.pods if key(pod.metadata) not in snapshot.created]
        self._quotas = Quotas(snapshot.quotas, filter(is_stored, claims), existing, mapping)
        self._claims = {key(claim.metadata): self._created(claim) for claim in claims if not is_stored(claim)}
        self._pods: dict[Key, Reason] = {}
        self.pods = tuple(self._let_in(pod) if key(pod.metadata) in snapshot.created else pod for pod in snapshot.pods)
        """The pods of the snapshot, those of workloads with the defaults of LimitRanges."""

    def pod(self, pod: core.Pod) -> Reason | None:
        """Why a pod of a workload is not created."""
        return self._pods.get(key(pod.metadata))

    def claim(self, claim: v1.ResourceClaim, *, keep: bool = True) -> Reason | None:
        """Create a claim, once however often it is asked for; the reason where that is refused.

        `keep=False` only asks: a claim that did not exist is deleted again.
        """
        identity = key(claim.metadata)
        if identity in self._claims:
            return self._claims[identity]
        if is_stored(claim):
            return None
        reason = self._claims[identity] = self._created(claim)
        if not keep:
            self.withdrawn(claim)
        return reason

    def exists(self, claim: v1.ResourceClaim) -> bool:
        """Whether nothing kept the claim from being created."""
        return self._claims.get(key(claim.metadata)) is None

    def withdrawn(self, claim: v1.ResourceClaim) -> None:
        """A claim that was created is deleted again."""
        if self._claims.pop(key(claim.metadata), None) is None:
            self._quotas.withdraw_claim(claim)

    def _created(self, claim: v1.ResourceClaim) -> Reason | None:
        refusal = self._quotas.admit_claim(claim)
        return _refused(codes.CLAIM_OVER_QUOTA, refusal, f"claim {claim.metadata.name}") if refusal else None

    def _let_in(self, pod: core.Pod) -> core.Pod:
        ranges: Iterable[core.LimitRange] = self._ranges.get(pod.metadata.namespace, ())
        pod = with_defaults(pod, ranges)
        reason: Reason | None = None
        if (found := violations(pod, ranges)) is not None:
            message = f"pod {pod.metadata.name} cannot be created: {'; '.join(found.texts)}"
            reason = reason_of(codes.OUT_OF_LIMITS, found.limit_range, "spec.limits", message)
        elif (refusal := self._quotas.admit_pod(pod)) is not None:
            reason = _refused(codes.POD_OVER_QUOTA, refusal, f"pod {pod.metadata.name}")
        if reason is not None:
            self._pods[key(pod.metadata)] = reason
        return pod


def is_stored(claim: v1.ResourceClaim) -> bool:
    """Whether the claim has been in a cluster: it has something that only a cluster writes."""
    metadata = claim.metadata
    written = metadata.uid or metadata.resource_version or metadata.creation_timestamp
    return bool(written) or claim.status != v1.ResourceClaimStatus()


def _refused(code: str, refusal: Refusal, what: str) -> Reason:
    message = f"{what} cannot be created: {refusal.message}"
    return reason_of(code, refusal.quota, "spec.hard", message)
