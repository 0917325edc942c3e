"""Which parts of a device the answer to an expression can depend on.

Most selectors look at two or three attributes, and a cluster has few distinct combinations of those: whoever knows what an
expression can see asks it once per combination instead of once per device. So the analysis must never leave anything out: two
devices that agree in all dependencies get the same value, or the same error with the same text. (The cost may differ: an entry that
is only looked for does not show its size.) Where it cannot tell, it takes more: a whole map where an index is computed, everything
where `device` itself is compared.

It follows parts of the device through aliases (`cel.bind`, `optMap`, `?:`, optional chains) and constant texts through bindings and
through macros over a list of literals. Two things about maps are kept apart, because names vary less than values: which entries
there are, and what they hold. `has(…)`, `in`, `size()` and a macro over keys see only the former.

`paths` says what an expression reads for people to look at; this says what it rests on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from reparto.cel import ast
from reparto.cel.ast import Node
from reparto.cel.environment import DEVICE_VARIABLE


class OwnDriver(Enum):
    """A domain that is whatever the device's driver is: `device.attributes[device.driver]`."""

    DOMAIN = "device.driver"


Domain: TypeAlias = str | Literal[OwnDriver.DOMAIN]


class Dependency(msgspec.Struct, frozen=True):
    """A part of the device.

    `section` is `driver`, `allowMultipleAllocations`, `attributes` or `capacity`; the last two may be narrowed to a domain and to a
    name in it. With `presence` it matters only which entries there are (of a whole map: in which order), not what they hold.
    """

    section: str
    domain: Domain | None = None
    name: str | None = None
    presence: bool = False

    def covers(self, other: Dependency) -> bool:
        """Whether devices that agree in this part also agree in `other`."""
        return (
            self.section == other.section
            and (self.domain is None or self.domain == other.domain)
            and (self.name is None or self.name == other.name)
            # The names of a domain cannot be told from the names of all domains.
            and (not self.presence or (other.presence and (self.domain is not None or other.domain is None)))
        )


_SECTIONS: Final = ("attributes", "capacity")
_PLAIN: Final = ("driver", "allowMultipleAllocations")
_FOLLOWED: Final = 64
"""Combinations of alias and key that are followed one by one; beyond, the whole map is taken."""

_SAME: Final = frozenset(("dyn", "optional.of", "value", "or", "orValue"))
"""Functions that return an operand as it is, or wrapped, or taken out of its wrapping."""


class _Part(NamedTuple):
    """A map within the device: `device` itself, a section, or a domain of it."""

    section: str | None = None
    domain: Domain | None = None


_Text: TypeAlias = str | Literal[OwnDriver.DOMAIN]


class _Value(NamedTuple):
    """What is known of a value: the maps of the device that it may be, and the texts of which it surely is one, if it is any."""

    parts: frozenset[_Part] = frozenset()
    texts: frozenset[_Text] | None = None


_OTHER: Final = _Value()
_Names: TypeAlias = Mapping[str, _Value]


def dependencies_of(root: Node) -> tuple[Dependency, ...]:
    """The parts on which the value or error of a resolved expression can depend, none covered by another, in a fixed order.

    What every evaluation depends on is left out: a device with a broken attribute fails whatever the expression. Cost: linear in
    the size of the expression, and quadratic in the number of parts.
    """
    found = _Analysis()
    found.use(found.value(root, {}))
    distinct = list(dict.fromkeys(found.dependencies))
    return tuple(one for one in distinct if not any(other is not one and other.covers(one) for other in distinct))


