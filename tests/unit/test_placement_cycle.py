"""Which node a pod gets, and why others are out: filters, scores, ties, and where the next search begins.

Right values: the plugins of kube-scheduler 1.37.2 and their weights, worked out by hand for each case. The same rules are compared
with kube-scheduler itself, on random clusters, by the conformance tests.
"""

import pytest

from reparto.allocation import Features
from reparto.model import codes, core
from reparto.model.meta import NodeSelectorRequirement, NodeSelectorTerm, ObjectMeta
from reparto.placement.cycle import Sampling
from reparto.placement.plan import Plan
from reparto.placement.planner import make_plan
from reparto.placement.snapshot import take_snapshot
from unit.placement_objects import container, node, pod

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
LARGE = {"cpu": "16", "memory": "64Gi", "pods": "110"}


def decide(*objects: object, **options: object) -> Plan:
    return make_plan(take_snapshot(objects), Features.for_version("1.37"), **options)  # type: ignore[arg-type]


def nodes_of(answer: Plan) -> dict[str, str]:
    return {item.name: item.node for item in answer.pods}


def reasons_of(answer: Plan, name: str) -> dict[str, str]:
    """Code → message of the reasons of a pod."""
    return {reason.code: reason.message for item in answer.pods if item.name == name for reason in item.reasons}


def selecting(**labels: str) -> core.LabelSelector:
    return core.LabelSelector(match_labels=labels)


# --- resources -------------------------------------------------------------------------------------------------------------------


def test_a_node_is_full_when_requests_exceed_what_is_allocatable():
    placed = [pod(f"p{index}", containers=(container(cpu="6"),)) for index in range(3)]
    answer = decide(node("n", has=LARGE), *placed)
    assert nodes_of(answer) == {"p0": "n", "p1": "n", "p2": ""}
    assert reasons_of(answer, "p2") == {codes.NODE_RESOURCES: "on the only node: too little cpu is left"}


def test_a_node_takes_as_many_pods_as_it_says():
    answer = decide(node("n", has={"cpu": "16", "memory": "64Gi", "pods": "1"}), pod("a"), pod("b"))
    assert nodes_of(answer) == {"a": "n", "b": ""}
    assert reasons_of(answer, "b") == {codes.NODE_RESOURCES: "on the only node: the node has as many pods as it can take"}


def test_pods_that_run_count_also_those_that_are_going_away_but_not_those_that_have_finished():
    running = pod("running", node_name="n", containers=(container(cpu="10"),), deleted="2026-01-01T00:00:00Z")
    finished = pod("finished", node_name="n", containers=(container(cpu="10"),), status=core.PodStatus(phase="Succeeded"))
    answer = decide(
        node("n", has=LARGE),
        running,
        finished,
        pod("a", containers=(container(cpu="6"),)),
        pod("b", containers=(container(cpu="1"),)),
    )
    assert nodes_of(answer)["a"] == "n" and nodes_of(answer)["b"] == ""


def test_extended_resources_and_huge_pages_are_counted_like_cpu():
    has = {**LARGE, "example.com/fpga": "1", "hugepages-2Mi": "4Mi"}
    asking = [
        pod("a", containers=(container(limits={"example.com/fpga": "1"}),)),
        pod("b", containers=(container(limits={"example.com/fpga": "1"}),)),
        pod("c", containers=(container(limits={"hugepages-2Mi": "8Mi"}),)),
    ]
    answer = decide(node("n", has=has), *asking)
    assert nodes_of(answer) == {"a": "n", "b": "", "c": ""}
    assert reasons_of(answer, "c") == {codes.NODE_RESOURCES: "on the only node: the node has too little hugepages-2Mi"}


def test_a_node_that_does_not_say_what_it_has_is_taken_to_have_enough_and_that_is_said():
    answer = decide(node("n"), pod("p", containers=(container(cpu="1000"),)))
    assert nodes_of(answer) == {"p": "n"}
    assert [note.code for note in answer.notes] == [codes.NODE_AMOUNTS_UNKNOWN]


