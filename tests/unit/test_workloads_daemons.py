"""DaemonSets: on which nodes, with which affinity and tolerations. Rules: pkg/controller/daemon (NodeShouldRunDaemonPod)."""

from reparto.model.core import Taint
from unit.placement_objects import node
from unit.workload_objects import expanded, messages, owned, pod_template, running, stems, workload

NODES = [node("a", labels={"gpu": "yes"}), node("b"), node("c", labels={"gpu": "yes"}, unschedulable=True)]


def daemon_set(**spec):
    return workload(
        "apps/v1", "DaemonSet", {"selector": {"matchLabels": {"app": "x"}}, "template": pod_template(**spec)}, name="agent"
    )


def targets(found) -> list[str]:
    """The one node that each pod's affinity allows."""
    terms = [
        pod.spec.affinity.node_affinity.required_during_scheduling_ignored_during_execution.node_selector_terms
        for pod in found.pods
    ]
    assert all(len(each) == 1 and len(each[0].match_fields) == 1 and not each[0].match_expressions for each in terms)
    assert all((each[0].match_fields[0].key, each[0].match_fields[0].operator) == ("metadata.name", "In") for each in terms)
    return [each[0].match_fields[0].values[0] for each in terms]


def test_every_node_has_one_pod_cordoned_nodes_too():
    found = expanded(daemon_set(), nodes=NODES)
    assert targets(found) == ["a", "b", "c"]
    assert stems(found) == ["agent-"] * 3


def test_a_node_selector_limits_the_nodes():
    assert targets(expanded(daemon_set(nodeSelector={"gpu": "yes"}), nodes=NODES)) == ["a", "c"]


def test_required_affinity_limits_the_nodes_and_is_replaced_preferred_affinity_is_kept():
    required = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "gpu", "operator": "DoesNotExist"}]}]}
    preferred = [{"weight": 1, "preference": {"matchExpressions": [{"key": "fast", "operator": "Exists"}]}}]
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": required,
            "preferredDuringSchedulingIgnoredDuringExecution": preferred,
        }
    }
    found = expanded(daemon_set(affinity=affinity), nodes=NODES)
    assert targets(found) == ["b"]
    assert len(found.pods[0].spec.affinity.node_affinity.preferred_during_scheduling_ignored_during_execution) == 1


def test_taints_keep_it_away_unless_it_tolerates_them():
    tainted = [node("a", taints=(Taint(key="nvidia.com/gpu", effect="NoSchedule"),)), node("b")]
    assert targets(expanded(daemon_set(), nodes=tainted)) == ["b"]
    tolerant = daemon_set(tolerations=[{"key": "nvidia.com/gpu", "operator": "Exists"}])
    assert targets(expanded(tolerant, nodes=tainted)) == ["a", "b"]


def test_it_stays_on_nodes_in_trouble():
    # The six tolerations that the controller adds; network-unavailable only for pods on the host's network.
    keys = ["disk-pressure", "memory-pressure", "not-ready", "pid-pressure", "unreachable", "unschedulable"]
    (pod,) = expanded(daemon_set(), nodes=[node("a")]).pods
    assert sorted(each.key for each in pod.spec.tolerations) == [f"node.kubernetes.io/{key}" for key in keys]
    assert all(each.operator == "Exists" for each in pod.spec.tolerations)
    (pod,) = expanded(daemon_set(hostNetwork=True), nodes=[node("a")]).pods
    assert len(pod.spec.tolerations) == 7


def test_nodes_that_have_a_pod_or_one_on_its_way_get_no_second():
    pending = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "agent-zzzzz", "namespace": "ml", "ownerReferences": owned("DaemonSet", "agent")},
        "spec": {
            "containers": [{"name": "c"}],
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}]
                    }
                }
            },
        },
    }
    found = expanded(daemon_set(), running("agent-yyyyy", owned("DaemonSet", "agent"), node="a"), pending, nodes=NODES)
    assert targets(found) == ["c"]


def test_without_nodes_it_has_no_pods_and_that_is_said():
    found = expanded(daemon_set())
    assert found.pods == ()
    assert "no node in the input" in messages(found)


def test_a_failed_pod_is_replaced():
    failed = running("agent-yyyyy", owned("DaemonSet", "agent"), node="a", phase="Failed")
    assert targets(expanded(daemon_set(), failed, nodes=NODES)) == ["a", "b", "c"]
