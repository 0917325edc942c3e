"""`--replicas KIND/NAME=N`: how it is written, and what it changes."""

import pytest

from reparto.placement.workloads import parse_replicas
from unit.workload_objects import expanded, names, pod_template, running, stems, workload

WEB = workload("apps/v1", "Deployment", {"replicas": 1, "template": pod_template()}, name="web")


@pytest.mark.parametrize(
    "text", ["Deployment/web=3", "deployment/web=3", "deployments/web=3", "deploy/web=3", "Deployment/ml/web=3"]
)
def test_the_kind_may_be_written_as_kubectl_takes_it(text: str):
    assert len(expanded(WEB, replicas=[text]).pods) == 3


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("web=3", "is not KIND/NAME=N"),
        ("Deployment/web", "is not KIND/NAME=N"),
        ("Deployment/web=x", "'x' is not a number of replicas"),
        ("Deployment/web=-1", "'-1' is not a number of replicas"),
        ("Deployment/web=", "'' is not a number of replicas"),
        ("Deployment/web=999999999", "more than 100000 replicas"),
        ("", "is not KIND/NAME=N"),
    ],
)
def test_what_is_wrong_is_said(text: str, says: str):
    with pytest.raises(ValueError, match=r"replicas|KIND") as error:
        parse_replicas([text])
    assert says in str(error.value)


def test_the_last_one_wins():
    assert len(expanded(WEB, replicas=["Deployment/web=3", "Deployment/web=2"]).pods) == 2


def test_none_is_a_number():
    assert expanded(WEB, replicas=["Deployment/web=0"]).pods == ()


def test_one_that_names_nothing_is_said_with_what_is_near():
    found = expanded(WEB, replicas=["Deployment/wep=3"])
    assert found.unused == ("--replicas Deployment/wep=3: no workload of this name has replicas; did you mean Deployment/web?",)


def test_a_namespace_that_is_given_must_be_the_objects():
    found = expanded(WEB, replicas=["Deployment/other/web=3"])
    assert len(found.pods) == 1 and len(found.unused) == 1


def test_of_a_job_it_is_the_pods_at_once():
    job = workload("batch/v1", "Job", {"template": pod_template()}, name="train")
    assert len(expanded(job, replicas=["Job/train=4"]).pods) == 4


def test_of_a_job_set_it_is_a_role():
    def group(name: str):
        return {"name": name, "template": {"spec": {"template": pod_template()}}}

    item = workload("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": [group("a"), group("b")]}, name="js")
    assert len(expanded(item, replicas=["JobSet/js:b=3"]).pods) == 1 + 3
    assert len(expanded(item, replicas=["JobSet/js=3"]).unused) == 1


def test_of_a_ray_cluster_it_is_the_only_group_or_a_role():
    def cluster(*groups: str):
        workers = [{"groupName": group, "replicas": 1, "template": pod_template()} for group in groups]
        spec = {"headGroupSpec": {"template": pod_template()}, "workerGroupSpecs": workers}
        return workload("ray.io/v1", "RayCluster", spec, name="ray")

    assert len(expanded(cluster("a"), replicas=["RayCluster/ray=4"]).pods) == 1 + 4
    assert len(expanded(cluster("a", "b"), replicas=["RayCluster/ray:b=4"]).pods) == 1 + 1 + 4


def test_of_a_training_job_it_is_its_workers():
    roles = {"Master": {"template": pod_template()}, "Worker": {"template": pod_template()}}
    item = workload("kubeflow.org/v1", "PyTorchJob", {"pytorchReplicaSpecs": roles}, name="job")
    assert names(expanded(item, replicas=["PyTorchJob/job=2"])) == ["job-master-0", "job-worker-0", "job-worker-1"]


def test_it_reaches_what_a_controller_makes():
    spec = {"predictor": {"containers": [{"name": "c"}]}}
    item = workload("serving.kserve.io/v1beta1", "InferenceService", spec, name="bert")
    assert len(expanded(item, replicas=["isvc/bert=2"]).pods) == 2
    assert len(expanded(item, replicas=["Deployment/bert-predictor=3"]).pods) == 3


def test_pods_that_exist_count():
    owner = [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "uid": "u", "controller": True}]
    item = workload("apps/v1", "StatefulSet", {"template": pod_template()}, name="db", uid="u")
    assert names(expanded(item, running("db-0", owner), replicas=["sts/db=3"])) == ["db-1", "db-2"]


def test_names_of_the_first_pods_stay():
    assert stems(expanded(WEB, replicas=["Deployment/web=5"]))[0] == stems(expanded(WEB))[0]
    assert names(expanded(WEB, replicas=["Deployment/web=5"]))[0] == names(expanded(WEB))[0]
