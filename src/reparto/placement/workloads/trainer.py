"""TrainJob: a JobSet made of a training runtime and what the job changes in it.

Source: trainer.kubeflow.org/v1alpha1, pkg/runtime/core/trainingruntime.go and the plugins jobset, plainml, torch and mpi.
"""

from typing import Any, Final

from reparto.placement.workloads.fields import Fields, Json, listing, mapping
from reparto.placement.workloads.objects import Made, Workload
from reparto.placement.workloads.patches import patched_pod
from reparto.placement.workloads.world import World

_ANCESTOR: Final = "trainer.kubeflow.org/trainjob-ancestor-step"
_TRAINER: Final = "trainer"
_NODE: Final = "node"  # the training container, and the Job of MPI's nodes


def train_job(item: Workload, world: World) -> Made:
    """The JobSet of its runtime, which must be in the input: `numNodes` pods for the trainer, with its resources."""
    spec = item.spec
    if spec.flag("suspend") or item.condition("Complete", "Failed"):
        return
    if "managedBy" in spec and not spec.text("managedBy").startswith("trainer.kubeflow.org/"):
        spec.doubt(f"spec.managedBy is {spec.text('managedBy')}; it was planned as the trainer runs it")
    reference = spec.at("runtimeRef")
    kind, name = reference.text("kind", "ClusterTrainingRuntime"), reference.text("name")
    runtime = world.find(kind, "" if kind.startswith("Cluster") else item.namespace, name)
    if runtime is None:
        real = world.children(item, "JobSet")
        if real:
            yield from real
        else:
            spec.doubt(f"{kind} {name}, which holds its pod templates, is not in the input, so it makes no pods; add it")
        return
    policy = runtime.spec.at("mlPolicy")
    template = runtime.spec.at("template")
    jobs = [
        _job(item, policy, job) for job in Fields(template.value, "spec.template", item.doubts).at("spec").items("replicatedJobs")
    ]
    value = {
        "metadata": {
            "annotations": template.at("metadata").labels("annotations"),
            "labels": template.at("metadata").labels("labels"),
        },
        "spec": {**template.at("spec").value, "replicatedJobs": jobs},
    }
    yield world.child(item, "jobset.x-k8s.io/v1alpha2", "JobSet", item.name, value)


def _job(item: Workload, policy: Fields, job: Fields) -> Json:
    """A replicatedJob of the runtime as the TrainJob wants it."""
    step = str(job.at("template", "metadata", "labels").value.get(_ANCESTOR) or "")
    trainer = item.spec.at("trainer")
    mpi = policy.at("mpi")
    as_node = "mpi" in policy and mpi.flag("runLauncherAsNode") and job.text("name") == _NODE
    spec: dict[str, Any] = dict(job.at("template", "spec").value)
    nodes = _nodes(policy, trainer, job, step)
    if nodes is not None:
        spec["parallelism"] = spec["completions"] = nodes
    pod: Json = job.at("template", "spec", "template").value
    if "resourcesPerNode" in trainer and (step == _TRAINER or as_node):
        pod = _with_resources(pod, trainer.at("resourcesPerNode").value)
    for patch in _patches(item, job.text("name")):
        pod = patched_pod(pod, patch)
    spec["template"] = pod
    fixed = {"replicas": 1} if step else {}
    return {**job.value, **fixed, "template": {**job.at("template").value, "spec": spec}}


def _nodes(policy: Fields, trainer: Fields, job: Fields, step: str) -> int | None:
    """How many pods a Job of the runtime has; None where the runtime's own number stands."""
    asked = trainer.optional_number("numNodes")
    if "mpi" in policy and (job.text("name") == _NODE or step == _TRAINER):
        if job.text("name") != _NODE:
            return None
        total = policy.number("numNodes", 1) if asked is None else asked
        return max(total - 1, 1) if policy.at("mpi").flag("runLauncherAsNode") else total
    if step != _TRAINER:
        return None
    return policy.number("numNodes", 1) if asked is None else asked


def _with_resources(pod: Json, resources: Json) -> Json:
    spec = mapping(pod, "spec")
    containers = [
        {**each, "resources": _merged(mapping(each, "resources"), resources)} if each.get("name") == _NODE else each
        for each in listing(spec.get("containers"))
    ]
    return {**pod, "spec": {**spec, "containers": containers}}


def _merged(own: Json, more: Json) -> Json:
    parts = {part: {**mapping(own, part), **mapping(more, part)} for part in ("limits", "requests") if mapping(more, part)}
    return {**own, **parts}


def _patches(item: Workload, job: str) -> list[Json]:
    """Patches of the pod template of one Job: runtimePatches, and podTemplateOverrides or podSpecOverrides of earlier versions."""
    found: list[Json] = []
    for patch in item.spec.items("runtimePatches"):
        jobs = patch.at("trainingRuntimeSpec", "template", "spec").items("replicatedJobs")
        found += [each.at("template", "spec", "template").value for each in jobs if each.text("name") == job]
    for field in ("podTemplateOverrides", "podSpecOverrides"):
        for override in item.spec.items(field):
            if any(target.text("name") == job for target in override.items("targetJobs")):
                if field == "podTemplateOverrides":
                    found.append({"metadata": override.value.get("metadata"), "spec": override.value.get("spec")})
                else:
                    found.append({"spec": {key: value for key, value in override.value.items() if key != "targetJobs"}})
    return found
