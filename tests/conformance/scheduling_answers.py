"""What kube-scheduler and we make of the same cluster, in one form, and how a cluster on which we differ is made small.

Compared is what a user can see: the node of every pod, and what every claim holds in the end, device by device with request names,
configuration, consumed capacity, node selector and consumers; also of the claims that the scheduler invents for extended resources,
and which container uses which of their requests. Their names end in a counter, and share ids are random: both are replaced by what
they stand for.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from conformance.scheduling import Problem
from reparto.allocation import Features
from reparto.model import core, v1
from reparto.model.quantity import Quantity
from reparto.placement import Plan, make_plan, take_snapshot
from reparto.placement.cycle import Sampling

Answer = dict[str, Any]
"""`pods`: namespace/name → node, or "" where it has none; `claims`: namespace/name → what it holds at the end, and for whom;
`mappings`: namespace/name of a pod → which container uses which request of the claim for its extended resources."""

KINDS: dict[str, str] = {
    "nodes": "Node",
    "namespaces": "Namespace",
    "classes": "DeviceClass",
    "slices": "ResourceSlice",
    "claims": "ResourceClaim",
    "taintRules": "DeviceTaintRule",
    "priorityClasses": "PriorityClass",
    "pods": "Pod",
    "services": "Service",
    "replicationControllers": "ReplicationController",
    "replicaSets": "ReplicaSet",
    "statefulSets": "StatefulSet",
}
_INVENTED = re.compile(r"(-extended-resources)-.*")


def theirs(answer: dict[str, Any]) -> Answer:
    """The oracle's answer."""
    pods = {f"{entry['namespace']}/{entry['name']}": entry.get("node", "") for entry in answer["pods"]}
    mappings = {
        f"{entry['namespace']}/{entry['name']}": sorted(
            [mapping["containerName"], mapping["resourceName"], mapping["requestName"]]
            for mapping in entry["extendedResourceClaimStatus"].get("requestMappings", ())
        )
        for entry in answer["pods"]
        if entry.get("extendedResourceClaimStatus")
    }
    claims = {_claim_name(name): _held(claim["status"]) for name, claim in (answer.get("claims") or {}).items()}
    return {"pods": pods, "claims": claims, "mappings": mappings}


def ours(problem: Problem) -> Answer:
    """Our answer."""
    plan = plan_of(problem)
    claims = {
        _claim_name(f"{claim.metadata.namespace}/{claim.metadata.name}"): _held(msgspec.to_builtins(claim.status))
        for claim in plan.claims
        if claim.status.allocation is not None
    }
    planned = {f"{pod.namespace}/{pod.name}": pod for pod in plan.pods if not pod.hypothetical}
    mappings = {
        name: sorted([item.container_name, item.resource_name, item.request_name] for item in status.request_mappings)
        for name, pod in planned.items()
        if (status := pod.extended_resource_claim_status) is not None
    }
    return {"pods": {name: pod.node for name, pod in planned.items()}, "claims": claims, "mappings": mappings}


def plan_of(problem: Problem) -> Plan:
    """Our plan for a cluster in the oracle's form."""
    objects = [
        msgspec.convert({"kind": kind} | entry, getattr(core, kind, None) or getattr(v1, kind))
        for key, kind in KINDS.items()
        if hasattr(core, kind) or hasattr(v1, kind)
        for entry in problem.get(key) or ()
    ]
    sampling = Sampling(percentage=problem.get("percentageOfNodesToScore", 0))
    return make_plan(take_snapshot(objects), Features.for_version(), sampling=sampling)


def differences(problem: Problem, upstream: Answer, reparto: Answer) -> list[str]:
    """One line for each thing in which the answers differ, in the order in which the scheduler takes the pods."""
    lines = [
        f"pod {name}: upstream {upstream['pods'][name] or 'pending'}, we {reparto['pods'].get(name, 'nothing') or 'pending'}"
        for name in _queue(problem)
        if upstream["pods"][name] != reparto["pods"].get(name)
    ]
    lines += [f"pod {name}: only in our plan" for name in reparto["pods"] if name not in upstream["pods"]]
    for name in sorted({*upstream["claims"], *reparto["claims"]}):
        left, right = upstream["claims"].get(name), reparto["claims"].get(name)
        if left != right:
            lines.append(f"claim {name}: upstream {json.dumps(left)}, we {json.dumps(right)}")
    for name in sorted({*upstream["mappings"], *reparto["mappings"]}):
        left, right = upstream["mappings"].get(name), reparto["mappings"].get(name)
        if left != right:
            lines.append(f"extended resources of pod {name}: upstream {json.dumps(left)}, we {json.dumps(right)}")
    return lines


def _queue(problem: Problem) -> list[str]:
    pods = sorted(problem["pods"], key=lambda pod: (not pod["spec"].get("nodeName"), -pod["spec"].get("priority", 0)))
    return [f"{pod['metadata']['namespace']}/{pod['metadata']['name']}" for pod in pods]


