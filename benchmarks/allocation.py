"""Allocating claims on nodes with eight GPUs each: one allocator, a claim tried on every node, as a scheduler's filter does."""

from __future__ import annotations

from typing import Any

from benchmarks import reference
from benchmarks.driving import FEATURES, VARIANTS, typed
from benchmarks.timing import Row, best_of
from reparto.allocation import AllocatedState, Allocator, Features
from reparto.model import v1
from reparto.model.core import Node

DRIVER = "gpu.example.com"
SELECTOR = f'device.attributes["{DRIVER}"].model == "H100" && device.capacity["{DRIVER}"].memory.compareTo(quantity("40Gi")) >= 0'


def node(index: int) -> dict[str, Any]:
    return {"metadata": {"name": f"node-{index:05}", "labels": {"kubernetes.io/hostname": f"node-{index:05}"}}}


def slices(nodes: int, devices: int) -> list[dict[str, Any]]:
    """One slice a node; every second device is of the wanted model."""
    return [
        {
            "metadata": {"name": f"slice-{index:05}"},
            "spec": {
                "driver": DRIVER,
                "pool": {"name": f"node-{index:05}", "generation": 1, "resourceSliceCount": 1},
                "nodeName": f"node-{index:05}",
                "devices": [
                    {
                        "name": f"gpu-{number}",
                        "attributes": {
                            "model": {"string": "H100" if number % 2 else "A100"},
                            "numa": {"int": number // 4},
                            "driverVersion": {"version": "580.65.6"},
                        },
                        "capacity": {"memory": {"value": "80Gi"}},
                    }
                    for number in range(devices)
                ],
            },
        }
        for index in range(nodes)
    ]


def claim(count: int) -> dict[str, Any]:
    request = {
        "deviceClassName": "gpu",
        "allocationMode": "ExactCount",
        "count": count,
        "selectors": [{"cel": {"expression": SELECTOR}}],
    }
    return {
        "metadata": {"name": "claim", "namespace": "default", "uid": "1"},
        "spec": {
            "devices": {
                "requests": [{"name": "gpu", "exactly": request}],
                "constraints": [{"requests": ["gpu"], "matchAttribute": f"{DRIVER}/numa"}],
            }
        },
    }


def klass() -> dict[str, Any]:
    return {"metadata": {"name": "gpu"}, "spec": {"selectors": [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]}}


def case(nodes: int, devices: int, count: int, repeat: int) -> Row:
    """Milliseconds for one claim tried on every node, the allocator built anew each time."""
    question: dict[str, Any] = {
        "classes": [klass()],
        "slices": slices(nodes, devices),
        "claims": [claim(count)],
        "nodes": [node(index) for index in range(nodes)],
        "features": FEATURES,
        "variants": VARIANTS,
    }
    theirs = reference.ask({**question, "repeat": repeat})
    typed_slices = typed(v1.ResourceSlice, question["slices"])
    typed_classes = typed(v1.DeviceClass, question["classes"])
    typed_claims = typed(v1.ResourceClaim, question["claims"])
    typed_nodes = typed(Node, question["nodes"])
    features = Features(**FEATURES)

    def run() -> list[Any]:
        allocator = Allocator(typed_slices, typed_classes, allocated=AllocatedState(), features=features, policy="first-fit")
        return [allocator.allocate(each, typed_claims) for each in typed_nodes]

    chosen = [[result.device for result in results[0].devices.results] for results in run()]
    expected = [[result["device"] for result in each["results"][0]["devices"]["results"]] for each in theirs["nodes"]]
    if chosen != expected:
        raise AssertionError("not the same devices")
    what = f"{nodes} nodes × {devices} devices, a claim of {count} aligned, on every node"
    return Row(what, best_of(max(3, repeat // 4), run) * 1e3, "ms", theirs["micros"] / 1e3)


def measure(quick: bool = False) -> list[Row]:
    """Our allocator beside Kubernetes', on the same problems."""
    sizes = ((10, 8, 1), (100, 8, 2)) if quick else ((10, 8, 1), (100, 8, 2), (1000, 8, 2))
    return [case(nodes, devices, count, repeat=4 if quick else 20) for nodes, devices, count in sizes]
