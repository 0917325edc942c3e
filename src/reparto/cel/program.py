"""A compiled selector: evaluate it, match devices with it, take it apart into clauses.

`matches` is the fast way: generated Python source where the expression allows it, with the exact evaluator behind it for whatever
goes wrong. `evaluate` is the exact way: the value, the reference's error text, the cost.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Any, Final, TypeAlias

import msgspec

from reparto.cel.ast import Call, Node, children, clauses, walk
from reparto.cel.compilation import CheckedExpression, check
from reparto.cel.compiler import compile_fast
from reparto.cel.dependencies import Dependency, dependencies_of
from reparto.cel.device import Device
from reparto.cel.environment import MAX_COST, Environment
from reparto.cel.evaluator import Plan
from reparto.cel.paths import Path, paths_of
from reparto.cel.planner import Planner
from reparto.cel.recursion import FRAMES_PER_LEVEL, ensure_room
from reparto.cel.values import (
    BudgetExceeded,
    ComputedQuantity,
    Duration,
    EmptyMessage,
    Format,
    InternalFailure,
    IPAddress,
    MapValue,
    Network,
    Optional,
    OwnQuantity,
    Timestamp,
    TypeValue,
    UInt,
    Url,
    Value,
    is_failure,
    is_list,
    kind_of,
    type_name,
)
from reparto.model.quantity import Quantity
from reparto.model.semver import Semver

Attribute: TypeAlias = dict[str, Any]
"""An attribute in the API's form: `{"int": 3}`, `{"strings": ["a"]}`, `{"version": "1.2.3"}`."""

KEY_HINT: Final = (
    "consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields"
)
"""What the allocator adds to the error of a missing key."""

_INTEGER_TESTS: Final = frozenset(("isInteger", "asInteger"))
_CACHED_PROGRAMS: Final = 1024  # some 10 KiB each; a cluster has tens of selectors


class EvaluationError(Exception):
    """An expression that could not be evaluated for a device. The text is the reference's, without the allocator's context."""

    def with_hint(self) -> str:
        """The text as the allocator shows it: a missing key comes with advice."""
        text = str(self)
        return f"{text}. {KEY_HINT}" if "no such key:" in text else text


class Options(msgspec.Struct, frozen=True):
    """Where an expression comes from.

    `stored` is the scheduler's view (everything the release knows); otherwise the API server's of new expressions, which obeys the
    two gates. `derived_attribute` applies the result rule of derived attributes. `cost_limit` bounds evaluation.
    """

    stored: bool = True
    version: str = "1.37"
    consumable_capacity: bool = True
    list_type_attributes: bool = False
    derived_attribute: bool = False
    cost_limit: int = MAX_COST


class Answer(msgspec.Struct, frozen=True):
    """What one evaluation gave: `value` (bool, or an attribute for derived ones; None on error), `error`, and the cost."""

    value: bool | Attribute | None
    error: EvaluationError | None
    cost: int


class Clause(msgspec.Struct, frozen=True):
    """One part of the top-level `&&`: its text, where it stands, and what it reads of a device."""

    text: str
    start: int
    end: int
    paths: tuple[Path, ...]


class ClauseAnswer(msgspec.Struct, frozen=True):
    """What one clause gave by itself."""

    clause: Clause
    value: bool | None
    error: EvaluationError | None