def test_the_emptier_node_is_better():
    # Shares left with the pod: a (16-8-2)/16 = 37 %, b (16-2)/16 = 87 % of CPU.
    busy = pod("busy", node_name="a", containers=(container(cpu="8", memory="1Gi"),))
    assert (
        nodes_of(
            decide(node("a", has=LARGE), node("b", has=LARGE), busy, pod("p", containers=(container(cpu="2", memory="1Gi"),)))
        )["p"]
        == "b"
    )


def test_of_equal_nodes_the_first_in_the_scheduler_s_order_is_taken():
    assert nodes_of(decide(node("b", has=LARGE), node("a", has=LARGE), pod("p"))) == {"p": "a"}


def test_of_several_best_nodes_a_walk_through_the_heap_decides():
    # Five nodes; the first is full of a pod. The heap of the other scores: n1 and n2 below n0, n3 and n4 below n1. n1 comes first,
    # then n3 (below n1) before n2.
    nodes = [node(f"n{index}", has=LARGE) for index in range(5)]
    busy = [pod(f"busy{index}", node_name=f"n{index}", containers=(container(cpu="8"),)) for index in (0, 1)]
    assert nodes_of(decide(*nodes, *busy, pod("p", containers=(container(cpu="1"),))))["p"] == "n3"


# --- taints, affinity, images ----------------------------------------------------------------------------------------------------


def test_a_disliked_node_is_worse_by_three_times_a_hundred():
    disliked = core.Taint(key="old", effect="PreferNoSchedule")
    busy = pod("busy", node_name="b", containers=(container(cpu="15", memory="1Gi"),))
    answer = decide(
        node("a", has=LARGE, taints=(disliked,)), node("b", has=LARGE), busy, pod("p", containers=(container(cpu="1"),))
    )
    assert nodes_of(answer)["p"] == "b"


def test_preferred_node_affinity_outweighs_an_emptier_node():
    term = NodeSelectorTerm(match_expressions=[NodeSelectorRequirement(key="disk", operator="In", values=["ssd"])])
    preferred = core.NodeAffinity(preferred_during_scheduling_ignored_during_execution=(core.PreferredSchedulingTerm(1, term),))
    busy = pod("busy", node_name="b", containers=(container(cpu="8"),))
    answer = decide(
        node("a", has=LARGE),
        node("b", has=LARGE, labels={"disk": "ssd"}),
        busy,
        pod("p", containers=(container(cpu="1"),), affinity=core.Affinity(node_affinity=preferred)),
    )
    assert nodes_of(answer)["p"] == "b"


def test_a_node_that_has_the_image_is_better():
    # 1 GB on one of two nodes counts half: 500 MB, (476 - 23) of (1000 - 23) MiB: 46 points.
    image = core.ContainerImage(names=("registry.test/train:latest",), size_bytes=10**9)
    answer = decide(
        node("a", has=LARGE), node("b", has=LARGE, images=(image,)), pod("p", containers=(container(image="registry.test/train"),))
    )
    assert nodes_of(answer) == {"p": "b"}


def test_nodes_that_a_pod_names_are_the_only_ones_looked_at():
    term = NodeSelectorTerm(match_fields=[NodeSelectorRequirement(key="metadata.name", operator="In", values=["b"])])
    required = core.NodeAffinity(required_during_scheduling_ignored_during_execution=core.NodeSelector(node_selector_terms=[term]))
    answer = decide(node("a"), node("b", unschedulable=True), node("c"), pod("p", affinity=core.Affinity(node_affinity=required)))
    assert reasons_of(answer, "p") == {
        codes.NODE_AFFINITY: "on 2 of 3 nodes: the pod's required node affinity names other nodes",
        codes.NODE_UNSCHEDULABLE: "on node b: cordoned",
    }


def test_a_new_pod_tolerates_nodes_that_just_became_unreachable():
    # Admission adds the toleration (for five minutes); a pod that exists has been through admission.
    unreachable = core.Taint(key="node.kubernetes.io/unreachable", effect="NoExecute")
    answer = decide(node("n", taints=(unreachable,)), pod("new"), pod("old", uid="u"))
    assert nodes_of(answer) == {"old": "", "new": "n"}


# --- ports -----------------------------------------------------------------------------------------------------------------------


def using(port: core.ContainerPort) -> tuple[core.Container, ...]:
    return (core.Container(name="c", ports=(port,)),)


