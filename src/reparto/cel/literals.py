"""Values of literals in the text of an expression: numbers, strings and bytes with their escapes."""

from __future__ import annotations

import math
import re

INT_MIN, INT_MAX, UINT_MAX = -(2**63), 2**63 - 1, 2**64 - 1


class LiteralError(ValueError):
    """A literal that is well-formed as a token but has no value; the message is the reference's."""


def int_value(text: str, negative: bool) -> int:
    """A signed 64-bit number in decimal or, after `0x`, hexadecimal digits."""
    value = int(text[2:], 16) if text.startswith("0x") else _decimal(text)
    value = -value if negative else value
    if not INT_MIN <= value <= INT_MAX:
        raise LiteralError("invalid int literal")
    return value


def uint_value(text: str) -> int:
    """An unsigned 64-bit number; the text ends in `u`."""
    digits = text[:-1]
    value = int(digits[2:], 16) if digits.startswith("0x") else _decimal(digits)
    if value > UINT_MAX:
        raise LiteralError("invalid uint literal")
    return value


def _decimal(digits: str) -> int:
    # Python refuses to convert more than 4,300 digits; whatever has more than 20 is out of range anyway.
    digits = digits.lstrip("0")
    return int(digits[:21] or "0") if len(digits) > 21 else int(digits or "0")


def double_value(text: str, negative: bool) -> float:
    value = float(text)
    if math.isinf(value):
        raise LiteralError("invalid double literal")
    return -value if negative else value


_SIMPLE = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "`": "`",
    "?": "?",
}
_ESCAPES = re.compile(r"\\(?:[xX]([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-3][0-7]{2})|(.))", re.DOTALL)


def _content(token: str) -> tuple[str, bool]:
    """The text between the quotes, with newlines normalised, and whether it is raw."""
    token = token.replace("\r\n", "\n").replace("\r", "\n")
    raw = token[0] in "rR"
    if raw:
        token = token[1:]
    width = 3 if len(token) >= 6 and token[:3] in ("'''", '"""') else 1
    return token[width:-width], raw


def string_value(token: str) -> str:
    """The value of a string token, quotes and prefix included."""
    content, raw = _content(token)
    if raw or "\\" not in content:
        return content
    return _ESCAPES.sub(_character, content)


def _character(match: re.Match[str]) -> str:
    simple = match.group(5)
    if simple is not None:
        return _SIMPLE[simple]
    octal = match.group(4)
    code = int(octal, 8) if octal is not None else int(match.group(1) or match.group(2) or match.group(3), 16)
    if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
        raise LiteralError("invalid unicode code point")
    return chr(code)


def bytes_value(token: str) -> bytes:
    """The value of a bytes token. Hexadecimal and octal escapes are bytes here, and Unicode escapes are refused."""
    content, raw = _content(token[1:])
    if raw or "\\" not in content:
        return content.encode()
    value = bytearray()
    position = 0
    for match in _ESCAPES.finditer(content):
        value += content[position : match.start()].encode()
        position = match.end()
        hexadecimal, short, long, octal, simple = match.groups()
        if short is not None or long is not None:
            raise LiteralError("unable to unescape string")
        if simple is not None:
            value += _SIMPLE[simple].encode()
        else:
            value.append(int(octal, 8) if octal is not None else int(hexadecimal, 16))
    value += content[position:].encode()
    return bytes(value)
