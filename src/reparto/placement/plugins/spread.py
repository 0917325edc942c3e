"""Spreading pods over zones and nodes: PodTopologySpread, as a filter (DoNotSchedule) and as a score (ScheduleAnyway).

Counts of pods are kept by constraint, that is for each selector, topology key and choice of nodes, and grow with every pod that is
placed. Pods without constraints of their own are spread by two default constraints of the scheduler, where a Service or a workload
of the input selects them.

Source: scheduler `podtopologyspread`, `helper/spread.go` of 1.37.2.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from reparto.allocation.lanes import Lanes, all_of
from reparto.model import codes
from reparto.model.core import TopologySpreadConstraint
from reparto.placement.cluster import Cluster, Topology
from reparto.placement.default_selectors import DefaultSelectors
from reparto.placement.label_selectors import CompiledLabelSelector, Labels, compile_selector
from reparto.placement.plugins.node_affinity import RequiredAffinity
from reparto.placement.plugins.taints import untolerated
from reparto.placement.pod_view import PodView
from reparto.placement.rejections import Rejection, rejection

HOSTNAME: Final = "kubernetes.io/hostname"
ZONE: Final = "topology.kubernetes.io/zone"
_HARD: Final = "DoNotSchedule"
_SOFT: Final = "ScheduleAnyway"
_HONOR: Final = "Honor"
_HIGHEST: Final = 100
_PATH: Final = "spec.topologySpreadConstraints"
# What a pod without constraints of its own gets (plugin.go, systemDefaultConstraints).
_DEFAULTS: Final = (
    TopologySpreadConstraint(max_skew=3, topology_key=HOSTNAME, when_unsatisfiable=_SOFT),
    TopologySpreadConstraint(max_skew=5, topology_key=ZONE, when_unsatisfiable=_SOFT),
)


class _Constraint(msgspec.Struct, frozen=True, eq=False):
    max_skew: int
    key: str
    selector: CompiledLabelSelector
    min_domains: int
    honours_affinity: bool
    honours_taints: bool


class _Counts:
    """Matching pods for the constraints of pods that are alike: by domain on the nodes that count, and by node."""

    def __init__(self, cluster: Cluster, view: PodView, constraints: Sequence[_Constraint], all_keys: bool) -> None:
        self.constraints = constraints
        self.namespace = view.namespace
        self.topologies = [cluster.topology(each.key) for each in constraints]
        self.eligible = [_eligible(cluster, view, each) for each in constraints]
        self.complete: bytes | None = None
        if all_keys:
            lanes = zip(*(topology.domain_of for topology in self.topologies), strict=True)
            self.complete = bytes(-1 not in domains for domains in lanes)
            self.eligible = [bytes(a & b for a, b in zip(each, self.complete, strict=True)) for each in self.eligible]
        # Nodes without the label count as a domain of their own where not all labels are asked for: the last.
        self.by_domain = [[0] * (len(topology.values) + 1) for topology in self.topologies]
        self.present = [_present(topology, eligible) for topology, eligible in zip(self.topologies, self.eligible, strict=True)]
        self.by_node: list[dict[int, int]] = [{} for _ in constraints]

    def add(self, labels: Labels, position: int) -> None:
        """A pod of the namespace is on the node."""
        for index, constraint in enumerate(self.constraints):
            if constraint.selector.empty or not constraint.selector.matches(labels):
                continue
            self.by_node[index][position] = self.by_node[index].get(position, 0) + 1
            if self.eligible[index][position]:
                self.by_domain[index][self.topologies[index].domain_of[position]] += 1


def _present(topology: Topology, eligible: bytes) -> list[int]:
    return sorted({domain for domain, counts in zip(topology.domain_of, eligible, strict=True) if counts})


def _eligible(cluster: Cluster, view: PodView, constraint: _Constraint) -> bytes:
    """The nodes whose pods count: those that the pod's affinity and tolerations allow, as far as the constraint honours them."""
    affinity = RequiredAffinity.of(view.pod) if constraint.honours_affinity else None
    tolerations = view.pod.spec.tolerations
    return bytes(
        (affinity is None or affinity.matches(state))
        and not (constraint.honours_taints and untolerated(tolerations, state.node.spec.taints))
        for state in cluster.nodes
    )


