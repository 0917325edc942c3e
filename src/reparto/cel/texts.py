"""How values are written in error texts, and doubles anywhere: as Go writes them."""

from __future__ import annotations

import math

from reparto.cel.values import MapValue, Optional, TypeValue, UInt, Value, kind_of
from reparto.cel.work import spend


def format_double(value: float) -> str:
    """Go's `%g` with the shortest digits that read back as the same number."""
    if value != value:
        return "NaN"
    if value in (math.inf, -math.inf):
        return "+Inf" if value > 0 else "-Inf"
    if value == 0:
        return "-0" if math.copysign(1, value) < 0 else "0"
    mantissa, exponent_text = f"{value!r}".lower(), ""
    if "e" in mantissa:
        mantissa, exponent_text = mantissa.split("e")
    sign = "-" if mantissa.startswith("-") else ""
    whole, _, fraction = mantissa.lstrip("-").partition(".")
    digits = whole + fraction
    point = len(whole) + int(exponent_text or "0")
    stripped = digits.lstrip("0")
    point -= len(digits) - len(stripped)
    digits = stripped.rstrip("0")
    exponent = point - 1
    if exponent < -4 or exponent >= 6:
        tail = f".{digits[1:]}" if len(digits) > 1 else ""
        return f"{sign}{digits[0]}{tail}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
    if point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    if point >= len(digits):
        return f"{sign}{digits}{'0' * (point - len(digits))}"
    return f"{sign}{digits[:point]}.{digits[point:]}"


def plain_double(value: float) -> str:
    """Go's shortest decimal text without an exponent."""
    text = f"{value!r}"
    if "e" in text or "E" in text:
        from decimal import Decimal

        text = f"{Decimal(text):f}"
    return text.removesuffix(".0")


def show(value: Value) -> str:
    """A value as the reference's error texts print it (`no such key: 1`)."""
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
        return f"[{' '.join(str(byte) for byte in value)}]"
    if value is None:
        return "NULL_VALUE"
    if kind is tuple:
        spend(20 * len(value))
        return f"[{', '.join(map(show, value))}]"
    if kind is MapValue:
        spend(40 * len(value))
        return f"{{{', '.join(f'{show(key)}: {show(item)}' for key, item in value.items())}}}"
    if kind is Optional:
        return f"optional({show(value.value)})" if value.present else "optional.none()"
    if kind is TypeValue:
        return value.name
    return str(value)
