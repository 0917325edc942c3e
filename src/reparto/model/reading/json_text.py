"""JSON bytes to documents: one object, a list, several one after another, or one a line. Objects stay bytes.

Up to DUPLICATES_UP_TO a file is read twice: once by Python's decoder, which sees repeated keys and NaN, and once to cut it into
objects. Above, only the second happens, at memory speed, and what is wrong shows when the objects are decoded.
"""

import codecs
import json
import re
from collections.abc import Callable, Iterator
from typing import Any, cast

import msgspec

from reparto.model.errors import Problem
from reparto.model.reading.documents import HEAD, Document, Head, depth_exceeds, item_kind
from reparto.model.reading.limits import DUPLICATES_UP_TO, MAX_DEPTH
from reparto.model.reading.positions import constant_line, repeated_key
from reparto.model.reading.yaml_text import not_an_object

Tick = Callable[[float], None]

_EARLY = "the file ends early: fetch it again"
BLANK = b" \t\r\n"
_SEPARATOR = re.compile(rb"[ \t\r\n]*,[ \t\r\n]*")
_BLANKS = re.compile(r"[ \t\r\n]*")
_TRAILING_COMMA = re.compile(r",\s*[}\]]")
_BYTE = re.compile(r" \(byte (\d+)\)")
_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.", re.DOTALL
)


class _List(msgspec.Struct):
    api_version: Any = msgspec.field(default="", name="apiVersion")
    kind: Any = ""
    items: list[msgspec.Raw] | msgspec.UnsetType | None = msgspec.UNSET
    spec: Any = msgspec.UNSET


_LIST = msgspec.json.Decoder(_List)
_RAW = msgspec.json.Decoder(msgspec.Raw)
_RAWS = msgspec.json.Decoder(list[msgspec.Raw])


class _Repeated(Exception):
    pass


class _NotFinite(Exception):
    pass


def documents(data: bytes, file: str, tick: Tick | None = None) -> Iterator[Document | Problem]:
    """Every object of the JSON `data` (UTF-8, no BOM), lists flattened; a Problem where it cannot be read, which ends the file."""
    if b"\\" in data and (rb"\ud" in data or rb"\uD" in data):  # backslashes are rare, and soon found missing
        data = _ESCAPE.sub(_paired, data)
    if len(data) > DUPLICATES_UP_TO and (envelope := _one_object(data)) is not None:
        yield from _objects(data, file, 1, 0, tick, envelope)
        return
    if len(data) <= DUPLICATES_UP_TO:
        parts, problem = _checked(data, file)
    else:
        parts, problem = _cut(data, file)
    for part, line in parts:
        yield from _objects(part, file, line, 0, tick)
    if problem is not None:
        yield problem


def _paired(match: re.Match[bytes]) -> bytes:
    """Half a surrogate pair is no character: Go's decoder reads U+FFFD there, msgspec nothing at all."""
    return b"\\ufffd" if match[1] else match[0]


def _problem(file: str, line: int, message: str, hint: str = "", value: Any = None) -> Problem:
    return Problem(file, line, "", "", "Decode", value, message, hint)


def _checked(data: bytes, file: str) -> tuple[list[tuple[bytes, int]], Problem | None]:
    """The values that stand in `data` one after another, each with its line, and what is wrong behind them."""
    text = data.decode("utf-8")
    decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse, parse_float=_finite)
    spans: list[tuple[int, int, int]] = []  # first character, last, line
    problem: Problem | None = None
    position = last = 0
    line = 1
    while True:
        position = cast(re.Match[str], _BLANKS.match(text, position)).end()
        if position == len(text):
            break
        line += text.count("\n", last, position)
        last = position
        try:
            value, end = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            problem = _problem(file, error.lineno, f"not JSON: {error.msg} (column {error.colno})", _advice(text, error.pos))
            break
        except _Repeated as error:
            found = repeated_key(text[position:])
            key, first, second = found if found else (str(error), 1, 1)
            problem = _problem(
                file,
                line + second - 1,
                f"key {key!r} is repeated (first on line {line + first - 1})",
                "keep one of them: the API server would not take both",
            )
            break
        except _NotFinite as error:
            problem = _problem(
                file, line + constant_line(text[position:]) - 1, f"{error} is no JSON number", "quote it if it is text"
            )
            break
        except RecursionError:
            problem = _problem(file, line, f"nested more than {MAX_DEPTH} levels deep")
            break
        except ValueError:  # Python's limit on digits; Kubernetes' integers have 64 bits
            problem = _problem(file, line, "a number with thousands of digits")
            break
        if isinstance(value, (dict, list)) and depth_exceeds(value):
            problem = _problem(file, line, f"nested more than {MAX_DEPTH} levels deep")
            break
        spans.append((position, end, line))
        position = end
    if len(spans) == 1 and problem is None:
        return [(data, spans[0][2])], None
    return [(text[start:end].encode(), line) for start, end, line in spans], problem


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _Repeated
    return value


def _refuse(constant: str) -> Any:
    raise _NotFinite(constant)


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise _NotFinite(text)
    return value


def _advice(text: str, position: int) -> str:
    rest = text[position : position + 1]
    before = text[:position].rstrip()[-1:]
    # Python 3.13 points at the comma itself, earlier ones behind it.
    if _TRAILING_COMMA.match(text, position) or (before == "," and rest in ("}", "]")):
        return "remove the comma before the closing bracket"
    if rest == "'":
        return "JSON quotes with \", not with '"
    if position >= len(text.rstrip()):
        return _EARLY
    return ""


