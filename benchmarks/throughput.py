"""Pods a second of the engine alone, ten devices a node, beside Kubernetes' allocator driven as kube-scheduler drives it.

Both sides look for as many feasible nodes as kube-scheduler would (46 % of 500, a tenth of 5,000), from a start that moves, and
take the devices on the first. What the two find is compared pod by pod in a run of its own, with one goroutine; the rate of the
reference is measured with 16 goroutines. Promised are 20 times the pods a second of the reference in the same run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.driving import Load, typed
from benchmarks.timing import Row
from reparto.model import v1
from reparto.model.core import Node

DRIVER = "gpu.example.com"
DEVICES = 10  # of one node
TIMES = 20.0
TWO_CLAUSES = (
    f'device.attributes["{DRIVER}"].productName == "NVIDIA H100 80GB HBM3"'
    f' && device.capacity["{DRIVER}"].memory.compareTo(quantity("79Gi")) >= 0'
)
ROOT = "resource.kubernetes.io/pcieRoot"


def wanted(nodes: int) -> int:
    """Feasible nodes that kube-scheduler looks for where nothing is configured (`numFeasibleNodesToFind`)."""
    if nodes < 100:
        return nodes
    return max(100, nodes * max(5, 50 - nodes // 125) // 100)


def device(node: int, number: int) -> dict[str, Any]:
    return {
        "name": f"gpu-{number}",
        "attributes": {
            "type": {"string": "gpu"},
            "productName": {"string": "NVIDIA H100 80GB HBM3"},
            "uuid": {"string": f"GPU-{node}-{number}"},
            "driverVersion": {"version": "580.126.20"},
            ROOT: {"string": f"pci0000:{number // 2:02}"},
        },
        "capacity": {"memory": {"value": "81559Mi"}},
    }


def node_name(index: int) -> str:
    return f"node-{index:05}"


def resource_slice(index: int) -> dict[str, Any]:
    name = node_name(index)
    pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
    devices = [device(index, number) for number in range(DEVICES)]
    return {"metadata": {"name": f"{name}-slice"}, "spec": {"driver": DRIVER, "nodeName": name, "pool": pool, "devices": devices}}


def claim(count: int = 1, selector: str = "", aligned: bool = False) -> dict[str, Any]:
    request: dict[str, Any] = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count}
    if selector:
        request["selectors"] = [{"cel": {"expression": selector}}]
    devices: dict[str, Any] = {"requests": [{"name": "gpu", "exactly": request}]}
    if aligned:
        devices["constraints"] = [{"requests": ["gpu"], "matchAttribute": ROOT}]
    return {"metadata": {"name": "claim", "namespace": "default", "uid": "0"}, "spec": {"devices": devices}}


@dataclass(frozen=True)
class Variant:
    """One of the five loads. `timed` pods give the rate of the reference and `compared` are compared; ours has `pods`."""

    name: str
    claim: dict[str, Any]
    nodes: int = 500
    pods: int = 5000
    timed: int = 5000
    compared: int = 5000
    in_use: int = 0  # devices of each node


VARIANTS = (
    Variant("from empty", claim()),
    Variant("9 of 10 devices in use", claim(), in_use=9),
    Variant("selector of two clauses", claim(selector=TWO_CLAUSES)),
    Variant("matchAttribute over two devices", claim(count=2, aligned=True)),
    # The reference takes over a minute for 5,000 pods and is as fast in the first 1,000: devices are plenty all the time.
    Variant("from empty", claim(), nodes=5000, timed=1000, compared=1000),
)


def load(nodes: int, of: dict[str, Any], in_use: int) -> Load:
    """The cluster of a variant."""
    klass = {"metadata": {"name": "gpu"}, "spec": {"selectors": [{"cel": {"expression": f'device.driver == "{DRIVER}"'}}]}}
    return Load(
        slices=typed(v1.ResourceSlice, map(resource_slice, range(nodes))),
        classes=typed(v1.DeviceClass, [klass]),
        nodes=typed(Node, ({"metadata": {"name": node_name(index)}} for index in range(nodes))),
        claims=[of],
        wanted=wanted(nodes),
        in_use=[(DRIVER, node_name(index), f"gpu-{number}") for index in range(nodes) for number in range(in_use)],
    )


def case(variant: Variant, rounds: int) -> Row:
    """Pods a second, ours the best of several rounds."""
    at = load(variant.nodes, variant.claim, variant.in_use)
    placed = at.compare([0] * variant.compared).placed
    seconds = min(at.ours([0] * variant.pods)[0] for _ in range(rounds))
    theirs, _ = at.theirs([0] * variant.timed)
    what = f"{variant.nodes} nodes × {DEVICES}, {variant.pods} pods, {variant.name} ({placed} of {variant.compared} compared fit)"
    return Row(what, variant.pods / seconds, "pods/s", variant.timed / theirs, times=TIMES)


def measure(quick: bool = False, variants: Sequence[Variant] = VARIANTS) -> list[Row]:
    """The five loads; `quick` with a tenth of the nodes and pods."""
    if quick:
        smaller = [
            Variant(each.name, each.claim, each.nodes // 10, each.pods // 10, each.timed // 10, each.compared // 10, each.in_use)
            for each in variants
        ]
        return [case(each, 1) for each in smaller]
    return [case(each, 3) for each in variants]
