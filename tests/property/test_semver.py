"""What holds for every version: its text is its own normal form, order is total and agrees with semver.org item 11."""

from hypothesis import given
from hypothesis import strategies as st

from reparto.model.semver import Semver, SemverError

numbers = st.integers(0, 2**64 - 1) | st.integers(0, 3)
words = st.from_regex(r"[0-9A-Za-z-]*[A-Za-z-][0-9A-Za-z-]*", fullmatch=True).filter(lambda word: len(word) < 12)
identifiers = st.lists(numbers.map(str) | words, max_size=3)
versions = st.tuples(numbers, numbers, numbers, identifiers, st.lists(words, max_size=2))


def text(version: tuple[int, int, int, list[str], list[str]]) -> str:
    major, minor, patch, prerelease, build = version
    return (
        f"{major}.{minor}.{patch}" + (f"-{'.'.join(prerelease)}" if prerelease else "") + (f"+{'.'.join(build)}" if build else "")
    )


def precedence(version: tuple[int, int, int, list[str], list[str]]) -> tuple[object, ...]:
    """Items 11.2 to 11.4: numbers, a release after its pre-releases, identifiers one by one."""
    major, minor, patch, prerelease, _ = version
    ranks = [(0, int(identifier), "") if identifier.isdigit() else (1, 0, identifier) for identifier in prerelease]
    return major, minor, patch, not prerelease, ranks


@given(versions)
def test_a_version_is_read_back_as_it_is_written(version: tuple[int, int, int, list[str], list[str]]) -> None:
    parsed = Semver.parse(text(version))
    assert (parsed.major, parsed.minor, parsed.patch, list(parsed.prerelease), list(parsed.build)) == version
    assert str(parsed) == text(version)
    assert Semver.parse(text(version), normalize=True) == parsed


@given(versions, versions)
def test_order_is_that_of_the_precedence_rules(
    left: tuple[int, int, int, list[str], list[str]], right: tuple[int, int, int, list[str], list[str]]
) -> None:
    a, b = Semver.parse(text(left)), Semver.parse(text(right))
    assert (a < b, a == b, a > b) == (
        precedence(left) < precedence(right),
        precedence(left) == precedence(right),
        precedence(left) > precedence(right),
    )
    assert hash(a) == hash(b) or a != b


@given(st.text(alphabet="0123456789.+-vab", max_size=16), st.booleans())
def test_any_text_is_read_or_refused_and_what_is_read_is_normal(candidate: str, normalize: bool) -> None:
    try:
        parsed = Semver.parse(candidate, normalize)
    except SemverError:
        return
    assert Semver.parse(parsed.text) == parsed
