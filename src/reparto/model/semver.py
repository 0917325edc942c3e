"""Semantic versions: the `version` attributes of devices and CEL's `semver()`.

Kubernetes reads them strictly (`580.65.06`, the way NVIDIA writes a driver version, is not one), and leniently only where an
expression asks for it. Order and equality ignore build metadata. Source: blang/semver 4 as apiserver
0.37.2 uses it; cel.md section 5.
"""

from functools import lru_cache

import msgspec

from reparto.model.quoting import quoted

_UINT64_MAX = 2**64 - 1
_DIGITS = frozenset("0123456789")
_ALPHANUMERICS = frozenset("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-")

# A numeric identifier sorts below a textual one; numbers by value, texts by code point (they are ASCII).
Identifier = tuple[int, int, str]


class SemverError(ValueError):
    """A text that is no semantic version. The message is upstream's."""


class Semver(msgspec.Struct, frozen=True, eq=False, gc=False):
    """An immutable version. `text` is its normal form; order, `==` and `hash` leave `build` out.

    `major`, `minor` and `patch` are unsigned 64-bit numbers; CEL's accessors wrap them to int64, which is left to the caller.
    """

    major: int
    minor: int
    patch: int
    prerelease: tuple[str, ...]
    build: tuple[str, ...]
    text: str
    key: tuple[int, int, int, bool, tuple[Identifier, ...]]

    @staticmethod
    @lru_cache(maxsize=16_384)
    def parse(text: str, normalize: bool = False) -> "Semver":
        """The version that `text` denotes. With `normalize` one leading `v`, leading zeros and missing parts are forgiven first.

        Raises `SemverError`.
        """
        return _parse(_normalized(text) if normalize else text)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"Semver({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Semver) else NotImplemented

    def __ne__(self, other: object) -> bool:
        # msgspec's base brings a `!=` of its own, which would compare field by field.
        return not self == other

    def __hash__(self) -> int:
        return hash(self.key)

    def __lt__(self, other: "Semver") -> bool:
        return self.key < other.key

    def __le__(self, other: "Semver") -> bool:
        return self.key <= other.key

    def __gt__(self, other: "Semver") -> bool:
        return self.key > other.key

    def __ge__(self, other: "Semver") -> bool:
        return self.key >= other.key


def _normalized(text: str) -> str:
    parts = text.removeprefix("v").split(".", 2)
    for index, part in enumerate(parts):
        if len(part.encode(errors="replace")) > 1:  # upstream counts bytes: a lone letter beyond ASCII gets its zero, too
            stripped = part.lstrip("0")
            parts[index] = stripped if stripped and stripped[0] in _DIGITS else "0" + stripped
    if len(parts) < 3:
        if "+" in parts[-1] or "-" in parts[-1]:
            raise SemverError("short version cannot contain PreRelease/Build meta data")
        parts.extend(["0"] * (3 - len(parts)))
    return ".".join(parts)


def _parse(text: str) -> Semver:
    if not text:
        raise SemverError("Version string empty")
    parts = text.split(".", 2)
    if len(parts) != 3:
        raise SemverError("No Major.Minor.Patch elements found")
    major = _number(parts[0], "major")
    minor = _number(parts[1], "minor")
    rest, plus, build_text = parts[2].partition("+")
    patch_text, hyphen, prerelease_text = rest.partition("-")
    patch = _number(patch_text, "patch")
    prerelease = tuple(prerelease_text.split(".")) if hyphen else ()
    identifiers = tuple(map(_identifier, prerelease))
    build = tuple(build_text.split(".")) if plus else ()
    for part in build:
        if not part:
            raise SemverError("Build meta data is empty")
        if not _ALPHANUMERICS.issuperset(part):
            raise SemverError(f"Invalid character(s) found in build meta data {quoted(part)}")
    # A release stands above all of its pre-releases: `not identifiers` is their flag.
    return Semver(major, minor, patch, prerelease, build, text, (major, minor, patch, not identifiers, identifiers))


def _number(text: str, part: str) -> int:
    if not _DIGITS.issuperset(text):
        raise SemverError(f"Invalid character(s) found in {part} number {quoted(text)}")
    if len(text) > 1 and text[0] == "0":
        raise SemverError(f"{part.capitalize()} number must not contain leading zeroes {quoted(text)}")
    return _unsigned(text)


def _identifier(text: str) -> Identifier:
    if not text:
        raise SemverError("Prerelease is empty")
    if _DIGITS.issuperset(text):
        if len(text) > 1 and text[0] == "0":
            raise SemverError(f"Numeric PreRelease version must not contain leading zeroes {quoted(text)}")
        return 0, _unsigned(text), ""
    if not _ALPHANUMERICS.issuperset(text):
        raise SemverError(f"Invalid character(s) found in prerelease {quoted(text)}")
    return 1, 0, text


def _unsigned(text: str) -> int:
    """A uint64 in decimal; the two refusals are those of Go's number parser."""
    if not text:
        raise SemverError('strconv.ParseUint: parsing "": invalid syntax')
    if len(text) > 20 or int(text) > _UINT64_MAX:
        raise SemverError(f'strconv.ParseUint: parsing "{text}": value out of range')
    return int(text)
