"""Semantic versions within expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from reparto.cel.values import Failure
from reparto.model.semver import Semver, SemverError


def parse(text: str, normalize: bool = False) -> Semver:
    try:
        return Semver.parse(text, normalize)
    except SemverError as error:
        raise Failure(str(error)) from None


def is_semver(text: str, normalize: bool = False) -> bool:
    try:
        Semver.parse(text, normalize)
    except SemverError:
        return False
    return True


def is_greater(left: Semver, right: Semver) -> bool:
    return left > right


def is_less(left: Semver, right: Semver) -> bool:
    return left < right


def compare_to(left: Semver, right: Semver) -> int:
    return (left > right) - (left < right)


def _signed(number: int) -> int:
    """Version parts are unsigned 64-bit numbers; read as int, the upper half turns negative."""
    return number - 2**64 if number >= 2**63 else number


def major(version: Semver) -> int:
    return _signed(version.major)


def minor(version: Semver) -> int:
    return _signed(version.minor)


def patch(version: Semver) -> int:
    return _signed(version.patch)


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "string_to_semver": parse,
    "string_bool_to_semver": parse,
    "is_semver_string": is_semver,
    "is_semver_string_bool": is_semver,
    "semver_is_greater_than": is_greater,
    "semver_is_less_than": is_less,
    "semver_compare_to": compare_to,
    "semver_major": major,
    "semver_minor": minor,
    "semver_patch": patch,
}
