"""Plain YAML scalars are what kubectl makes of them: YAML 1.1 as Go's yaml.v2 resolves it, then JSON.

Right values: run through sigs.k8s.io/yaml 1.6.0 (`YAMLToJSON`), the library that kubectl uses.
"""

import pytest

from reparto.model.reading.scalars import key, resolved


@pytest.mark.parametrize("text", ["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"])
def test_yaml_1_1_words_for_true_are_true(text: str) -> None:
    assert resolved(text) is True


@pytest.mark.parametrize("text", ["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"])
def test_yaml_1_1_words_for_false_are_false(text: str) -> None:
    assert resolved(text) is False


@pytest.mark.parametrize("text", ["tRUE", "yEs", "oN", "nULL", "None", "nil"])
def test_other_spellings_stay_text(text: str) -> None:
    assert resolved(text) == text


@pytest.mark.parametrize("text", ["", "~", "null", "Null", "NULL"])
def test_null_words_are_null(text: str) -> None:
    assert resolved(text) is None


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("42", 42),
        ("+42", 42),
        ("-42", -42),
        ("0", 0),
        ("0777", 511),
        ("0o17", 15),
        ("0x1F", 31),
        ("-0x1F", -31),
        ("0b101", 5),
        ("-0b101", -5),
        ("1_000", 1000),
        ("9223372036854775807", 2**63 - 1),
        ("18446744073709551615", 2**64 - 1),
    ],
)
def test_integers_in_every_base(text: str, value: int) -> None:
    assert resolved(text) == value
    assert isinstance(resolved(text), int)


@pytest.mark.parametrize(("text", "value"), [("1e3", 1000), ("1.0", 1), ("08", 8), ("-0.0", 0), ("1.5e1", 15)])
def test_whole_floats_arrive_as_integers_because_json_writes_them_so(text: str, value: int) -> None:
    assert resolved(text) == value
    assert isinstance(resolved(text), int)


@pytest.mark.parametrize(("text", "value"), [("1.5", 1.5), (".5", 0.5), ("-1.25e-3", -0.00125), ("1.", 1)])
def test_fractions_are_floats(text: str, value: float) -> None:
    assert resolved(text) == value


def test_an_integer_beyond_64_bits_becomes_a_float() -> None:
    assert resolved("123456789012345678901") == 123456789012345680000


@pytest.mark.parametrize(
    "text",
    ["2026-01-01", "2026-01-01T00:00:00Z", "1:30", "12:30:45", "80Gi", "1.2.3", "0x", "1e", "--1", "+", "-", ".", "1e999", "0b2"],
)
def test_dates_times_versions_and_quantities_stay_text(text: str) -> None:
    assert resolved(text) == text


@pytest.mark.parametrize(("value", "text"), [(True, "true"), (False, "false"), (1, "1"), (1.5, "1.5"), ("a", "a")])
def test_keys_become_text(value: object, text: str) -> None:
    assert key(value) == text  # type: ignore[arg-type]


def test_null_cannot_be_a_key() -> None:
    assert key(None) is None
