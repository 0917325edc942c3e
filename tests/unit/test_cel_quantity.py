"""Quantities in expressions: exact arithmetic, suffixes of both families, and what selectors trip over."""

from __future__ import annotations

import pytest

from reparto import cel
from unit.cel_evaluation import error, holds, refusal, value


@pytest.mark.parametrize(
    ("text", "valid"),
    [("7", True), ("7G", True), ("7Gi", True), ("7Gb", False), ("7Gm", False), ("7k", True), ("7K", False), ("7e3", True)],
)
def test_is_quantity(text: str, valid: bool) -> None:
    assert holds(f'isQuantity("{text}")') is valid


@pytest.mark.parametrize(
    "expression",
    [
        'quantity("96Gi") == quantity("103079215104")',
        'quantity("1.5Gi") == quantity("1536Mi")',
        'quantity("1.5G") == quantity("1500M") && quantity("1500M") == quantity("1.5e9")',
        '!(quantity("1.5G") == quantity("1.5Gi"))',
        'quantity("80G").isLessThan(quantity("80Gi"))',
        'quantity("999M").isLessThan(quantity("1G"))',
        '!quantity("1G").isLessThan(quantity("1000M"))',
        'quantity("750m").isGreaterThan(quantity("0.7"))',
        '!quantity("0.7").isGreaterThan(quantity("700m"))',
        'quantity("2k").add(quantity("500m")) == quantity("2000500m")',
        '!quantity("2k").add(7).isLessThan(quantity("2007"))',
        'quantity("2k").sub(quantity("2500")) == quantity("-0.5k")',
        'quantity("2k").sub(7) == quantity("1.993k")',
        '!quantity("1e40").isInteger()',
        'quantity("4k").isInteger()',
        'quantity("62.5m").asApproximateFloat() == 0.0625',
        # A big receiver is left alone, however often it is added to.
        '[quantity("12345678901234567890123")].all(x, x.add(quantity("1")).compareTo(x.add(quantity("2"))) == -1)',
    ],
)
def test_holds(expression: str) -> None:
    assert holds(expression)


@pytest.mark.parametrize(
    ("expression", "number"),
    [
        ('quantity("0.25").compareTo(quantity("250m"))', 0),
        ('quantity("64G").compareTo(quantity("64Gi"))', -1),
        ('quantity("64Gi").compareTo(quantity("64G"))', 1),
        ('quantity("3k").add(5).sub(quantity("4k")).asInteger()', -995),
        ('quantity("3k").sub(-5).asInteger()', 3005),
        ('quantity("1Mi").asInteger()', 1048576),
        ('sign(quantity("-2m"))', -1),
        ('sign(quantity("0Ki"))', 0),
    ],
)
def test_yields_a_number(expression: str, number: int) -> None:
    assert value(expression) == number


def test_a_bad_text_is_a_run_time_error_even_if_it_is_constant() -> None:
    assert "quantities must match the regular expression" in error('quantity("7Gb")')


def test_a_value_beyond_int64_is_no_integer() -> None:
    assert error('quantity("1e40").asInteger()') == "cannot convert value to integer"


def test_only_texts_can_be_checked() -> None:
    assert "found no matching overload for 'isQuantity' applied to '(int)'" in refusal("isQuantity(80)")


def test_sign_is_a_function_not_a_method_whatever_the_documentation_says() -> None:
    assert "found no matching overload" in refusal('quantity("1").sign() == 1')


def test_an_eighty_gi_threshold_excludes_an_h100_that_reports_81559_mi() -> None:
    device = cel.Device("gpu.nvidia.com", capacity={"memory": {"value": "81559Mi"}})
    assert not holds('device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("80Gi")) >= 0', device)


# The reference keeps a sum as a pointer, and a pointer on the right of `==` is not the type it expects.


def test_a_sum_is_equal_only_on_the_left() -> None:
    assert holds('quantity("1").add(1) == quantity("2")')
    assert error('quantity("2") == quantity("1").add(1)') == "no such overload"
    assert holds('quantity("2") != quantity("1").add(1)')


def test_sums_compare_either_way() -> None:
    assert value('quantity("2").compareTo(quantity("1").add(1))') == 0


# Comparing changes what the receiver says about itself: next to an arbitrary-precision quantity it is held as one, and no longer
# "an integer". Every evaluation starts afresh.


def test_comparing_with_a_big_quantity_makes_the_receiver_no_integer() -> None:
    assert holds('quantity("1").isInteger() && !quantity("1.5Gi").isInteger()')
    assert not holds('cel.bind(x, quantity("1"), x.compareTo(quantity("1.5Gi")) < 0 && x.isInteger())')
    assert holds('cel.bind(x, quantity("1"), quantity("1.5Gi").compareTo(x) > 0 && x.isInteger())')
    assert holds('cel.bind(x, quantity("1"), x == quantity("1.5Gi") || x.isInteger())')


def test_the_next_evaluation_finds_the_device_as_it_was() -> None:
    device = cel.Device("d", capacity={"memory": {"value": "1Gi"}})
    memory = 'device.capacity["d"].memory'
    for _ in range(2):
        assert holds(f"{memory}.isInteger()", device)
        assert not holds(f'{memory}.isLessThan(quantity("1.5Gi")) && {memory}.isInteger()', device)
