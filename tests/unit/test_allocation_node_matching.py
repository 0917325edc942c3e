"""Where a slice or a device belongs (upstream-dra.md 3.2): the meaning of required node affinity."""

import msgspec
import pytest

from reparto.allocation import AllocationError, FailureKind
from reparto.allocation.node_matching import NodeSelection
from reparto.model.meta import NodeSelector
from unit.allocation_objects import node


def selecting(*terms) -> NodeSelection:
    return NodeSelection(None, None, msgspec.convert({"nodeSelectorTerms": list(terms)}, NodeSelector))


def labels(key, operator, *values):
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def field(key, operator, *values):
    return {"matchFields": [{"key": key, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("term", "matches"),
    [
        (labels("zone", "In", "east", "west"), True),
        (labels("zone", "In", "west"), False),
        (labels("absent", "In", "east"), False),
        (labels("zone", "NotIn", "west"), True),
        (labels("absent", "NotIn", "east"), True),  # a missing label is not in any set
        (labels("zone", "Exists"), True),
        (labels("absent", "DoesNotExist"), True),
        (labels("rack", "Gt", "6"), True),
        (labels("rack", "Gt", "7"), False),
        (labels("rack", "Lt", "10"), True),
        (labels("zone", "Lt", "10"), False),  # not a number
        (field("metadata.name", "In", "n1"), True),
        (field("metadata.name", "NotIn", "n1"), False),
        ({}, False),  # an empty term matches nothing
    ],
)
def test_a_term_matches_labels_and_name(term, matches):
    assert selecting(term).matches(node("n1", zone="east", rack="7")) is matches


def test_terms_are_alternatives_and_requirements_add_up():
    here, there = labels("zone", "In", "east"), labels("zone", "In", "west")
    both = {"matchExpressions": here["matchExpressions"] + there["matchExpressions"]}
    assert selecting(there, here).matches(node(zone="east"))
    assert not selecting(both).matches(node(zone="east"))
    assert not selecting().matches(node(zone="east"))


@pytest.mark.parametrize(
    "term",
    [
        labels("zone", "Near", "east"),
        labels("zone", "In"),
        labels("zone", "Exists", "east"),
        labels("rack", "Gt", "x"),
        labels("rack", "Gt", "1", "2"),
        labels("not a key", "Exists"),
        labels("zone", "In", "not a value!"),
        field("metadata.name", "In", "n1", "n2"),
        field("metadata.name", "Exists"),
    ],
)
def test_a_selector_that_cannot_be_read_stops_the_pod_even_beside_one_that_matches(term):
    with pytest.raises(AllocationError, match="failed to parse node selector") as error:
        selecting(labels("zone", "Exists"), term).matches(node(zone="east"))
    assert error.value.kind is FailureKind.NODE_SELECTOR_INVALID and not error.value.node_only


def test_a_name_counts_before_all_nodes_and_all_nodes_before_a_selector():
    unreadable = msgspec.convert({"nodeSelectorTerms": [labels("zone", "Near")]}, NodeSelector)
    assert not NodeSelection("n2", True, unreadable).matches(node("n1"))
    assert NodeSelection("", True, unreadable).matches(node("n1"))
    assert not NodeSelection(None, None, None).matches(node("n1"))
