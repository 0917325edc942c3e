"""Conversions between CEL's basic types: `int("3")`, `string(1.5)`, `timestamp("…")`.

Texts are read as Go's strconv reads them. A failed conversion of a constant is found when the program is built (see `folding`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, Final

from reparto.cel.functions.standard import identity
from reparto.cel.functions.time import duration_text, parse_duration, parse_timestamp, timestamp_from_unix, timestamp_text
from reparto.cel.texts import format_double
from reparto.cel.values import INT_MAX, INT_MIN, UINT_MAX, Duration, Failure, Timestamp, UInt

_INT: Final = r"[+-]?[0-9]+"
_UINT: Final = r"[0-9]+"
# Go takes underscores between digits, and one after the prefix of a hexadecimal number.
_D: Final = "[0-9](?:_?[0-9])*"
_X: Final = "[0-9a-fA-F](?:_?[0-9a-fA-F])*"
_DECIMAL: Final = rf"[+-]?(?:{_D}(?:\.(?:{_D})?)?|\.{_D})(?:[eE][+-]?{_D})?"
_HEXADECIMAL: Final = rf"[+-]?0[xX](?:_?{_X}(?:\.(?:{_X})?)?|\.{_X})[pP][+-]?{_D}"
_SPECIAL: Final = r"(?i)[+-]?inf(?:inity)?|nan"
_TRUE: Final = frozenset(("1", "t", "T", "TRUE", "true", "True"))
_FALSE: Final = frozenset(("0", "f", "F", "FALSE", "false", "False"))


def _failed(source: str, target: str) -> Failure:
    return Failure(f"type conversion error from '{source}' to '{target}'")


def _integer(text: str) -> int:
    digits = text.lstrip("+-").lstrip("0")
    return (-1 if text.startswith("-") else 1) * (int(digits or "0") if len(digits) < 25 else 2**80)


def string_to_bool(text: str) -> bool:
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise _failed("string", "bool")


def string_to_int(text: str) -> int:
    if re.fullmatch(_INT, text):
        number = _integer(text)
        if INT_MIN <= number <= INT_MAX:
            return number
    raise _failed("string", "int")


def string_to_uint(text: str) -> UInt:
    if re.fullmatch(_UINT, text):
        number = _integer(text)
        if number <= UINT_MAX:
            return UInt(number)
    raise _failed("string", "uint")


def string_to_double(text: str) -> float:
    plain = text.replace("_", "")
    if re.fullmatch(_DECIMAL, text):
        number = float(plain)
        if math.isfinite(number):
            return number
    elif re.fullmatch(_HEXADECIMAL, text):
        try:
            return float.fromhex(plain)
        except (OverflowError, ValueError):
            pass
    elif re.fullmatch(_SPECIAL, text):
        return float(text)
    raise _failed("string", "double")


def string_to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def bytes_to_string(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise Failure("invalid UTF-8 in bytes, cannot convert to string") from None


def string_to_duration(text: str) -> Duration:
    try:
        return parse_duration(text)
    except ValueError:
        raise _failed("string", "google.protobuf.Duration") from None


def string_to_timestamp(text: str) -> Timestamp:
    try:
        return parse_timestamp(text)
    except ValueError:
        raise _failed("string", "google.protobuf.Timestamp") from None


def double_to_int(number: float) -> int:
    if not math.isfinite(number) or number <= -9223372036854775808.0 or number >= 9223372036854775808.0:
        raise Failure("integer overflow")
    return int(number)


def double_to_uint(number: float) -> UInt:
    if not math.isfinite(number) or number < 0 or number >= 18446744073709551616.0:
        raise Failure("unsigned integer overflow")
    return UInt(int(number))


def int_to_uint(number: int) -> UInt:
    if number < 0:
        raise Failure("unsigned integer overflow")
    return UInt(number)


def uint_to_int(number: UInt) -> int:
    if number > INT_MAX:
        raise Failure("integer overflow")
    return int(number)


def number_to_double(number: int) -> float:
    return float(number)


def integer_to_string(number: int) -> str:
    return str(int(number))


def bool_to_string(value: bool) -> str:
    return "true" if value else "false"


def duration_to_int(duration: Duration) -> int:
    return duration.nanos


def timestamp_to_int(timestamp: Timestamp) -> int:
    return timestamp.seconds


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "bool_to_bool": identity,
    "string_to_bool": string_to_bool,
    "bytes_to_bytes": identity,
    "string_to_bytes": string_to_bytes,
    "double_to_double": identity,
    "int64_to_double": number_to_double,
    "string_to_double": string_to_double,
    "uint64_to_double": number_to_double,
    "duration_to_duration": identity,
    "string_to_duration": string_to_duration,
    "int64_to_int64": identity,
    "double_to_int64": double_to_int,
    "duration_to_int64": duration_to_int,
    "string_to_int64": string_to_int,
    "timestamp_to_int64": timestamp_to_int,
    "uint64_to_int64": uint_to_int,
    "string_to_string": identity,
    "bool_to_string": bool_to_string,
    "bytes_to_string": bytes_to_string,
    "double_to_string": format_double,
    "duration_to_string": duration_text,
    "int64_to_string": integer_to_string,
    "timestamp_to_string": timestamp_text,
    "uint64_to_string": integer_to_string,
    "timestamp_to_timestamp": identity,
    "int64_to_timestamp": timestamp_from_unix,
    "string_to_timestamp": string_to_timestamp,
    "uint64_to_uint64": identity,
    "double_to_uint64": double_to_uint,
    "int64_to_uint64": int_to_uint,
    "string_to_uint64": string_to_uint,
}
