"""Pods that want to be near others, or far from them: InterPodAffinity, as filter and score.

Rules work both ways: a pod's own affinity looks at the pods that are there, and the anti-affinity and preferences of those look at
the pod. Rules with the same content are one, counted by the value of their topology key, so that what a pod costs depends on how
many different rules there are, and not on how many pods.

Source: scheduler `interpodaffinity` of 1.37.2; the alpha gate InterPodAffinityHostnameFastPath changes no answer.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from reparto.allocation.lanes import Lanes, all_of
from reparto.model import codes, core
from reparto.placement.cluster import Cluster, Topology
from reparto.placement.label_selectors import CompiledLabelSelector, Labels, Requirement, compile_selector
from reparto.placement.pod_view import PodView
from reparto.placement.rejections import Rejection, rejection

_HIGHEST: Final = 100
# How much a required affinity of a pod that is there counts for one that it wants near (HardPodAffinityWeight).
_REQUIRED_WEIGHT: Final = 1
_NEAR: Final = "spec.affinity.podAffinity"
_FAR: Final = "spec.affinity.podAntiAffinity"
_REQUIRED: Final = ".requiredDuringSchedulingIgnoredDuringExecution"
# The API server labels every namespace with its name.
_NAME_LABEL: Final = "kubernetes.io/metadata.name"


class Term(msgspec.Struct, frozen=True, eq=False):
    """One rule: pods with these labels, in these namespaces, in one domain of `topology_key`."""

    namespaces: frozenset[str]
    namespace_selector: CompiledLabelSelector
    selector: CompiledLabelSelector
    topology_key: str

    @property
    def key(self) -> object:
        return self.namespaces, self.namespace_selector.key, self.selector.key, self.topology_key

    def matches(self, namespace: str, namespace_labels: Labels | None, labels: Labels) -> bool:
        return (namespace in self.namespaces or self.namespace_selector.matches(namespace_labels)) and self.selector.matches(labels)


class Rules(msgspec.Struct, frozen=True, eq=False):
    """The rules of one pod, compiled."""

    near: tuple[Term, ...] = ()
    far: tuple[Term, ...] = ()
    preferred: tuple[tuple[Term, int], ...] = ()
    """With the weight; negative for anti-affinity."""

    @property
    def none(self) -> bool:
        return not (self.near or self.far or self.preferred)


_NO_RULES: Final = Rules()


def compile_rules(pod: core.Pod) -> Rules:
    """Raises SelectorError."""
    affinity = pod.spec.affinity
    if affinity is None or (affinity.pod_affinity is None and affinity.pod_anti_affinity is None):
        return _NO_RULES
    near = affinity.pod_affinity or core.PodAffinity()
    far = affinity.pod_anti_affinity or core.PodAffinity()
    return Rules(
        tuple(_term(pod, term) for term in near.required_during_scheduling_ignored_during_execution),
        tuple(_term(pod, term) for term in far.required_during_scheduling_ignored_during_execution),
        tuple(
            (_term(pod, each.pod_affinity_term), sign * each.weight)
            for sign, terms in ((1, near), (-1, far))
            for each in terms.preferred_during_scheduling_ignored_during_execution
        ),
    )


def _term(pod: core.Pod, term: core.PodAffinityTerm) -> Term:
    own = not term.namespaces and term.namespace_selector is None
    selector = compile_selector(term.label_selector).narrowed(_label_keys(pod.metadata.labels or {}, term))
    return Term(
        frozenset((pod.metadata.namespace,) if own else term.namespaces),
        compile_selector(term.namespace_selector),
        selector,
        term.topology_key,
    )


def _label_keys(labels: Labels, term: core.PodAffinityTerm) -> tuple[Requirement, ...]:
    """What the API server adds to the selector for matchLabelKeys and mismatchLabelKeys."""
    return (
        *((key, "In", (labels[key],)) for key in term.match_label_keys if key in labels),
        *((key, "NotIn", (labels[key],)) for key in term.mismatch_label_keys if key in labels),
    )


class _Existing:
    """A rule of pods that are there: its weight in each domain of its topology key."""

    def __init__(self, term: Term, topology: Topology) -> None:
        self.term = term
        self.topology = topology
        self.weights: dict[int, int] = {}

    def add(self, position: int, weight: int) -> None:
        domain = self.topology.domain_of[position]
        if domain >= 0:
            self.weights[domain] = self.weights.get(domain, 0) + weight


class _Matching:
    """Pods that match all of some rules: how many are in each domain of each topology key of these rules."""

    def __init__(self, terms: Sequence[Term], cluster: Cluster) -> None:
        self.terms = terms
        self.counts = {term.topology_key: (cluster.topology(term.topology_key), dict[int, int]()) for term in terms}

    def add(self, view: PodView, position: int) -> None:
        if not _match(self.terms, view):
            return
        for topology, counts in self.counts.values():
            domain = topology.domain_of[position]
            if domain >= 0:
                counts[domain] = counts.get(domain, 0) + 1


class PodAffinity:
    """The plugin: all rules met so far, of pods that are there and of pods that were asked about."""

    def __init__(self, cluster: Cluster, namespaces: Mapping[str, Labels]) -> None:
        self._cluster = cluster
        self._namespaces = {name: {_NAME_LABEL: name, **labels} for name, labels in namespaces.items()}
        self._rejecting: dict[object, _Existing] = {}
        self._preferring: dict[object, _Existing] = {}
        self._matching: dict[object, _Matching] = {}
        self._placed: list[tuple[PodView, int]] = []

    def placed(self, view: PodView, rules: Rules, position: int) -> None:
        """A pod is on the node from now on."""
        self._placed.append((view, position))
        for matching in self._matching.values():
            matching.add(view, position)
        if rules.none:
            return
        for term in rules.far:
            self._existing(self._rejecting, term).add(position, 1)
        for term in rules.near:
            self._existing(self._preferring, term).add(position, _REQUIRED_WEIGHT)
        for term, weight in rules.preferred:
            self._existing(self._preferring, term).add(position, weight)

    def filter(self, view: PodView, rules: Rules) -> "RelationFilter | None":
        """The filter for one pod; None: nothing to filter."""
        labels = self._namespaces.get(view.namespace)
        rejecting = [
            each for each in self._rejecting.values() if each.weights and each.term.matches(view.namespace, labels, view.labels)
        ]
        if not rejecting and not rules.near and not rules.far:
            return None
        near = [self._resolved(term) for term in rules.near]
        far = [self._resolved(term) for term in rules.far]
        company = self._matched(near) if near else None
        return RelationFilter(self._cluster, view, labels, near, company, [self._matched([term]) for term in far], rejecting)

    def score(self, view: PodView, rules: Rules) -> "RelationScore | None":
        """The score for one pod; None: it has none."""
        labels = self._namespaces.get(view.namespace)
        weights: dict[str, dict[int, int]] = {}
        topologies: dict[str, Topology] = {}

        def add(topology: Topology, key: str, counts: Mapping[int, int], weight: int) -> None:
            if not counts:
                return
            topologies[key] = topology
            total = weights.setdefault(key, {})
            for domain, count in counts.items():
                total[domain] = total.get(domain, 0) + count * weight

        for each in self._preferring.values():
            if each.term.matches(view.namespace, labels, view.labels):
                add(each.topology, each.term.topology_key, each.weights, 1)
        for term, weight in rules.preferred:
            topology, counts = self._matched([self._resolved(term)]).counts[term.topology_key]
            add(topology, term.topology_key, counts, weight)
        return RelationScore([(topologies[key], total) for key, total in weights.items()]) if weights else None

    def _existing(self, among: dict[object, _Existing], term: Term) -> _Existing:
        key = term.key
        if key not in among:
            among[key] = _Existing(term, self._cluster.topology(term.topology_key))
        return among[key]

    def _resolved(self, term: Term) -> Term:
        """The rule of a pod to be placed, with the namespaces that its selector finds now instead of the selector."""
        if term.namespace_selector.empty:
            return term
        found = {name for name, labels in self._namespaces.items() if term.namespace_selector.matches(labels)}
        return msgspec.structs.replace(term, namespaces=term.namespaces | found, namespace_selector=CompiledLabelSelector(None))

    def _matched(self, terms: Sequence[Term]) -> _Matching:
        key = tuple(term.key for term in terms)
        matching = self._matching.get(key)
        if matching is None:
            matching = self._matching[key] = _Matching(terms, self._cluster)
            for view, position in self._placed:
                matching.add(view, position)
        return matching


class RelationFilter:
    """Which nodes satisfy the pod's required rules, and those of the pods that are there."""

    def __init__(
        self,
        cluster: Cluster,
        view: PodView,
        namespace_labels: Labels | None,
        near: Sequence[Term],
        matched: _Matching | None,
        far: Sequence[_Matching],
        rejecting: Sequence[_Existing],
    ) -> None:
        self._cluster = cluster
        self._view = view
        self._namespace_labels = namespace_labels
        self._near = near
        self._near_counts = list(matched.counts.values()) if matched is not None else []
        self._far = [(each.terms, *next(iter(each.counts.values()))) for each in far]
        self._rejecting = [(each.topology, each.weights) for each in rejecting]
        # The first of pods that want to be together may go anywhere where the labels are.
        self._alone = not any(counts for _, counts in self._near_counts) and _match(near, view)

    def fits(self) -> Lanes | None:
        """One byte a node; None: all fit."""
        lanes = [_lanes(topology, None if self._alone else counts, True) for topology, counts in self._near_counts]
        lanes += [_lanes(topology, counts, False) for _, topology, counts in self._far if counts]
        lanes += [_lanes(topology, weights, False) for topology, weights in self._rejecting]
        return all_of(lanes) if lanes else None

    def why(self, position: int, others: Sequence[tuple[PodView, Rules]] = ()) -> Rejection | None:
        """The first rule that rejects the node, as if `others` were on it too."""
        if self._near and not self._has_company(position, others):
            return rejection(codes.POD_AFFINITY, _NEAR + _REQUIRED, "no pod that the pod wants to be near is there")
        for terms, topology, counts in self._far:
            domain = topology.domain_of[position]
            if domain in counts or (domain >= 0 and any(_match(terms, other) for other, _ in others)):
                return rejection(codes.POD_AFFINITY, _FAR + _REQUIRED, "a pod that the pod wants to be away from is there", True)
        if any(topology.domain_of[position] in weights for topology, weights in self._rejecting) or any(
            term.topology_key in self._cluster.nodes[position].labels
            and term.matches(self._view.namespace, self._namespace_labels, self._view.labels)
            for _, rules in others
            for term in rules.far
        ):
            return rejection(codes.POD_AFFINITY, "", "a pod that is there wants the pod to be away", True)
        return None

    def _has_company(self, position: int, others: Sequence[tuple[PodView, Rules]]) -> bool:
        domains = [(topology.domain_of[position], counts) for topology, counts in self._near_counts]
        if any(domain < 0 for domain, _ in domains):
            return False
        joined = any(_match(self._near, other) for other, _ in others)
        return joined or self._alone or all(domain in counts for domain, counts in domains)


