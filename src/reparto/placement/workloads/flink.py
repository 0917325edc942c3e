"""FlinkDeployment: the JobManager, and the TaskManagers that it asks for.

Source: flink.apache.org/v1beta1, Flink Kubernetes Operator; Flink's native Kubernetes mode (names, slots, memory).
"""

import re
from typing import Final

from reparto.placement.workloads.fields import Fields, Json, MalformedField, listing, mapping
from reparto.placement.workloads.objects import Draft, Made, Workload
from reparto.placement.workloads.patches import patched_pod
from reparto.placement.workloads.world import World

_MAIN: Final = "flink-main-container"
_SLOTS: Final = "taskmanager.numberOfTaskSlots"
_UNITS: Final = {"b": 1, "": 1, "k": 2**10, "kb": 2**10, "m": 2**20, "mb": 2**20, "g": 2**30, "gb": 2**30, "t": 2**40, "tb": 2**40}
_MEMORY = re.compile(r"(\d+)\s*([a-z]*)", re.IGNORECASE)
_ENDED: Final = ("FINISHED", "FAILED", "CANCELED")


def flink_deployment(item: Workload, world: World) -> Made:
    """The JobManager's Deployment, and `ceil(parallelism / slots)` TaskManagers; a session without a job has none yet."""
    spec = item.spec
    if spec.at("job").text("state", "running") == "suspended" or item.status.at("jobStatus").text("state").upper() in _ENDED:
        return
    manager = spec.at("jobManager")
    labels = {"app": item.name, "type": "flink-native-kubernetes"}
    template = _pod(item, manager, {**labels, "component": "jobmanager"})
    selector = {"matchLabels": {**labels, "component": "jobmanager"}}
    value = {"spec": {"replicas": manager.number("replicas", 1), "selector": selector, "template": template}}
    yield world.child(item, "apps/v1", "Deployment", item.name, value)
    workers = spec.at("taskManager")
    standalone = spec.text("mode", "native") == "standalone"
    count = world.replicas(item, world.replicas(item, _workers(item, workers), "taskmanager"))
    template = _pod(item, workers, {**labels, "component": "taskmanager"})
    if standalone:
        selector = {"matchLabels": {**labels, "component": "taskmanager"}}
        value = {"spec": {"replicas": count, "selector": selector, "template": template}}
        yield world.child(item, "apps/v1", "Deployment", f"{item.name}-taskmanager", value)
        return
    for number in range(1, count + 1):
        yield Draft(f"{item.name}-taskmanager-1-{number}", template, path=workers.path)


def _workers(item: Workload, workers: Fields) -> int:
    written = workers.optional_number("replicas")
    if written is not None:
        return written
    if "job" not in item.spec:
        item.spec.doubt("it is a session cluster: TaskManagers start with the first job, and none were planned")
        return 0
    configuration = item.spec.at("flinkConfiguration").value
    slots = str(configuration.get(_SLOTS) or "1")
    if not (slots.isascii() and slots.isdigit() and int(slots)):
        item.spec.doubt(f"{_SLOTS} is {slots!r}: 1 was assumed")
        slots = "1"
    return -(-item.spec.at("job").number("parallelism", 1) // int(slots))


def _pod(item: Workload, role: Fields, labels: Json) -> Json:
    pod: Json = {"spec": {"containers": []}}
    for template in (item.spec.at("podTemplate"), role.at("podTemplate")):
        pod = patched_pod(pod, template.value)
    spec = mapping(pod, "spec")
    containers = listing(spec.get("containers"))
    if not any(container.get("name") == _MAIN for container in containers):
        containers.insert(0, {"name": _MAIN})
    resource = role.at("resource")
    size: Json = {"cpu": str(resource.value.get("cpu", 1)), "memory": _memory(resource)}
    sized = [_sized(each, size) if each.get("name") == _MAIN else each for each in containers]
    metadata = mapping(pod, "metadata")
    return {"metadata": {**metadata, "labels": {**mapping(metadata, "labels"), **labels}}, "spec": {**spec, "containers": sized}}


def _sized(container: Json, size: Json) -> Json:
    own = mapping(container, "resources")
    parts = {part: {**mapping(own, part), **size} for part in ("requests", "limits")}
    return {**container, "resources": {**own, **parts}}


def _memory(resource: Fields) -> str:
    """Bytes as a quantity: Flink's `2048m` are mebibytes, not thousandths."""
    text = resource.text("memory", "2048m")
    found = _MEMORY.fullmatch(text.strip())
    if found is None or found[2].lower() not in _UNITS:
        if text.endswith("i"):
            return text
        raise MalformedField(resource.path_of("memory"), text, "memory as Flink writes it, such as 2048m or 4g")
    return str(int(found[1]) * _UNITS[found[2].lower()])
