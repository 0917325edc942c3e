"""What a call costs at run time: one unit, unless the reference counts the sizes of its operands or of its result.

Sizes are `values.size`. The rules are those of the apiserver's cost estimator (by function name), of cel-go's list and set
extensions (by overload id) and of cel-go's standard library, asked in that order of precedence. Source: apiserver 1.37.2
`pkg/cel/library/cost.go`, cel-go 0.29.2 `interpreter/runtimecost.go`, `ext/lists.go`, `ext/sets.go`; cel.md section 6.

Operands may be failures here: a strict call whose operand failed has still been charged for. A rule that expects a list then panics
in the reference, which is an InternalFailure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import Final, TypeAlias

from reparto.cel.functions.lists import SORTABLE_NAMES
from reparto.cel.values import (
    KUBERNETES_TYPES,
    Format,
    InternalFailure,
    MapValue,
    Optional,
    Value,
    go_type_name,
    is_list,
    kind_of,
    size,
)
from reparto.cel.work import spend

Rule: TypeAlias = Callable[[Sequence[Value], Value], int]
"""Cost of a call, from its operands and its result."""

LIST_COST: Final = 10
MAP_COST: Final = 30
MESSAGE_COST: Final = 40

TRAVERSAL: Final = 0.1
"""Cost of one character of a string that is read through."""
REGEX_LENGTH: Final = 0.25
"""Cost of one character of a pattern, per unit of the string's cost."""


def _size(value: Value) -> int:
    """Size as cel-go's own rules see it: they look into an optional."""
    while type(value) is Optional and value.present:
        value = value.value
    return size(value)


def _traversal(value: Value) -> int:
    """One unit per scalar, a tenth per byte of text, rounded down for each text."""
    kind = kind_of(value)
    if kind is str:
        length = len(value) if value.isascii() else len(value.encode("utf-8", "surrogatepass"))
        return int(length * TRAVERSAL)
    if kind is bytes:
        return int(len(value) * TRAVERSAL)
    if kind is tuple:
        spend(20 * len(value))
        return sum(map(_traversal, value))
    if kind is MapValue:
        spend(40 * len(value))
        return sum(_traversal(key) + _traversal(item) for key, item in value.items())
    return 1


def _one(operands: Sequence[Value], result: Value) -> int:
    return 1


def _walk(operands: Sequence[Value], result: Value) -> int:
    return _traversal(operands[0])


def _scan(operands: Sequence[Value], result: Value) -> int:
    return ceil(size(operands[0]) * TRAVERSAL)


def _scan_twice(operands: Sequence[Value], result: Value) -> int:
    return ceil(size(operands[0]) * 2 * TRAVERSAL)


def _scan_result_twice(operands: Sequence[Value], result: Value) -> int:
    return ceil(size(result) * 2 * TRAVERSAL)


def _regex(operands: Sequence[Value], result: Value) -> int:
    # One is added so that an empty text does not make a pattern free.
    return ceil((1.0 + _size(operands[0])) * TRAVERSAL) * ceil(_size(operands[1]) * REGEX_LENGTH)


def _contains_address(operands: Sequence[Value], result: Value) -> int:
    return ceil(2 * size(operands[0]) * TRAVERSAL)


def _contains_address_text(operands: Sequence[Value], result: Value) -> int:
    return _contains_address(operands, result) + ceil(size(operands[1]) * TRAVERSAL)


def _contains_network(operands: Sequence[Value], result: Value) -> int:
    return _contains_address(operands, result) + ceil(size(operands[0]) * TRAVERSAL) + 1


def _contains_network_text(operands: Sequence[Value], result: Value) -> int:
    return _contains_network(operands, result) + ceil(size(operands[1]) * TRAVERSAL)


def _validate(operands: Sequence[Value], result: Value) -> int:
    format = operands[0]
    if type(format) is not Format:
        return 1
    return ceil((1.0 + size(operands[1])) * TRAVERSAL) * ceil(format.pattern_size * REGEX_LENGTH)


def _argument_scan(operands: Sequence[Value], result: Value) -> int:
    return ceil(_size(operands[1]) * TRAVERSAL)


def _own_scan(operands: Sequence[Value], result: Value) -> int:
    return ceil(_size(operands[0]) * TRAVERSAL)


def _list_length(operands: Sequence[Value], result: Value) -> int:
    return _size(operands[1])


def _shorter(operands: Sequence[Value], result: Value) -> int:
    return ceil(min(_size(operands[0]), _size(operands[1])) * TRAVERSAL)


