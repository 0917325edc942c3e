"""The training operator's jobs (PyTorchJob, TFJob, XGBoostJob, PaddleJob, JAXJob, MPIJob v1) and the MPI operator's MPIJob.

Roles with so many replicas each, all numbered: no name is drawn but that of the MPI operator's launcher, which is a Job.
Source: kubeflow.org/v1, training-operator 1.9, pkg/controller.v1; kubeflow.org/v2beta1, mpi-operator, pkg/controller.
"""

from collections.abc import Mapping
from typing import Any, Final

from reparto.placement.workloads.fields import Fields, Json
from reparto.placement.workloads.objects import Draft, Made, Workload, merged, pod_template, with_container
from reparto.placement.workloads.world import World

_LABEL: Final = "training.kubeflow.org/"
# Kind → the field that holds its roles, and the roles in the order in which they lead.
_ROLES: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "PyTorchJob": ("pytorchReplicaSpecs", ("Master", "Worker")),
    "TFJob": ("tfReplicaSpecs", ("Chief", "Master", "PS", "Worker", "Evaluator")),
    "XGBoostJob": ("xgbReplicaSpecs", ("Master", "Worker")),
    "PaddleJob": ("paddleReplicaSpecs", ("Master", "Worker")),
    "JAXJob": ("jaxReplicaSpecs", ("Worker",)),
}
_MASTERS: Final = ("Master", "Chief")
_INIT_PYTORCH: Final[Json] = {
    "name": "init-pytorch",
    "resources": {"limits": {"cpu": "100m", "memory": "20Mi"}, "requests": {"cpu": "50m", "memory": "10Mi"}},
}
_DELIVERY_SIZE: Final = {"cpu": "100m", "memory": "512Mi", "ephemeral-storage": "5Gi"}
_KUBECTL_DELIVERY: Final[Json] = {
    "name": "kubectl-delivery",
    "resources": {"limits": _DELIVERY_SIZE, "requests": _DELIVERY_SIZE},
}


def training_job(item: Workload, world: World) -> Made:
    """Pods `NAME-ROLE-INDEX` of every role; a role without replicas has one."""
    field, order = _ROLES[item.kind]
    if _ended(item):
        return
    roles = _roles(item.spec.at(field), order)
    if not roles:
        item.spec.doubt(f"spec.{field} is empty: it makes no pods")
    masters = [role for role in _MASTERS if role in roles]
    for role, fields in roles.items():
        template = pod_template(fields)
        if item.kind == "PyTorchJob" and role == "Worker" and "Master" in roles:
            template = merged(template, spec=with_container(template["spec"], _INIT_PYTORCH, "initContainers"))
        count = _count(item, world, role, fields, 1)
        for index in range(count):
            labels = {**_labels(item), f"{_LABEL}replica-type": role.lower(), f"{_LABEL}replica-index": str(index)}
            if role in masters or (not masters and role == "Worker" and index == 0):
                labels[f"{_LABEL}job-role"] = "master"
            yield Draft(f"{item.name}-{role.lower()}-{index}", template, labels=labels, path=f"{fields.path}.template")


def mpi_job(item: Workload, world: World) -> Made:
    """Workers `NAME-worker-INDEX`, and the launcher: a pod in v1, a Job in v2beta1. Workers without replicas are none."""
    if _ended(item):
        return
    roles = _roles(item.spec.at("mpiReplicaSpecs"), ("Worker", "Launcher"))
    launcher, worker = roles.get("Launcher"), roles.get("Worker")
    version = item.api_version.rpartition("/")[2]
    second = version.startswith("v2")
    both = item.spec.flag("runLauncherAsWorker")
    if worker is not None:
        template = pod_template(worker)
        if worker.optional_number("replicas") is None:
            worker.doubt(f"{worker.path}.replicas is absent, which means none; set it, or give --replicas MPIJob/{item.name}=N")
        for index in range(_count(item, world, "Worker", worker, 0)):
            name = f"{item.name}-worker-{index}"
            labels = _mpi_labels(item, "worker", second)
            spec: dict[str, Any] = {}
            if second:
                labels[f"{_LABEL}replica-index"] = str(index + 1 if both else index)
                spec = {"hostname": name, "subdomain": item.name}
            yield Draft(name, template, labels=labels, spec=spec, path=f"{worker.path}.template")
    if launcher is None:
        return
    name, template = f"{item.name}-launcher", pod_template(launcher)
    labels = _mpi_labels(item, "launcher", second)
    if not second:
        template = merged(template, spec=with_container(template["spec"], _KUBECTL_DELIVERY, "initContainers"))
        yield Draft(name, template, labels=labels, path=f"{launcher.path}.template")
        return
    if item.spec.text("launcherCreationPolicy") == "WaitForWorkersReady":
        launcher.doubt("its launcher starts when all workers are ready (WaitForWorkersReady); it was planned beside them")
    if both:
        labels[f"{_LABEL}replica-index"] = "0"
    template = merged(template, labels=labels, spec={"hostname": name, "subdomain": item.name})
    yield world.child(item, "batch/v1", "Job", name, {"metadata": {"labels": {"app": item.name}}, "spec": {"template": template}})


def _ended(item: Workload) -> bool:
    return item.spec.at("runPolicy").flag("suspend") or item.condition("Succeeded", "Failed")


def _roles(specs: Fields, order: tuple[str, ...]) -> dict[str, Fields]:
    """The roles that are there, in their order; their names are accepted in any case, as the operator does."""
    written = {str(name).lower(): str(name) for name in specs.value}
    found = {role: specs.at(written[role.lower()]) for role in order if role.lower() in written}
    others = {name: specs.at(name) for lower, name in written.items() if lower not in {role.lower() for role in order}}
    return {**found, **others}


def _count(item: Workload, world: World, role: str, fields: Fields, default: int) -> int:
    count = fields.number("replicas", default)
    if role == "Worker":
        count = world.replicas(item, count)
    count = world.replicas(item, count, role.lower())
    return world.replicas(item, count, role)


def _labels(item: Workload) -> dict[str, str]:
    return {f"{_LABEL}operator-name": f"{item.kind.lower()}-controller", f"{_LABEL}job-name": item.name}


def _mpi_labels(item: Workload, role: str, second: bool) -> dict[str, str]:
    if second:
        return {f"{_LABEL}operator-name": "mpi-operator", f"{_LABEL}job-name": item.name, f"{_LABEL}job-role": role}
    labels = {**_labels(item), f"{_LABEL}replica-type": role}
    return {**labels, f"{_LABEL}job-role": "master"} if role == "launcher" else labels
