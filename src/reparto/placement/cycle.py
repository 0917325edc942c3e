"""One attempt to schedule one pod: which nodes it may use, and which of them is best. Nothing here is random.

The scheduler goes through its list of nodes from where the last attempt stopped, until enough nodes fit; asks its plugins to score
them; and takes the best. Of equal ones it takes what happens to be at the top of its heap: the first of the highest scores in the
order parent, left child, right child. The answer is that of a scheduler with `parallelism: 1`, whose nodes come in order.

Source: scheduler `schedule_one.go`, `framework/sorted_nodes.go`, `apis/config/v1/default_plugins.go` of 1.37.2.
upstream-dra.md 5.1.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import islice
from typing import Final

import msgspec

from reparto.allocation import AllocationError
from reparto.allocation.lanes import Lanes, all_of, positions, rotated
from reparto.placement.cluster import Cluster, NodeState
from reparto.placement.extended_resources import Bridge, served_by_plugin
from reparto.placement.label_selectors import SelectorError
from reparto.placement.node_order import wanted
from reparto.placement.plugins.checks import Checked, NodeCheck
from reparto.placement.plugins.declared_features import DeclaredFeatures
from reparto.placement.plugins.devices import PodDevices
from reparto.placement.plugins.images import Images
from reparto.placement.plugins.node_affinity import PreferredAffinity, RequiredAffinity, named_nodes
from reparto.placement.plugins.packing import NodePacking, Packed
from reparto.placement.plugins.pod_affinity import PodAffinity, RelationFilter, Rules, compile_rules
from reparto.placement.plugins.ports import HostPorts
from reparto.placement.plugins.resources_fit import LoadScores, ResourcesFit
from reparto.placement.plugins.spread import HardSpread, SoftSpread, Spread
from reparto.placement.plugins.taints import Cordon, Taints
from reparto.placement.pod_view import PodView, Shape
from reparto.placement.rejections import Rejection

# Weights of the scores, as the default configuration has them.
_TAINTS: Final = 3
_NODE_AFFINITY: Final = 2
_SPREAD: Final = 2
_POD_AFFINITY: Final = 2
_DEVICES: Final = 2
_HIGHEST: Final = 100


class Sampling(msgspec.Struct, frozen=True):
    """How many nodes that fit are enough: all (`all_nodes`), or a percentage of all nodes (0: the scheduler's default)."""

    all_nodes: bool = False
    percentage: int = 0

    def wanted(self, nodes: int) -> int:
        return nodes if self.all_nodes else wanted(nodes, self.percentage)


class Refusals(msgspec.Struct, frozen=True, eq=False):
    """Why no node fits, for whoever asks: what each plugin has to say about each node that was looked at (`looked_at`)."""

    looked_at: Sequence[int]
    checked: Checked
    spread: HardSpread | None
    relations: RelationFilter | None
    devices: PodDevices | None
    features: Checked | None
    named: frozenset[str] | None = None
    """The only nodes that the pod allows by name, where it names nodes."""
    yielding: Mapping[int, Rejection] = {}
    """What is against nodes where other pods are nominated."""

    def rejected(self, position: int) -> Rejection | None:
        """What a filter before the devices has against a node that was looked at."""
        return (
            self.yielding.get(position)
            or self.checked.why(position)
            or (self.spread.why(position) if self.spread is not None else None)
            or (self.relations.why(position) if self.relations is not None else None)
        )

    @property
    def local(self) -> bool:
        """Whether the reasons depend on the nodes and the shape of the pod alone."""
        return self.spread is None and self.relations is None and self.named is None and not self.yielding


class Outcome(msgspec.Struct, frozen=True, eq=False):
    """The chosen node (None: none), or why not. `compared` are the positions of the nodes that fit, `scores` their totals."""

    node: NodeState | None
    refusals: Refusals | None = None
    compared: Sequence[int] = ()
    scores: Sequence[int] = ()
    packed: Packed | None = None
    """How best-fit chose, where it compared nodes; there are no scores then."""
    fitting: int = 0
    """How many nodes fit; 0: only the nominated one was asked about."""


class Scheduling:
    """The scheduler's side of a plan: its plugins, what they remember, and where its next search begins."""

    def __init__(
        self,
        cluster: Cluster,
        spread: Spread,
        affinity: PodAffinity,
        bridge: Bridge,
        sampling: Sampling,
        packing: NodePacking | None = None,
    ) -> None:
        self._cluster = cluster
        self._spread = spread
        self._affinity = affinity
        self._bridge = bridge
        self._sampling = sampling
        self._packing = packing
        self._images = Images(cluster)
        self._start = 0
        self._checked: dict[Shape, Checked] = {}
        self._features: dict[Shape, Checked | None] = {}
        self._scores: dict[Shape, _ShapeScores] = {}
        self._rules: dict[tuple[Shape, str, object], Rules | SelectorError] = {}
        self._nominated: dict[int, list[PodView]] = {}
        # By position: the lowest priority of a pod, and of one that is being evicted.
        self._lowest: dict[int, int] = {}
        self._evicted: dict[int, int] = {}

    def placed(self, view: PodView, position: int) -> None:
        """The pod is on the node from now on, and counts."""
        self._cluster.charge(position, view.shape.resources, view.shape.ports)
        self._lowest[position] = min(view.priority, self._lowest.get(position, view.priority))
        if view.is_evicted:
            self._evicted[position] = min(view.priority, self._evicted.get(position, view.priority))
        self._spread.placed(view, position)
        self._affinity.placed(view, self._rules_of(view), position)

    def attempt(self, view: PodView, devices: PodDevices | None) -> Outcome:
        """Choose a node for a pod. Nothing counts before `placed`; only the place where the next attempt begins moves on.

        Raises AllocationError where the allocator ends the attempt, SelectorError where a selector of the pod cannot be parsed.
        """
        named = named_nodes(view.pod)
        checked = self._check(view.shape)
        features = self._feature_check(view.shape)
        if named is not None and not named:
            return Outcome(None, Refusals((), checked, None, None, devices, features, named))
        spread = self._spread.hard(view)
        rules = self._compiled(view)
        relations = self._affinity.filter(view, rules)
        lanes: list[Lanes] = [checked.fits()]
        if spread is not None:
            lanes.append(spread.fits())
        if relations is not None and (related := relations.fits()) is not None:
            lanes.append(related)
        before = all_of(lanes)
        yielding = self._yielding(view, checked, spread, relations)
        if yielding:
            before = bytearray(before)
            for position in yielding:
                before[position] = 0
        after: list[Lanes] = []
        if devices is not None and (available := devices.available()) is not None:
            after.append(available)
        if features is not None:
            after.append(features.fits())
        nominated = self._cluster.position.get(view.pod.status.nominated_node_name)
        refused: int | None = None
        if nominated is not None:
            fits = self._fits_nominated(nominated, before, after, devices)
            if fits:
                return Outcome(self._cluster.nodes[nominated])
            refused = nominated if fits is False else None
        search = self._search(before, after, devices, named, refused)
        fitting = search.fitting
        if refused is not None and not search.looked_at(refused):
            # It was counted as looked at, before all others.
            self._start = (self._start + 1) % len(self._cluster)
        if not fitting:
            return Outcome(None, Refusals(search.chosen, checked, spread, relations, devices, features, named, yielding))
        if len(fitting) == 1:
            return Outcome(self._cluster.nodes[fitting[0]], fitting=1)
        if self._packing is not None and devices is not None and devices.answers is not None:
            packed = self._packing.best(devices, fitting, self._wishes(view, rules, devices, fitting))
            return Outcome(self._cluster.nodes[fitting[packed.place]], None, (), (), packed, len(fitting))
        scores = self._total(view, rules, devices, fitting)
        return Outcome(self._cluster.nodes[fitting[_top(scores)]], None, fitting, scores)

    def nominate(self, view: PodView) -> None:
        """A pod that is not placed keeps its nominated node: pods of no higher priority must leave it room there."""
        position = self._cluster.position.get(view.pod.status.nominated_node_name)
        if position is not None:
            self._nominated.setdefault(position, []).append(view)

    def refused_everywhere(self, view: PodView) -> None:
        """Every node that the pod may be on was looked at, for nothing: the next search begins behind them."""
        if named := named_nodes(view.pod):
            looked_at = {view.pod.status.nominated_node_name, *named} & self._cluster.position.keys()
            self._start = (self._start + len(looked_at)) % len(self._cluster)

    def unmoved(self, attempt: Callable[[], Outcome]) -> Outcome:
        """An attempt that leaves no trace: for pods that nobody created."""
        start = self._start
        try:
            return attempt()
        finally:
            self._start = start

    def could_preempt(self, view: PodView, refusals: Refusals) -> bool:
        """Whether the scheduler would look for pods to evict: somewhere pods of lower priority are, and are why the pod is not."""
        for position, lowest in self._lowest.items():
            if lowest < view.priority and position in refusals.looked_at:
                rejected = refusals.rejected(position)
                if rejected is not None and rejected.resolvable:
                    return True
        return False

    def waits_for_evicted(self, view: PodView, refusals: Refusals) -> bool:
        """Whether pods evicted for the pod are still there: the scheduler then evicts no more, and keeps the nomination."""
        position = self._cluster.position.get(view.pod.status.nominated_node_name)
        if position is None or self._evicted.get(position, view.priority) >= view.priority:
            return False
        rejected = refusals.rejected(position)
        return rejected is None or rejected.resolvable

    # --- nominated nodes ---------------------------------------------------------------------------------------------------------

    def _fits_nominated(self, position: int, before: Lanes, after: Sequence[Lanes], devices: PodDevices | None) -> bool | None:
        """Whether the pod fits on its nominated node, tried alone and before all others; None: an error, which ends nothing."""
        if not before[position]:
            return False
        if devices is not None and (answers := devices.answers) is not None:
            try:
                # What is not known any more may have been taken.
                if not (devices.fit(position) if answers.unknown[position] else answers.fits[position]):
                    return False
            except AllocationError:
                return None
        return all(lanes[position] for lanes in after)

    def _yielding(
        self, view: PodView, checked: Checked, spread: HardSpread | None, relations: RelationFilter | None
    ) -> dict[int, Rejection]:
        """Nodes on which the pod would have to make room for pods that are nominated there, and why it then does not fit."""
        found: dict[int, Rejection] = {}
        for position, nominated in self._nominated.items():
            others = [each for each in nominated if each.priority >= view.priority and each.pod is not view.pod]
            if not others:
                continue
            state = self._cluster.nodes[position].copy()
            for other in others:
                state.charge(other.shape.resources, other.shape.ports)
            with_rules = [(other, self._rules_of(other)) for other in others]
            rejected = (
                checked.of(state)
                or (spread.why(position, others) if spread is not None else None)
                or (relations.why(position, with_rules) if relations is not None else None)
            )
            if rejected is not None:
                found[position] = rejected
        return found

    # --- filters -----------------------------------------------------------------------------------------------------------------

    def _search(
        self,
        before: Lanes,
        after: Sequence[Lanes],
        devices: PodDevices | None,
        named: frozenset[str] | None,
        refused: int | None,
    ) -> "_Search":
        """The nodes that fit, in the scheduler's order, as many as it wants.

        `before` and `after` are the answers of filters that come before and after the devices: a node where the devices do not fit
        may end the attempt, so the allocator is asked about no node that the scheduler would not ask about. `refused` was looked at
        before the search.
        """
        count = len(self._cluster)
        if named is None:
            chosen: Sequence[int] = range(count)
        else:
            chosen = sorted(self._cluster.position[name] for name in named if name in self._cluster.position)
        if not chosen:
            return _Search([], (), 0, 0)
        # The place of a node is counted from where the search begins; `view` puts answers in that order.
        start = self._start % len(chosen)

        def view(lanes: Lanes) -> bytearray:
            return rotated(lanes if named is None else bytes(map(lanes.__getitem__, chosen)), start)

        enough = self._sampling.wanted(len(chosen))
        fits = view(all_of([before, *after]))
        if devices is not None and devices.answers is not None:
            answers = devices.answers
            passing = fits
            # Where nothing is known of a node's devices, they are not there.
            fits = bytearray(all_of([passing, view(answers.fits)]))
            unknown = view(all_of([before, answers.unknown]))
            at = seen = 0
            while (place := unknown.find(1, at)) >= 0:
                seen += fits.count(1, at, place)
                if seen > enough:
                    break
                try:
                    fit = devices.fit(chosen[(start + place) % len(chosen)])
                except AllocationError:
                    looked = place + (refused is not None and not _Search([], chosen, start, place).looked_at(refused))
                    self._start = (self._start + looked) % count
                    raise
                fits[place] = fit and passing[place]
                seen += fits[place]
                at = place + 1
                if seen > enough:
                    break
        # One more than enough: there the search ends.
        places = list(islice(positions(fits), enough + 1))
        looked = places.pop() if len(places) > enough else len(chosen)
        self._start = (self._start + looked) % count
        turn = bisect_left(places, len(chosen) - start)
        fitting = [*(place + start for place in places[:turn]), *(place + start - len(chosen) for place in places[turn:])]
        return _Search(fitting if named is None else [chosen[place] for place in fitting], chosen, start, looked)

    def _check(self, shape: Shape) -> Checked:
        if shape not in self._checked:
            pod = shape.pod
            checks: list[NodeCheck | None] = [
                Cordon.of(pod),
                Taints(pod),
                RequiredAffinity.of(pod),
                HostPorts.of(pod),
                ResourcesFit(shape.resources, self._delegated if self._bridge.mapping.classes else None),
            ]
            self._checked[shape] = Checked([check for check in checks if check is not None], self._cluster)
        return self._checked[shape]

    def _feature_check(self, shape: Shape) -> Checked | None:
        if shape not in self._features:
            check = DeclaredFeatures.of(shape.pod)
            self._features[shape] = None if check is None else Checked([check], self._cluster)
        return self._features[shape]

    def _delegated(self, resource: str, state: NodeState) -> bool:
        """Whether DRA, and no device plugin, serves the resource on the node."""
        return self._bridge.mapping.class_of(resource) is not None and not served_by_plugin(state.node, resource)

    def _rules_of(self, view: PodView) -> Rules:
        """The rules of a pod that is there; those that cannot be parsed count for nothing."""
        try:
            return self._compiled(view)
        except SelectorError:
            return _NO_RULES

    def _compiled(self, view: PodView) -> Rules:
        affinity = view.pod.spec.affinity
        if affinity is None or (affinity.pod_affinity is None and affinity.pod_anti_affinity is None):
            return _NO_RULES
        # Label keys make rules depend on the labels.
        key = view.shape, view.namespace, tuple(sorted(view.labels.items()))
        known = self._rules.get(key)
        if known is None:
            try:
                known = compile_rules(view.pod)
            except SelectorError as error:
                known = error
            self._rules[key] = known
        if isinstance(known, SelectorError):
            raise known
        return known

    # --- scores ------------------------------------------------------------------------------------------------------------------

    def _total(self, view: PodView, rules: Rules, devices: PodDevices | None, fitting: Sequence[int]) -> list[int]:
        """The total score of each node that fits."""
        return self._weighted(view, rules, devices, fitting, self._own(view).scores(fitting), self._spread.soft(view))

    def _wishes(self, view: PodView, rules: Rules, devices: PodDevices, fitting: Sequence[int]) -> list[int]:
        """As `_total`, of what users ask of nodes only: not how full nodes are, nor spread that no user asked for."""
        soft = self._spread.soft(view) if view.pod.spec.topology_spread_constraints else None
        return self._weighted(view, rules, devices, fitting, self._own(view).wishes(fitting), soft)

    def _own(self, view: PodView) -> "_ShapeScores":
        """What depends on the shape of the pod alone, kept for all pods of it."""
        own = self._scores.get(view.shape)
        if own is None:
            own = self._scores[view.shape] = _ShapeScores(view.shape, self._cluster, self._images)
        return own

    def _weighted(
        self,
        view: PodView,
        rules: Rules,
        devices: PodDevices | None,
        fitting: Sequence[int],
        totals: list[int],
        soft: SoftSpread | None,
    ) -> list[int]:
        weighted: list[tuple[int, Sequence[int]]] = []
        if soft is not None:
            weighted.append((_SPREAD, soft.scores(fitting)))
        if (relations := self._affinity.score(view, rules)) is not None:
            weighted.append((_POD_AFFINITY, relations.scores(fitting)))
        if devices is not None and devices.ranks:
            weighted.append((_DEVICES, devices.scores([self._cluster.nodes[position] for position in fitting])))
        for weight, scores in weighted:
            totals = [total + weight * score for total, score in zip(totals, scores, strict=True)]
        return totals


class _Search(msgspec.Struct, frozen=True, eq=False):
    """The nodes that fit; of those `chosen` to be looked at, in order, the first `looked` from place `start` on were."""

    fitting: Sequence[int]
    chosen: Sequence[int]
    start: int
    looked: int

    def looked_at(self, position: int) -> bool:
        if position not in self.chosen:
            return False
        return (self.chosen.index(position) - self.start) % len(self.chosen) < self.looked


class _ShapeScores:
    """Scores that depend on nothing but the node and the shape of the pod, kept until the node changes."""

    def __init__(self, shape: Shape, cluster: Cluster, images: Images) -> None:
        self._cluster = cluster
        self._seen = len(cluster.changes)
        self._load = LoadScores(shape.resources).score
        self._images = images.scores(shape.pod)
        self._sums: list[int | None] = [None] * len(cluster)
        taints, preferred = Taints(shape.pod), PreferredAffinity.of(shape.pod)
        disliked = {position: taints.score(cluster.nodes[position]) for position in cluster.tainted}
        self._taints = [disliked.get(position, 0) for position in range(len(cluster))] if any(disliked.values()) else None
        self._preferred = None if preferred is None else [preferred.score(state) for state in cluster.nodes]

    def scores(self, fitting: Sequence[int]) -> list[int]:
        """The weighted sum for each of the nodes."""
        changes, sums = self._cluster.changes, self._sums
        if self._seen < len(changes):
            for position in changes[self._seen :]:
                sums[position] = None
            self._seen = len(changes)
        totals: list[int] = []
        for position in fitting:
            score = sums[position]
            if score is None:
                # Where no taint speaks against any node, all have the full score for that.
                score = sums[position] = _TAINTS * _HIGHEST + self._load(self._cluster.nodes[position])
            totals.append(score)
        if self._images is not None:
            totals = [total + self._images[position] for total, position in zip(totals, fitting, strict=True)]
        return self._wished(fitting, totals)

    def wishes(self, fitting: Sequence[int]) -> list[int]:
        """What the pod asks of nodes, without how full they are: taints it does not like, and affinity."""
        return self._wished(fitting, [0] * len(fitting))

    def _wished(self, fitting: Sequence[int], totals: list[int]) -> list[int]:
        if self._taints is not None:
            raw = [self._taints[position] for position in fitting]
            if highest := max(raw):
                totals = [total - _TAINTS * (_HIGHEST * score // highest) for total, score in zip(totals, raw, strict=True)]
        if self._preferred is not None:
            raw = [self._preferred[position] for position in fitting]
            if highest := max(raw):
                totals = [total + _NODE_AFFINITY * (_HIGHEST * score // highest) for total, score in zip(totals, raw, strict=True)]
        return totals


_NO_RULES: Final = Rules()


def _top(scores: Sequence[int]) -> int:
    """The index of the highest score; of several the first that a walk through the heap (parent, left, right) meets."""
    highest = max(scores)
    first = scores.index(highest)
    if first == 0 or scores.count(highest) == 1:
        return first
    return min((index for index, score in enumerate(scores) if score == highest), key=_path)


@cache
def _path(index: int) -> str:
    """The way from the root of the heap: the digits of the place, counted from one. A walk takes them in the order of text."""
    return f"{index + 1:b}"[1:]