def _one_object(data: bytes) -> _List | None:
    """The outermost object of a big file that is one, from the pass that checks its syntax; None for everything else."""
    try:
        if not data.isascii():
            _check_utf8(data)
        return _LIST.decode(data)
    except (ValueError, RecursionError):
        return None


def _cut(data: bytes, file: str) -> tuple[list[tuple[bytes, int]], Problem | None]:
    """Big files: one value, or one a line, or (slowly) values one after another. No search for repeated keys."""
    try:
        if not data.isascii():
            _check_utf8(data)
        _RAW.decode(data)
        return [(data, 1)], None
    except UnicodeDecodeError as error:
        return [], _problem(file, data.count(b"\n", 0, error.start) + 1, "not UTF-8 text", "save the file as UTF-8")
    except RecursionError:
        return [], _problem(file, 1, f"nested more than {MAX_DEPTH} levels deep")
    except msgspec.DecodeError as error:
        single = error
    try:
        raws = _RAW.decode_lines(data)
    except (msgspec.DecodeError, RecursionError):
        if "trailing characters" in str(single):
            return _checked(data, file)
        match = _BYTE.search(str(single))
        position = int(match[1]) if match else len(data)
        line, column = data.count(b"\n", 0, position) + 1, position - data.rfind(b"\n", 0, position)
        message = _BYTE.sub("", str(single)).removeprefix("JSON is malformed: ")
        hint = _EARLY if position >= len(data.rstrip()) else ""
        return [], _problem(file, line, f"not JSON: {message} (column {column})", hint)
    parts: list[tuple[bytes, int]] = []
    line, position = 1, 0
    for raw in raws:
        part = bytes(raw)
        start = data.find(part, position)
        line += data.count(b"\n", position, start)
        position = start
        parts.append((part, line))
    return parts, None


def _check_utf8(data: bytes) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")()
    view = memoryview(data)
    step = 1 << 20
    for start in range(0, len(view), step):
        decoder.decode(view[start : start + step], final=start + step >= len(view))


def _objects(
    data: bytes, file: str, line: int, depth: int, tick: Tick | None, envelope: _List | None = None
) -> Iterator[Document | Problem]:
    """The objects of one JSON value that begins on `line`; `envelope` is what was read of it already."""
    first = data.lstrip(BLANK)[:1] if data[:1] in (b" ", b"\t", b"\r", b"\n") else data[:1]
    kinds: tuple[Any, Any] | None
    try:
        if first == b"[":
            raws, kinds = _RAWS.decode(data), ("", "")
        elif first == b"{":
            envelope = envelope or _LIST.decode(data)
            head = Head(envelope.api_version, envelope.kind)
            kinds = item_kind(head)
            listed = envelope.items
            if kinds is None or listed is msgspec.UNSET or envelope.spec is not msgspec.UNSET or depth > 8:
                yield Document(file, line, raw=data, head=head)
                return
            raws = listed or []
        else:
            value = json.loads(data)
            if value is not None:
                yield not_an_object(value, file, line)
            return
    except msgspec.ValidationError:  # `items` is no list: an object that happens to have such a field
        yield Document(file, line, raw=data)
        return
    except (ValueError, RecursionError) as error:
        yield _problem(file, line, f"not JSON that can be read: {_BYTE.sub('', str(error))}")
        return
    api_version, kind = kinds
    position = end = 0  # of the item before
    newline = data.find(b"\n")  # the first: what is compact has none, and none need be counted
    for raw in raws:
        item = bytes(raw)
        start = _start(data, item, end)
        if 0 <= newline < start:
            line += data.count(b"\n", position, start)
        position, end = start, start + len(item)
        first = item[:1]
        head = HEAD.decode(item) if first == b"{" else None
        if head is not None and kind and head.kind == "":
            item = _named(item, api_version, kind)
            head = HEAD.decode(item)
        if head is not None and not _may_be_list(item, head):
            yield Document(file, line, raw=item, head=head)
        elif first in b"{[" and depth < 8:
            yield from _objects(item, file, line, depth + 1, None)
        else:
            yield from _scalar(item, file, line)
        if tick is not None:
            tick(position / max(1, len(data)))


def _start(data: bytes, item: bytes, end: int) -> int:
    """Where `item` stands in `data`, given the end of the item before it (0: it is the first)."""
    separator = _SEPARATOR.match(data, end) if end else None
    if separator is not None and data.startswith(item, separator.end()):
        return separator.end()
    return data.find(item, end)


def _scalar(item: bytes, file: str, line: int) -> Iterator[Document | Problem]:
    value = json.loads(item)
    if value is not None:
        yield not_an_object(value, file, line)


def _may_be_list(item: bytes, head: Head) -> bool:
    return item_kind(head) is not None and b'List"' in item and b'"items"' in item


def _named(item: bytes, api_version: Any, kind: Any) -> bytes:
    """An item of a typed list with the apiVersion and kind that the API leaves to the list."""
    prefix = msgspec.json.encode({"apiVersion": api_version, "kind": kind})[:-1]
    body = item[1:].lstrip(BLANK)
    return prefix + (body if body.startswith(b"}") else b"," + item[1:])
