"""Nodes that a pod may run on: kube-scheduler's NodeUnschedulable, TaintToleration and NodeAffinity filters.

Right values: the filter plugins of Kubernetes 1.37.2 and component-helpers' nodeaffinity, read and worked out by hand.
"""

import pytest

from reparto.model import codes
from reparto.model.core import Affinity, NodeAffinity, Taint, Toleration
from reparto.model.meta import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from reparto.placement.cluster import Cluster
from reparto.placement.plugins.checks import Checked
from reparto.placement.plugins.node_affinity import RequiredAffinity, named_nodes
from reparto.placement.plugins.taints import Cordon, Taints, tolerates
from reparto.placement.rejections import Rejection
from unit.placement_objects import node, pod


def requiring(*terms: NodeSelectorTerm):
    selector = NodeSelector(node_selector_terms=list(terms))
    return pod("p", affinity=Affinity(node_affinity=NodeAffinity(required_during_scheduling_ignored_during_execution=selector)))


def expressions(*wanted: tuple[str, str, list[str]]) -> NodeSelectorTerm:
    return NodeSelectorTerm(match_expressions=[NodeSelectorRequirement(key=k, operator=o, values=v) for k, o, v in wanted])


def fields(*wanted: tuple[str, str, list[str]]) -> NodeSelectorTerm:
    return NodeSelectorTerm(match_fields=[NodeSelectorRequirement(key=k, operator=o, values=v) for k, o, v in wanted])


def rejected(item, on) -> Rejection | None:
    checks = [check for check in (Cordon.of(item), Taints(item), RequiredAffinity.of(item)) if check is not None]
    return Checked(checks, Cluster([on])).why(0)


def code(item, on) -> str | None:
    rejection = rejected(item, on)
    return rejection.code if rejection else None


def test_a_pod_without_requirements_may_run_on_any_plain_node():
    assert code(pod("p"), node("n")) is None


def test_a_cordoned_node_is_out_unless_the_pod_tolerates_the_unschedulable_taint():
    assert code(pod("p"), node("n", unschedulable=True)) == codes.NODE_UNSCHEDULABLE
    tolerant = pod("p", tolerations=(Toleration(key="node.kubernetes.io/unschedulable", operator="Exists"),))
    assert code(tolerant, node("n", unschedulable=True)) is None


@pytest.mark.parametrize("effect, out", [("NoSchedule", True), ("NoExecute", True), ("PreferNoSchedule", False)])
def test_only_effects_that_forbid_scheduling_keep_a_pod_away(effect, out):
    tainted = node("n", taints=(Taint(key="gpu", value="broken", effect=effect),))
    assert code(pod("p"), tainted) == (codes.NODE_TAINT if out else None)


@pytest.mark.parametrize(
    "toleration, tolerated",
    [
        (Toleration(key="gpu", operator="Exists"), True),
        (Toleration(key="gpu", operator="Exists", effect="NoSchedule"), True),
        (Toleration(key="gpu", operator="Exists", effect="NoExecute"), False),
        (Toleration(operator="Exists"), True),  # an empty key with Exists covers every taint
        (Toleration(key="gpu", value="a"), True),  # an empty operator means Equal
        (Toleration(key="gpu", operator="Equal", value="b"), False),
        (Toleration(key="other", operator="Exists"), False),
        (Toleration(key="gpu", operator="Lt", value="a"), False),  # alpha and off in 1.37
    ],
)
def test_tolerations(toleration, tolerated):
    assert tolerates((toleration,), Taint(key="gpu", value="a", effect="NoSchedule")) is tolerated


def test_every_label_of_the_node_selector_must_be_there():
    asking = pod("p", node_selector={"zone": "a", "gpu": "yes"})
    assert code(asking, node("n", labels={"zone": "a", "gpu": "yes"})) is None
    rejection = rejected(asking, node("n", labels={"zone": "a"}))
    assert rejection is not None
    assert (rejection.code, rejection.path, rejection.cause) == (
        codes.NODE_AFFINITY,
        "spec.nodeSelector",
        "without the label gpu=yes",
    )


@pytest.mark.parametrize(
    "terms, matches",
    [
        ([expressions(("zone", "In", ["a", "b"]))], True),
        ([expressions(("zone", "NotIn", ["a"]))], False),
        ([expressions(("absent", "NotIn", ["a"]))], True),
        ([expressions(("zone", "Exists", []))], True),
        ([expressions(("absent", "DoesNotExist", []))], True),
        ([expressions(("gpus", "Gt", ["7"]))], True),
        ([expressions(("gpus", "Gt", ["8"]))], False),
        ([expressions(("gpus", "Lt", ["9"]))], True),
        ([expressions(("zone", "Lt", ["9"]))], False),  # the label is no integer
        ([expressions(("zone", "In", ["a"]), ("gpus", "In", ["4"]))], False),  # requirements are ANDed
        ([expressions(("zone", "In", ["b"])), expressions(("gpus", "In", ["8"]))], True),  # terms are ORed
        ([NodeSelectorTerm()], False),  # an empty term matches nothing
        ([], False),  # and so do no terms at all
        ([expressions(("zone", "Near", ["a"]))], False),  # an operator that does not exist
        ([fields(("metadata.name", "In", ["n"]))], True),
        ([fields(("metadata.name", "NotIn", ["n"]))], False),
        ([fields(("metadata.name", "In", ["n", "m"]))], False),  # a field takes exactly one value
    ],
)
def test_required_node_affinity(terms, matches):
    where = node("n", labels={"zone": "a", "gpus": "8"})
    assert code(requiring(*terms), where) == (None if matches else codes.NODE_AFFINITY)


def test_filters_answer_in_the_scheduler_s_order():
    everything_wrong = node("n", unschedulable=True, taints=(Taint(key="t", effect="NoSchedule"),))
    asking = pod("p", node_selector={"zone": "a"})
    assert code(asking, everything_wrong) == codes.NODE_UNSCHEDULABLE
    assert code(asking, node("n", taints=(Taint(key="t", effect="NoSchedule"),))) == codes.NODE_TAINT


@pytest.mark.parametrize(
    "terms, names",
    [
        ([fields(("metadata.name", "In", ["n"]))], {"n"}),
        ([fields(("metadata.name", "In", ["n"])), fields(("metadata.name", "In", ["m"]))], {"n", "m"}),
        ([fields(("metadata.name", "In", ["n"])), expressions(("zone", "Exists", []))], None),  # the second term allows any node
        ([fields(("metadata.name", "In", ["n"]), ("metadata.name", "In", ["m"]))], set()),  # a contradiction
        ([fields(("metadata.name", "NotIn", ["n"]))], None),
    ],
)
def test_nodes_are_looked_at_alone_where_every_term_names_some(terms, names):
    assert named_nodes(requiring(*terms)) == names
