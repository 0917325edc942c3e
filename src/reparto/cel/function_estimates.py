"""What a call costs at most, and how large its result can get, function by function.

The walk over an expression is `estimate`'s; these rules see one call, with operands whose types and sizes are known as far as they
can be. Sources: cel-go 0.29.2 `checker/cost.go`, `ext/lists.go`, `ext/sets.go`; apiserver 1.37.2 `pkg/cel/library/cost.go`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, Protocol

from reparto.cel.ast import Literal, LiteralKind, Node
from reparto.cel.costs import LIST_COST, MESSAGE_COST, REGEX_LENGTH, TRAVERSAL
from reparto.cel.sizes import ANY_SIZE, ONE, UNBOUNDED, Size, add, multiply, scale
from reparto.cel.types import (
    AUTHORIZER,
    CIDR,
    DECISION,
    FORMAT,
    GROUP_CHECK,
    IP,
    PATH_CHECK,
    QUANTITY,
    RESOURCE_CHECK,
    SEMVER,
    URL,
    Kind,
    Type,
)
from reparto.cel.value_paths import ValuePath

LONGEST_NAME_PATTERN = 128
LONGEST_FORMAT_NAME = 64
AUTHORIZATION_CHECK = 350_000


class Operand(NamedTuple):
    """An argument as the estimators of functions see it."""

    node: Node | None
    type: Type
    path: ValuePath
    size: Size | None


class EstimatedCall(NamedTuple):
    """A call of one overload, ready to be estimated."""

    function: str
    overload: str
    target: Operand | None
    arguments: tuple[Operand, ...]


class FunctionEstimate(NamedTuple):
    """Cost of a call without its arguments, and the size of what it returns where that is known."""

    cost: int
    size: Size | None = None


class Sizes(Protocol):
    """Who knows how large operands can get."""

    def size(self, operand: Operand) -> Size:
        """Size of an operand, however little is known of it."""
        ...

    def element(self, operand: Operand) -> Operand | None:
        """Stands for any element of a list, or whatever else has a parameterised type."""
        ...


def or_any(operand: Operand) -> Size:
    return operand.size or ANY_SIZE


def _int_literal(operand: Operand, otherwise: int) -> int:
    """Value of an int literal, not below 0, or something else for other expressions."""
    node = operand.node
    if isinstance(node, Literal) and node.kind is LiteralKind.INT and isinstance(node.value, int):
        return max(node.value, 0)
    return otherwise


# Standard functions, by overload: cel-go's checker/cost.go.


def _format(call: EstimatedCall) -> FunctionEstimate:
    return FunctionEstimate(or_any(call.target).cost(TRAVERSAL) if call.target else 1)


def _string_to_bytes(call: EstimatedCall) -> FunctionEstimate:
    size = or_any(call.arguments[0])
    # Each character may need four bytes; the product wraps as the reference's does.
    return FunctionEstimate(size.cost(TRAVERSAL), Size(size.low, size.high * 4 % 2**64))


def _bytes_to_string(call: EstimatedCall) -> FunctionEstimate:
    size = or_any(call.arguments[0])
    return FunctionEstimate(size.cost(TRAVERSAL), Size(size.low // 4, size.high))


def _quote(call: EstimatedCall) -> FunctionEstimate:
    size = or_any(call.arguments[0])
    # Each character may be escaped; two quotes are added.
    return FunctionEstimate(size.cost(TRAVERSAL), Size((size.low + 2) % 2**64, (size.high * 2 + 2) % 2**64))


def _affix(call: EstimatedCall) -> FunctionEstimate:
    return FunctionEstimate(or_any(call.arguments[0]).cost(TRAVERSAL))


def _in_list(call: EstimatedCall) -> FunctionEstimate:
    return FunctionEstimate(or_any(call.arguments[1]).cost(1))


def _pattern_cost(text: Size, pattern: Size) -> int:
    # One more character, so that an empty string does not make an expensive pattern free.
    return multiply(text.plus(ONE).cost(TRAVERSAL), pattern.cost(REGEX_LENGTH))


def _matches(call: EstimatedCall) -> FunctionEstimate:
    text, pattern = (call.target, *call.arguments) if call.target else call.arguments
    return FunctionEstimate(_pattern_cost(or_any(text), or_any(pattern)))


def _contains(call: EstimatedCall) -> FunctionEstimate:
    assert call.target is not None
    return FunctionEstimate(multiply(or_any(call.target).cost(TRAVERSAL), or_any(call.arguments[0]).cost(TRAVERSAL)))


def _comparison(call: EstimatedCall) -> FunctionEstimate:
    left, right = call.arguments
    return FunctionEstimate(scale(min(or_any(left).high, or_any(right).high), TRAVERSAL))


_STANDARD: dict[str, Callable[[EstimatedCall], FunctionEstimate]] = {
    "string_format": _format,
    "string_to_bytes": _string_to_bytes,
    "bytes_to_string": _bytes_to_string,
    "strings_quote": _quote,
    "starts_with_string": _affix,
    "ends_with_string": _affix,
    "in_list": _in_list,
    "matches": _matches,
    "matches_string": _matches,
    "contains_string": _contains,
    "equals": _comparison,
    "not_equals": _comparison,
    **{
        f"{order}_{type}": _comparison
        for order in ("less", "less_equals", "greater", "greater_equals")
        for type in ("string", "bytes")
    },
}


# List and set extensions, by overload: cel-go's ext/lists.go and ext/sets.go.


def _new_list(factor: float, size: Size, result: Size | None = None) -> FunctionEstimate:
    return FunctionEstimate(add(add(size.cost(factor), 1), LIST_COST), result or size)


def _slice(sizes: Sizes, call: EstimatedCall) -> FunctionEstimate:
    assert call.target is not None
    size = sizes.size(call.target)
    start = _int_literal(call.arguments[0], 0)
    end = _int_literal(call.arguments[1], size.high)
    # An end before the start wraps around: such a slice is refused as unbounded.
    length = (end - start) % 2**64
    return _new_list(1, Size(length, length))


def _range(sizes: Sizes, call: EstimatedCall) -> FunctionEstimate:
    length = _int_literal(call.arguments[0], UNBOUNDED)
    return _new_list(1, Size(length, length))


def _reverse(sizes: Sizes, call: EstimatedCall) -> FunctionEstimate:
    assert call.target is not None
    return _new_list(1, sizes.size(call.target))


def _flatten(sizes: Sizes, call: EstimatedCall) -> FunctionEstimate:
    assert call.target is not None
    depth = _int_literal(call.arguments[0], UNBOUNDED) if call.arguments else 1
    return _new_list(float(depth), sizes.size(call.target))


def _distinct(sizes: Sizes, call: EstimatedCall) -> FunctionEstimate:
    assert call.target is not None
    size = sizes.size(call.target)
    return _new_list(2, size.times(size))


def _sort(sizes: Sizes, call: EstimatedCall) -> FunctionEstimate:
    """Sorting, by the list of keys where there is one."""
    keys = call.arguments[0] if call.arguments else call.target
    assert keys is not None
    size = sizes.size(keys)
    factor = 2.0 + TRAVERSAL if call.overload.startswith(("list_string_", "list_bytes_")) else 2.0
    return _new_list(factor, size.times(size))


def _set_comparison(factor: float) -> Callable[[Sizes, EstimatedCall], FunctionEstimate]:
    def cost(sizes: Sizes, call: EstimatedCall) -> FunctionEstimate:
        left, right = map(sizes.size, call.arguments)
        return FunctionEstimate(add(left.times(right).cost(factor), 1))

    return cost


_SORTABLE = ("int", "uint", "double", "bool", "google.protobuf.Duration", "google.protobuf.Timestamp", "string", "bytes")
_OVERLOADS: dict[str, Callable[[Sizes, EstimatedCall], FunctionEstimate]] = {
    "list_slice": _slice,
    "lists_range": _range,
    "list_reverse": _reverse,
    "list_flatten": _flatten,
    "list_flatten_int": _flatten,
    "list_distinct": _distinct,
    **{f"list_{type}_{sort}": _sort for type in _SORTABLE for sort in ("sort", "sortByAssociatedKeys")},
    "list_sets_contains_list": _set_comparison(1),
    "list_sets_intersects_list": _set_comparison(1),
    # Equivalence may compare both ways.
    "list_sets_equivalent_list": _set_comparison(2),
}


# Kubernetes' functions, by name: apiserver/pkg/cel/library/cost.go. None leaves the call to the standard rules.

_Rule = Callable[[Sizes, EstimatedCall], FunctionEstimate | None]


def _constant(cost: int) -> _Rule:
    return lambda sizes, call: FunctionEstimate(cost)


def _selector(sizes: Sizes, call: EstimatedCall) -> FunctionEstimate | None:
    """A label or field selector: the shortest requirement is two characters, each costs a list and a struct."""
    if len(call.arguments) != 1:
        return None
    size = sizes.size(call.arguments[0])
    requirements = scale(scale(size.high, 0.5), float(LIST_COST + MESSAGE_COST))
    return FunctionEstimate(add(add(LIST_COST, size.cost(TRAVERSAL)), requirements))


def _list_walk(sizes: Sizes, call: EstimatedCall) -> FunctionEstimate | None:
    if call.target is None:
        return None
    size = sizes.size(call.target)
    element = sizes.element(call.target)
    if element is None:
        # A string, or a receiver that may turn out to be a list.
        return FunctionEstimate(size.high if call.function == "includes" else size.cost(TRAVERSAL))
    cost = 1
    if element.type.kind in (Kind.STRING, Kind.BYTES):
        cost = add(cost, sizes.size(element).cost(TRAVERSAL))
    return FunctionEstimate(multiply(size.high, cost))


def _parse(factor: float) -> _Rule:
    """Reading a string argument through."""

    def cost(sizes: Sizes, call: EstimatedCall) -> FunctionEstimate | None:
        return FunctionEstimate(sizes.size(call.arguments[0]).cost(factor)) if call.arguments else None

    return cost


def _url(sizes: Sizes, call: EstimatedCall) -> FunctionEstimate | None:
    size = sizes.size(call.arguments[0])
    return FunctionEstimate(size.cost(TRAVERSAL), size)


def _rewrite(sizes: Sizes, call: EstimatedCall) -> FunctionEstimate | None:
    """A string made from a string of at least the same size."""
    if call.target is None:
        return None
    size = sizes.size(call.target)
    return FunctionEstimate(size.cost(TRAVERSAL), size)


def _replace(sizes: Sizes, call: EstimatedCall) -> FunctionEstimate | None:
    if call.target is None or len(call.arguments) < 2:
        return None
    text = sizes.size(call.target)
    old, new = sizes.size(call.arguments[0]), sizes.size(call.arguments[1])
    low = _replaced(text.low, old.high, old.high <= new.low, new.low)
    high = _replaced(text.high, old.low, new.high <= old.low, new.high)
    return FunctionEstimate(text.cost(2 * TRAVERSAL), Size(low, high))


def _replaced(text: int, old: int, keeps_length: bool, new: int) -> int:
    """Size after replacing pieces of size `old` by such of size `new`, in the extreme case that the caller has chosen."""
    if old == 0:
        # Replacing nothing puts the replacement around every character.
        return add(multiply(min(text + 1, UNBOUNDED), new), text)
    if keeps_length:
        return text
    pieces = math.ceil(float(text) / float(old))
    # Go converts 2**64 to the largest value.
    return multiply(min(pieces, UNBOUNDED), new)


def _split(sizes: Sizes, call: EstimatedCall) -> FunctionEstimate | None:
    if call.target is None:
        return None
    size = sizes.size(call.target)
    high = size.high
    if len(call.arguments) > 1:
        limit = call.arguments[1].node
        if isinstance(limit, Literal) and limit.kind is LiteralKind.INT and isinstance(limit.value, int):
            high = limit.value % 2**64
    return FunctionEstimate(size.cost(2 * TRAVERSAL), Size(0, high))


def _join(sizes: Sizes, call: EstimatedCall) -> FunctionEstimate | None:
    if call.target is None:
        return None
    count = sizes.size(call.target)
    element = sizes.element(call.target)
    size = Size(0, 0) if element is None else count.times(sizes.size(element))
    if call.arguments:
        gaps = Size(max(count.low - 1, 0), max(count.high - 1, 0))
        size = size.plus(sizes.size(call.arguments[0]).times(gaps))
    return FunctionEstimate(size.cost(TRAVERSAL), size)


def _find(sizes: Sizes, call: EstimatedCall) -> FunctionEstimate | None:
    if call.target is None or not call.arguments:
        return None
    text = sizes.size(call.target)
    return FunctionEstimate(_pattern_cost(text, sizes.size(call.arguments[0])), Size(0, text.high))


def _ip(sizes: Sizes, call: EstimatedCall) -> FunctionEstimate | None:
    if call.overload == "cidr_ip":
        return FunctionEstimate(1)
    return _parse(TRAVERSAL)(sizes, call)


_ADDRESS = Size(4, 16)  # bytes of an IPv4 or an IPv6 address
_ADDRESS_COMPARISON = _ADDRESS.plus(_ADDRESS).cost(TRAVERSAL)


def _contains_address(extra: int, text_overload: str) -> _Rule:
    """Comparing a network with an address or another network, plus reading the text where it is given as one."""

    def cost(sizes: Sizes, call: EstimatedCall) -> FunctionEstimate | None:
        if not call.arguments:
            return None
        own = _ADDRESS_COMPARISON + extra
        if call.overload == text_overload:
            own = add(own, sizes.size(call.arguments[0]).cost(TRAVERSAL))
        return FunctionEstimate(own)

    return cost


def _validate(sizes: Sizes, call: EstimatedCall) -> FunctionEstimate | None:
    if not call.arguments:
        return None
    return FunctionEstimate(scale(sizes.size(call.arguments[0]).cost(TRAVERSAL), LONGEST_NAME_PATTERN * REGEX_LENGTH))


_CHEAP_EQUALITY = frozenset(
    type.name for type in (IP, CIDR, QUANTITY, SEMVER, AUTHORIZER, PATH_CHECK, GROUP_CHECK, RESOURCE_CHECK, DECISION)
)


def _equality(sizes: Sizes, call: EstimatedCall) -> FunctionEstimate | None:
    """`==` on Kubernetes' own types; `!=` is left to the standard rules, which find no size and call it unbounded."""
    left, right = call.arguments
    if left.type.name != right.type.name:
        return None
    if left.type.name in _CHEAP_EQUALITY:
        return FunctionEstimate(1)
    if left.type.name == FORMAT.name:
        return FunctionEstimate(scale(LONGEST_FORMAT_NAME, TRAVERSAL))
    if left.type.name == URL.name:
        # Upstream looks at the right side only.
        return FunctionEstimate(scale(right.size.high if right.size else 1, TRAVERSAL))
    return None


