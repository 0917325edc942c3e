"""Functions on lists: Kubernetes' own (`sum`, `min`, `isSorted`, `includes`), cel-go's list extensions, and sets."""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from typing import Any, Final

from reparto.cel.comparison import compare, contains, surely_equal
from reparto.cel.functions.binding import Operation
from reparto.cel.functions.standard import add
from reparto.cel.values import (
    ADDABLE,
    COMPARABLE,
    LIST_LIMIT,
    BudgetExceeded,
    Duration,
    Failure,
    UInt,
    Value,
    is_list,
    kind_of,
    no_such_overload,
    type_name,
)
from reparto.cel.work import spend

LARGEST_RANGE: Final = 1_000_000
_SQUARE: Final = 5
"""Units per pair of elements: sorting and `distinct` are charged by the square, but only once they are done."""
COMPARABLE_NAMES: Final = ("int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes")
SORTABLE_NAMES: Final = (
    "int",
    "uint",
    "double",
    "bool",
    "google.protobuf.Duration",
    "google.protobuf.Timestamp",
    "string",
    "bytes",
)

Elements = tuple[Value, ...]


def _order(left: Value, right: Value) -> int | None:
    """The order of two elements, None where there is none: the reference only looks for one particular outcome."""
    try:
        return compare(left, right)
    except Failure:
        return None


def is_sorted(elements: Elements) -> bool:
    previous: Value = None
    for position, element in enumerate(elements):
        if type(element) not in COMPARABLE:
            raise no_such_overload()
        if position and _order(previous, element) == 1:
            return False
        previous = element
    return True


def _sum(zero: Value) -> Callable[[Elements], Value]:
    def total(elements: Elements) -> Value:
        result = zero
        for element in elements:
            if type(element) not in ADDABLE:
                raise no_such_overload()
            result = add(result, element)
        return result

    return total


def _extreme(name: str, worse: int) -> Callable[[Elements], Value]:
    def pick(elements: Elements) -> Value:
        if not elements:
            raise Failure(f"{name} called on empty list")
        best = elements[0]
        for position, element in enumerate(elements):
            if type(element) not in COMPARABLE:
                raise no_such_overload()
            if position and _order(best, element) == worse:
                best = element
        return best

    return pick


minimum: Final = _extreme("min", 1)
maximum: Final = _extreme("max", -1)


def index_of(elements: Elements, wanted: Value) -> int:
    return next((index for index, element in enumerate(elements) if surely_equal(element, wanted)), -1)


def last_index_of(elements: Elements, wanted: Value) -> int:
    return next((index for index in range(len(elements) - 1, -1, -1) if surely_equal(elements[index], wanted)), -1)


def includes(value: Value, wanted: Value) -> bool:
    """Membership for a list, equality for anything else: an attribute may be either."""
    if is_list(value):
        return any(surely_equal(element, wanted) for element in value)
    return surely_equal(value, wanted)


def take_slice(elements: Elements, start: int, end: int) -> Elements:
    if start < 0 or end < 0:
        raise Failure(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise Failure(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if len(elements) < end:
        raise Failure(f"cannot slice({start}, {end}), list is length {len(elements)}")
    return elements[start:end]


def _flat(elements: Elements, depth: int, into: list[Value]) -> None:
    spend(20 * len(elements) + 20)
    for element in elements:
        if is_list(element) and depth > 0:
            _flat(element, depth - 1, into)
        else:
            into.append(element)
    if len(into) > LIST_LIMIT:
        raise BudgetExceeded


def flatten(value: Value) -> Elements:
    # These two have no type guard in the reference, hence their own wording.
    if not is_list(value):
        raise Failure(f"no such overload: {type_name(value)}.flatten()")
    return _flattened(value, 1)


def flatten_levels(value: Value, depth: Value) -> Elements:
    if not is_list(value) or type(depth) is not int:
        raise Failure(f"no such overload: {type_name(value)}.flatten({type_name(depth)})")
    return _flattened(value, depth)


def _flattened(elements: Elements, depth: int) -> Elements:
    if depth < 0:
        raise Failure("level must be non-negative")
    result: list[Value] = []
    _flat(elements, depth, result)
    return tuple(result)


def sort(elements: Elements) -> Elements:
    return sort_by_keys(elements, elements)


def sort_by_keys(elements: Elements, keys: Elements) -> Elements:
    """The elements in the order of the keys. Keys must be of one comparable type; a double NaN compares as not smaller."""
    if len(elements) != len(keys):
        raise Failure(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, "
            f"but got {len(elements)} and {len(keys)} elements respectively"
        )
    if not elements:
        return elements
    spend(_SQUARE * len(keys) ** 2)
    first = kind_of(keys[0])
    if first not in COMPARABLE:
        raise Failure("list elements must be comparable")
    if len(keys) > 1 and any(type(key) is not first for key in keys):
        raise Failure("list elements must have the same type")
    order = sorted(range(len(keys)), key=cmp_to_key(lambda left, right: _order(keys[left], keys[right]) or 0))
    return tuple(elements[index] for index in order)


def number_range(count: int) -> Elements:
    if count < 0:
        raise Failure(f"lists.range: size must be non-negative, got {count}")
    if count > LARGEST_RANGE:
        raise Failure(f"lists.range: size {count} exceeds maximum allowed ({LARGEST_RANGE})")
    return tuple(range(count))


def reverse(elements: Elements) -> Elements:
    return elements[::-1]


def distinct(elements: Elements) -> Elements:
    spend(_SQUARE * len(elements) ** 2)
    result: list[Value] = []
    plain: set[tuple[type, Value]] = set()
    if all(type(element) in (str, int, bool) for element in elements):
        # These equal only their own kind, so a set of (type, value) answers at once.
        for element in elements:
            if (kind_of(element), element) not in plain:
                plain.add((kind_of(element), element))
                result.append(element)
        return tuple(result)
    for element in elements:
        if not any(surely_equal(element, other) for other in result):
            result.append(element)
    return tuple(result)


def set_contains(elements: Elements, wanted: Elements) -> bool:
    spend(20 * len(elements) * len(wanted))
    return all(contains(elements, element) for element in wanted)


def set_equivalent(left: Elements, right: Elements) -> bool:
    return set_contains(left, right) and set_contains(right, left)


def set_intersects(left: Elements, right: Elements) -> bool:
    spend(20 * len(left) * len(right))
    return any(contains(right, element) for element in left)


_ZEROS: Final[dict[str, Value]] = {"int": 0, "uint": UInt(0), "double": 0.0, "duration": Duration(0)}

FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    **{f"list_{name}_is_sorted_bool": is_sorted for name in COMPARABLE_NAMES},
    **{f"list_{name}_sum_{name}": _sum(zero) for name, zero in _ZEROS.items()},
    **{f"list_{name}_min_{name}": minimum for name in COMPARABLE_NAMES},
    **{f"list_{name}_max_{name}": maximum for name in COMPARABLE_NAMES},
    "list_a_index_of_int": index_of,
    "list_a_last_index_of_int": last_index_of,
    "list_includes_dyn_dyn": includes,
    "list_slice": take_slice,
    "list_flatten": flatten,
    "list_flatten_int": flatten_levels,
    "lists_range": number_range,
    "list_reverse": reverse,
    "list_distinct": distinct,
    "list_sets_contains_list": set_contains,
    "list_sets_equivalent_list": set_equivalent,
    "list_sets_intersects_list": set_intersects,
}

OPERATIONS: Final = {
    "sort": Operation(sort, frozenset((tuple,))),
    "@sortByAssociatedKeys": Operation(sort_by_keys, frozenset((tuple,))),
}