class _Analysis:
    def __init__(self) -> None:
        self.dependencies: list[Dependency] = []

    def depend(self, section: str, domain: Domain | None = None, name: str | None = None, presence: bool = False) -> None:
        self.dependencies.append(Dependency(section, domain, name, presence))

    # --- what is done with a value ------------------------------------------------------------------------------------------------

    def use(self, value: _Value) -> None:
        """The value as a whole matters."""
        for part in value.parts:
            self.contents(part)

    def used(self, nodes: Iterable[Node | None], names: _Names) -> _Value:
        for node in nodes:
            if node is not None:
                self.use(self.value(node, names))
        return _OTHER

    def contents(self, part: _Part) -> None:
        """All that a map holds matters."""
        if part.section is not None:
            self.depend(part.section, part.domain)
            return
        for section in (*_PLAIN, *_SECTIONS):
            self.depend(section)

    def keys(self, part: _Part) -> None:
        """It matters which keys a map has. Those of `device` never change."""
        if part.section is not None:
            self.depend(part.section, part.domain, presence=True)

    def entry(self, value: _Value, key: _Value) -> _Value:
        """What lies under a key."""
        texts = key.texts
        if texts is None or len(texts) * len(value.parts) > _FOLLOWED:
            self.use(value)
            return _OTHER
        parts: set[_Part] = set()
        for part in value.parts:
            for text in texts:
                if part.section is None:
                    if text is OwnDriver.DOMAIN:
                        self.contents(part)
                    elif text in _SECTIONS:
                        parts.add(_Part(text))
                    elif text in _PLAIN:
                        self.depend(text)
                elif part.domain is None:
                    parts.add(_Part(part.section, text))
                elif text is OwnDriver.DOMAIN:
                    self.contents(part)
                else:
                    self.depend(part.section, part.domain, text)
        return _Value(frozenset(parts))

    def present(self, value: _Value, key: _Value, *, member: bool) -> None:
        """Whether there is something under a key: as a `member` in the sense of `in`, else in that of `has`, for which every domain
        exists."""
        texts = key.texts
        for part in value.parts:
            if texts is None or len(texts) * len(value.parts) > _FOLLOWED:
                self.keys(part)
                continue
            for text in texts:
                if part.section is None:
                    continue
                if part.domain is None:
                    if member:
                        self.depend(part.section, text, presence=True)
                elif text is OwnDriver.DOMAIN:
                    self.keys(part)
                else:
                    self.depend(part.section, part.domain, text, presence=True)

    # --- expressions --------------------------------------------------------------------------------------------------------------

    def value(self, node: Node, names: _Names) -> _Value:
        match node:
            case ast.Literal(value=str() as text):
                return _Value(texts=frozenset((text,)))
            case ast.Ident(name=name):
                if name in names:
                    return names[name]
                return _Value(frozenset((_Part(),))) if _is_device(name) else _OTHER
            case ast.Select(operand=ast.Ident(name=name), field="driver") if name not in names and _is_device(name):
                self.depend("driver")
                return _Value(texts=frozenset((OwnDriver.DOMAIN,)))
            case ast.Select(operand=operand, field=field):
                return self.entry(self.value(operand, names), _Value(texts=frozenset((field,))))
            case ast.Index(operand=operand, key=key):
                return self.entry(self.value(operand, names), self.key(key, names))
            case ast.Has(operand=operand, field=field):
                self.present(self.value(operand, names), _Value(texts=frozenset((field,))), member=False)
                return _OTHER
            case ast.Call():
                return self.call(node, names)
            case ast.Conditional(condition=condition, then=then, otherwise=otherwise):
                self.used((condition,), names)
                return _either(self.value(then, names), self.value(otherwise, names))
            case ast.Bind(variable=variable, value=value, body=body):
                return self.value(body, {**names, variable.name: self.value(value, names)})
            case ast.OptionalMap(target=target, variable=variable, body=body):
                return self.value(body, {**names, variable.name: self.value(target, names)})
            case ast.SortBy(target=target, variable=variable, body=body):
                self.used((target,), names)
                return self.used((body,), {**names, variable.name: _OTHER})
            case ast.Comprehension():
                return self.comprehension(node, names)
            case _:
                # Logical operators, and literals of lists, maps and messages: what is put into a container counts as used.
                return self.used(ast.children(node), names)

    def key(self, node: Node, names: _Names) -> _Value:
        key = self.value(node, names)
        self.use(key)
        if isinstance(node, ast.Literal) and not isinstance(node.value, str):
            return _Value(texts=frozenset())  # no map of a device has such a key
        return key

    def call(self, node: ast.Call, names: _Names) -> _Value:
        operands = node.arguments if node.target is None else (node.target, *node.arguments)
        match node.function, operands:
            case "@in", (wanted, collection):
                key = self.key(wanted, names)
                self.present(self.value(collection, names), key, member=True)
                return _OTHER
            case "size", (measured,):
                for part in self.value(measured, names).parts:
                    self.keys(part)
                return _OTHER
            case "hasValue", (ast.Select(operand=operand, field=field, optional=True),):
                self.present(self.value(operand, names), _Value(texts=frozenset((field,))), member=False)
                return _OTHER
            case "hasValue", (ast.Index(operand=operand, key=key, optional=True),):
                held = self.value(operand, names)
                self.present(held, self.key(key, names), member=False)
                return _OTHER
            case function, (first, *others) if function in _SAME:
                value = self.value(first, names)
                for other in others:
                    value = _either(value, self.value(other, names))
                return value
            case _:
                return self.used(operands, names)

    def comprehension(self, node: ast.Comprehension, names: _Names) -> _Value:
        variables = [variable.name for variable in node.variables]
        element = _OTHER
        if isinstance(node.range, ast.ListLiteral) and all(_is_text(item) for item in node.range.elements):
            element = _Value(texts=frozenset(_texts(node.range.elements)))
        else:
            for part in self.value(node.range, names).parts:
                # One variable takes the keys, two take the values as well.
                (self.keys if len(variables) == 1 else self.contents)(part)
        inner = {**names, **dict.fromkeys(variables, _OTHER), variables[-1]: element}
        return self.used((node.filter, node.body), inner)


def _is_device(name: str) -> bool:
    return name.lstrip(".") == DEVICE_VARIABLE


def _either(one: _Value, other: _Value) -> _Value:
    texts = None if one.texts is None or other.texts is None else one.texts | other.texts
    return _Value(one.parts | other.parts, texts)


def _is_text(node: Node) -> bool:
    return isinstance(node, ast.Literal) and isinstance(node.value, str)


def _texts(nodes: Iterable[Node]) -> Iterable[str]:
    for node in nodes:
        if isinstance(node, ast.Literal) and isinstance(node.value, str):
            yield node.value
