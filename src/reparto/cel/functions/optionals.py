"""Optional values. `or` and `orValue` evaluate their argument only when needed, so they live in the evaluator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from reparto.cel.texts import show
from reparto.cel.values import NONE, Failure, Optional, Value, is_zero
from reparto.cel.work import spend


def of(value: Value) -> Optional:
    return Optional(value)


def of_non_zero(value: Value) -> Optional:
    return NONE if is_zero(value) else Optional(value)


def none() -> Optional:
    return NONE


def value_of(optional: Optional) -> Value:
    if not optional.present:
        raise Failure("optional.none() dereference")
    return optional.value


def has_value(optional: Optional) -> bool:
    return optional.present


def first(elements: tuple[Value, ...]) -> Optional:
    return Optional(elements[0]) if elements else NONE


def last(elements: tuple[Value, ...]) -> Optional:
    return Optional(elements[-1]) if elements else NONE


def unwrap(elements: tuple[Value, ...]) -> tuple[Value, ...]:
    spend(20 * len(elements))
    for element in elements:
        if type(element) is not Optional:
            raise Failure(f"value {show(element)} is not optional")
    return tuple(element.value for element in elements if element.present)


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "optional_of": of,
    "optional_ofNonZeroValue": of_non_zero,
    "optional_none": none,
    "optional_value": value_of,
    "optional_hasValue": has_value,
    "list_first": first,
    "list_last": last,
    "optional_unwrap": unwrap,
    "optional_unwrapOpt": unwrap,
}
