"""Syntax tree of a CEL expression.

The tree keeps what the author wrote: macros stay macro nodes, chains of `&&` and `||` are one node with many terms, and every node
knows the stretch of text that it came from. Later steps explain, split and compile by these nodes, so nothing here is rewritten
into loops.

Every node has
- `id`: unique within the tree, the key into `CheckedExpression.types` and `.overloads`;
- `start`, `end`: half-open range of code points in the text;
- `position`: the code point at which an error about this node is reported (an operator for binary operators, `(` for calls,
  `[` for indexing, `.` for selection, else `start`). cel-go reports the same places.

Nodes are immutable, compared and hashed by identity.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import TypeAlias

import msgspec


class LiteralKind(StrEnum):
    """Which of CEL's constant types a literal has. Python's type alone does not tell `int` from `uint`."""

    NULL = "null"
    BOOL = "bool"
    INT = "int"
    UINT = "uint"
    DOUBLE = "double"
    STRING = "string"
    BYTES = "bytes"


Constant: TypeAlias = bool | int | float | str | bytes | None


class Node(msgspec.Struct, frozen=True, eq=False):
    """Common part of all nodes."""

    id: int
    start: int
    end: int
    position: int


class Literal(Node, frozen=True, eq=False):
    """A constant. `value` is a plain Python value; `int` and `uint` are both `int` and lie in their 64-bit ranges."""

    kind: LiteralKind
    value: Constant


class Ident(Node, frozen=True, eq=False):
    """A variable or a type name. After checking, qualified type names (`net.IP`) are one identifier."""

    name: str


class Select(Node, frozen=True, eq=False):
    """`operand.field`, or `operand.?field` when `optional`."""

    operand: Node
    field: str
    optional: bool = False


class Index(Node, frozen=True, eq=False):
    """`operand[key]`, or `operand[?key]` when `optional`. Functions `_[_]` and `_[?_]` of the declarations."""

    operand: Node
    key: Node
    optional: bool = False

    @property
    def function(self) -> str:
        return "_[?_]" if self.optional else "_[_]"


class Call(Node, frozen=True, eq=False):
    """A function call, a member call (`target` set), or an operator.

    Operators have cel-go's names: `_+_ _-_ _*_ _/_ _%_ _==_ _!=_ _<_ _<=_ _>_ _>=_ @in !_ -_`. After checking, a call of a
    namespaced function (`optional.of(x)`, `sets.contains(a, b)`) has no target and the whole name in `function`.
    """

    function: str
    target: Node | None
    arguments: tuple[Node, ...]


class Logical(Node, frozen=True, eq=False):
    """A chain `a && b && c` or `a || b || c` with at least two terms.

    `operators` holds the position of each operator, one fewer than terms. `(a && b) && c` is a chain whose first term is a chain.
    """

    operator: str  # "&&" or "||"
    terms: tuple[Node, ...]
    operators: tuple[int, ...]

    @property
    def function(self) -> str:
        return f"_{self.operator}_"


class Conditional(Node, frozen=True, eq=False):
    """`condition ? then : otherwise`."""

    condition: Node
    then: Node
    otherwise: Node


class ListLiteral(Node, frozen=True, eq=False):
    """`[a, ?b]`. `optional` holds the indices of the elements marked with `?`."""

    elements: tuple[Node, ...]
    optional: frozenset[int] = frozenset()


class MapEntry(msgspec.Struct, frozen=True, eq=False):
    """`key: value` or `?key: value`; `position` is that of the colon."""

    key: Node
    value: Node
    optional: bool
    position: int


class MapLiteral(Node, frozen=True, eq=False):
    """`{k: v, ?k: v}`."""

    entries: tuple[MapEntry, ...]


class StructField(msgspec.Struct, frozen=True, eq=False):
    """`name: value` within a message literal."""

    name: str
    value: Node
    optional: bool
    position: int


class StructLiteral(Node, frozen=True, eq=False):
    """`type.Name{field: value}`."""

    type_name: str
    fields: tuple[StructField, ...]


class Has(Node, frozen=True, eq=False):
    """`has(operand.field)`."""

    operand: Node
    field: str


class Comprehension(Node, frozen=True, eq=False):
    """A macro that walks over a list or map.

    `macro` is one of `all exists exists_one map filter transformList transformMap transformMapEntry` (`existsOne` is stored as
    `exists_one`). `variables` has one name or two (key or index, then value). `filter` is the optional predicate of `map` and the
    `transform*` macros; `body` is the predicate of the others, or what is produced.
    """

    macro: str
    range: Node
    variables: tuple[Ident, ...]
    filter: Node | None
    body: Node


class Bind(Node, frozen=True, eq=False):
    """`cel.bind(variable, value, body)`; the value is evaluated when first used."""

    variable: Ident
    value: Node
    body: Node


class OptionalMap(Node, frozen=True, eq=False):
    """`target.optMap(variable, body)` or, when `flat`, `target.optFlatMap(variable, body)`.

    The target is evaluated twice by the reference when it has a value: once for `hasValue()`, once for `value()`.
    """

    flat: bool
    target: Node
    variable: Ident
    body: Node


class SortBy(Node, frozen=True, eq=False):
    """`target.sortBy(variable, key)`: the list in the order of the keys."""

    target: Node
    variable: Ident
    body: Node


class Ast(msgspec.Struct, frozen=True, eq=False):
    """A parsed expression: its text, its root and one more than the highest node id."""

    text: str
    root: Node
    next_id: int

    def source(self, node: Node) -> str:
        """The text of a node as the author wrote it."""
        return self.text[node.start : node.end]


def children(node: Node) -> tuple[Node, ...]:
    """Direct sub-expressions in order of evaluation; variable names of macros are not among them."""
    match node:
        case Select() | Has():
            return (node.operand,)
        case Index():
            return (node.operand, node.key)
        case Call():
            return node.arguments if node.target is None else (node.target, *node.arguments)
        case Logical():
            return node.terms
        case Conditional():
            return (node.condition, node.then, node.otherwise)
        case ListLiteral():
            return node.elements
        case MapLiteral():
            return tuple(part for entry in node.entries for part in (entry.key, entry.value))
        case StructLiteral():
            return tuple(field.value for field in node.fields)
        case Comprehension():
            return (node.range, node.body) if node.filter is None else (node.range, node.filter, node.body)
        case Bind():
            return (node.value, node.body)
        case OptionalMap() | SortBy():
            return (node.target, node.body)
        case _:
            return ()


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, parents first, left to right. Does not recurse, so any depth is fine."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(children(current)))


def clauses(node: Node) -> tuple[Node, ...]:
    """The parts of a top-level `&&`, flattened through parentheses; a node that is no `&&` is its own only clause."""
    found: list[Node] = []
    pending = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, Logical) and current.operator == "&&":
            pending.extend(reversed(current.terms))
        else:
            found.append(current)
    return tuple(found)
