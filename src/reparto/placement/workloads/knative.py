"""Knative Service: the Deployment of its newest revision, with Knative's own container beside the user's.

Source: serving.knative.dev/v1, pkg/reconciler/revision/resources (deploy.go, queue.go).
"""

from typing import Final

from reparto.placement.workloads.fields import Json
from reparto.placement.workloads.objects import Made, Workload, merged, pod_template, with_container
from reparto.placement.workloads.world import World

_SCALE: Final = "autoscaling.knative.dev/"
_QUEUE: Final[Json] = {"name": "queue-proxy", "resources": {"requests": {"cpu": "25m"}}}
_MAX_CHILD_NAME: Final = 63


def knative_service(item: Workload, world: World) -> Made:
    """As many pods as the revision starts with, and never less than its minimum; Knative scales them with the load."""
    spec = item.spec
    template = pod_template(spec)
    if template["spec"].get("resourceClaims"):
        spec.doubt("Knative refuses spec.resourceClaims unless its webhook is told otherwise; they were planned")
    metadata = spec.at("template", "metadata")
    annotations = metadata.at("annotations").value
    wanted = _scale(item, annotations)
    spec.doubt("Knative scales it with its load; the pods that it starts with were planned")
    name = metadata.text("name") or item.status.text("latestCreatedRevisionName") or f"{item.name}-00001"
    labels = {"serving.knative.dev/revision": name, "serving.knative.dev/service": item.name, "app": name}
    own: Json = metadata.at("labels").value
    shown = merged(template, labels={**labels, **own}, spec=with_container(template["spec"], _QUEUE))
    selector = {"matchLabels": {"serving.knative.dev/revision": name}}
    value = {
        "spec": {
            "replicas": world.replicas(item, wanted),
            "selector": selector,
            "template": {**shown, "metadata": {**shown["metadata"], "name": None}},
        }
    }
    yield world.child(item, "apps/v1", "Deployment", f"{name}-deployment"[:_MAX_CHILD_NAME], value)


def _scale(item: Workload, annotations: Json) -> int:
    numbers: list[int] = []
    for names in (("initial-scale", "initialScale"), ("min-scale", "minScale")):
        text = next((str(annotations[f"{_SCALE}{name}"]) for name in names if f"{_SCALE}{name}" in annotations), "")
        if text and not text.isdigit():
            item.spec.doubt(f"annotation {_SCALE}{names[0]} is {text!r}; 1 was assumed")
        numbers.append(int(text) if text.isdigit() else 1 if names[0] == "initial-scale" else 0)
    return max(numbers)
