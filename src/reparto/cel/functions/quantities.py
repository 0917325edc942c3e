"""Quantities within expressions. The arithmetic and the reading of texts is `reparto.model.quantity`'s."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from reparto.cel.values import ComputedQuantity, Failure, OwnQuantity, Value, hold_as_decimal, type_name
from reparto.model.quantity import Quantity, QuantityError


def parse(text: str) -> Quantity:
    try:
        return Quantity.parse(text)
    except QuantityError as error:
        raise Failure(str(error)) from None


def is_quantity(text: str) -> bool:
    try:
        Quantity.parse(text)
    except QuantityError:
        return False
    return True


def as_integer(quantity: Quantity) -> int:
    try:
        return quantity.as_integer()
    except QuantityError as error:
        raise Failure(str(error)) from None


def own(quantity: Quantity) -> OwnQuantity:
    """A copy that belongs to one evaluation."""
    return OwnQuantity(quantity.nano, quantity.format, quantity.mantissa, quantity.exponent, quantity.big, quantity.text)


def own_parsed(text: Value) -> OwnQuantity:
    if type(text) is not str:
        raise Failure(f"no such overload: quantity({type_name(text)})")
    return own(parse(text))


def compare_to(left: Quantity, right: Quantity) -> int:
    hold_as_decimal(left, right)
    return (left.nano > right.nano) - (left.nano < right.nano)


def is_greater(left: Quantity, right: Quantity) -> bool:
    hold_as_decimal(left, right)
    return left.nano > right.nano


def is_less(left: Quantity, right: Quantity) -> bool:
    hold_as_decimal(left, right)
    return left.nano < right.nano


def _computed(result: Quantity) -> ComputedQuantity:
    return ComputedQuantity(result.nano, result.format, result.mantissa, result.exponent, result.big, result.text)


def add(left: Quantity, right: Quantity) -> ComputedQuantity:
    return _computed(left.add(right))


def subtract(left: Quantity, right: Quantity) -> ComputedQuantity:
    return _computed(left.sub(right))


def add_integer(quantity: Quantity, number: int) -> ComputedQuantity:
    return add(quantity, Quantity.from_int(number, "DecimalExponent"))


def subtract_integer(quantity: Quantity, number: int) -> ComputedQuantity:
    return subtract(quantity, Quantity.from_int(number, "DecimalExponent"))


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "string_to_quantity": parse,
    "is_quantity_string": is_quantity,
    "quantity_sign": Quantity.sign,
    "quantity_is_greater_than": is_greater,
    "quantity_is_less_than": is_less,
    "quantity_compare_to": compare_to,
    "quantity_get_float": Quantity.as_approximate_float,
    "quantity_get_int": as_integer,
    "quantity_is_integer": Quantity.is_integer,
    "quantity_add": add,
    "quantity_add_int": add_integer,
    "quantity_sub": subtract,
    "quantity_sub_int": subtract_integer,
}
