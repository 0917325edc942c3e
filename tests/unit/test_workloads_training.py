"""PyTorchJob and its kin, MPIJob of both operators, TrainJob, Volcano's Job. Rules: the operators' sources."""

import pytest

from unit.workload_objects import expanded, messages, names, owners, pod_template, stems, workload

LABEL = "training.kubeflow.org/"


def training(kind: str, field: str, roles, **spec):
    return workload("kubeflow.org/v1", kind, {field: roles, **spec}, name="job")


def role(replicas: int | None = None, **spec):
    return {"template": pod_template(**spec), **({} if replicas is None else {"replicas": replicas})}


@pytest.mark.parametrize(
    ("kind", "field", "roles", "pods"),
    [
        (
            "PyTorchJob",
            "pytorchReplicaSpecs",
            {"Worker": role(2), "Master": role()},
            ["job-master-0", "job-worker-0", "job-worker-1"],
        ),
        (
            "TFJob",
            "tfReplicaSpecs",
            {"PS": role(1), "Worker": role(1), "Chief": role(1)},
            ["job-chief-0", "job-ps-0", "job-worker-0"],
        ),
        ("XGBoostJob", "xgbReplicaSpecs", {"Master": role(1), "Worker": role(1)}, ["job-master-0", "job-worker-0"]),
        ("PaddleJob", "paddleReplicaSpecs", {"Worker": role(2)}, ["job-worker-0", "job-worker-1"]),
        ("JAXJob", "jaxReplicaSpecs", {"Worker": role(2)}, ["job-worker-0", "job-worker-1"]),
    ],
)
def test_every_role_has_numbered_pods(kind: str, field: str, roles, pods):
    assert names(expanded(training(kind, field, roles))) == pods


def test_labels_say_role_and_index():
    found = expanded(training("PyTorchJob", "pytorchReplicaSpecs", {"Master": role(), "Worker": role(1)}))
    master, worker = ((pod.metadata.labels or {}) for pod in found.pods)
    assert {key.removeprefix(LABEL): value for key, value in master.items() if key.startswith(LABEL)} == {
        "job-name": "job",
        "operator-name": "pytorchjob-controller",
        "replica-type": "master",
        "replica-index": "0",
        "job-role": "master",
    }
    assert f"{LABEL}job-role" not in worker


def test_without_a_master_the_first_worker_leads():
    found = expanded(training("PyTorchJob", "pytorchReplicaSpecs", {"Worker": role(2)}))
    assert [(pod.metadata.labels or {}).get(f"{LABEL}job-role") for pod in found.pods] == ["master", None]


def test_pytorch_workers_wait_for_their_master():
    found = expanded(training("PyTorchJob", "pytorchReplicaSpecs", {"Master": role(), "Worker": role(1)}))
    assert [[each.name for each in pod.spec.init_containers] for pod in found.pods] == [[], ["init-pytorch"]]


def test_role_names_are_read_in_any_case():
    assert names(expanded(training("PyTorchJob", "pytorchReplicaSpecs", {"master": role(), "WORKER": role(1)}))) == [
        "job-master-0",
        "job-worker-0",
    ]


def test_a_suspended_job_has_no_pods():
    assert expanded(training("TFJob", "tfReplicaSpecs", {"Worker": role(2)}, runPolicy={"suspend": True})).pods == ()


# --- MPIJob -----------------------------------------------------------------------------------------------------------------------


def mpi(version: str, launcher, worker, **spec):
    return workload(
        f"kubeflow.org/{version}", "MPIJob", {"mpiReplicaSpecs": {"Launcher": launcher, "Worker": worker}, **spec}, name="mpi"
    )


def test_the_mpi_operators_launcher_is_a_job():
    found = expanded(mpi("v2beta1", role(1), role(2)))
    assert names(found)[:2] == ["mpi-worker-0", "mpi-worker-1"]
    assert stems(found)[2] == "mpi-launcher-"
    assert owners(found) == ["MPIJob/mpi", "MPIJob/mpi", "Job/mpi-launcher"]
    assert [(pod.metadata.labels or {})[f"{LABEL}job-role"] for pod in found.pods] == ["worker", "worker", "launcher"]


def test_a_launcher_that_works_too_is_number_zero():
    found = expanded(mpi("v2beta1", role(1), role(2), runLauncherAsWorker=True))
    assert [(pod.metadata.labels or {})[f"{LABEL}replica-index"] for pod in found.pods] == ["1", "2", "0"]


def test_the_training_operators_launcher_is_a_pod_with_an_init_container():
    found = expanded(mpi("v1", role(1), role(2)))
    assert names(found) == ["mpi-worker-0", "mpi-worker-1", "mpi-launcher"]
    assert [each.name for each in found.pods[2].spec.init_containers] == ["kubectl-delivery"]


def test_mpi_workers_without_replicas_are_none_and_that_is_said():
    found = expanded(mpi("v2beta1", role(), role()))
    assert stems(found) == ["mpi-launcher-"]
    assert "which means none" in messages(found)


# --- TrainJob ---------------------------------------------------------------------------------------------------------------------


