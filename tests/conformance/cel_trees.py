"""Expressions as trees of text, so that a failing one can be shrunk: a part gives way to one of its own parts, or to a literal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Expr:
    """A piece of source text with pieces of its own; `type` is what it was meant to be, not what a checker would say."""

    type: str
    parts: tuple[str | Expr, ...]

    @property
    def text(self) -> str:
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    @property
    def children(self) -> list[Expr]:
        return [part for part in self.parts if isinstance(part, Expr)]

    def descendants(self) -> Iterator[Expr]:
        for child in self.children:
            yield child
            yield from child.descendants()

    def replaced(self) -> Iterator[Expr]:
        """Every tree that results from making one part smaller, the boldest first."""
        own = self.text
        for smaller in sorted(self.descendants(), key=lambda e: len(e.text)):
            if len(smaller.text) < len(own):
                yield smaller
        for literal in SIMPLEST.get(self.type.split("<")[0], ()):
            if len(literal) < len(own):
                yield Expr(self.type, (literal,))
        for index, part in enumerate(self.parts):
            if isinstance(part, Expr):
                for smaller in part.replaced():
                    yield Expr(self.type, (*self.parts[:index], smaller, *self.parts[index + 1 :]))


SIMPLEST = {
    "bool": ("true", "false"),
    "int": ("0", "1"),
    "uint": ("0u", "1u"),
    "double": ("0.0", "1.5"),
    "string": ('""', '"a"'),
    "bytes": ('b""', 'b"a"'),
    "list": ("[]", "[1]", '["a"]'),
    "map": ("{}", "{1: 1}", '{"a": 1}'),
    "quantity": ('quantity("1")',),
    "semver": ('semver("1.0.0")',),
    "duration": ('duration("1s")',),
    "timestamp": ('timestamp("2000-01-01T00:00:00Z")',),
    "ip": ('ip("1.2.3.4")',),
    "cidr": ('cidr("1.2.3.0/24")',),
    "url": ('url("http://a")',),
    "optional": ("optional.none()", "optional.of(1)"),
    "dyn": ("dyn(1)",),
    "null": ("null",),
}
