"""SparkApplication: a driver, and the executors that it asks for.

The operator submits the application, Spark makes the pods: their size follows from cores and memory, with an overhead.
Source: sparkoperator.k8s.io/v1beta2, internal/controller/sparkapplication/submission.go; Spark 3.5 on Kubernetes.
"""

import math
import re
from typing import Any, Final

from reparto.placement.drawn_names import drawn_name
from reparto.placement.workloads.fields import Fields, Json, MalformedField, listing, mapping
from reparto.placement.workloads.objects import Draft, Made, Workload
from reparto.placement.workloads.world import World, active

_EXECUTORS: Final = 2  # spark.executor.instances where nobody sets it
_LEAST_OVERHEAD: Final = 384  # MiB
_JVM_OVERHEAD, _OTHER_OVERHEAD = 0.1, 0.4  # of the memory; the latter for Python and R
_ENDED: Final = ("COMPLETED", "FAILED", "SUBMISSION_FAILED")
_UNITS: Final = {"": 1, "k": 1 / 1024, "m": 1, "g": 1024, "t": 1024 * 1024}
_MEMORY = re.compile(r"(\d+)\s*([kmgt]?)(?:b|i|ib)?", re.IGNORECASE)
_POD_FIELDS: Final = ("nodeSelector", "tolerations", "affinity", "schedulerName", "priorityClassName", "initContainers", "volumes")


def spark_application(item: Workload, world: World) -> Made:
    """The driver `NAME-driver`, and executors, which the driver starts, so that they belong to its pod."""
    spec = item.spec
    if spec.flag("suspend") or item.status.at("applicationState").text("state") in _ENDED:
        return
    conf = spec.at("sparkConf").value
    driver, executor = spec.at("driver"), spec.at("executor")
    labels = {"sparkoperator.k8s.io/app-name": item.name, "sparkoperator.k8s.io/launched-by-spark-operator": "true"}
    name = driver.text("podName") or str(conf.get("spark.kubernetes.driver.pod.name") or f"{item.name}-driver")
    yield Draft(
        name, _pod(item, driver, "driver", "spark-kubernetes-driver"), labels={**labels, "spark-role": "driver"}, path="spec.driver"
    )
    written = executor.optional_number("instances")
    count = _conf_number(conf, "spark.executor.instances", _EXECUTORS) if written is None else written
    dynamic = spec.at("dynamicAllocation")
    if dynamic.flag("enabled"):
        least = dynamic.number("minExecutors", 0)
        count = max(dynamic.number("initialExecutors", 0), least, written or 0)
        dynamic.doubt(f"Spark changes the number of executors with its load; those that it starts with were planned ({count})")
    count = world.replicas(item, world.replicas(item, count, "executor"))
    prefix = drawn_name(f"{item.name}-", item.ref)
    template = _pod(item, executor, "executor", "spark-kubernetes-executor")
    running = [pod for owner, owned in world.owned_by_kind(item.namespace, "Pod") if owner == name for pod in active(owned)]
    for number in range(len(running) + 1, count + 1):
        own = {**labels, "spark-role": "executor", "spark-exec-id": str(number)}
        yield Draft(f"{prefix}-exec-{number}", template, labels=own, path="spec.executor")


def scheduled_spark_application(item: Workload, world: World) -> Made:
    """One run."""
    runs = [run for run in world.children(item) if run.status.at("applicationState").text("state") not in _ENDED]
    if runs:
        yield from runs
    elif not item.spec.flag("suspend"):
        value = {"spec": item.spec.at("template").value}
        yield world.child(item, item.api_version, "SparkApplication", drawn_name(f"{item.name}-", item.ref), value)


def _pod(item: Workload, role: Fields, kind: str, container_name: str) -> Json:
    base: Json = role.at("template").value
    spec: dict[str, Any] = dict(role.at("template", "spec").value)
    for field in _POD_FIELDS:
        if role.value.get(field) is not None:
            spec[field] = role.value[field]
    if not spec.get("schedulerName") and item.spec.text("batchScheduler") == "volcano":
        spec["schedulerName"] = "volcano"
    containers = listing(spec.get("containers")) or [{"name": container_name}]
    own = mapping(containers[0], "resources")
    requests, limits = dict(mapping(own, "requests")), dict(mapping(own, "limits"))
    cores = str(role.optional_number("cores") or 1) if not _fraction(role) else str(role.value["cores"])
    requests["cpu"] = role.text("coreRequest") or _conf_text(item, f"spark.kubernetes.{kind}.request.cores") or cores
    if limit := role.text("coreLimit") or _conf_text(item, f"spark.kubernetes.{kind}.limit.cores"):
        limits["cpu"] = limit
    memory = f"{_memory(item, role, kind)}Mi"
    requests["memory"] = limits["memory"] = memory
    gpu = role.at("gpu")
    if gpu:
        limits[gpu.text("name")] = requests[gpu.text("name")] = str(gpu.number("quantity", 1))
    containers[0] = {**containers[0], "resources": {**own, "requests": requests, "limits": limits}}
    sidecars = [each.value for each in role.items("sidecars")]
    metadata = mapping(base, "metadata")
    labels = {**mapping(metadata, "labels"), **role.labels("labels")}
    return {"metadata": {**metadata, "labels": labels}, "spec": {**spec, "containers": [*containers, *sidecars]}}


def _fraction(role: Fields) -> bool:
    return isinstance(role.value.get("cores"), float)


def _memory(item: Workload, role: Fields, kind: str) -> int:
    """MiB of the container: the heap and its overhead, at least 384 MiB."""
    heap = _mib(role, "memory", role.text("memory") or _conf_text(item, f"spark.{kind}.memory") or "1g")
    overhead = role.text("memoryOverhead") or _conf_text(item, f"spark.{kind}.memoryOverhead")
    if overhead:
        return heap + _mib(role, "memoryOverhead", overhead)
    factor = _JVM_OVERHEAD if item.spec.text("type", "Scala") in ("Java", "Scala") else _OTHER_OVERHEAD
    written = item.spec.text("memoryOverheadFactor") or _conf_text(item, f"spark.{kind}.memoryOverheadFactor")
    try:
        factor = float(written) if written else factor
    except ValueError:
        raise MalformedField("spec.memoryOverheadFactor", written, "a number") from None
    if not 0 <= factor < 1_000:
        raise MalformedField("spec.memoryOverheadFactor", written, "a share, such as 0.1")
    return heap + max(math.floor(heap * factor), _LEAST_OVERHEAD)


def _mib(role: Fields, field: str, text: str) -> int:
    found = _MEMORY.fullmatch(text.strip())
    if found is None:
        raise MalformedField(role.path_of(field), text, "memory as Spark writes it, such as 4g or 512m")
    return math.ceil(int(found[1]) * _UNITS[found[2].lower()])


def _conf_text(item: Workload, key: str) -> str:
    value = item.spec.at("sparkConf").value.get(key)
    return "" if value is None else str(value)


def _conf_number(conf: Json, key: str, default: int) -> int:
    text = str(conf.get(key) or "")
    return int(text) if text.isascii() and text.isdigit() else default
