"""`read`: every object of every source, in order, with what could not be read in its place."""

import os
import re
from collections.abc import Callable, Iterator, Sequence

from reparto.model.errors import Problem
from reparto.model.reading import json_text, yaml_text
from reparto.model.reading.compression import UTF_16, Unreadable
from reparto.model.reading.documents import Document, Note, Opened
from reparto.model.reading.files import File, files
from reparto.model.reading.limits import DUPLICATES_UP_TO
from reparto.model.reading.transcripts import cleaned, without_logs

Entry = Opened | Document | Problem | Note

_UTF_8_BOM = b"\xef\xbb\xbf"
_NOTHING = re.compile(r"\s*+(?:(?:#[^\n]*+|---|\.\.\.)\s*+)*+")  # possessive: a line of #### must not be tried in 2^n ways
_JSON = re.compile(r'[\s{\[]*["\]}]')  # what begins with a quoted key or value was meant as JSON
_LIST = re.compile(rb"kind[\"']?\s*:\s*[\"']?\w*List\b")
_COLOUR = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
# What YAML 1.1 forbids outside escapes (section 5.1): all controls but newline, carriage return, tab and NEL.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x84\x86-\x9f\ufffe\uffff]")


def read(sources: Sequence[str | os.PathLike[str]], progress: Callable[[int, int], None] | None = None) -> Iterator[Entry]:
    """The content of `sources` (files, directories, `-`): per file one `Opened`, then its `Document`s, `Problem`s and `Note`s in
    order.

    Lists are flattened. Nothing is raised for what a file contains. `progress(done, total)` counts bytes as they lie on disk.
    """
    listing = list(files(sources))
    total = sum(file.size() for file in listing if isinstance(file, File))
    done = 0
    for file in listing:
        if not isinstance(file, File):
            name, error = file
            yield Opened(name)
            yield _problem(name, error)
            continue
        size = file.size()
        yield Opened(file.name)
        yield from _entries(file, _share(progress, done, size, total))
        done += size
        if progress is not None:
            progress(done, total)


def _share(progress: Callable[[int, int], None] | None, done: int, size: int, total: int) -> Callable[[float], None] | None:
    if progress is None or not total:
        return None
    return lambda share: progress(done + int(share * size), total)


def _problem(name: str, error: Unreadable) -> Problem:
    return Problem(name, error.line, "", "", "Decode", None, error.message, error.hint)


def _entries(file: File, tick: Callable[[float], None] | None) -> Iterator[Entry]:
    """What `file` holds; and if that is nothing at all, that it is nothing."""
    try:
        data = _without_wrapping(file.read())
        entries = _parsed(data, file.name, tick)
    except Unreadable as error:
        yield _problem(file.name, error)
        return
    nothing = True
    for entry in entries:
        nothing = nothing and isinstance(entry, Note)
        yield entry
    if not nothing:
        return
    if _LIST.search(data):
        yield Note(file.name, 0, "an empty list: it holds no object")
    elif file.listed:
        yield Problem(file.name, 0, "", "", "Decode", None, "it holds no object", "check the command that wrote it")
    else:
        yield Note(file.name, 0, "it holds no object")


def _without_wrapping(data: bytes) -> bytes:
    if data.startswith(UTF_16):
        raise Unreadable("UTF-16 text", "save it as UTF-8; in PowerShell: kubectl … | Out-File -Encoding utf8 FILE")
    return without_logs(data.removeprefix(_UTF_8_BOM))


def _parsed(data: bytes, name: str, tick: Callable[[float], None] | None) -> Iterator[Entry]:
    """The objects of a file. Raises Unreadable, before the first of them, for what is no text."""
    if data.lstrip()[:1] in (b"{", b"[") and len(data) > DUPLICATES_UP_TO:
        return json_text.documents(data, name, tick)
    text = _text(data)
    if _NOTHING.fullmatch(text):
        return iter(())
    if text.lstrip()[:1] in ("{", "["):
        return _bracketed(data, text, name, tick)
    return _yaml(text, name, tick)


def _bracketed(data: bytes, text: str, name: str, tick: Callable[[float], None] | None) -> Iterator[Entry]:
    found = list(json_text.documents(data, name, tick))
    if not found or not isinstance(found[-1], Problem) or name.lower().endswith((".json", ".json.gz")):
        yield from found
        return
    # Not JSON: flow-style YAML (`{apiVersion: v1, …}`) or a transcript whose prompt begins with a bracket.
    fallback = list(_yaml(text, name, tick))
    broken = [entry for entry in fallback if isinstance(entry, Problem) and entry.message != yaml_text.TEMPLATE]
    yield from found if broken and _JSON.match(text) else fallback


def _yaml(text: str, name: str, tick: Callable[[float], None] | None) -> Iterator[Entry]:
    plain, notes = cleaned(text, name)
    yield from notes
    control = _CONTROL.search(plain)
    if control:
        plain = _COLOUR.sub("", plain)
        control = _CONTROL.search(plain)
    if control:
        line = plain.count("\n", 0, control.start()) + 1
        yield Problem(
            name,
            line,
            "",
            "",
            "Decode",
            None,
            f"control character U+{ord(control[0]):04X}, which YAML forbids",
            "remove it, or write it as an escape",
        )
        return
    yield from yaml_text.documents(plain, name, tick)


def _text(data: bytes) -> str:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise Unreadable("not UTF-8 text", "save the file as UTF-8", line) from None
    # A byte order mark in the middle comes from files put together with `cat`.
    return text.replace("\n\ufeff", "\n") if "\ufeff" in text else text
