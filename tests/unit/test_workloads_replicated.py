"""Deployments, ReplicaSets, ReplicationControllers, Rollouts: so many pods alike. Rules: pkg/controller/{deployment,replicaset}."""

import re

import pytest

from unit.workload_objects import expanded, messages, names, owned, owners, pod_template, running, stems, workload

SELECTOR = {"matchLabels": {"app": "x"}}


def deployment(replicas: int | None = 3, **more):
    spec = {"selector": SELECTOR, "template": pod_template(), **({} if replicas is None else {"replicas": replicas}), **more}
    return workload("apps/v1", "Deployment", spec, name="web", uid="uid-of-web")


def replica_set(name: str = "web-7b9c", digest: str = "7b9c", **metadata):
    template = pod_template(labels={"app": "x", "pod-template-hash": digest})
    spec = {"replicas": 2, "selector": SELECTOR, "template": template}
    return workload("apps/v1", "ReplicaSet", spec, name=name, uid=f"uid-of-{name}", **metadata)


def test_a_deployments_pods_are_those_of_one_replica_set_named_with_a_hash_of_the_template():
    found = expanded(deployment(3))
    # NAME-HASH-xxxxx, as kubectl shows them; the hash is also the label pod-template-hash, which spreading may use.
    assert len(found.pods) == 3
    (owner,) = set(owners(found))
    digest = owner.removeprefix("ReplicaSet/web-")
    assert re.fullmatch(r"[bcdfghjklmnpqrstvwxz2456789]{1,10}", digest)
    assert stems(found) == [f"web-{digest}-"] * 3
    assert all(pod.metadata.labels == {"app": "x", "pod-template-hash": digest} for pod in found.pods)


def test_names_are_the_same_on_every_run_and_change_with_the_template():
    first, again = names(expanded(deployment(2))), names(expanded(deployment(2)))
    other = names(expanded(deployment(2, template=pod_template(priorityClassName="high"))))
    assert first == again
    assert not set(first) & set(other)


def test_growing_keeps_the_names_of_the_first_pods():
    assert names(expanded(deployment(4)))[:2] == names(expanded(deployment(2)))


def test_absent_replicas_are_one():
    assert len(expanded(deployment(None)).pods) == 1


def test_no_replicas_are_none():
    assert expanded(deployment(0)).pods == ()


def test_pods_of_a_deployments_replica_set_are_not_made_twice():
    # Two of three run already: one is missing, and it belongs to the ReplicaSet that has the same template.
    digest = {"app": "x", "pod-template-hash": "7b9c"}
    exist = [running(f"web-7b9c-{n}", owned("ReplicaSet", "web-7b9c"), labels=digest) for n in ("aaaaa", "bbbbb")]
    found = expanded(deployment(3), replica_set(ownerReferences=owned("Deployment", "web")), *exist)
    assert stems(found) == ["web-7b9c-"]
    assert found.pods[0].metadata.owner_references[0].uid == "uid-of-web-7b9c"


def test_pods_are_recognised_where_the_replica_set_is_not_in_the_input():
    # Its name is DEPLOYMENT-HASH, and the pod's label says the hash.
    labels = {"app": "x", "pod-template-hash": "7b9c"}
    exist = [running(f"web-7b9c-{n}", owned("ReplicaSet", "web-7b9c"), labels=labels) for n in ("aaaaa", "bbbbb")]
    assert len(expanded(deployment(3), *exist).pods) == 1


def test_pods_of_another_deployment_with_a_longer_name_do_not_count():
    # web-api-7b9c is of Deployment web-api, not of web.
    labels = {"app": "x", "pod-template-hash": "7b9c"}
    other = running("web-api-7b9c-aaaaa", owned("ReplicaSet", "web-api-7b9c"), labels=labels)
    assert len(expanded(deployment(1), other).pods) == 1


