"""Regular expressions: `matches`, `find`, `findAll`.

Python's own `re` backtracks exponentially and accepts constructs that the API server refuses, hence google-re2.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from reparto.cel.functions.regex_syntax import PatternError, compile_exactly, for_re2
from reparto.cel.values import Failure, Optional, TypeValue, Value, no_such_overload

__all__ = ["FUNCTIONS", "WITH_CONSTANT_PATTERN", "PatternError", "compile_pattern", "matches"]


@lru_cache(maxsize=1024)
def compile_pattern(pattern: str) -> Any:
    """The compiled expression, as Go would compile it. Raises PatternError."""
    return compile_exactly(for_re2(pattern))


def matches(text: str, pattern: Value) -> bool:
    if type(pattern) is not str:
        raise no_such_overload()
    try:
        compiled = compile_pattern(pattern)
    except PatternError as error:
        raise Failure(str(error)) from None
    return compiled.search(text) is not None


def _compiled(pattern: str) -> Any:
    try:
        return compile_pattern(pattern)
    except PatternError as error:
        raise Failure(f"Illegal regex: {error}") from None


def find(text: str, pattern: str) -> str:
    found = _compiled(pattern).search(text)
    return found.group(0) if found is not None else ""


def find_all(text: str, pattern: str, limit: int = -1) -> tuple[str, ...]:
    compiled = _compiled(pattern)
    found: list[str] = []
    if limit == 0:
        return ()
    previous_end = -1
    for match in compiled.finditer(text):
        # Go drops an empty match right behind the previous one; RE2's iterator reports it.
        if match.start() == match.end() == previous_end:
            continue
        previous_end = match.end()
        found.append(match.group(0))
        if len(found) == limit:
            break
    return tuple(found)


def _native_text(value: Value) -> str:
    """What the reference reads as text where it looks at a value's native form: an optional's content and a type's name, too."""
    while type(value) is Optional and value.present:
        value = value.value
    if type(value) is str:
        return value
    if type(value) is TypeValue:
        return value.name
    raise no_such_overload()


def _matches_constant(value: Value, pattern: str) -> bool:
    return matches(_native_text(value), pattern)


def _find_constant(value: Value, pattern: str) -> str:
    return find(_native_text(value), pattern)


def _find_all_constant(value: Value, pattern: str, limit: Value = -1) -> tuple[str, ...]:
    if type(limit) is not int:
        raise no_such_overload()
    return find_all(_native_text(value), pattern, limit)


WITH_CONSTANT_PATTERN: Final[dict[str, Callable[..., Any]]] = {
    "matches": _matches_constant,
    "find": _find_constant,
    "findAll": _find_all_constant,
}
"""Replacements for calls whose pattern is a literal. The reference compiles that beforehand and then skips its type guards."""

FUNCTIONS: Final = {
    "string_find_string": find,
    "string_find_all_string": find_all,
    "string_find_all_string_int": find_all,
}
