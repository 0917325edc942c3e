"""The order in which nodes are looked at, and how many are enough. Right values: node_tree.go and schedule_one.go, by hand."""

import pytest

from reparto.placement.node_order import in_scheduler_order, wanted
from unit.placement_objects import node

ZONE, OLD_ZONE, REGION = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/region"


def order(*nodes) -> str:
    return "".join(item.metadata.name for item in in_scheduler_order(nodes))


def test_without_zones_nodes_come_by_name():
    assert order(node("c"), node("a"), node("b")) == "abc"


def test_one_node_of_each_zone_in_turn_zones_in_the_order_of_their_first_node():
    nodes = [node(name, labels={ZONE: zone}) for name, zone in zip("abcdef", "xxxyyz", strict=True)]
    assert order(*nodes) == "adfbec"


def test_nodes_without_a_zone_are_a_zone():
    assert order(node("a"), node("b"), node("c", labels={ZONE: "x"})) == "acb"


def test_zones_of_different_regions_are_different_zones():
    nodes = [
        node("a", labels={ZONE: "1", REGION: "r"}),
        node("b", labels={ZONE: "1", REGION: "r"}),
        node("c", labels={ZONE: "1", REGION: "s"}),
    ]
    assert order(*nodes) == "acb"


def test_the_old_label_of_a_zone_wins():
    nodes = [
        node("a", labels={ZONE: "1", OLD_ZONE: "x"}),
        node("b", labels={ZONE: "2", OLD_ZONE: "x"}),
        node("c", labels={ZONE: "3"}),
    ]
    assert order(*nodes) == "acb"


@pytest.mark.parametrize(
    "nodes, percentage, enough",
    [
        (99, 0, 99),
        (99, 10, 99),  # a small cluster is looked at as a whole
        (100, 0, 100),  # 49 percent would be 49
        (300, 0, 144),  # 50 - 300/125 = 48 percent
        (1000, 0, 420),
        (5000, 0, 500),
        (6000, 0, 300),  # 50 - 48 = 2 percent, but never less than 5
        (1000, 100, 1000),
        (1000, 5, 100),  # 50 would be less than 100
    ],
)
def test_how_many_nodes_are_enough(nodes, percentage, enough):
    assert wanted(nodes, percentage) == enough