class Program:
    """A compiled expression. Make one with `compile`; it may be shared between threads.

    `matches(device)` says whether the device matches and raises EvaluationError; it costs well under a microsecond for usual
    selectors.
    """

    __slots__ = ("_clause_plans", "_dependencies", "_own_quantities", "_plan", "checked", "clauses", "matches", "options")

    matches: Callable[[Device], bool]

    def __init__(self, checked: CheckedExpression, options: Options) -> None:
        self.checked = checked
        self.options = options
        ensure_room(_depth(checked.ast.root) * FRAMES_PER_LEVEL)
        # Comparing quantities changes what these two say about them; see `hold_as_decimal`.
        self._own_quantities = any(isinstance(node, Call) and node.function in _INTEGER_TESTS for node in walk(checked.ast.root))
        self._plan: Plan = self._planner().plan(checked.ast.root)
        self._clause_plans: tuple[Plan, ...] | None = None
        self._dependencies: tuple[Dependency, ...] | None = None
        parts = clauses(checked.ast.root)
        self.clauses: tuple[Clause, ...] = tuple(
            Clause(checked.ast.source(node), node.start, node.end, paths_of(checked, node)) for node in parts
        )
        self.matches = self._first_match

    def _planner(self) -> Planner:
        return Planner(self.checked.ast.text, self.checked.findings, self.checked.environment.functions, self._own_quantities)

    @property
    def text(self) -> str:
        return self.checked.ast.text

    @property
    def output_type(self) -> str:
        """The static type of the result, as the reference writes it (`bool`, `dyn`, `google.protobuf.Any`)."""
        return str(self.checked.output_type)

    @property
    def max_cost(self) -> int:
        """The estimated worst-case cost, at most 2**64 - 1. The API server refuses new selectors above 1,000,000."""
        return self.checked.estimate

    @property
    def dependencies(self) -> tuple[Dependency, ...]:
        """The parts of a device on which value and error depend: devices that agree in them get the same answer."""
        if self._dependencies is None:
            self._dependencies = dependencies_of(self.checked.ast.root)
        return self._dependencies

    def evaluate(self, device: Device) -> Answer:
        """The exact result for a device, with the cost that the reference would report."""
        cost = 0
        try:
            value, cost = self._run(self._plan, device)
            result = _attribute(value) if self.options.derived_attribute else _bool(value)
        except EvaluationError as error:
            return Answer(None, error, cost)
        except _Interrupted as interrupted:
            return Answer(None, interrupted.error, interrupted.cost)
        return Answer(result, None, cost)

    def clause_answers(self, device: Device) -> tuple[ClauseAnswer, ...]:
        """Every clause of `clauses` evaluated by itself, none skipped."""
        plans = self._clause_plans
        if plans is None:
            plans = tuple(self._planner().plan(node) for node in clauses(self.checked.ast.root))
            self._clause_plans = plans
        return tuple(self._clause_answer(clause, plan, device) for clause, plan in zip(self.clauses, plans, strict=True))

    def _clause_answer(self, clause: Clause, plan: Plan, device: Device) -> ClauseAnswer:
        try:
            return ClauseAnswer(clause, _bool(self._run(plan, device)[0]), None)
        except EvaluationError as error:
            return ClauseAnswer(clause, None, error)
        except _Interrupted as interrupted:
            return ClauseAnswer(clause, None, interrupted.error)

    def _run(self, plan: Plan, device: Device) -> tuple[Value, int]:
        if device.error is not None:
            raise EvaluationError(device.error)
        frame = plan.frame(device.variable(plan.own_quantities), self.options.cost_limit)
        try:
            value = plan.run(frame)
        except (InternalFailure, BudgetExceeded) as problem:
            raise _Interrupted(EvaluationError(str(problem)), frame.cost) from None
        if is_failure(value):
            raise _Interrupted(EvaluationError(value.message), frame.cost)
        return value, frame.cost

    def _exact_match(self, device: Device) -> bool:
        answer = self.evaluate(device)
        if answer.error is not None:
            raise answer.error
        return answer.value is True

    def _first_match(self, device: Device) -> bool:
        """Replaces itself by the compiled form, which is not worth making for expressions that are only checked."""
        if self.matches != self._first_match:
            return self.matches(device)  # called through a reference taken earlier
        self.matches = self._exact_match
        if self.max_cost <= self.options.cost_limit and not self.options.derived_attribute and not self._own_quantities:
            fast = compile_fast(self.checked, self._exact_match)
            if fast is not None:
                self.matches = fast
        return self.matches(device)


class _Interrupted(Exception):
    """An evaluation that ended in an error, and what it had cost by then."""

    def __init__(self, error: EvaluationError, cost: int) -> None:
        super().__init__()
        self.error = error
        self.cost = cost


_CONVERSION_PROBLEMS: Final = {
    "string": "unsupported native conversion from string to 'bool'",
    "int": "unsupported type conversion from 'int' to bool",
    "uint": "unsupported type conversion from 'uint' to bool",
    "double": "type conversion error from Double to 'bool'",
    "bytes": "type conversion error from Bytes to 'bool'",
    "null_type": "type conversion error from 'null_type' to 'bool'",
    "list": "type conversion error from list to 'bool'",
    "map": "type conversion error from map to 'bool'",
    "google.protobuf.Duration": "type conversion error from 'Duration' to 'bool'",
    "google.protobuf.Timestamp": "type conversion error from 'Timestamp' to 'bool'",
    "kubernetes.Quantity": "type conversion error from 'Quantity' to 'bool'",
    "kubernetes.Semver": "type conversion error from 'Semver' to 'bool'",
    "kubernetes.URL": "type conversion error from 'URL' to 'bool'",
    "kubernetes.NamedFormat": "type conversion error from 'Format' to 'bool'",
    "net.IP": "type conversion error from 'IP' to 'bool'",
    "net.CIDR": "type conversion error from 'CIDR' to 'bool'",
}


