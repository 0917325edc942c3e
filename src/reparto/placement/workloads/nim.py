"""NIMService: a Deployment, or a LeaderWorkerSet where the model spans nodes.

Source: apps.nvidia.com/v1alpha1, k8s-nim-operator: api/apps/v1alpha1/nimservice_types.go, internal/shared/resourceclaims.go.
"""

from collections import Counter
from typing import Any, Final

from reparto.placement.workloads.fields import Fields, Json, mapping
from reparto.placement.workloads.objects import Made, Workload, short_hash
from reparto.placement.workloads.world import World

_FIELDS: Final = ("nodeSelector", "tolerations", "affinity", "schedulerName", "priorityClassName", "runtimeClassName")
_CLAIM, _TEMPLATE = 0, 1  # how the operator tells claims from templates in names


def nim_service(item: Workload, world: World) -> Made:
    """`replicas` pods `NAME-…`, or with multiNode groups `NAME-lws-…` of as many pods as the pipeline has stages."""
    spec = item.spec
    if spec.text("inferencePlatform", "standalone") == "kserve":
        spec.doubt("inferencePlatform is kserve: KServe makes its pods; they were planned as those of a Deployment")
    scale = spec.at("scale")
    count = spec.number("replicas", 1)
    if scale.flag("enabled"):
        count = scale.at("hpa").number("minReplicas", 1)
        scale.doubt(f"it scales with its load; its least number of pods was planned ({count})")
    count = world.replicas(item, count)
    pod = _pod(item)
    labels = {
        "app": item.name,
        "app.kubernetes.io/name": item.name,
        "app.kubernetes.io/instance": item.name,
        "app.kubernetes.io/part-of": "nim-service",
        "app.kubernetes.io/managed-by": "k8s-nim-operator",
        **spec.labels("labels"),
    }
    template: Json = {"metadata": {"labels": labels, "annotations": spec.labels("annotations")}, "spec": pod}
    if "multiNode" not in spec:
        value = {"spec": {"replicas": count, "selector": {"matchLabels": {"app": item.name}}, "template": template}}
        yield world.child(item, "apps/v1", "Deployment", item.name, value)
        return
    size = spec.at("multiNode", "parallelism").number("pipeline", 1)
    if "computeDomain" in spec.at("multiNode"):
        spec.doubt("the claim of its ComputeDomain is made by the operator and not planned")
    value = {
        "spec": {"replicas": count, "leaderWorkerTemplate": {"size": size, "leaderTemplate": template, "workerTemplate": template}}
    }
    yield world.child(item, "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", f"{item.name}-lws", value)


def _pod(item: Workload) -> dict[str, Any]:
    spec = item.spec
    pod: dict[str, Any] = {field: spec.value[field] for field in _FIELDS if spec.value.get(field)}
    main: dict[str, Any] = {"name": f"{item.name}-ctr", "resources": spec.at("resources").value}
    claims = _claims(item, spec)
    containers: list[Json] = [main, *(each.value for each in spec.items("sidecarContainers"))]
    if claims:
        pod["resourceClaims"] = [claim for claim, _ in claims]
        uses: list[Json] = []
        for claim, requests in claims:
            uses += [{"name": claim["name"], "request": request} for request in requests] or [{"name": claim["name"]}]
        containers = [{**each, "resources": {**mapping(each, "resources"), "claims": uses}} for each in containers]
    pod["containers"] = containers
    if "initContainers" in spec:
        pod["initContainers"] = [each.value for each in spec.items("initContainers")]
    return pod


def _claims(item: Workload, spec: Fields) -> list[tuple[Json, list[str]]]:
    """The pod's claims with the requests of each that containers use; names as the operator derives them."""
    found: list[tuple[Json, list[str]]] = []
    names: Counter[str] = Counter()
    for index, resource in enumerate(spec.items("draResources")):
        kind, field = _TEMPLATE, "resourceClaimTemplateName"
        target = resource.text("resourceClaimTemplateName")
        if "resourceClaimName" in resource:
            kind, field, target = _CLAIM, "resourceClaimName", resource.text("resourceClaimName")
        elif "claimCreationSpec" in resource:
            prefix = resource.at("claimCreationSpec").text("namePrefix") or "claimtemplate"
            target = f"{prefix}-{short_hash(item.name)}-{index}"
            resource.doubt(
                f"{resource.path}.claimCreationSpec: the operator makes ResourceClaimTemplate {target}, which is not in the input"
            )
        base = f"claim-{short_hash(item.name)}-{kind}-{short_hash(target)}"
        found.append(({"name": f"{base}-{names[base]}", field: target}, [str(each) for each in resource.sequence("requests")]))
        names[base] += 1
    return found
