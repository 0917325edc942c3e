"""KServe's InferenceService and LLMInferenceService: Deployments and LeaderWorkerSets made of pod specs and serving runtimes.

Much of such a pod comes from elsewhere (runtimes, presets, a storage initialiser); what is not in the input is said.
Source: serving.kserve.io/v1beta1 and v1alpha2, pkg/controller (components/predictor.go, llmisvc/workload_*.go).
"""

from typing import Any, Final

from reparto.placement.workloads.fields import Fields, Json, listing, mapping
from reparto.placement.workloads.knative import knative_service
from reparto.placement.workloads.objects import Made, Workload
from reparto.placement.workloads.patches import patched
from reparto.placement.workloads.world import World

_MODE: Final = "serving.kserve.io/deploymentMode"
_STOP: Final = "serving.kserve.io/stop"
_SERVERLESS: Final = ("Serverless", "Knative")
_COMPONENTS: Final = ("predictor", "transformer", "explainer")
_CONTAINER: Final = "kserve-container"
_WORKER: Final = "worker-container"
_DEFAULT_SIZE: Final = {"cpu": "1", "memory": "2Gi"}
# Fields of a component that are no pod fields. What is a mapping and not here or in a pod spec is a framework's model.
_EXTENSIONS: Final = frozenset(
    (
        "annotations",
        "autoScaling",
        "batcher",
        "canaryTrafficPercent",
        "containerConcurrency",
        "deploymentStrategy",
        "labels",
        "logger",
        "maxReplicas",
        "minReplicas",
        "model",
        "scaleMetric",
        "scaleMetricType",
        "scaleTarget",
        "storageUris",
        "timeout",
        "workerSpec",
    )
)
_FRAMEWORKS: Final = (
    "sklearn", "xgboost", "tensorflow", "pytorch", "triton", "onnx", "huggingface", "pmml", "lightgbm", "paddle", "art"
)  # fmt: skip
# Fields of a serving runtime that are the pod's.
_RUNTIME_POD: Final = ("affinity", "containers", "initContainers", "nodeSelector", "schedulerName", "tolerations", "volumes")
_PRESET: Final = "serving.kserve.io/"


def inference_service(item: Workload, world: World) -> Made:
    """A Deployment `NAME-COMPONENT` for each component; in Knative's mode, a Knative Service of that name."""
    if item.annotation(_STOP).lower() == "true":
        return
    mode = item.annotation(_MODE) or item.status.text("deploymentMode")
    if not mode:
        item.spec.doubt(f"annotation {_MODE} is absent: Standard mode, KServe's default, was assumed")
    for component in _COMPONENTS:
        if component not in item.spec:
            continue
        part = item.spec.at(component)
        name, spec = f"{item.name}-{component}", _component_spec(item, world, part, component)
        if part.optional_number("minReplicas") == 0:
            part.doubt(f"{part.path}.minReplicas is 0: it scales to none without load; no pods were planned")
        count = part.number("minReplicas", 1)
        count = world.replicas(item, count, component)
        count = world.replicas(item, count) if component == "predictor" else count
        labels = {
            **item.fields.at("metadata").labels("labels"),
            **part.labels("labels"),
            "serving.kserve.io/inferenceservice": item.name,
            "component": component,
        }
        if mode in _SERVERLESS:
            scale = {"autoscaling.knative.dev/min-scale": str(count), "autoscaling.knative.dev/initial-scale": str(count)}
            template: Json = {"metadata": {"labels": labels, "annotations": scale}, "spec": spec}
            service = world.child(item, "serving.knative.dev/v1", "Service", name, {"spec": {"template": template}})
            yield from knative_service(service, world)
            continue
        labels["app"] = f"isvc.{name}"
        template = {"metadata": {"labels": labels, "annotations": part.labels("annotations")}, "spec": spec}
        selector = {"matchLabels": {"app": labels["app"]}}
        value = {"spec": {"replicas": count, "selector": selector, "template": template}}
        yield world.child(item, "apps/v1", "Deployment", name, value)
        if "workerSpec" in part:
            yield _workers(item, world, part.at("workerSpec"), name, labels)


