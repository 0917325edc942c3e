"""What a plan says: the answer of `reparto plan` as typed values, in the words of the JSON contract `plan/v1`.

Everything a renderer prints is here, so that the table, JSON and other programs cannot disagree. Nothing here decides anything.
"""

from typing import Literal

import msgspec

from reparto.model.core import PodExtendedResourceClaimStatus
from reparto.model.errors import Problem
from reparto.model.v1 import AllocationResult, ResourceClaim, ResourceSlice

Verdict = Literal["placed", "bound", "pending", "waiting", "skipped", "invalid"]
VERDICTS: tuple[Verdict, ...] = ("placed", "bound", "pending", "waiting", "skipped", "invalid")


class Count(msgspec.Struct, frozen=True):
    """`matching` of `total` devices (or nodes, as `what` says), summed over `nodes` nodes."""

    what: str
    matching: int
    total: int
    nodes: int


class Reason(msgspec.Struct, frozen=True):
    """Why a pod is not placed: `object` and `path` name the field that decides, `counts` how often.

    `nodes` are the first few nodes that it concerns, by name, for people: the JSON contract has only their number, in `counts`.
    """

    code: str
    object: str
    path: str
    message: str
    hint: str = ""
    counts: tuple[Count, ...] = ()
    nodes: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET


class Note(msgspec.Struct, frozen=True):
    """A remark that is no failure; `object` may be empty where it concerns the whole input."""

    code: str
    object: str
    message: str


class ClaimPlan(msgspec.Struct, frozen=True, rename="camel"):
    """One claim of a pod: `allocation` as it is or would be in `status.allocation`, None where there is none.

    `pod_claim_name` is empty for the claim that the scheduler makes for the pod's extended resources.
    """

    namespace: str
    name: str
    pod_claim_name: str
    allocation: AllocationResult | None


class NodeScore(msgspec.Struct, frozen=True):
    """The total score of a node that fits."""

    node: str
    score: int


class NodeChoice(msgspec.Struct, frozen=True):
    """Why a pod is on this node, in one line."""

    node: str
    message: str


class DeviceChoice(msgspec.Struct, frozen=True):
    """Why a request got this device, in one line."""

    request: str
    driver: str
    pool: str
    device: str
    message: str


class Choices(msgspec.Struct, frozen=True):
    """Why best-fit chose as it did: the node, then each device that was a choice, in the order of the claims."""

    node: NodeChoice
    devices: tuple[DeviceChoice, ...] = ()


class PodPlan(msgspec.Struct, frozen=True, rename="camel"):
    """One pod, real or hypothetical; `node` is empty where it has none.

    `extended_resource_claim_status` is what the scheduler writes into the pod's status: which claim serves its extended resources,
    and which container uses which request of it. `scores` has the nodes that fit with the highest total scores, the chosen one
    first, where they were asked for and compared; they are no part of the JSON contract. `choices` say why the pod got what it got,
    where this plan placed it by best-fit.
    """

    namespace: str
    name: str
    verdict: Verdict
    node: str = ""
    hypothetical: bool = False
    scheduler_name: str = "default-scheduler"
    claims: tuple[ClaimPlan, ...] = ()
    reasons: tuple[Reason, ...] = ()
    extended_resource_claim_status: PodExtendedResourceClaimStatus | None = None
    scores: tuple[NodeScore, ...] | msgspec.UnsetType = msgspec.UNSET
    choices: Choices | msgspec.UnsetType = msgspec.UNSET


class Plan(msgspec.Struct, frozen=True):
    """The whole answer; `pods` in the order considered.

    `claims` are those that exist after the plan, by namespace and name, as they are then; `slices` are those it was made from, with
    the taints of the DeviceTaintRules in force. Neither is part of the JSON contract.
    """

    pods: tuple[PodPlan, ...]
    notes: tuple[Note, ...] = ()
    errors: tuple[Problem, ...] = ()
    claims: tuple[ResourceClaim, ...] = ()
    slices: tuple[ResourceSlice, ...] = ()

    def summary(self) -> dict[str, int]:
        """How many pods have each verdict; `hypothetical` counts those of them that only stand for a claim or template."""
        counts = {verdict: sum(pod.verdict == verdict for pod in self.pods) for verdict in VERDICTS}
        return {**counts, "hypothetical": sum(pod.hypothetical for pod in self.pods)}

    def exit_code(self) -> int:
        """0: every pod has its devices; 1: a pod is pending or waits; 2: input that cannot be used, which outranks 1."""
        if self.errors:
            return 2
        return 1 if any(pod.verdict in ("pending", "waiting", "invalid") for pod in self.pods) else 0

    def document(self) -> dict[str, object]:
        """The JSON contract `plan/v1`, as a value that `msgspec.json.encode` writes."""
        pods = tuple(contract_pod(pod) for pod in self.pods)
        return {"schema": "plan/v1", "pods": pods, "errors": self.errors, "notes": self.notes, "summary": self.summary()}


def contract_pod(pod: PodPlan) -> PodPlan:
    """A pod as the JSON contract has it."""
    return msgspec.structs.replace(pod, reasons=contract_reasons(pod.reasons), scores=msgspec.UNSET)


def contract_reasons(reasons: tuple[Reason, ...]) -> tuple[Reason, ...]:
    """Reasons as the JSON contract has them."""
    return tuple(msgspec.structs.replace(reason, nodes=msgspec.UNSET) for reason in reasons)
