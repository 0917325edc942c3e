"""Gives every node of a tree its type and its overloads, or says what is wrong.

Follows cel-go's checker as Kubernetes configures it: ordering across numeric types, optional types.
All mistakes are reported at once, each at the place that the reference names. Macros are checked as the loops that they stand for.
"""

from __future__ import annotations

from reparto.cel import messages
from reparto.cel.ast import (
    Ast,
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
    StructLiteral,
)
from reparto.cel.declarations import Overload
from reparto.cel.environment import DEVICE_VARIABLE, Environment
from reparto.cel.errors import Issue, issue_at
from reparto.cel.expansion import Expander, Fold
from reparto.cel.types import (
    BOOL,
    BYTES,
    DEVICE,
    DOUBLE,
    DYN,
    ERROR,
    INT,
    NULL,
    STRING,
    UINT,
    Kind,
    Type,
    describe,
    is_dyn,
    is_optional,
    list_of,
    map_of,
    optional_of,
    type_of,
)
from reparto.cel.unification import Unifier, instantiate, is_exact, may_fit, most_general

MAX_ISSUES = 100

_LITERALS = {
    LiteralKind.NULL: NULL,
    LiteralKind.BOOL: BOOL,
    LiteralKind.INT: INT,
    LiteralKind.UINT: UINT,
    LiteralKind.DOUBLE: DOUBLE,
    LiteralKind.STRING: STRING,
    LiteralKind.BYTES: BYTES,
}


class Findings:
    """What the checker learned about a tree, by node id. Nodes made up while expanding macros are among them."""

    def __init__(self, ast: Ast) -> None:
        self.expander = Expander(ast)
        self.types: dict[int, Type] = {}
        self.overloads: dict[int, tuple[str, ...]] = {}
        self.identifiers: dict[int, str] = {}
        """Selections and identifiers that name something under another name than the text says (`net.IP`, `.device`)."""
        self.functions: dict[int, str] = {}
        """Member calls that are calls of a namespaced function (`optional.of`)."""
        self.undefined: list[tuple[int, str]] = []
        """Type names, with their position, that check but have no value at run time."""
        self.issues: list[Issue] = []


def check_types(ast: Ast, environment: Environment) -> Findings:
    """Types, overloads and issues of a tree. Types are final: variables that stayed free are `dyn`."""
    checker = _Checker(ast, environment)
    checker.check(ast.root)
    findings = checker.findings
    resolve = checker.unifier.resolve
    findings.types = {id: resolve(type, True) for id, type in findings.types.items()}
    return findings


