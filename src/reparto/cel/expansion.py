"""Macros as loops: what the reference's checker and cost estimator look at.

The tree that the parser hands out keeps macros whole. Types, error messages and estimated costs, however, follow from the loop
that a macro stands for (an accumulator, a condition to go on, a step, a result), so both steps expand a macro in passing. Nodes
written by the author appear in the expansion as they are, with their ids; nodes made up here get fresh ids and the position of the
macro.
"""

from __future__ import annotations

import msgspec

from reparto.cel.ast import (
    Ast,
    Bind,
    Call,
    Comprehension,
    Conditional,
    Ident,
    ListLiteral,
    Literal,
    LiteralKind,
    Logical,
    MapEntry,
    MapLiteral,
    Node,
    OptionalMap,
    SortBy,
    StructField,
    children,
)
from reparto.cel.errors import CompileError, issue_everywhere

ACCUMULATOR = "@result"
UNUSED = "#unused"
SORT_INPUT = "@__sortBy_input__"
MAX_NODES = 50_000
"""Nodes that the macros of one expression may add.

`a.optMap(x, y)` uses `a` twice, so a chain of n of them has 2**n nodes. Kubernetes has no limit: long chains keep it busy for
minutes.
"""

Macro = Comprehension | Bind | OptionalMap | SortBy


class Fold(Node, frozen=True, eq=False):
    """A loop over `range`.

    `variables` are one (element or key) or two (index or key, then value). The accumulator starts as `init`; while `condition`
    holds it becomes `step`; at the end the fold is `result`. A binding is a fold over an empty list whose accumulator is the
    variable.
    """

    range: Node
    variables: tuple[str, ...]
    accumulator: str
    init: Node
    condition: Node
    step: Node
    result: Node

    @property
    def is_bind(self) -> bool:
        """As the reference tells bindings from loops; a variable named `__result__` deceives it."""
        return (
            isinstance(self.range, ListLiteral)
            and not self.range.elements
            and isinstance(self.condition, Literal)
            and self.condition.value is False
            and self.accumulator != "__result__"
        )


class Expander:
    """Expands the macros of one tree. Asked twice for the same node, it gives the same expansion."""

    def __init__(self, ast: Ast) -> None:
        self._text = ast.text
        self._next_id = ast.next_id
        self._last_id = ast.next_id + MAX_NODES
        self._expansions: dict[int, Node] = {}

    def expand(self, macro: Macro) -> Node:
        found = self._expansions.get(macro.id)
        if found is None:
            found = self._expansions[macro.id] = self._build(macro)
        return found

    def _build(self, macro: Macro) -> Node:
        at = _Maker(self, macro)
        match macro:
            case Comprehension():
                return _comprehension(macro, at)
            case Bind():
                return at.bind(macro.variable.name, macro.value, macro.body, macro.id)
            case OptionalMap():
                value = at.method("value", self.copy(macro.target))
                inner: Node = at.bind(macro.variable.name, value, macro.body)
                if not macro.flat:
                    inner = at.call("optional.of", inner)
                return Conditional(
                    macro.id,
                    macro.start,
                    macro.end,
                    macro.position,
                    at.method("hasValue", macro.target),
                    inner,
                    at.call("optional.none"),
                )
            case SortBy():
                keys = at.map(at.ident(SORT_INPUT), macro.variable.name, None, macro.body)
                ordered = at.method("@sortByAssociatedKeys", at.ident(SORT_INPUT), keys)
                return at.bind(SORT_INPUT, macro.target, ordered, macro.id)

    def fresh_id(self) -> int:
        id = self._next_id
        if id == self._last_id:
            raise CompileError(self._text, (issue_everywhere(f"macros expand to more than {MAX_NODES} nodes"),))
        self._next_id = id + 1
        return id

    def copy(self, node: Node) -> Node:
        """The same expression with ids of its own, for the macros that use an operand twice."""
        changes: dict[str, object] = {"id": self.fresh_id()}
        for name in node.__struct_fields__:
            value: object = getattr(node, name)
            copied = self._copy_value(value)
            if copied is not value:
                changes[name] = copied
        return msgspec.structs.replace(node, **changes)

    def _copy_value(self, value: object) -> object:
        match value:
            case Node():
                return self.copy(value)
            case MapEntry():
                return msgspec.structs.replace(value, key=self.copy(value.key), value=self.copy(value.value))
            case StructField():
                return msgspec.structs.replace(value, value=self.copy(value.value))
            case tuple() if value and isinstance(value[0], Node | MapEntry | StructField):
                return tuple(map(self._copy_value, value))  # pyright: ignore[reportUnknownArgumentType]: a tuple of one of these
            case _:
                return value

    def children(self, node: Node) -> tuple[Node, ...]:
        """Direct sub-expressions in the expanded tree."""
        if isinstance(node, Macro):
            node = self.expand(node)
        if isinstance(node, Fold):
            return (node.range, node.init, node.condition, node.step, node.result)
        return children(node)


