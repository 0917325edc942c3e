"""Pod after pod through the engine alone, as kube-scheduler drives its allocator: for the benchmarks of throughput.

For each pod, nodes are looked at from a start until enough of them fit; the pod gets the devices on the first of these, which
are then in use. No pods, queues, scores or API are involved, on either side. The reference makes a copy of the allocated state and
a new allocator for each pod, as kube-scheduler's plugin does; ours keeps one `Fleet`.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from benchmarks import reference
from reparto.allocation import AllocatedState, Allocator, Features
from reparto.allocation.fleet import Fleet
from reparto.model import v1
from reparto.model.core import Node

GOROUTINES = 16
"""kube-scheduler's default parallelism."""
FEATURES = dict.fromkeys(
    (
        "admin_access",
        "prioritized_list",
        "partitionable_devices",
        "device_taints",
        "device_binding_and_status",
        "consumable_capacity",
    ),
    True,
)
VARIANTS = ["incubating", "experimental"]

Objects = Sequence[dict[str, Any]]
T = TypeVar("T")


@dataclass(frozen=True)
class Outcome:
    """Pod by pod: positions of the feasible nodes that were found, and the devices on the first of them."""

    feasible: list[list[int]]
    devices: list[list[str]]

    @property
    def placed(self) -> int:
        """Pods that got devices."""
        return sum(1 for nodes in self.feasible if nodes)


@dataclass(frozen=True)
class Load:
    """A cluster, the claims that pods have, one each, and how nodes are looked for."""

    slices: list[v1.ResourceSlice]
    classes: list[v1.DeviceClass]
    nodes: list[Node]
    claims: Objects
    wanted: int
    moving_start: bool = True
    in_use: Sequence[tuple[str, str, str]] = field(default=())

    def ours(self, order: Sequence[int]) -> tuple[float, Outcome, float]:
        """Seconds for pods with these claims (positions in `claims`), what came out, and seconds to build the engine before."""
        # Objects of their own for each pod, as decoding gives them: nothing may rest on two claims being one object.
        pods = [typed(v1.ResourceClaim, [_named(self.claims[index], number)]) for number, index in enumerate(order)]
        start = time.perf_counter()
        state = AllocatedState(devices=self.in_use)
        fleet = Fleet(Allocator(self.slices, self.classes, allocated=state, features=Features(**FEATURES)), self.nodes)
        built = time.perf_counter() - start
        outcome = Outcome([], [])
        replace = msgspec.structs.replace
        position = 0
        begin = time.perf_counter()
        for claims in pods:
            if self.moving_start:
                found = fleet.feasible(claims, start=position, wanted=self.wanted)
                position = (position + found.looked) % len(self.nodes)
                nodes = found.positions
            else:
                first = fleet.first(claims)
                nodes = [] if first is None else [first]
            devices: list[str] = []
            if nodes:
                results = fleet.allocate(nodes[0], claims)
                assert results is not None
                for claim, result in zip(claims, results, strict=True):
                    state.add(replace(claim, status=v1.ResourceClaimStatus(allocation=result)))
                    devices += [each.device for each in result.devices.results]
            outcome.feasible.append(nodes)
            outcome.devices.append(devices)
        return time.perf_counter() - begin, outcome, built

    def theirs(self, order: Sequence[int], *, goroutines: int = GOROUTINES) -> tuple[float, Outcome]:
        """The same of Kubernetes' allocator. With one goroutine the outcome is always the same; with more it is not recorded."""
        drive = {
            "pods": list(order),
            "wanted": self.wanted,
            "parallelism": goroutines,
            "movingStart": self.moving_start,
            "record": goroutines == 1,
        }
        answer = reference.ask(
            {
                "slices": list(map(_plain, self.slices)),
                "classes": list(map(_plain, self.classes)),
                "nodes": [
                    {"metadata": {"name": node.metadata.name, "labels": dict(node.metadata.labels or {})}} for node in self.nodes
                ],
                "claims": self.claims,
                "allocatedState": {
                    "allocatedDevices": [{"driver": driver, "pool": pool, "device": device} for driver, pool, device in self.in_use]
                },
                "features": FEATURES,
                "variants": VARIANTS,
                "drive": drive,
            }
        )
        pods = answer.get("pods", [])
        outcome = Outcome([pod["feasible"] or [] for pod in pods], [pod["devices"] or [] for pod in pods])
        return answer["micros"] / 1e6, outcome

    def compare(self, order: Sequence[int]) -> Outcome:
        """The outcome, which must be the reference's with one goroutine, pod by pod."""
        _, ours, _ = self.ours(order)
        _, theirs = self.theirs(order, goroutines=1)
        for number in range(len(order)):
            mine, other = ((side.feasible[number], side.devices[number]) for side in (ours, theirs))
            if mine != other:
                raise AssertionError(f"pod {number}: nodes and devices {mine}, the reference says {other}")
        return ours


def typed(kind: type[T], objects: Iterable[dict[str, Any]]) -> list[T]:
    """Raw objects as our own."""
    return [msgspec.convert({"kind": kind.__name__} | each, kind) for each in objects]


def _named(claim: dict[str, Any], number: int) -> dict[str, Any]:
    return {**claim, "metadata": {"name": f"claim-{number}", "namespace": "default", "uid": f"{number}"}}


def _plain(value: v1.ResourceSlice | v1.DeviceClass) -> dict[str, Any]:
    raw: dict[str, Any] = msgspec.to_builtins(value)
    return {"metadata": {"name": value.metadata.name}, "spec": raw["spec"]}