def test_owners_are_recognised_by_name_where_uids_were_trimmed():
    trimmed = [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-7b9c"}]
    pod = running("web-7b9c-aaaaa", trimmed, labels={"pod-template-hash": "7b9c"})
    assert expanded(deployment(1), pod).pods == ()


def test_pods_of_an_earlier_object_of_the_same_name_do_not_count():
    # Another uid: the ReplicaSet was deleted and made again; the garbage collector takes its pods.
    pod = running("alone-aaaaa", owned("ReplicaSet", "alone", "uid-of-an-earlier-one"))
    assert len(expanded(replica_set("alone"), pod).pods) == 2


def test_finished_pods_and_pods_being_deleted_are_replaced():
    finished = running("alone-aaaaa", owned("ReplicaSet", "alone"), phase="Failed")
    deleted = running("alone-bbbbb", owned("ReplicaSet", "alone"), deletionTimestamp="2026-01-01T00:00:00Z")
    assert stems(expanded(replica_set("alone"), finished, deleted)) == ["alone-", "alone-"]


def test_a_replica_set_adopts_pods_that_its_selector_selects():
    orphan = running("by-hand", labels={"app": "x"})
    assert len(expanded(replica_set("alone"), orphan).pods) == 1


def test_a_deployment_does_not_adopt_a_pod_without_the_hash():
    assert len(expanded(deployment(1), running("by-hand", labels={"app": "x"})).pods) == 1


def test_a_replica_set_of_a_deployment_in_the_input_is_not_expanded_by_itself():
    # An old revision, scaled down by the Deployment: what counts is the Deployment.
    old = replica_set("web-old", "old", ownerReferences=owned("Deployment", "web"))
    assert len(expanded(deployment(2), old).pods) == 2


def test_a_replica_set_whose_deployment_is_not_in_the_input_is():
    assert len(expanded(replica_set(ownerReferences=owned("Deployment", "elsewhere"))).pods) == 2


def test_more_pods_than_replicas_are_said():
    labels = {"pod-template-hash": "h"}
    exist = [running(f"web-h-{n}", owned("ReplicaSet", "web-h"), labels=labels) for n in ("aaaaa", "bbbbb")]
    found = expanded(deployment(1), *exist)
    assert found.pods == ()
    assert "2 of its pods exist and 1 are wanted" in messages(found)


def test_a_replication_controller_selects_by_the_labels_of_its_template():
    controller = workload("v1", "ReplicationController", {"replicas": 2, "template": pod_template()}, name="old")
    found = expanded(controller, running("by-hand", labels={"app": "x"}))
    assert stems(found) == ["old-"]
    assert owners(found) == ["ReplicationController/old"]


def test_an_argo_rollout_labels_its_pods_with_its_own_hash():
    found = expanded(workload("argoproj.io/v1alpha1", "Rollout", {"replicas": 1, "template": pod_template()}, name="r"))
    labels = found.pods[0].metadata.labels
    assert labels is not None and set(labels) == {"app", "rollouts-pod-template-hash"}


def test_claims_and_everything_that_the_scheduler_sees_come_from_the_template():
    template = pod_template(
        labels={"app": "x"},
        resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}],
        containers=[
            {
                "name": "c",
                "resources": {"claims": [{"name": "gpu"}], "requests": {"cpu": "2"}},
                "ports": [{"hostPort": 80, "containerPort": 80}],
            }
        ],
        schedulerName="other",
        priorityClassName="high",
        tolerations=[{"key": "nvidia.com/gpu", "operator": "Exists"}],
        nodeSelector={"gpu": "yes"},
    )
    (pod,) = expanded(deployment(1, template=template)).pods
    assert pod.spec.resource_claims[0].resource_claim_template_name == "one-gpu"
    assert pod.spec.containers[0].resources.requests == {"cpu": "2"}
    assert (pod.spec.scheduler_name, pod.spec.priority_class_name) == ("other", "high")
    assert pod.spec.node_selector == {"gpu": "yes"}
    assert pod.spec.tolerations[0].key == "nvidia.com/gpu"


@pytest.mark.parametrize("paused", [True, False])
def test_a_paused_deployment_is_planned_as_if_it_went_on_and_that_is_said(paused: bool):
    found = expanded(deployment(1, paused=paused))
    assert len(found.pods) == 1
    assert ("paused" in messages(found)) is paused


def test_a_rollout_that_takes_over_a_deployment_is_planned_as_the_deployment():
    rollout = workload("argoproj.io/v1alpha1", "Rollout", {"workloadRef": {"kind": "Deployment", "name": "web"}}, name="r")
    found = expanded(deployment(2), rollout)
    assert len(found.pods) == 2 and "runs the pods of Deployment web" in messages(found)


def test_a_workload_that_is_being_deleted_makes_no_pods():
    leaving = deployment(2)
    leaving["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    assert expanded(leaving).pods == ()