@pytest.mark.parametrize(
    "port, fits",
    [
        (core.ContainerPort(host_port=80), False),
        (core.ContainerPort(host_port=80, protocol="UDP"), True),
        (core.ContainerPort(host_port=81), True),
        (core.ContainerPort(host_port=80, host_ip="10.0.0.1"), False),  # the other has it on every address
        (core.ContainerPort(container_port=80), True),  # no host port at all
    ],
)
def test_a_host_port_can_be_used_once_on_a_node(port, fits):
    taken = pod("taken", node_name="n", containers=using(core.ContainerPort(host_port=80)))
    answer = decide(node("n"), taken, pod("p", containers=using(port)))
    assert nodes_of(answer)["p"] == ("n" if fits else "")
    if not fits:
        assert reasons_of(answer, "p") == {codes.HOST_PORT: "on the only node: host port 80/TCP is in use"}


def test_ports_of_different_addresses_do_not_collide():
    taken = pod("taken", node_name="n", containers=using(core.ContainerPort(host_port=80, host_ip="10.0.0.1")))
    assert (
        nodes_of(decide(node("n"), taken, pod("p", containers=using(core.ContainerPort(host_port=80, host_ip="10.0.0.2")))))["p"]
        == "n"
    )


def test_on_the_host_s_network_every_port_is_a_host_port():
    ports = using(core.ContainerPort(container_port=80))
    assert nodes_of(
        decide(node("n"), pod("a", containers=ports, host_network=True), pod("b", containers=ports, host_network=True))
    ) == {
        "a": "n",
        "b": "",
    }


# --- pods and pods ---------------------------------------------------------------------------------------------------------------


def zones(**zone_of: str) -> list[core.Node]:
    return [node(name, labels={HOSTNAME: name, ZONE: zone}) for name, zone in zone_of.items()]


def near(*terms: core.PodAffinityTerm) -> core.Affinity:
    return core.Affinity(pod_affinity=core.PodAffinity(required_during_scheduling_ignored_during_execution=terms))


def far(*terms: core.PodAffinityTerm) -> core.Affinity:
    return core.Affinity(pod_anti_affinity=core.PodAffinity(required_during_scheduling_ignored_during_execution=terms))


def term(key: str = ZONE, namespaces: tuple[str, ...] = (), namespace_selector: core.LabelSelector | None = None, **labels: str):
    return core.PodAffinityTerm(
        label_selector=selecting(**labels), topology_key=key, namespaces=namespaces, namespace_selector=namespace_selector
    )


def test_pod_affinity_asks_for_a_matching_pod_in_the_same_domain():
    there = pod("there", node_name="c", labels={"app": "db"})
    answer = decide(*zones(a="x", b="y", c="y"), there, pod("p", affinity=near(term(app="db"))))
    assert nodes_of(answer)["p"] == "b"


def test_the_first_of_pods_that_want_to_be_together_may_go_anywhere_where_the_label_is():
    group = [pod(f"p{index}", labels={"app": "db"}, affinity=near(term(app="db"))) for index in range(2)]
    answer = decide(node("a"), *zones(b="x", c="y"), *group)
    assert nodes_of(answer) == {"p0": "b", "p1": "b"}


def test_a_pod_that_wants_others_near_waits_for_them():
    answer = decide(*zones(a="x"), pod("p", affinity=near(term(app="db"))))
    assert reasons_of(answer, "p") == {codes.POD_AFFINITY: "on the only node: no pod that the pod wants to be near is there"}


def test_anti_affinity_works_both_ways():
    loner = pod("loner", labels={"app": "db"}, affinity=far(term(app="db"), term(app="web")))
    answer = decide(*zones(a="x", b="x"), loner, pod("db", labels={"app": "db"}), pod("web", labels={"app": "web"}), pod("other"))
    assert nodes_of(answer) == {"loner": "a", "db": "", "web": "", "other": "a"}
    assert reasons_of(answer, "web") == {codes.POD_AFFINITY: "on 2 of 2 nodes: a pod that is there wants the pod to be away"}


