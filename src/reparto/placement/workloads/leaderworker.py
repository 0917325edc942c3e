"""LeaderWorkerSet: groups of a leader and its workers.

Leaders are the pods of one StatefulSet, the workers of each group those of another; a webhook tells every pod its group.
Source: leaderworkerset.x-k8s.io/v1, leaderworkerset_controller.go, pod_controller.go, pod_webhook.go.
"""

from collections.abc import Iterator
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from reparto.placement.workloads.fields import Json, listing, mapping
from reparto.placement.workloads.jobset import exclusive
from reparto.placement.workloads.objects import Draft, Made, Workload, pod_template, sha1, template_hash
from reparto.placement.workloads.world import World

_PREFIX: Final = "leaderworkerset.sigs.k8s.io/"
_KEY: Final = f"{_PREFIX}group-key"
_SUB_KEY: Final = f"{_PREFIX}subgroup-key"


class _Groups(msgspec.Struct, frozen=True):
    """What the pods of all groups share: the set, how many pods a group has, and the revision of its templates."""

    item: Workload
    size: int
    revision: str


def leader_worker_set(item: Workload, world: World) -> Made:
    """`replicas` leaders `NAME-GROUP`, then for each group its workers `NAME-GROUP-1` … `NAME-GROUP-(size-1)`."""
    spec = item.spec
    templates = spec.at("leaderWorkerTemplate")
    worker = pod_template(templates, "workerTemplate")
    leader = pod_template(templates, "leaderTemplate") if "leaderTemplate" in templates else worker
    groups, size = world.replicas(item, spec.number("replicas", 1)), max(1, templates.number("size", 1))
    if spec.text("startupPolicy") == "LeaderReady" and size > 1:
        spec.doubt("its workers start when their leader is ready (LeaderReady); they were planned right after it")
    path = f"{templates.path}.{'leaderTemplate' if leader is not worker else 'workerTemplate'}"
    shared = _Groups(item, size, template_hash(templates.value))
    leaders = world.child(item, "apps/v1", "StatefulSet", item.name, {})
    for group in range(groups):
        yield replace(_pod(shared, leader, group, 0), path=path, owner=leaders)
    for group in range(groups):
        workers = world.child(item, "apps/v1", "StatefulSet", f"{item.name}-{group}", {})
        for index in range(1, size):
            yield replace(_pod(shared, worker, group, index), path=f"{templates.path}.workerTemplate", owner=workers)


def _pod(shared: _Groups, template: Json, group: int, index: int) -> Draft:
    item, size, revision = shared.item, shared.size, shared.revision
    leader = f"{item.name}-{group}"
    name = leader if index == 0 else f"{leader}-{index}"
    key = sha1(f"{item.namespace}/{leader}")
    labels = {
        f"{_PREFIX}name": item.name,
        f"{_PREFIX}group-index": str(group),
        f"{_PREFIX}worker-index": str(index),
        _KEY: key,
        f"{_PREFIX}template-revision-hash": revision,
        "statefulset.kubernetes.io/pod-name": name,
        "apps.kubernetes.io/pod-index": str(index or group),
        "controller-revision-hash": f"{item.name if index == 0 else leader}-{revision}",
    }
    annotations = {f"{_PREFIX}size": str(size)}
    if index:
        annotations[f"{_PREFIX}leader-name"] = leader
    unique = item.spec.at("networkConfig").text("subdomainPolicy") == "UniquePerReplica"
    spec: dict[str, Any] = {"hostname": name, "subdomain": leader if unique else item.name}
    affinity = mapping(template, "spec", "affinity")
    if topology := item.annotation(f"{_PREFIX}exclusive-topology"):
        annotations[f"{_PREFIX}exclusive-topology"] = topology
        if index == 0:
            affinity = spec["affinity"] = exclusive(affinity, _KEY, key, topology)
        else:
            affinity = spec["affinity"] = _with_leader(affinity, key, topology)
            item.spec.doubt(f"workers go to the {topology} of their leader, which was planned as affinity to it")
    for name_of, value in _subgroup(item, leader, index, size):
        labels[name_of] = value
        if name_of == _SUB_KEY and (topology := item.annotation(f"{_PREFIX}subgroup-exclusive-topology")):
            affinity = spec["affinity"] = exclusive(affinity, _SUB_KEY, value, topology)
    return Draft(name, template, labels=labels, annotations=annotations, spec=spec)


def _with_leader(affinity: Json, key: str, topology: str) -> Json:
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    near = mapping(affinity, "podAffinity")
    group = {"matchExpressions": [{"key": _KEY, "operator": "In", "values": [key]}]}
    return {
        **affinity,
        "podAffinity": {**near, required: [*listing(near.get(required)), {"labelSelector": group, "topologyKey": topology}]},
    }


def _subgroup(item: Workload, leader: str, index: int, size: int) -> Iterator[tuple[str, str]]:
    """Labels of a pod's subgroup, where the set has subgroups."""
    policy = item.spec.at("leaderWorkerTemplate", "subGroupPolicy")
    members = policy.optional_number("subGroupSize")
    if not members or (index == 0 and policy.text("subGroupPolicyType") == "LeaderExcluded"):
        return
    # A leader beyond full subgroups belongs to the first one, and workers count from zero.
    extra = (size - 1) % members == 0 and size % members != 0
    number = "0" if index == 0 else str((index - 1 if extra else index) // members)
    yield f"{_PREFIX}subgroup-index", number
    yield _SUB_KEY, sha1(f"{leader}/{number}")