class _Checker:
    def __init__(self, ast: Ast, environment: Environment) -> None:
        self.text = ast.text
        self.environment = environment
        self.functions = environment.functions
        self.findings = Findings(ast)
        self.unifier = Unifier()
        self.types = self.findings.types
        self.scopes: list[dict[str, Type]] = []

    def check(self, node: Node) -> Type:
        """Check a node and what is below it; its type, with variables that may yet be learned."""
        type = self._type(node)
        self.types[node.id] = type
        return type

    def _type(self, node: Node) -> Type:
        match node:
            case Literal():
                return _LITERALS[node.kind]
            case Ident():
                return self._ident(node)
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case Logical():
                return self._logical(node)
            case Index():
                return self._overloaded(node, node.function, None, (self.check(node.operand), self.check(node.key)))
            case Conditional():
                types = (self.check(node.condition), self.check(node.then), self.check(node.otherwise))
                return self._overloaded(node, "_?_:_", None, types)
            case ListLiteral():
                return self._list(node)
            case MapLiteral():
                return self._map(node)
            case Has():
                self._field(node, node.operand, node.field, False)
                return BOOL
            case Fold():
                return self._fold(node)
            case Comprehension() | Bind() | OptionalMap() | SortBy():
                return self._type(self.findings.expander.expand(node))
            case StructLiteral():
                return self._message(node)
            case _:
                raise TypeError(f"no such node: {type(node).__name__}")

    def _report(self, position: int, message: str) -> None:
        if len(self.findings.issues) < MAX_ISSUES:
            self.findings.issues.append(issue_at(self.text, position, message))

    def _mismatch(self, position: int, expected: Type, found: Type) -> None:
        self._report(position, f"expected type '{describe(expected)}' but found '{describe(found)}'")

    def _undeclared(self, node: Node, name: str) -> Type:
        self._report(node.position, f"undeclared reference to '{name}' (in container '')")
        return ERROR

    # Names.

    def _local(self, name: str) -> Type | None:
        """Type of a variable of an enclosing macro."""
        name = name.removeprefix(".")
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def _global(self, name: str) -> tuple[Type, bool] | None:
        """Type of the device variable, a type name or a constant, and whether it has a value at run time."""
        if name == DEVICE_VARIABLE:
            return DEVICE, True
        if name in messages.CONSTANTS:
            return INT, True
        if name in messages.DEFINED:
            return type_of(messages.DEFINED[name]), True
        instance = self._declared_type(name)
        return None if instance is None else (type_of(instance), False)

    def _declared_type(self, name: str) -> Type | None:
        if name in messages.DECLARED:
            return messages.DECLARED[name]
        if not name.startswith(DEVICE.name):
            return None
        if name == DEVICE.name:
            return DEVICE
        # The reference registers the maps of the device type under made-up names.
        field, _, rest = name.removeprefix(f"{DEVICE.name}.").partition(".")
        type = self.environment.device_fields.get(field)
        if type is None or type.kind is not Kind.MAP:
            return None
        if not rest:
            return type
        return type.parameters[1] if rest == "@elem" else None

    def _ident(self, node: Ident) -> Type:
        local = self._local(node.name)
        if local is not None and not node.name.startswith("."):
            return local
        return self._named(node, node.name, local is not None) or self._undeclared(node, node.name)

    def _named(self, node: Node, name: str, shadowed: bool) -> Type | None:
        """A global under a qualified name; `shadowed` ones keep a leading dot, so that nobody takes them for the local variable."""
        name = name.removeprefix(".")
        found = self._global(name)
        if found is None:
            return None
        type, defined = found
        if not defined:
            self.findings.undefined.append((node.position, name))
        if not isinstance(node, Ident) or shadowed or node.name != name:
            self.findings.identifiers[node.id] = f".{name}" if shadowed else name
        return type

    def _select(self, node: Select) -> Type:
        if node.optional:
            self.findings.overloads[node.id] = ("select_optional_field",)
            return self.unifier.resolve(self._field(node, node.operand, node.field, True), False)
        names = qualified_name(node)
        # Global names of more than one part all start with one of these.
        if names is not None and names[0].removeprefix(".") in ("google", "net", "kubernetes"):
            local = self._local(names[0])
            if local is None or names[0].startswith("."):
                type = self._named(node, ".".join(names), local is not None)
                if type is not None:
                    return type
        return self.unifier.resolve(self._field(node, node.operand, node.field, False), False)

    def _field(self, node: Node, operand: Node, field: str, optional: bool) -> Type:
        type = self.unifier.resolve(self.check(operand), False)
        wrapped = is_optional(type)
        if wrapped:
            type = type.parameters[0]
        result = ERROR
        match type.kind:
            case Kind.MAP:
                result = type.parameters[1]
            case Kind.STRUCT:
                result = self._message_field(node.position, type.name, field) or ERROR
            case Kind.TYPE_PARAM:
                self.unifier.is_assignable(DYN, type)
                result = DYN
            case _:
                if type.kind not in (Kind.DYN, Kind.ANY, Kind.ERROR):
                    self._report(node.position, f"type '{describe(type)}' does not support field selection")
                result = DYN
        return optional_of(result) if wrapped or optional else result

    def _message_field(self, position: int, message: str, field: str) -> Type | None:
        fields = self.environment.device_fields if message == DEVICE.name else messages.FIELDS.get(message)
        if fields is None:
            self._report(position, f"unexpected failed resolution of '{message}'")
            return None
        if field not in fields:
            self._report(position, f"undefined field '{field}'")
            return None
        return fields[field]

    # Calls.

    def _call(self, node: Call) -> Type:
        types = tuple(map(self.check, node.arguments))
        name = node.function
        if node.target is None:
            if name.removeprefix(".") not in self.functions:
                return self._undeclared(node, name)
            if name.startswith("."):
                self.findings.functions[node.id] = name[1:]
            return self._overloaded(node, name.removeprefix("."), None, types)
        names = qualified_name(node.target)
        if names is not None:
            qualified = f"{'.'.join(names)}.{name}".removeprefix(".")
            if qualified in self.functions:
                self.findings.functions[node.id] = qualified
                return self._overloaded(node, qualified, None, types)
        target = self.check(node.target)
        if name not in self.functions:
            return self._undeclared(node, name)
        return self._overloaded(node, name, target, types)

    def _overloaded(self, node: Node, name: str, target: Type | None, types: tuple[Type, ...]) -> Type:
        """Result type of a call: that of the only overload that fits, or `dyn` where several fit and differ."""
        if target is not None:
            types = (target, *types)
        unifier = self.unifier
        result: Type | None = None
        ids: list[str] = []
        for overload in self.functions[name]:
            if overload.member is (target is None):
                continue
            if not may_fit(types, overload.arguments):
                unifier.skip(len(overload.type_params))
                continue
            expected, returned = self._instantiated(overload)
            if not unifier.are_assignable(types, expected):
                continue
            ids.append(overload.id)
            returned = unifier.resolve(returned, False)
            if result is None:
                result = returned
            elif not is_dyn(result) and not is_exact(returned, result):
                result = DYN
        if result is None:
            shown = [describe(unifier.resolve(type, True)) for type in types]
            signature = f"({', '.join(shown)})" if target is None else f"{shown[0]}.({', '.join(shown[1:])})"
            self._report(node.position, f"found no matching overload for '{name}' applied to '{signature}'")
            return ERROR
        self.findings.overloads[node.id] = tuple(ids)
        return result

    def _instantiated(self, overload: Overload) -> tuple[tuple[Type, ...], Type]:
        """Argument and result types with variables of their own for this call."""
        names = overload.type_params
        if not names:
            return overload.arguments, overload.result
        variables = {name: self.unifier.fresh() for name in names}
        arguments = tuple(instantiate(argument, variables) for argument in overload.arguments)
        return arguments, instantiate(overload.result, variables)

    def _logical(self, node: Logical) -> Type:
        self.findings.overloads[node.id] = ("logical_and" if node.operator == "&&" else "logical_or",)
        return BOOL if self._terms(node, 0, len(node.operators) - 1) else ERROR

    def _terms(self, node: Logical, low: int, high: int) -> bool:
        """Check the terms around the operators `low` to `high`, as a balanced tree like the reference; false if one is no bool."""
        middle = (low + high + 1) // 2
        sides: list[tuple[int, Type]] = []
        for inner_low, inner_high, term in ((low, middle - 1, middle), (middle + 1, high, middle + 1)):
            if inner_low > inner_high:
                sides.append((node.terms[term].position, self.check(node.terms[term])))
            else:
                fine = self._terms(node, inner_low, inner_high)
                sides.append((node.operators[(inner_low + inner_high + 1) // 2], BOOL if fine else ERROR))
        fine = True
        for position, type in sides:
            if not self.unifier.is_assignable(type, BOOL):
                self._mismatch(position, BOOL, type)
                fine = False
        return fine

    # Literals.

    def _join(self, previous: Type | None, current: Type) -> Type:
        """The type of a literal's elements so far, with one more. Mixed literals are `dyn` here; the validators refuse them."""
        if previous is None:
            return current
        if self.unifier.is_assignable(previous, current):
            return most_general(previous, current)
        return DYN

    def _unwrapped(self, node: Node, type: Type) -> Type:
        """Type of what an optional element holds."""
        if is_optional(type):
            return type.parameters[0]
        if not is_dyn(type):
            self._mismatch(node.position, optional_of(type), type)
        return type

    def _list(self, node: ListLiteral) -> Type:
        joined: Type | None = None
        for index, element in enumerate(node.elements):
            type = self.check(element)
            if index in node.optional:
                type = self._unwrapped(element, type)
            joined = self._join(joined, type)
        return list_of(joined or self.unifier.fresh())

    def _map(self, node: MapLiteral) -> Type:
        key_type: Type | None = None
        value_type: Type | None = None
        for entry in node.entries:
            key_type = self._join(key_type, self.check(entry.key))
            type = self.check(entry.value)
            if entry.optional:
                type = self._unwrapped(entry.value, type)
            value_type = self._join(value_type, type)
        if key_type is None or value_type is None:
            return map_of(self.unifier.fresh(), self.unifier.fresh())
        return map_of(key_type, value_type)

    def _message(self, node: StructLiteral) -> Type:
        name = node.type_name.removeprefix(".")
        instance = messages.DEFINED.get(name) or self._declared_type(name)
        if instance is None:
            return self._undeclared(node, node.type_name)
        message = messages.message_name(instance)
        if message is None:
            shown = f"wrapper({instance.name})" if instance.nullable else instance.name
            self._report(node.position, f"'{shown}' is not a message type")
            instance = ERROR
        for field in node.fields:
            type = self.check(field.value)
            expected = self._message_field(field.position, message or name, field.name) or ERROR
            if field.optional:
                type = self._unwrapped(field.value, type)
            if not self.unifier.is_assignable(expected, type):
                self._report(
                    field.position,
                    f"expected type of field '{field.name}' is '{describe(expected)}' but provided type is '{describe(type)}'",
                )
        return instance

    # Macros.

    def _fold(self, node: Fold) -> Type:
        range_type = self.check(node.range)
        accumulator_type = self.check(node.init)
        range_type = self.unifier.resolve(range_type, False)
        variables = self._variables(node, range_type)
        self.scopes.append({node.accumulator: accumulator_type})
        self.scopes.append(dict(zip(node.variables, variables, strict=True)))
        self._assert_type(node.condition, BOOL)
        self._assert_type(node.step, accumulator_type)
        self.scopes.pop()
        result = self.check(node.result)
        self.scopes.pop()
        return self.unifier.resolve(result, False)

    def _variables(self, node: Fold, range_type: Type) -> tuple[Type, ...]:
        """Types of the variables of a loop over a value of the given type."""
        two = len(node.variables) == 2
        match range_type.kind:
            case Kind.LIST:
                element = range_type.parameters[0]
                return (INT, element) if two else (element,)
            case Kind.MAP:
                return range_type.parameters if two else range_type.parameters[:1]
            case Kind.DYN | Kind.ERROR | Kind.TYPE_PARAM:
                self.unifier.is_assignable(DYN, range_type)
                return (DYN,) * len(node.variables)
            case _:
                shown = describe(range_type)
                message = f"expression of type '{shown}' cannot be range of a comprehension (must be list, map, or dynamic)"
                self._report(node.range.position, message)
                return (ERROR,) * len(node.variables)

    def _assert_type(self, node: Node, expected: Type) -> None:
        type = self.check(node)
        if not self.unifier.is_assignable(expected, type):
            self._mismatch(node.position, expected, type)


def qualified_name(node: Node) -> list[str] | None:
    """The parts of `a.b.c`, or None for anything but identifiers joined by dots."""
    names: list[str] = []
    while isinstance(node, Select) and not node.optional:
        names.append(node.field)
        node = node.operand
    if not isinstance(node, Ident):
        return None
    names.append(node.name)
    names.reverse()
    return names
