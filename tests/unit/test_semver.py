"""Semantic versions parse, normalise and compare as in Kubernetes (cel.md section 5; semver.org for the order)."""

import pytest

from reparto.model.semver import Semver, SemverError

parse = Semver.parse


def test_a_version_has_five_parts() -> None:
    version = parse("1.2.3-rc.1+build.5")
    assert (version.major, version.minor, version.patch) == (1, 2, 3)
    assert version.prerelease == ("rc", "1")
    assert version.build == ("build", "5")
    assert version.text == str(version) == "1.2.3-rc.1+build.5"


def test_precedence_is_that_of_semver_org() -> None:
    # The chain of semver.org item 11, with numbers that only sort right as numbers.
    ordered = [
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0-beta",
        "1.0.0-beta.2",
        "1.0.0-beta.11",
        "1.0.0-rc.1",
        "1.0.0",
        "1.0.2",
        "1.0.10",
        "1.9.0",
        "1.10.0",
        "10.0.0",
    ]
    assert [version.text for version in sorted(map(parse, reversed(ordered)))] == ordered


def test_numeric_identifiers_stand_below_textual_ones_and_text_goes_by_bytes() -> None:
    assert parse("1.0.0-999") < parse("1.0.0--") < parse("1.0.0-A") < parse("1.0.0-a")


def test_build_metadata_takes_no_part_in_order_equality_or_hash() -> None:
    assert parse("1.0.0+a") == parse("1.0.0+b") == parse("1.0.0")
    assert len({parse("1.0.0+a"), parse("1.0.0+b")}) == 1
    assert parse("1.0.0+a") <= parse("1.0.0") >= parse("1.0.0+b")
    assert not parse("1.0.0+a") > parse("1.0.0")


def test_a_version_is_not_equal_to_its_text() -> None:
    assert parse("1.0.0") != "1.0.0"


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("v01.02.003-rc.1", "1.2.3-rc.1"),
        ("580.65.06", "580.65.6"),
        ("1", "1.0.0"),
        ("v1.2", "1.2.0"),
        ("00.00.00", "0.0.0"),
        ("1.02.3+001", "1.2.3+001"),
    ],
)
def test_normalising_forgives_a_v_leading_zeros_and_missing_parts(text: str, normal: str) -> None:
    assert parse(text, normalize=True).text == normal


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("V1", 'Invalid character(s) found in major number "0V1"'),
        ("vv1", 'Invalid character(s) found in major number "0v1"'),
        ("v", 'strconv.ParseUint: parsing "": invalid syntax'),
        ("", 'strconv.ParseUint: parsing "": invalid syntax'),
        ("1-rc", "short version cannot contain PreRelease/Build meta data"),
        ("1.2+b", "short version cannot contain PreRelease/Build meta data"),
        (" 1.2.3", 'Invalid character(s) found in major number "0 1"'),
    ],
)
def test_normalising_does_not_forgive_the_rest(text: str, message: str) -> None:
    with pytest.raises(SemverError) as caught:
        parse(text, normalize=True)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Version string empty"),
        ("1", "No Major.Minor.Patch elements found"),
        ("1.2", "No Major.Minor.Patch elements found"),
        ("v1.2.3", 'Invalid character(s) found in major number "v1"'),
        ("01.2.3", 'Major number must not contain leading zeroes "01"'),
        ("1.x.3", 'Invalid character(s) found in minor number "x"'),
        ("1.00.3", 'Minor number must not contain leading zeroes "00"'),
        ("580.65.06", 'Patch number must not contain leading zeroes "06"'),
        ("1.2.3.4", 'Invalid character(s) found in patch number "3.4"'),
        ("1.2.3-", "Prerelease is empty"),
        ("1.2.3-a..b", "Prerelease is empty"),
        ("1.2.3-01", 'Numeric PreRelease version must not contain leading zeroes "01"'),
        ("1.2.3-a_b", 'Invalid character(s) found in prerelease "a_b"'),
        ("1.2.3+", "Build meta data is empty"),
        ("1.2.3+a_b", 'Invalid character(s) found in build meta data "a_b"'),
        ("1..3", 'strconv.ParseUint: parsing "": invalid syntax'),
        ("18446744073709551616.0.0", 'strconv.ParseUint: parsing "18446744073709551616": value out of range'),
        ('1.2."', 'Invalid character(s) found in patch number "\\""'),
        ("1.2.\n", 'Invalid character(s) found in patch number "\\n"'),
        ("1.2.\x01", 'Invalid character(s) found in patch number "\\x01"'),
    ],
)
def test_a_text_that_is_no_version_is_refused_in_upstreams_words(text: str, message: str) -> None:
    with pytest.raises(SemverError) as caught:
        parse(text)
    assert str(caught.value) == message


def test_numbers_reach_the_largest_unsigned_64_bit_one() -> None:
    assert parse("18446744073709551615.0.0").major == 2**64 - 1
