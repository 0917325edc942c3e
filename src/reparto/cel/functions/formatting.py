"""`"…".format([…])`: the clauses %s %d %f %e %b %o %x %X, formatted for the locale en_US as the reference does.

Two surprises are the reference's own: `%f` groups thousands with commas, and the number in `%.3e` is a width, not a precision (six
digits are always shown, with the exponent as a power of ten in superscript).
"""

from __future__ import annotations

import math
from typing import Final

from reparto.cel.functions.time import duration_text, timestamp_text
from reparto.cel.texts import format_double
from reparto.cel.values import (
    LIST_LIMIT,
    BudgetExceeded,
    Duration,
    Failure,
    MapValue,
    Timestamp,
    TypeValue,
    UInt,
    Value,
    kind_of,
    type_name,
)
from reparto.cel.work import spend
from reparto.model.quoting import quoted

DEFAULT_PRECISION: Final = 6
LARGEST_PRECISION: Final = 1_000
"""The reference knows no limit, and charges by the length of the template alone."""
_SUPERSCRIPTS: Final = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")
_NAMED_NUMBERS: Final = frozenset(("NaN", "Infinity", "-Infinity"))


class ClauseError(ValueError):
    """A format text or argument that cannot be used; the message is the reference's."""


def format_text(template: str, arguments: tuple[Value, ...]) -> str:
    """The template with its clauses replaced. Raises Failure."""
    try:
        return _format(template, arguments)
    except ClauseError as error:
        raise Failure(str(error)) from None


def _format(template: str, arguments: tuple[Value, ...]) -> str:
    written: list[str] = []
    position, argument, total = 0, 0, 0
    while position < len(template):
        clause = template.find("%", position)
        if clause < 0:
            written.append(template[position:])
            break
        written.append(template[position:clause])
        position = clause + 1
        if template.startswith("%", position):
            written.append("%")
            position += 1
            continue
        if argument >= len(arguments):
            raise ClauseError(f"index {argument} out of range")
        if position >= len(template):
            raise ClauseError("unexpected end of string")
        position, precision = _precision(template, position)
        text = _clause(template[position], precision, arguments[argument])
        total += len(text)
        if total > LIST_LIMIT:
            raise BudgetExceeded
        written.append(text)
        position += 1
        argument += 1
    return "".join(written)


def _precision(template: str, position: int) -> tuple[int, int]:
    """Where the clause's letter stands, and the precision before it."""
    if template[position] != ".":
        return position, DEFAULT_PRECISION
    start = position + 1
    end = start
    while end < len(template) and template[end] in "0123456789":
        end += 1
    prefix = "could not parse formatting clause: error while parsing precision: "
    if end >= len(template):
        raise ClauseError(prefix + "could not find end of precision specifier")
    digits = template[start:end]
    if not digits or len(digits.lstrip("0")) > 18:
        problem = "value out of range" if digits else "invalid syntax"
        raise ClauseError(f'{prefix}error while converting precision to integer: strconv.Atoi: parsing "{digits}": {problem}')
    if int(digits) > LARGEST_PRECISION:
        raise BudgetExceeded
    return end, int(digits)


def _clause(letter: str, precision: int, value: Value) -> str:
    match letter:
        case "s":
            return _string(value)
        case "d":
            return _decimal(value)
        case "f":
            return _fixed(value, precision)
        case "e":
            return _scientific(value, precision)
        case "b":
            return _binary(value)
        case "x" | "X":
            return _hexadecimal(value, letter)
        case "o":
            return _octal(value)
        case _:
            raise ClauseError(f'could not parse formatting clause: unrecognized formatting clause "{letter}"')


def _refused(rule: str, value: Value) -> ClauseError:
    return ClauseError(f"error during formatting: {rule}, was given {type_name(value)}")


