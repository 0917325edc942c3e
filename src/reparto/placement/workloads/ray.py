"""RayCluster, and RayJob and RayService, which make one.

A head and groups of workers; several hosts per replica where `numOfHosts` says so. KubeRay adds a container to the head where Ray
scales the cluster itself, and one to workers that waits for the head.
Source: ray.io/v1, ray-operator/controllers/ray (common/pod.go, utils/util.go, rayjob_controller.go).
"""

from typing import Final

from reparto.placement.drawn_names import drawn_name
from reparto.placement.workloads.fields import Fields, Json, mapping
from reparto.placement.workloads.objects import Draft, Made, Workload, merged, pod_template, with_container
from reparto.placement.workloads.world import World, active

_PREFIX_LENGTH: Final = 50  # of 63: leaves room for `-worker-` and five characters
_MAX: Final = 2**31 - 1
_AUTOSCALER: Final[Json] = {
    "name": "autoscaler",
    "resources": {"limits": {"cpu": "500m", "memory": "512Mi"}, "requests": {"cpu": "500m", "memory": "512Mi"}},
}
_WAIT: Final[Json] = {
    "name": "wait-gcs-ready",
    "resources": {"limits": {"cpu": "200m", "memory": "256Mi"}, "requests": {"cpu": "200m", "memory": "256Mi"}},
}
_SUBMITTER: Final[Json] = {
    "name": "ray-job-submitter",
    "resources": {"limits": {"cpu": "1", "memory": "1Gi"}, "requests": {"cpu": "500m", "memory": "200Mi"}},
}


def ray_cluster(item: Workload, world: World) -> Made:
    """The head, then each group of workers."""
    spec = item.spec
    if spec.flag("suspend"):
        return
    pods = active(world.controlled(item))
    head = spec.at("headGroupSpec")
    template = pod_template(head)
    scaling = spec.flag("enableInTreeAutoscaling")
    if scaling:
        options = spec.at("autoscalerOptions")
        resources = options.value.get("resources") or _AUTOSCALER["resources"]
        template = merged(template, spec=with_container(template["spec"], {**_AUTOSCALER, "resources": resources}))
        spec.doubt("Ray scales its workers by itself (enableInTreeAutoscaling); as many as written were planned")
    if not any((pod.metadata.labels or {}).get("ray.io/node-type") == "head" for pod in pods):
        labels = {**head.labels("labels"), **_labels(item, template, "head", "headgroup")}
        yield Draft(_name(item.name, "head"), template, labels=labels, path=f"{head.path}.template")
    groups = spec.items("workerGroupSpecs")
    for group in groups:
        name = group.text("groupName")
        wanted = _replicas(item, world, group, alone=len(groups) == 1) * max(1, group.number("numOfHosts", 1))
        running = sum((pod.metadata.labels or {}).get("ray.io/group") == name for pod in pods)
        worker = pod_template(group)
        worker = merged(worker, spec=with_container(worker["spec"], _WAIT, "initContainers"))
        labels = {**group.labels("labels"), **_labels(item, worker, "worker", name)}
        for _ in range(wanted - running):
            yield Draft(_name(f"{item.name}-{name}", "worker"), worker, labels=labels, path=f"{group.path}.template")


def _replicas(item: Workload, world: World, group: Fields, *, alone: bool) -> int:
    """Within minReplicas and maxReplicas; absent, KubeRay's default is none."""
    if group.flag("suspend"):
        return 0
    least, most = group.number("minReplicas", 0), group.number("maxReplicas", _MAX)
    written = group.optional_number("replicas")
    if written is None and least == 0:
        group.doubt(f"{group.path}.replicas is absent, which means none; set it, or give --replicas {item.kind}/{item.name}=N")
    count = max(least, min(most, written or 0))
    count = world.replicas(item, count, group.text("groupName"))
    return world.replicas(item, count) if alone else count


def _labels(item: Workload, template: Json, node: str, group: str) -> dict[str, str]:
    """Labels of KubeRay; all but three of them yield to those of the template."""
    own = mapping(template, "metadata", "labels")
    soft = {
        "ray.io/is-ray-node": "yes",
        "ray.io/identifier": f"{item.name}-{node}"[-63:],
        "app.kubernetes.io/name": "kuberay",
        "app.kubernetes.io/created-by": "kuberay-operator",
    }
    fixed = {"ray.io/cluster": item.name, "ray.io/node-type": node, "ray.io/group": group}
    return {**{key: value for key, value in soft.items() if key not in own}, **fixed}


def _name(prefix: str, node: str) -> str:
    return f"{prefix[:_PREFIX_LENGTH]}-{node}-".lower()


def ray_job(item: Workload, world: World) -> Made:
    """Its cluster, and the pod that submits the job once the cluster is ready."""
    spec = item.spec
    done = item.status.text("jobDeploymentStatus") in ("Complete", "Failed") or item.status.text("jobStatus") in (
        "SUCCEEDED",
        "FAILED",
    )
    if spec.flag("suspend") or done:
        return
    mode = spec.text("submissionMode", "K8sJobMode")
    if "clusterSelector" in spec and spec.at("clusterSelector"):
        spec.doubt("it runs on a RayCluster that exists (clusterSelector); only the pod that submits it is planned")
        cluster = Fields({}, "", item.doubts)
    else:
        cluster = spec.at("rayClusterSpec")
        written: Json = cluster.value
        if mode == "SidecarMode":
            head = cluster.at("headGroupSpec")
            template = pod_template(head)
            written = {
                **written,
                "headGroupSpec": {**head.value, "template": merged(template, spec=with_container(template["spec"], _SUBMITTER))},
            }
        yield _cluster(item, world, item.status.text("rayClusterName"), written)
    if mode == "K8sJobMode":
        submitter = spec.at("submitterPodTemplate")
        template = pod_template(spec, "submitterPodTemplate") if submitter else {"spec": {"containers": [_SUBMITTER]}}
        spec.doubt("the pod that submits the job starts when the cluster is ready; it was planned beside it")
        yield world.child(item, "batch/v1", "Job", item.name, {"spec": {"template": template}})


def ray_service(item: Workload, world: World) -> Made:
    """The cluster that serves. During an upgrade there are two for a while, which is not simulated."""
    if item.spec.flag("suspend"):
        return
    name = item.status.at("activeServiceStatus").text("rayClusterName")
    yield _cluster(item, world, name, item.spec.at("rayClusterConfig").value)


def ray_cron_job(item: Workload, world: World) -> Made:
    """One run; the RayJobs of the input that it made, where they have not ended."""
    runs = world.children(item, "RayJob")
    if runs:
        yield from runs
    elif not item.spec.flag("suspend"):
        value = {"spec": item.spec.at("jobTemplate").value}
        yield world.child(item, item.api_version, "RayJob", drawn_name(f"{item.name}-", item.ref), value)


def _cluster(item: Workload, world: World, name: str, spec: Json) -> Workload:
    """The RayCluster of a RayJob or RayService: the one of the input, else one with a drawn name."""
    real = world.children(item, "RayCluster")
    name = name or (real[-1].name if real else drawn_name(f"{item.name}-", item.ref))
    return world.child(item, item.api_version, "RayCluster", name, {"spec": spec})
