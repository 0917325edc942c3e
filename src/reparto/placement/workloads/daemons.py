"""DaemonSet: one pod for each node that it may run on, pinned to that node by node affinity.

Source: Kubernetes 1.37.2, pkg/controller/daemon: which nodes (NodeShouldRunDaemonPod), tolerations, affinity.
"""

from collections.abc import Iterator
from typing import Any, Final

from reparto.allocation.node_matching import CompiledNodeSelector
from reparto.model import core
from reparto.model.decoding import decode
from reparto.model.errors import DecodeError
from reparto.placement.plugins.taints import untolerated
from reparto.placement.workloads.fields import Json, MalformedField
from reparto.placement.workloads.objects import Draft, Made, Workload, pod_template, template_hash
from reparto.placement.workloads.world import FINISHED, World

# Taints of nodes in trouble, on which daemons stay. (key, effect)
_TOLERATED: Final = (
    ("node.kubernetes.io/not-ready", "NoExecute"),
    ("node.kubernetes.io/unreachable", "NoExecute"),
    ("node.kubernetes.io/disk-pressure", "NoSchedule"),
    ("node.kubernetes.io/memory-pressure", "NoSchedule"),
    ("node.kubernetes.io/pid-pressure", "NoSchedule"),
    ("node.kubernetes.io/unschedulable", "NoSchedule"),
)
_HOST_NETWORK: Final = ("node.kubernetes.io/network-unavailable", "NoSchedule")


def daemon_set(item: Workload, world: World) -> Made:
    """A pod for each node of the input that has none of this DaemonSet yet."""
    template = pod_template(item.spec)
    spec: Json = template["spec"]
    tolerations = [*(spec.get("tolerations") or ()), *_automatic(spec)]
    probe = _typed({**spec, "tolerations": tolerations})
    labels = {"controller-revision-hash": template_hash(template), "pod-template-generation": "1"}
    if not world.nodes:
        item.spec.doubt("there is no node in the input, so it has no pods")
    exist = [pod for pod in world.pods(item, selector=item.spec.at("selector").value) if pod.status.phase not in FINISHED]
    served = {_target(pod) for pod in exist}
    for node in _nodes(probe, world):
        if node.metadata.name not in served:
            affinity = _pinned(spec.get("affinity") or {}, node.metadata.name)
            yield Draft(f"{item.name}-", template, labels=labels, spec={"tolerations": tolerations, "affinity": affinity})


def _automatic(spec: Json) -> list[Json]:
    taints = (*_TOLERATED, _HOST_NETWORK) if spec.get("hostNetwork") else _TOLERATED
    return [{"key": key, "operator": "Exists", "effect": effect} for key, effect in taints]


def _typed(spec: Json) -> core.PodSpec:
    try:
        pod = decode({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": spec})
    except DecodeError as error:
        raise MalformedField(f"spec.template.{error.path}", error.value, error.message) from None
    assert isinstance(pod, core.Pod)
    return pod.spec


def _nodes(spec: core.PodSpec, world: World) -> Iterator[core.Node]:
    affinity = spec.affinity.node_affinity if spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    selector = CompiledNodeSelector(required) if required is not None else None
    for node in world.nodes:
        labels = node.metadata.labels or {}
        if spec.node_name not in ("", node.metadata.name):
            continue
        if any(labels.get(key) != value for key, value in (spec.node_selector or {}).items()):
            continue
        if selector is not None and not selector.matches(node):
            continue
        if untolerated(spec.tolerations, node.spec.taints) is None:
            yield node


def _pinned(affinity: Json, node: str) -> Json:
    """The template's affinity with its required node terms replaced by one that matches the node's name."""
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]
    here: dict[str, Any] = dict(affinity.get("nodeAffinity") or {})
    here["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
    return {**affinity, "nodeAffinity": here}


def _target(pod: core.Pod) -> str:
    """The node that a daemon's pod is on or meant for."""
    if pod.spec.node_name:
        return pod.spec.node_name
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity else None
    for term in required.node_selector_terms if required else ():
        for field in term.match_fields:
            if field.key == "metadata.name" and field.operator == "In" and len(field.values) == 1:
                return field.values[0]
    return ""
