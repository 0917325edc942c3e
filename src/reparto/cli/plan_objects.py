"""A plan as Kubernetes objects: the input as it would be once everything was placed, to be planned again or put into a cluster.

What is written must work in a cluster that has never seen these objects, so whatever refers to a uid of the old one goes: a server
gives every object a new uid, and its garbage collector deletes what an unknown uid owns. That is also why pods name their claims
here, instead of templates: nobody but the controller can own a claim by its pod's uid.

Objects of resource.k8s.io are written in v1, with defaults; all others as they were read, for Reparto knows only part of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, cast
from uuid import NAMESPACE_OID, uuid5

import msgspec

from reparto.model import core, v1
from reparto.model.intake import Loaded
from reparto.placement import Plan, PodPlan, Snapshot
from reparto.placement.claims import POD_CLAIM_ANNOTATION
from reparto.placement.snapshot import Key

Object = dict[str, Any]  # as JSON and YAML have it: this is where typed objects end

# Known in full, so written in the version that is planned.
_DEVICE_KINDS: Final = (v1.ResourceSlice, v1.DeviceClass, v1.DeviceTaintRule, v1.ResourceClaim, v1.ResourceClaimTemplate)
_TEMPLATE: Final = "ResourceClaimTemplate"
_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
_OF_ITS_CLUSTER: Final = ("uid", "resourceVersion", "generation", "managedFields", "selfLink", "ownerReferences", "generateName")
# In this order a server can take them one by one; every other kind comes after these.
_FIRST: Final = ("Namespace", "PriorityClass", "DeviceClass", "DeviceTaintRule", "Node", "ResourceSlice")
# Their pods are written instead; a cluster with their controllers would make each of them twice.
_MAKERS: Final = ("ReplicationController", "ReplicaSet", "StatefulSet", "Deployment")
_BUILT_IN_NAMESPACES: Final = ("default", "kube-system", "kube-public", "kube-node-lease")
_SHOWN: Final[Mapping[str, str]] = {"nodes": "Node", "devices": "ResourceSlice", "pods": "Pod", "claims": "ResourceClaim"}


def objects(
    plan: Plan, snapshot: Snapshot, loaded: Sequence[Loaded], made: Iterable[Object] = (), only: str | None = None
) -> list[Object]:
    """The objects after `plan`, in an order in which a server takes them; pods in the order of the plan.

    `loaded` are the objects read, with their documents, `made` the pods that workloads would make. `only` is "nodes", "devices",
    "pods" or "claims": the objects of that kind alone. Claims alone come without reservations, for the status subresource: their
    pods have no uid yet, and the resourceclaim controller reserves the claims for them.
    """
    found = list(_all(plan, snapshot, loaded, made))
    if only is None:
        return found
    found = [item for item in found if item["kind"] == _SHOWN[only]]
    for item in found if only == "claims" else ():
        cast("Object", item.get("status", {})).pop("reservedFor", None)
    return found


def _all(plan: Plan, snapshot: Snapshot, loaded: Sequence[Loaded], made: Iterable[Object]) -> Iterator[Object]:
    given: dict[str, list[Loaded]] = {}
    for item in loaded:
        if not _is_of_every_cluster(item):
            given.setdefault(item.kind, []).append(item)
    claims = [_claim(claim) for claim in plan.claims]
    yield from _namespaces(snapshot, claims, {item.name for item in given.get("Namespace", ())})
    classes = {item.name for item in given.get("DeviceClass", ())}
    for kind in _FIRST:
        yield from map(_as_read, given.get(kind, ()))
        if kind == "DeviceClass":  # the ones that stood in for missing ones
            yield from (_written(item) for name, item in sorted(snapshot.classes.items()) if name not in classes)
    pods = list(_pods(plan, snapshot, [*map(_as_read, given.get("Pod", ())), *map(_made, made)]))
    done_with = _templates(snapshot) - {template for pod in pods for template in _templates_named(pod)}
    for kind, items in given.items():
        if kind not in (*_FIRST, *_MAKERS, "ResourceClaim", "Pod"):
            # A template whose pods all have their claims would look like one that is still to be used.
            yield from (_as_read(item) for item in items if (item.namespace, item.name) not in done_with or kind != _TEMPLATE)
    yield from claims
    yield from pods


def _templates(snapshot: Snapshot) -> set[Key]:
    """The templates that pods use before the plan."""
    return {
        (pod.metadata.namespace, entry.resource_claim_template_name)
        for pod in snapshot.pods
        for entry in pod.spec.resource_claims
        if entry.resource_claim_template_name
    }


def _templates_named(pod: Object) -> Iterator[Key]:
    for entry in cast("list[Object]", pod["spec"].get("resourceClaims") or []):
        if name := entry.get("resourceClaimTemplateName"):
            yield pod["metadata"]["namespace"], name


def _is_of_every_cluster(item: Loaded) -> bool:
    """Whether a server makes the object itself, just so, and would refuse to be given it."""
    match item.object:
        case core.Namespace(metadata=metadata):
            return item.name in _BUILT_IN_NAMESPACES and not (metadata.labels or {}).keys() - {"kubernetes.io/metadata.name"}
        case core.PriorityClass():
            return item.name.startswith("system-")
        case core.Service():
            return (item.namespace, item.name) == ("default", "kubernetes")
        case _:
            return False


def _namespaces(snapshot: Snapshot, claims: Iterable[Object], given: set[str]) -> Iterator[Object]:
    """Namespaces that the objects name and the input lacks: without them, no server takes the objects."""
    named = {pod.metadata.namespace for pod in snapshot.pods} | {namespace for namespace, _ in snapshot.templates}
    named |= {cast("str", claim["metadata"]["namespace"]) for claim in claims}
    for name in sorted(named - given - set(_BUILT_IN_NAMESPACES)):
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _as_read(item: Loaded) -> Object:
    if item.document is None or isinstance(item.object, _DEVICE_KINDS):
        return _written(item.object)
    value: Object = item.document.value
    if isinstance(item.object, core.Service):
        spec = cast("Object", value.get("spec") or {})
        value = {**value, "spec": {key: part for key, part in spec.items() if not _is_address(key, part)}}
    return {**value, "metadata": _portable(value.get("metadata") or {}, item.namespace, item.name)}


def _is_address(key: str, value: object) -> bool:
    """Whether a field of a Service's spec is an address that its cluster gave it; that it has none by intent is no address."""
    return key in ("clusterIP", "clusterIPs") and value not in ("None", ["None"])


