"""Reading a big cluster: 10,000 slices of 16 devices, as one JSON list (about 100 MB), and YAML at so many MB a second."""

from __future__ import annotations

import json
import sys
import tempfile
from collections import deque
from pathlib import Path
from typing import Any

from benchmarks.timing import Row, best_of, process
from reparto.model.reading import read

REPARTO = "from reparto.cli.main import main; main()"


def gpu(number: int, node: int) -> dict[str, Any]:
    """A device as a GPU driver publishes it, with some of the fields that make files large."""
    return {
        "name": f"gpu-{number}",
        "attributes": {
            "architecture": {"string": "Hopper"},
            "brand": {"string": "Nvidia"},
            "cudaComputeCapability": {"version": "9.0.0"},
            "cudaDriverVersion": {"version": "13.0.0"},
            "driverVersion": {"version": "580.65.6"},
            "index": {"int": number},
            "minor": {"int": number},
            "productName": {"string": "NVIDIA H100 80GB HBM3"},
            "resource.kubernetes.io/pcieRoot": {"string": f"pci0000:{number:02x}"},
            "type": {"string": "gpu"},
            "uuid": {"string": f"GPU-4cf8db2d-06c0-7d70-1a51-{node:08x}{number:04x}"},
        },
        "capacity": {"memory": {"value": "81559Mi"}},
    }


def resource_slice(index: int, devices: int) -> dict[str, Any]:
    name = f"node-{index:05}"
    owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": f"00000000-0000-0000-0000-{index:012}", "controller": True}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {
            "name": f"{name}-gpu.example.com-abcde",
            "generateName": f"{name}-gpu.example.com-",
            "ownerReferences": [owner],
        },
        "spec": {
            "driver": "gpu.example.com",
            "nodeName": name,
            "pool": {"name": name, "generation": 1, "resourceSliceCount": 1},
            "devices": [gpu(number, index) for number in range(devices)],
        },
    }


def write_json(path: Path, slices: int, devices: int) -> None:
    with path.open("w") as file:
        file.write('{"apiVersion": "v1", "kind": "List", "items": [\n')
        for index in range(slices):
            file.write(("," if index else "") + json.dumps(resource_slice(index, devices)) + "\n")
        file.write("]}\n")


def yaml(value: Any, indent: int = 0) -> str:
    """Block YAML the way kubectl writes it; only what our slices hold."""
    pad = "  " * indent
    if isinstance(value, dict):
        lines: list[str] = []
        for key, inner in value.items():
            nested = isinstance(inner, dict | list) and inner
            lines.append(
                f"{pad}{key}:\n{yaml(inner, indent + (isinstance(inner, dict)))}"
                if nested
                else f"{pad}{key}: {json.dumps(inner)}\n"
            )
        return "".join(lines)
    if isinstance(value, list):
        return "".join(f"{pad}- {yaml(item, indent + 1).lstrip()}" for item in value)
    return f"{pad}{json.dumps(value)}\n"


def measure(quick: bool = False) -> list[Row]:
    """Seconds and peak memory of `reparto validate`, and the speed of reading YAML by itself and with all that follows."""
    slices, rounds = (1000, 1) if quick else (10_000, 3)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "slices.json"
        write_json(path, slices, devices=16)
        megabytes = path.stat().st_size / 1e6
        seconds, peak = process((sys.executable, "-c", REPARTO, "validate", "-f", path), rounds)
        path.unlink()
        what = f"validate {slices:,} slices × 16 devices, {megabytes:.0f} MB of JSON"
        rows = [Row(what, seconds, "s", bound=None if quick else 3), Row("its peak memory", peak / 1e6, "MB", bound=700)]

        path = Path(folder) / "slices.yaml"
        path.write_text("---\n".join(yaml(resource_slice(index, 16)) for index in range(slices // 10)))
        megabytes = path.stat().st_size / 1e6
        read_seconds = best_of(rounds, lambda: deque(read([path]), maxlen=0))
        whole_seconds, _ = process((sys.executable, "-c", REPARTO, "validate", "-f", path), rounds)
    what = f"read {megabytes:.1f} MB of YAML, with lines and duplicate keys"
    rows.append(Row(what, megabytes / read_seconds, "MB/s", bound=4, at_least=True))
    rows.append(Row("validate it, the whole command", megabytes / whole_seconds, "MB/s"))
    return rows
