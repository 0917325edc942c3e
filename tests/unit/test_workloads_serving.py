"""KServe's kinds, Knative Services, NIMServices. Rules: each project's sources, named in its module."""

import pytest

from unit.workload_objects import expanded, messages, names, owned, pod_template, stems, workload

GPU = {"limits": {"nvidia.com/gpu": "1"}}


def digest_of(found) -> str:
    return (found.pods[0].metadata.labels or {})["pod-template-hash"]


def isvc(spec, **metadata):
    metadata.setdefault("annotations", {"serving.kserve.io/deploymentMode": "RawDeployment"})
    return workload("serving.kserve.io/v1beta1", "InferenceService", spec, name="bert", **metadata)


def test_a_predictor_with_containers_is_a_deployment_of_them():
    predictor = {"minReplicas": 2, "containers": [{"name": "kserve-container", "resources": GPU}], "nodeSelector": {"a": "b"}}
    found = expanded(isvc({"predictor": predictor}))
    assert stems(found) == [f"bert-predictor-{digest_of(found)}-"] * 2
    assert found.pods[0].spec.node_selector == {"a": "b"}
    assert found.pods[0].spec.containers[0].resources.limits == {"nvidia.com/gpu": "1"}


def test_absent_min_replicas_are_one_and_zero_is_none():
    assert len(expanded(isvc({"predictor": {"containers": [{"name": "c"}]}})).pods) == 1
    none = expanded(isvc({"predictor": {"minReplicas": 0, "containers": [{"name": "c"}]}}))
    assert none.pods == () and "scales to none" in messages(none)


def test_a_model_without_its_runtime_has_its_own_resources_and_defaults():
    # KServe's webhook: 1 CPU and 2Gi where the model says nothing else.
    found = expanded(isvc({"predictor": {"model": {"modelFormat": {"name": "x"}, "resources": GPU}}}))
    resources = found.pods[0].spec.containers[0].resources
    assert resources.limits == {"cpu": "1", "memory": "2Gi", "nvidia.com/gpu": "1"}
    nothing = expanded(isvc({"predictor": {"sklearn": {"storageUri": "s3://x"}}}))
    assert nothing.pods[0].spec.containers[0].resources.requests == {"cpu": "1", "memory": "2Gi"}
    assert "1 CPU and 2Gi were assumed" in messages(nothing)


def test_a_model_runs_in_the_container_of_its_runtime():
    runtime = workload(
        "serving.kserve.io/v1alpha1",
        "ClusterServingRuntime",
        {"containers": [{"name": "kserve-container", "image": "server"}, {"name": "helper"}], "nodeSelector": {"a": "b"}},
        name="vllm",
    )
    found = expanded(runtime, isvc({"predictor": {"model": {"runtime": "vllm", "resources": GPU}}}))
    (pod,) = found.pods
    assert [(each.name, each.image) for each in pod.spec.containers] == [("kserve-container", "server"), ("helper", "")]
    assert pod.spec.containers[0].resources.limits["nvidia.com/gpu"] == "1"
    assert pod.spec.node_selector == {"a": "b"}


def test_transformers_and_explainers_are_deployments_of_their_own():
    part = {"containers": [{"name": "c"}]}
    found = expanded(isvc({"predictor": part, "transformer": part}))
    assert [name.rsplit("-", 2)[0] for name in names(found)] == ["bert-predictor", "bert-transformer"]


def test_in_knatives_mode_the_pods_are_those_of_a_revision():
    predictor = {"containers": [{"name": "kserve-container"}]}
    found = expanded(isvc({"predictor": predictor}, annotations={"serving.kserve.io/deploymentMode": "Serverless"}))
    assert stems(found) == [f"bert-predictor-00001-deployment-{digest_of(found)}-"]
    assert [each.name for each in found.pods[0].spec.containers] == ["kserve-container", "queue-proxy"]


def test_the_mode_that_is_assumed_is_said():
    found = expanded(isvc({"predictor": {"containers": [{"name": "c"}]}}, annotations={}))
    assert "Standard mode, KServe's default, was assumed" in messages(found)


def test_what_kserve_has_made_already_is_what_it_makes():
    made = workload(
        "apps/v1",
        "Deployment",
        {"replicas": 3, "template": pod_template()},
        name="bert-predictor",
        ownerReferences=owned("InferenceService", "bert"),
    )
    found = expanded(isvc({"predictor": {"containers": [{"name": "c"}]}}), made)
    assert len(found.pods) == 3


# --- LLMInferenceService ----------------------------------------------------------------------------------------------------------


def llm(spec, **metadata):
    return workload("serving.kserve.io/v1alpha2", "LLMInferenceService", spec, name="qwen", **metadata)


CONTAINERS = {"containers": [{"name": "main", "resources": GPU}]}


def test_decode_and_prefill_are_deployments():
    found = expanded(llm({"replicas": 2, "template": CONTAINERS, "prefill": {"replicas": 1, "template": CONTAINERS}}))
    assert [name.rsplit("-", 2)[0] for name in names(found)] == ["qwen-kserve", "qwen-kserve", "qwen-kserve-prefill"]
    assert [(pod.metadata.labels or {})["llm-d.ai/role"] for pod in found.pods] == ["decode", "decode", "prefill"]


