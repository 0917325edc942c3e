"""The language's own test suite: cel-spec's simple tests, as far as they concern device expressions.

Right is what the suite says, except where Kubernetes itself says otherwise: these tests are listed with reasons in
`cel_spec_failures.txt`, and the list is held to be exactly Kubernetes' own failures. The suite is read from the Go module that
`reference/` depends on, never copied.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from conformance.cel_spec import SpecTest, read_suite
from conformance.oracle import allocation, module_folder
from reparto import cel

STORED = cel.Options(stored=True, version="1.37", consumable_capacity=True, list_type_attributes=True)
FEATURES = {"consumable_capacity": True, "list_type_attributes": True}
#: So many tests of cel.dev/expr v0.25.1 can be put to a device; fewer would mean that we stopped reading them.
EXPECTED_TESTS = 1398


@cache
def suite() -> list[SpecTest]:
    return list(read_suite(module_folder("cel.dev/expr") / "tests" / "simple" / "testdata"))


def expected_failures() -> dict[str, str]:
    """Reason by test."""
    found: dict[str, str] = {}
    reason = ""
    for line in (Path(__file__).parent / "cel_spec_failures.txt").read_text().splitlines():
        if line.startswith("["):
            reason = line.strip("[]")
        elif line and not line.startswith("#"):
            found[line] = reason
    return found


def we_pass(test: SpecTest) -> bool:
    try:
        program = cel.compile(test.selector, STORED)
    except cel.CompileError:
        return test.must_fail
    answer = program.evaluate(cel.Device(driver="a", attributes={}, capacity={}))
    if answer.error is not None:
        return test.must_fail
    return not test.must_fail and answer.value is True


@pytest.mark.reference
def test_every_test_passes_or_is_listed_with_a_reason():
    failing = expected_failures()
    wrong = [test for test in suite() if not we_pass(test) and test.name not in failing]
    assert not wrong, "\n".join(f"{test.name}: {test.selector}" for test in wrong)


@pytest.mark.reference
def test_what_is_listed_as_failing_does_fail():
    failing = expected_failures()
    passing = [test.name for test in suite() if test.name in failing and we_pass(test)]
    assert not passing


@pytest.mark.reference
def test_the_list_is_exactly_what_kubernetes_itself_fails():
    questions = [{"features": FEATURES, "selector": {"expression": test.selector, "device": {"driver": "a"}}} for test in suite()]
    failed: set[str] = set()
    with allocation() as oracle:
        for test, answer in zip(suite(), oracle.ask_many(questions), strict=True):
            selector = answer.get("selector", {"compileError": "panic"})
            refused = "compileError" in selector or "matchError" in selector
            if not (refused if test.must_fail else selector.get("match") is True):
                failed.add(test.name)
    assert failed == set(expected_failures())


@pytest.mark.reference
def test_the_suite_is_read_completely():
    assert len(suite()) == EXPECTED_TESTS
