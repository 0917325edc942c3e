"""Shape of a function declaration: what the tables of the other modules are made of."""

from __future__ import annotations

import msgspec

from reparto.cel.types import Kind, Type

Release = tuple[int, int]


class Overload(msgspec.Struct, frozen=True):
    """One signature of a function.

    `id` is the reference's own name of the overload, the key by which evaluators find the implementation and estimators the cost.
    `arguments` starts with the receiver when `member` is set.
    """

    id: str
    function: str
    member: bool
    arguments: tuple[Type, ...]
    result: Type
    type_params: tuple[str, ...]
    """Names of the type variables in the signature, in order of first appearance, the result first."""


def _type_params(types: tuple[Type, ...]) -> tuple[str, ...]:
    names: dict[str, None] = {}
    pending = [*reversed(types)]
    while pending:
        current = pending.pop()
        if current.kind is Kind.TYPE_PARAM:
            names[current.name] = None
        pending.extend(reversed(current.parameters))
    return tuple(names)


Row = tuple[str, tuple[Type, ...], Type]


def _overload(name: str, member: bool, row: Row) -> Overload:
    id, arguments, result = row
    return Overload(id, name, member, arguments, result, _type_params((result, *arguments)))


class Library(msgspec.Struct, frozen=True):
    """Functions that come and go together.

    `since` and `until` are Kubernetes releases, compared with the compatibility version of the environment; `until` is the first
    release without the library. Stored expressions see every library that has not been removed.
    """

    name: str
    overloads: tuple[Overload, ...]
    since: Release = (1, 0)
    until: Release | None = None


def function(name: str, *rows: Row) -> tuple[Overload, ...]:
    """Overloads called as `name(arguments)`; a row is id, arguments, result."""
    return tuple(_overload(name, False, row) for row in rows)


def method(name: str, *rows: Row) -> tuple[Overload, ...]:
    """Overloads called as `receiver.name(arguments)`; the first argument of a row is the receiver."""
    return tuple(_overload(name, True, row) for row in rows)
