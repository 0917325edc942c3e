"""Cordoned nodes and taints: NodeUnschedulable and TaintToleration, the second also as a score.

Source: scheduler `nodeunschedulable`, `tainttoleration` of 1.37.2. The operators Lt and Gt of tolerations are alpha and off.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from reparto.model import codes
from reparto.model.core import Pod, Taint, Toleration
from reparto.placement.cluster import Cluster, NodeState
from reparto.placement.rejections import Rejection, rejection

UNSCHEDULABLE_TAINT: Final = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
_REPELLING: Final = ("NoSchedule", "NoExecute")
_DISLIKED: Final = "PreferNoSchedule"


def tolerates(tolerations: Sequence[Toleration], taint: Taint) -> bool:
    """Whether one of a pod's tolerations covers a node's taint."""
    for toleration in tolerations:
        if toleration.effect and toleration.effect != taint.effect:
            continue
        if toleration.key and toleration.key != taint.key:
            continue
        if toleration.operator == "Exists" or (toleration.operator in ("", "Equal") and toleration.value == taint.value):
            return True
    return False


def untolerated(tolerations: Sequence[Toleration], taints: Iterable[Taint]) -> Taint | None:
    """The first taint that keeps a pod away."""
    return next((taint for taint in taints if taint.effect in _REPELLING and not tolerates(tolerations, taint)), None)


class Cordon:
    """Nodes that are marked unschedulable are out, unless the pod tolerates the taint that goes with it."""

    @classmethod
    def of(cls, pod: Pod) -> "Cordon | None":
        return None if tolerates(pod.spec.tolerations, UNSCHEDULABLE_TAINT) else cls()

    def suspects(self, cluster: Cluster) -> Iterable[int]:
        return cluster.cordoned

    def __call__(self, state: NodeState) -> Rejection | None:
        return rejection(codes.NODE_UNSCHEDULABLE, "", "cordoned") if state.node.spec.unschedulable else None


class Taints:
    """Taints that the pod does not tolerate; as a score, how many of those that are only disliked."""

    def __init__(self, pod: Pod) -> None:
        self._tolerations = pod.spec.tolerations

    def suspects(self, cluster: Cluster) -> Iterable[int]:
        return cluster.tainted

    def __call__(self, state: NodeState) -> Rejection | None:
        taint = untolerated(self._tolerations, state.node.spec.taints)
        if taint is None:
            return None
        value = f"={taint.value}" if taint.value else ""
        cause = f"taint {taint.key}{value}:{taint.effect} is not tolerated by the pod"
        return rejection(codes.NODE_TAINT, "spec.tolerations", cause)

    def score(self, state: NodeState) -> int:
        """The number of taints that speak against the node: fewer is better."""
        return sum(taint.effect == _DISLIKED and not tolerates(self._tolerations, taint) for taint in state.node.spec.taints)