def _string(value: Value) -> str:
    kind = kind_of(value)
    if kind is str:
        return value
    if kind is bool:
        return "true" if value else "false"
    if kind is int or kind is UInt:
        return str(int(value))
    if kind is float:
        return format_double(value)
    if kind is bytes:
        try:
            return value.decode()
        except UnicodeDecodeError:
            problem = "invalid UTF-8 in bytes, cannot convert to string"
            raise ClauseError(f'error during formatting: could not convert argument "{problem}" to string') from None
    if value is None:
        return "null"
    if kind is tuple:
        spend(50 * len(value))
        return f"[{', '.join(_element(element) for element in value)}]"
    if kind is MapValue:
        return _map(value)
    if kind is TypeValue:
        return value.name
    if kind is Duration:
        return duration_text(value)
    if kind is Timestamp:
        return timestamp_text(value)
    raise _refused(
        "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps",
        value,
    )


def _element(value: Value) -> str:
    """A value within a list or map."""
    kind = kind_of(value)
    if kind is str:
        return quoted(value)
    if kind is bytes:
        return f"b{quoted(_string(value))}"
    if kind is float:
        if math.isfinite(value):
            return f"{value:.6f}"
        return '"NaN"' if value != value else ('"+Inf"' if value > 0 else '"-Inf"')
    if kind is Duration:
        return f'duration("{duration_text(value)}")'
    if kind is Timestamp:
        return f'timestamp("{timestamp_text(value)}")'
    if kind in (bool, int, UInt, tuple, MapValue, TypeValue) or value is None:
        return _string(value)
    raise ClauseError(f"error during formatting: no formatting function for {type_name(value)}")


def _map(value: MapValue) -> str:
    spend(100 * len(value))
    pairs: list[tuple[str, str]] = []
    for key, item in value.items():
        if type(key) not in (str, bool, int, UInt):
            raise ClauseError(f"error during formatting: no formatting function for map key of type {type_name(key)}")
        pairs.append((_element(key), _element(item)))
    pairs.sort(key=lambda pair: pair[0])
    return f"{{{', '.join(f'{key}:{item}' for key, item in pairs)}}}"


def _decimal(value: Value) -> str:
    if type(value) is int or type(value) is UInt:
        return str(int(value))
    raise _refused("decimal clause can only be used on integers", value)


def _double(value: Value, rule: str) -> float:
    if type(value) is float:
        return value
    if type(value) is str and value in _NAMED_NUMBERS:
        return float(value)
    raise _refused(rule, value)


def _fixed(value: Value, precision: int) -> str:
    number = _double(value, "fixed-point clause can only be used on doubles")
    if not math.isfinite(number):
        return _special(number)
    if number == 0:
        number = 0.0
    # The reference keeps the precision in eight bits: %.256f writes none, %.257f one digit.
    return f"{number:,.{precision % 256}f}"


def _special(number: float) -> str:
    return "NaN" if number != number else ("∞" if number > 0 else "-∞")


def _scientific(value: Value, width: int) -> str:
    number = _double(value, "scientific clause can only be used on doubles")
    if not math.isfinite(number):
        return _special(number).rjust(width)
    mantissa, exponent = f"{number if number else 0.0:.6e}".split("e")
    power = f"{'-' if exponent.startswith('-') else ''}{abs(int(exponent)):02d}".translate(_SUPERSCRIPTS)
    return f"{mantissa}×10{power}".rjust(width)


def _binary(value: Value) -> str:
    if type(value) is bool:
        return "1" if value else "0"
    if type(value) is int or type(value) is UInt:
        return f"{int(value):b}"
    raise _refused("only integers and bools can be formatted as binary", value)


def _hexadecimal(value: Value, letter: str) -> str:
    kind = kind_of(value)
    if kind is str:
        text = value.encode("utf-8", "surrogatepass").hex()
    elif kind is bytes:
        text = value.hex()
    elif kind is int or kind is UInt:
        text = f"{int(value):x}"
    else:
        raise _refused("only integers, byte buffers, and strings can be formatted as hex", value)
    return text.upper() if letter == "X" else text


def _octal(value: Value) -> str:
    if type(value) is int or type(value) is UInt:
        return f"{int(value):o}"
    raise _refused("octal clause can only be used on integers", value)