def _match(terms: Sequence[Term], view: PodView) -> bool:
    """Whether a pod is one that all `terms` are about. Namespace selectors were resolved before."""
    return all(term.matches(view.namespace, None, view.labels) for term in terms)


def _lanes(topology: Topology, domains: Container[int] | None, wanted: bool) -> bytes:
    """`domains` None: all that exist. Nodes without the label are never where something is wanted, nor where it is forbidden."""
    answers = [int((domains is None or domain in domains) == wanted) for domain in range(len(topology.values))]
    answers.append(not wanted)
    return bytes(map(answers.__getitem__, topology.domain_of))


class RelationScore:
    """The sum of the weights of all rules that speak for, or against, a node."""

    def __init__(self, weights: Sequence[tuple[Topology, Mapping[int, int]]]) -> None:
        self._weights = weights

    def scores(self, positions: Sequence[int]) -> list[int]:
        """The normalized score of each of the nodes that fit."""
        raw = [sum(total.get(topology.domain_of[position], 0) for topology, total in self._weights) for position in positions]
        lowest = min(raw)
        span = max(raw) - lowest
        if not span:
            return [0] * len(raw)
        return [int(float(_HIGHEST) * (float(score - lowest) / float(span))) for score in raw]


def known_namespaces(namespaces: Iterable[core.Namespace], pods: Iterable[core.Pod]) -> dict[str, Labels]:
    """The labels of every namespace of the input: one that only pods name exists as well."""
    known: dict[str, Labels] = {pod.metadata.namespace: {} for pod in pods}
    return {**known, **{item.metadata.name: item.metadata.labels or {} for item in namespaces}}
