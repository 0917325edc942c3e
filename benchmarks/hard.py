"""The problems on which an exhaustive search drowns, a file each in `benchmarks/hard/`, beside Kubernetes' allocator with its 10 s.

A file holds a problem as the allocation oracle reads it (`reference/README.md`), the answer (`expected`), and an argument why no
other answer is right (`why`). The argument is what the answers rest on, for upstream cannot give most of them:
`tests/property/test_hard_problems.py` asserts them. Promised are 10 ms a node, an allocator built anew each time. Nothing is
promised for the files `fuzzed-*`: the worst that scripts/fuzz_search.py could find, kept to see whether they get better or worse.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import reference
from benchmarks.driving import typed
from benchmarks.timing import Row
from reparto.allocation import AllocatedState, AllocationError, Allocator, Features, GaveUp
from reparto.allocation.allocator import STEP_BUDGET
from reparto.model import v1
from reparto.model.core import Node

FOLDER = Path(__file__).parent / "hard"
BOUND = 10.0
"""Milliseconds a node."""
PATIENCE = 10_000
"""Milliseconds that upstream takes for a node before it gives up, by default (`filterTimeout` of the plugin's arguments)."""

Problem = dict[str, Any]
Answer = dict[str, Any]


def problems() -> Iterator[tuple[str, Problem, Answer]]:
    """Name, problem and answer of each file, by name."""
    for path in sorted(FOLDER.glob("*.json")):
        file = json.loads(path.read_text())
        yield path.stem, file["problem"], file["expected"]


class Posed:
    """A problem as our own objects, ready to be asked many times."""

    def __init__(self, problem: Problem) -> None:
        self.slices = typed(v1.ResourceSlice, problem["slices"])
        self.classes = typed(v1.DeviceClass, problem["classes"])
        self.claims = typed(v1.ResourceClaim, problem["claims"])
        self.nodes = typed(Node, problem.get("nodes") or [problem["node"]])
        self.features = Features(**problem["features"])
        self.several = "nodes" in problem
        state = problem.get("allocatedState", {})
        self.taken = [_key(entry) for entry in state.get("allocatedDevices", ())]
        self.shared = [(*_key(entry), entry["shareID"]) for entry in state.get("allocatedSharedDevices", ())]
        self.consumed = {_key(entry): entry["capacity"] for entry in state.get("consumedCapacity", ())}

    def allocator(self, step_budget: int = STEP_BUDGET) -> Allocator:
        """One that has learned nothing yet."""
        state = AllocatedState(devices=self.taken, shared=self.shared, consumed=self.consumed)
        return Allocator(self.slices, self.classes, allocated=state, features=self.features, step_budget=step_budget)

    def answer(self, step_budget: int = STEP_BUDGET) -> Answer:
        """What our engine says, in the form of `expected`."""
        allocator = self.allocator(step_budget)
        answers = [self._on(allocator, node) for node in self.nodes]
        return {"kind": "nodes", "nodes": answers} if self.several else answers[0]

    def _on(self, allocator: Allocator, node: Node) -> Answer:
        try:
            results = allocator.allocate(node, self.claims)
        except GaveUp:
            return {"kind": "timeout"}
        except AllocationError as error:
            return {"kind": "node-error" if error.node_only else "error"}
        if results is None:
            return {"kind": "none"}
        return {"kind": "allocated", "devices": [[each.device for each in result.devices.results] for result in results]}


def _key(entry: dict[str, str]) -> tuple[str, str, str]:
    return entry["driver"], entry["pool"], entry["device"]


def short(answer: Answer) -> Answer:
    """An answer of the reference in the form of `expected`."""
    if answer["kind"] == "nodes":
        return {"kind": "nodes", "nodes": [short(each) for each in answer["nodes"]]}
    if answer["kind"] != "allocated":
        return {"kind": answer["kind"]}
    devices = [[each["device"] for each in result["devices"].get("results") or []] for result in answer["results"]]
    return {"kind": "allocated", "devices": devices}


def gave_up(answer: Answer) -> bool:
    """Whether the answer is none, on any node."""
    return answer["kind"] == "timeout" or any(map(gave_up, answer.get("nodes", ())))


def case(name: str, problem: Problem, expected: Answer, patience: int) -> Row:
    """Milliseconds a node on our side, the best of three, and on upstream's, once."""
    posed = Posed(problem)
    ours, best = {}, float("inf")
    for _ in range(3):
        start = time.perf_counter()
        ours = posed.answer()
        best = min(best, (time.perf_counter() - start) * 1e3 / len(posed.nodes))
        if best > 100 * BOUND:
            break
    if ours != expected and not gave_up(ours):
        raise AssertionError(f"{name}: {ours} instead of {expected}")
    answer = reference.ask({**problem, "timeoutMillis": patience})
    theirs = short(answer)
    unfinished = gave_up(theirs)
    if not unfinished and theirs != expected:
        raise AssertionError(f"{name}: the reference says {theirs}, the file {expected}")
    bound = None if name.startswith("fuzzed-") else BOUND
    what = f"{name}{f', {len(posed.nodes)} nodes' if posed.several else ''}{' (gave up)' if gave_up(ours) else ''}"
    return Row(what, best, "ms", answer["micros"] / 1e3 / len(posed.nodes), bound=bound, unfinished=unfinished)


def measure(quick: bool = False) -> list[Row]:
    """Every file; `quick` waits 200 ms for the reference."""
    return [case(*each, patience=200 if quick else PATIENCE) for each in problems()]
