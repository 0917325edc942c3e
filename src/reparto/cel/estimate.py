"""The worst-case cost of an expression, which decides whether the API server admits it.

The numbers are the reference's to the unit: cel-go's estimator (`checker/cost.go` 0.29.2), the rules for functions (see
`function_estimates`) and the limits that the device type declares. Costs saturate at 2**64 - 1. Sizes have a lower bound too
(replacing text needs it); of costs only the upper bound is ever used.

Two oddities are part of the contract. A size that nobody bounds counts as 2**64 - 1, so many harmless expressions are refused. And
two variables of one macro may end up with one path (see `value_paths`). Cost: linear in the nodes of the expanded expression.
"""

from __future__ import annotations

from typing import NamedTuple

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
    Logical,
    MapLiteral,
    Node,
    OptionalMap,
    Select,
    SortBy,
    StructLiteral,
)
from reparto.cel.checker import Findings
from reparto.cel.costs import LIST_COST, MAP_COST, MESSAGE_COST, TRAVERSAL
from reparto.cel.environment import DEVICE_VARIABLE, Bounds, Environment
from reparto.cel.expansion import ACCUMULATOR, Fold
from reparto.cel.function_estimates import EstimatedCall, FunctionEstimate, Operand, function_estimate, or_any
from reparto.cel.sizes import ANY_SIZE, ONE, UNBOUNDED, Size, add, multiply
from reparto.cel.types import Kind, Type
from reparto.cel.value_paths import NO_PATH, ValuePath


class _Entries(NamedTuple):
    """Sizes of the keys (or indices) and of the values within a list or map."""

    kind: Kind
    keys: Size
    values: Size

    def union(self, other: _Entries | None) -> _Entries | None:
        return other and _Entries(self.kind, self.keys.union(other.keys), self.values.union(other.values))


class _Variable(NamedTuple):
    path: ValuePath
    size: Size | None
    entries: _Entries | None


def estimate(root: Node, findings: Findings, environment: Environment) -> int:
    """Upper bound of the cost of an expression whose types are known, at most 2**64 - 1."""
    return _Estimator(findings, environment.bounds).cost(root)


