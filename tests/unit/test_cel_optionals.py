"""Optional values, and the `.?` that the allocator's own hint recommends."""

from __future__ import annotations

import pytest

from unit.cel_evaluation import error, holds, value

HERE = 'device.attributes["dra.example.com"]'


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        (f"{HERE}.?int.orValue(7)", 3),
        (f"{HERE}.?missing.orValue(7)", 7),
        (f'{HERE}[?"int"].orValue(7)', 3),
        (f"{HERE}.?missing.or(optional.of(8)).value()", 8),
        (f"{HERE}.?int.optMap(x, x + 1).orValue(0)", 4),
        (f"{HERE}.?missing.optMap(x, x + 1).orValue(0)", 0),
        ("optional.of(1).optFlatMap(x, optional.of(x + 1)).value()", 2),
        ("[1, 2][?5].orValue(9)", 9),
        ('optional.of({"a": 1}).?a.value()', 1),
        ('optional.of({"a": 1}).a.value()', 1),
        ("[1, 2].first().value()", 1),
        ("[1, 2].last().value()", 2),
        ("[?optional.of(1), 2, ?optional.none()]", [1, 2]),
        ('{?"a": optional.of(1), ?"b": optional.none()}.size()', 1),
        ("[optional.of(1), optional.none()].unwrapOpt()", [1]),
        ("optional.unwrap([optional.none(), optional.of(2)])", [2]),
    ],
)
def test_optional_values(expression: str, result: object) -> None:
    assert value(expression) == result


@pytest.mark.parametrize(
    ("expression", "verdict"),
    [
        ("optional.of(1).hasValue()", True),
        ("optional.none().hasValue()", False),
        ("optional.ofNonZeroValue(0).hasValue()", False),
        ('optional.ofNonZeroValue("").hasValue()', False),
        ("optional.ofNonZeroValue(null).hasValue()", False),
        ('optional.ofNonZeroValue(duration("0s")).hasValue()', False),
        # Kubernetes' own types have no zero.
        ('optional.ofNonZeroValue(quantity("0")).hasValue()', True),
        ("optional.none() == optional.none()", True),
        ("optional.of(1) == optional.of(1)", True),
        ("optional.of(1) == optional.none()", False),
        ("dyn(optional.none()) == dyn(1)", False),
        ("type(optional.none()) == optional_type", True),
        ("[].first().hasValue()", False),
        (f"has({HERE}.?missing.x)", False),
    ],
)
def test_optional_verdicts(expression: str, verdict: bool) -> None:
    assert holds(expression) is verdict


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("optional.none().value()", "optional.none() dereference"),
        ("dyn(1).or(optional.of(2)).hasValue()", "no such overload"),
        ("dyn([1]).unwrapOpt()", "no such overload: unwrapOpt(list)"),
        (f"{HERE}.?missing.value()", "optional.none() dereference"),
    ],
)
def test_optional_errors(expression: str, message: str) -> None:
    assert error(expression) == message


def test_a_default_is_evaluated_only_when_needed() -> None:
    assert value("optional.of(1).orValue(1 / 0)") == 1
    assert error("optional.none().orValue(1 / 0)") == "division by zero"
