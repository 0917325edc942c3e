"""The strings library: positions and sizes count code points, as Python's do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from reparto.cel.functions.formatting import format_text
from reparto.cel.texts import show
from reparto.cel.values import LIST_LIMIT, BudgetExceeded, Failure, Value
from reparto.cel.work import spend
from reparto.model.quoting import ESCAPES

_SPACES: Final = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""What Go's strings.TrimSpace removes; Python's strip also takes U+001C to U+001F."""
_LOWER: Final = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_UPPER: Final = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}


def _out_of_range(index: int) -> Failure:
    return Failure(f"index out of range: {index}")


def char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


def index_of(text: str, part: str, offset: int = 0) -> int:
    if offset < 0:
        raise _out_of_range(offset)
    if not part:
        return min(offset, len(text))
    return text.find(part, offset) if offset < len(text) else -1


def last_index_of(text: str, part: str) -> int:
    return text.rfind(part)


def last_index_of_from(text: str, part: str, offset: int) -> int:
    if offset < 0:
        raise _out_of_range(offset)
    if not part:
        return min(offset, len(text))
    return text.rfind(part, 0, offset + len(part)) if offset < len(text) else -1


def replace(text: str, old: str, new: str, limit: int = -1) -> str:
    pieces = len(text) + 1 if not old else text.count(old)
    if pieces * len(new) > LIST_LIMIT:
        raise BudgetExceeded
    return text.replace(old, new, limit if limit >= 0 else -1)


def split(text: str, separator: str, limit: int = -1) -> tuple[str, ...]:
    if limit == 0:
        return ()
    if not separator:
        if limit < 0 or limit >= len(text):
            return tuple(text)
        return (*text[: limit - 1], text[limit - 1 :])
    return tuple(text.split(separator, limit - 1 if limit > 0 else -1))


def substring(text: str, start: int) -> str:
    if not 0 <= start <= len(text):
        raise _out_of_range(start)
    return text[start:]


def substring_between(text: str, start: int, end: int) -> str:
    if start > end:
        raise Failure(f"invalid substring range. start: {start}, end: {end}")
    for index in (start, end):
        if not 0 <= index <= len(text):
            raise _out_of_range(index)
    return text[start:end]


def trim(text: str) -> str:
    return text.strip(_SPACES)


def lower_ascii(text: str) -> str:
    return text.translate(_LOWER)


def upper_ascii(text: str) -> str:
    return text.translate(_UPPER)


def quote(text: str) -> str:
    return f'"{"".join(ESCAPES.get(char, char) for char in text)}"'


def join(elements: tuple[Value, ...], separator: str = "") -> str:
    spend(10 * len(elements))
    total = len(separator) * len(elements)
    for element in elements:
        if type(element) is not str:
            raise Failure(f"join: invalid input: {show(element)}")
        total += len(element)
    if total > LIST_LIMIT:
        raise BudgetExceeded
    return separator.join(elements)


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "string_char_at_int": char_at,
    "string_index_of_string": index_of,
    "string_index_of_string_int": index_of,
    "string_last_index_of_string": last_index_of,
    "string_last_index_of_string_int": last_index_of_from,
    "string_lower_ascii": lower_ascii,
    "string_upper_ascii": upper_ascii,
    "string_replace_string_string": replace,
    "string_replace_string_string_int": replace,
    "string_split_string": split,
    "string_split_string_int": split,
    "string_substring_int": substring,
    "string_substring_int_int": substring_between,
    "string_trim": trim,
    "string_format": format_text,
    "strings_quote": quote,
    "list_join": join,
    "list_join_string": join,
}
