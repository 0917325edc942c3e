"""The fast back end: one Python function per selector.

A selector is evaluated for every device of a cluster, so what counts is the common case: comparing attributes and capacities with
constants. The generated function knows nothing about costs and absorbs no errors. It is sound because expressions have no side
effects: whenever anything raises, its work is thrown away and the exact evaluator decides; and where it returns, `and`, `or` and
`if` have looked at no more than the exact evaluator needs. It only runs for devices within the API's bounds and for expressions
whose worst case fits the cost limit, so it needs no budget of its own.

The source is made of fixed fragments, of literals written by `repr`, and of names made up here; no text of the expression gets into
it. A static type is relied upon only where the value's origin proves it (a literal, a capacity, the result of a function): the
checker lets `dyn` pass as anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from reparto.cel.ast import (
    Bind,
    Call,
    Comprehension,
    Conditional,
    Has,
    Ident,
    Index,
    ListLiteral,
    Literal,
    LiteralKind,
    Logical,
    MapLiteral,
    Node,
    OptionalMap,
    Select,
    SortBy,
)
from reparto.cel.calls import dispatcher, operation
from reparto.cel.compilation import CheckedExpression
from reparto.cel.compiled_runtime import NAMESPACE, Unsupported, member_of
from reparto.cel.device import Device
from reparto.cel.environment import DEVICE_VARIABLE
from reparto.cel.folding import literal_value, lookup_set
from reparto.cel.functions import BY_FUNCTION, standard
from reparto.cel.functions.regex import WITH_CONSTANT_PATTERN, compile_pattern
from reparto.cel.types import Kind
from reparto.cel.values import TypeValue, UInt, Value
from reparto.model.quantity import Quantity, QuantityError
from reparto.model.semver import Semver, SemverError

Match = Callable[[Device], bool]

_ORDER: Final = {
    "_<_": ("<", standard.less),
    "_<=_": ("<=", standard.less_or_equal),
    "_>_": (">", standard.greater),
    "_>=_": (">=", standard.greater_or_equal),
}
_COMPARE_WITH_ZERO: Final = {"_<_": "<", "_<=_": "<=", "_>_": ">", "_>=_": ">=", "_==_": "==", "_!=_": "!="}
_COMPARED: Final = {"quantity_compare_to": "nano", "semver_compare_to": "key"}
_RELATIONS: Final = {
    "quantity_is_greater_than": ("nano", ">"),
    "quantity_is_less_than": ("nano", "<"),
    "semver_is_greater_than": ("key", ">"),
    "semver_is_less_than": ("key", "<"),
}
_LITERAL_TYPES: Final = {
    LiteralKind.BOOL: "bool",
    LiteralKind.INT: "int",
    LiteralKind.STRING: "str",
}
_RESULT_TYPES: Final = {Kind.BOOL: "bool", Kind.INT: "int", Kind.STRING: "str"}
_RESULT_FROM_ELEMENTS: Final = frozenset(
    ("value", "orValue", "or", "min", "max", "sum", "_[_]", "dyn", "_+_", "_-_", "_*_", "_/_", "_%_")
)
"""Functions whose result is only as sure as their operands."""


class Code(NamedTuple):
    """Python source of an expression and the name of the Python type that it surely has, None if unsure."""

    source: str
    type: str | None = None
    simple: bool = False  # a name or literal, free to be written twice


Steps = tuple[Node | str, ...]


def compile_fast(checked: CheckedExpression, exact: Match) -> Match | None:
    """The function for an expression, None where there is none. `exact` answers whatever the function cannot."""
    try:
        return _Generator(checked, exact).function()
    except (Unsupported, SyntaxError, RecursionError, MemoryError):
        # CPython limits the nesting of parentheses; such expressions are evaluated exactly.
        return None


class _Generator:
    def __init__(self, checked: CheckedExpression, exact: Match) -> None:
        self.checked = checked
        self.findings = checked.findings
        self.functions = checked.environment.functions
        self.namespace: dict[str, Any] = {**NAMESPACE, "exact": exact}
        self.domains: dict[tuple[str, str], str] = {}
        self.variables: dict[str, Code | Steps] = {}
        self.count = 0
        self.walrus = True

    def function(self) -> Match:
        result = self.boolean(self.checked.ast.root)
        lines = [
            "def matches(device):",
            " try:",
            "  if device.regular:",
            *(f"   {name} = device.{section}.get({domain!r}, nothing)" for (section, domain), name in self.domains.items()),
            f"   return {result}",
            # Anything at all may have gone wrong; the exact evaluator finds out what.
            " except Exception:",
            "  pass",
            " return exact(device)",
        ]
        exec(compile("\n".join(lines), "<selector>", "exec"), self.namespace)
        return self.namespace["matches"]

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def bind(self, value: Any) -> str:
        """A name for a constant."""
        name = self.name("k")
        self.namespace[name] = value
        return name

    def boolean(self, node: Node) -> str:
        code = self.code(node)
        return code.source if code.type == "bool" else f"as_bool({code.source})"

    def source(self, node: Node) -> str:
        return self.code(node).source

    def code(self, node: Node) -> Code:
        steps = self.steps(node)
        if steps is not None:
            return self.path(steps)
        match node:
            case Literal():
                return self.literal(node)
            case Ident():
                return self.ident(node)
            case Select():
                if node.id in self.findings.identifiers:
                    raise Unsupported
                return Code(f"select({self.source(node.operand)}, {node.field!r}, {node.optional})")
            case Index():
                return Code(f"select({self.source(node.operand)}, {self.source(node.key)}, {node.optional})")
            case Has():
                return self.has(node)
            case Logical():
                word = " and " if node.operator == "&&" else " or "
                return Code(f"({word.join(map(self.boolean, node.terms))})", "bool")
            case Conditional():
                condition, then, otherwise = self.boolean(node.condition), self.code(node.then), self.code(node.otherwise)
                same = then.type if then.type == otherwise.type else None
                return Code(f"({then.source} if {condition} else {otherwise.source})", same)
            case ListLiteral():
                return self.list_literal(node)
            case MapLiteral():
                return self.map_literal(node)
            case Call():
                return self.call(node)
            case Comprehension():
                return self.comprehension(node)
            case Bind():
                return self.binding(node)
            case OptionalMap():
                return Code(f"map_optional({self.source(node.target)}, {self.function_of(node.variable, node.body)}, {node.flat})")
            case SortBy():
                return Code(f"sort_by({self.source(node.target)}, {self.function_of(node.variable, node.body)})")
            case _:
                raise Unsupported

    # Leaves

    def literal(self, node: Literal) -> Code:
        value = literal_value(node)
        if isinstance(value, UInt | float):
            # `nan` and `inf` have no literal, and an unsigned integer is a class of its own.
            return Code(self.bind(value), None, True)
        return Code(repr(value), _LITERAL_TYPES.get(node.kind), True)

    def ident(self, node: Ident) -> Code:
        found = self.variables.get(node.name)
        if isinstance(found, Code):
            return found
        declared = self.findings.types[node.id]
        if declared.kind is not Kind.TYPE or node.id in self.findings.identifiers:
            raise Unsupported
        return Code(self.bind(TypeValue(declared.parameters[0].name if declared.parameters else "type")), None, True)

    def variable(self, node: Ident, code: Code | Steps) -> _Scope:
        return _Scope(self.variables, {node.name: code})

    def function_of(self, variable: Ident, body: Node) -> str:
        name = self.name("v")
        with self.variable(variable, Code(name, None, True)):
            return f"lambda {name}: {self.source(body)}"

    # The device

    def steps(self, node: Node) -> Steps | None:
        """The way from `device` to a node by fixed names, None if it is something else."""
        match node:
            case Ident(name=name):
                if name in self.variables:
                    found = self.variables[name]
                    return None if isinstance(found, Code) else found
                return () if name == DEVICE_VARIABLE else None
            case Select(operand=operand, field=field, optional=False) if node.id not in self.findings.identifiers:
                base = self.steps(operand)
                return None if base is None else (*base, field)
            case Index(operand=operand, key=Literal(kind=LiteralKind.STRING, value=str() as key), optional=False):
                base = self.steps(operand)
                return None if not base else (*base, key)
            case _:
                return None

    def path(self, steps: Steps) -> Code:
        match steps:
            case ():
                return Code("device.variable()")
            case ("driver",):
                return Code("device.driver", "str", True)
            case ("allowMultipleAllocations",):
                return Code("device.allow_multiple_allocations", "bool", True)
            case ("attributes" | "capacity" as section, str() as domain, str() as name):
                quantity = "quantity" if section == "capacity" else None
                return Code(f"{self.domain(section, domain)}[{name!r}]", quantity)
            case (str() as first,):
                return Code(f"device.variable().entries[{first!r}]")
            case (*base, str() as last):
                return Code(f"select({self.path(tuple(base)).source}, {last!r})")
            case _:
                raise Unsupported

    def domain(self, section: str, domain: str) -> str:
        key = ("domains" if section == "attributes" else "capacities", domain)
        if key not in self.domains:
            self.domains[key] = self.name("d")
        return self.domains[key]

    def domain_of(self, node: Node) -> str | None:
        """The dict behind `device.attributes["domain"]`, if that is what a node is."""
        match self.steps(node):
            case ("attributes" | "capacity" as section, str() as domain):
                return self.domain(section, domain)
            case _:
                return None

    def has(self, node: Has) -> Code:
        steps = self.steps(node.operand)
        if steps is not None and len(steps) == 1 and steps[0] in ("attributes", "capacity"):
            return Code("True", "bool")
        domain = self.domain_of(node.operand)
        if domain is not None:
            return Code(f"({node.field!r} in {domain})", "bool")
        return Code(f"has({self.source(node.operand)}, {node.field!r})", "bool")

    def optional_entry(self, node: Node) -> tuple[str, str] | None:
        """Dict and name of `device.attributes["domain"].?name`."""
        match node:
            case Select(operand=operand, field=str() as name, optional=True):
                domain = self.domain_of(operand)
            case Index(operand=operand, key=Literal(kind=LiteralKind.STRING, value=str() as name), optional=True):
                domain = self.domain_of(operand)
            case _:
                return None
        return None if domain is None else (domain, name)

    # Literals

    def constant(self, node: Node) -> Value:
        """The value of a literal, or of a list or map of literals. Raises Unsupported for anything else."""
        match node:
            case Literal():
                return literal_value(node)
            case ListLiteral() if not node.optional:
                return tuple(map(self.constant, node.elements))
            case _:
                raise Unsupported

    def list_literal(self, node: ListLiteral) -> Code:
        if node.optional:
            raise Unsupported
        try:
            return Code(self.bind(self.constant(node)), None, True)
        except Unsupported:
            return Code(f"({''.join(f'{self.source(element)}, ' for element in node.elements)})")

    def map_literal(self, node: MapLiteral) -> Code:
        if any(entry.optional for entry in node.entries):
            raise Unsupported
        pairs = "".join(f"({self.source(entry.key)}, {self.source(entry.value)}), " for entry in node.entries)
        return Code(f"build_map(({pairs}))")

    # Calls

    def call(self, node: Call) -> Code:
        function = self.findings.functions.get(node.id, node.function)
        namespaced = node.id in self.findings.functions
        operands = node.arguments if node.target is None or namespaced else (node.target, *node.arguments)
        overloads = self.findings.overloads.get(node.id, ())
        overload = overloads[0] if len(overloads) == 1 else ""
        if function in _COMPARE_WITH_ZERO:
            special = self.comparison_with_zero(function, operands)
            if special is not None:
                return special
        if function in ("_==_", "_!=_"):
            same = self.equality(operands)
            return Code(same if function == "_==_" else f"(not {same})", "bool")
        if function in _ORDER:
            return self.ordering(function, operands)
        if function == "@in":
            return self.membership(operands)
        if overload in _RELATIONS:
            field, operator = _RELATIONS[overload]
            return Code(f"({self.field(operands[0], field)} {operator} {self.field(operands[1], field)})", "bool")
        match function:
            case "orValue" | "or" | "hasValue":
                return self.optional_call(function, operands)
            case "startsWith" | "endsWith" | "contains":
                return self.text_test(function, operands)
            case "!_":
                return Code(f"(not {self.boolean(operands[0])})", "bool")
            case "matches" | "find" | "findAll" if isinstance(operands[1], Literal):
                return self.pattern_call(function, operands)
            case "quantity" | "semver" if len(operands) == 1 and isinstance(operands[0], Literal):
                return self.parsed(function, operands[0])
            case _:
                return self.other_call(node, function, overload, operands)

    def other_call(self, node: Call, function: str, overload: str, operands: Sequence[Node]) -> Code:
        if function in BY_FUNCTION:
            implementation = operation(function)
        else:
            declared = self.functions[function]
            implementation = dispatcher(function, [item for item in declared if not overload or item.id == overload])
        arguments = ", ".join(map(self.source, operands))
        sure = None if function in _RESULT_FROM_ELEMENTS else _RESULT_TYPES.get(self.findings.types[node.id].kind)
        return Code(f"{self.bind(implementation)}({arguments})", sure)

    def twice(self, code: Code) -> tuple[str, str] | None:
        """Source that evaluates the code, and source that reads the result again; None where that cannot be written."""
        if code.simple:
            return code.source, code.source
        if not self.walrus:
            return None
        name = self.name("x")
        return f"({name} := {code.source})", name

    def guarded(self, code: Code, type: str, test: Callable[[str], str], otherwise: Callable[[str], str]) -> str:
        """`test` where the value has the type, else `otherwise`."""
        if code.type == type:
            return f"({test(code.source)})"
        pair = self.twice(code) if code.type is None else None
        if pair is None:
            return otherwise(code.source)
        first, again = pair
        return f"({test(again)} if type({first}) is {type} else {otherwise(again)})"

    def equality(self, operands: Sequence[Node]) -> str:
        left, right = map(self.code, operands)
        if left.type is not None and left.type == right.type and left.type != "quantity":
            return f"({left.source} == {right.source})"
        if right.simple and right.type is not None:
            other = right.source
            return self.guarded(left, right.type, lambda again: f"{again} == {other}", lambda again: f"equal({again}, {other})")
        return f"equal({left.source}, {right.source})"

    def ordering(self, function: str, operands: Sequence[Node]) -> Code:
        operator, implementation = _ORDER[function]
        left, right = map(self.code, operands)
        slow = self.bind(implementation)
        if left.type in ("int", "str") and left.type == right.type:
            return Code(f"({left.source} {operator} {right.source})", "bool")
        if right.simple and right.type in ("int", "str"):
            other = right.source
            return Code(
                self.guarded(
                    left, right.type, lambda again: f"{again} {operator} {other}", lambda again: f"{slow}({again}, {other})"
                ),
                "bool",
            )
        return Code(f"{slow}({left.source}, {right.source})", "bool")

    def comparison_with_zero(self, function: str, operands: Sequence[Node]) -> Code | None:
        """`a.compareTo(b) >= 0` compares what orders a and b."""
        compared, zero = operands
        if not isinstance(compared, Call) or compared.function != "compareTo" or compared.target is None:
            return None
        if not isinstance(zero, Literal) or zero.kind is not LiteralKind.INT or zero.value != 0:
            return None
        overloads = self.findings.overloads.get(compared.id, ())
        field = _COMPARED.get(overloads[0]) if len(overloads) == 1 else None
        if field is None:
            return None
        left, right = self.field(compared.target, field), self.field(compared.arguments[0], field)
        return Code(f"({left} {_COMPARE_WITH_ZERO[function]} {right})", "bool")

    def field(self, node: Node, field: str) -> str:
        """What a quantity or version is ordered by. Only they have it: any other value raises."""
        if isinstance(node, Call) and node.function in ("quantity", "semver") and len(node.arguments) == 1 and node.target is None:
            argument = node.arguments[0]
            if isinstance(argument, Literal) and isinstance(argument.value, str):
                try:
                    if node.function == "quantity" and field == "nano":
                        return repr(Quantity.parse(argument.value).nano)
                    if node.function == "semver" and field == "key":
                        return self.bind(Semver.parse(argument.value).key)
                except (QuantityError, SemverError, ValueError):
                    raise Unsupported from None
        return f"{self.source(node)}.{field}"

    def parsed(self, function: str, text: Literal) -> Code:
        if not isinstance(text.value, str):
            raise Unsupported
        try:
            value = Quantity.parse(text.value) if function == "quantity" else Semver.parse(text.value)
        except (QuantityError, SemverError):
            raise Unsupported from None
        return Code(self.bind(value), "quantity" if function == "quantity" else None, True)

    def membership(self, operands: Sequence[Node]) -> Code:
        wanted, collection = operands
        domain = self.domain_of(collection)
        left = self.code(wanted)
        if domain is not None and left.type == "str":
            return Code(f"({left.source} in {domain})", "bool")
        if not isinstance(collection, ListLiteral):
            return Code(f"is_in({left.source}, {self.source(collection)})", "bool")
        if not collection.elements:
            return Code("False", "bool")
        values = self.constant(collection)
        keys = lookup_set(values)
        if keys is None:
            return Code(f"is_in({left.source}, {self.bind(values)})", "bool")
        member = self.bind(member_of(keys))
        if all(type(value) is str for value in values):
            names = self.bind(frozenset(values))
            source = self.guarded(left, "str", lambda again: f"{again} in {names}", lambda again: f"{member}({again})")
            return Code(source, "bool")
        return Code(f"{member}({left.source})", "bool")

    def optional_call(self, function: str, operands: Sequence[Node]) -> Code:
        entry = self.optional_entry(operands[0])
        if function == "hasValue":
            if entry is not None:
                return Code(f"({entry[1]!r} in {entry[0]})", "bool")
            return Code(f"{self.bind(dispatcher('hasValue', self.functions['hasValue']))}({self.source(operands[0])})", "bool")
        if function == "or":
            return Code(f"or_other({self.source(operands[0])}, lambda: {self.source(operands[1])})")
        if entry is not None:
            otherwise = self.code(operands[1])
            if otherwise.simple:
                return Code(f"{entry[0]}.get({entry[1]!r}, {otherwise.source})")
        return Code(f"or_value({self.source(operands[0])}, lambda: {self.source(operands[1])})")

    def text_test(self, function: str, operands: Sequence[Node]) -> Code:
        left, right = map(self.code, operands)
        slow = self.bind(operation(function))
        if right.type != "str" or not right.simple:
            return Code(f"{slow}({left.source}, {right.source})", "bool")
        other = right.source
        method = {"startsWith": "startswith", "endsWith": "endswith", "contains": "__contains__"}[function]
        source = self.guarded(left, "str", lambda again: f"{again}.{method}({other})", lambda again: f"{slow}({again}, {other})")
        return Code(source, "bool")

    def pattern_call(self, function: str, operands: Sequence[Node]) -> Code:
        pattern = operands[1]
        if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
            raise Unsupported
        slow = self.bind(WITH_CONSTANT_PATTERN[function])
        if function != "matches":
            arguments = ", ".join(map(self.source, operands))
            return Code(f"{slow}({arguments})", "str" if function == "find" else None)
        search = self.bind(compile_pattern(pattern.value).search)
        text = pattern.value
        source = self.guarded(
            self.code(operands[0]),
            "str",
            lambda again: f"{search}({again}) is not None",
            lambda again: f"{slow}({again}, {text!r})",
        )
        return Code(source, "bool")

    # Macros

    def comprehension(self, node: Comprehension) -> Code:
        # Python forbids assignment expressions in the iterable of a generator.
        allowed, self.walrus = self.walrus, False
        range_source = self.source(node.range)
        self.walrus = allowed
        names = [self.name("v") for _ in node.variables]
        inner = {variable.name: Code(name, None, True) for variable, name in zip(node.variables, names, strict=True)}
        with _Scope(self.variables, inner):
            loop = f"for {', '.join(names)} in {'pairs' if len(names) == 2 else 'elements'}({range_source})"
            condition = "" if node.filter is None else f" if {self.boolean(node.filter)}"
            match node.macro:
                case "all" | "exists" | "exists_one":
                    call = {"all": "all", "exists": "any", "exists_one": "one"}[node.macro]
                    return Code(f"{call}({self.boolean(node.body)} {loop})", "bool")
                case "filter":
                    return Code(f"tuple({names[0]} {loop} if {self.boolean(node.body)})")
                case "map" | "transformList":
                    return Code(f"tuple({self.source(node.body)} {loop}{condition})")
                case "transformMap":
                    return Code(f"insert_all(({names[0]}, {self.source(node.body)}) {loop}{condition})")
                case "transformMapEntry":
                    return Code(f"insert_all(merged({self.source(node.body)} {loop}{condition}))")
                case _:
                    raise Unsupported

    def binding(self, node: Bind) -> Code:
        steps = self.steps(node.value)
        if steps is not None:
            with self.variable(node.variable, steps):
                return self.code(node.body)
        value = self.code(node.value)
        name = self.name("v")
        with self.variable(node.variable, Code(name, value.type, True)):
            body = self.code(node.body)
        return Code(f"(lambda {name}: {body.source})({value.source})", body.type)


class _Scope:
    """Variables of a macro, for as long as its body is generated."""

    def __init__(self, variables: dict[str, Code | Steps], inner: dict[str, Code] | dict[str, Code | Steps]) -> None:
        self.variables = variables
        self.inner = inner
        self.outer: dict[str, Code | Steps] = {}

    def __enter__(self) -> None:
        self.outer = {name: self.variables[name] for name in self.inner if name in self.variables}
        self.variables.update(self.inner)

    def __exit__(self, *exception: object) -> None:
        for name in self.inner:
            del self.variables[name]
        self.variables.update(self.outer)
