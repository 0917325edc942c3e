"""Answers to an allocation problem: those of our engines in the oracle's form, and what two answers must agree in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Posed:
    """A problem as typed objects; the state of what is allocated is made for each engine anew."""

    slices: list[ResourceSlice]
    classes: list[DeviceClass]
    nodes: list[Node]
    claims: list[ResourceClaim]
    features: Features
    allocated: Callable[[], AllocatedState]
    several: bool

    def allocator(self, engine: Engine, step_budget: int) -> Any:
        """An engine for the problem."""
        return engine(self.slices, self.classes, allocated=self.allocated(), features=self.features, step_budget=step_budget)


def pose(problem: Problem) -> Posed:
    """The problem, decoded."""
    state = problem.get("allocatedState", {})
    earlier = [_typed(ResourceClaim, claim) for claim in problem.get("allocatedClaims", ())]

    def allocated() -> AllocatedState:
        made = AllocatedState(
            devices=[_id(entry) for entry in state.get("allocatedDevices", ())],
            shared=[(*_id(entry), entry["shareID"]) for entry in state.get("allocatedSharedDevices", ())],
            consumed={_id(entry): entry["capacity"] for entry in state.get("consumedCapacity", ())},
        )
        for claim in earlier:
            made.add(claim)
        return made

    return Posed(
        slices=[_typed(ResourceSlice, entry) for entry in problem["slices"]],
        classes=[_typed(DeviceClass, entry) for entry in problem["classes"]],
        nodes=[_typed(Node, entry) for entry in problem.get("nodes") or [problem["node"]]],
        claims=[_typed(ResourceClaim, entry) for entry in problem["claims"]],
        features=Features(**problem["features"]),
        allocated=allocated,
        several="nodes" in problem,
    )


def ask(engine: Engine, problem: Problem, step_budget: int = 100_000) -> Answer:
    """The answer of one of our implementations, in the oracle's form."""
    return answer(engine, pose(problem), step_budget)


def answer(engine: Engine, posed: Posed, step_budget: int = 100_000) -> Answer:
    """As `ask`, for a problem that is asked several times."""
    allocator = posed.allocator(engine, step_budget)
    found = [attempt(allocator, node, posed.claims) for node in posed.nodes]
    return {"kind": "nodes", "nodes": found} if posed.several else found[0]


def build(engine: Engine, problem: Problem, step_budget: int = 100_000) -> tuple[Any, list[Node], list[ResourceClaim]]:
    """An allocator for the problem, and what to ask it."""
    posed = pose(problem)
    return posed.allocator(engine, step_budget), posed.nodes, posed.claims


def _typed(kind: Any, entry: dict[str, Any]) -> Any:
    return msgspec.convert({"kind": kind.__name__} | entry, kind)


def attempt(allocator: Any, node: Node, claims: list[ResourceClaim]) -> Answer:
    """What an allocator says to claims on a node, in the oracle's form."""
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