def test_affinity_concerns_the_pod_s_own_namespace_unless_it_names_others():
    there = pod("there", namespace="b", node_name="n", labels={"app": "db"})
    namespaces = [core.Namespace(metadata=ObjectMeta(name=name, labels={"team": name})) for name in ("a", "b")]
    asking = [
        pod("own", namespace="a", affinity=near(term(app="db"))),
        pod("named", namespace="a", affinity=near(term(namespaces=("b",), app="db"))),
        pod("selected", namespace="a", affinity=near(term(namespace_selector=selecting(team="b"), app="db"))),
        pod("all", namespace="a", affinity=near(term(namespace_selector=core.LabelSelector(), app="db"))),
    ]
    assert nodes_of(decide(*zones(n="x"), *namespaces, there, *asking)) == {
        "there": "n",
        "own": "",
        "named": "n",
        "selected": "n",
        "all": "n",
    }


def test_match_label_keys_narrow_the_selector_to_the_pod_s_own_value():
    keyed = core.PodAffinityTerm(label_selector=selecting(app="db"), topology_key=ZONE, match_label_keys=("version",))
    there = pod("there", node_name="a", labels={"app": "db", "version": "1"})
    one = pod("one", labels={"app": "db", "version": "1"}, affinity=far(keyed))
    two = pod("two", labels={"app": "db", "version": "2"}, affinity=far(keyed))
    assert nodes_of(decide(*zones(a="x"), there, one, two)) == {"there": "a", "one": "", "two": "a"}


def test_preferred_anti_affinity_spreads_pods():
    apart = core.WeightedPodAffinityTerm(100, term(HOSTNAME, app="web"))
    affinity = core.Affinity(pod_anti_affinity=core.PodAffinity(preferred_during_scheduling_ignored_during_execution=(apart,)))
    group = [pod(f"p{index}", labels={"app": "web"}, affinity=affinity) for index in range(3)]
    assert nodes_of(decide(*zones(a="x", b="x", c="x"), *group)) == {"p0": "a", "p1": "b", "p2": "c"}


# --- spread ----------------------------------------------------------------------------------------------------------------------


def spread(key: str = ZONE, when: str = "DoNotSchedule", **fields: object) -> tuple[core.TopologySpreadConstraint, ...]:
    options = {"max_skew": 1, "label_selector": selecting(app="web"), **fields}
    return (core.TopologySpreadConstraint(topology_key=key, when_unsatisfiable=when, **options),)  # type: ignore[arg-type]


def web(name: str, **fields: object) -> core.Pod:
    return pod(name, labels={"app": "web"}, **fields)


def test_a_hard_constraint_keeps_the_skew():
    group = [web(f"p{index}", topology_spread_constraints=spread()) for index in range(4)]
    full = pod("full", node_name="c", containers=(container(cpu="16"),))
    nodes = [node(name, labels={ZONE: zone}, has=LARGE) for name, zone in (("a", "x"), ("b", "x"), ("c", "y"))]
    asking = [web(f"p{index}", topology_spread_constraints=spread(), containers=(container(cpu="1"),)) for index in range(2)]
    assert nodes_of(decide(*zones(a="x", b="x", c="y"), *group)) == {"p0": "a", "p1": "c", "p2": "a", "p3": "c"}
    # Zone y has no room, so the second pod may go nowhere.
    answer = decide(*nodes, full, *asking)
    assert nodes_of(answer)["p1"] == ""
    assert set(reasons_of(answer, "p1")) == {codes.SPREAD, codes.NODE_RESOURCES}


def test_a_node_without_the_label_is_out():
    answer = decide(node("a"), web("p", topology_spread_constraints=spread()))
    assert reasons_of(answer, "p") == {codes.SPREAD: f"on the only node: the node has no label {ZONE}"}


def test_with_fewer_domains_than_min_domains_the_emptiest_counts_as_empty():
    group = [web(f"p{index}", topology_spread_constraints=spread(min_domains=2)) for index in range(2)]
    assert nodes_of(decide(*zones(a="x"), *group)) == {"p0": "a", "p1": ""}


