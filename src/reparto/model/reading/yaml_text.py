"""YAML text to documents: values built straight from libyaml's events, which is several times faster than PyYAML's constructor.

Duplicate keys are refused, aliases may only stand for so much, nesting is bounded, and everything wrong says its line. After a
broken document the next one (`---`) is read again, so that one run tells all that is wrong with a file.
"""

import base64
import binascii
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import yaml
from yaml.events import (
    AliasEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from reparto.model.errors import Problem
from reparto.model.reading.documents import Document, Head, Place, item_kind, with_kind, yaml_place
from reparto.model.reading.limits import MAX_ALIASED, MAX_DEPTH, MAX_LINE, MAX_PROBLEMS
from reparto.model.reading.positions import event_parser, yaml_lines
from reparto.model.reading.scalars import WORDS, Scalar, key, resolved

Tick = Callable[[float], None]

TEMPLATE = "a Helm or Go template, not yet YAML"
RENDER = "render it first, for example with `helm template RELEASE CHART`, and give what that prints"

_TEMPLATE_MARK = re.compile(r"^[^\n#]*\{\{", re.MULTILINE)
_TABLE = re.compile(r"NAME(SPACE)?\s|No resources found")
_MARKED = "tag:yaml.org,2002:"
_FIRSTS = 10
_FIRSTS_WITHIN = 1 << 20  # characters
_TICK_EVERY = 8192  # events between two reports of progress


class _Broken(Exception):
    """The document cannot be read: reading resumes behind character `index`."""

    def __init__(self, line: int, index: int, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.line, self.index, self.message, self.hint = line, index, message, hint


class _Fault:
    """Something wrong in a document whose syntax is sound."""

    __slots__ = ("hint", "line", "message", "path")

    def __init__(self, line: int, path: str, message: str, hint: str = "") -> None:
        self.line, self.path, self.message, self.hint = line, path, message, hint


class _Node:
    """A document's root: its value, where it stands, and where the items of a list stand."""

    __slots__ = ("column", "end", "faults", "items", "line", "start", "value")

    def __init__(self) -> None:
        self.value: Any = None
        self.line = self.column = self.start = self.end = 0
        self.items: list[tuple[int, int, int]] = []  # line (0-based), character, column
        self.faults: list[_Fault] = []


def documents(text: str, file: str, tick: Tick | None = None) -> Iterator[Document | Problem]:
    """Every object of the YAML `text`, lists flattened, and a Problem for each document that cannot be read.

    `tick(share)` is called now and then with the part of the text that has been read. At least 8 MB/s on a plain laptop.
    """
    if (long := _long_line(text)) is not None:
        yield Problem(file, long, "", "", "Decode", None, f"a line of more than {MAX_LINE >> 20} MB", "break it up, or give JSON")
        return
    offset = line_offset = problems = 0
    while True:
        rest = text[offset:] if offset else text
        try:
            for node in _nodes(rest, tick):
                yield from _objects(node, rest, line_offset, file)
            return
        except _Broken as error:
            template = _template_line(text)
            if template:
                yield Problem(file, template, "", "", "Decode", None, TEMPLATE, RENDER)
                return
            line = line_offset + error.line
            yield Problem(file, line, "", "", "Decode", None, error.message, error.hint)
            problems += 1
            following = rest.find("\n---", max(0, error.index - 1))
            if following < 0 or problems >= MAX_PROBLEMS:
                return
            line_offset += rest.count("\n", 0, following + 1)
            offset += following + 1


def _objects(node: _Node, text: str, line_offset: int, file: str) -> Iterator[Document | Problem]:
    line = line_offset + node.line + 1
    if node.faults:
        if any(fault.message.startswith("{{") for fault in node.faults):
            yield Problem(file, line_offset + node.faults[0].line, "", "", "Decode", None, TEMPLATE, RENDER)
            return
        for fault in node.faults[:MAX_PROBLEMS]:
            yield Problem(file, line_offset + fault.line, "", fault.path, "Decode", None, fault.message, fault.hint)
        return
    ends = [start for _, start, _ in node.items[1:]]
    ends.append(node.end)
    places = [
        (line_offset + at + 1, yaml_place(text, start, end, line_offset + at + 1, column))
        for (at, start, column), end in zip(node.items, ends, strict=False)
    ]
    value = node.value
    if isinstance(value, list):
        for item, (at, place) in zip(cast(list[Any], value), _standing(value, places, line), strict=True):
            yield from flattened(item, file, at, place)
        return
    yield from flattened(value, file, line, yaml_place(text, node.start, node.end, line, node.column), places)


def flattened(
    value: Any, file: str, line: int, place: Place | None = None, places: Sequence[tuple[int, Place]] = (), depth: int = 0
) -> Iterator[Document | Problem]:
    """The objects of a decoded document: itself, or the items of a list (nested ones, too), each where `places` says it stands."""
    if value is None:
        return
    if not isinstance(value, dict):
        yield not_an_object(value, file, line)
        return
    mapping = cast(dict[str, Any], value)
    kinds = item_kind(Head(mapping.get("apiVersion", ""), mapping.get("kind", "")))
    items = mapping.get("items", ())
    if kinds is None or depth > 8 or not (items is None or isinstance(items, list)) or "spec" in mapping:
        yield Document(file, line, mapping, place=place)
        return
    for item, (at, below) in zip(cast(list[Any], items or []), _standing(items, places, line), strict=True):
        item = with_kind(cast(dict[str, Any], item), *kinds) if isinstance(item, dict) else item
        yield from flattened(item, file, at, below, (), depth + 1)


def _standing(items: Any, places: Sequence[tuple[int, Place]], line: int) -> list[tuple[int, Place | None]]:
    """Where each item of a list stands; at `line`, the list's own, for scalars, and for all if aliases stand for some."""
    containers = [isinstance(item, (dict, list)) for item in cast(list[Any], items or [])]
    if sum(containers) != len(places):
        return [(line, None)] * len(containers)
    following = iter(places)
    return [next(following) if contains else (line, None) for contains in containers]


def not_an_object(value: Any, file: str, line: int) -> Problem:
    """The problem of a document that is no mapping: text of a failed command, a number, a list."""
    names = ((bool, "a boolean"), (str, "text"), ((int, float), "a number"), (list, "a list"))
    what = next((name for kind, name in names if isinstance(value, kind)), "no mapping")
    shown = value if isinstance(value, (str, int, float, bool)) else None
    if isinstance(shown, str):
        shown = shown[:200]
    message, hint = f"not a Kubernetes object but {what}", "an object begins with apiVersion: and kind:"
    if isinstance(shown, str) and shown:
        message += f": {shown.splitlines()[0][:80]!r}"
        if _TABLE.match(shown):
            message, hint = "what kubectl prints for people, not objects", "give what it prints with -o yaml"
    return Problem(file, line, "", "", "Decode", shown, message, hint)


def _long_line(text: str) -> int | None:
    """The number of the first line that is longer than MAX_LINE."""
    if len(text) <= MAX_LINE:
        return None
    start, number = 0, 1
    while True:
        end = text.find("\n", start)
        if (end if end >= 0 else len(text)) - start > MAX_LINE:
            return number
        if end < 0:
            return None
        start, number = end + 1, number + 1


def _template_line(text: str) -> int:
    match = _TEMPLATE_MARK.search(text)
    return text.count("\n", 0, match.end()) + 1 if match else 0


def _nodes(text: str, tick: Tick | None) -> Iterator[_Node]:
    parser = event_parser(text)
    try:
        yield from _built(parser.get_event, text, tick)
    except yaml.MarkedYAMLError as error:
        raise _explained(error, text) from None
    except yaml.YAMLError as error:
        index = getattr(error, "position", 0)
        raise _Broken(text.count("\n", 0, index) + 1, index, f"not YAML: {getattr(error, 'reason', error)}") from None
    finally:
        parser.dispose()


def _built(next_event: Callable[[], Any], text: str, tick: Tick | None) -> Iterator[_Node]:
    """The loop that everything waits for: events in, one `_Node` out for each document. Locals and exact types, for speed."""
    plain: dict[str, Scalar] = dict(WORDS)  # plain scalars repeat: types, units, flags, keys
    keys: dict[str, str] = {}
    unset: Any = object()
    merge: Any = object()

    node = _Node()
    anchors: dict[str, tuple[Any, int]] = {}
    container: Any = unset  # the dict or list being filled; `unset` at the root
    is_map = False
    pending: Any = unset  # the key whose value comes next
    merged: set[str] | None = None  # keys of `container` that a merge brought, and that a key of its own may replace
    frames: list[tuple[Any, bool, Any, set[str] | None, str | None, int]] = []
    count = aliased = events = 0

    while True:
        event = next_event()
        kind = event.__class__
        count += 1
        if kind is ScalarEvent:
            value = event.value
            if is_map and pending is unset:
                # A key. Plain ones are looked up; `1:` and `yes:` become "1" and "true".
                if event.implicit[0] and event.tag is None:
                    if value == "<<":
                        pending = merge
                        continue
                    name = keys.get(value)
                    if name is None:
                        name = key(resolved(value))
                        if name is None:
                            mark = event.start_mark
                            raise _Broken(mark.line + 1, mark.index, "a key is null", "quote it if it is meant as text")
                        keys[value] = name
                else:
                    name = value
                if event.anchor:
                    anchors[event.anchor] = (value, 1)
                if name in container:
                    if merged is not None and name in merged:
                        merged.discard(name)
                    else:
                        node.faults.append(_repeated(name, event, frames, container, pending, node, text))
                pending = name
                continue
            if event.implicit[0] and event.tag is None:
                try:
                    value = plain[value]
                except KeyError:
                    found = resolved(value)
                    if len(value) <= 64:
                        if len(plain) > 200_000:
                            plain = dict(WORDS)
                        plain[value] = found
                    value = found
                if value.__class__ is float and (value != value or value in (float("inf"), float("-inf"))):
                    node.faults.append(
                        _Fault(
                            event.start_mark.line + 1,
                            _path(frames, container, pending),
                            f"{event.value} is no JSON number",
                            "quote it if it is text",
                        )
                    )
            elif event.tag is not None:
                value = _tagged(event)
            if event.anchor:
                anchors[event.anchor] = (value, 1 + len(event.value) // 64)
            if container is unset:
                mark = event.start_mark
                node.line, node.start, node.column = mark.line, mark.index, mark.column
        elif kind is MappingStartEvent or kind is SequenceStartEvent:
            mark = event.start_mark
            depth = len(frames)
            if is_map and pending is unset:
                raise _Broken(
                    mark.line + 1,
                    mark.index,
                    "a mapping or list stands where a key must be",
                    "quote it, if the braces are meant as text",
                )
            if depth == 0:
                node.line, node.start, node.column = mark.line, mark.index, mark.column
            elif depth >= MAX_DEPTH:
                raise _Broken(mark.line + 1, mark.index, f"nested more than {MAX_DEPTH} levels deep")
            elif (depth == 2 and not is_map and frames[1][2] == "items") or (depth == 1 and not is_map):
                node.items.append((mark.line, mark.index, mark.column))
            frames.append((container, is_map, pending, merged, event.anchor, count))
            is_map = kind is MappingStartEvent
            container = {} if is_map else []
            pending = unset
            merged = None
            continue
        elif kind is MappingEndEvent or kind is SequenceEndEvent:
            value = container
            container, is_map, pending, merged, anchor, began = frames.pop()
            if anchor:
                anchors[anchor] = (value, count - began + 1)
        elif kind is AliasEvent:
            mark = event.start_mark
            if event.anchor not in anchors:
                inside = any(frame[4] == event.anchor for frame in frames)
                raise _Broken(
                    mark.line + 1, mark.index, f"alias *{event.anchor} {'contains itself' if inside else 'has no anchor'}"
                )
            value, size = anchors[event.anchor]
            count += size
            aliased += size
            if aliased > MAX_ALIASED:
                raise _Broken(
                    mark.line + 1,
                    mark.index,
                    f"aliases stand for more than {MAX_ALIASED:,} values",
                    "write the values out, or split the document",
                )
            if is_map and pending is unset:
                name = key(value) if not isinstance(value, (dict, list)) else None
                if name is None:
                    raise _Broken(mark.line + 1, mark.index, f"alias *{event.anchor} cannot be a key")
                if name in container:
                    node.faults.append(_repeated(name, event, frames, container, pending, node, text))
                pending = name
                continue
        else:
            if kind is DocumentEndEvent:
                node.end = event.start_mark.index
                yield node
                node = _Node()
                anchors = {}
                count = aliased = 0
            elif kind is StreamEndEvent:
                return
            elif kind is DocumentStartEvent and tick is not None:
                tick(event.start_mark.index / max(1, len(text)))
            continue

        # `value` is complete: put it where it belongs.
        if is_map:
            if pending is merge:
                merged = _merge(container, value, merged, event)
            else:
                container[pending] = value
            pending = unset
        elif container is not unset:
            container.append(value)
        else:
            node.value = value
        events += 1
        if tick is not None and events >= _TICK_EVERY:
            events = 0
            tick(event.start_mark.index / max(1, len(text)))


def _tagged(event: Any) -> Any:
    """A scalar with an explicit tag: `!!str 5` is text, `!!int "5"` a number; application tags (`!Ref`) leave the text as it is."""
    tag, text = event.tag, event.value
    mark = event.start_mark
    if not tag.startswith(_MARKED):
        return text
    name = tag.removeprefix(_MARKED)
    if name == "binary":
        try:
            return base64.b64decode(text, validate=False).decode("utf-8")
        except (binascii.Error, ValueError):
            raise _Broken(
                mark.line + 1, mark.index, "!!binary holds bytes that are no text", "Kubernetes objects are JSON: use text"
            ) from None
    if name in ("str", "timestamp"):
        return text
    value = resolved(text)
    wanted = {"int": int, "float": (int, float), "bool": bool, "null": type(None)}.get(name)
    if wanted is None:
        return text
    if (
        not isinstance(value, wanted)
        or (name in ("int", "float") and isinstance(value, bool))
        or value != value
        or value in (float("inf"), float("-inf"))
    ):
        raise _Broken(mark.line + 1, mark.index, f"{text!r} is no !!{name}")
    return value


def _merge(container: dict[str, Any], value: Any, merged: set[str] | None, event: Any) -> set[str]:
    """Apply `<<: value` where it stands, as yaml.v2 does: of several mappings the first wins, and keys that follow replace."""
    sources = cast(list[Any], value) if isinstance(value, list) else [value]
    if not all(isinstance(source, dict) for source in sources):
        mark = event.start_mark
        raise _Broken(mark.line + 1, mark.index, "<< merges mappings, and this is none")
    keys = set(merged or ())
    for source in reversed(sources):
        container.update(source)
        keys.update(source)
    return keys


def _path(frames: list[Any], container: Any, pending: Any) -> str:
    """The field path of the place being read: `spec.devices[3].name`."""
    steps = [(frame[0], frame[2]) for frame in frames[1:]]
    steps.append((container, pending))
    path = ""
    for parent, name in steps:
        if isinstance(parent, list):
            path += f"[{len(cast(list[Any], parent))}]"
        elif isinstance(name, str):
            path += f"[{name}]" if any(char in name for char in "./") else f".{name}" if path else name
    return path


def _repeated(name: str, event: Any, frames: list[Any], container: Any, pending: Any, node: _Node, text: str) -> _Fault:
    mark = event.start_mark
    path = _path(frames, container, pending)
    path += f"[{name}]" if any(char in name for char in "./") else f".{name}" if path else name
    steps = [str(len(frame[0])) if isinstance(frame[0], list) else str(frame[2]) for frame in frames[1:]]
    # Where the key was first takes another pass over the document: not for ever more of them, nor through megabytes.
    first = None
    if len(node.faults) < _FIRSTS and mark.index - node.start <= _FIRSTS_WITHIN:
        first = yaml_lines(text[node.start : mark.index], node.line + 1, node.column).get((*steps, name))
    where = f" (first on line {first})" if first else ""
    return _Fault(
        mark.line + 1, path, f"key {name!r} is repeated{where}", "keep one of them: kubectl and the API server would not take both"
    )


def _explained(error: yaml.MarkedYAMLError, text: str) -> _Broken:
    """libyaml's complaint in words that say what to do. Its marks are 0-based."""
    mark = error.problem_mark or error.context_mark
    line = mark.line + 1 if mark else 1
    index = mark.index if mark else 0
    problem = error.problem or error.context or "not YAML"
    rest = text[index : index + 1]
    content = _line_text(text, index)
    hint = ""
    if "nesting depth" in problem:  # libyaml's own limit, met while it looks ahead for a key
        return _Broken(line, index, f"nested more than {MAX_DEPTH} levels deep")
    if rest == "\t" or "'\\t'" in problem or re.match(r" *\t", content):
        return _Broken(line, index, "a tab is used for indentation, which YAML forbids", "use spaces")
    if error.context_mark and error.context_mark.line != line - 1:
        problem = f"{problem}, {error.context} that began on line {error.context_mark.line + 1}"
    if rest in ("@", "`", "%"):
        hint = "quote the value"
    elif "mapping values are not allowed" in problem:
        hint = "a second ': ' on one line: check the indentation, or quote the value"
    elif "could not find expected ':'" in problem or "expected <block end>" in problem:
        hint = "check the indentation of this line and the one before"
    elif "did not find expected node content" in problem or "did not find expected ','" in problem:
        hint = "a bracket that was opened on this line or before is not closed"
    elif "undefined alias" in problem:
        hint = "define the anchor first, or quote the *"
    return _Broken(line, index, f"not YAML: {problem}", hint)


def _line_text(text: str, index: int) -> str:
    start = text.rfind("\n", 0, index) + 1
    end = text.find("\n", index)
    return text[start : end if end >= 0 else len(text)]
