"""SparkApplications and FlinkDeployments: how many pods, how large. Rules: spark-operator and Spark 3.5; Flink's native mode."""

import pytest

from unit.workload_objects import expanded, messages, names, owned, pod_template, running, workload


def spark(driver=None, executor=None, status=None, **spec):
    body = {"type": "Scala", "driver": driver or {}, "executor": executor or {}, **spec}
    return workload("sparkoperator.k8s.io/v1beta2", "SparkApplication", body, name="pi", status=status)


def test_a_driver_and_its_executors():
    found = names(expanded(spark(executor={"instances": 3})))
    assert found[0] == "pi-driver"
    # Spark numbers executors from 1, after a prefix that it draws.
    prefix = found[1].removesuffix("-exec-1")
    assert prefix.startswith("pi-")
    assert found[1:] == [f"{prefix}-exec-{number}" for number in (1, 2, 3)]


def test_executors_are_two_where_nobody_says_how_many():
    assert len(expanded(spark()).pods) == 1 + 2


@pytest.mark.parametrize(
    ("role", "kind", "requests"),
    [
        ({}, "Scala", {"cpu": "1", "memory": "1408Mi"}),  # 1 GiB and the least overhead: 1024 + 384
        ({"cores": 4, "memory": "8g"}, "Scala", {"cpu": "4", "memory": "9011Mi"}),  # 8192 + a tenth, rounded down: 819
        ({"memory": "8g"}, "Python", {"cpu": "1", "memory": "11468Mi"}),  # 8192 + 0.4 × 8192 = 3276
        ({"memory": "512m", "memoryOverhead": "128m", "coreRequest": "500m"}, "Java", {"cpu": "500m", "memory": "640Mi"}),
    ],
)
def test_size_is_cores_and_memory_with_its_overhead(role, kind: str, requests):
    found = expanded(spark(driver=role, type=kind))
    assert found.pods[0].spec.containers[0].resources.requests == requests


def test_gpus_become_limits():
    found = expanded(spark(executor={"instances": 1, "gpu": {"name": "nvidia.com/gpu", "quantity": 2}}))
    assert (found.pods[1].spec.containers[0].resources.limits or {})["nvidia.com/gpu"] == "2"


def test_pod_templates_of_the_roles_are_used():
    template = pod_template(resourceClaims=[{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}])
    found = expanded(spark(executor={"instances": 1, "template": template}))
    assert found.pods[1].spec.resource_claims[0].resource_claim_template_name == "one-gpu"


def test_dynamic_allocation_starts_with_its_initial_number():
    found = expanded(spark(dynamicAllocation={"enabled": True, "initialExecutors": 4, "minExecutors": 1}))
    assert len(found.pods) == 1 + 4 and "with its load" in messages(found)


def test_an_application_that_ended_has_no_pods():
    assert expanded(spark(status={"applicationState": {"state": "COMPLETED"}})).pods == ()


def test_executors_belong_to_the_driver_and_are_not_made_twice():
    driver = running("pi-driver", owned("SparkApplication", "pi"))
    executor = running("pi-0123456789abcdef-exec-1", owned("Pod", "pi-driver", api_version="v1"))
    (pod,) = expanded(spark(executor={"instances": 2}), driver, executor).pods
    assert pod.metadata.name.endswith("-exec-2")


def test_memory_that_spark_cannot_read_is_a_problem():
    assert [problem.path for problem in expanded(spark(driver={"memory": "much"})).problems] == ["spec.driver.memory"]


def test_a_scheduled_application_is_planned_for_one_run():
    spec = {"schedule": "@daily", "template": {"type": "Java", "driver": {}, "executor": {"instances": 1}}}
    assert len(expanded(workload("sparkoperator.k8s.io/v1beta2", "ScheduledSparkApplication", spec, name="pi")).pods) == 2


# --- Flink ------------------------------------------------------------------------------------------------------------------------


def flink(**spec):
    size = {"cpu": 1, "memory": "2048m"}
    body = {"jobManager": {"resource": size}, "taskManager": {"resource": {"cpu": 2, "memory": "4g"}}, **spec}
    return workload("flink.apache.org/v1beta1", "FlinkDeployment", body, name="wc")


def test_task_managers_are_parallelism_over_slots_rounded_up():
    # 5 slots wanted, 2 in each: three TaskManagers.
    found = expanded(flink(job={"parallelism": 5}, flinkConfiguration={"taskmanager.numberOfTaskSlots": "2"}))
    assert names(found)[1:] == ["wc-taskmanager-1-1", "wc-taskmanager-1-2", "wc-taskmanager-1-3"]
    assert names(found)[0].startswith("wc-")


def test_flinks_memory_is_in_mebibytes():
    found = expanded(flink(job={"parallelism": 1}))
    manager, worker = (pod.spec.containers[0].resources.requests for pod in found.pods)
    assert manager == {"cpu": "1", "memory": str(2048 * 1024 * 1024)}
    assert worker == {"cpu": "2", "memory": str(4 * 1024 * 1024 * 1024)}


def test_pod_templates_lie_under_the_role():
    claims = [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}]
    template = {"spec": {"containers": [{"name": "flink-main-container"}, {"name": "side"}], "resourceClaims": claims}}
    found = expanded(flink(job={"parallelism": 1}, podTemplate=template))
    assert [[each.name for each in pod.spec.containers] for pod in found.pods] == [["flink-main-container", "side"]] * 2
    assert found.pods[1].spec.resource_claims[0].name == "gpu"


def test_a_session_without_a_job_has_no_task_managers_yet():
    found = expanded(flink())
    assert len(found.pods) == 1 and "session cluster" in messages(found)