def _claim_name(name: str) -> str:
    return _INVENTED.sub(r"\1", name)


def _held(status: dict[str, Any]) -> dict[str, Any]:
    """What a claim holds, and for whom."""
    consumers = sorted(consumer["name"] for consumer in status.get("reservedFor") or ())
    return {"allocation": _normal(status["allocation"]), "reservedFor": consumers}


def _normal(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        if key == "consumedCapacity":
            return {name: Quantity.parse(text).nano for name, text in value.items()}
        pairs = ((name, _normal(entry, name)) for name, entry in value.items() if name != "allocationTimestamp")
        return {name: entry for name, entry in pairs if entry not in (None, "", [], {})}
    if isinstance(value, list | tuple):
        return [_normal(entry) for entry in value]
    return "some share" if key == "shareID" else value


# --- a small case out of a large one ----------------------------------------------------------------------------------------------

_LISTS = ("pods", "nodes", "claims", "slices", "taintRules", "services", "priorityClasses", "classes")
_KEEP = re.compile(
    "kind|id|metadata|name|names|namespace|uid|spec|status|devices|device|pool|driver|requests|request|exactly|firstAvailable|resource|"
    "deviceClassName|allocationMode|count|cel|expression|selectors|resourceSliceCount|generation|schedulerName|preemptionPolicy|"
    "priority|operator|key|topologyKey|weight|maxSkew|whenUnsatisfiable|labelSelector|podAffinityTerm|preference|protocol|"
    "containerPort|containers|resources|allocatable|effect|value|sizeBytes|results|allocation|nodeSelectorTerms|counterSet|counters|"
    "sharedCounters|consumesCounters|matchAttribute|deviceSelector|taint|action|resourceClaimName|ownerReferences|controller|"
    "matchLabelKeys|mismatchLabelKeys|capacity|default|labels|matchLabels|selector|apiVersion"
)
"""Fields without which an object is not what the API server stores."""


def shrink(problem: Problem, fails: Callable[[Problem], bool], seconds: float = 60) -> Problem:
    """A smaller cluster that still fails: halves, then single objects, then fields are left out, as long as the time lasts."""
    deadline = time.monotonic() + seconds
    changed = True
    while changed and time.monotonic() < deadline:
        changed = False
        for smaller in _smaller(problem):
            if time.monotonic() > deadline:
                break
            if _defaulted(smaller) and fails(smaller):
                problem, changed = smaller, True
                break
        else:
            return problem
    return problem


def _smaller(problem: Problem) -> Iterator[Problem]:
    for key in _LISTS:
        entries = problem.get(key) or []
        size = len(entries)
        step = size
        while step >= 1:
            # Later pods first: what comes after the first difference is of no interest.
            for start in range(max(0, size - step), -step, -step):
                chosen = entries[: max(start, 0)] + entries[max(start, 0) + step if start >= 0 else start + step :]
                if len(chosen) < size and (chosen or key not in ("nodes", "pods")):
                    yield _consistent(problem | {key: chosen})
            step //= 2
    for path in _paths(problem, ()):
        copy = json.loads(json.dumps(problem))
        target: Any = copy
        for step in path[:-1]:
            target = target[step]
        del target[path[-1]]
        yield copy


def _defaulted(problem: Problem) -> bool:
    """Whether requests are what the API server makes of limits where there are none."""
    return all(
        set(container["resources"].get("limits", ())) <= set(container["resources"].get("requests", ()))
        for pod in problem["pods"]
        for container in (*pod["spec"]["containers"], *pod["spec"].get("initContainers", ()))
    )


def _consistent(problem: Problem) -> Problem:
    """Without what only makes sense with something that is gone."""
    nodes = {node["metadata"]["name"] for node in problem["nodes"]}
    pods = [pod for pod in problem["pods"] if pod["spec"].get("nodeName", "") in {*nodes, ""}]
    slices = [entry for entry in problem.get("slices") or () if entry["spec"].get("nodeName", "") in {*nodes, ""}]
    sizes: dict[Any, int] = {}
    for entry in slices:
        pool = (entry["spec"]["driver"], entry["spec"]["pool"]["name"])
        sizes[pool] = sizes.get(pool, 0) + 1
    whole = [
        entry
        for entry in slices
        if sizes[entry["spec"]["driver"], entry["spec"]["pool"]["name"]] == entry["spec"]["pool"]["resourceSliceCount"]
    ]
    return problem | {"pods": pods} | ({"slices": whole} if "slices" in problem else {})


def _paths(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, list):
        if len(path) > 1:
            for index in range(len(value)):
                yield (*path, index)
        for index, entry in enumerate(value):
            yield from _paths(entry, (*path, index))
    elif isinstance(value, dict):
        for key in value:
            if path and not _KEEP.fullmatch(key):
                yield (*path, key)
        for key, entry in value.items():
            yield from _paths(entry, (*path, key))
