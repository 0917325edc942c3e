"""JobSets and LeaderWorkerSets: groups, names, labels, exclusive placement. Rules: jobset_controller.go; lws pod_webhook.go."""

import hashlib

from unit.workload_objects import expanded, messages, names, owners, pod_template, stems, workload

INDEX = "batch.kubernetes.io/job-completion-index"
JOBSET, LWS = "jobset.sigs.k8s.io/", "leaderworkerset.sigs.k8s.io/"


def replicated_job(name: str, replicas: int | None = None, **job):
    template = {"spec": {"template": pod_template(), **job}}
    return {"name": name, "template": template, **({} if replicas is None else {"replicas": replicas})}


def job_set(*jobs, annotations=None, status=None, **spec):
    about = {"annotations": annotations} if annotations else {}
    return workload("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": list(jobs), **spec}, name="js", status=status, **about)


def test_a_job_sets_jobs_are_named_after_group_and_index_and_are_indexed():
    found = expanded(job_set(replicated_job("driver"), replicated_job("workers", 2, parallelism=2, completions=2)))
    # driver: replicas absent is 1, and neither parallelism nor completions is one pod.
    assert owners(found) == ["Job/js-driver-0", *["Job/js-workers-0"] * 2, *["Job/js-workers-1"] * 2]
    assert stems(found) == ["js-driver-0-0-", "js-workers-0-0-", "js-workers-0-1-", "js-workers-1-0-", "js-workers-1-1-"]


def test_a_job_set_labels_its_pods_with_their_place():
    found = expanded(job_set(replicated_job("driver"), replicated_job("workers", 2)))
    labels = found.pods[2].metadata.labels or {}
    assert {key.removeprefix(JOBSET): labels[key] for key in labels if key.startswith(JOBSET)} == {
        "jobset-name": "js",
        "jobset-uid": labels[f"{JOBSET}jobset-uid"],
        "replicatedjob-name": "workers",
        "restart-attempt": "0",
        "replicatedjob-replicas": "2",
        "global-replicas": "3",  # 1 driver and 2 workers
        "job-index": "1",
        "job-key": hashlib.sha1(b"ml/js-workers-1").hexdigest(),
        "job-global-index": "2",
        "group-name": "default",
        "group-replicas": "3",
        "job-group-index": "2",
    }
    assert labels["job-name"] == "js-workers-1"
    assert labels[INDEX] == "0"


def test_a_suspended_or_finished_job_set_has_no_pods():
    assert expanded(job_set(replicated_job("a"), suspend=True)).pods == ()
    assert expanded(job_set(replicated_job("a"), status={"conditions": [{"type": "Completed", "status": "True"}]})).pods == ()


def test_jobs_that_start_later_are_planned_and_that_is_said():
    in_order = expanded(job_set(replicated_job("a"), replicated_job("b"), startupPolicy={"startupPolicyOrder": "InOrder"}))
    assert len(in_order.pods) == 2 and "InOrder" in messages(in_order)
    second = {**replicated_job("b"), "dependsOn": [{"name": "a", "status": "Complete"}]}
    depends = expanded(job_set(replicated_job("a"), second))
    assert len(depends.pods) == 2 and "starts when a is complete" in messages(depends)


def test_exclusive_placement_keeps_jobs_apart_by_topology():
    found = expanded(job_set(replicated_job("w", 2), annotations={"alpha.jobset.sigs.k8s.io/exclusive-topology": "rack"}))
    for pod in found.pods:
        key = (pod.metadata.labels or {})[f"{JOBSET}job-key"]
        (near,) = pod.spec.affinity.pod_affinity.required_during_scheduling_ignored_during_execution
        (far,) = pod.spec.affinity.pod_anti_affinity.required_during_scheduling_ignored_during_execution
        assert near.topology_key == far.topology_key == "rack"
        assert [(each.operator, each.values) for each in near.label_selector.match_expressions] == [("In", (key,))]
        assert [(each.operator, each.values) for each in far.label_selector.match_expressions] == [
            ("Exists", ()),
            ("NotIn", (key,)),
        ]


