"""Planning whole clusters from one JSON file: the command as a user runs it, start, reading and rendering included."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.allocation import claim, klass, slices
from benchmarks.timing import Row, process

REPARTO = "from reparto.cli.main import main; main()"
GIB = 2**30


def cluster(nodes: int, pods: int) -> Iterator[dict[str, Any]]:
    """Nodes in three zones with eight GPUs, half of them of the wanted model, and pods that ask for CPU, memory and one or two
    aligned GPUs."""
    for index in range(nodes):
        labels = {"kubernetes.io/hostname": f"node-{index:05}", "topology.kubernetes.io/zone": f"zone-{index % 3}"}
        room = {"cpu": "96", "memory": "1Ti", "pods": "110"}
        metadata = {"name": f"node-{index:05}", "labels": labels}
        yield {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {"allocatable": room, "capacity": room}}
    for each in slices(nodes, 8):
        yield {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", **each}
    yield {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", **klass()}
    for count in (1, 2):
        metadata = {"name": f"gpus-{count}"}
        spec = {"spec": claim(count)["spec"]}
        yield {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": metadata, "spec": spec}
    for index in range(pods):
        resources = {"requests": {"cpu": str(1 + index % 4), "memory": "8Gi"}, "claims": [{"name": "gpus"}]}
        spec = {
            "containers": [{"name": "main", "image": "main", "resources": resources}],
            "resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": f"gpus-{1 + index % 2}"}],
        }
        yield {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"pod-{index:05}"}, "spec": spec}


def plan(nodes: int, pods: int, rounds: int, seconds: float, memory: float) -> list[Row]:
    """Wall seconds and peak memory of `reparto plan`, with what is promised."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cluster.json"
        path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(cluster(nodes, pods))}))
        took, peak = process((sys.executable, "-c", REPARTO, "plan", "-f", path), rounds)
    what = f"reparto plan of {pods} pods on {nodes} nodes × 8 GPUs"
    return [Row(what, took, "s", bound=seconds), Row(f"{what}, peak memory", peak / GIB, "GiB", bound=memory)]


def measure(quick: bool = False) -> list[Row]:
    """The two sizes that are promised."""
    if quick:
        return plan(50, 200, 1, 3, 1.5)
    return [*plan(500, 2000, 3, 3, 1.5), *plan(5000, 10000, 1, 30, 1.5)]