class _Estimator:
    def __init__(self, findings: Findings, device: Bounds) -> None:
        self._types = findings.types
        self._overloads = findings.overloads
        self._identifiers = findings.identifiers
        self._functions = findings.functions
        self._expand = findings.expander.expand
        self._device = device
        self._paths: dict[int, ValuePath] = {}
        self._sizes: dict[int, Size] = {}
        self._entries: dict[int, _Entries] = {}
        self._variables: dict[str, list[_Variable]] = {}

    # Costs of nodes.

    def cost(self, node: Node) -> int:
        match node:
            case Literal():
                return 0
            case Ident():
                return self._ident(node, self._identifiers.get(node.id, node.name))
            case Select():
                return self._select(node)
            case Call():
                return self._call(node)
            case Index():
                return self._invoke(node, node.function, None, (node.operand, node.key))
            case Conditional():
                return self._conditional(node)
            case Logical():
                return self._logical(node)
            case ListLiteral():
                return self._list(node)
            case MapLiteral():
                return self._map(node)
            case Has():
                return self.cost(node.operand)
            case Fold():
                return self._bind(node) if node.is_bind else self._loop(node)
            case Comprehension() | Bind() | OptionalMap() | SortBy():
                return self.cost(self._expand(node))
            case StructLiteral():
                cost = MESSAGE_COST
                for field in node.fields:
                    cost = add(cost, self.cost(field.value))
                return cost
            case _:
                raise TypeError(f"no such node: {type(node).__name__}")

    def _ident(self, node: Node, name: str) -> int:
        variable = self._variable(name)
        self._paths[node.id] = ValuePath([name], 1) if variable is None else variable.path
        return 1

    def _select(self, node: Select) -> int:
        if node.id in self._identifiers:
            return self._ident(node, self._identifiers[node.id])
        if node.optional:
            cost = self.cost(node.operand)
            self._size_of(node.operand)
            self._remember(node, self._size_of(node))
            return add(cost, 1)
        cost = self.cost(node.operand)
        if self._types[node.operand.id].kind in (Kind.MAP, Kind.STRUCT):
            cost = add(cost, 1)
        self._paths[node.id] = self._path_of(node.operand).append(node.field)
        return cost

    def _call(self, node: Call) -> int:
        function = self._functions.get(node.id, node.function)
        if function == "dyn" and node.target is None:
            cost = add(self.cost(node.arguments[0]), 1)
            self._copy_sizes(node, node.arguments[0])
            return cost
        target = None if node.id in self._functions else node.target
        return self._invoke(node, function, target, node.arguments)

    def _invoke(self, node: Node, function: str, target: Node | None, arguments: tuple[Node, ...]) -> int:
        total = 0
        operands: list[Operand] = []
        for argument in arguments:
            total = add(total, self.cost(argument))
            operands.append(self._operand(argument))
        receiver: Operand | None = None
        if target is not None:
            total = add(total, self.cost(target))
            receiver = self._operand(target)
        own = 0
        size: Size | None = None
        for overload in self._overloads[node.id]:
            estimated = self._function(node, EstimatedCall(function, overload, receiver, tuple(operands)))
            own = max(own, estimated.cost)
            if estimated.size is not None:
                size = estimated.size if size is None else size.union(estimated.size)
            if overload in ("index_list", "index_map"):
                entries = self._entries_of(arguments[0])
                size = entries.values if entries else None
                part = "@items" if overload == "index_list" else "@values"
                self._paths[node.id] = self._path_of(arguments[0]).append(part)
            if size is None:
                size = self._size_of(node)
        self._remember(node, size)
        return add(total, own)

    def _logical(self, node: Logical) -> int:
        cost = 0
        for term in node.terms:
            cost = add(cost, self.cost(term))
            self._size_of(term)
        self._remember(node, ONE)
        return cost

    def _conditional(self, node: Conditional) -> int:
        condition, then, otherwise = self.cost(node.condition), self.cost(node.then), self.cost(node.otherwise)
        self._remember(node, self._size_or_any(node.then).union(self._size_or_any(node.otherwise)))
        entries = self._entries_of(node.then)
        self._remember_entries(node, entries and entries.union(self._entries_of(node.otherwise)))
        return add(condition, max(then, otherwise))

    def _list(self, node: ListLiteral) -> int:
        cost, size = LIST_COST, Size(UNBOUNDED if node.elements else 0, 0)
        for element in node.elements:
            cost = add(cost, self.cost(element))
            size = size.union(self._size_or_any(element))
        self._entries[node.id] = _Entries(Kind.LIST, ONE, size)
        return cost

    def _map(self, node: MapLiteral) -> int:
        cost = MAP_COST
        keys = values = Size(UNBOUNDED if node.entries else 0, 0)
        for entry in node.entries:
            cost = add(cost, add(self.cost(entry.key), self.cost(entry.value)))
            keys = keys.union(self._size_or_any(entry.key))
            values = values.union(self._size_or_any(entry.value))
        self._entries[node.id] = _Entries(Kind.MAP, keys, values)
        return cost

    # Macros.

    def _bind(self, node: Fold) -> int:
        cost = add(self.cost(node.range), self.cost(node.init))
        self._push_local(node.accumulator, node.init)
        cost = add(cost, self.cost(node.result))
        self._pop(node.accumulator)
        self._copy_sizes(node, node.result)
        return cost

    def _loop(self, node: Fold) -> int:
        cost = add(self.cost(node.range), self.cost(node.init))
        self._push_local(node.accumulator, node.init)
        self._push_variables(node)
        round_cost = add(self.cost(node.condition), self.cost(node.step))
        for variable in node.variables:
            self._pop(variable)
        cost = add(cost, self.cost(node.result))
        self._pop(node.accumulator)
        rounds = self._size_or_any(node.range)
        cost = add(cost, multiply(rounds.high, round_cost))
        if isinstance(node.init, Literal):
            self._remember(node, self._size_of(node.init))
        elif isinstance(node.init, ListLiteral | MapLiteral):
            self._remember(node, rounds)
            self._remember_entries(node, self._entries_of(node.step))
        return cost

    def _push_local(self, name: str, value: Node) -> None:
        variable = _Variable(self._path_of(value), self._size_of(value), self._entries_of(value))
        self._variables.setdefault(name, []).append(variable)

    def _push_variables(self, node: Fold) -> None:
        entries = self._entries_of(node.range)
        kind = entries.kind if entries else self._types[node.range.id].kind
        is_list = kind is Kind.LIST
        path = self._path_of(node.range)
        keys, values = (entries.keys, entries.values) if entries else (None, None)
        variables: list[_Variable]
        if len(node.variables) == 2:
            # Both paths grow from the same one, in this order: see `ValuePath`.
            variables = [
                _Variable(path.append("@indices" if is_list else "@keys"), keys, None),
                _Variable(path.append("@items" if is_list else "@values"), values, None),
            ]
        elif is_list:
            variables = [_Variable(path.append("@items"), values, None)]
        else:
            variables = [_Variable(path.append("@keys"), keys, None)]
        for name, variable in zip(node.variables, variables, strict=True):
            self._variables.setdefault(name, []).append(variable)

    def _pop(self, name: str) -> None:
        self._variables[name].pop()

    def _variable(self, name: str) -> _Variable | None:
        stack = self._variables.get(name)
        return stack[-1] if stack else None

    # Sizes of nodes.

    def _path_of(self, node: Node) -> ValuePath:
        if isinstance(node, Ident):
            variable = self._variable(self._identifiers.get(node.id, node.name))
            if variable is not None:
                return variable.path
        return self._paths.get(node.id, NO_PATH)

    def _operand(self, node: Node) -> Operand:
        path = self._path_of(node)
        if path.parts()[:1] in ([ACCUMULATOR], ["__result__"]):
            path = NO_PATH
        return Operand(node, self._types[node.id], path, self._size_of(node))

    def _size_of(self, node: Node) -> Size | None:
        known = self._sizes.get(node.id)
        if known is not None:
            return known
        match node:
            case Literal():
                return _literal_size(node)
            case ListLiteral():
                return Size(len(node.elements), len(node.elements))
            case MapLiteral():
                return Size(len(node.entries), len(node.entries))
            case _:
                pass
        bounded = self._bounded(self._path_of(node))
        if bounded is not None:
            self._sizes[node.id] = bounded
            return bounded
        if _is_scalar(self._types[node.id]):
            return ONE
        if isinstance(node, Ident):
            variable = self._variable(self._identifiers.get(node.id, node.name))
            if variable is not None:
                return variable.size
        return None

    def _bounded(self, path: ValuePath) -> Size | None:
        """The size that the device type declares for a path."""
        parts = path.parts()
        if not parts or parts[0] != DEVICE_VARIABLE:
            return None
        bounds: Bounds | None = self._device
        attributes = self._device.fields["attributes"].values
        for part in parts[1:]:
            match part:
                case "@items" | "@values":
                    bounds = bounds.values
                case "@keys":
                    bounds = bounds.keys
                case _:
                    # All attributes of a domain have the same limit, so their names do not matter; domains have to be written as
                    # keys.
                    bounds = bounds.values if bounds is attributes else bounds.fields.get(part)
            if bounds is None:
                return None
        return Size(0, bounds.size)

    def _size_or_any(self, node: Node) -> Size:
        return self._size_of(node) or ANY_SIZE

    def _remember(self, node: Node, size: Size | None) -> None:
        if size is not None:
            self._sizes[node.id] = size

    def _remember_entries(self, node: Node, entries: _Entries | None) -> None:
        if entries is not None:
            self._entries[node.id] = entries

    def _copy_sizes(self, to: Node, source: Node) -> None:
        self._remember(to, self._size_of(source))
        self._remember_entries(to, self._entries_of(source))

    def _entries_of(self, node: Node) -> _Entries | None:
        known = self._entries.get(node.id)
        if known is None and isinstance(node, Ident):
            variable = self._variable(self._identifiers.get(node.id, node.name))
            known = variable.entries if variable else None
        return known

    # Functions.

    def _function(self, node: Node, call: EstimatedCall) -> FunctionEstimate:
        estimated = function_estimate(self, call)
        if estimated is not None:
            return estimated
        if call.overload in ("add_string", "add_bytes", "add_list"):
            return self._concatenation(node, call)
        return FunctionEstimate(1)

    def _concatenation(self, node: Node, call: EstimatedCall) -> FunctionEstimate:
        left, right = call.arguments
        size = or_any(left).plus(or_any(right))
        if left.node is not None and right.node is not None:
            entries = self._entries_of(left.node)
            self._remember_entries(node, entries and entries.union(self._entries_of(right.node)))
        return FunctionEstimate(1 if call.overload == "add_list" else size.cost(TRAVERSAL), size)

    def size(self, operand: Operand) -> Size:
        """Size of an operand as Kubernetes' and the extensions' estimators ask for it."""
        return operand.size or self._bounded(operand.path) or ANY_SIZE

    def element(self, operand: Operand) -> Operand | None:
        """Stands for any element of a list, or whatever else has a parameterised type."""
        if not operand.type.parameters:
            return None
        path = operand.path.with_items() if operand.path.parts() else NO_PATH
        return Operand(None, operand.type.parameters[0], path, None)


def _literal_size(node: Literal) -> Size:
    if isinstance(node.value, str | bytes):
        return Size(len(node.value), len(node.value))
    return ONE


_SCALARS = frozenset({Kind.BOOL, Kind.DOUBLE, Kind.DURATION, Kind.INT, Kind.TIMESTAMP, Kind.UINT})


def _is_scalar(type: Type) -> bool:
    if type.kind is Kind.OPAQUE and type.name == "optional_type":
        return _is_scalar(type.parameters[0])
    return type.kind in _SCALARS
