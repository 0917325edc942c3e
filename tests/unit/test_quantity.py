"""Quantities read, compare, add and print as the API server's do.

Right values: cel.md section 4 (observed on Kubernetes 1.37.2), or worked out by hand.
"""

import pytest

from reparto.model.quantity import Quantity, QuantityError

parse = Quantity.parse
NANO = 10**9


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("1", 1),
        ("+1", 1),
        ("-1", -1),
        ("5.", 5),
        ("1k", 1000),
        ("1M", 10**6),
        ("1G", 10**9),
        ("1T", 10**12),
        ("1P", 10**15),
        ("1E", 10**18),
        ("1e3", 1000),
        ("1E3", 1000),
        ("1e+3", 1000),
        ("1Ki", 1024),
        ("80Gi", 80 * 2**30),
        ("81559Mi", 81559 * 2**20),
        ("1.5Gi", 3 * 2**29),
        ("1Ti", 2**40),
        ("1Pi", 2**50),
        ("1Ei", 2**60),
    ],
)
def test_a_suffix_multiplies_the_number(text: str, value: int) -> None:
    assert parse(text).nano == value * NANO


@pytest.mark.parametrize(
    ("text", "nano"), [("1n", 1), ("1u", 1000), ("1m", 10**6), (".5", 5 * 10**8), ("1e-3", 10**6), ("0.000000001", 1)]
)
def test_fractions_are_exact_down_to_a_nano(text: str, nano: int) -> None:
    assert parse(text).nano == nano


@pytest.mark.parametrize(
    ("text", "nano"), [("0.1n", 1), ("0.0000000001", 1), ("-0.0000000001", -1), ("1.0000000001", NANO + 1), ("1e-30", 1)]
)
def test_what_is_finer_than_a_nano_is_rounded_away_from_zero(text: str, nano: int) -> None:
    assert parse(text).nano == nano


@pytest.mark.parametrize("text", ["-", "+", ".", "Ki", "Mi", "Gi", "Ti", "e3", "m", "-.k"])
def test_a_text_without_digits_is_zero(text: str) -> None:
    assert parse(text).nano == 0


@pytest.mark.parametrize("text", ["Pi", "Ei", "-Pi", ".Ei"])
def test_a_text_without_digits_that_leaves_the_plain_route_has_no_numeric_part(text: str) -> None:
    with pytest.raises(QuantityError, match=r"^unable to parse numeric part of quantity$"):
        parse(text)


@pytest.mark.parametrize("text", ["K", "1K", "1ki", "1ee3", "1e", "1m3", "1e9223372036854775808", "5-3", "--1"])
def test_a_well_formed_but_unknown_suffix_is_refused(text: str) -> None:
    with pytest.raises(QuantityError, match=r"^unable to parse quantity's suffix$"):
        parse(text)


@pytest.mark.parametrize("text", ["", " 1", "1 ", "1.5.2", "0x10", "1_000", "1KI", "1Mo", "1E1.5", "١", "1Gi\n", "1,5"])
def test_any_other_text_does_not_match_the_expression_of_quantities(text: str) -> None:
    with pytest.raises(QuantityError, match=r"^quantities must match the regular expression "):
        parse(text)


def test_a_binary_suffix_caps_at_the_largest_int64_and_a_decimal_one_does_not() -> None:
    largest = 2**63 - 1
    assert parse("8Ei").nano == parse("16Ei").nano == largest * NANO
    assert parse("-16Ei").nano == -largest * NANO
    assert parse("100E").nano == 10**20 * NANO
    assert parse("1e400").nano == 10**409


@pytest.mark.parametrize(
    ("left", "right"), [("1", "1000m"), ("1", "1.0"), ("1Pi", "1024Ti"), ("1k", "1e3"), ("0", "-0"), ("1Gi", "1073741824")]
)
def test_equality_and_hash_look_at_the_value_alone(left: str, right: str) -> None:
    assert parse(left) == parse(right)
    assert hash(parse(left)) == hash(parse(right))


def test_order_is_numeric_across_suffix_families() -> None:
    # 80Gi = 85,899,345,920 and 81559Mi = 85,520,809,984: the 80 GB card that reports 81559Mi has less than 80Gi.
    ordered = ["-1k", "-1", "0", "1n", "1m", "1", "1000", "1Ki", "80G", "81559Mi", "80Gi", "1e400"]
    assert sorted(map(parse, reversed(ordered))) == list(map(parse, ordered))
    assert parse("80Gi") > parse("81559Mi")
    assert parse("1") <= parse("1000m") <= parse("1")
    assert parse("1") >= parse("999m")


def test_a_quantity_is_not_equal_to_a_number_or_a_text() -> None:
    assert parse("1") != 1
    assert parse("1") != "1"


@pytest.mark.parametrize("text", ["1.5k", "99Ti", "1E", "0", "5.", "123456789012345678", "1e3", "9E", "+5"])
def test_a_plain_whole_number_that_fits_int64_is_an_integer(text: str) -> None:
    assert parse(text).is_integer()
    assert parse(text).as_integer() * NANO == parse(text).nano


