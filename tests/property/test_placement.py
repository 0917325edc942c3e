"""Whatever the cluster looks like: no device is given twice, placed pods can use what they got, pending ones are told why, and the
order in which nodes and slices are listed changes nothing."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from reparto.allocation import Features
from reparto.model.core import Taint
from reparto.placement import Plan, make_plan, take_snapshot
from unit.placement_objects import allocated, any_device_class, claim, gpus, node, pod, template

NODES = ("a", "b", "c")


@st.composite
def clusters(draw: st.DrawFn) -> tuple[list[object], list[object]]:
    """Nodes and slices, whose order means nothing, and everything else, in the order of the input."""
    machines: list[object] = []
    for name in NODES:
        taints = (Taint(key="t", effect="NoSchedule"),) if draw(st.integers(0, 4)) == 0 else ()
        machines += [node(name, taints=taints, unschedulable=draw(st.integers(0, 6)) == 0), gpus(name, draw(st.integers(1, 3)))]
    objects: list[object] = [any_device_class(), *(template(f"t{count}", count=count) for count in (1, 2, 3))]
    objects += [claim(f"shared-{index}", count=draw(st.integers(1, 3))) for index in range(2)]
    if draw(st.booleans()):
        objects.append(allocated(claim("held"), draw(st.sampled_from(NODES)), "gpu-0"))
    names = st.sampled_from(["shared-0", "shared-1", "held"])
    for index in range(draw(st.integers(1, 7))):
        used = draw(st.lists(names, max_size=2, unique=True))
        made = draw(st.lists(st.sampled_from(["t1", "t2", "t3"]), max_size=2))
        objects.append(pod(f"p{index}", uid=f"u{index}", claims=used, templates=made, priority=draw(st.integers(-1, 1))))
    return machines, objects


def decide(objects: list[object]) -> Plan:
    return make_plan(take_snapshot(objects), Features.for_version("1.37"))


@given(clusters())
@settings(max_examples=150, deadline=None)
def test_no_device_is_given_to_two_claims(cluster):
    machines, objects = cluster
    given_to: dict[tuple[str, str], set[tuple[str, str]]] = {}
    # In the end: what a pod shows may have been freed after its turn.
    for each in decide(machines + objects).claims:
        for result in each.status.allocation.devices.results if each.status.allocation else ():
            given_to.setdefault((result.pool, result.device), set()).add((each.metadata.namespace, each.metadata.name))
    assert {device: claims for device, claims in given_to.items() if len(claims) > 1} == {}


@given(clusters())
@settings(max_examples=150, deadline=None)
def test_a_placed_pod_has_all_its_claims_on_its_node_and_a_pending_one_is_told_why(cluster):
    machines, objects = cluster
    answer = decide(machines + objects)
    for item in answer.pods:
        if item.verdict == "placed":
            assert not item.reasons
            for each in item.claims:
                assert each.allocation is not None
                assert {result.pool for result in each.allocation.devices.results} == {item.node}
        if item.verdict == "pending":
            assert item.reasons and not item.node
            for count in (count for reason in item.reasons for count in reason.counts):
                assert 0 <= count.matching <= count.total and 1 <= count.nodes <= len(NODES)
    assert Counter(item.verdict for item in answer.pods) == {k: v for k, v in answer.summary().items() if v and k != "hypothetical"}


@given(clusters(), st.randoms())
@settings(max_examples=100, deadline=None)
def test_the_order_of_nodes_and_slices_does_not_matter(cluster, random):
    machines, objects = cluster
    shuffled = list(machines)
    random.shuffle(shuffled)
    assert decide(machines + objects).pods == decide(shuffled + objects).pods