class Spread:
    """The plugin: the counts of all constraints met so far."""

    def __init__(self, cluster: Cluster, defaults: DefaultSelectors | None = None) -> None:
        self._cluster = cluster
        self._defaults = defaults or DefaultSelectors()
        self._counts: dict[object, _Counts] = {}
        self._by_namespace: dict[str, list[_Counts]] = {}
        self._placed: dict[str, list[tuple[Labels, int]]] = {}

    def placed(self, view: PodView, position: int) -> None:
        """A pod is on the node from now on. Pods that are being deleted do not count."""
        if view.terminating:
            return
        self._placed.setdefault(view.namespace, []).append((view.labels, position))
        for counts in self._by_namespace.get(view.namespace, ()):
            counts.add(view.labels, position)

    def hard(self, view: PodView) -> "HardSpread | None":
        """The filter for one pod; None: nothing to filter. Raises SelectorError."""
        constraints = _compiled(view, view.pod.spec.topology_spread_constraints, _HARD)
        return HardSpread(view, self._counted(view, constraints, _HARD, True)) if constraints else None

    def soft(self, view: PodView) -> "SoftSpread | None":
        """The score for one pod; None: it has none. Raises SelectorError."""
        own = view.pod.spec.topology_spread_constraints
        if own:
            constraints = _compiled(view, own, _SOFT)
        else:
            selector = self._defaults.of(view.pod)
            constraints = [] if selector is None else [_constraint(each, selector) for each in _DEFAULTS]
        return SoftSpread(self._counted(view, constraints, _SOFT, bool(own)), bool(own)) if constraints else None

    def _counted(self, view: PodView, constraints: Sequence[_Constraint], kind: str, all_keys: bool) -> _Counts:
        rules = tuple((c.max_skew, c.key, c.selector.key, c.min_domains, c.honours_affinity, c.honours_taints) for c in constraints)
        # Node selector, affinity and tolerations are part of the shape.
        key = (view.namespace, kind, all_keys, rules, view.shape)
        counts = self._counts.get(key)
        if counts is None:
            counts = self._counts[key] = _Counts(self._cluster, view, constraints, all_keys)
            self._by_namespace.setdefault(view.namespace, []).append(counts)
            for labels, position in self._placed.get(view.namespace, ()):
                counts.add(labels, position)
        return counts


def _compiled(view: PodView, constraints: Iterable[TopologySpreadConstraint], when: str) -> list[_Constraint]:
    compiled: list[_Constraint] = []
    for each in constraints:
        if each.when_unsatisfiable == when:
            values = tuple((key, "In", (view.labels[key],)) for key in each.match_label_keys if key in view.labels)
            compiled.append(_constraint(each, compile_selector(each.label_selector).narrowed(values)))
    return compiled


def _constraint(each: TopologySpreadConstraint, selector: CompiledLabelSelector) -> _Constraint:
    return _Constraint(
        each.max_skew,
        each.topology_key,
        selector,
        1 if each.min_domains is None else each.min_domains,
        (each.node_affinity_policy or _HONOR) == _HONOR,
        each.node_taints_policy == _HONOR,
    )


class HardSpread:
    """Which nodes keep the skew of every constraint within bounds."""

    def __init__(self, view: PodView, counts: _Counts) -> None:
        self._counts = counts
        self._view = view
        # By constraint: whether each domain may take the pod; the last entry stands for nodes without the label.
        self._open = [self._allowed(index) for index in range(len(counts.constraints))]

    def fits(self) -> Lanes:
        """One byte a node."""
        return all_of(
            [
                bytes(map(allowed.__getitem__, topology.domain_of))
                for allowed, topology in zip(self._open, self._counts.topologies, strict=True)
            ]
        )

    def why(self, position: int, others: Iterable[PodView] = ()) -> Rejection | None:
        """The first constraint that rejects the node, as if `others` were on it too."""
        joined = [other.labels for other in others if other.namespace == self._counts.namespace]
        for index, topology in enumerate(self._counts.topologies):
            constraint, domain = self._counts.constraints[index], topology.domain_of[position]
            allowed = self._open[index]
            added = sum(constraint.selector.matches(labels) for labels in joined) if self._counts.eligible[index][position] else 0
            if added:
                allowed = self._allowed(index, domain, added)
            if allowed[domain]:
                continue
            if domain < 0:
                return rejection(codes.SPREAD, _PATH, f"the node has no label {constraint.key}")
            cause = f"its {constraint.key} has too many pods already: the skew would exceed maxSkew"
            return rejection(codes.SPREAD, _PATH, cause, True)
        return None

    def _allowed(self, index: int, domain: int = -1, added: int = 0) -> list[bool]:
        counts, constraint = self._counts, self._counts.constraints[index]
        totals, present = counts.by_domain[index], counts.present[index]
        if added:
            totals = [*totals]
            totals[domain] += added
        least = min((totals[domain] for domain in present), default=0)
        if len(present) < constraint.min_domains:
            least = 0
        most = constraint.max_skew + least - constraint.selector.matches(self._view.labels)
        return [*(total <= most for total in totals[:-1]), False]


