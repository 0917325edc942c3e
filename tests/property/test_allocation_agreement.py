"""The allocator and the plain one, which is the written contract, answer alike; this needs no Go, unlike the conformance tests."""

import pytest

from conformance import allocation_answers as answers
from conformance import allocation_problems as problems
from reparto.allocation import Allocator
from reparto.allocation.plain import PlainAllocator

SEED = 7


@pytest.mark.parametrize("part", range(4))
def test_both_implementations_give_the_same_answers(part):
    for number in range(part * 100, part * 100 + 100):
        problem = problems.make(SEED, number)
        plain = answers.ask(PlainAllocator, problem, 2_000)
        if not answers.timed_out(plain):
            ours = answers.ask(Allocator, problem)
            assert answers.comparable(ours) == answers.comparable(plain), f"problem {problem['id']}"
            assert ours == plain, f"problem {problem['id']}: the texts of errors, quantities and share IDs agree, too"
