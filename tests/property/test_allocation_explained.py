"""Whatever the allocator refuses can be explained: with a known code, in words, and with counts that add up."""

import pytest

from conformance import allocation_answers as answers
from conformance import allocation_problems as problems
from reparto.allocation import AllocationError, Allocator, explain_failure
from reparto.model import codes

SEED = 11


@pytest.mark.parametrize("part", range(4))
def test_every_refusal_has_a_reason(part):
    refused = 0
    for number in range(part * 100, part * 100 + 100):
        allocator, nodes, claims = answers.build(Allocator, problems.make(SEED, number), 10_000)
        for node in nodes:
            try:
                if allocator.allocate(node, claims) is not None:
                    continue
            except AllocationError as error:
                if error.kind.value == "gave-up":
                    continue
            gate = explain_failure(allocator, node, claims)
            refused += 1
            assert gate.code in codes.CODES and gate.cause
            assert 0 <= gate.matching <= gate.total or not gate.total
            assert gate.matching < gate.needed or not gate.needed
    assert refused
