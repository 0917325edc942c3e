"""Objects that hold pod templates: Deployments, Jobs and whatever else has one inside.

They are kept as written, for whoever expands them into pods; what is known here is only where their templates are.
"""

from collections.abc import Iterator, Mapping
from typing import Any, cast

import msgspec

WORKLOADS: Mapping[str, str] = {
    "Deployment": "spec.template",
    "StatefulSet": "spec.template",
    "DaemonSet": "spec.template",
    "ReplicaSet": "spec.template",
    "ReplicationController": "spec.template",
    "Job": "spec.template",
    "CronJob": "spec.jobTemplate.spec.template",
    "PodTemplate": "template",
}

# Kinds that make pods of fields other than a pod template, or of one that is kept elsewhere: always kept, by API group.
_MAKERS: Mapping[str, frozenset[str]] = {
    "apps": frozenset(("Deployment", "StatefulSet", "DaemonSet", "ReplicaSet")),
    "batch": frozenset(("Job", "CronJob")),
    "": frozenset(("ReplicationController",)),
    "argoproj.io": frozenset(("Workflow", "CronWorkflow", "WorkflowTemplate", "ClusterWorkflowTemplate", "Rollout")),
    "serving.kserve.io": frozenset(
        ("InferenceService", "ServingRuntime", "ClusterServingRuntime", "LLMInferenceService", "LLMInferenceServiceConfig")
    ),
    "apps.nvidia.com": frozenset(("NIMService",)),
    "sparkoperator.k8s.io": frozenset(("SparkApplication", "ScheduledSparkApplication")),
    "flink.apache.org": frozenset(("FlinkDeployment",)),
    "trainer.kubeflow.org": frozenset(("TrainJob",)),
}

_MAX_DEPTH = 16  # custom resources nest templates deeply (RayJob: 7, LeaderWorkerSet in a pipeline: 10)


class Carrier(msgspec.Struct, frozen=True):
    """An object with pod templates: `value` as written, `templates` the field paths of the pod templates (each has
    `spec.containers`).
    """

    value: dict[str, Any]
    ref: str
    kind: str
    namespace: str
    name: str
    file: str
    line: int
    api_version: str
    templates: tuple[str, ...]


def makes_pods(api_version: str, kind: str) -> bool:
    """Whether objects of this kind are kept even where no pod template is found in them."""
    return kind in _MAKERS.get(api_version.rpartition("/")[0], ())


def pod_templates(value: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(path, template) of every mapping inside `value`, itself excepted, whose `spec` has a list `containers`. Outermost only."""
    level: list[tuple[str, Any]] = [("", value)]
    for _ in range(_MAX_DEPTH):
        following: list[tuple[str, Any]] = []
        for path, content in level:
            if isinstance(content, Mapping):
                mapping = cast(Mapping[str, Any], content)
                if path and is_template(mapping):
                    yield path, mapping
                    continue
                following += [
                    (f"{path}.{name}" if path else str(name), child)
                    for name, child in mapping.items()
                    if isinstance(child, (Mapping, list))
                ]
            else:
                following += [
                    (f"{path}[{index}]", child)
                    for index, child in enumerate(cast(list[Any], content))
                    if isinstance(child, (Mapping, list))
                ]
        level = following


def is_template(mapping: Mapping[str, Any]) -> bool:
    """Whether a mapping has the form of a pod template: a spec with containers."""
    spec = mapping.get("spec")
    if not isinstance(spec, Mapping):
        return False
    containers = cast(Mapping[str, Any], spec).get("containers")
    return isinstance(containers, list) and all(isinstance(container, Mapping) for container in cast(list[Any], containers))
