"""Order and equality of run-time values.

Numbers compare across types. Comparisons of int or uint with double go through double, as the reference does, where Python would be
exact. Cost: equality of lists and maps is linear in all that they hold, and is counted (`work`).
"""

from __future__ import annotations

from typing import Any, Final

from reparto.cel.values import (
    KUBERNETES_TYPES,
    QUANTITIES,
    ComputedQuantity,
    Duration,
    Failure,
    Format,
    MapValue,
    Optional,
    Timestamp,
    UInt,
    Url,
    Value,
    kind_of,
    no_such_overload,
)
from reparto.cel.work import spend

_CALL: Final = 100
"""Units of comparing two collections, whatever they hold: nested lists share their parts, and are many more than their elements."""


def compare_int_double(left: int, right: float) -> int:
    if right < -9223372036854775808.0:
        return 1
    if right > 9223372036854775808.0:
        return -1
    as_double = float(left)
    return -1 if as_double < right else (1 if as_double > right else 0)


def compare_uint_double(left: int, right: float) -> int:
    if right < 0:
        return 1
    if right > 18446744073709551616.0:
        return -1
    as_double = float(left)
    return -1 if as_double < right else (1 if as_double > right else 0)


def _compare_exact(left: Any, right: Any) -> int:
    return -1 if left < right else (1 if left > right else 0)


def compare(left: Value, right: Value) -> int:
    """-1, 0 or 1.

    Raises Failure where the types have no common order or a double is NaN.
    """
    kind = kind_of(left)
    other = kind_of(right)
    if kind is other:
        if kind is float:
            if left != left or right != right:
                raise Failure("NaN values cannot be ordered")
            return _compare_exact(left, right)
        if kind in (int, str, UInt, bytes, bool):
            return _compare_exact(left, right)
        if kind is Duration:
            return _compare_exact(left.nanos, right.nanos)
        if kind is Timestamp:
            return _compare_exact((left.seconds, left.nanos), (right.seconds, right.nanos))
        raise no_such_overload()
    if kind is int:
        if other is UInt:
            return _compare_exact(left, right)
        if other is float:
            if right != right:
                raise Failure("NaN values cannot be ordered")
            return compare_int_double(left, right)
    elif kind is UInt:
        if other is int:
            return _compare_exact(left, right)
        if other is float:
            if right != right:
                raise Failure("NaN values cannot be ordered")
            return compare_uint_double(left, right)
    elif kind is float:
        if left != left:
            raise Failure("NaN values cannot be ordered")
        if other is int:
            return -compare_int_double(right, left)
        if other is UInt:
            return -compare_uint_double(right, left)
    raise no_such_overload()


def equal(left: Value, right: Value) -> bool:
    """CEL equality of two values that are no failures.

    Raises Failure for `semver == string` and the like (left operand of a Kubernetes type, right of another). Within lists and maps
    such an error counts as equal, which is what the reference does.
    """
    if left is None or right is None:
        return left is right
    kind = kind_of(left)
    other = kind_of(right)
    if kind in QUANTITIES:
        # A computed quantity is a pointer in the reference, and a pointer on the right is not the type it expects.
        if other not in QUANTITIES or other is ComputedQuantity:
            raise no_such_overload()
        return left.nano == right.nano
    if kind is other:
        if kind is str or kind is int or kind is bool or kind is UInt or kind is float or kind is bytes:
            return left == right
        if kind is tuple:
            return _equal_lists(left, right)
        if kind is MapValue:
            return _equal_maps(left, right)
        if kind is Optional:
            if left.present and right.present:
                if right.value is None and type(left.value) in KUBERNETES_TYPES:
                    # The reference asks the inner value itself here, without looking for null first.
                    raise no_such_overload()
                return equal(left.value, right.value)
            return left.present == right.present
        if kind is Url:
            return left.text == right.text
        if kind is Format:
            return left.name == right.name
        return left == right
    if kind is int:
        if other is UInt:
            return int(left) == int(right)
        if other is float:
            return right == right and compare_int_double(left, right) == 0
        return False
    if kind is UInt:
        if other is int:
            return int(left) == int(right)
        if other is float:
            return right == right and compare_uint_double(left, right) == 0
        return False
    if kind is float:
        if left != left:
            return False
        if other is int:
            return compare_int_double(right, left) == 0
        if other is UInt:
            return compare_uint_double(right, left) == 0
        return False
    if kind in KUBERNETES_TYPES:
        raise no_such_overload()
    return False


def surely_equal(left: Value, right: Value) -> bool:
    """`equal`, where an error counts as different: membership tests."""
    try:
        return equal(left, right)
    except Failure:
        return False


def not_unequal(left: Value, right: Value) -> bool:
    """`equal`, where an error counts as the same: elements of lists and maps that are compared as a whole."""
    try:
        return equal(left, right)
    except Failure:
        return True


def _equal_lists(left: tuple[Value, ...], right: tuple[Value, ...]) -> bool:
    if len(left) != len(right):
        return False
    spend(_CALL + 20 * len(left))
    return all(not_unequal(mine, theirs) for mine, theirs in zip(left, right, strict=True))


_MISSING: Final = object()


def _equal_maps(left: MapValue, right: MapValue) -> bool:
    if len(left) != len(right):
        return False
    spend(_CALL + 40 * len(left))
    for key, value in left.items():
        other = right.find(key, _MISSING)
        if other is _MISSING or not not_unequal(value, other):
            return False
    return True


def contains(elements: tuple[Value, ...], wanted: Value) -> bool:
    """Whether a list has an element equal to `wanted`; errors of single comparisons are passed over."""
    return any(surely_equal(wanted, element) for element in elements)