def test_domains_that_the_pod_may_not_use_do_not_count_unless_the_constraint_says_so():
    # Zone y is out by the node selector: honoured, it is no domain; ignored, its emptiness forbids a second pod in zone x.
    def group(**fields: object) -> list[core.Pod]:
        return [web(f"p{index}", topology_spread_constraints=spread(**fields), node_selector={ZONE: "x"}) for index in range(2)]

    assert nodes_of(decide(*zones(a="x", b="y"), *group())) == {"p0": "a", "p1": "a"}
    assert nodes_of(decide(*zones(a="x", b="y"), *group(node_affinity_policy="Ignore"))) == {"p0": "a", "p1": ""}


def test_a_soft_constraint_prefers_the_emptier_domain():
    group = [web(f"p{index}", topology_spread_constraints=spread(when="ScheduleAnyway")) for index in range(3)]
    there = web("there", node_name="a")
    assert nodes_of(decide(*zones(a="x", b="x", c="y"), there, *group)) == {"there": "a", "p0": "c", "p1": "a", "p2": "c"}


def test_pods_that_are_being_deleted_are_not_counted_for_spreading():
    leaving = web("leaving", node_name="a", deleted="2026-01-01T00:00:00Z")
    assert nodes_of(decide(*zones(a="x", b="y"), leaving, web("p", topology_spread_constraints=spread())))["p"] == "a"


def test_pods_of_a_service_are_spread_although_they_do_not_ask_for_it():
    service = core.Service(metadata=ObjectMeta(name="web", namespace="default"), spec=core.ServiceSpec(selector={"app": "web"}))
    there = web("there", node_name="a")
    assert nodes_of(decide(*zones(a="x", b="y"), there, web("p")))["p"] == "a"
    assert nodes_of(decide(*zones(a="x", b="y"), service, there, web("p")))["p"] == "b"


# --- other ways to be refused ----------------------------------------------------------------------------------------------------


def test_a_feature_that_the_kubelet_must_have():
    rule = core.ContainerRestartRule(action="RestartAllContainers")
    asking = pod("p", containers=(core.Container(name="c", restart_policy_rules=(rule,)),))
    feature = "RestartAllContainersOnContainerExits"
    assert nodes_of(decide(node("a"), node("b", declared_features=(feature,)), asking)) == {"p": "b"}
    assert set(reasons_of(decide(node("a"), asking), "p")) == {codes.NODE_FEATURE}


def test_a_selector_that_cannot_be_parsed_fails_the_pod():
    broken = core.LabelSelector(match_expressions=(core.LabelSelectorRequirement("app", "In", ()),))
    answer = decide(node("a", labels={ZONE: "x"}), web("p", topology_spread_constraints=spread(label_selector=broken)))
    assert set(reasons_of(answer, "p")) == {codes.POD_SELECTOR}


def test_nothing_is_created_in_a_namespace_that_is_being_deleted():
    leaving = core.Namespace(metadata=ObjectMeta(name="default"), status=core.NamespaceStatus(phase="Terminating"))
    answer = decide(node("a"), leaving, pod("new"), pod("old", uid="u"))
    assert nodes_of(answer) == {"old": "a", "new": ""}
    assert set(reasons_of(answer, "new")) == {codes.NAMESPACE_DELETED}


def test_volumes_are_not_looked_at_and_that_is_said():
    volume = core.Volume(name="data", persistent_volume_claim={"claimName": "data"})
    answer = decide(node("a"), pod("p", volumes=(volume, core.Volume(name="scratch"))))
    assert [(note.code, note.object) for note in answer.notes if note.code == codes.VOLUMES] == [(codes.VOLUMES, "Pod/default/p")]


@pytest.mark.parametrize("fields, said", [({}, True), ({"preemption_policy": "Never"}, False), ({"priority": 0}, False)])
def test_that_a_pod_might_evict_others_is_said(fields, said):
    low = pod("low", node_name="n", containers=(container(cpu="16"),), priority=0)
    high = pod("high", containers=(container(cpu="1"),), **{"priority": 1000, **fields})
    answer = decide(node("n", has=LARGE), low, high)
    assert nodes_of(answer)["high"] == ""
    assert (codes.PREEMPTION in {note.code for note in answer.notes}) is said


def test_no_eviction_makes_a_small_node_larger():
    low = pod("low", node_name="n", containers=(container(cpu="16"),), priority=0)
    answer = decide(node("n", has=LARGE), low, pod("high", containers=(container(cpu="17"),), priority=1000))
    assert codes.PREEMPTION not in {note.code for note in answer.notes}


