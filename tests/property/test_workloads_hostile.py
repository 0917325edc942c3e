"""Whatever stands in a workload: expansion answers with pods, notes and problems, never with an exception, and always the same."""

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from reparto.model import core
from reparto.model.intake import read_inputs
from reparto.model.meta import ObjectMeta
from reparto.placement.workloads import Expansion, expand

TEMPLATE: dict[str, Any] = {
    "metadata": {"labels": {"app": "x"}},
    "spec": {
        "containers": [{"name": "c", "resources": {"limits": {"cpu": "1"}, "claims": [{"name": "g"}]}}],
        "initContainers": [{"name": "i", "restartPolicy": "Always"}],
        "resourceClaims": [{"name": "g", "resourceClaimTemplateName": "t"}],
        "volumes": [{"name": "v", "emptyDir": {}}],
        "tolerations": [{"key": "a", "operator": "Exists"}],
        "nodeSelector": {"a": "b"},
        "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "z"}]}},
    },
}
ROLE = {"replicas": 2, "template": TEMPLATE}
JOB = {"completions": 4, "parallelism": 3, "completionMode": "Indexed", "template": TEMPLATE}
RAY = {
    "enableInTreeAutoscaling": True,
    "headGroupSpec": {"template": TEMPLATE},
    "workerGroupSpecs": [{"groupName": "g", "numOfHosts": 2, **ROLE}],
}
STEPS = [[{"name": "a", "template": "work", "withItems": [{"k": "v"}], "arguments": {"parameters": [{"name": "p", "value": 1}]}}]]
WORK = {
    "name": "work",
    "inputs": {"parameters": [{"name": "p", "default": "x"}]},
    "container": {"image": "{{inputs.parameters.p}}"},
    "podSpecPatch": "containers: [{name: main, image: y}]",
}
LLM = {"containers": [{"name": "main"}]}
WORKLOADS: list[tuple[str, str, dict[str, Any]]] = [
    ("apps/v1", "Deployment", {"selector": {"matchLabels": {"app": "x"}}, **ROLE}),
    ("apps/v1", "ReplicaSet", {"selector": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]}, **ROLE}),
    ("apps/v1", "DaemonSet", {"selector": {"matchLabels": {"app": "x"}}, "template": TEMPLATE}),
    ("apps/v1", "StatefulSet", {"ordinals": {"start": 1}, "volumeClaimTemplates": [{"metadata": {"name": "v"}}], **ROLE}),
    ("v1", "ReplicationController", {"selector": {"app": "x"}, **ROLE}),
    ("batch/v1", "Job", JOB),
    ("batch/v1", "CronJob", {"jobTemplate": {"metadata": {"labels": {}}, "spec": JOB}}),
    ("jobset.x-k8s.io/v1alpha2", "JobSet", {"replicatedJobs": [{"name": "a", "replicas": 2, "template": {"spec": JOB}}]}),
    (
        "leaderworkerset.x-k8s.io/v1",
        "LeaderWorkerSet",
        {
            "replicas": 2,
            "leaderWorkerTemplate": {"size": 2, "workerTemplate": TEMPLATE, "subGroupPolicy": {"subGroupSize": 2}},
        },
    ),
    ("ray.io/v1", "RayCluster", RAY),
    ("ray.io/v1", "RayJob", {"submissionMode": "SidecarMode", "rayClusterSpec": RAY}),
    ("ray.io/v1", "RayService", {"rayClusterConfig": RAY}),
    ("kubeflow.org/v1", "PyTorchJob", {"pytorchReplicaSpecs": {"Master": ROLE, "Worker": ROLE}}),
    ("kubeflow.org/v2beta1", "MPIJob", {"mpiReplicaSpecs": {"Launcher": ROLE, "Worker": ROLE}}),
    ("batch.volcano.sh/v1alpha1", "Job", {"tasks": [{"name": "t", **ROLE}]}),
    ("argoproj.io/v1alpha1", "Workflow", {"entrypoint": "main", "templates": [{"name": "main", "steps": STEPS}, WORK]}),
    ("serving.knative.dev/v1", "Service", {"template": TEMPLATE}),
    ("serving.kserve.io/v1beta1", "InferenceService", {"predictor": {"model": {"resources": {"limits": {"cpu": "1"}}}}}),
    ("serving.kserve.io/v1alpha2", "LLMInferenceService", {"template": LLM, "worker": LLM, "parallelism": {"data": 2}}),
    ("apps.nvidia.com/v1alpha1", "NIMService", {"resources": {}, "draResources": [{"resourceClaimName": "c", "requests": ["r"]}]}),
    (
        "sparkoperator.k8s.io/v1beta2",
        "SparkApplication",
        {"driver": {"cores": 1, "memory": "1g"}, "executor": {"template": TEMPLATE}},
    ),
    ("flink.apache.org/v1beta1", "FlinkDeployment", {"podTemplate": TEMPLATE, "job": {"parallelism": 2}, "jobManager": {}}),
    ("example.com/v1", "Thing", {"roles": [{"name": "a", **ROLE}, {"b": {"template": TEMPLATE}}]}),
]
JUNK = st.sampled_from(
    [None, "", "x", 0, -1, 3, 2**40, 1.5, True, [], {}, ["a"], [{}], [None], [[{}]], {"a": []}, {"name": {}}, "{{x}}", "$N"]
)
NODES = [core.Node(metadata=ObjectMeta(name="n"))]


@st.composite
def broken_workloads(draw: st.DrawFn) -> dict[str, Any]:
    api_version, kind, spec = draw(st.sampled_from(WORKLOADS))
    item = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x", "namespace": "ml", "annotations": {}}, "spec": spec}
    item = copy.deepcopy(item)
    for _ in range(draw(st.integers(1, 3))):
        here, key = item, draw(st.sampled_from(["spec", "metadata", "status"]))
        for _ in range(draw(st.integers(0, 7))):
            inner = here.get(key) if isinstance(here, dict) else here[key]
            if not isinstance(inner, dict | list) or not inner:
                break
            here, key = inner, draw(st.sampled_from(sorted(inner) if isinstance(inner, dict) else list(range(len(inner)))))
        here[key] = copy.deepcopy(draw(JUNK))
    return item


def made(item: dict[str, Any]) -> Expansion:
    intake = read_inputs([item])
    return expand(intake.carriers, [], nodes=NODES)


@settings(max_examples=300, deadline=None)
@given(broken_workloads())
def test_a_broken_workload_is_no_reason_to_fail_and_the_answer_is_always_the_same(item: dict[str, Any]):
    first = made(item)
    assert len({(pod.metadata.namespace, pod.metadata.name) for pod in first.pods}) == len(first.pods)
    assert all(problem.sentence() and problem.path for problem in first.problems)
    assert made(item) == first
