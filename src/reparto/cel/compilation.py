"""The front end in one step: text and environment in, checked tree with types, result type and estimated cost out."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from reparto.cel.ast import (
    Ast,
    Call,
    Ident,
    Literal,
    LiteralKind,
    MapEntry,
    Node,
    Select,
    StructField,
)
from reparto.cel.checker import Findings, check_types
from reparto.cel.environment import Environment
from reparto.cel.errors import CompileError
from reparto.cel.estimate import estimate
from reparto.cel.messages import CONSTANTS
from reparto.cel.parser import parse
from reparto.cel.types import ANY, BOOL, DYN, INT, SEMVER, STRING, Kind, Type
from reparto.cel.unification import is_exact
from reparto.cel.validators import validate_literals


class CheckedExpression(msgspec.Struct, frozen=True, eq=False):
    """An expression that the reference would accept.

    In `ast`, names are resolved: a qualified type name is one identifier, a namespaced function has no target. `types` and
    `overloads` are keyed by node id; nodes that only exist in expanded macros are among them. `estimate` is the worst-case cost;
    the API server refuses new selectors above 1,000,000.
    """

    ast: Ast
    environment: Environment
    derived: bool
    types: Mapping[int, Type]
    overloads: Mapping[int, tuple[str, ...]]
    output_type: Type
    estimate: int
    findings: Findings
    """What the checker found, macro expansions included: evaluators need the same nodes."""


def check(text: str, environment: Environment, *, derived: bool = False) -> CheckedExpression:
    """Parse, check and estimate an expression.

    `derived` applies the result rule of derived attributes instead of that of device selectors. Raises `CompileError`. What can
    only be found while a program is built (a constant conversion that fails) is left to whoever builds it.
    """
    ast = parse(text, sort_by=environment.allows_sort_by)
    findings = check_types(ast, environment)
    if not findings.issues:
        findings.issues.extend(validate_literals(ast, findings))
    if findings.issues:
        raise CompileError(text, tuple(findings.issues))
    output = findings.types[ast.root.id]
    _check_output(text, output, environment, derived)
    if findings.undefined:
        raise CompileError(text, prefix=f"program instantiation failed: reference to undefined type: {findings.undefined[0][1]}")
    cost = estimate(ast.root, findings, environment)
    resolved = _Resolver(findings).tree(ast)
    return CheckedExpression(resolved, environment, derived, findings.types, findings.overloads, output, cost, findings)


def _check_output(text: str, output: Type, environment: Environment, derived: bool) -> None:
    if not derived:
        if not is_exact(output, BOOL) and not is_exact(output, environment.attribute_type):
            raise CompileError(text, prefix=f"must evaluate to bool or the unknown type, not {output}")
        return
    lists = environment.stored or environment.list_attributes
    allowed = _is_attribute_scalar(output)
    if lists and output.kind is Kind.LIST:
        allowed = _is_attribute_scalar(output.parameters[0])
    if not allowed:
        kinds = "a primitive scalar (string, integer, boolean, semver)"
        if lists:
            kinds += " or a list of these scalars"
        raise CompileError(text, prefix=f"must evaluate to {kinds}, not {output}")


def _is_attribute_scalar(type: Type) -> bool:
    return any(is_exact(type, allowed) for allowed in (BOOL, INT, STRING, ANY, DYN, SEMVER))


class _Resolver:
    """Writes resolved names into a tree."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings

    def tree(self, ast: Ast) -> Ast:
        if not self._findings.identifiers and not self._findings.functions:
            return ast
        return msgspec.structs.replace(ast, root=self._node(ast.root))

    def _node(self, node: Node) -> Node:
        name = self._findings.identifiers.get(node.id)
        if name is not None and isinstance(node, Select | Ident):
            if name in CONSTANTS:
                return Literal(node.id, node.start, node.end, node.position, LiteralKind.INT, CONSTANTS[name])
            return Ident(node.id, node.start, node.end, node.position, name)
        if node.id in self._findings.functions and isinstance(node, Call):
            arguments = tuple(map(self._node, node.arguments))
            function = self._findings.functions[node.id]
            return msgspec.structs.replace(node, function=function, target=None, arguments=arguments)
        changes: dict[str, object] = {}
        for field in node.__struct_fields__:
            value: object = getattr(node, field)
            resolved = self._value(value)
            if resolved is not value:
                changes[field] = resolved
        return msgspec.structs.replace(node, **changes) if changes else node

    def _value(self, value: object) -> object:
        match value:
            case Node():
                return self._node(value)
            case MapEntry():
                return msgspec.structs.replace(value, key=self._node(value.key), value=self._node(value.value))
            case StructField():
                return msgspec.structs.replace(value, value=self._node(value.value))
            case tuple() if value and isinstance(value[0], Node | MapEntry | StructField):
                return tuple(map(self._value, value))  # pyright: ignore[reportUnknownArgumentType]: a tuple of one of these
            case _:
                return value
