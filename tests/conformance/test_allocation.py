"""We allocate what Kubernetes allocates: random problems, asked of its own allocator and of all of ours.

REPARTO_SEED picks other problems, `conformance.scale` says how many (10,000 in CI). A problem on which the answers differ is shrunk
and written to `build/failures/`.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conformance import allocation_answers as answers
from conformance import allocation_problems as problems
from conformance.figures import Figures
from conformance.oracle import Oracle
from conformance.oracle import allocation as oracle
from conformance.scale import amount, part_name, parts
from conformance.shrinking import shrunk
from reparto.allocation import Allocator
from reparto.allocation.plain import PlainAllocator
from reparto.allocation.setting import Setting
from reparto.model.core import Node

pytestmark = pytest.mark.reference

PROBLEMS = amount(10_000)


class Farsighted(Allocator):
    """The real one, but looking at the whole at once, and not only after it had to go back a number of times."""

    def setting(self, node: Node, step_budget: int | None = None) -> Setting:
        return replace(super().setting(node, step_budget), patience=-1)


STEPS = {Allocator: 100_000, Farsighted: 100_000, PlainAllocator: 3_000}
"""Steps after which an engine may give up on a problem, which then does not count. The plain one needs milliseconds for a step."""

SHRINKING = 3_000
"""Attempts at making a failing problem smaller."""


@pytest.fixture(scope="module")
def upstream() -> Iterator[Oracle]:
    with oracle() as running:
        yield running


def differ(upstream: dict[str, Any], ours: dict[str, Any]) -> bool:
    if answers.timed_out(upstream) or answers.timed_out(ours):
        return False
    return answers.comparable(upstream) != answers.comparable(ours)


def report(upstream: Oracle, engine: type, problem: problems.Problem, write_failure: Callable[[Any], Path]) -> str:
    """Shrink a problem on which the engine is wrong, save it, and say where it is."""

    def wrong(smaller: problems.Problem) -> bool:
        answer = upstream.ask(smaller)
        return answer["kind"] not in ("invalid", "panic") and differ(answer, answers.ask(engine, smaller, STEPS[engine]))

    small = shrunk(problem, problems.removable, wrong, SHRINKING)
    theirs, ours = upstream.ask(small), answers.ask(engine, small, STEPS[engine])
    path = write_failure({"problem": small, "upstream": theirs, "ours": ours})
    return f"{engine.__name__} differs on problem {problem['id']}: {path}\n  upstream: {theirs}\n  ours:     {ours}"


@pytest.mark.parametrize("numbers", parts(PROBLEMS, 625), ids=part_name)
def test_random_problems_have_the_answers_of_kubernetes(
    upstream: Oracle, numbers: range, seed: str, write_failure: Callable[[Any], Path], figures: Figures
) -> None:
    kinds: Counter[str] = Counter()
    undecided: Counter[str] = Counter()
    wrong: list[str] = []
    different = 0
    asked = [problems.make(seed, number) for number in numbers]
    for problem, answer in zip(asked, upstream.ask_many(asked), strict=True):
        assert answer["kind"] not in ("invalid", "panic"), f"{problem['id']}: {answer.get('error')}"
        kinds.update(entry["kind"] for entry in answer.get("nodes", [answer]))
        for engine, steps in STEPS.items():
            ours = answers.ask(engine, problem, steps)
            undecided[engine.__name__] += answers.timed_out(ours) or answers.timed_out(answer)
            if differ(answer, ours):
                different += 1
                wrong += [report(upstream, engine, problem, write_failure)] if len(wrong) < 3 else []
    figures.add("allocation problems", asked=len(asked), differences=different, **kinds)
    figures.add("allocation problems", **{f"undecided with {name}": number for name, number in undecided.items()})
    assert not wrong, f"seed {seed}:\n" + "\n".join(wrong)
    if len(asked) >= 200:
        # The problems must be worth asking: of every kind, and nearly all of them decided.
        assert min(kinds["allocated"], kinds["none"]) * 5 >= len(asked)
        assert kinds["error"] * 50 >= len(asked)
        assert max(undecided["Allocator"], undecided["Farsighted"]) * 30 <= len(asked)
        assert undecided["PlainAllocator"] * 20 <= len(asked)