class _Maker:
    """Makes the nodes of one expansion, all at the macro's position."""

    def __init__(self, expander: Expander, macro: Macro) -> None:
        self._expander = expander
        self._place = (macro.start, macro.end, macro.position)

    def _head(self) -> tuple[int, int, int, int]:
        return (self._expander.fresh_id(), *self._place)

    def ident(self, name: str) -> Ident:
        return Ident(*self._head(), name)

    def accumulator(self) -> Ident:
        return self.ident(ACCUMULATOR)

    def bool(self, value: bool) -> Literal:
        return Literal(*self._head(), LiteralKind.BOOL, value)

    def int(self, value: int) -> Literal:
        return Literal(*self._head(), LiteralKind.INT, value)

    def list(self, *elements: Node) -> ListLiteral:
        return ListLiteral(*self._head(), elements)

    def empty_map(self) -> MapLiteral:
        return MapLiteral(*self._head(), ())

    def call(self, function: str, *arguments: Node) -> Call:
        return Call(*self._head(), function, None, arguments)

    def method(self, function: str, target: Node, *arguments: Node) -> Call:
        return Call(*self._head(), function, target, arguments)

    def logical(self, operator: str, left: Node, right: Node) -> Logical:
        return Logical(*self._head(), operator, (left, right), (self._place[2],))

    def when(self, condition: Node | None, then: Node) -> Node:
        """`condition ? then : accumulator`, or `then` where there is no condition."""
        if condition is None:
            return then
        return Conditional(*self._head(), condition, then, self.accumulator())

    def bind(self, variable: str, value: Node, body: Node, id: int | None = None) -> Fold:
        head = self._head() if id is None else (id, *self._place)
        return Fold(*head, self.list(), (UNUSED,), variable, value, self.bool(False), self.ident(variable), body)

    def append(self, element: Node) -> Call:
        return self.call("_+_", self.accumulator(), self.list(element))

    def map(self, range: Node, variable: str, filter: Node | None, body: Node) -> Fold:
        step = self.when(filter, self.append(body))
        return Fold(*self._head(), range, (variable,), ACCUMULATOR, self.list(), self.bool(True), step, self.accumulator())


def _comprehension(macro: Comprehension, at: _Maker) -> Fold:
    variables = tuple(variable.name for variable in macro.variables)
    condition: Node = at.bool(True)
    result: Node = at.accumulator()
    init: Node
    match macro.macro:
        case "all":
            init = at.bool(True)
            condition = at.call("@not_strictly_false", at.accumulator())
            step = at.logical("&&", at.accumulator(), macro.body)
        case "exists":
            init = at.bool(False)
            condition = at.call("@not_strictly_false", at.call("!_", at.accumulator()))
            step = at.logical("||", at.accumulator(), macro.body)
        case "exists_one":
            init = at.int(0)
            step = at.when(macro.body, at.call("_+_", at.accumulator(), at.int(1)))
            result = at.call("_==_", result, at.int(1))
        case "filter":
            init = at.list()
            step = at.when(macro.body, at.append(macro.variables[0]))
        case "map" | "transformList":
            init = at.list()
            step = at.when(macro.filter, at.append(macro.body))
        case "transformMap":
            init = at.empty_map()
            inserted = at.call("cel.@mapInsert", at.accumulator(), at.ident(variables[0]), macro.body)
            step = at.when(macro.filter, inserted)
        case _:  # transformMapEntry
            init = at.empty_map()
            step = at.when(macro.filter, at.call("cel.@mapInsert", at.accumulator(), macro.body))
    return Fold(
        macro.id, macro.start, macro.end, macro.position, macro.range, variables, ACCUMULATOR, init, condition, step, result
    )