# --- large clusters --------------------------------------------------------------------------------------------------------------


def many(count: int) -> list[core.Node]:
    return [node(f"n{index:03d}", has=LARGE) for index in range(count)]


def test_the_next_search_begins_where_the_last_one_found_enough():
    # 150 nodes: 49 percent would be 73, so 100 are enough. p0 looks at n000 to n099 and stops at n100, where p1 begins; p1 stops at
    # n050, for it has 50 nodes to the end and 50 from the beginning.
    group = [pod(f"p{index}", containers=(container(cpu="1"),)) for index in range(3)]
    assert nodes_of(decide(*many(150), *group)) == {"p0": "n000", "p1": "n100", "p2": "n050"}


def test_with_all_nodes_the_search_always_begins_at_the_first():
    # n000 and n001 have a pod when p2 comes; of the others the walk through the heap meets n003 first, which is below n001.
    group = [pod(f"p{index}", containers=(container(cpu="1"),)) for index in range(3)]
    assert nodes_of(decide(*many(150), *group, sampling=Sampling(all_nodes=True))) == {"p0": "n000", "p1": "n001", "p2": "n003"}


def test_a_claim_or_template_that_nobody_uses_does_not_move_the_search():
    from unit.placement_objects import any_device_class, template

    group = [pod(f"p{index}", containers=(container(cpu="1"),)) for index in range(2)]
    assert nodes_of(decide(*many(150), any_device_class(), template("t"), *group))["p1"] == "n100"


# --- nominated nodes -------------------------------------------------------------------------------------------------------------


def nominated(name: str, where: str, **fields: object) -> core.Pod:
    return pod(name, status=core.PodStatus(nominated_node_name=where), **fields)


def test_a_nominated_node_is_taken_if_it_fits_however_good_others_are():
    busy = pod("busy", node_name="b", containers=(container(cpu="8"),))
    asking = nominated("p", "b", containers=(container(cpu="1"),))
    assert nodes_of(decide(node("a", has=LARGE), node("b", has=LARGE), busy, asking))["p"] == "b"


def test_a_pod_leaves_room_for_one_that_is_nominated_but_not_for_one_of_lower_priority():
    def group(priority: int) -> list[core.Pod]:
        gated = (core.PodSchedulingGate("wait"),)
        first = nominated("first", "n", containers=(container(cpu="12"),), scheduling_gates=gated, priority=5)
        return [first, pod("p", containers=(container(cpu="6"),), priority=priority)]

    assert nodes_of(decide(node("n", has=LARGE), *group(priority=0)))["p"] == ""
    # Of higher priority, it comes first.
    assert nodes_of(decide(node("n", has=LARGE), *group(priority=9)))["p"] == "n"


# --- workloads spread their pods -------------------------------------------------------------------------------------------------


def test_the_selector_of_a_workload_spreads_its_pods_also_of_a_replica_set_that_does_not_exist_yet():
    from reparto.model.carriers import Carrier
    from reparto.model.meta import OwnerReference

    value = {"metadata": {"name": "web"}, "spec": {"selector": {"matchLabels": {"app": "web"}}}}
    deployment = Carrier(value, "Deployment/default/web", "Deployment", "default", "web", "", 0, "apps/v1", ("spec.template",))
    owner = OwnerReference(api_version="apps/v1", kind="ReplicaSet", name="web-7d9f", controller=True)

    def replica(name: str, **fields: object) -> core.Pod:
        item = pod(name, labels={"app": "web", "pod-template-hash": "7d9f"}, **fields)
        return core.Pod(
            metadata=ObjectMeta(name=name, namespace="default", labels=item.metadata.labels, owner_references=(owner,)),
            spec=item.spec,
        )

    objects = [*zones(a="x", b="y"), replica("there", node_name="a"), replica("p")]
    without = make_plan(take_snapshot(objects), Features.for_version("1.37"))
    spread_out = make_plan(take_snapshot(objects, carriers=[deployment]), Features.for_version("1.37"))
    assert (nodes_of(without)["p"], nodes_of(spread_out)["p"]) == ("a", "b")
