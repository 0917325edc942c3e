"""Reads protobuf's text format as far as the simple tests of cel-spec use it.

A message becomes a dict of lists, for any field may repeat and the schema is not known here:
`{"name": ["x"], "section": [{…}, {…}]}`. Strings stay bytes (a field may be text or bytes), bare words stay text, numbers become
int or float. Not a general parser.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

Message = dict[str, list[Any]]

_TOKEN = re.compile(
    r"""\s+|\#[^\n]*
    |(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
    |(?P<extension>\[\s*[A-Za-z_][\w./-]*\s*\](?=\s*[:{]))
    |(?P<number>-?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)f?(?!\w))
    |(?P<word>-?[A-Za-z_]\w*)
    |(?P<mark>[{}<>:;,\[\]])""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(rb"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
_SINGLE = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"a": b"\a", b"b": b"\b", b"f": b"\f", b"v": b"\v"}


def parse(text: str) -> Message:
    """The message that a file holds."""
    tokens = list(_tokens(text))
    message, end = _message(tokens, 0, "")
    if end != len(tokens):
        raise ValueError(f"unexpected {tokens[end]}")
    return message


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if not found:
            raise ValueError(f"cannot read {text[at : at + 40]!r}")
        if found.lastgroup:
            yield found.lastgroup, found[0]
        at = found.end()


def _unescape(match: re.Match[bytes]) -> bytes:
    octal, hexadecimal, short, long, single = match.groups()
    if octal:
        return bytes([int(octal, 8) & 255])
    if hexadecimal:
        return bytes([int(hexadecimal, 16)])
    if short or long:
        return chr(int(short or long, 16)).encode()
    return _SINGLE.get(single, single)


def _message(tokens: list[tuple[str, str]], at: int, close: str) -> tuple[Message, int]:
    message: Message = {}
    while at < len(tokens) and tokens[at][1] != close:
        kind, name = tokens[at]
        if name in (";", ","):
            at += 1
            continue
        if kind not in ("word", "extension"):
            raise ValueError(f"a field name was expected, not {name!r}")
        at += 1
        if tokens[at][1] == ":":
            at += 1
        values: list[Any] = []
        if tokens[at] == ("mark", "["):
            at += 1
            while tokens[at][1] != "]":
                value, at = _value(tokens, at)
                values.append(value)
                at += tokens[at][1] == ","
            at += 1
        else:
            value, at = _value(tokens, at)
            values.append(value)
        message.setdefault(name.strip("[] "), []).extend(values)
    return message, at


def _value(tokens: list[tuple[str, str]], at: int) -> tuple[Any, int]:
    kind, text = tokens[at]
    if text in ("{", "<"):
        message, at = _message(tokens, at + 1, "}" if text == "{" else ">")
        return message, at + 1
    if kind == "string":
        joined = b""
        while at < len(tokens) and tokens[at][0] == "string":
            joined += _ESCAPE.sub(_unescape, tokens[at][1][1:-1].encode())
            at += 1
        return joined, at
    if kind == "number":
        plain = text.removesuffix("f") if not text.lower().startswith(("0x", "-0x")) else text
        return (float(plain) if re.search(r"[.eE]", plain) and "x" not in plain.lower() else int(plain, 0)), at + 1
    if kind != "word":
        raise ValueError(f"a value was expected, not {text!r}")
    return text, at + 1
