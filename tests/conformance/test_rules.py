"""The random problems are worth asking: they cover all topics, each alone and with each other, and each rule decides some of them.

This needs no Go: it is about the problems of `test_allocation.py`, not about the answers.
"""

from __future__ import annotations

import random

from conformance import allocation_problems as problems
from conformance import rules
from conformance.figures import Figures
from conformance.scale import SCALE, amount
from reparto.allocation.plain import PlainAllocator

IN_CI = 10_000
PROBLEMS = amount(IN_CI)

ENOUGH = max(1, round(4 * SCALE))
"""Problems that a rule has to decide before it is not tried any more: rare rules cost most."""


def test_problems_are_about_each_topic_alone_each_pair_and_all_together() -> None:
    met = {frozenset(problems.topics_of(random.Random(number), number)) for number in range(IN_CI)}
    assert met >= {frozenset((topic,)) for topic in problems.TOPICS}
    assert met >= {frozenset(pair) for pair in problems.PAIRS}
    assert frozenset(problems.TOPICS) in met


def test_each_rule_decides_some_of_the_problems(seed: str, figures: Figures) -> None:
    coverage = rules.Coverage(ENOUGH)
    for number in range(PROBLEMS):
        if coverage.is_enough:
            break
        coverage.look_at(problems.make(seed, number))
    for name, decided in coverage.decided.items():
        figures.add(name, decided=decided, tried=coverage.tried[name])
    if PROBLEMS >= IN_CI:
        assert not coverage.undecided, f"seed {seed}: nothing depended on {coverage.undecided} in {coverage.problems} problems"


def test_a_rule_that_changes_nothing_decides_nothing() -> None:
    coverage = rules.Coverage(1, [rules.Rule("0", "nothing", PlainAllocator, "")])
    for number in range(200):
        coverage.look_at(problems.make(1, number))
    assert coverage.undecided == ["0 nothing"]


def test_no_two_rules_have_one_name() -> None:
    assert len({rule.name for rule in rules.RULES}) == len(rules.RULES)
