"""What generated functions call. Each raises, with whatever exception, where the exact evaluator must decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from reparto.cel.comparison import equal
from reparto.cel.evaluator import ABSENT, KEY_TYPES, pick
from reparto.cel.functions import lists, standard
from reparto.cel.values import NONE, Key, MapValue, Optional, Value, is_failure, is_list, key_of


class Unsupported(Exception):
    """The expression has a part that is left to the exact evaluator."""


def _as_bool(value: Value) -> bool:
    if value is True or value is False:
        return value
    raise Unsupported


def _select(value: Value, key: Value, optional: bool = False) -> Value:
    if type(key) not in KEY_TYPES:
        raise Unsupported
    chained = type(value) is Optional
    if chained:
        if not value.present:
            return NONE
        value = value.value
    found = pick(value, key)
    if is_failure(found):
        raise found
    if found is ABSENT:
        if optional or chained:
            return NONE
        raise Unsupported
    return Optional(found) if optional or chained else found


def _has(value: Value, key: str) -> bool:
    chained = type(value) is Optional
    if chained:
        if not value.present:
            return False
        value = value.value
    found = pick(value, key)
    if is_failure(found):
        raise found
    return found is not ABSENT


def _elements(value: Value) -> Iterable[Value]:
    if is_list(value):
        return value
    if type(value) is MapValue:
        return value.keys()
    raise Unsupported


def _pairs(value: Value) -> Iterable[tuple[Value, Value]]:
    if is_list(value):
        return enumerate(value)
    if type(value) is MapValue:
        return value.items()
    raise Unsupported


def _key(value: Value) -> Key:
    """`key_of`, but a list or map is a key only as the very object that it is, and that is for the exact evaluator."""
    if is_list(value) or type(value) is MapValue:
        raise Unsupported
    return key_of(value)


def _build_map(pairs: Iterable[tuple[Value, Value]]) -> MapValue:
    """A map literal: of equal keys the last wins."""
    return MapValue({_key(key): value for key, value in pairs})


def _insert_all(pairs: Iterable[tuple[Value, Value]]) -> MapValue:
    """A map whose keys must be distinct, across numeric types."""
    found = MapValue({})
    for key, value in pairs:
        if found.get(key, ABSENT) is not ABSENT:
            raise Unsupported
        found.entries[_key(key)] = value
    return found


def _merged(maps: Iterable[Value]) -> Iterator[tuple[Value, Value]]:
    for part in maps:
        if type(part) is not MapValue:
            raise Unsupported
        yield from part.items()


def _one(predicates: Iterable[bool]) -> bool:
    return sum(predicates) == 1


def _or_value(value: Value, otherwise: Callable[[], Value]) -> Value:
    if type(value) is not Optional:
        raise Unsupported
    return value.value if value.present else otherwise()


def _or(value: Value, otherwise: Callable[[], Value]) -> Value:
    if type(value) is not Optional:
        raise Unsupported
    return value if value.present else otherwise()


def _map_optional(value: Value, body: Callable[[Value], Value], flat: bool) -> Value:
    if type(value) is not Optional:
        raise Unsupported
    if not value.present:
        return NONE
    return body(value.value) if flat else Optional(body(value.value))


def _sort_by(elements: Value, key: Callable[[Value], Value]) -> Value:
    if not is_list(elements):
        raise Unsupported
    return lists.sort_by_keys(elements, tuple(map(key, elements)))


def member_of(keys: frozenset[Value]) -> Callable[[Value], bool]:
    return lambda value: key_of(value) in keys


NAMESPACE: Final[dict[str, Any]] = {
    "as_bool": _as_bool,
    "select": _select,
    "has": _has,
    "elements": _elements,
    "pairs": _pairs,
    "build_map": _build_map,
    "insert_all": _insert_all,
    "merged": _merged,
    "one": _one,
    "or_value": _or_value,
    "or_other": _or,
    "map_optional": _map_optional,
    "sort_by": _sort_by,
    "equal": equal,
    "is_in": standard.is_in,
    "nothing": {},
    "MISSING": ABSENT,
}
"""The names under which generated source finds them."""
