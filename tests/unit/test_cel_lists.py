"""Lists and maps: Kubernetes' list functions, cel-go's extensions, sets, macros."""

from __future__ import annotations

import pytest

from unit.cel_evaluation import error, holds, refusal, value


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ("[1, 2, 3].sum()", 6),
        ("[].sum()", 0),
        ("[3, 1, 2].min()", 1),
        ('["b", "c", "a"].max()', "c"),
        ("[1, 2, 1].indexOf(1)", 0),
        ("[1, 2, 1].lastIndexOf(1)", 2),
        ("[1, 2, 1].indexOf(3)", -1),
        ("[1, 2, 3, 4].slice(1, 3)", [2, 3]),
        ("[[1], [2, 3]].flatten()", [1, 2, 3]),
        ("[[[1], [2]], [[3]]].flatten(2).size()", 3),
        ("[3, 1, 2].sort()", [1, 2, 3]),
        ('["b", "a"].sort()', ["a", "b"]),
        ("[3, 1, 2].sortBy(x, -x)", [3, 2, 1]),
        ("[3, 1, 3, 1].distinct()", [3, 1]),
        ("[1, 2, 3].reverse()", [3, 2, 1]),
        ("lists.range(4)", [0, 1, 2, 3]),
        ("[1, 2] + [3]", [1, 2, 3]),
        ("[1, 2, 3].map(x, x * x)", [1, 4, 9]),
        ("[1, 2, 3].map(x, x > 1, x * x)", [4, 9]),
        ("[1, 2, 3].filter(x, x != 2)", [1, 3]),
        ("[5, 6].transformList(i, v, i + v)", [5, 7]),
        ("[5, 6].transformList(i, v, i > 0, v)", [6]),
        ("[5, 6].transformMap(i, v, v * 2)[1]", 12),
        ('["a", "b"].transformMapEntry(i, v, {v: i})["b"]', 1),
        ('{1: "a", 1: "b"}[1]', "b"),
        ('{1: "a"}[dyn(1u)]', "a"),
        ('{1u: "a"}[dyn(1.0)]', "a"),
        ("dyn([7])[0.0]", 7),
        ('{"a": {"b": 5}}.a.b', 5),
    ],
)
def test_list_functions(expression: str, result: object) -> None:
    assert value(expression) == result


@pytest.mark.parametrize(
    ("expression", "verdict"),
    [
        ("[1, 2, 2].isSorted()", True),
        ("[2, 1].isSorted()", False),
        ("[1, 2].includes(2)", True),
        ("dyn(1).includes(1)", True),
        ("sets.contains([1, 2, 3], [2, 3])", True),
        ("sets.contains([1], [2])", False),
        ("sets.equivalent([1, 2], [2, 1, 1])", True),
        ("sets.intersects([1, 2], [2, 3])", True),
        ("[1, 2, 3].all(x, x > 0)", True),
        ("[1, 2, 3].exists(x, x > 2)", True),
        ("[1, 2, 3].exists_one(x, x > 1)", False),
        ("[1, 2, 3].existsOne(i, x, x > 2)", True),
        ("[1, 2].all(i, x, x == i + 1)", True),
        ('{"a": 1}.all(k, v, k == "a" && v == 1)', True),
        ("1 in [1, 2] && !(3 in [1, 2])", True),
        ('"a" in {"a": 1}', True),
        ("dyn([1, 2]) == dyn([1.0, 2.0])", True),
        ('dyn({"a": 1}) == dyn({"a": 1.0})', True),
        ("[1].exists(x, dyn(x) == true)", False),
        # NaN equals nothing, so it is never the same key.
        ('[1, 2].transformMapEntry(i, v, {double("NaN"): v}).size() == 2', True),
    ],
)
def test_list_verdicts(expression: str, verdict: bool) -> None:
    assert holds(expression) is verdict


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("[].min()", "min called on empty list"),
        ("[1].slice(0, 2)", "cannot slice(0, 2), list is length 1"),
        ("[1].slice(1, 0)", "cannot slice(1, 0), start index must be less than or equal to end index"),
        ("[[1]].flatten(-1)", "level must be non-negative"),
        ("dyn(1).flatten()", "no such overload: int.flatten()"),
        ("dyn(1).sort()", "no such overload: sort"),
        ("lists.range(-1)", "lists.range: size must be non-negative, got -1"),
        ("lists.range(1000001)", "lists.range: size 1000001 exceeds maximum allowed (1000000)"),
        ("[1][1]", "index out of bounds: 1"),
        ('[1][dyn("a")]', "unsupported index type 'string' in list"),
        ('{"a": 1}[dyn("b")]', "no such key: b"),
        ('["a", "a"].transformMapEntry(i, v, {v: i}).size()', "insert failed: key a already exists"),
        ("device.attributes[device.driver].int.all(x, true)", "got 'types.Int', expected iterable type"),
        ("device.attributes[device.driver].int.all(i, x, true)", "unsupported comprehension range type: types.Int"),
    ],
)
def test_list_errors(expression: str, message: str) -> None:
    assert error(expression) == message


def test_an_error_in_a_predicate_is_forgotten_when_another_element_decides() -> None:
    assert holds("[0, 1].exists(x, 1 / x == 1)")
    assert not holds("[0, 1].all(x, 1 / x == 2)")
    assert error("[0, 1].all(x, 1 / x == 1)") == "division by zero"
    assert error("[0, 1].exists_one(x, 1 / x == 1)") == "division by zero"


def test_keys_that_cannot_be_hashed_do_not_compile_when_constant_and_fail_when_not() -> None:
    assert "hash of unhashable type types.Bytes" in refusal('{b"a": 1}.size() == 1')
    assert error('{semver("1.0.0"): 1}.size()') == "internal error: runtime error: hash of unhashable type cel.Semver"
