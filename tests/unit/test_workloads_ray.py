"""RayCluster, RayJob, RayService. Rules: kuberay, common/pod.go and utils/util.go."""

import pytest

from unit.workload_objects import expanded, messages, owned, owners, pod_template, running, stems, workload


def group(name: str = "gpu", **more):
    return {"groupName": name, "rayStartParams": {}, "template": pod_template(), **more}


def cluster_spec(*groups, **more):
    return {"headGroupSpec": {"rayStartParams": {}, "template": pod_template()}, "workerGroupSpecs": list(groups), **more}


def cluster(*groups, **more):
    return workload("ray.io/v1", "RayCluster", cluster_spec(*groups, **more), name="ray")


def test_a_cluster_is_a_head_and_its_groups():
    found = expanded(cluster(group("small", replicas=1), group("big", replicas=2)))
    assert stems(found) == ["ray-head-", "ray-small-worker-", "ray-big-worker-", "ray-big-worker-"]
    assert set(owners(found)) == {"RayCluster/ray"}


def test_several_hosts_make_one_replica():
    assert len(expanded(cluster(group(replicas=2, numOfHosts=4))).pods) == 1 + 2 * 4


@pytest.mark.parametrize(
    ("numbers", "workers"),
    [
        ({"replicas": 1, "minReplicas": 2}, 2),
        ({"replicas": 9, "maxReplicas": 3}, 3),
        ({"minReplicas": 2}, 2),
        ({"replicas": 3, "suspend": True}, 0),
    ],
)
def test_replicas_stay_within_bounds(numbers, workers: int):
    assert len(expanded(cluster(group(**numbers))).pods) == 1 + workers


def test_absent_replicas_are_none_and_that_is_said():
    # KubeRay's CRD defaults replicas to 0, unlike Kubernetes' own workloads.
    found = expanded(cluster(group()))
    assert stems(found) == ["ray-head-"]
    assert "spec.workerGroupSpecs[0].replicas is absent, which means none" in messages(found)


def test_pods_are_labelled_with_cluster_type_and_group():
    found = expanded(cluster(group(replicas=1)))
    kept = ("ray.io/cluster", "ray.io/node-type", "ray.io/group")
    assert [tuple((pod.metadata.labels or {})[key] for key in kept) for pod in found.pods] == [
        ("ray", "head", "headgroup"),
        ("ray", "worker", "gpu"),
    ]


def test_workers_wait_for_the_head_in_an_init_container():
    found = expanded(cluster(group(replicas=1)))
    head, worker = found.pods
    assert head.spec.init_containers == ()
    assert [each.resources.requests for each in worker.spec.init_containers] == [{"cpu": "200m", "memory": "256Mi"}]


def test_a_cluster_that_scales_itself_has_the_autoscaler_beside_the_head():
    found = expanded(cluster(group(replicas=1), enableInTreeAutoscaling=True))
    assert [each.name for each in found.pods[0].spec.containers] == ["c", "autoscaler"]
    assert found.pods[0].spec.containers[1].resources.requests == {"cpu": "500m", "memory": "512Mi"}
    assert "enableInTreeAutoscaling" in messages(found)


def test_pods_that_exist_are_counted_by_group():
    def pod(name: str, node_type: str, of: str):
        labels = {"ray.io/node-type": node_type, "ray.io/group": of}
        return running(name, owned("RayCluster", "ray", api_version="ray.io/v1"), labels=labels)

    exist = [pod("h", "head", "headgroup"), pod("w", "worker", "gpu")]
    assert stems(expanded(cluster(group(replicas=2)), *exist)) == ["ray-gpu-worker-"]


def test_a_suspended_cluster_has_no_pods():
    assert expanded(cluster(group(replicas=2), suspend=True)).pods == ()


def ray_job(status=None, **spec):
    body = {"entrypoint": "python x.py", "rayClusterSpec": cluster_spec(group(replicas=1)), **spec}
    return workload("ray.io/v1", "RayJob", body, name="tune", status=status)


def test_a_ray_job_makes_a_cluster_with_a_drawn_name_and_a_job_that_submits():
    found = expanded(ray_job())
    head, worker, submitter = found.pods
    assert head.metadata.owner_references[0].name[:-5] == "tune-"
    assert worker.metadata.owner_references == head.metadata.owner_references
    assert owners(found)[2] == "Job/tune"
    # KubeRay's default submitter: 500m and 200Mi.
    assert submitter.spec.containers[0].resources.requests == {"cpu": "500m", "memory": "200Mi"}
    assert "starts when the cluster is ready" in messages(found)


def test_the_clusters_name_is_known_from_the_status():
    found = expanded(ray_job(status={"rayClusterName": "tune-abcde"}, submissionMode="HTTPMode"))
    assert owners(found) == ["RayCluster/tune-abcde"] * 2


def test_a_ray_job_on_a_cluster_that_exists_is_its_submitter_alone():
    found = expanded(ray_job(clusterSelector={"ray.io/cluster": "shared"}))
    assert owners(found) == ["Job/tune"]


@pytest.mark.parametrize(("spec", "status"), [({"suspend": True}, None), ({}, {"jobDeploymentStatus": "Complete"})])
def test_a_suspended_or_complete_ray_job_has_no_pods(spec, status):
    assert expanded(ray_job(status, **spec)).pods == ()


def test_a_ray_service_makes_a_cluster():
    service = workload("ray.io/v1", "RayService", {"rayClusterConfig": cluster_spec(group(replicas=2))}, name="serve")
    found = expanded(service)
    assert len(found.pods) == 3
    assert {name.removeprefix("RayCluster/")[:-5] for name in owners(found)} == {"serve-"}


def test_a_ray_services_cluster_of_the_input_is_its_cluster():
    service = workload("ray.io/v1", "RayService", {"rayClusterConfig": cluster_spec(group(replicas=1))}, name="serve")
    made = workload(
        "ray.io/v1", "RayCluster", cluster_spec(group(replicas=1)), name="serve-abcde", ownerReferences=owned("RayService", "serve")
    )
    assert owners(expanded(service, made)) == ["RayCluster/serve-abcde"] * 2


def test_a_ray_cron_job_is_planned_for_one_run():
    body = {"schedule": "0 0 * * *", "jobTemplate": {"submissionMode": "HTTPMode", "rayClusterSpec": cluster_spec()}}
    assert len(expanded(workload("ray.io/v1", "RayCronJob", body, name="nightly")).pods) == 1