def _workers(item: Workload, world: World, worker: Fields, name: str, labels: Json) -> Workload:
    """The further nodes of a predictor: one fewer than its pipeline has stages."""
    spec = _pod_fields(worker.value, ("pipelineParallelSize", "tensorParallelSize", "size"))
    if not spec.get("containers"):
        spec = {**spec, "containers": [{"name": _WORKER, "resources": {"requests": _DEFAULT_SIZE, "limits": _DEFAULT_SIZE}}]}
        worker.doubt(f"{worker.path} has no containers: {_WORKER} with 1 CPU and 2Gi was assumed")
    count = max(0, worker.number("pipelineParallelSize", 2) - 1)
    app = f"isvc.{name}-worker"
    template = {"metadata": {"labels": {**labels, "app": app}}, "spec": spec}
    value = {"spec": {"replicas": count, "selector": {"matchLabels": {"app": app}}, "template": template}}
    return world.child(item, "apps/v1", "Deployment", f"{name}-worker", value)


def _component_spec(item: Workload, world: World, part: Fields, component: str) -> Json:
    """The pod spec of a component: its own containers, or those of the runtime with the model's resources."""
    frameworks = [name for name in _FRAMEWORKS if name in part]
    spec = _pod_fields(part.value, (*_EXTENSIONS, *_FRAMEWORKS))
    model = part.at("model") if "model" in part else part.at(frameworks[0]) if frameworks else None
    if model is None:
        part.sequence("containers")
        if not spec.get("containers"):
            part.doubt(f"{part.path} has neither containers nor a model: {_CONTAINER} with 1 CPU and 2Gi was assumed")
            spec = {**spec, "containers": [_sized({"name": _CONTAINER})]}
        return spec
    own = {key: value for key, value in model.value.items() if key in ("resources", "env", "args", "command", "image", "ports")}
    runtime = _runtime(item, world, model)
    if runtime is None:
        container = _sized({"name": _CONTAINER, **own})
        if not model.value.get("resources"):
            model.doubt(f"{model.path}.resources is absent and its runtime is not in the input: 1 CPU and 2Gi were assumed")
        return {**spec, "containers": [container, *listing(spec.get("containers"))]}
    base = {key: content for key, content in runtime.spec.value.items() if key in _RUNTIME_POD}
    merged = patched(base, {**spec, "containers": [{"name": _CONTAINER, **own}, *listing(spec.get("containers"))]})
    sized = [_sized(container) if container.get("name") == _CONTAINER else container for container in listing(merged["containers"])]
    return {**merged, "containers": sized}


def _runtime(item: Workload, world: World, model: Fields) -> Workload | None:
    name = model.text("runtime")
    if not name:
        return None
    found = world.find("ServingRuntime", item.namespace, name) or world.find("ClusterServingRuntime", "", name)
    if found is None:
        model.doubt(f"runtime {name} is not in the input: {_CONTAINER} alone was planned, with the resources of the model")
    return found


def _sized(container: Json) -> Json:
    """A container with the requests and limits that KServe's webhook gives where it has none of its own."""
    resources = mapping(container, "resources")
    requests, limits = mapping(resources, "requests"), mapping(resources, "limits")
    sizes = {"requests": {**_DEFAULT_SIZE, **(requests or limits)}, "limits": {**_DEFAULT_SIZE, **(limits or requests)}}
    return {**container, "resources": {**resources, **sizes}}


def _pod_fields(value: Json, without: tuple[str, ...] | frozenset[str]) -> dict[str, Any]:
    return {key: content for key, content in value.items() if key not in without}


# --- LLMInferenceService --------------------------------------------------------------------------------------------------------