def runtime(*jobs, kind: str = "ClusterTrainingRuntime", policy=None):
    spec = {"mlPolicy": policy or {"numNodes": 1, "torch": {}}, "template": {"spec": {"replicatedJobs": list(jobs)}}}
    return workload("trainer.kubeflow.org/v1alpha1", kind, spec, name="torch")


def node_job(name: str = "node", step: str = "trainer", **job):
    pod = {"containers": [{"name": "node", "resources": {"requests": {"cpu": "1"}}}]}
    return {
        "name": name,
        "template": {
            "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": step}},
            "spec": {"template": {"spec": pod}, **job},
        },
    }


def train_job(**spec):
    return workload("trainer.kubeflow.org/v1alpha1", "TrainJob", {"runtimeRef": {"name": "torch"}, **spec}, name="tune")


def test_a_train_job_is_a_job_set_of_its_runtime_with_its_own_number_of_nodes():
    found = expanded(runtime(node_job()), train_job(trainer={"numNodes": 3}))
    assert stems(found) == ["tune-node-0-0-", "tune-node-0-1-", "tune-node-0-2-"]
    assert set(owners(found)) == {"Job/tune-node-0"}


def test_the_runtimes_number_of_nodes_holds_where_the_job_names_none():
    assert len(expanded(runtime(node_job(), policy={"numNodes": 2}), train_job()).pods) == 2


def test_resources_per_node_are_merged_into_the_training_container():
    wanted = {"limits": {"nvidia.com/gpu": "4"}}
    (pod,) = expanded(runtime(node_job()), train_job(trainer={"resourcesPerNode": wanted})).pods
    resources = pod.spec.containers[0].resources
    assert (resources.requests, resources.limits) == ({"cpu": "1"}, {"nvidia.com/gpu": "4"})


def test_patches_of_the_runtime_reach_the_pods():
    patch = {
        "trainingRuntimeSpec": {
            "template": {
                "spec": {
                    "replicatedJobs": [{"name": "node", "template": {"spec": {"template": {"spec": {"nodeSelector": {"a": "b"}}}}}}]
                }
            }
        }
    }
    (pod,) = expanded(runtime(node_job()), train_job(runtimePatches=[patch])).pods
    assert pod.spec.node_selector == {"a": "b"}


def test_mpi_counts_the_launcher_as_a_node_where_the_policy_says_so():
    # 4 nodes: the launcher is one of them, so that node has three.
    policy = {"numNodes": 1, "mpi": {"runLauncherAsNode": True}}
    jobs = [node_job("launcher"), node_job("node", step="")]
    found = expanded(runtime(*jobs, policy=policy), train_job(trainer={"numNodes": 4}))
    assert stems(found) == ["tune-launcher-0-0-", "tune-node-0-0-", "tune-node-0-1-", "tune-node-0-2-"]


def test_a_namespaced_runtime_is_found_by_its_kind():
    found = expanded(
        runtime(node_job(), kind="TrainingRuntime"), train_job(runtimeRef={"name": "torch", "kind": "TrainingRuntime"})
    )
    assert len(found.pods) == 1


def test_a_runtime_that_is_missing_is_said():
    found = expanded(train_job())
    assert found.pods == ()
    assert "ClusterTrainingRuntime torch, which holds its pod templates, is not in the input" in messages(found)


def test_a_runtime_by_itself_makes_no_pods():
    assert expanded(runtime(node_job())).pods == ()


# --- Volcano ----------------------------------------------------------------------------------------------------------------------


def volcano(*tasks, **spec):
    return workload("batch.volcano.sh/v1alpha1", "Job", {"tasks": list(tasks), **spec}, name="vj")


def test_volcano_numbers_the_pods_of_each_task_and_schedules_them_itself():
    found = expanded(volcano({"name": "ps", **role(1)}, {"name": "worker", **role(2)}))
    assert names(found) == ["vj-ps-0", "vj-worker-0", "vj-worker-1"]
    assert {pod.spec.scheduler_name for pod in found.pods} == {"volcano"}
    assert (found.pods[2].metadata.labels or {})["volcano.sh/task-index"] == "1"


def test_volcano_takes_scheduler_and_priority_from_the_job_where_the_pod_has_none():
    own = role(1, schedulerName="mine", priorityClassName="low")
    found = expanded(
        volcano({"name": "a", **role(1)}, {"name": "b", **own}, schedulerName="default-scheduler", priorityClassName="high")
    )
    assert [(pod.spec.scheduler_name, pod.spec.priority_class_name) for pod in found.pods] == [
        ("default-scheduler", "high"),
        ("mine", "low"),
    ]


def test_a_task_without_a_name_is_called_default():
    assert names(expanded(volcano(role(1)))) == ["vj-default0-0"]


def test_volcanos_cron_job_is_planned_for_one_run():
    spec = {"schedule": "* * * * *", "jobTemplate": {"spec": {"tasks": [{"name": "a", **role(2)}]}}}
    found = expanded(workload("batch.volcano.sh/v1alpha1", "CronJob", spec, name="vc"))
    assert len(found.pods) == 2
