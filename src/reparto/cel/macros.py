"""Macros: calls that are syntax, recognised by name, number of arguments and whether there is a receiver.

Recognised while parsing, before any variable is known, as the reference does it; a call with the right name but the wrong arguments
is reported and stays a call. What macros stand for is `expansion`'s business.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from reparto.cel.ast import (
    Bind,
    Call,
    Comprehension,
    Has,
    Ident,
    Literal,
    MapLiteral,
    Node,
    OptionalMap,
    Select,
    SortBy,
    StructLiteral,
)

Head: TypeAlias = tuple[int, int, int, int]
"""What every node begins with: id, start, end, position."""

INVALID_HAS = "invalid argument to has() macro"

# Receiver macros of one and of two variables, by number of arguments.
_ONE_VARIABLE = frozenset({("all", 2), ("exists", 2), ("exists_one", 2), ("map", 2), ("map", 3), ("filter", 2)})
_TWO_VARIABLES = frozenset(
    {
        ("all", 3),
        ("exists", 3),
        ("exists_one", 3),
        ("existsOne", 3),
        ("transformList", 3),
        ("transformList", 4),
        ("transformMap", 3),
        ("transformMap", 4),
        ("transformMapEntry", 3),
        ("transformMapEntry", 4),
    }
)
_ACCUMULATORS = frozenset({"__result__", "@result"})


class Macros:
    """Makes the node of a call, a macro or not.

    `report` takes what is wrong with a macro's arguments and where. `sort_by` tells whether the macro of that name exists.
    """

    def __init__(self, report: Callable[[str, int], None], sort_by: bool) -> None:
        self._report = report
        self._sort_by = sort_by

    def function(self, head: Head, name: str, arguments: tuple[Node, ...]) -> Node:
        """A call without receiver."""
        if name == "has" and len(arguments) == 1:
            argument = arguments[0]
            # `has(has(a.b))` is has(a.b): the reference sees a selection either way.
            if (isinstance(argument, Select) and not argument.optional) or isinstance(argument, Has):
                return Has(*head, argument.operand, argument.field)
            self._report(INVALID_HAS, argument.position)
        return Call(*head, name, None, arguments)

    def method(self, head: Head, target: Node, name: str, arguments: tuple[Node, ...]) -> Node:
        """A call with a receiver."""
        signature = (name, len(arguments))
        if signature in _ONE_VARIABLE:
            message = "argument is not an identifier" if name in ("map", "filter") else "argument must be a simple name"
            if self._is_variable(arguments[0], message):
                filter = arguments[1] if len(arguments) == 3 else None
                return Comprehension(*head, name, target, _names(arguments[:1]), filter, arguments[-1])
        elif signature in _TWO_VARIABLES:
            if self._are_variables(arguments[0], arguments[1]):
                macro = "exists_one" if name == "existsOne" else name
                filter = arguments[2] if len(arguments) == 4 else None
                return Comprehension(*head, macro, target, _names(arguments[:2]), filter, arguments[-1])
        elif signature == ("bind", 3) and isinstance(target, Ident) and target.name == "cel":
            if isinstance(arguments[0], Ident):
                return Bind(*head, arguments[0], arguments[1], arguments[2])
            self._report("cel.bind() variable names must be simple identifiers", arguments[0].position)
        elif signature in (("optMap", 2), ("optFlatMap", 2)):
            if isinstance(arguments[0], Ident):
                return OptionalMap(*head, name == "optFlatMap", target, arguments[0], arguments[1])
            self._report(f"{name}() variable name must be a simple identifier", arguments[0].position)
        elif signature == ("sortBy", 2) and self._sort_by:
            if isinstance(target, Literal | MapLiteral | StructLiteral):
                message = "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
                self._report(message, target.position)
            elif self._is_variable(arguments[0], "argument is not an identifier"):
                return SortBy(*head, target, _names(arguments[:1])[0], arguments[1])
        return Call(*head, name, target, arguments)

    def _is_variable(self, node: Node, message: str) -> bool:
        if not isinstance(node, Ident):
            self._report(message, node.position)
            return False
        if node.name in _ACCUMULATORS:
            self._report("iteration variable overwrites accumulator variable", node.position)
            return False
        return True

    def _are_variables(self, first: Node, second: Node) -> bool:
        for node in (first, second):
            if not isinstance(node, Ident):
                self._report("argument must be a simple name", node.position)
                return False
        if isinstance(first, Ident) and isinstance(second, Ident) and first.name == second.name:
            self._report(f"duplicate variable name: {first.name}", second.position)
            return False
        return all(self._is_variable(node, "") for node in (first, second))


def _names(nodes: tuple[Node, ...]) -> tuple[Ident, ...]:
    return tuple(node for node in nodes if isinstance(node, Ident))
