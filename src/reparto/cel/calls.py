"""Calls: finding the implementation by the run-time types of the operands, running it, charging for it.

A call of one or two operands evaluates them all, and is charged even when one of them failed. Calls that the reference binds by a
list of operands take them one by one and stop at the first failure, uncharged unless it was the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from reparto.cel.comparison import equal
from reparto.cel.costs import Rule
from reparto.cel.declarations import Overload
from reparto.cel.evaluator import Frame, Run
from reparto.cel.functions import BY_FUNCTION, BY_OVERLOAD, Implementation
from reparto.cel.types import Kind, Type
from reparto.cel.values import Duration, Failure, Optional, Timestamp, Value, is_failure, kind_of, no_such_overload, type_name


def _is_assignable(declared: Type, value: Value) -> bool:
    """Whether a value may be passed for a declared type; of lists and maps the first element decides."""
    kind = declared.kind
    if kind in (Kind.DYN, Kind.ANY, Kind.TYPE_PARAM):
        return True
    if declared.name != type_name(value):
        return False
    if kind is Kind.LIST:
        return not value or _is_assignable(declared.parameters[0], value[0])
    if kind is Kind.MAP and value.entries:
        key, item = next(iter(value.items()))
        return _is_assignable(declared.parameters[0], key) and _is_assignable(declared.parameters[1], item)
    return True


_RECEIVERS: Final = frozenset((str, Duration, Timestamp))
_UNGUARDED: Final = frozenset(("list_flatten", "list_flatten_int"))


def dispatcher(function: str, overloads: Sequence[Overload]) -> Implementation:
    """Calls the first overload whose signature fits the values."""
    candidates = [
        (overload.arguments, overload.id in _UNGUARDED, BY_OVERLOAD[overload.id])
        for overload in overloads
        if overload.id in BY_OVERLOAD
    ]

    def call(*values: Value) -> Value:
        for declared, unguarded, implementation in candidates:
            if len(declared) == len(values) and (unguarded or all(map(_is_assignable, declared, values))):
                return implementation(*values)
        raise Failure(f"no such overload: {function}({', '.join(map(type_name, values))})")

    return call


def operation(function: str) -> Implementation:
    """Calls the one implementation of an operator if its first operand can be operated on."""
    operation = BY_FUNCTION[function]
    implementation, receivers = operation.implementation, operation.receivers
    if receivers is None:
        return implementation

    def call(*values: Value) -> Value:
        kind = kind_of(values[0])
        if kind in receivers:
            return implementation(*values)
        # Texts and times are receivers in the reference: they refuse without naming the function.
        raise no_such_overload() if kind in _RECEIVERS else Failure(f"no such overload: {function}")

    return call


def called(call: Implementation, values: Sequence[Value], node: int) -> Value:
    try:
        return call(*values)
    except Failure as failure:
        if failure.node < 0:
            failure.node = node
        return failure


def eager_call(call: Implementation, rule: Rule | None, steps: Sequence[Run], node: int) -> Run:
    """A call of one or two operands: all are evaluated, and it is charged even when one failed."""

    def unary(frame: Frame) -> Value:
        value = operand(frame)
        result = value if is_failure(value) else called(call, (value,), node)
        frame.charge(1 if rule is None else rule((value,), result))
        return result

    def binary(frame: Frame) -> Value:
        left = operand(frame)
        right = second(frame)
        if is_failure(left):
            result = left
        elif is_failure(right):
            result = right
        else:
            result = called(call, (left, right), node)
        frame.charge(1 if rule is None else rule((left, right), result))
        return result

    operand = steps[0]
    if len(steps) == 1:
        return unary
    second = steps[1]
    return binary


def stepwise_call(call: Implementation, rule: Rule | None, steps: Sequence[Run], node: int) -> Run:
    """A call of any number of operands: the first failure ends it; without all operands it is not charged."""
    count = len(steps)

    def run(frame: Frame) -> Value:
        values: list[Value] = []
        for step in steps:
            value = step(frame)
            values.append(value)
            if is_failure(value):
                if len(values) == count:
                    frame.charge(1 if rule is None else rule(values, value))
                return value
        result = called(call, values, node)
        frame.charge(1 if rule is None else rule(values, result))
        return result

    return run


def equality_call(negated: bool, rule: Rule | None, left_step: Run, right_step: Run, node: int) -> Run:
    def run(frame: Frame) -> Value:
        left = left_step(frame)
        right = right_step(frame)
        result: Value
        if is_failure(left):
            result = left
        elif is_failure(right):
            result = right
        else:
            try:
                result = equal(left, right) is not negated
            except Failure as failure:
                failure.node = node
                # An equality that cannot be told is "not true", hence unequal.
                result = True if negated else failure
        frame.charge(1 if rule is None else rule((left, right), result))
        return result

    return run


def optional_or(left: Run, right: Run, unwrap: bool, node: int) -> Run:
    """`or` and `orValue`, which evaluate their argument only where the receiver is absent, and cost nothing themselves."""

    def run(frame: Frame) -> Value:
        value = left(frame)
        if type(value) is Optional:
            if not value.present:
                return right(frame)
            return value.value if unwrap else value
        if is_failure(value):
            return value
        failure = no_such_overload()
        failure.node = node
        return failure

    return run


def not_strictly_false(operand: Run) -> Run:
    """The condition of `all` and `exists`: go on unless the answer is known."""

    def run(frame: Frame) -> Value:
        value = operand(frame)
        frame.charge(1)
        return value if type(value) is bool else True

    return run
