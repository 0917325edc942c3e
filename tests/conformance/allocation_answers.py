"""Answers to an allocation problem: those of our engines in the oracle's form, and what two answers must agree in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from conformance.allocation_problems import Problem
from reparto.allocation import AllocatedState, AllocationError, Features, GaveUp
from reparto.model.core import Node
from reparto.model.quantity import Quantity
from reparto.model.v1 import DeviceClass, ResourceClaim, ResourceSlice

Answer = dict[str, Any]
Engine = Callable[..., Any]
"""An allocator class: `Engine(slices, classes, allocated=…, features=…).allocate(node, claims)`."""


def ask(engine: Engine, problem: Problem, step_budget: int = 100_000) -> Answer:
    """The answer of one of our implementations, in the oracle's form."""
    allocator, nodes, claims = build(engine, problem, step_budget)
    answers = [_one(allocator, node, claims) for node in nodes]
    return {"kind": "nodes", "nodes": answers} if "nodes" in problem else answers[0]


def build(engine: Engine, problem: Problem, step_budget: int = 100_000) -> tuple[Any, list[Node], list[ResourceClaim]]:
    """An allocator for the problem, and what to ask it."""
    state = problem.get("allocatedState", {})
    allocated = AllocatedState(
        devices=[_id(entry) for entry in state.get("allocatedDevices", ())],
        shared=[(*_id(entry), entry["shareID"]) for entry in state.get("allocatedSharedDevices", ())],
        consumed={_id(entry): entry["capacity"] for entry in state.get("consumedCapacity", ())},
    )
    for claim in problem.get("allocatedClaims", ()):
        allocated.add(_typed(ResourceClaim, claim))
    allocator = engine(
        [_typed(ResourceSlice, entry) for entry in problem["slices"]],
        [_typed(DeviceClass, entry) for entry in problem["classes"]],
        allocated=allocated,
        features=Features(**problem["features"]),
        step_budget=step_budget,
    )
    nodes = [_typed(Node, entry) for entry in problem.get("nodes") or [problem["node"]]]
    return allocator, nodes, [_typed(ResourceClaim, entry) for entry in problem["claims"]]


def _typed(kind: Any, entry: dict[str, Any]) -> Any:
    return msgspec.convert({"kind": kind.__name__} | entry, kind)


def _one(allocator: Any, node: Node, claims: list[ResourceClaim]) -> Answer:
    try:
        results = allocator.allocate(node, claims)
    except GaveUp:
        return {"kind": "timeout"}
    except AllocationError as error:
        return {"kind": "node-error" if error.node_only else "error", "error": str(error)}
    return {"kind": "none"} if results is None else {"kind": "allocated", "results": msgspec.to_builtins(results)}


def _id(entry: dict[str, str]) -> tuple[str, str, str]:
    return entry["driver"], entry["pool"], entry["device"]


def comparable(answer: Answer) -> Any:
    """What two answers must agree in: kind of failure, or everything that an allocation says, with quantities by value."""
    if "nodes" in answer:
        return [comparable(entry) for entry in answer["nodes"]]
    if answer["kind"] != "allocated":
        return answer["kind"]
    shares: dict[str, str] = {}
    return [_normal(result, shares) for result in answer.get("results") or []]


def _normal(value: Any, shares: dict[str, str], key: str = "") -> Any:
    if isinstance(value, dict):
        if key == "consumedCapacity":
            return {name: Quantity.parse(text).nano for name, text in value.items()}
        pairs = ((name, _normal(entry, shares, name)) for name, entry in value.items())
        return {name: entry for name, entry in pairs if entry not in (None, "", [], {})}
    if isinstance(value, list):
        return [_normal(entry, shares) for entry in value]
    return shares.setdefault(value, f"share {len(shares)}") if key == "shareID" else value


def timed_out(answer: Answer) -> bool:
    """True if an engine gave up, on any node."""
    return answer["kind"] == "timeout" or any(timed_out(entry) for entry in answer.get("nodes", ()))