@pytest.mark.parametrize("text", ["1.0", "1000m", "1.5Gi", "1Pi", "1Ei", "100Ti", "1000000000000000000", "10E", "1e19", "0.0"])
def test_a_whole_number_on_any_other_route_is_not_an_integer(text: str) -> None:
    assert not parse(text).is_integer()
    with pytest.raises(QuantityError, match=r"^cannot convert value to integer$"):
        parse(text).as_integer()


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("1.5Gi", "1536Mi"),
        ("1.3Gi", "1395864371200m"),  # 1.3 x 2^30 = 1395864371.2: not whole, hence decimal
        ("1024Ki", "1Mi"),
        ("1023Ki", "1023Ki"),
        ("1024", "1024"),
        ("1000", "1k"),
        ("1500", "1500"),
        ("1.5", "1500m"),
        ("0.5Ki", "512"),  # below 1024 a binary quantity is written decimally
        ("0.0001Ki", "102400u"),
        ("1e21", "1e21"),
        ("10e2", "1e3"),
        ("8Ei", "9223372036854775807"),
        ("-0", "0"),
        ("0Ki", "0"),
        ("-1.5Gi", "-1536Mi"),
        ("0.1n", "1n"),
        ("100E", "100E"),
    ],
)
def test_a_quantity_is_written_in_canonical_form(text: str, canonical: str) -> None:
    assert str(parse(text)) == canonical


@pytest.mark.parametrize("text", ["+5", "005", "5.", "1.500", "1E3", "1e+3", "0012Ki"])
def test_what_upstream_takes_for_canonical_is_written_as_it_came(text: str) -> None:
    assert str(parse(text)) == text


@pytest.mark.parametrize(("text", "written"), [("1000E", "1"), ("1000000000000000000000", "1"), ("2500000E", "2500")])
def test_upstream_loses_the_exponent_of_decimals_from_1e21_on(text: str, written: str) -> None:
    assert str(parse(text)) == written


def test_a_sum_is_exact_and_written_as_its_receiver() -> None:
    assert str(parse("1k").add(parse("1Ki"))) == "2024"
    assert str(parse("1Ki").add(parse("1k"))) == "2024"
    assert str(parse("1Gi").add(parse("1Gi"))) == "2Gi"
    assert parse("9223372036854775807").add(1).nano == 2**63 * NANO
    assert parse("1").sub(parse("1n")).nano == NANO - 1


def test_zero_takes_over_the_format_of_what_is_added_to_it() -> None:
    assert parse("0").add(parse("2Gi")).format == "BinarySI"
    assert parse("0").sub(parse("2Gi")).format == "BinarySI"
    assert parse("0Gi").add(5).format == "DecimalExponent"


def test_a_quantity_does_not_change_when_something_is_added_to_it() -> None:
    quantity = parse("1000000000000000000000")
    quantity.add(parse("1"))
    assert quantity.nano == 10**21 * NANO


@pytest.mark.parametrize(
    ("text", "value", "milli"),
    [("1.5", 2, 1500), ("1500m", 2, 1500), ("1u", 1, 1), ("-1500m", -2, -1500), ("2Gi", 2**31, 2**31 * 1000)],
)
def test_value_and_milli_value_round_away_from_zero(text: str, value: int, milli: int) -> None:
    assert parse(text).value() == value
    assert parse(text).milli_value() == milli


@pytest.mark.parametrize(
    ("text", "value"), [("1", 1.0), ("1.5", 1.5), ("1Gi", 2.0**30), ("1e400", float("inf")), ("-1e400", float("-inf"))]
)
def test_the_approximate_float_is_infinite_beyond_doubles(text: str, value: float) -> None:
    assert parse(text).as_approximate_float() == value


def test_the_sign_is_minus_one_zero_or_one() -> None:
    assert [parse(text).sign() for text in ("-5m", "0", "3Gi")] == [-1, 0, 1]


def test_numbers_become_quantities_without_a_text() -> None:
    assert str(Quantity.from_int(2048, "BinarySI")) == "2Ki"
    assert str(Quantity.from_milli(1500)) == "1500m"
    assert Quantity.from_milli(2000) == parse("2")


@pytest.mark.parametrize(
    "text", ["1e2000000000", "1e-2000000000", "0e2000000000", "9" * 20_000, "0" * 20_000 + "x", "9" * 20_000 + "Ki"]
)
def test_a_hostile_text_costs_no_time_and_no_traceback(text: str) -> None:
    try:
        quantity = parse(text)
    except QuantityError:
        return
    assert str(quantity.add(parse("1")))
    assert quantity.sub(quantity).sign() == 0
    assert quantity == parse(text)
    quantity.as_approximate_float(), quantity.value(), quantity.milli_value(), quantity.is_integer()
