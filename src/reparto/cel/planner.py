"""Turns a checked expression into steps that can be evaluated exactly: every error, every absorbed error, every unit of cost.

The plan follows the reference's own, because its cost is the cost of that plan. In particular an attribute that is a branch of
`?:`, a key of another attribute, or under `has`, does not cost the unit that it costs as an operand; and macros are planned as the
loops that they stand for. Source: cel-go 0.29.2 `interpreter` (planner, decorators, runtimecost), read as facts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

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
from reparto.cel.calls import (
    called,
    dispatcher,
    eager_call,
    equality_call,
    not_strictly_false,
    operation,
    optional_or,
    stepwise_call,
)
from reparto.cel.checker import Findings
from reparto.cel.costs import LIST_COST, MAP_COST, MESSAGE_COST, call_rule
from reparto.cel.declarations import Overload
from reparto.cel.environment import DEVICE_VARIABLE
from reparto.cel.errors import CompileError
from reparto.cel.evaluator import (
    KEY_TYPES,
    Attribute,
    ComputedQualifier,
    ConditionalAttribute,
    Frame,
    Plan,
    PresenceQualifier,
    Qualifier,
    Run,
    Step,
    as_attribute,
    attribute_step,
    constant,
)
from reparto.cel.expansion import ACCUMULATOR, Fold
from reparto.cel.folding import CONVERSIONS, literal_value, membership, nowhere
from reparto.cel.functions import BY_FUNCTION, BY_OVERLOAD
from reparto.cel.functions.messages import builder_of
from reparto.cel.functions.quantities import own_parsed
from reparto.cel.functions.regex import WITH_CONSTANT_PATTERN, PatternError, compile_pattern
from reparto.cel.loops import append_step, appended, elements_of, finished, growing, insert_step, pairs_of
from reparto.cel.messages import CONSTANTS
from reparto.cel.texts import show
from reparto.cel.types import Kind
from reparto.cel.values import (
    Failure,
    InternalFailure,
    MapValue,
    Optional,
    TypeValue,
    Value,
    go_type_name,
    is_failure,
    is_list,
    key_of,
    no_such_overload,
)

_UNSET: Final = object()
"""A bound variable that has not been read yet."""


class Planner:
    """Plans the nodes of one checked expression. Raises CompileError where the reference cannot build its program.

    `own_quantities`: quantities are made anew for every evaluation, because the expression can tell that comparing changes them.
    """

    def __init__(self, text: str, findings: Findings, functions: Mapping[str, Sequence[Overload]], own_quantities: bool) -> None:
        self.own_quantities = own_quantities
        self.text = text
        self.findings = findings
        self.functions = functions
        self.scopes: list[dict[str, int]] = []
        self.lazy: dict[int, Run] = {}
        self.slots = 0

    def plan(self, root: Node) -> Plan:
        step = self.step(root)
        return Plan(step.run, self.slots, self.own_quantities)

    def step(self, node: Node) -> Step:
        match node:
            case Literal():
                return constant(literal_value(node))
            case Ident():
                return self._ident(node)
            case Select():
                name = self.findings.identifiers.get(node.id)
                if name is not None:
                    return self._named(node, name)
                return self._qualified(node.operand, Qualifier(node.id, node.field, node.optional))
            case Index():
                return self._index(node)
            case Has():
                return self._has(node)
            case Call():
                return self._call(node)
            case Logical():
                return self._logical(node)
            case Conditional():
                condition, then, otherwise = self.step(node.condition), self.step(node.then), self.step(node.otherwise)
                return attribute_step(ConditionalAttribute(condition.run, as_attribute(then), as_attribute(otherwise)))
            case ListLiteral():
                return self._list(node)
            case MapLiteral():
                return self._map(node)
            case Fold():
                return self._fold(node)
            case StructLiteral():
                return self._message(node)
            case Comprehension() | Bind() | OptionalMap() | SortBy():
                return self.step(self.findings.expander.expand(node))
            case _:
                raise self._refused(f"unsupported expr: {type(node).__name__}")

    def _refused(self, message: str) -> CompileError:
        return CompileError(self.text, prefix=f"program instantiation failed: {message}")

    # Names

    def _ident(self, node: Ident) -> Step:
        return self._named(node, self.findings.identifiers.get(node.id, node.name))

    def _named(self, node: Node, name: str) -> Step:
        slot = next((scope[name] for scope in reversed(self.scopes) if name in scope), None)
        declared = self.findings.types[node.id]
        if declared.kind is Kind.TYPE:
            if slot is not None:
                raise self._refused(f"reference to undefined type: {name}")
            return constant(TypeValue(declared.parameters[0].name if declared.parameters else "type"))
        if slot is None and name in CONSTANTS:
            return constant(CONSTANTS[name])
        if slot is None:
            if name.lstrip(".") != DEVICE_VARIABLE:
                raise self._refused(f"undeclared reference to '{name}'")
            return attribute_step(Attribute(lambda frame: frame.device))
        lazy = self.lazy.get(slot)
        if lazy is None:
            return attribute_step(Attribute(lambda frame: frame.slots[slot]))

        def bound(frame: Frame) -> Value:
            value = frame.slots[slot]
            if value is _UNSET:
                value = frame.slots[slot] = lazy(frame)
            return value

        return attribute_step(Attribute(bound))

    # Attributes

    def _qualified(self, operand: Node, qualifier: Qualifier) -> Step:
        attribute = as_attribute(self.step(operand))
        attribute.add(qualifier)
        return attribute_step(attribute)

    def _index(self, node: Index) -> Step:
        attribute = as_attribute(self.step(node.operand))
        key = self.step(node.key)
        if key.is_constant:
            if type(key.constant) not in KEY_TYPES:
                raise self._refused(f"invalid qualifier type: {go_type_name(key.constant)}")
            attribute.add(Qualifier(node.id, key.constant, node.optional))
        else:
            resolve = key.run if key.attribute is None else key.attribute.resolve
            attribute.add(ComputedQualifier(node.id, resolve, node.optional))
        return attribute_step(attribute)

    def _has(self, node: Has) -> Step:
        attribute = as_attribute(self.step(node.operand))
        attribute.add(PresenceQualifier(node.id, node.field, False))
        resolve = attribute.resolve

        def run(frame: Frame) -> Value:
            value = resolve(frame)
            return value.present if type(value) is Optional else value

        return Step(run, attribute=attribute)

    # Calls

    def _call(self, node: Call) -> Step:
        function = self.findings.functions.get(node.id, node.function)
        operands = node.arguments if node.target is None or node.id in self.findings.functions else (node.target, *node.arguments)
        steps = [self.step(operand) for operand in operands]
        overloads = self.findings.overloads.get(node.id, ())
        overload = overloads[0] if len(overloads) == 1 else ""
        runs = [step.run for step in steps]
        if function in ("_==_", "_!=_"):
            rule = call_rule(function, "equals" if function == "_==_" else "not_equals")
            return Step(equality_call(function == "_!=_", rule, runs[0], runs[1], node.id))
        if function in ("or", "orValue"):
            return Step(optional_or(runs[0], runs[1], function == "orValue", node.id))
        if function == "@not_strictly_false":
            return Step(not_strictly_false(runs[0]))
        if function == "cel.@mapInsert":
            return Step(insert_step(runs, node.id))
        rule = call_rule(function, overload)
        call = operation(function) if function in BY_FUNCTION else dispatcher(function, self._candidates(function, overload))
        if function == "quantity" and self.own_quantities:
            call = own_parsed
        if function in WITH_CONSTANT_PATTERN and steps[1].is_constant and type(steps[1].constant) is str:
            try:
                compile_pattern(steps[1].constant)
            except PatternError as error:
                raise self._refused(str(error)) from None
            return Step(stepwise_call(WITH_CONSTANT_PATTERN[function], rule, runs, node.id))
        if function == "@in" and overload == "in_list" and is_list(steps[1].constant):
            folded = membership(steps[0], steps[1].constant)
            if folded is not None:
                return folded
        if function in CONVERSIONS and len(steps) == 1 and steps[0].is_constant:
            value = called(call, (steps[0].constant,), node.id)
            if is_failure(value):
                raise self._refused(value.message)
            return constant(value)
        if len(runs) in (1, 2) and not self._takes_any_number(function, overload):
            return Step(eager_call(call, rule, runs, node.id))
        return Step(stepwise_call(call, rule, runs, node.id))

    def _candidates(self, function: str, overload: str) -> Sequence[Overload]:
        declared = self.functions[function]
        return [candidate for candidate in declared if candidate.id == overload] if overload else declared

    def _takes_any_number(self, function: str, overload: str) -> bool:
        """Whether the reference binds the function by a list of operands rather than by one or two."""
        if function in BY_FUNCTION:
            return False
        if overload:
            return overload == "string_format"
        # Several overloads share a dispatcher, which takes a list.
        return len([candidate for candidate in self.functions[function] if candidate.id in BY_OVERLOAD]) > 1

    def _logical(self, node: Logical) -> Step:
        decisive = node.operator == "||"
        runs = [self.step(term).run for term in node.terms]
        id = node.id

        def run(frame: Frame) -> Value:
            failure: Value = None
            for term in runs:
                value = term(frame)
                if value is decisive:
                    return decisive
                if type(value) is not bool and failure is None:
                    failure = value if is_failure(value) else no_such_overload()
                    if failure.node < 0:
                        failure.node = id
            return not decisive if failure is None else failure

        return Step(run)

    # Literals

    def _list(self, node: ListLiteral) -> Step:
        steps = [self.step(element) for element in node.elements]
        optional = node.optional
        runs = [(step.run, index in optional) for index, step in enumerate(steps)]

        def build(frame: Frame) -> Value:
            elements: list[Value] = []
            for run, may_be_absent in runs:
                value = run(frame)
                if is_failure(value):
                    return value
                if may_be_absent:
                    if type(value) is not Optional:
                        return Failure(f"cannot initialize optional list element from non-optional value {show(value)}")
                    if not value.present:
                        continue
                    value = value.value
                elements.append(value)
            return tuple(elements)

        if all(step.is_constant for step in steps):
            return constant(build(nowhere()))

        def run_list(frame: Frame) -> Value:
            value = build(frame)
            frame.charge(LIST_COST)
            return value

        return Step(run_list)

    def _map(self, node: MapLiteral) -> Step:
        steps = [(self.step(entry.key), self.step(entry.value), entry.optional) for entry in node.entries]
        runs = [(key.run, value.run, optional) for key, value, optional in steps]

        def build(frame: Frame) -> Value:
            entries: dict[Value, Value] = {}
            for key_run, value_run, may_be_absent in runs:
                key = key_run(frame)
                if is_failure(key):
                    return key
                value = value_run(frame)
                if is_failure(value):
                    return value
                if may_be_absent:
                    if type(value) is not Optional:
                        return Failure(f"cannot initialize optional entry '{show(key)}' from non-optional value {show(value)}")
                    if not value.present:
                        entries.pop(key_of(key), None)
                        continue
                    value = value.value
                entries[key_of(key)] = value
            return MapValue(entries)

        if all(key.is_constant and value.is_constant for key, value, _ in steps):
            try:
                return constant(build(nowhere()))
            except InternalFailure as failure:
                raise self._refused(str(failure)) from None

        def run_map(frame: Frame) -> Value:
            value = build(frame)
            frame.charge(MAP_COST)
            return value

        return Step(run_map)

    def _message(self, node: StructLiteral) -> Step:
        message = node.type_name.lstrip(".")
        builder = builder_of(message)
        fields = [(field.name, self.step(field.value).run, field.optional) for field in node.fields]

        def build(frame: Frame) -> Value:
            values: dict[str, Value] = {}
            for name, run, may_be_absent in fields:
                value = run(frame)
                if is_failure(value):
                    return value
                if may_be_absent:
                    if type(value) is not Optional:
                        return Failure(f"cannot initialize optional entry '{name}' from non-optional value {show(value)}")
                    if not value.present:
                        values.pop(name, None)
                        continue
                    value = value.value
                values[name] = value
            try:
                return builder(message, values)
            except Failure as failure:
                failure.node = node.id
                return failure

        def run_message(frame: Frame) -> Value:
            value = build(frame)
            frame.charge(MESSAGE_COST)
            return value

        return Step(run_message)

    # Loops

    def _new_slot(self) -> int:
        self.slots += 1
        return self.slots - 1

    def _fold(self, node: Fold) -> Step:
        slot = self._new_slot()
        init = self.step(node.init)
        if node.is_bind:
            return self._bind(node, slot, init.run)
        elements = self.step(node.range)
        variables = [self._new_slot() for _ in node.variables]
        self.scopes.append({node.accumulator: slot})
        self.scopes.append(dict(zip(node.variables, variables, strict=True)))
        condition = self.step(node.condition)
        step = self._loop_step(node.step, slot)
        self.scopes.pop()
        result = self.step(node.result).run
        self.scopes.pop()
        start = init.run
        checked = None if condition.constant is True else condition.run
        advance = step
        walk = pairs_of if len(variables) == 2 else elements_of

        def run(frame: Frame) -> Value:
            range_value = elements.run(frame)
            if is_failure(range_value):
                return range_value
            walked: Value = walk(range_value)
            if is_failure(walked):
                walked.node = node.id
                return walked
            slots = frame.slots
            slots[slot] = growing(start(frame))
            for element in walked:
                if len(variables) == 2:
                    slots[variables[0]], slots[variables[1]] = element
                else:
                    slots[variables[0]] = element
                if checked is not None and checked(frame) is False:
                    break
                slots[slot] = advance(frame)
            return finished(result(frame))

        return Step(run)

    def _bind(self, node: Fold, slot: int, value: Run) -> Step:
        self.lazy[slot] = value
        self.scopes.append({node.accumulator: slot})
        self.step(node.step)  # never run, but a variable that holds a type is refused here even if nobody reads it
        body = self.step(node.result).run
        self.scopes.pop()

        def run(frame: Frame) -> Value:
            frame.slots[slot] = _UNSET
            return body(frame)

        return Step(run)

    def _loop_step(self, node: Node, slot: int) -> Run:
        """A step that adds to the accumulator does so in place; any other step as it is."""
        condition: Run | None = None
        adding = node
        if isinstance(node, Conditional) and isinstance(node.otherwise, Ident) and node.otherwise.name == ACCUMULATOR:
            adding = node.then
        added = appended(adding)
        if added is None:
            return self.step(node).run
        if isinstance(node, Conditional):
            condition = self.step(node.condition).run
        append = append_step(self.step(added.elements[0]), slot)
        return append if condition is None else _only_if(condition, append, slot)


def _only_if(condition: Run, append: Run, slot: int) -> Run:
    """`condition ? append : accumulator`."""

    def run(frame: Frame) -> Value:
        chosen = condition(frame)
        if chosen is True:
            return append(frame)
        if chosen is False:
            return frame.slots[slot]
        return chosen if is_failure(chosen) else no_such_overload()

    return run