_ACCESSORS = (
    "masked",
    "prefixLength",
    "family",
    "isUnspecified",
    "isLoopback",
    "isLinkLocalMulticast",
    "isLinkLocalUnicast",
    "isGlobalUnicast",
    "format.named",
    "sign",
    "asInteger",
    "isInteger",
    "asApproximateFloat",
    "isGreaterThan",
    "isLessThan",
    "compareTo",
    "add",
    "sub",
    "major",
    "minor",
    "patch",
    "getScheme",
    "getHostname",
    "getHost",
    "getPort",
    "getEscapedPath",
    "getQuery",
)
_AUTHORIZATION = (
    "serviceAccount",
    "path",
    "group",
    "resource",
    "subresource",
    "namespace",
    "name",
    "allowed",
    "reason",
    "error",
    "errored",
)
_LIST_WALKS = ("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf", "includes")
_REWRITES = ("lowerAscii", "upperAscii", "substring", "trim")
_PARSERS = ("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver")


def _rules() -> dict[str, _Rule]:
    rules: dict[str, _Rule] = {"check": _constant(AUTHORIZATION_CHECK), "fieldSelector": _selector, "labelSelector": _selector}
    rules |= dict.fromkeys(_AUTHORIZATION + _ACCESSORS, _constant(1))
    rules |= dict.fromkeys(_LIST_WALKS, _list_walk)
    rules |= dict.fromkeys(_REWRITES, _rewrite)
    rules |= dict.fromkeys(_PARSERS, _parse(TRAVERSAL))
    return rules | {
        "url": _url,
        "replace": _replace,
        "split": _split,
        "join": _join,
        "find": _find,
        "findAll": _find,
        "ip": _ip,
        "ip.isCanonical": _parse(2 * TRAVERSAL),
        "containsIP": _contains_address(0, "cidr_contains_ip_string"),
        # A mask more, and one for the prefix lengths.
        "containsCIDR": _contains_address(_ADDRESS.cost(TRAVERSAL) + 1, "cidr_contains_cidr_string"),
        "validate": _validate,
        "_==_": _equality,
    }


_FUNCTIONS = _rules()


def function_estimate(sizes: Sizes, call: EstimatedCall) -> FunctionEstimate | None:
    """Cost and size of a call without its arguments; None where no rule is known. First come rules by overload, then by name."""
    by_overload = _OVERLOADS.get(call.overload)
    if by_overload is not None:
        return by_overload(sizes, call)
    by_function = _FUNCTIONS.get(call.function)
    if by_function is not None:
        estimated = by_function(sizes, call)
        if estimated is not None:
            return estimated
    standard = _STANDARD.get(call.overload)
    return None if standard is None else standard(call)
