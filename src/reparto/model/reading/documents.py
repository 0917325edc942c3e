"""One object of a file, and how lists become objects.

A `Document` holds either the decoded value (YAML, and what came wrapped in it) or the object's JSON bytes, decoded on demand: for a
dump of 100 MB the typed decoder goes straight from bytes to structs, and the dicts never exist.
"""

from collections.abc import Callable
from typing import Any, cast

import msgspec

from reparto.model.reading.limits import MAX_DEPTH
from reparto.model.reading.positions import Lines, Scalars, json_lines, line_of, segments, yaml_lines

Value = dict[str, Any]
Place = Callable[[Scalars], Lines]  # the lines of a document, and its plain scalars as written, worked out when asked


class Opened(msgspec.Struct, frozen=True):
    """A file is about to be read; every file yields one, even if it holds no object."""

    file: str


class Note(msgspec.Struct, frozen=True):
    """Something about a file that is neither error nor warning, worth a sentence: an elision, a passed-over table."""

    file: str
    line: int
    message: str


class Head(msgspec.Struct, frozen=True):
    """What tells an object's kind, read without decoding the rest."""

    api_version: Any = msgspec.field(default="", name="apiVersion")
    kind: Any = ""


HEAD = msgspec.json.Decoder(Head)
_ANY = msgspec.json.Decoder()


class Document:
    """An object as written. `line` is 1-based. `raw` is its JSON where it came as JSON, else None; `value` its dict in any case."""

    __slots__ = ("_head", "_index", "_place", "_scalars", "_value", "file", "line", "raw")

    def __init__(
        self,
        file: str,
        line: int,
        value: Value | None = None,
        raw: bytes | None = None,
        place: Place | None = None,
        head: Head | None = None,
    ) -> None:
        self.file = file
        self.line = line
        self.raw = raw
        self._value = value
        self._place = place
        self._index: Lines | None = None
        self._scalars: Scalars = {}
        self._head = head

    @property
    def value(self) -> Value:
        """The object as a dict. The caller owns it: every call on a JSON document decodes anew and keeps nothing."""
        if self._value is not None:
            return self._value
        return cast(Value, _ANY.decode(self.raw or b"{}"))

    @property
    def head(self) -> Head:
        """`apiVersion` and `kind` as written, "" where absent; they may be of any type."""
        if self._head is None:
            if self._value is not None:
                self._head = Head(self._value.get("apiVersion", ""), self._value.get("kind", ""))
            else:
                self._head = HEAD.decode(self.raw or b"{}")
        return self._head

    def line_of(self, path: str) -> int:
        """The line of the field that `path` names, or of the deepest part of it that the document has."""
        return line_of(self._indexed(), path) or self.line

    def written(self, path: str) -> str | None:
        """The plain scalar at `path` as it stands in the file (`n`, `0777`); None where there is none, and for JSON."""
        self._indexed()
        return self._scalars.get(segments(path))

    def _indexed(self) -> Lines:
        if self._index is None:
            if self.raw is not None:
                # One line for all: nothing to look up, and dumps of one line are the big ones.
                self._index = json_lines(self.raw.decode("utf-8", "replace"), self.line) if b"\n" in self.raw else {}
            else:
                self._index = self._place(self._scalars) if self._place else {}
        return self._index


def yaml_place(text: str, start: int, end: int, line: int, column: int) -> Place:
    """A lazy index of the node at characters `start` … `end` of `text`, which stands at `line` (1-based) and `column`."""
    return lambda scalars: yaml_lines(text[start:end], line, column, scalars)


def item_kind(head: Head) -> tuple[Any, Any] | None:
    """apiVersion and kind that items of this list have by default; None if the object is no list.

    `List` gives none to its items.
    """
    kind = head.kind
    if kind == "List":
        return "", ""
    if isinstance(kind, str) and kind.endswith("List"):
        return head.api_version, kind.removesuffix("List")
    return None


def depth_exceeds(value: Any, limit: int = MAX_DEPTH) -> bool:
    """Whether containers nest deeper than `limit`, found without recursion."""
    level: list[Any] = [value]
    for _ in range(limit + 1):
        following: list[Any] = []
        for container in level:
            children = cast(Value, container).values() if isinstance(container, dict) else cast("list[Any]", container)
            following.extend(cast(Any, child) for child in children if isinstance(child, (dict, list)))
        if not following:
            return False
        level = following
    return True


def with_kind(value: Value, api_version: Any, kind: Any) -> Value:
    """An item of a typed list, which the API writes without apiVersion and kind, made an object of its own."""
    if kind and "kind" not in value:
        return {"apiVersion": api_version, "kind": kind, **value}
    return value
