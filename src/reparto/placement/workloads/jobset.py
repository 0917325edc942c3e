"""JobSet: groups of Jobs that run together.

Source: jobset.x-k8s.io/v1alpha2, jobset_controller.go (constructJob, labelAndAnnotateObject), jobset_webhook.go, pod_webhook.go.
"""

from collections.abc import Sequence
from typing import Any, Final

from reparto.placement.workloads.fields import Fields, Json, listing, mapping
from reparto.placement.workloads.objects import Made, Workload, merged, pod_template, sha1
from reparto.placement.workloads.world import World

_PREFIX: Final = "jobset.sigs.k8s.io/"
_EXCLUSIVE: Final = "alpha.jobset.sigs.k8s.io/exclusive-topology"
_NODE_SELECTOR: Final = "alpha.jobset.sigs.k8s.io/node-selector"
_NAMESPACED_JOB: Final = "alpha.jobset.sigs.k8s.io/namespaced-job"
_NO_SCHEDULE: Final = "alpha.jobset.sigs.k8s.io/no-schedule"


def job_set(item: Workload, world: World) -> Made:
    """Jobs `NAME-GROUP-INDEX` of all replicatedJobs, in the order written; none where it is suspended or has finished."""
    spec = item.spec
    if spec.flag("suspend") or item.condition("Completed", "Failed"):
        return
    groups = spec.items("replicatedJobs")
    counts = [world.replicas(item, group.number("replicas", 1), group.text("name")) for group in groups]
    if len(groups) == 1:
        counts = [world.replicas(item, counts[0])]
    _order(spec, groups)
    before = 0
    for group, count in zip(groups, counts, strict=True):
        job = group.at("template")
        pod_template(job.at("spec"))
        for index in range(count):
            name = f"{item.name}-{group.text('name')}-{index}"
            labels = _labels(item, group, name, index, before + index, groups, counts)
            yield world.child(item, "batch/v1", "Job", name, _job(item, job, name, labels))
        before += count


def _order(spec: Fields, groups: Sequence[Fields]) -> None:
    if spec.at("startupPolicy").text("startupPolicyOrder") == "InOrder" and len(groups) > 1:
        spec.doubt("its Jobs start one group after the other (InOrder); they were planned side by side")
    for group in groups:
        for dependency in group.items("dependsOn"):
            name, status = dependency.text("name"), dependency.text("status", "Ready")
            if status == "Complete":
                group.doubt(f"{group.path} starts when {name} is complete; both were planned side by side")


def _labels(
    item: Workload, group: Fields, job: str, index: int, overall: int, groups: Sequence[Fields], counts: Sequence[int]
) -> dict[str, str]:
    """What JobSet puts on Jobs and pods, as labels and again as annotations."""
    name, group_name = group.text("name"), group.text("groupName", "default")
    mates = [count for other, count in zip(groups, counts, strict=True) if other.text("groupName", "default") == group_name]
    place = 0
    for other, count in zip(groups, counts, strict=True):
        if other.text("name") == name:
            break
        place += count if other.text("groupName", "default") == group_name else 0
    found = {
        "jobset-name": item.name,
        "jobset-uid": item.uid,
        "replicatedjob-name": name,
        "restart-attempt": str(item.status.number("restarts", 0)),
        "replicatedjob-replicas": str(counts[[each.text("name") for each in groups].index(name)]),
        "global-replicas": str(sum(counts)),
        "job-index": str(index),
        "job-key": sha1(f"{item.namespace}/{job}"),
        "job-global-index": str(overall),
        "group-name": group_name,
        "group-replicas": str(sum(mates)),
        "job-group-index": str(place + index),
    }
    coordinator = item.spec.at("coordinator")
    if coordinator:
        place = f"{coordinator.number('jobIndex', 0)}-{coordinator.number('podIndex', 0)}"
        found["coordinator"] = f"{item.name}-{coordinator.text('replicatedJob')}-{place}.{_subdomain(item)}"
    return {f"{_PREFIX}{key}": value for key, value in found.items()}


def _subdomain(item: Workload) -> str:
    return item.spec.at("network").text("subdomain") or item.name


def _job(item: Workload, job: Fields, name: str, labels: dict[str, str]) -> Json:
    spec = job.at("spec")
    own = job.at("metadata", "annotations").value
    topology = str(own.get(_EXCLUSIVE) or item.annotation(_EXCLUSIVE))
    by_selector = _NODE_SELECTOR in own or bool(item.annotation(_NODE_SELECTOR))
    annotations = {**labels, **({_EXCLUSIVE: topology} if topology else {})}
    pod = spec.at("template", "spec").value
    more: dict[str, Any] = {"restartPolicy": pod.get("restartPolicy") or "OnFailure"}
    if item.spec.at("network").flag("enableDNSHostnames", True):
        more["subdomain"] = _subdomain(item)
    if topology and by_selector:
        more["nodeSelector"] = {**mapping(pod, "nodeSelector"), _NAMESPACED_JOB: f"{item.namespace}_{name}"}
        more["tolerations"] = [
            *listing(pod.get("tolerations")),
            {"key": _NO_SCHEDULE, "operator": "Exists", "effect": "NoSchedule"},
        ]
    elif topology:
        more["affinity"] = exclusive(mapping(pod, "affinity"), f"{_PREFIX}job-key", labels[f"{_PREFIX}job-key"], topology, {})
        item.spec.doubt(
            f"each Job has a {topology} to itself; its other pods go where the first one is, which was planned as affinity"
        )
    template = merged(spec.at("template").value, labels=labels, annotations=annotations, spec=more)
    metadata = {"labels": {**job.at("metadata").labels("labels"), **labels}, "annotations": annotations}
    mode = spec.value.get("completionMode") or "Indexed"
    return {"metadata": metadata, "spec": {**spec.value, "completionMode": mode, "template": template}}


def exclusive(affinity: Json, label: str, value: str, topology: str, namespaces: Json | None = None) -> Json:
    """`affinity`, and that all pods with this value of a label share a topology domain, to the exclusion of those with another.

    `namespaces` is the selector of the namespaces that count; None: the pod's own.
    """
    term: Json = {"topologyKey": topology, **({} if namespaces is None else {"namespaceSelector": namespaces})}
    together = {"matchExpressions": [{"key": label, "operator": "In", "values": [value]}]}
    apart = {
        "matchExpressions": [{"key": label, "operator": "Exists"}, {"key": label, "operator": "NotIn", "values": [value]}],
    }
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    near, far = mapping(affinity, "podAffinity"), mapping(affinity, "podAntiAffinity")
    return {
        **affinity,
        "podAffinity": {**near, required: [*listing(near.get(required)), {"labelSelector": together, **term}]},
        "podAntiAffinity": {**far, required: [*listing(far.get(required)), {"labelSelector": apart, **term}]},
    }
