"""What is computed while a program is built rather than when it runs.

The reference folds lists and maps of constants, conversions of a constant (`int("3")`, `dyn(1)`) and membership in a list of
constants. What is folded costs nothing. A conversion that fails then is an error of compilation, where `quantity("x")`, which is no
conversion, fails at run time. Membership becomes a lookup by hash: a value that cannot be hashed is then an internal error.
"""

from __future__ import annotations

from typing import Final

from reparto.cel.ast import Literal, LiteralKind
from reparto.cel.evaluator import KEY_TYPES, Frame, Step, constant
from reparto.cel.values import EMPTY_MAP, INT_MAX, UInt, Value, is_failure, key_of, kind_of

CONVERSIONS: Final = frozenset(("bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"))
"""Functions that are folded over one constant."""


def lookup_set(elements: tuple[Value, ...]) -> frozenset[Value] | None:
    """The keys of a list of constants, numbers under each type that can hold them; None if they cannot be looked up."""
    keys: set[Value] = set()
    for element in elements:
        kind = kind_of(element)
        if kind not in KEY_TYPES:
            return None
        keys.add(key_of(element))
        if kind is float:
            if element.is_integer():
                whole = int(element)
                if -(2**63) < whole < 2**63:
                    keys.add(whole)
                if 0 <= whole < 2**64:
                    keys.add(("uint", UInt(whole)))
        elif kind is int or kind is UInt:
            keys.add(("double", float(element)))
            if kind is int and element >= 0:
                keys.add(("uint", UInt(element)))
            if kind is UInt and element <= INT_MAX:
                keys.add(int(element))
    return frozenset(keys)


def membership(wanted: Step, elements: tuple[Value, ...]) -> Step | None:
    """`wanted in elements` for a list of constants, None where it must be searched. An empty list is not even asked."""
    if not elements:
        return constant(False)
    keys = lookup_set(elements)
    if keys is None:
        return None
    look = wanted.run

    def run(frame: Frame) -> Value:
        value = look(frame)
        return value if is_failure(value) else key_of(value) in keys

    return Step(run)


def nowhere() -> Frame:
    """A frame for expressions made of constants."""
    return Frame(EMPTY_MAP, 0, INT_MAX)


def literal_value(node: Literal) -> Value:
    """The run-time value of a literal."""
    value: Value = node.value
    return UInt(value) if node.kind is LiteralKind.UINT else value