def _both(operands: Sequence[Value], result: Value) -> int:
    return ceil((_size(operands[0]) + _size(operands[1])) * TRAVERSAL)


def _product(operands: Sequence[Value], result: Value) -> int:
    return ceil(_size(operands[0]) * TRAVERSAL) * ceil(_size(operands[1]) * TRAVERSAL)


def _equality(operands: Sequence[Value], result: Value) -> int:
    return 1 if type(operands[0]) in KUBERNETES_TYPES else _shorter(operands, result)


def _allocation(factor: float, count: int) -> int:
    units = float(count) * factor if factor >= 0 else float(count)
    # Go makes 2**63 of a float that is beyond 64 bits, on amd64.
    return (int(units) if units < 2.0**64 else 2**63) + 1 + LIST_COST


def _output(operands: Sequence[Value], result: Value) -> int:
    return _allocation(1, size(result))


def _flatten(operands: Sequence[Value], result: Value) -> int:
    depth = 1.0
    if len(operands) == 2:
        if type(operands[1]) is not int:
            raise InternalFailure(f"interface conversion: ref.Val is {go_type_name(operands[1])}, not types.Int")
        depth = float(operands[1])
    return _allocation(depth, size(operands[0]))


def _self_comparison(elements: Value) -> int:
    if not is_list(elements):
        raise InternalFailure(f"interface conversion: {go_type_name(elements)} is not traits.Lister")
    factor = 2.0
    if elements and type(elements[0]) in (str, bytes):
        factor += TRAVERSAL
    return _allocation(factor, len(elements) ** 2)


def _compare_elements(operands: Sequence[Value], result: Value) -> int:
    return _self_comparison(operands[0])


def _compare_keys(operands: Sequence[Value], result: Value) -> int:
    return _self_comparison(operands[1])


def _set(factor: int) -> Rule:
    def cost(operands: Sequence[Value], result: Value) -> int:
        return 1 + size(operands[0]) * size(operands[1]) * factor

    return cost


_BY_OVERLOAD_FIRST: Final[dict[str, Rule]] = {
    "list_slice": _output,
    "lists_range": _output,
    "list_reverse": _output,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "list_distinct": _compare_elements,
    **{f"list_{name}_sort": _compare_elements for name in SORTABLE_NAMES},
    **{f"list_{name}_sortByAssociatedKeys": _compare_keys for name in SORTABLE_NAMES},
    "list_sets_contains_list": _set(1),
    "list_sets_intersects_list": _set(1),
    "list_sets_equivalent_list": _set(2),
}

_BY_FUNCTION: Final[dict[str, Rule]] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes"), _walk),
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim", "cidr", "isIP", "isCIDR", "ip"), _scan),
    **dict.fromkeys(("quantity", "isQuantity", "semver", "isSemver"), _scan),
    **dict.fromkeys(("replace", "split", "ip.isCanonical"), _scan_twice),
    "join": _scan_result_twice,
    "find": _regex,
    "findAll": _regex,
    "containsIP": _contains_address,
    "containsCIDR": _contains_network,
    "validate": _validate,
    "_==_": _equality,
}

_SPECIAL_OVERLOADS: Final[dict[str, Rule]] = {
    "cidr_ip": _one,
    "cidr_contains_ip_string": _contains_address_text,
    "cidr_contains_cidr_string": _contains_network_text,
}

_BY_OVERLOAD_LAST: Final[dict[str, Rule]] = {
    "starts_with_string": _argument_scan,
    "ends_with_string": _argument_scan,
    "string_to_bytes": _own_scan,
    "bytes_to_string": _own_scan,
    "strings_quote": _own_scan,
    "string_format": _own_scan,
    "in_list": _list_length,
    **{
        f"{order}_{kind}": _shorter
        for order in ("less", "less_equals", "greater", "greater_equals")
        for kind in ("string", "bytes")
    },
    "not_equals": _shorter,
    "add_string": _both,
    "add_bytes": _both,
    "matches": _regex,
    "matches_string": _regex,
    "contains_string": _product,
}


def call_rule(function: str, overload: str) -> Rule | None:
    """How to charge for calls of a function, None for one unit each.

    `overload` is empty where several overloads were possible when the expression was checked: the reference then falls back to what
    it knows by function name, and to one unit.
    """
    for table, name in (
        (_BY_OVERLOAD_FIRST, overload),
        (_SPECIAL_OVERLOADS, overload),
        (_BY_FUNCTION, function),
        (_BY_OVERLOAD_LAST, overload),
    ):
        rule = table.get(name)
        if rule is not None:
            return None if rule is _one else rule
    return None
