"""Random namespaces with quotas and limits, and what is created in them, as the reference reads them (reference/README.md).

Values are few and quotas small, so that about half of what is created is refused. Never generated: a claim that names two classes
which want one extended resource, for what upstream charges then follows from the order of a map.
"""

from __future__ import annotations

import random
from typing import Any

Object = dict[str, Any]

NAMESPACE = "d"
CLASSES = ("ka", "kb", "kc")
EXTENDED = ("a.example/gpu", "b.example/nic")
IMPLICIT = "deviceclass.resource.kubernetes.io/"
MARK = {"resource.kubernetes.io/extended-resource-claim": "true"}
COMPUTE = ("cpu", "memory", "ephemeral-storage")
AMOUNTS = ("0", "1", "100m", "250m", "500m", "1", "2", "3", "1500m", "4", "100Mi", "1Gi", "7")
SCOPES = ("Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity")
COUNTED = (
    *("pods", "count/pods", "cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "count/configmaps"),
    *(f"requests.{name}" for name in (*COMPUTE, "hugepages-2Mi", *EXTENDED)),
    *(f"limits.{name}" for name in COMPUTE),
    "count/resourceclaims.resource.k8s.io",
    *(f"{name}.deviceclass.resource.k8s.io/devices" for name in CLASSES),
    *(f"requests.{IMPLICIT}{name}" for name in CLASSES),
)


def quotas(rng: random.Random) -> Object:
    """A question about quotas: what exists, and what is created."""
    classes = [device_class(rng, name) for name in CLASSES if rng.random() < 0.9]
    pods = [pod(rng, f"old-{index}") for index in range(rng.randint(0, 3))]
    for each in pods:
        if rng.random() < 0.15:
            each["status"]["phase"] = rng.choice(("Succeeded", "Failed", "Running"))
    claims = [claim(rng, f"claim-{index}", pods, classes) for index in range(rng.randint(0, 4))]
    for each in pods:
        if rng.random() < 0.2:
            name = rng.choice((*(item["metadata"]["name"] for item in claims), "another"))
            each["status"]["extendedResourceClaimStatus"] = {"resourceClaimName": name, "requestMappings": []}
    new_pods: list[Object] = []
    create: list[Object] = []
    for index in range(rng.randint(1, 6)):
        if rng.random() < 0.4:
            new_pods.append(pod(rng, f"new-{index}"))
            create.append({"pod": new_pods[-1]})
        else:
            create.append({"claim": claim(rng, f"new-{index}", [*pods, *new_pods], classes)})
    return {
        "quotas": [quota(rng, f"quota-{index}") for index in range(rng.randint(1, 3))],
        "classes": classes,
        "pods": pods,
        "claims": claims,
        "create": create,
    }


def limits(rng: random.Random) -> Object:
    """A question about LimitRanges: a pod that is created."""
    return {"limitRanges": [limit_range(rng, f"range-{index}") for index in range(rng.choice((1, 1, 2)))], "pod": pod(rng, "new")}


def device_class(rng: random.Random, name: str) -> Object:
    metadata: Object = {"name": name}
    if rng.random() < 0.7:
        metadata["creationTimestamp"] = f"2026-01-0{rng.randint(1, 3)}T00:00:00Z"
    return {"metadata": metadata, "spec": {"extendedResourceName": rng.choice(EXTENDED)} if rng.random() < 0.7 else {}}


def pod(rng: random.Random, name: str) -> Object:
    early = rng.choice((0, 0, 1, 2))
    containers = [container(rng, index) for index in range(early + rng.choice((1, 1, 2)))]
    for each in containers[:early]:
        if rng.random() < 0.3:
            each["restartPolicy"] = "Always"
    spec: Object = {"initContainers": containers[:early], "containers": containers[early:]}
    if rng.random() < 0.2:
        spec["resources"] = {"requests": some(rng, COMPUTE[:2], 0.5), "limits": some(rng, COMPUTE[:2], 0.4)}
    if rng.random() < 0.2:
        spec["overhead"] = some(rng, COMPUTE[:2], 0.6)
    if rng.random() < 0.2:
        spec["activeDeadlineSeconds"] = 10
    if rng.random() < 0.3:
        spec["priorityClassName"] = rng.choice(("high", "low"))
    if rng.random() < 0.2:
        term: Object = {"topologyKey": "zone"}
        if rng.random() < 0.5:
            term["namespaces"] = ["another"]
        if rng.random() < 0.3:
            term["namespaceSelector"] = {}
        kind = rng.choice(("podAffinity", "podAntiAffinity"))
        spec["affinity"] = {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    return {"metadata": {"name": name, "namespace": NAMESPACE, "uid": f"uid-{name}"}, "spec": spec, "status": {}}


def container(rng: random.Random, index: int) -> Object:
    bounds = some(rng, COMPUTE, 0.3)
    if rng.random() < 0.2:
        bounds["hugepages-2Mi"] = "4Mi"
    for name in (*EXTENDED, f"{IMPLICIT}ka"):
        if rng.random() < 0.2:
            bounds[name] = str(rng.randint(0, 3))
    return {"name": f"c{index}", "image": "x", "resources": {"limits": bounds, "requests": some(rng, COMPUTE, 0.3)}}


def some(rng: random.Random, names: tuple[str, ...], share: float, amounts: tuple[str, ...] = AMOUNTS) -> dict[str, str]:
    return {name: rng.choice(amounts) for name in names if rng.random() < share}


def claim(rng: random.Random, name: str, pods: list[Object], classes: list[Object]) -> Object:
    while True:
        requests = [request(rng, index) for index in range(rng.choice((0, 1, 1, 2, 3)))]
        if not _is_random_upstream(requests, classes):
            break
    metadata: Object = {"name": name, "namespace": NAMESPACE}
    if rng.random() < 0.5:
        metadata["creationTimestamp"] = f"2026-01-0{rng.randint(1, 3)}T00:00:00Z"
    if pods and rng.random() < 0.5:
        owner = rng.choice(pods)["metadata"]
        uid = owner["uid"] if rng.random() < 0.9 else "uid-of-another"
        metadata["ownerReferences"] = [{"apiVersion": "v1", "kind": "Pod", "name": owner["name"], "uid": uid, "controller": True}]
        if rng.random() < 0.8:
            metadata["annotations"] = MARK
    return {"metadata": metadata, "spec": {"devices": {"requests": requests}}}


def request(rng: random.Random, index: int) -> Object:
    def ask() -> Object:
        amount: Object = {"allocationMode": "ExactCount", "count": rng.randint(1, 4)}
        return {"deviceClassName": rng.choice(CLASSES), **({"allocationMode": "All"} if rng.random() < 0.15 else amount)}

    if rng.random() < 0.3:
        alternatives = [{"name": f"a{number}", **ask()} for number in range(rng.randint(1, 3))]
        return {"name": f"r{index}", "firstAvailable": alternatives}
    return {"name": f"r{index}", "exactly": ask()}


def _is_random_upstream(requests: list[Object], classes: list[Object]) -> bool:
    asked = [part for each in requests for part in ([each["exactly"]] if "exactly" in each else each["firstAvailable"])]
    named = {part["deviceClassName"] for part in asked}
    resources = [
        each["spec"]["extendedResourceName"]
        for each in classes
        if each["metadata"]["name"] in named and "extendedResourceName" in each["spec"]
    ]
    return len(resources) != len(set(resources))


def quota(rng: random.Random, name: str) -> Object:
    hard = {
        counted: rng.choice(("100Mi", "2Gi", "10Gi")) if "memory" in counted or "huge" in counted else str(rng.randint(0, 12))
        for counted in COUNTED
        if rng.random() < 0.15
    }
    spec: Object = {"hard": hard}
    if rng.random() < 0.3:
        spec["scopes"] = rng.sample(SCOPES, rng.choice((1, 1, 2)))
    if rng.random() < 0.2:
        operator = rng.choice(("In", "NotIn", "Exists", "DoesNotExist"))
        expression: Object = {"scopeName": "PriorityClass", "operator": operator}
        if operator in ("In", "NotIn"):
            expression["values"] = ["high"]
        spec["scopeSelector"] = {"matchExpressions": [expression]}
    return {"metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec}


def limit_range(rng: random.Random, name: str) -> Object:
    names = (*COMPUTE, EXTENDED[0])
    items: list[Object] = []
    for _ in range(rng.choice((1, 1, 2))):
        item: Object = {"type": rng.choice(("Container", "Container", "Pod"))}
        for field in ("max", "min", "default", "defaultRequest")[: 4 if item["type"] == "Container" else 2]:
            if rng.random() < 0.45:
                item[field] = some(rng, names, 0.5)
        if rng.random() < 0.3:
            item["maxLimitRequestRatio"] = some(rng, names, 0.5, ("1", "2", "3", "1500m"))
        items.append(item)
    return {"metadata": {"name": name, "namespace": NAMESPACE}, "spec": {"limits": items}}
