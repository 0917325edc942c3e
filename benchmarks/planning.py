"""Planning whole clusters from one JSON file: the command as a user runs it, start, reading and rendering included."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.allocation import DRIVER, SELECTOR, klass, slices
from benchmarks.timing import Row, process

REPARTO = "from reparto.cli.main import main; main()"
GIB = 2**30


MODEL = f'device.attributes["{DRIVER}"].model'
ANY, OLD, NEW = f'{MODEL} in ["A100", "H100"]', f'{MODEL} == "A100"', SELECTOR

TEMPLATES: tuple[tuple[int, str, bool], ...] = (
    (1, NEW, True),
    (2, NEW, True),
    (1, OLD, False),
    (2, OLD, True),
    (1, ANY, False),
    (2, ANY, True),
    (3, ANY, True),
    (4, ANY, True),
    (4, NEW, False),
    (8, ANY, False),
)
"""GPUs of a claim, which ones, and whether they share a NUMA node."""
SIZES = ((1, 4), (2, 8), (4, 8), (4, 16), (8, 32))
"""CPUs and GiB of a pod."""


def template(number: int, count: int, selector: str, aligned: bool) -> dict[str, Any]:
    request = {
        "deviceClassName": "gpu",
        "allocationMode": "ExactCount",
        "count": count,
        "selectors": [{"cel": {"expression": selector}}],
    }
    devices: dict[str, Any] = {"requests": [{"name": "gpu", "exactly": request}]}
    if aligned:
        devices["constraints"] = [{"requests": ["gpu"], "matchAttribute": f"{DRIVER}/numa"}]
    spec = {"spec": {"devices": devices}}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": f"gpus-{number}"},
        "spec": spec,
    }


def cluster(nodes: int, pods: int) -> Iterator[dict[str, Any]]:
    """Nodes in three zones with eight GPUs, half of them of each model, and pods of 50 shapes: every size with every template.

    A size asks for CPU and memory, a template for one to eight GPUs. Shapes take turns, so that each pod differs from the one
    before; the GPUs they ask for are 2.8 a pod, of four for each pod that there are.
    """
    for index in range(nodes):
        labels = {"kubernetes.io/hostname": f"node-{index:05}", "topology.kubernetes.io/zone": f"zone-{index % 3}"}
        room = {"cpu": "96", "memory": "1Ti", "pods": "110"}
        metadata = {"name": f"node-{index:05}", "labels": labels}
        yield {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {"allocatable": room, "capacity": room}}
    for each in slices(nodes, 8):
        yield {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", **each}
    yield {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", **klass()}
    for number, of in enumerate(TEMPLATES):
        yield template(number, *of)
    shapes = [(size, number) for size in SIZES for number in range(len(TEMPLATES))]
    for index in range(pods):
        (cpu, memory), number = shapes[index % len(shapes)]
        resources = {"requests": {"cpu": str(cpu), "memory": f"{memory}Gi"}, "claims": [{"name": "gpus"}]}
        spec = {
            "containers": [{"name": "main", "image": "main", "resources": resources}],
            "resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": f"gpus-{number}"}],
        }
        yield {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"pod-{index:05}"}, "spec": spec}


def plan(nodes: int, pods: int, rounds: int, seconds: float, memory: float) -> list[Row]:
    """Wall seconds and peak memory of `reparto plan`, with what is promised."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cluster.json"
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(cluster(nodes, pods))}))
        took, peak = process((sys.executable, "-c", REPARTO, "plan", "-f", path), rounds)
    what = f"reparto plan of {pods:,} pods of 50 shapes on {nodes:,} nodes × 8 GPUs"
    return [Row(what, took, "s", bound=seconds), Row(f"{what}, peak memory", peak / GIB, "GiB", bound=memory)]


def measure(quick: bool = False) -> list[Row]:
    """The two sizes that are promised."""
    if quick:
        return plan(50, 200, 1, 3, 1.5)
    return [*plan(500, 2000, 3, 3, 1.5), *plan(5000, 10000, 1, 10, 1.5)]
