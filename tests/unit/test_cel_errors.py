"""How evaluation fails: arithmetic, types at run time, what operators absorb, what is found while compiling."""

from __future__ import annotations

import pytest

from reparto import cel
from unit.cel_evaluation import error, holds, refusal, value

HERE = 'device.attributes["dra.example.com"]'


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("9223372036854775807 + 1", "integer overflow"),
        ("-9223372036854775808 - 1", "integer overflow"),
        ("-9223372036854775808 / -1", "integer overflow"),
        ("-9223372036854775808 % -1", "integer overflow"),
        ("-(-9223372036854775807 - 1)", "integer overflow"),
        ("1u - 2u", "unsigned integer overflow"),
        ("18446744073709551615u + 1u", "unsigned integer overflow"),
        ("1 / 0", "division by zero"),
        ("1 % 0", "modulus by zero"),
        ('duration("9000000000s") + duration("9000000000s")', "integer overflow"),
        ('timestamp("9999-12-31T23:59:59Z") + duration("1s")', "timestamp overflow"),
        ('double("NaN") < 1.0', "NaN values cannot be ordered"),
        ('dyn(1) + "a"', "no such overload"),
        ("dyn(true) + 1", "no such overload: _+_"),
        ("dyn(true) < 1", "no such overload"),
        ("size(dyn(1))", "no such overload: size"),
        ('dyn(1).isGreaterThan(quantity("1"))', "no such overload: isGreaterThan(int, kubernetes.Quantity)"),
        ("dyn(1) ? 1 : 2", "no such overload"),
        (f"{HERE}.int && true", "no such overload"),
        (f"{HERE}.int.field", "no such key: field"),
        (f"{HERE}.int[0]", "no such key: 0"),
        (f"{HERE}.missing", "no such key: missing"),
        (f"{HERE}.ints[2]", "index out of bounds: 2"),
        ('timestamp(0).getHours("Foo/Bar")', "unknown time zone Foo/Bar"),
    ],
)
def test_errors(expression: str, message: str) -> None:
    assert error(expression) == message


@pytest.mark.parametrize(
    ("expression", "verdict"),
    [
        ("1 / 0 == 1 || true", True),
        ("true || 1 / 0 == 1", True),
        ("1 / 0 == 1 && false", False),
        ("false && 1 / 0 == 1", False),
        ("dyn(1) && false", False),
        (f"{HERE}.missing == 1 || {HERE}.int == 3", True),
        ("true ? true : 1 / 0 == 1", True),
        ("cel.bind(x, 1 / 0, true)", True),  # never looked at
        ("cel.bind(x, 1 / 0, x == 1 || true)", True),
    ],
)
def test_an_error_that_does_not_matter_is_absorbed_from_either_side(expression: str, verdict: bool) -> None:
    assert holds(expression) is verdict


@pytest.mark.parametrize(
    "expression",
    ["dyn(1).distinct() == [] || true", "[1, 1 / 0].sort() == [] || true", "[1].flatten(1 / 0) == [] || true"],
)
def test_an_internal_error_is_never_absorbed(expression: str) -> None:
    assert error(expression).startswith("internal error: interface conversion")


@pytest.mark.parametrize(
    "expression", ["[1, 1 / 0].reverse() == [] || true", "[1, 1 / 0].min() == 1 || true", "dyn(1).sort() == [] || true"]
)
def test_other_list_functions_fail_in_the_ordinary_way(expression: str) -> None:
    assert holds(expression)


def test_a_result_that_is_no_bool_is_an_error() -> None:
    assert error(f"{HERE}.int").startswith("CEL result of type int could not be converted to bool: ")


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ('int("x") == 1', "program instantiation failed: type conversion error from 'string' to 'int'"),
        (r'string(b"\377") == ""', "program instantiation failed: invalid UTF-8 in bytes, cannot convert to string"),
        ("int(dyn(null)) == 1", "program instantiation failed: no such overload: int(null_type)"),
        ("cel.bind(t, type(1), t == int)", "program instantiation failed: reference to undefined type: t"),
        ('{"a": 1}[dyn([1])] == 1', "program instantiation failed: invalid qualifier type: *types.baseList"),
    ],
)
def test_a_constant_that_cannot_be_converted_does_not_compile(expression: str, message: str) -> None:
    assert refusal(expression) == message