def _bool(value: Value) -> bool:
    if type(value) is bool:
        return value
    name = type_name(value)
    problem = _CONVERSION_PROBLEMS.get(name, f"type conversion not supported for '{name}'")
    raise EvaluationError(f"CEL result of type {name} could not be converted to bool: {problem}")


_ATTRIBUTE_FIELDS: Final[dict[type, str]] = {bool: "bool", int: "int", str: "string", Semver: "version"}
_SCALARS: Final[dict[type, str]] = {bool: "bool", int: "int", str: "string", Semver: "semver"}
_GO_NATIVE_NAMES: Final[dict[type, str]] = {
    bool: "bool",
    int: "int64",
    UInt: "uint64",
    float: "float64",
    str: "string",
    bytes: "[]uint8",
    type(None): "structpb.NullValue",
    Semver: "semver.Version",
    Quantity: "*resource.Quantity",
    ComputedQuantity: "*resource.Quantity",
    OwnQuantity: "*resource.Quantity",
    Duration: "time.Duration",
    Timestamp: "time.Time",
    IPAddress: "netip.Addr",
    Network: "netip.Prefix",
    Url: "*url.URL",
    Format: "cel.Format",
    EmptyMessage: "*emptypb.Empty",
    tuple: "[]ref.Val",
    MapValue: "map[ref.Val]ref.Val",
    Optional: "<nil>",
}


def _native(value: Value) -> Value:
    """What the reference sees of a value here: the content of an optional, the name of a type."""
    while type(value) is Optional and value.present:
        value = value.value
    return value.name if type(value) is TypeValue else value


def _plain(value: Value) -> Any:
    return str(value) if type(value) is Semver else value


def _attribute(value: Value) -> Attribute:
    """A derived attribute in the API's form. The first element of a list decides its type."""
    native = _native(value)
    field = _ATTRIBUTE_FIELDS.get(kind_of(native))
    if field is not None:
        return {field: _plain(native)}
    if not is_list(value):
        raise EvaluationError(f"unsupported CEL return type: {_GO_NATIVE_NAMES[kind_of(native)]}")
    if not value:
        return {"strings": []}
    elements = [_native(element) for element in value]
    first = kind_of(elements[0])
    if first not in _ATTRIBUTE_FIELDS:
        raise EvaluationError(f"unsupported list element type: {_GO_NATIVE_NAMES[first]}")
    for index, element in enumerate(elements):
        if type(element) is not first:
            found = _GO_NATIVE_NAMES[kind_of(element)]
            raise EvaluationError(f"expected list element at index {index} to be {_SCALARS[first]}, got {found}")
    return {f"{_ATTRIBUTE_FIELDS[first]}s": [_plain(element) for element in elements]}


def _depth(root: Node) -> int:
    """How many nodes lie above the deepest one, itself included."""
    deepest = 0
    pending = [(root, 1)]
    while pending:
        node, depth = pending.pop()
        deepest = max(deepest, depth)
        pending.extend((child, depth + 1) for child in children(node))
    return deepest


class _Cache:
    """Compiled programs by text and options, the least recently used one dropped first. Failed compilations are not kept."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._programs: OrderedDict[tuple[str, Options], Program] = OrderedDict()
        self._lock = Lock()

    def get(self, text: str, options: Options) -> Program:
        key = (text, options)
        with self._lock:
            program = self._programs.get(key)
            if program is not None:
                self._programs.move_to_end(key)
                return program
        environment = Environment(options.version, options.stored, options.consumable_capacity, options.list_type_attributes)
        program = Program(check(text, environment, derived=options.derived_attribute), options)
        with self._lock:
            self._programs[key] = program
            if len(self._programs) > self._size:
                self._programs.popitem(last=False)
        return program


_cache: Final = _Cache(_CACHED_PROGRAMS)


def compile(text: str, options: Options | None = None) -> Program:
    """Compile a selector, or a derived attribute if the options say so.

    Raises CompileError, which carries position and text. A cost estimate over the limit is no error here: look at `max_cost`.
    Programs are cached by text and options.
    """
    return _cache.get(text, options if options is not None else Options())
