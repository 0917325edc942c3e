"""Checks of literals in a tree whose types are known.

Kubernetes turns these on (1.29): literal arguments of `duration`, `timestamp` and `matches`, literals whose elements are of one
type even behind `dyn`, and the arguments of `"…".format([…])`. They run only when the types are right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from reparto.cel.ast import Ast, Call, ListLiteral, Literal, MapEntry, MapLiteral, Node
from reparto.cel.checker import Findings
from reparto.cel.errors import CompileError, Issue, issue_at
from reparto.cel.functions.regex import PatternError, compile_pattern
from reparto.cel.functions.time import parse_duration, parse_timestamp, timestamp_from_unix
from reparto.cel.types import Kind, Type, describe, is_optional
from reparto.cel.unification import is_equivalent
from reparto.cel.values import Failure


def validate_literals(ast: Ast, findings: Findings) -> list[Issue]:
    """Issues with literals.

    Raises `CompileError` for an optional element whose type is not known (`[?device.attributes["a"].x]`): the reference panics
    there, and nobody can use such an expression.
    """
    validator = _Validator(ast, findings)
    for node, exempt in _nodes(ast.root, findings):
        validator.visit(node, exempt)
    return validator.issues


def _nodes(root: Node, findings: Findings) -> Iterator[tuple[Node, bool]]:
    """All nodes of the expanded tree and whether one of their ancestors is a call of `format`, which takes mixed lists."""
    pending = [(root, False)]
    while pending:
        node, exempt = pending.pop()
        yield node, exempt
        inside = exempt or (isinstance(node, Call) and findings.functions.get(node.id, node.function) == "format")
        pending.extend((child, inside) for child in findings.expander.children(node))


class _Validator:
    def __init__(self, ast: Ast, findings: Findings) -> None:
        self.text = ast.text
        self.types = findings.types
        self.overloads = findings.overloads
        self.issues: list[Issue] = []

    def visit(self, node: Node, exempt: bool) -> None:
        match node:
            case Call():
                self._call(node)
            case ListLiteral() if not exempt:
                self._list(node)
            case MapLiteral() if not exempt:
                self._map(node)
            case _:
                pass

    def _report(self, node: Node, message: str) -> None:
        self.issues.append(issue_at(self.text, node.position, message))

    def _call(self, node: Call) -> None:
        check = _ARGUMENTS.get(node.function)
        if check is not None and node.arguments:
            argument = node.arguments[0]
            if isinstance(argument, Literal) and not check(argument.value):
                self._report(argument, f"invalid {node.function} argument")
        if node.function == "format" and isinstance(node.target, Literal) and isinstance(node.target.value, str):
            self._format(node, node.target.value)

    # One type in a literal.

    def _list(self, node: ListLiteral) -> None:
        first: Type | None = None
        for index, element in enumerate(node.elements):
            type = self._element_type(element, index in node.optional)
            if first is None:
                first = type
            elif not is_equivalent(first, type):
                self._mismatch(element, first, type)
                break

    def _map(self, node: MapLiteral) -> None:
        first: tuple[Type, Type] | None = None
        for entry in node.entries:
            key, value = self._entry_types(entry)
            if first is None:
                first = (key, value)
                continue
            if not is_equivalent(first[0], key):
                self._mismatch(entry.key, first[0], key)
            if not is_equivalent(first[1], value):
                self._mismatch(entry.value, first[1], value)

    def _entry_types(self, entry: MapEntry) -> tuple[Type, Type]:
        return self.types[entry.key.id], self._element_type(entry.value, entry.optional)

    def _element_type(self, node: Node, optional: bool) -> Type:
        type = self.types[node.id]
        if not optional:
            return type
        if not is_optional(type):
            issue = issue_at(self.text, node.position, f"optional element of type '{describe(type)}'")
            raise CompileError(self.text, (issue,))
        return type.parameters[0]

    def _mismatch(self, node: Node, expected: Type, found: Type) -> None:
        self._report(node, f"expected type '{describe(expected)}' but found '{describe(found)}'")

    # The arguments of a format string.

    def _format(self, node: Call, template: str) -> None:
        arguments = node.arguments[0] if len(node.arguments) == 1 else None
        if not isinstance(arguments, ListLiteral) or "string_format" not in self.overloads.get(node.id, ("string_format",)):
            return
        try:
            used = self._clauses(template, arguments.elements)
        except _FormatError as error:
            self._report(error.node or node, str(error))
            return
        if len(arguments.elements) > used:
            message = f"too many arguments supplied to string.format (expected {used}, got {len(arguments.elements)})"
            self._report(node, message)

    def _clauses(self, template: str, arguments: tuple[Node, ...]) -> int:
        """Check each clause against its argument; how many there are."""
        # The reference reads bytes; a clause letter that is none of ASCII is refused either way.
        position = used = 0
        while (position := template.find("%", position)) >= 0:
            position += 1
            if template.startswith("%", position):
                position += 1
                continue
            if position >= len(template):
                raise _FormatError("unexpected end of string")
            if used >= len(arguments):
                raise _FormatError(f"index {used} out of range")
            position = self._precision(template, position)
            self._clause(template[position], arguments[used])
            position += 1
            used += 1
        return used

    def _precision(self, template: str, position: int) -> int:
        if template[position] != ".":
            return position
        start = position = position + 1
        while position < len(template) and template[position] in "0123456789":
            position += 1
        wrong = "could not parse formatting clause: error while parsing precision: "
        if position >= len(template):
            raise _FormatError(f"{wrong}could not find end of precision specifier")
        digits = template[start:position]
        if not digits:
            raise _FormatError(f'{wrong}error while converting precision to integer: strconv.Atoi: parsing "": invalid syntax')
        if len(digits.lstrip("0")) > 19 or int(digits) > 2**63 - 1:
            reason = f'strconv.Atoi: parsing "{digits}": value out of range'
            raise _FormatError(f"{wrong}error while converting precision to integer: {reason}")
        return position

    def _clause(self, letter: str, argument: Node) -> None:
        if letter == "s":
            wrong = self._unprintable(argument)
            if wrong is not None:
                raise _FormatError(f"error during formatting: {_STRING_RULE}, was given {self.types[wrong.id].name}", wrong)
            return
        if letter not in _CLAUSES:
            raise _FormatError(f'could not parse formatting clause: unrecognized formatting clause "{letter}"')
        rule, kinds = _CLAUSES[letter]
        type = self.types[argument.id]
        if type.kind is not Kind.DYN and type.kind not in kinds:
            raise _FormatError(f"error during formatting: {rule}, was given {type.name}", argument)

    def _unprintable(self, node: Node) -> Node | None:
        """The first part of an argument that `%s` cannot print, if its type tells."""
        kind = self.types[node.id].kind
        if kind is not Kind.DYN and kind not in _PRINTABLE:
            return node
        parts: tuple[Node, ...] = ()
        if isinstance(node, ListLiteral):
            parts = node.elements
        elif isinstance(node, MapLiteral):
            parts = tuple(part for entry in node.entries for part in (entry.key, entry.value))
        return next((wrong for part in parts if (wrong := self._unprintable(part)) is not None), None)


class _FormatError(Exception):
    def __init__(self, message: str, node: Node | None = None) -> None:
        self.node = node
        super().__init__(message)


_STRING_RULE = (
    "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"
)
_PRINTABLE = frozenset(
    {
        Kind.LIST,
        Kind.MAP,
        Kind.INT,
        Kind.UINT,
        Kind.DOUBLE,
        Kind.BOOL,
        Kind.STRING,
        Kind.TIMESTAMP,
        Kind.BYTES,
        Kind.DURATION,
        Kind.TYPE,
        Kind.NULL,
    }
)
_INTEGERS = frozenset({Kind.INT, Kind.UINT})
_HEX_RULE = "only integers, byte buffers, and strings can be formatted as hex"
_HEX = _INTEGERS | {Kind.STRING, Kind.BYTES}
# Strings pass as "NaN" and "Infinity".
_FLOATS = frozenset({Kind.DOUBLE, Kind.STRING})
_CLAUSES = {
    "d": ("decimal clause can only be used on integers", _INTEGERS),
    "f": ("fixed-point clause can only be used on doubles", _FLOATS),
    "e": ("scientific clause can only be used on doubles", _FLOATS),
    "b": ("only integers and bools can be formatted as binary", _INTEGERS | {Kind.BOOL}),
    "x": (_HEX_RULE, _HEX),
    "X": (_HEX_RULE, _HEX),
    "o": ("octal clause can only be used on integers", _INTEGERS),
}


def _is_duration(value: object) -> bool:
    try:
        parse_duration(str(value))
    except ValueError:
        return False
    return True


def _is_timestamp(value: object) -> bool:
    try:
        if isinstance(value, int):
            timestamp_from_unix(value)
        else:
            parse_timestamp(str(value))
    except (ValueError, Failure):
        return False
    return True


def _is_pattern(value: object) -> bool:
    try:
        compile_pattern(str(value))
    except PatternError:
        return False
    return True


# `matches` is checked by its first argument: the pattern of `s.matches(p)`, but the string of `matches(s, p)`. So does the
# reference.
_ARGUMENTS: dict[str, Callable[[object], bool]] = {
    "duration": _is_duration,
    "timestamp": _is_timestamp,
    "matches": _is_pattern,
}
