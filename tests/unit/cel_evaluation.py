"""Evaluating expressions in tests: what does it yield, how does it fail, what does it cost."""

from __future__ import annotations

from typing import Any

from reparto import cel

DRIVER = "dra.example.com"

#: A device with one attribute of every kind.
DEVICE = cel.Device(
    DRIVER,
    {
        "int": {"int": 3},
        "string": {"string": "abc"},
        "bool": {"bool": True},
        "version": {"version": "1.2.3"},
        "ints": {"ints": [1, 2]},
        "strings": {"strings": ["a", "b"]},
        "versions": {"versions": ["1.0.0", "2.0.0"]},
        "other.example.com/x": {"string": "y"},
    },
    {"memory": {"value": "10Gi"}},
)


def evaluate(expression: str, device: cel.Device = DEVICE) -> cel.Answer:
    """The answer to an expression of any type: `dyn` makes every type acceptable for a selector, and costs 1 unless it is
    folded."""
    return cel.compile(f"dyn({expression})").evaluate(device)


def value(expression: str, device: cel.Device = DEVICE) -> Any:
    """The value of a bool, int, string, version, or list of these."""
    answer = cel.compile(expression, cel.Options(derived_attribute=True)).evaluate(device)
    assert answer.error is None, f"{expression}: {answer.error}"
    assert isinstance(answer.value, dict)
    return next(iter(answer.value.values()))


def holds(expression: str, device: cel.Device = DEVICE) -> bool:
    """The verdict of a selector, the same both ways of evaluating it."""
    program = cel.compile(expression)
    answer = program.evaluate(device)
    assert answer.error is None, f"{expression}: {answer.error}"
    assert program.matches(device) is answer.value
    return answer.value is True


def error(expression: str, device: cel.Device = DEVICE) -> str:
    """The text of the run-time error of an expression of any type."""
    answer = evaluate(expression, device)
    assert answer.error is not None, f"{expression} yields {answer.value}"
    return str(answer.error)


def refusal(expression: str, **options: Any) -> str:
    """The text of the error of compilation."""
    try:
        cel.compile(expression, cel.Options(**options))
    except cel.CompileError as refused:
        return str(refused)
    raise AssertionError(f"{expression} compiles")


def costs(expression: str, device: cel.Device = DEVICE) -> tuple[int, int]:
    """Estimated and actual cost of a selector, without regard to its outcome."""
    program = cel.compile(expression)
    return program.max_cost, program.evaluate(device).cost