class SoftSpread:
    """How evenly the pods of the selector would be spread: fewer in the node's domains is better."""

    def __init__(self, counts: _Counts, all_keys: bool) -> None:
        self._counts = counts
        self._all_keys = all_keys

    def scores(self, positions: Sequence[int]) -> list[int]:
        """The normalized score of each of the nodes that fit."""
        counts = self._counts
        complete = counts.complete
        ignored = [complete is not None and not complete[position] for position in positions]
        terms: list[tuple[Topology, float, int, Sequence[int] | None, Mapping[int, int]]] = []
        for index, constraint in enumerate(counts.constraints):
            topology = counts.topologies[index]
            if constraint.key == HOSTNAME:
                size = len(positions) - sum(ignored)
            else:
                size = len({topology.domain_of[p] for p, out in zip(positions, ignored, strict=True) if not out})
            totals = None if constraint.key == HOSTNAME else counts.by_domain[index]
            terms.append((topology, logarithm(size + 2), constraint.max_skew - 1, totals, counts.by_node[index]))
        raw = [-1 if out else self._raw(terms, position) for position, out in zip(positions, ignored, strict=True)]
        scored = [score for score in raw if score >= 0]
        highest, lowest = max(scored, default=0), min(scored, default=0)
        return [0 if score < 0 else _HIGHEST if not highest else _HIGHEST * (highest + lowest - score) // highest for score in raw]

    @staticmethod
    def _raw(terms: Iterable[tuple[Topology, float, int, Sequence[int] | None, Mapping[int, int]]], position: int) -> int:
        score = 0.0
        for topology, weight, tolerance, totals, by_node in terms:
            domain = topology.domain_of[position]
            if domain >= 0:
                count = by_node.get(position, 0) if totals is None else totals[domain]
                score += float(count) * weight + float(tolerance)
        whole = math.floor(score)
        return whole + (score - whole >= 0.5)


# The polynomial of fdlibm's natural logarithm (Sun, 1993), odd and even powers apart.
_ODD: Final = (6.666666666666735130e-01, 2.857142874366239149e-01, 1.818357216161805012e-01, 1.479819860511658591e-01)
_EVEN: Final = (3.999999999940941908e-01, 2.222219843214978396e-01, 1.531383769920937332e-01)
_LN2_HIGH: Final = 6.93147180369123816490e-01
_LN2_LOW: Final = 1.90821492927058770002e-10


def logarithm(value: int) -> float:
    """The natural logarithm to the last bit of the scheduler's, which is fdlibm's; the C library's differs in one of a hundred.

    A difference in the last bit is enough for two nodes to swap their scores.
    """
    mantissa, exponent = math.frexp(value)
    if mantissa < math.sqrt(0.5):
        mantissa, exponent = mantissa * 2, exponent - 1
    rest = mantissa - 1
    ratio = rest / (2 + rest)
    square = ratio * ratio
    fourth = square * square
    odd = square * (_ODD[0] + fourth * (_ODD[1] + fourth * (_ODD[2] + fourth * _ODD[3])))
    even = fourth * (_EVEN[0] + fourth * (_EVEN[1] + fourth * _EVEN[2]))
    half = 0.5 * rest * rest
    return exponent * _LN2_HIGH - ((half - (ratio * (half + (odd + even)) + exponent * _LN2_LOW)) - rest)
