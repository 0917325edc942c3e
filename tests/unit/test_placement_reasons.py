"""Failures of many nodes become few reasons, with counts that add up."""

from reparto.model import codes
from reparto.placement.plan import Count
from reparto.placement.reasons import Failure, Tally, group


def failure(
    node: str, cause: str = "no", *, code: str = codes.SELECTOR, matching: int = 0, total: int = 8, holders: tuple[str, ...] = ()
):
    return Failure(
        node, code, "ResourceClaim/ns/c", "spec", cause, tallies=(Tally("devices", matching, total, 4),), holders=holders
    )


def test_nodes_that_fail_alike_are_one_reason_with_summed_counts():
    (reason,) = group([failure("a", matching=1), failure("b", matching=2, total=4)], nodes=5)
    assert reason.counts == (Count("devices", 3, 12, 2), Count("nodes", 2, 5, 2))
    assert reason.message == "on 2 of 5 nodes: no (devices: 3 of 12 on 2 nodes, 4 needed on one)"


def test_a_single_node_is_named():
    (reason,) = group([failure("a")], nodes=5)
    assert reason.message.startswith("on node a: no")


def test_the_reason_of_most_nodes_comes_first():
    reasons = group([failure("a", "rare"), failure("b", "common"), failure("c", "common")], nodes=3)
    assert [reason.counts[-1].matching for reason in reasons] == [2, 1]


def test_holders_are_listed_once_and_the_rest_counted():
    failures = [failure("a", holders=("ns/b", "ns/a")), failure("b", holders=("ns/a", "ns/c", "ns/d", "ns/e", "ns/f"))]
    (reason,) = group(failures, nodes=2)
    assert reason.message.endswith(", held by ns/a, ns/b, ns/c, ns/d and 2 more")


def test_a_reason_has_the_hint_of_its_code_unless_the_failure_knows_better():
    (reason,) = group([failure("a")], nodes=1)
    assert reason.hint == codes.lookup(codes.SELECTOR).fix