def test_an_error_of_compilation_carries_text_and_position() -> None:
    with pytest.raises(cel.CompileError) as refused:
        cel.compile("device.driver == 1")
    assert refused.value.text == "device.driver == 1"
    assert refused.value.position == 14


def test_a_missing_key_gets_the_allocators_hint() -> None:
    answer = cel.compile('device.attributes["d"].x').evaluate(cel.Device())
    assert answer.error is not None
    assert answer.error.with_hint() == (
        "no such key: x. consider using CEL optional chaining (.? followed by orValue()) "
        "or guarding the check with has() for optional fields"
    )


# Numbers


@pytest.mark.parametrize(
    ("expression", "result"),
    [("7 / 2", 3), ("-7 / 2", -3), ("-7 % 2", -1), ("7 % -2", 1), ("int(1.9)", 1), ("int(-1.9)", -1), ('int("+5")', 5)],
)
def test_integers_truncate(expression: str, result: int) -> None:
    assert value(expression) == result


@pytest.mark.parametrize(
    ("expression", "verdict"),
    [
        ("1 < 2.0 && 1u < 2 && 1.5 > 1u", True),
        ("1 == dyn(1.0) && dyn(1u) == 1", True),
        # Through double at the edge, where exact comparison would say the opposite.
        ("dyn(9223372036854775807) < 9223372036854775808.0", False),
        ("dyn(9223372036854775807) == 9223372036854775808.0", True),
        ('double("NaN") == double("NaN")', False),
        ("1.0 / 0.0 > 1.0", True),
        ("true > false", True),
        ("dyn(null) == 1", False),
    ],
)
def test_numbers_compare_across_types(expression: str, verdict: bool) -> None:
    assert holds(expression) is verdict


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("string(1000000.0)", "1e+06"),
        ("string(999999.0)", "999999"),
        ("string(0.00001)", "1e-05"),
        ("string(-0.0)", "-0"),
        ('string(duration("1h1ns"))', "3600.000000001s"),
        ('string(timestamp("2020-01-01T00:00:00.1200+01:30"))', "2020-01-01T00:00:00.12+01:30"),
        ("string(true)", "true"),
        ("string(5u)", "5"),
    ],
)
def test_numbers_and_times_become_text_as_in_go(expression: str, text: str) -> None:
    assert value(expression) == text


@pytest.mark.parametrize(
    ("expression", "number"),
    [
        ('timestamp("2020-02-29T12:34:56.789Z").getFullYear()', 2020),
        ('timestamp("2020-02-29T12:34:56.789Z").getMonth()', 1),
        ('timestamp("2020-02-29T12:34:56.789Z").getDate()', 29),
        ('timestamp("2020-02-29T12:34:56.789Z").getDayOfMonth()', 28),
        ('timestamp("2020-02-29T12:34:56.789Z").getDayOfWeek()', 6),
        ('timestamp("2020-02-29T12:34:56.789Z").getDayOfYear()', 59),
        ('timestamp("2020-02-29T12:34:56.789Z").getMilliseconds()', 789),
        ('timestamp("2020-02-29T12:34:56Z").getHours("-02:30")', 10),
        ('timestamp("2020-07-01T12:00:00Z").getHours("Europe/Berlin")', 14),
        ('duration("90m").getHours()', 1),
        ('duration("-90m").getHours()', -1),
        ('duration("1.5s").getMilliseconds()', 1500),
        ('int(timestamp("1970-01-01T00:01:00Z"))', 60),
    ],
)
def test_calendar_fields(expression: str, number: int) -> None:
    assert value(expression) == number
