"""What a planned expression is made of: the state of an evaluation, steps, and attributes.

A chain of selections and indices (`device.attributes["d"].x`) is one attribute: a root value and the qualifiers applied to it. Each
qualifier that is reached costs 1; the attribute itself costs 1 more where it stands as an operand. Within an optional chain a
missing entry ends the chain without cost, anywhere else it is a failure. Failures are values (see `reparto.cel.values`): a step
never raises one, but it may raise `InternalFailure` and `BudgetExceeded`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from reparto.cel.texts import show
from reparto.cel.values import (
    INT_MAX,
    NONE,
    BudgetExceeded,
    EmptyMessage,
    Failure,
    MapValue,
    Optional,
    UInt,
    Value,
    go_type_name,
    is_failure,
    kind_of,
    no_such_overload,
    type_name,
)
from reparto.cel.work import start_work


class Frame:
    """The state of one evaluation: what it has cost, what it may cost, the device and the variables of macros by slot."""

    __slots__ = ("cost", "device", "limit", "slots")

    def __init__(self, device: MapValue, slots: int, limit: int) -> None:
        self.cost = 0
        self.limit = limit
        self.device = device
        self.slots: list[Value] = [None] * slots

    def charge(self, units: int) -> None:
        self.cost += units
        if self.cost > self.limit:
            raise BudgetExceeded


Run: TypeAlias = Callable[[Frame], Value]
ABSENT: Final = object()
"""What `pick` yields where there is nothing. It is never the value of an expression."""
KEY_TYPES: Final = frozenset((str, int, UInt, bool, float))
"""What may be used to select from a map or list."""


class Step:
    """One planned node: how to run it, and its value if that is known already."""

    __slots__ = ("attribute", "constant", "run")

    def __init__(self, run: Run, constant: Value = ABSENT, attribute: Attribute | None = None) -> None:
        self.run = run
        self.constant = constant
        self.attribute = attribute

    @property
    def is_constant(self) -> bool:
        return self.constant is not ABSENT


def constant(value: Value) -> Step:
    return Step(lambda frame: value, value)


def _list_index(key: Value) -> int | Failure:
    kind = kind_of(key)
    if kind is int:
        return key
    if kind is float:
        if key.is_integer() and -9223372036854775808.0 < key < 9223372036854775808.0:
            return int(key)
        return Failure(f"unsupported index value {show(key)} in list")
    if kind is UInt:
        return int(key) if key <= INT_MAX else Failure(f"unsupported index value {show(key)} in list")
    return Failure(f"unsupported index type '{type_name(key)}' in list")


def pick(value: Value, key: Value) -> Value:
    """The entry of a value under a key; ABSENT where a presence test would say no; a Failure where the key makes no sense."""
    kind = kind_of(value)
    if kind is MapValue:
        return value.find(key, ABSENT)
    if kind is tuple or kind is list:
        index = _list_index(key)
        if type(index) is not int:
            return index
        return value[index] if 0 <= index < len(value) else ABSENT
    if kind is EmptyMessage:
        return Failure(f"no such field '{show(key)}'")
    return ABSENT


def _missing(value: Value, key: Value) -> Failure:
    if type(value) is tuple or type(value) is list:
        return Failure(f"index out of bounds: {show(key)}")
    return Failure(f"no such key: {show(key)}")


class Qualifier:
    """A selection or index with a key known beforehand."""

    __slots__ = ("key", "node", "optional")

    def __init__(self, node: int, key: Value, optional: bool) -> None:
        self.node = node
        self.key = key
        self.optional = optional

    def apply(self, frame: Frame, value: Value) -> Value:
        found = pick(value, self.key)
        if found is ABSENT:
            found = _missing(value, self.key)
            found.node = self.node
        frame.charge(1)
        return found

    def try_apply(self, frame: Frame, value: Value) -> Value:
        found = pick(value, self.key)
        if found is not ABSENT and not is_failure(found):
            frame.charge(1)
        return found


class PresenceQualifier(Qualifier):
    """The last selection under `has`."""

    __slots__ = ()

    def apply(self, frame: Frame, value: Value) -> Value:
        found = pick(value, self.key)
        frame.charge(1)
        return found if is_failure(found) else found is not ABSENT


class ComputedQualifier(Qualifier):
    """An index whose key is computed."""

    __slots__ = ("resolve",)

    def __init__(self, node: int, resolve: Run, optional: bool) -> None:
        super().__init__(node, None, optional)
        self.resolve = resolve

    def _found(self, frame: Frame, value: Value) -> tuple[Value, Value]:
        key = self.resolve(frame)
        if is_failure(key):
            return key, key
        if type(key) not in KEY_TYPES:
            return key, Failure(f"invalid qualifier type: {go_type_name(key)}")
        return key, pick(value, key)

    def apply(self, frame: Frame, value: Value) -> Value:
        key, found = self._found(frame, value)
        if found is ABSENT:
            found = _missing(value, key)
            found.node = self.node
        frame.charge(1)
        return found

    def try_apply(self, frame: Frame, value: Value) -> Value:
        found = self._found(frame, value)[1]
        if found is not ABSENT and not is_failure(found):
            frame.charge(1)
        return found


class Attribute:
    """A root value and the qualifiers applied to it. Qualifiers are appended while planning the nodes above the root."""

    __slots__ = ("qualifiers", "root")
    charged = 1

    def __init__(self, root: Run) -> None:
        self.root = root
        self.qualifiers: list[Qualifier] = []

    def add(self, qualifier: Qualifier) -> None:
        self.qualifiers.append(qualifier)

    def resolve(self, frame: Frame) -> Value:
        value = self.root(frame)
        if is_failure(value):
            return value
        optional = type(value) is Optional
        if optional:
            if not value.present:
                return value
            value = value.value
        for qualifier in self.qualifiers:
            optional = optional or qualifier.optional
            if optional:
                value = qualifier.try_apply(frame, value)
                if value is ABSENT:
                    return NONE
            else:
                value = qualifier.apply(frame, value)
            if is_failure(value):
                return value
        return Optional(value) if optional else value


class ConditionalAttribute(Attribute):
    """`c ? a : b`: qualifiers go to both branches."""

    __slots__ = ("otherwise", "then")
    charged = 0

    def __init__(self, condition: Run, then: Attribute, otherwise: Attribute) -> None:
        super().__init__(condition)
        self.then = then
        self.otherwise = otherwise

    def add(self, qualifier: Qualifier) -> None:
        self.then.add(qualifier)
        if self.otherwise is not self.then:
            self.otherwise.add(qualifier)

    def resolve(self, frame: Frame) -> Value:
        condition = self.root(frame)
        if condition is True:
            return self.then.resolve(frame)
        if condition is False:
            return self.otherwise.resolve(frame)
        return condition if is_failure(condition) else no_such_overload()


def attribute_step(attribute: Attribute) -> Step:
    charged = attribute.charged
    resolve = attribute.resolve
    if not charged:
        return Step(resolve, attribute=attribute)

    def run(frame: Frame) -> Value:
        value = resolve(frame)
        frame.charge(1)
        return value

    return Step(run, attribute=attribute)


def as_attribute(step: Step) -> Attribute:
    return step.attribute if step.attribute is not None else Attribute(step.run)


class Plan:
    """A planned expression."""

    __slots__ = ("own_quantities", "run", "slots")

    def __init__(self, run: Run, slots: int, own_quantities: bool) -> None:
        self.run = run
        self.slots = slots
        self.own_quantities = own_quantities

    def frame(self, device: MapValue, limit: int) -> Frame:
        """The state of a new evaluation. `run` may raise InternalFailure, and BudgetExceeded when the cost passes the limit."""
        start_work()
        return Frame(device, self.slots, limit)
