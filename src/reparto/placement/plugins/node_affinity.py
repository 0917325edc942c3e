"""Node selector and node affinity of a pod: NodeAffinity, as a filter, as a score, and as a list of nodes to look at at all.

Source: scheduler `nodeaffinity`, component-helpers `scheduling/corev1/nodeaffinity` of 1.37.2.
"""

from collections.abc import Iterable
from typing import Final

from reparto.allocation.node_matching import CompiledNodeSelector
from reparto.model import codes
from reparto.model.core import NodeAffinity, Pod
from reparto.model.meta import NodeSelector, NodeSelectorTerm
from reparto.placement.cluster import Cluster, NodeState
from reparto.placement.label_selectors import CompiledLabelSelector, of_labels
from reparto.placement.rejections import Rejection, rejection

_AFFINITY: Final = "spec.affinity.nodeAffinity"
_REQUIRED: Final = f"{_AFFINITY}.requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED: Final = f"{_AFFINITY}.preferredDuringSchedulingIgnoredDuringExecution"


def _affinity(pod: Pod) -> NodeAffinity | None:
    return pod.spec.affinity.node_affinity if pod.spec.affinity else None


class RequiredAffinity:
    """The nodes that the pod's `nodeSelector` and required node affinity allow."""

    @classmethod
    def of(cls, pod: Pod) -> "RequiredAffinity | None":
        affinity = _affinity(pod)
        required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
        return cls(pod, required) if pod.spec.node_selector or required is not None else None

    def __init__(self, pod: Pod, required: NodeSelector | None) -> None:
        self._labels = sorted((pod.spec.node_selector or {}).items())
        self._selector = CompiledLabelSelector(of_labels(pod.spec.node_selector or {}))
        self._required = CompiledNodeSelector(required) if required is not None else None

    def suspects(self, cluster: Cluster) -> Iterable[int]:
        return range(len(cluster))

    def matches(self, state: NodeState) -> bool:
        """Requirements that cannot be parsed match no node: the scheduler passes over the error, for compatibility."""
        return self._selector.matches(state.labels) and (self._required is None or self._required.matches(state.node))

    def __call__(self, state: NodeState) -> Rejection | None:
        if self.matches(state):
            return None
        missing = [f"{key}={value}" for key, value in self._labels if state.labels.get(key) != value]
        if missing:
            return rejection(codes.NODE_AFFINITY, "spec.nodeSelector", f"without the label {', '.join(missing)}")
        return rejection(codes.NODE_AFFINITY, _REQUIRED, "the pod's required node affinity does not match")


class PreferredAffinity:
    """The weights of the pod's node preferences."""

    @classmethod
    def of(cls, pod: Pod) -> "PreferredAffinity | None":
        affinity = _affinity(pod)
        terms = affinity.preferred_during_scheduling_ignored_during_execution if affinity else ()
        return cls(pod) if any(term.weight for term in terms) else None

    def __init__(self, pod: Pod) -> None:
        affinity = _affinity(pod)
        assert affinity is not None
        self._terms = [
            (term.weight, CompiledNodeSelector(NodeSelector(node_selector_terms=[term.preference])))
            for term in affinity.preferred_during_scheduling_ignored_during_execution
            if term.weight
        ]

    @property
    def problems(self) -> list[str]:
        """What cannot be parsed; the scheduler then fails to place the pod wherever it has to compare nodes."""
        return [problem for _, term in self._terms for problem in term.problems]

    def score(self, state: NodeState) -> int:
        """The sum of the weights of all terms that match."""
        return sum(weight for weight, term in self._terms if term.matches(state.node))


def named_nodes(pod: Pod) -> frozenset[str] | None:
    """The only nodes that the scheduler looks at, where every term of the required affinity names some; None: all nodes.

    An empty set means that the terms contradict themselves, and no node is looked at.
    """
    affinity = _affinity(pod)
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    if required is None or not required.node_selector_terms:
        return None
    names: frozenset[str] = frozenset()
    for term in required.node_selector_terms:
        of_term = _names(term)
        if of_term is None:
            return None
        names |= of_term
    return names


def _names(term: NodeSelectorTerm) -> frozenset[str] | None:
    names: frozenset[str] | None = None
    for field in term.match_fields:
        if field.key == "metadata.name" and field.operator == "In":
            names = frozenset(field.values) if names is None else names & frozenset(field.values)
    return names
