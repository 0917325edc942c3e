"""A random allocation problem as typed objects, with what is taken already as claims: what a checker of claims can look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from typing import Any

import msgspec

from conformance.allocation_problems import Problem
from property.legality import allocated
from reparto.allocation import AllocatedState, AllocationError, Features, GaveUp
from reparto.model.core import Node
from reparto.model.v1 import DeviceClass, ResourceClaim, ResourceSlice


@dataclass(frozen=True)
class World:
    """A cluster: what is published, what is `held`, and `made`, the claims that were allocated last."""

    slices: list[ResourceSlice]
    classes: list[DeviceClass]
    held: list[ResourceClaim]
    nodes: list[Node]
    features: Features
    made: list[ResourceClaim]


def world_of(problem: Problem) -> World:
    """The problem's cluster, nothing made yet."""
    return World(
        slices=[_typed(ResourceSlice, entry) for entry in problem["slices"]],
        classes=[_typed(DeviceClass, entry) for entry in problem["classes"]],
        held=[_typed(ResourceClaim, entry) for entry in problem.get("allocatedClaims", [])]
        + _as_claim(problem.get("allocatedState")),
        nodes=[_typed(Node, entry) for entry in problem.get("nodes") or [problem["node"]]],
        features=Features(**problem["features"]),
        made=[],
    )


def outcomes(engine: Callable[..., Any], problem: Problem, step_budget: int = 100_000) -> list[World]:
    """The worlds after `engine` allocated the problem's claims, one for each node on which it did."""
    world = world_of(problem)
    claims = [_typed(ResourceClaim, entry) for entry in problem["claims"]]
    number = count(1)
    allocator = engine(
        world.slices,
        world.classes,
        allocated=AllocatedState.from_claims(world.held),
        features=world.features,
        step_budget=step_budget,
        share_ids=lambda: f"made-{next(number)}",
    )
    found: list[World] = []
    for node in world.nodes:
        try:
            results = allocator.allocate(node, claims)
        except (AllocationError, GaveUp):
            continue
        if results is not None:
            found.append(World(**{**vars(world), "made": allocated(claims, results)}))
    return found


def _as_claim(state: dict[str, Any] | None) -> list[ResourceClaim]:
    """What a problem says is taken, without saying by whom, as one claim that took it."""
    if state is None:
        return []
    capacity = {_key(entry): entry["capacity"] for entry in state["consumedCapacity"]}
    results = [{"request": "r"} | entry for entry in state["allocatedDevices"] + state["allocatedSharedDevices"]]
    for result in results:
        if "shareID" in result and _key(result) in capacity:
            result["consumedCapacity"] = capacity.pop(_key(result))
    for number, ((driver, pool, device), amounts) in enumerate(capacity.items()):
        share = {"request": "r", "driver": driver, "pool": pool, "device": device, "shareID": f"lone-{number}"}
        results.append(share | {"consumedCapacity": amounts})
    meta = {"name": "earlier", "namespace": "ns", "uid": "uid-earlier"}
    return [_typed(ResourceClaim, {"metadata": meta, "status": {"allocation": {"devices": {"results": results}}}})]


def _key(entry: dict[str, Any]) -> tuple[str, str, str]:
    return entry["driver"], entry["pool"], entry["device"]


def _typed(kind: Any, entry: dict[str, Any]) -> Any:
    return msgspec.convert({"kind": kind.__name__} | entry, kind)
