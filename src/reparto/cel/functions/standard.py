"""Operators and the functions every CEL has: arithmetic, order, membership, size, the simple text tests.

Arithmetic is 64-bit and checked. Operators are dispatched by the type of their left operand alone, as in the reference: `1 + "a"`
fails inside int's addition, with the bare text "no such overload".
"""

from __future__ import annotations

from typing import Final

from reparto.cel.comparison import compare, contains
from reparto.cel.functions.binding import Operation
from reparto.cel.functions.regex import matches
from reparto.cel.functions.time import add_times, subtract_times
from reparto.cel.values import (
    ADDABLE,
    COMPARABLE,
    INT_MAX,
    INT_MIN,
    LIST_LIMIT,
    SIZED,
    UINT_MAX,
    BudgetExceeded,
    Duration,
    Failure,
    MapValue,
    Timestamp,
    TypeValue,
    UInt,
    Value,
    kind_of,
    no_such_overload,
    type_name,
)
from reparto.cel.work import spend


def checked_int(number: int) -> int:
    """The number if it fits int64, else the overflow error."""
    if INT_MIN <= number <= INT_MAX:
        return number
    raise Failure("integer overflow")


def checked_uint(number: int) -> UInt:
    """The number if it fits uint64, else the overflow error."""
    if 0 <= number <= UINT_MAX:
        return UInt(number)
    raise Failure("unsigned integer overflow")


def add(left: Value, right: Value) -> Value:
    kind = kind_of(left)
    if kind in (Duration, Timestamp):
        return add_times(left, right)
    if kind is not type(right):
        raise no_such_overload()
    if kind is int:
        return checked_int(left + right)
    if kind is UInt:
        return checked_uint(int(left) + int(right))
    if kind is float:
        return left + right
    if len(left) + len(right) > LIST_LIMIT:
        raise BudgetExceeded
    if kind is tuple:
        spend(len(left) + len(right))
    return left + right


def subtract(left: Value, right: Value) -> Value:
    kind = kind_of(left)
    if kind in (Duration, Timestamp):
        return subtract_times(left, right)
    if kind is not type(right):
        raise no_such_overload()
    if kind is int:
        return checked_int(left - right)
    if kind is UInt:
        return checked_uint(int(left) - int(right))
    return left - right


def multiply(left: Value, right: Value) -> Value:
    kind = kind_of(left)
    if kind is not type(right):
        raise no_such_overload()
    if kind is int:
        return checked_int(left * right)
    if kind is UInt:
        return checked_uint(int(left) * int(right))
    return left * right


def divide(left: Value, right: Value) -> Value:
    kind = kind_of(left)
    if kind is not type(right):
        raise no_such_overload()
    if kind is float:
        return _divide_doubles(left, right)
    if right == 0:
        raise Failure("division by zero")
    if kind is UInt:
        return UInt(int(left) // int(right))
    quotient = abs(left) // abs(right)
    return checked_int(quotient if (left < 0) == (right < 0) else -quotient)


def _divide_doubles(left: float, right: float) -> float:
    if right == 0:
        if left == 0 or left != left:
            return float("nan")
        negative = (str(left)[0] == "-") != (str(right)[0] == "-")
        return float("-inf") if negative else float("inf")
    return left / right


def modulo(left: Value, right: Value) -> Value:
    kind = kind_of(left)
    if kind is not type(right):
        raise no_such_overload()
    if right == 0:
        raise Failure("modulus by zero")
    if kind is UInt:
        return UInt(int(left) % int(right))
    if left == INT_MIN and right == -1:
        raise Failure("integer overflow")
    rest = abs(left) % abs(right)
    return -rest if left < 0 else rest


def negate(value: Value) -> Value:
    kind = kind_of(value)
    if kind is bool:
        raise no_such_overload()
    if kind is int:
        return checked_int(-value)
    if kind is Duration:
        if value.nanos == INT_MIN:
            raise Failure("integer overflow")
        return Duration(-value.nanos)
    return -value


def logical_not(value: Value) -> bool:
    if type(value) is bool:
        return not value
    raise no_such_overload()


def less(left: Value, right: Value) -> bool:
    return compare(left, right) < 0


def less_or_equal(left: Value, right: Value) -> bool:
    return compare(left, right) <= 0


def greater(left: Value, right: Value) -> bool:
    return compare(left, right) > 0


def greater_or_equal(left: Value, right: Value) -> bool:
    return compare(left, right) >= 0


_MISSING: Final = object()


def is_in(wanted: Value, collection: Value) -> bool:
    """`wanted in collection`: an element of a list, a key of a map."""
    kind = kind_of(collection)
    if kind is tuple:
        return contains(collection, wanted)
    if kind is MapValue:
        return collection.get(wanted, _MISSING) is not _MISSING
    raise no_such_overload()


def length(value: Value) -> int:
    return len(value)


def type_of_value(value: Value) -> TypeValue:
    return TypeValue(type_name(value))


def identity(value: Value) -> Value:
    return value


# These three check their operands themselves and fail without naming them.


def string_contains(text: Value, part: Value) -> bool:
    if type(text) is str and type(part) is str:
        return part in text
    raise no_such_overload()


def string_starts_with(text: Value, part: Value) -> bool:
    if type(text) is str and type(part) is str:
        return text.startswith(part)
    raise no_such_overload()


def string_ends_with(text: Value, part: Value) -> bool:
    if type(text) is str and type(part) is str:
        return text.endswith(part)
    raise no_such_overload()


OPERATIONS: Final = {
    "_+_": Operation(add, ADDABLE),
    "_-_": Operation(subtract, frozenset((int, UInt, float, Duration, Timestamp))),
    "_*_": Operation(multiply, frozenset((int, UInt, float))),
    "_/_": Operation(divide, frozenset((int, UInt, float))),
    "_%_": Operation(modulo, frozenset((int, UInt))),
    "-_": Operation(negate, frozenset((bool, int, float, Duration))),
    "!_": Operation(logical_not),
    "_<_": Operation(less, COMPARABLE),
    "_<=_": Operation(less_or_equal, COMPARABLE),
    "_>_": Operation(greater, COMPARABLE),
    "_>=_": Operation(greater_or_equal, COMPARABLE),
    "@in": Operation(is_in),
    "size": Operation(length, SIZED),
    "type": Operation(type_of_value),
    "dyn": Operation(identity),
    "matches": Operation(matches, frozenset((str,))),
    "contains": Operation(string_contains),
    "startsWith": Operation(string_starts_with),
    "endsWith": Operation(string_ends_with),
}
