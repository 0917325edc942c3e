"""Versions in expressions: what is one, their order, and attributes that are versions."""

from __future__ import annotations

import pytest

from unit.cel_evaluation import error, holds, refusal, value

VERSION = 'device.attributes["dra.example.com"].version'  # 1.2.3


@pytest.mark.parametrize(
    ("arguments", "valid"),
    [
        ('"570.124.6-rc.1+g1a2b3c"', True),
        ('""', False),
        ('"v570.124.6"', False),
        ('" 570.124.6"', False),
        ('"570.124.6 "', False),
        ('"570. 124.6"', False),
        ('"570.0124.6"', False),
        ('"570"', False),
        ('"570.124"', False),
        ('"", true', False),
        ('" 570.124.6", true', False),
        ('"570. 124.6", true', False),
        ('"570.124.6 ", true', False),
        ('"v570.124.6", true', True),
        ('"570.0124.6", true', True),
        ('"570", true', True),
        ('"570.124", true', True),
        # How NVIDIA writes the version of a driver.
        ('"580.65.06"', False),
        ('"580.65.06", true', True),
    ],
)
def test_is_semver(arguments: str, valid: bool) -> None:
    assert holds(f"isSemver({arguments})") is valid


@pytest.mark.parametrize(
    "expression",
    [
        'semver("v570.086", true) == semver("570.86.0")',
        'semver("570.86.15") == semver("570.86.15")',
        '!(semver("570.86.15") == semver("570.86.16"))',
        'semver("570.86.15").isLessThan(semver("570.124.6"))',  # by number: as text, "86" is above "124"
        '!semver("570.86.15").isLessThan(semver("570.86.15"))',
        'semver("570.86.15").isGreaterThan(semver("570.86.15-rc.1"))',
        '!semver("570.86.15").isGreaterThan(semver("570.86.15"))',
        # Build metadata counts neither for order nor for equality.
        'semver("1.0.0+a") == semver("1.0.0+b")',
    ],
)
def test_holds(expression: str) -> None:
    assert holds(expression)


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ('semver("570.86.15")', "570.86.15"),
        ('semver("570.86.15").compareTo(semver("570.86.15"))', 0),
        ('semver("570.86.15").compareTo(semver("570.124.6"))', -1),
        ('semver("580.0.0").compareTo(semver("570.124.6"))', 1),
        ('semver("570.86.15").major()', 570),
        ('semver("570.86.15").minor()', 86),
        ('semver("570.86.15").patch()', 15),
        # Parts are unsigned, CEL's int is not.
        ('semver("18446744073709551615.0.0").major()', -1),
    ],
)
def test_yields(expression: str, result: object) -> None:
    assert value(expression) == result


def test_a_bad_text_is_a_run_time_error() -> None:
    assert error('semver("v570.1")') == "No Major.Minor.Patch elements found"


def test_only_texts_can_be_checked() -> None:
    assert "found no matching overload for 'isSemver' applied to '(int)'" in refusal("isSemver(570)")


# Comparing a version with a text is the mistake everybody makes. What happens depends on which side the version stands.


def test_a_version_compared_with_a_text_is_an_error() -> None:
    assert error(f'{VERSION} == "1.2.3"') == "no such overload"


def test_a_text_compared_with_a_version_is_false() -> None:
    assert not holds(f'"1.2.3" == {VERSION}')


def test_a_version_is_unequal_to_every_text() -> None:
    assert holds(f'{VERSION} != "1.2.3"')


def test_a_version_includes_no_text() -> None:
    assert not holds(f'{VERSION}.includes("1.2.3")')


def test_looking_a_version_up_in_a_list_of_texts_is_an_internal_error_that_nothing_absorbs() -> None:
    message = "internal error: runtime error: hash of unhashable type cel.Semver"
    assert error(f'{VERSION} in ["1.2.3"]') == message
    assert error(f'{VERSION} in ["1.2.3"] || true') == message


def test_a_version_in_a_list_of_versions_is_found() -> None:
    assert holds(f'{VERSION} in [semver("1.2.3")]')
