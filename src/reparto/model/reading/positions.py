"""On which line a field stands, worked out only when an error needs it.

Keeping a line for every value would cost more memory than the values. A document instead remembers its own text; the first question
about a line parses that text once more, for positions alone, and keeps one number for each field.
"""

import re
from typing import Any

import yaml
from yaml.events import AliasEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent, SequenceStartEvent

from reparto.model.reading.limits import INDEX_UP_TO

Path = tuple[str, ...]
Lines = dict[Path, int]
Scalars = dict[Path, str]

_SEGMENT = re.compile(r"\[(.*?)\](?=[.\[]|$)|([^.\[]+)")

# Wrappers that some API versions have and others lack, while error paths may be those of either (validation-1.37.md section 1.3).
_OPTIONAL = ("exactly", "basic")


def segments(path: str) -> Path:
    """`spec.devices[3].attributes[foo/bar].string` → ("spec", "devices", "3", "attributes", "foo/bar", "string")."""
    return tuple(match[1] if match[1] is not None else match[2] for match in _SEGMENT.finditer(path))


def line_of(lines: Lines, path: str) -> int | None:
    """The line of the deepest part of `path` that the document has; None if it has none of it."""
    here: Path = ()
    for segment in segments(path):
        step = (*here, segment)
        if step not in lines:
            wrapped = [(*here, wrapper, segment) for wrapper in _OPTIONAL if (*here, wrapper, segment) in lines]
            if wrapped:
                step = wrapped[0]
            elif segment in _OPTIONAL:
                continue
            else:
                break
        here = step
    return lines.get(here)


def event_parser(text: str) -> Any:
    """libyaml's parser of `text` (PyYAML's own where libyaml is missing): `get_event()` until StreamEndEvent, then `dispose()`."""
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    return loader(text)


def yaml_lines(text: str, first_line: int, column: int, scalars: Scalars | None = None) -> Lines:
    """Lines of all fields of the one node that `text` begins with; it stood at `first_line`, `column` of its file.

    `text` may go on after the node. Broken YAML ends the index, it does not raise. `scalars` is given the plain scalars as they are
    written: what YAML takes for a number or a boolean is none by its looks.
    """
    lines: Lines = {}
    if len(text) > INDEX_UP_TO:
        return lines
    # Blanks in front restore the node's own indentation, on which block YAML depends.
    parser = event_parser(" " * column + text)
    stack: list[list[str | int | None]] = []  # [key or None when a key is expected] for mappings, [index] for sequences
    here: list[str] = []
    try:
        while True:
            event = parser.get_event()
            if event is None:
                break
            kind: type[Any] = event.__class__
            if kind is MappingEndEvent or kind is SequenceEndEvent:
                stack.pop()
                if not stack:
                    break
                here.pop()
                _advance(stack[-1])
                continue
            if kind not in (ScalarEvent, AliasEvent, MappingStartEvent, SequenceStartEvent):
                continue
            line = first_line + event.start_mark.line
            if stack and stack[-1][0] is None:
                key = str(event.value) if kind is ScalarEvent else ""
                stack[-1][0] = key
                lines.setdefault((*here, key), line)
                if kind in (MappingStartEvent, SequenceStartEvent):
                    break  # a key that is no scalar: refused when the document was read
                continue
            if stack:
                top = stack[-1][0]
                here.append(str(top))
                if isinstance(top, int):
                    lines[tuple(here)] = line
                if scalars is not None and kind is ScalarEvent and event.implicit[0]:
                    scalars[tuple(here)] = event.value
            else:
                lines[()] = line
            if kind is MappingStartEvent:
                stack.append([None])
            elif kind is SequenceStartEvent:
                stack.append([0])
            elif stack:
                here.pop()
                _advance(stack[-1])
            else:
                break
    except yaml.YAMLError:
        pass  # the rest of the text is not the node's; what was indexed stands
    finally:
        parser.dispose()
    return lines


def _advance(top: list[str | int | None]) -> None:
    top[0] = top[0] + 1 if isinstance(top[0], int) else None


_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:\n]|[^\s{}\[\],:"]+', re.DOTALL)


def json_lines(text: str, first_line: int) -> Lines:
    """Lines of all fields of the one JSON value that `text` begins with and that began on `first_line`."""
    lines: Lines = {}
    if len(text) > INDEX_UP_TO:
        return lines
    line = first_line
    stack: list[str | int | None] = []  # key or None (a key is expected) for objects, index for arrays
    for match in _TOKEN.finditer(text):
        token = match[0]
        first = token[0]
        if token == "\n":
            line += 1
        elif first in "}]":
            if stack:
                stack.pop()
            if not stack:
                break
        elif token == ",":
            if stack:
                top = stack[-1]
                stack[-1] = top + 1 if isinstance(top, int) else None
        elif token == ":":
            continue
        elif stack and stack[-1] is None:
            stack[-1] = _unquoted(token)
            lines.setdefault(tuple(map(str, stack)), line)
        else:
            path = tuple(map(str, stack))
            lines.setdefault(path, line)
            if first == "{":
                stack.append(None)
            elif first == "[":
                stack.append(0)
            elif not stack:
                break
    return lines


def _unquoted(token: str) -> str:
    import json

    if "\\" not in token:
        return token[1:-1]
    try:
        return str(json.loads(token))
    except ValueError:
        return token[1:-1]


def repeated_key(text: str) -> tuple[str, int, int] | None:
    """The first key that one object of the JSON `text` has twice: (key, line of the first, line of the second), 1-based."""
    line = 1
    stack: list[dict[str, int] | None] = []
    expecting_key = False
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == "\n":
            line += 1
        elif token == "{":
            stack.append({})
            expecting_key = True
        elif token == "[":
            stack.append(None)
            expecting_key = False
        elif token in "}]":
            if stack:
                stack.pop()
            expecting_key = False
        elif token == ",":
            expecting_key = bool(stack) and stack[-1] is not None
        elif expecting_key and stack:
            keys = stack[-1]
            if keys is not None:
                key = _unquoted(token)
                if key in keys:
                    return key, keys[key], line
                keys[key] = line
            expecting_key = False
    return None


def constant_line(text: str) -> int:
    """The line of the first bare NaN or Infinity in the JSON `text`; 1 if there is none."""
    line = 1
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token == "\n":
            line += 1
        elif token in ("NaN", "Infinity", "-Infinity"):
            return line
    return 1