def test_with_workers_it_is_a_leader_worker_set():
    # data 4 with 2 per node is two nodes.
    found = expanded(llm({"template": CONTAINERS, "worker": CONTAINERS, "parallelism": {"data": 4, "dataLocal": 2}}))
    assert names(found) == ["qwen-kserve-mn-0", "qwen-kserve-mn-0-1"]


def test_pipeline_stages_are_nodes():
    assert len(expanded(llm({"worker": CONTAINERS, "parallelism": {"pipeline": 3}})).pods) == 3


def test_presets_that_are_not_in_the_input_are_said():
    found = expanded(llm({"baseRefs": [{"name": "preset"}], "template": CONTAINERS}))
    assert len(found.pods) == 1
    assert "LLMInferenceServiceConfig preset is not in the input" in messages(found)


def test_presets_of_the_input_lie_under_the_service():
    preset = workload(
        "serving.kserve.io/v1alpha2",
        "LLMInferenceServiceConfig",
        {"template": {**CONTAINERS, "nodeSelector": {"a": "b"}}},
        name="preset",
    )
    (pod,) = expanded(
        preset, llm({"baseRefs": [{"name": "preset"}], "template": {"containers": [{"name": "main", "image": "vllm"}]}})
    ).pods
    assert pod.spec.node_selector == {"a": "b"}
    assert (pod.spec.containers[0].image, pod.spec.containers[0].resources.limits) == ("vllm", {"nvidia.com/gpu": "1"})


def test_managed_dra_adds_a_claim_to_the_first_container():
    found = expanded(llm({"template": CONTAINERS}, annotations={"serving.kserve.io/exp-dra-device-class": "gpu.nvidia.com"}))
    (pod,) = found.pods
    assert [(each.name, each.resource_claim_template_name) for each in pod.spec.resource_claims] == [
        ("managed-device", "qwen-managed-dra")
    ]
    assert [each.name for each in pod.spec.containers[0].resources.claims] == ["managed-device"]


# --- Knative ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("annotations", "pods"),
    [({}, 1), ({"autoscaling.knative.dev/initial-scale": "3"}, 3), ({"autoscaling.knative.dev/minScale": "2"}, 2)],
)
def test_a_knative_service_starts_with_its_initial_scale(annotations, pods: int):
    template = pod_template()
    template["metadata"]["annotations"] = annotations
    found = expanded(workload("serving.knative.dev/v1", "Service", {"template": template}, name="web"))
    assert stems(found) == [f"web-00001-deployment-{digest_of(found)}-"] * pods
    assert found.pods[0].spec.containers[1].resources.requests == {"cpu": "25m"}


def test_a_service_of_kubernetes_is_no_workload():
    assert expanded({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"ports": []}}).pods == ()


# --- NIM --------------------------------------------------------------------------------------------------------------------------


def written(text: bytes) -> str:
    """FNV-1a as its authors define it; ASCII 48 to 57, modulo the 27 letters, are letters 21 to 26 and then 0 to 3."""
    value = 2166136261
    for byte in text:
        value = (value ^ byte) * 16777619 % 2**32
    return str(value).translate(str.maketrans("0123456789", "456789bcdf"))


def nim(**spec):
    return workload("apps.nvidia.com/v1alpha1", "NIMService", spec, name="llama")


def test_a_nim_service_is_a_deployment_of_its_own_name():
    found = expanded(nim(replicas=2, resources=GPU, nodeSelector={"a": "b"}))
    assert stems(found) == [f"llama-{digest_of(found)}-"] * 2
    assert found.pods[0].spec.containers[0].name == "llama-ctr"
    assert found.pods[0].spec.containers[0].resources.limits == {"nvidia.com/gpu": "1"}
    assert found.pods[0].spec.node_selector == {"a": "b"}


def test_dra_resources_are_claims_that_the_container_uses():
    found = expanded(nim(draResources=[{"resourceClaimTemplateName": "one-gpu", "requests": ["gpu"]}]))
    (claim,) = found.pods[0].spec.resource_claims
    # claim-HASH(service)-1-HASH(template)-0; 1 stands for a template.
    assert (claim.name, claim.resource_claim_template_name) == (f"claim-{written(b'llama')}-1-{written(b'one-gpu')}-0", "one-gpu")
    (use,) = found.pods[0].spec.containers[0].resources.claims
    assert (use.name, use.request) == (claim.name, "gpu")


def test_a_model_over_several_nodes_is_a_leader_worker_set():
    found = expanded(nim(replicas=2, multiNode={"backendType": "lws", "parallelism": {"tensor": 8, "pipeline": 2}}))
    assert names(found) == ["llama-lws-0", "llama-lws-1", "llama-lws-0-1", "llama-lws-1-1"]


def test_a_nim_service_that_scales_has_its_least_number():
    found = expanded(nim(scale={"enabled": True, "hpa": {"minReplicas": 2, "maxReplicas": 9}}))
    assert len(found.pods) == 2 and "scales with its load" in messages(found)