def llm_inference_service(item: Workload, world: World) -> Made:
    """The model's pods, those that only prefill, and the router's scheduler, as far as their templates are written down."""
    if item.annotation(_STOP).lower() == "true":
        return
    spec = Fields(_with_base(item, world), "spec", item.doubts)
    yield from _llm_part(item, world, spec, "", "decode" if "prefill" in spec else "both")
    if "prefill" in spec:
        yield from _llm_part(item, world, spec.at("prefill"), "-prefill", "prefill")
    scheduler = spec.at("router", "scheduler")
    if scheduler.at("template"):
        labels = {"app.kubernetes.io/component": "llminferenceservice-router-scheduler", "app.kubernetes.io/name": item.name}
        template = {"metadata": {"labels": labels}, "spec": scheduler.at("template").value}
        value = {
            "spec": {"replicas": scheduler.number("replicas", 1), "selector": {"matchLabels": labels}, "template": template},
        }
        yield world.child(item, "apps/v1", "Deployment", f"{item.name}-kserve-router-scheduler", value)


def _with_base(item: Workload, world: World) -> Json:
    """The spec over those that it refers to."""
    base: Json = {}
    for reference in item.spec.items("baseRefs"):
        name = reference.text("name")
        found = world.find("LLMInferenceServiceConfig", item.namespace, name) or next(
            (each for each in world.of_kind("LLMInferenceServiceConfig") if each.name == name), None
        )
        if found is None:
            item.spec.doubt(f"LLMInferenceServiceConfig {name} is not in the input; what it adds is not planned")
        else:
            base = patched(base, found.spec.value)
    return patched(base, item.spec.value)


def _llm_part(item: Workload, world: World, part: Fields, suffix: str, role: str) -> Made:
    count = world.replicas(item, part.number("replicas", 1), suffix.lstrip("-") or "decode")
    count = count if suffix else world.replicas(item, count)
    main = _llm_pod(item, part, "template")
    labels = {
        "app.kubernetes.io/component": f"llminferenceservice-workload{suffix}",
        "app.kubernetes.io/name": item.name,
        "app.kubernetes.io/part-of": "llminferenceservice",
        "kserve.io/component": "workload",
        "llm-d.ai/role": role,
        **part.labels("labels"),
    }
    if "worker" not in part:
        template: Json = {"metadata": {"labels": labels}, "spec": main}
        value = {"spec": {"replicas": count, "selector": {"matchLabels": labels}, "template": template}}
        yield world.child(item, "apps/v1", "Deployment", f"{item.name}-kserve{suffix}", value)
        return
    parallelism = part.at("parallelism")
    data, local = parallelism.optional_number("data"), parallelism.optional_number("dataLocal")
    if data or local:
        size = max(1, (data or 1) // max(1, local or 1))
    else:
        size = parallelism.number("pipeline", 1)
    worker: Json = {"metadata": {"labels": labels}, "spec": _llm_pod(item, part, "worker")}
    leader: Json = {"leaderTemplate": {"metadata": {"labels": labels}, "spec": main}} if "template" in part else {}
    value = {"spec": {"replicas": count, "leaderWorkerTemplate": {"size": size, **leader, "workerTemplate": worker}}}
    yield world.child(item, "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", f"{item.name}-kserve-mn{suffix}", value)


def _llm_pod(item: Workload, part: Fields, field: str) -> Json:
    spec = part.at(field)
    if not spec.sequence("containers"):
        part.doubt(f"{part.path}.{field} has no containers: one container without requests was assumed, as presets give it")
        return {**spec.value, "containers": [{"name": "main"}]}
    return _managed(item, spec.value)


def _managed(item: Workload, spec: Json) -> Json:
    """The claim of managed DRA, where annotations ask for it. Its template, which KServe makes, must be in the input."""
    prefix = f"{_PRESET}exp-dra-"
    if not item.annotation(f"{prefix}device-class").strip():
        return spec
    template, claim = f"{item.name}-managed-dra", "managed-device"
    wanted = item.annotation(f"{prefix}container-name").strip()
    containers = listing(spec["containers"])
    place = next((number for number, each in enumerate(containers) if not wanted or each.get("name") == wanted), None)
    if place is not None:
        resources = mapping(containers[place], "resources")
        claims = [*listing(resources.get("claims")), {"name": claim}]
        containers[place] = {**containers[place], "resources": {**resources, "claims": claims}}
    claims = [*listing(spec.get("resourceClaims")), {"name": claim, "resourceClaimTemplateName": template}]
    return {**spec, "containers": containers, "resourceClaims": claims}
