"""Sizes and costs in estimates: unsigned 64-bit numbers that saturate, as the reference's do."""

from __future__ import annotations

import math
from typing import NamedTuple

UNBOUNDED = 2**64 - 1


def add(left: int, right: int) -> int:
    return min(left + right, UNBOUNDED)


def multiply(left: int, right: int) -> int:
    return min(left * right, UNBOUNDED)


def scale(count: int, factor: float) -> int:
    """`count * factor` rounded up, in the floating-point arithmetic of the reference."""
    product = float(count) * factor
    if product >= 2.0**64 or (factor > 0 and float(count) > 2.0**64 / factor):
        return UNBOUNDED
    return math.ceil(product)


class Size(NamedTuple):
    """Bounds of a size: code points, bytes, entries or elements; 1 for a scalar."""

    low: int
    high: int

    def plus(self, other: Size) -> Size:
        return Size(add(self.low, other.low), add(self.high, other.high))

    def times(self, other: Size) -> Size:
        return Size(multiply(self.low, other.low), multiply(self.high, other.high))

    def union(self, other: Size) -> Size:
        return Size(min(self.low, other.low), max(self.high, other.high))

    def cost(self, factor: float) -> int:
        return scale(self.high, factor)


ANY_SIZE = Size(0, UNBOUNDED)
ONE = Size(1, 1)