def test_exclusive_placement_by_node_selector_uses_labels_that_an_administrator_sets():
    marks = {"alpha.jobset.sigs.k8s.io/exclusive-topology": "rack", "alpha.jobset.sigs.k8s.io/node-selector": "true"}
    (pod,) = expanded(job_set(replicated_job("w"), annotations=marks)).pods
    assert pod.spec.node_selector == {"alpha.jobset.sigs.k8s.io/namespaced-job": "ml_js-w-0"}
    assert [each.key for each in pod.spec.tolerations] == ["alpha.jobset.sigs.k8s.io/no-schedule"]
    assert pod.spec.affinity is None


# --- LeaderWorkerSets -------------------------------------------------------------------------------------------------------------


def leader_worker_set(annotations=None, leader=None, **spec):
    templates = {"size": spec.pop("size", None), "workerTemplate": pod_template(), **({"leaderTemplate": leader} if leader else {})}
    templates = {key: value for key, value in {**templates, **spec.pop("templates", {})}.items() if value is not None}
    about = {"annotations": annotations} if annotations else {}
    return workload(
        "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", {**spec, "leaderWorkerTemplate": templates}, name="llm", **about
    )


def test_groups_have_a_leader_and_numbered_workers_leaders_come_first():
    found = expanded(leader_worker_set(replicas=2, size=3))
    assert names(found) == ["llm-0", "llm-1", "llm-0-1", "llm-0-2", "llm-1-1", "llm-1-2"]
    # Leaders are pods of the StatefulSet of the set's name, workers of one per group.
    assert owners(found) == ["StatefulSet/llm"] * 2 + ["StatefulSet/llm-0"] * 2 + ["StatefulSet/llm-1"] * 2


def test_replicas_and_size_are_one_by_default():
    assert names(expanded(leader_worker_set())) == ["llm-0"]


def test_the_leader_has_its_own_template_where_there_is_one():
    leader = pod_template(schedulerName="for-leaders")
    found = expanded(leader_worker_set(size=2, leader=leader))
    assert [pod.spec.scheduler_name for pod in found.pods] == ["for-leaders", ""]


def test_pods_know_their_group():
    found = expanded(leader_worker_set(replicas=2, size=2))
    group = {key: [(pod.metadata.labels or {})[f"{LWS}{key}"] for pod in found.pods] for key in ("group-index", "worker-index")}
    assert group == {"group-index": ["0", "1", "0", "1"], "worker-index": ["0", "0", "1", "1"]}
    key = [(pod.metadata.labels or {})[f"{LWS}group-key"] for pod in found.pods]
    assert key == [hashlib.sha1(f"ml/llm-{number}".encode()).hexdigest() for number in (0, 1, 0, 1)]
    assert [(pod.metadata.annotations or {})[f"{LWS}size"] for pod in found.pods] == ["2"] * 4


def test_an_exclusive_topology_holds_a_group_together():
    found = expanded(leader_worker_set(annotations={f"{LWS}exclusive-topology": "rack"}, size=2))
    leader, worker = found.pods
    assert leader.spec.affinity.pod_anti_affinity is not None
    (near,) = worker.spec.affinity.pod_affinity.required_during_scheduling_ignored_during_execution
    assert near.topology_key == "rack"
    assert worker.spec.affinity.pod_anti_affinity is None


def test_subgroups_split_a_group():
    # size 4 in subgroups of 2: leader and worker 1 are subgroup 0, workers 2 and 3 are subgroup 1.
    found = expanded(leader_worker_set(size=4, templates={"subGroupPolicy": {"subGroupSize": 2}}))
    assert [(pod.metadata.labels or {})[f"{LWS}subgroup-index"] for pod in found.pods] == ["0", "0", "1", "1"]
    # size 5 in subgroups of 2: the leader is extra, workers 1 and 2 are subgroup 0, 3 and 4 subgroup 1.
    found = expanded(leader_worker_set(size=5, templates={"subGroupPolicy": {"subGroupSize": 2}}))
    assert [(pod.metadata.labels or {})[f"{LWS}subgroup-index"] for pod in found.pods] == ["0", "0", "0", "1", "1"]
