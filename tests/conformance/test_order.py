"""The order in which an API server lists things is not part of the question: shuffled, it has the same answer.

Shuffled are slices, classes, allocated claims and what each holds, and nodes that are asked one after the other. Orders that mean
something stay: of devices in a slice, of requests, claims, alternatives, selectors. Left out is what has no order of its own even
upstream (upstream-dra.md 3.18): allocated devices whose compatibility groups contradict each other.
"""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from conformance import allocation_answers as answers
from conformance import allocation_problems as problems
from conformance.figures import Figures
from conformance.oracle import allocation as oracle
from conformance.scale import amount
from reparto.allocation import Allocator
from reparto.allocation.plain import PlainAllocator

PROBLEMS = amount(1_000)
STEPS: dict[Any, int] = {Allocator: 100_000, PlainAllocator: 3_000}


def asked(seed: str) -> list[tuple[problems.Problem, problems.Problem]]:
    """Problems, and each of them in another order."""
    made = (problems.make(f"{seed}/order", number) for number in range(PROBLEMS))
    return [(problem, shuffled(problem)) for problem in made if not contradictory(problem)]


def contradictory(problem: problems.Problem) -> bool:
    """Whether the order of devices may count that are allocated and have compatibility groups."""
    return '"compatibilityGroups"' in json.dumps(problem["slices"]) and bool({"allocatedClaims", "allocatedState"} & problem.keys())


def shuffled(problem: problems.Problem) -> problems.Problem:
    """The same problem, listed in another order."""
    rng = random.Random(problem["id"])
    other = json.loads(json.dumps(problem))
    rng.shuffle(other["slices"])
    rng.shuffle(other["classes"])
    rng.shuffle(other.get("nodes", []))
    for entries in other.get("allocatedState", {}).values():
        rng.shuffle(entries)
    if "allocatedClaims" in other:
        [claim] = other["allocatedClaims"]
        results = claim["status"]["allocation"]["devices"]["results"]
        rng.shuffle(results)
        # One claim or several: what is held is the same.
        middle = rng.randint(0, len(results))
        other["allocatedClaims"] = [_holding(claim, "last", results[middle:]), _holding(claim, "first", results[:middle])]
    return other


def _holding(claim: dict[str, Any], name: str, results: list[Any]) -> dict[str, Any]:
    metadata = claim["metadata"] | {"name": name, "uid": f"uid-{name}"}
    return claim | {"metadata": metadata, "status": {"allocation": {"devices": {"results": results}}}}


def by_node(problem: problems.Problem, answer: answers.Answer) -> dict[str, Any]:
    """The answer for each node by name; nothing where nobody knows."""
    nodes = problem.get("nodes") or [problem["node"]]
    return {
        node["metadata"]["name"]: None if answers.timed_out(entry) else answers.comparable(entry)
        for node, entry in zip(nodes, answer.get("nodes", [answer]), strict=True)
    }


def same(left: dict[str, Any], right: dict[str, Any]) -> bool:
    """Whether both say the same wherever both know."""
    return left.keys() == right.keys() and all(left[name] == right[name] or None in (left[name], right[name]) for name in left)


@pytest.mark.parametrize("engine", STEPS)
def test_problems_in_another_order_have_the_same_answers(engine: Any, seed: str, figures: Figures) -> None:
    pairs = asked(seed)
    for problem, other in pairs:
        first, second = (by_node(each, answers.ask(engine, each, STEPS[engine])) for each in (problem, other))
        assert same(first, second), f"problem {problem['id']}: {first}, in another order {second}"
    figures.add(f"problems in two orders, {engine.__name__}", asked=len(pairs))


@pytest.mark.reference
def test_kubernetes_gives_problems_in_another_order_the_same_answers(seed: str) -> None:
    pairs = asked(seed)
    with oracle() as upstream:
        one, two = (list(upstream.ask_many(pair[index] for pair in pairs)) for index in (0, 1))
    for (problem, other), first, second in zip(pairs, one, two, strict=True):
        assert same(by_node(problem, first), by_node(other, second)), f"problem {problem['id']}: {first}, in another order {second}"


def test_an_answer_for_another_node_is_noticed() -> None:
    problem = next(problem for problem in (problems.make("nodes", number) for number in range(1000)) if "nodes" in problem)
    found = by_node(problem, answers.ask(Allocator, problem))
    moved = dict(zip(found, [*list(found.values())[1:], "something else"], strict=True))
    assert same(found, found)
    assert not same(found, moved)
