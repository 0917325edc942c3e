"""Mixed MIG profiles for pod after pod on the fleet of `fleets.py`, engine only, each on the first node by name that fits.

Promised are 1,000 pods a second, and a cost per pod that does not grow with the nodes: the same 5,000 pods on 500, 5,000 and 20,000
nodes. Upstream gets the same pods on 50 nodes, one goroutine, and must choose the same nodes and devices.
"""

from __future__ import annotations

import random
from typing import Any

from benchmarks import fleets
from benchmarks.driving import Load
from benchmarks.timing import Row

BOUND = 1000.0
PODS = 5000
#: Of the pods a second on the smallest fleet, on the largest. A cost that grew with the nodes would make it a fortieth.
FLAT = 0.8


def _request(name: str, profile: str | None, count: int = 1) -> dict[str, Any]:
    ask: dict[str, Any] = {
        "deviceClassName": "mig.nvidia.com" if profile else "gpu.nvidia.com",
        "allocationMode": "ExactCount",
        "count": count,
    }
    if profile:
        expression = f"device.attributes['{fleets.DRIVER}'].profile == '{profile}'"
        ask["selectors"] = [{"cel": {"expression": expression}}]
    return {"name": name, "exactly": ask}


def _claim(*requests: dict[str, Any], one_gpu: bool = False) -> dict[str, Any]:
    devices: dict[str, Any] = {"requests": list(requests)}
    if one_gpu:
        devices["constraints"] = [{"matchAttribute": f"{fleets.DRIVER}/parentUUID"}]
    return {"metadata": {"name": "claim", "namespace": "default", "uid": "0"}, "spec": {"devices": devices}}


MIX: tuple[tuple[int, dict[str, Any]], ...] = (
    (30, _claim(_request("mig", "1g.10gb"))),
    (5, _claim(_request("mig", "1g.10gb+me"))),
    (5, _claim(_request("mig", "1g.20gb"))),
    (20, _claim(_request("mig", "2g.20gb"))),
    (10, _claim(_request("mig", "3g.40gb"))),
    (5, _claim(_request("mig", "4g.40gb"))),
    (5, _claim(_request("mig", "7g.80gb"))),
    (5, _claim(_request("gpu", None))),
    (5, _claim(_request("mig", "1g.10gb", 2))),
    (5, _claim(_request("small", "1g.10gb"), _request("medium", "3g.40gb"), one_gpu=True)),
    (5, _claim(_request("mig", "2g.20gb", 2), one_gpu=True)),
)
"""Claims and how often of a hundred they are asked for; the last three want two devices, two of them on one GPU."""


def load(nodes: int) -> Load:
    """The fleet of so many nodes, all free, and the claims."""
    return Load(
        slices=fleets.slices(nodes),
        classes=fleets.classes(),
        nodes=fleets.nodes(nodes),
        claims=[claim for _, claim in MIX],
        wanted=1,
        moving_start=False,
    )


def order(pods: int) -> list[int]:
    """Which claim each pod has."""
    return random.Random(5).choices(range(len(MIX)), [weight for weight, _ in MIX], k=pods)


def measure(quick: bool = False) -> list[Row]:
    """Pods a second by number of nodes, and what the engine takes to be built; beside upstream on the smallest fleet."""
    few, pods = order(60 if quick else 600), order(PODS // 10 if quick else PODS)
    small = load(5 if quick else 50)
    theirs, expected = small.theirs(few, goroutines=1)
    seconds, outcome, _ = small.ours(few)
    if outcome != expected:
        raise AssertionError("not the same nodes and devices as the reference")
    what = f"{len(small.nodes)} nodes × {fleets.GPUS * fleets.DEVICES} devices, {len(few)} pods of mixed profiles"
    rows = [Row(what, len(few) / seconds, "pods/s", len(few) / theirs, bound=BOUND, at_least=True)]
    rates: list[float] = []
    for nodes in (50, 500) if quick else (500, 5000, 20_000):
        at = load(nodes)
        seconds, outcome, built = at.ours(pods)
        if outcome.placed != len(pods):
            raise AssertionError(f"{len(pods) - outcome.placed} pods found no room")
        rates.append(len(pods) / seconds)
        what = f"{nodes:,} nodes × {fleets.GPUS * fleets.DEVICES} devices, {len(pods):,} pods of mixed profiles"
        rows.append(Row(what, rates[-1], "pods/s", bound=BOUND, at_least=True))
        rows.append(Row("  the engine built over its slices", built, "s"))
        del at
    rows.append(Row("pods/s on the largest fleet, of those on the smallest", rates[-1] / rates[0], "", bound=FLAT, at_least=True))
    return rows
