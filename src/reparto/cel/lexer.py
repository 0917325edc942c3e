"""Splits the text of an expression into tokens.

Follows the lexical rules of CEL: the longest match wins, `in`, `true`, `false` and `null` are no identifiers, other reserved words
are (the parser refuses them where they may not stand). Text that starts no token is skipped and reported, so that one stray
character does not hide the next mistake.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from reparto.cel.errors import Issue, issue_at


class Token(NamedTuple):
    """A piece of text. `kind` is `ident`, `quoted` (in backticks), `int`, `uint`, `float`, `string`, `bytes`, `end`, or the text
    of an operator or keyword itself."""

    kind: str
    text: str
    start: int
    end: int


_ESCAPE = r"""\\(?:[abfnrtv"'\\?`]|[0-3][0-7]{2}|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})"""
_STRING = "|".join(
    (
        r'[rR]"""(?s:.*?)"""',
        r"[rR]'''(?s:.*?)'''",
        rf'"""(?:{_ESCAPE}|[^\\])*?"""',
        rf"'''(?:{_ESCAPE}|[^\\])*?'''",
        r'[rR]"[^"\n\r]*"',
        r"[rR]'[^'\n\r]*'",
        rf'"(?:{_ESCAPE}|[^\\"\n\r])*"',
        rf"'(?:{_ESCAPE}|[^\\'\n\r])*'",
    )
)
_EXPONENT = r"[eE][+-]?[0-9]+"
_TOKENS = re.compile(
    "|".join(
        (
            r"(?P<space>[\t \r\n\f]+|//[^\n]*)",
            rf"(?P<float>[0-9]+\.[0-9]+(?:{_EXPONENT})?|[0-9]+{_EXPONENT}|\.[0-9]+(?:{_EXPONENT})?)",
            r"(?P<uint>0x[0-9a-fA-F]+[uU]|[0-9]+[uU])",
            r"(?P<int>0x[0-9a-fA-F]+|[0-9]+)",
            rf"(?P<bytes>[bB](?:{_STRING}))",
            rf"(?P<string>{_STRING})",
            r"(?P<ident>[A-Za-z_][A-Za-z0-9_]*)",
            r"(?P<quoted>`[A-Za-z0-9_.\-/ ]+`)",
            r"(?P<operator>==|!=|<=|>=|&&|\|\||[<>\[\]{}().,\-!?:+*/%])",
        )
    )
)
_PARTIAL_ESCAPE = r"(?:\\(?:[0-3][0-7]?|[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7})?)?"
_UNFINISHED = re.compile(
    "|".join(
        (
            rf'"(?:{_ESCAPE}|[^\\"\n\r])*{_PARTIAL_ESCAPE}',
            rf"'(?:{_ESCAPE}|[^\\'\n\r])*{_PARTIAL_ESCAPE}",
            r"`[A-Za-z0-9_.\-/ ]*",
            r"[=&|]",
        )
    )
)
_KEYWORDS = frozenset({"in", "true", "false", "null"})


def tokenize(text: str) -> tuple[list[Token], list[Issue]]:
    """Tokens of the text, closed by one of kind `end`, and what could not be read."""
    tokens: list[Token] = []
    issues: list[Issue] = []
    position, length = 0, len(text)
    match = _TOKENS.match
    while position < length:
        found = match(text, position)
        if found is None:
            # Whatever could have begun a token is skipped with the character that spoiled it.
            begun = _UNFINISHED.match(text, position)
            end = min(length, (begun.end() if begun else position) + 1)
            issues.append(issue_at(text, position, f"Syntax error: token recognition error at: '{text[position:end]}'"))
            position = end
            continue
        kind = found.lastgroup or ""
        start, position = position, found.end()
        if kind == "space":
            continue
        piece = found.group()
        if kind == "operator" or piece in _KEYWORDS:
            kind = piece
        tokens.append(Token(kind, piece, start, position))
    tokens.append(Token("end", "<EOF>", length, length))
    return tokens, issues
