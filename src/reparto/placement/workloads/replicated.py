"""Deployment, ReplicaSet, ReplicationController, and rollouts that work like them: so many pods alike, with drawn names.

Source: Kubernetes 1.37.2, pkg/controller/deployment and pkg/controller/replicaset; Argo Rollouts for its labels.
"""

from collections.abc import Iterator

import msgspec

from reparto.model import core
from reparto.placement.workloads.fields import Json, mapping
from reparto.placement.workloads.objects import Draft, Made, Workload, merged, pod_template, template_hash
from reparto.placement.workloads.world import World, active

HASH_LABEL = "pod-template-hash"
_ROLLOUT_LABEL = "rollouts-pod-template-hash"


def deployment(item: Workload, world: World) -> Made:
    """The ReplicaSet of the newest template, for what the pods of all its ReplicaSets leave missing. A rollout is not simulated."""
    if "workloadRef" in item.spec:  # a Rollout may take over a Deployment's template, and scales that down
        reference = item.spec.at("workloadRef")
        item.spec.doubt(f"it runs the pods of {reference.text('kind')} {reference.text('name')}, which were planned as that one's")
        return
    label = _ROLLOUT_LABEL if item.kind == "Rollout" else HASH_LABEL
    template = pod_template(item.spec)
    wanted = world.replicas(item, item.spec.number("replicas", 1))
    if item.spec.flag("paused"):
        item.spec.doubt("spec.paused is true; it was planned as if it went on")
    running = active(_pods(item, world, label))
    _too_many(item, len(running), wanted)
    revision, digest = _newest(item, world, template, label)
    labelled = merged(template, labels={label: digest})
    missing = wanted - len(running)
    if missing > 0:
        # What the ReplicaSet has already is among those that run.
        made = world.child(item, "apps/v1", "ReplicaSet", revision, {"spec": {"template": labelled}})
        has = len(active(world.controlled(made)))
        yield msgspec.structs.replace(made, value={**made.value, "spec": {"replicas": missing + has, "template": labelled}})


def replica_set(item: Workload, world: World) -> Made:
    """A ReplicaSet that nobody in the input owns; it adopts pods without a controller that its selector selects."""
    yield from _alike(item, world, item.spec.at("selector").value)


def replication_controller(item: Workload, world: World) -> Made:
    """As a ReplicaSet, but the selector is plain labels, and absent it is the template's labels."""
    template = pod_template(item.spec)
    labels = item.spec.labels("selector") or dict(mapping(template, "metadata", "labels"))
    yield from _alike(item, world, {"matchLabels": labels} if labels else {})


def _alike(item: Workload, world: World, selector: Json) -> Iterator[Draft]:
    template = pod_template(item.spec)
    wanted = world.replicas(item, item.spec.number("replicas", 1))
    running = active(world.pods(item, selector=selector))
    _too_many(item, len(running), wanted)
    for _ in range(wanted - len(running)):
        yield Draft(f"{item.name}-", template)


def _pods(item: Workload, world: World, label: str) -> list[core.Pod]:
    """The pods of all ReplicaSets of a Deployment: those in the input, and those whose name and label show whose they are."""
    sets = world.children(item, "ReplicaSet")
    pods = [pod for each in sets for pod in world.controlled(each)]
    known = {each.name for each in sets}
    for name, owned in world.owned_by_kind(item.namespace, "ReplicaSet"):
        if name in known or world.find("ReplicaSet", item.namespace, name) is not None:
            continue
        pods += [pod for pod in owned if name == f"{item.name}-{(pod.metadata.labels or {}).get(label)}"]
    orphans = world.adoptable(item.namespace, item.spec.at("selector").value)
    return pods + [pod for pod in orphans if label in (pod.metadata.labels or {})]


def _newest(item: Workload, world: World, template: Json, label: str) -> tuple[str, str]:
    """Name and hash of the ReplicaSet for `template`: the one of the input that has it, else the one that would be made."""
    for each in world.children(item, "ReplicaSet"):
        digest = str(each.spec.at("template", "metadata", "labels").value.get(label) or "")
        if digest and _without(each.spec.at("template").value, label) == _without(template, label):
            return each.name, digest
    digest = template_hash(template)
    return f"{item.name}-{digest}", digest


def _without(template: Json, label: str) -> Json:
    metadata = mapping(template, "metadata")
    labels = {key: value for key, value in mapping(metadata, "labels").items() if key != label}
    kept = {key: value for key, value in metadata.items() if key not in ("labels", "creationTimestamp")}
    return {"metadata": {**kept, "labels": labels}, "spec": template.get("spec")}


def _too_many(item: Workload, running: int, wanted: int) -> None:
    if running > wanted:
        item.spec.doubt(f"{running} of its pods exist and {wanted} are wanted; which ones the controller deletes is not planned")
