"""The moving parts of macros: what they walk over, and collections that grow in place.

A macro that collects (`map`, `filter`, `transformMap`) starts from an empty list or map and adds to it. The reference does that in
place, and so do these steps, or collecting would be quadratic. The cost is that of the addition it stands for.

Not copied: the reference grows any accumulator in place that starts as an empty list, even one that an author bound to `[]`, so
that `cel.bind(x, [], (x + [1]).size() + x.size())` is 2 there. Here it is 1, as CEL says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from reparto.cel.ast import Call, Ident, ListLiteral, Node
from reparto.cel.costs import LIST_COST
from reparto.cel.evaluator import ABSENT, Frame, Run, Step
from reparto.cel.expansion import ACCUMULATOR
from reparto.cel.texts import show
from reparto.cel.values import (
    LIST_LIMIT,
    BudgetExceeded,
    Failure,
    MapValue,
    Value,
    go_type_name,
    is_failure,
    is_list,
    key_of,
    type_name,
)


def appended(node: Node) -> ListLiteral | None:
    """The one-element list that a loop step adds to its accumulator."""
    match node:
        case Call(function="_+_", arguments=(Ident(name=name), ListLiteral(elements=(_,)) as appended)) if name == ACCUMULATOR:
            return appended if not appended.optional else None
        case _:
            return None


def growing(value: Value) -> Value:
    """A fresh collection to add to, where the accumulator starts empty."""
    if value == () and is_list(value):
        return []
    if type(value) is MapValue and not value.entries:
        return MapValue({})
    return value


def _as_list(value: Value) -> list[Value]:
    return value


def finished(value: Value) -> Value:
    """What a macro hands out: a list that it has grown becomes an ordinary list."""
    return tuple(_as_list(value)) if type(value) is list else value


def elements_of(value: Value) -> Iterable[Value] | Failure:
    """What a macro with one variable walks over: elements of a list, keys of a map."""
    if is_list(value):
        return value
    if type(value) is MapValue:
        return value.keys()
    return Failure(f"got '{go_type_name(value)}', expected iterable type")


def pairs_of(value: Value) -> Iterable[tuple[Value, Value]] | Failure:
    """What a macro with two variables walks over: index and element, or key and value."""
    if is_list(value):
        return enumerate(value)
    if type(value) is MapValue:
        return value.items()
    return Failure(f"unsupported comprehension range type: {go_type_name(value)}")


def append_step(element: Step, slot: int) -> Run:
    """`accumulator + [element]`."""
    value_of = element.run
    list_cost = 0 if element.is_constant else LIST_COST

    def run(frame: Frame) -> Value:
        frame.charge(1)
        grown = frame.slots[slot]
        value = value_of(frame)
        frame.charge(list_cost + 1)
        if is_failure(grown):
            return grown
        if is_failure(value):
            return value
        if len(grown) >= LIST_LIMIT:
            raise BudgetExceeded
        grown.append(value)
        return grown

    return run


def _insert(grown: MapValue, key: Value, value: Value, node: int) -> Failure | None:
    if grown.get(key, ABSENT) is not ABSENT:
        failure = Failure(f"insert failed: key {show(key)} already exists")
        failure.node = node
        return failure
    grown.entries[key_of(key)] = value
    return None


def insert_step(runs: Sequence[Run], node: int) -> Run:
    """`cel.@mapInsert(accumulator, key, value)` or `cel.@mapInsert(accumulator, map)`; keys must be new."""
    if len(runs) == 2:
        return _insert_map(runs[0], runs[1], node)
    target, key_step, value_step = runs

    def run(frame: Frame) -> Value:
        grown = target(frame)
        if is_failure(grown):
            return grown
        key = key_step(frame)
        if is_failure(key):
            return key
        value = value_step(frame)
        failure = value if is_failure(value) else _insert(grown, key, value, node)
        frame.charge(1)
        return grown if failure is None else failure

    return run


def _insert_map(target: Run, added_step: Run, node: int) -> Run:
    def run(frame: Frame) -> Value:
        grown = target(frame)
        added = added_step(frame)
        failure: Failure | None = None
        if is_failure(grown):
            failure = grown
        elif is_failure(added):
            failure = added
        elif type(added) is not MapValue:
            failure = Failure(f"no such overload: cel.@mapInsert(map, {type_name(added)})")
        else:
            for key, value in added.items():
                failure = _insert(grown, key, value, node)
                if failure is not None:
                    break
        frame.charge(1)
        return grown if failure is None else failure

    return run
