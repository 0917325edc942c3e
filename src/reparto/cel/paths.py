"""What an expression reads of a device, for explanations: `device.attributes["gpu.nvidia.com"].type` and the like."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

import msgspec

from reparto.cel.ast import (
    Bind,
    Comprehension,
    Has,
    Ident,
    Index,
    Literal,
    LiteralKind,
    Node,
    OptionalMap,
    Select,
    SortBy,
    children,
)
from reparto.cel.compilation import CheckedExpression
from reparto.cel.environment import DEVICE_VARIABLE


class Path(msgspec.Struct, frozen=True):
    """Something read from `device`: a section, and within attributes or capacity a domain and a name.

    None means that it is not known before evaluation, or that all of it is read.
    """

    section: str | None = None
    domain: str | None = None
    name: str | None = None


_Steps: TypeAlias = tuple[str | None, ...]
_Names: TypeAlias = Mapping[str, _Steps | None]


def paths_of(checked: CheckedExpression, node: Node) -> tuple[Path, ...]:
    """The distinct paths below a node, in order of appearance. Variables bound to a part of the device are followed."""
    found: dict[Path, None] = {}
    for steps in _reads(node, {}):
        found[Path(*steps[:3])] = None
    return tuple(found)


def _steps(node: Node, names: _Names) -> _Steps | None:
    """The steps from `device` to a node, None if it does not start there."""
    match node:
        case Ident(name=name):
            if name in names:
                return names[name]
            return () if name.lstrip(".") == DEVICE_VARIABLE else None
        case Select(operand=operand, field=field) | Has(operand=operand, field=field):
            base = _steps(operand, names)
            return None if base is None else (*base, field)
        case Index(operand=operand, key=key):
            base = _steps(operand, names)
            if base is None:
                return None
            known = key.value if isinstance(key, Literal) and key.kind is LiteralKind.STRING else None
            return (*base, known if isinstance(known, str) else None)
        case _:
            return None


def _reads(node: Node, names: _Names) -> Iterator[_Steps]:
    steps = _steps(node, names)
    if steps is not None:
        yield steps
        current: Node = node
        while isinstance(current, Select | Has | Index):
            if isinstance(current, Index):
                yield from _reads(current.key, names)
            current = current.operand
        return
    match node:
        case Bind(variable=variable, value=value, body=body):
            bound = _steps(value, names)
            if bound is None:
                yield from _reads(value, names)
            yield from _reads(body, {**names, variable.name: bound})
        case OptionalMap(target=target, variable=variable, body=body) | SortBy(target=target, variable=variable, body=body):
            yield from _reads(target, names)
            yield from _reads(body, {**names, variable.name: None})
        case Comprehension(range=range, variables=variables, filter=filter, body=body):
            yield from _reads(range, names)
            inner = {**names, **{variable.name: None for variable in variables}}
            for part in (filter, body):
                if part is not None:
                    yield from _reads(part, inner)
        case _:
            for child in children(node):
                yield from _reads(child, names)
