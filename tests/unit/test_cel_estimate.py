"""Worst-case costs of CEL expressions where sizes decide, to the unit, as Kubernetes 1.37.2 gives them.

What single functions and whole selectors cost is in `test_cel_cost` and `test_cel_selectors`.
"""

from __future__ import annotations

import pytest

from reparto.cel.compilation import check
from reparto.cel.environment import MAX_COST, Environment
from reparto.cel.estimate import UNBOUNDED

STORED = Environment.of(stored=True)


def test_the_selector_of_the_readme_costs_19() -> None:
    text = (
        'device.attributes["gpu.nvidia.com"].type == "gpu"'
        ' && device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("40Gi")) >= 0'
        ' && device.attributes["gpu.nvidia.com"].cudaComputeCapability.compareTo(semver("8.0.0")) >= 0'
    )
    assert check(text, STORED).estimate == 19


# Sizes that nobody bounds: the API server refuses these, harmless as they are.


@pytest.mark.parametrize(
    "text",
    [
        'quantity("1") != quantity("2")',
        'device.capacity["a"].b != quantity("1")',
        '["a", "b"].join() == "ab"',
        '["a"].includes("a")',
        '["a"].max() == "a"',
        'device.attributes["a"].?t.orValue("").matches("a")',
        'device.attributes["a"].?t.orValue("").contains("a")',
        'semver(device.attributes["a"].?v.orValue("1.0.0")).major() == 1',
        # The domain written as a field, not as a key.
        'semver(device.attributes.a.t) == semver("1.0.0")',
        "type(1) == int",
        'semver("1.0.0") != semver("2.0.0")',
        "[1, 2, 3].slice(2, 1) == []",
        'string(1).contains("a")',
        'string(ip("1.2.3.4")).contains("a")',
        '"%s".format(["a"]).contains("a")',
    ],
)
def test_an_unbounded_size_is_more_than_the_limit(text: str) -> None:
    assert check(text, STORED).estimate > MAX_COST


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('quantity("1") == quantity("2")', 3),
        ("[1, 2].includes(2)", 12),
        ('device.attributes["a"].?t.orValue("") == "a"', 6),
        ('device.attributes["a"].?t.orValue("").startsWith("a")', 6),
        ('device.attributes["a"].?t.orValue("") in ["a"]', 16),
        ('semver(device.attributes["a"].t) == semver("1.0.0")', 13),
        ('device.attributes["d"].i.includes(3)', 68),
        ('device.driver in ["x", "a", "b", "c", "d"]', 17),
        ("[1, 2].sum() == 3", 13),
        ("1 in [1, 2, 1 + 2]", 14),
        ("device == device", 2),
        ("has(device.attributes.y)", 2),
        ("[3, 1, 2].sort() == [1, 2, 3]", 50),
    ],
)
def test_bounded_expressions_cost_little(text: str, expected: int) -> None:
    assert check(text, STORED).estimate == expected


def test_costs_saturate() -> None:
    text = 'type(1) == int || device.attributes["a"].?t.orValue("").findAll("a").all(x, type(x) == string)'
    assert check(text, STORED).estimate == UNBOUNDED == 2**64 - 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[3, 1, 2].sortBy(x, -x) == [3, 2, 1]", 115),
        ('["b", "a"].sort() == ["a"]', 41),
        ("[[1], [2]].flatten() == [1, 2]", 54),
        ("[1, 1].distinct() == [1]", 40),
        ("lists.range(3) == [0, 1, 2]", 25),
        ("[1, 2].map(x, x > 1, x * 2) == [2, 4]", 64),
        ("[1, 2].filter(x, x > 1) == [2]", 62),
        ('device.attributes["a"].?t.optMap(x, x == 1).orValue(false)', 24),
        ('device.attributes["a"].?t.optFlatMap(x, optional.of(x == 1)).orValue(false)', 24),
        ('device.driver.replace("a", "bb").matches("x")', 28),
        ('device.driver.replace("", "bb").matches("x")', 35),
        ('device.driver.split("a")[0] == "a"', 17),
        ('cel.bind(a, device.driver + device.driver, a.contains("x"))', 41),
        ('{"a": "bcd"}["a"].contains("c")', 32),
        ('google.protobuf.Duration{seconds: 1} == duration("1s")', 42),
    ],
)
def test_sizes_travel_through_macros_and_functions(text: str, expected: int) -> None:
    assert check(text, STORED).estimate == expected


def test_two_variables_of_a_macro_may_share_one_path() -> None:
    # A key of `device.attributes["a"]` has at most 32 characters, yet counts as 64 when there is a second variable, as values do:
    # the reference keeps paths in slices that share memory. Four for the path and the result, and 32 rounds of a condition (2), the
    # accumulator (1), the variable (1) and a comparison with 64 characters, of which the reference counts 64 or 32 (7 or 4).
    wanted = "x" * 64
    assert check(f'device.attributes["a"].all(k, v, k == "{wanted}")', STORED).estimate == 4 + 32 * (2 + 1 + 1 + 7)
    assert check(f'device.attributes["a"].all(k, k == "{wanted}")', STORED).estimate == 4 + 32 * (2 + 1 + 1 + 4)
