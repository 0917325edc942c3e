"""How an implementation is attached to a function: by overload id, or once for the whole function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

Implementation: TypeAlias = Callable[..., Any]
"""Takes run-time values (never failures), returns a value or raises `Failure`."""


class Operation:
    """One implementation for all overloads of a function, called only if the first operand has one of the `receivers` types."""

    __slots__ = ("implementation", "receivers")

    def __init__(self, implementation: Implementation, receivers: frozenset[type] | None = None) -> None:
        self.implementation = implementation
        self.receivers = receivers