def _written(item: object) -> Object:
    value = cast("Object", msgspec.to_builtins(item))
    metadata = cast("Object", value.get("metadata", {}))
    head = {"apiVersion": value["apiVersion"], "kind": value["kind"]}
    head["metadata"] = _portable(metadata, cast("str", metadata.get("namespace", "")), cast("str", metadata.get("name", "")))
    return {**head, **{name: part for name, part in value.items() if name not in head}}


def _portable(metadata: Mapping[str, Any], namespace: str, name: str) -> Object:
    """Metadata without what only the old cluster gives a meaning to."""
    kept = {key: value for key, value in metadata.items() if key not in (*_OF_ITS_CLUSTER, "name", "namespace")}
    written = cast("Mapping[str, str]", metadata.get("annotations") or {})
    annotations = {key: text for key, text in written.items() if key != _APPLIED}
    kept.pop("annotations", None)
    return {
        "name": name,
        **({"namespace": namespace} if namespace else {}),
        **kept,
        **({"annotations": annotations} if annotations else {}),
    }


def _claim(claim: v1.ResourceClaim) -> Object:
    value = _written(claim)
    # It says which of its pod's entries the claim was made for; now the entry names the claim.
    annotations = value["metadata"].get("annotations", {})
    annotations.pop(POD_CLAIM_ANNOTATION, None)
    if not annotations:
        value["metadata"].pop("annotations", None)
    for consumer in value.get("status", {}).get("reservedFor", ()):
        # A pod of a manifest has no uid before it is created, yet the API wants one: any that is always the same will do.
        consumer.setdefault("uid", str(uuid5(NAMESPACE_OID, f"Pod/{claim.metadata.namespace}/{consumer['name']}")))
    return value


def _made(pod: Object) -> Object:
    metadata = cast("Object", pod["metadata"])
    return {**pod, "metadata": _portable(metadata, metadata["namespace"], metadata["name"])}


def _pods(plan: Plan, snapshot: Snapshot, given: Iterable[Object]) -> Iterator[Object]:
    documents = {(item["metadata"]["namespace"], item["metadata"]["name"]): item for item in given}
    pods = {(pod.metadata.namespace, pod.metadata.name): pod for pod in snapshot.pods}
    existing = {(claim.metadata.namespace, claim.metadata.name) for claim in plan.claims}
    for planned in plan.pods:
        identity = planned.namespace, planned.name
        pod = pods.get(identity)
        if planned.hypothetical or pod is None or _is_gone(planned, pod):
            continue
        value = documents[identity] if identity in documents else _written(pod)
        names = {claim.pod_claim_name: claim.name for claim in planned.claims if (claim.namespace, claim.name) in existing}
        yield _pod(value, planned, names)


def _is_gone(planned: PodPlan, pod: core.Pod) -> bool:
    """Whether nothing of the pod is left: it has finished, or is deleted before it ever ran."""
    return planned.verdict == "skipped" and (
        pod.status.phase in ("Succeeded", "Failed") or (pod.metadata.deletion_timestamp is not None and not pod.spec.node_name)
    )


def _pod(value: Object, planned: PodPlan, names: Mapping[str, str]) -> Object:
    """The pod with its node and the names of its claims (`names`, by pod claim)."""
    spec: Object = dict(value.get("spec") or {})
    status: Object = dict(value.get("status") or {})
    if planned.node and planned.verdict in ("placed", "bound"):
        spec["nodeName"] = planned.node
    if planned.verdict == "placed":
        status.pop("conditions", None)  # they say that it could not be scheduled
    if entries := cast("list[Object]", spec.get("resourceClaims") or []):
        own = {name: names[name] for entry in entries if (name := cast("str", entry["name"])) in names}
        spec["resourceClaims"] = [_entry(entry, own) for entry in entries]
        statuses = [each for each in cast("list[Object]", status.get("resourceClaimStatuses") or []) if each["name"] not in own]
        statuses += [{"name": name, "resourceClaimName": claim} for name, claim in own.items()]
        status.pop("resourceClaimStatuses", None)
        if statuses:
            status["resourceClaimStatuses"] = statuses
    if planned.verdict == "placed" and planned.extended_resource_claim_status:
        status["extendedResourceClaimStatus"] = msgspec.to_builtins(planned.extended_resource_claim_status)
    written = {**value, "spec": spec, "status": status}
    return written if status else {name: part for name, part in written.items() if name != "status"}


def _entry(entry: Object, names: Mapping[str, str]) -> Object:
    name = names.get(cast("str", entry["name"]))
    if name is None:
        return entry
    others = {key: part for key, part in entry.items() if key != "resourceClaimTemplateName"}
    return {**others, "resourceClaimName": name}
