"""What a syntax error says: the words that ANTLR, which the reference's parser is made with, finds for a token that does not fit.

ANTLR words an error by how it would recover from it: by dropping a token (`extraneous`), by making one up (`missing`), or not at
all (`mismatched`). Nothing is recovered here; the parser stops, and these functions look at the tokens around the place.
Source: ANTLR 4 `DefaultErrorStrategy`, read as facts.
"""

from __future__ import annotations

from collections.abc import Sequence

from reparto.cel.lexer import Token

Problem = tuple[str, int]
"""A message and the code point that it is about."""

STARTING = frozenset({"[", "{", "(", ".", "-", "!", "true", "false", "null", "float", "int", "uint", "string", "bytes", "ident"})
"""Kinds of tokens that an expression may begin with."""
# Where an expression may begin, in the order in which ANTLR lists what it expects.
_EXPECTED = (
    "'['",
    "']'",
    "'{'",
    "'}'",
    "'('",
    "')'",
    "'.'",
    "','",
    "'-'",
    "'!'",
    "'?'",
    "'true'",
    "'false'",
    "'null'",
    "NUM_FLOAT",
    "NUM_INT",
    "NUM_UINT",
    "STRING",
    "BYTES",
    "IDENTIFIER",
)
_OPTIONAL_STARTS = frozenset({"]", "}", ")", ",", "?"})
_ENDING = frozenset({"ident", "quoted", ")", "]", "}", "int", "uint", "float", "string", "bytes", "true", "false", "null"})
_SPELLINGS = {"ident": "IDENTIFIER", "end": "<EOF>"}


def spelled(kind: str) -> str:
    """A kind of token as messages write it."""
    return _SPELLINGS.get(kind, f"'{kind}'")


def unexpected(tokens: Sequence[Token], index: int, expected: str, kinds: tuple[str, ...] = ()) -> str:
    """The message about a token that is none of `kinds`, which `expected` spells."""
    found = tokens[index]
    if found.kind != "end" and _kind(tokens, index + 1) in (kinds or ("end",)):
        return f"Syntax error: extraneous input '{found.text}' expecting {expected}"
    closing = kinds in ((")",), ("]",), ("}",))
    if (closing and _could_follow(tokens, index)) or (kinds == (":",) and found.kind in STARTING):
        return f"Syntax error: missing {expected} at '{found.text}'"
    return f"Syntax error: mismatched input '{found.text}' expecting {expected}"


def _kind(tokens: Sequence[Token], index: int) -> str:
    return tokens[index].kind if index < len(tokens) else "end"


def _could_follow(tokens: Sequence[Token], index: int) -> bool:
    """Whether a token could stand after the missing bracket, which closes the innermost open one."""
    open_brackets: list[str] = []
    for position, token in enumerate(tokens[:index]):
        if token.kind in ("(", "[", "{", "?"):
            is_call = token.kind == "(" and is_call_opening(tokens, position)
            open_brackets.append("call" if is_call else token.kind)
        elif token.kind in (")", "]", "}", ":"):
            while open_brackets and open_brackets[-1] == "?":
                open_brackets.pop()
            if open_brackets and token.kind != ":":
                open_brackets.pop()
    while open_brackets and open_brackets.pop() == "?":
        pass
    enclosing = set(open_brackets)
    match tokens[index].kind:
        case "end":
            return True
        case ")":
            return bool(enclosing & {"(", "call"})
        case "]":
            return "[" in enclosing
        case "}":
            return "{" in enclosing
        case ",":
            return bool(enclosing & {"call", "[", "{"})
        case ":":
            return bool(enclosing & {"{", "?"})
        case _:
            return False


def no_expression(text: str, tokens: Sequence[Token], index: int) -> Problem:
    """About a token that begins no expression; what else could stand there depends on the token before."""
    found = tokens[index]
    before = tokens[index - 1] if index else None
    if before is not None and before.kind == "-" and tokens[max(index - 2, 0)].kind not in _ENDING:
        return no_alternative(text, tokens, index - 1, index)  # a negation, not a subtraction
    if found.kind == ".":
        return no_alternative(text, tokens, index, index + 1)
    also: tuple[str, ...] = ()
    if before is not None and before.kind == "(" and is_call_opening(tokens, index - 1):
        also = (")",)
    elif before is not None and before.kind == "[":
        is_index = index > 1 and tokens[index - 2].kind in _ENDING
        also = ("?",) if is_index else ("]", ",", "?")
    elif before is not None and before.kind == "{":
        also = ("}", ",", "?")
    allowed = STARTING | set(also)
    extraneous = (found.kind != "end" and _kind(tokens, index + 1) in allowed) or (before is not None and before.kind == "!")
    word = "extraneous" if extraneous else "mismatched"
    names = [name for name in _EXPECTED if name.strip("'") not in _OPTIONAL_STARTS or name.strip("'") in also]
    return f"Syntax error: {word} input '{found.text}' expecting {{{', '.join(names)}}}", found.start


def no_alternative(text: str, tokens: Sequence[Token], since: int, index: int) -> Problem:
    """About a token that nothing fits with, quoting the text from an earlier token on."""
    found = tokens[index]
    end = found.end if found.kind != "end" else tokens[index - 1].end
    return f"Syntax error: no viable alternative at input '{text[tokens[since].start : end]}'", found.start


def is_call_opening(tokens: Sequence[Token], index: int) -> bool:
    """Whether an opening parenthesis follows the name of a function."""
    return index > 0 and tokens[index - 1].kind == "ident"


_BINDING = ({"?"}, {"||"}, {"&&"}, {"<", "<=", ">", ">=", "==", "!=", "in"}, {"+", "-"}, {"*", "/", "%"})
"""Binary operators, those that bind least first."""


def abandoned_position(tokens: Sequence[Token], first: int, last: int) -> int | None:
    """Where the reference reports an error about an argument that breaks off before token `last`; None if it is a selection.

    That is at the operator that binds least among those that were read, as in a whole expression.
    """
    depth = 0
    outer: list[int] = []
    for index in range(first, last):
        kind = tokens[index].kind
        if depth == 0:
            outer.append(index)
        if kind in ("(", "[", "{"):
            depth += 1
        elif kind in (")", "]", "}"):
            depth -= 1
    kinds = [tokens[index].kind for index in outer]
    if not outer or "," in kinds:
        return None  # nothing, or too many arguments for the macro
    binary = [index for index in outer if index > first and tokens[index - 1].kind in _ENDING]
    for operators in _BINDING:
        found = [index for index in binary if tokens[index].kind in operators]
        if found:
            # A chain of && or || becomes a balanced tree, other operators lean to the left; of `?` the first is the outermost.
            return tokens[found[0] if "?" in operators else found[len(found) // 2 if len(operators) == 1 else -1]].start
    if tokens[first].kind in ("!", "-"):
        return tokens[first].start
    if kinds == ["("]:
        return abandoned_position(tokens, first + 1, last)
    if kinds[-1] == "." and len(kinds) > 1:
        outer.pop()  # a selection of nothing
    return _member_position(tokens, outer)


def _member_position(tokens: Sequence[Token], outer: Sequence[int]) -> int | None:
    """The same for an operand with its selections, calls and indices, of which `outer` are the tokens outside of brackets."""
    first = outer[0]
    leading = 1 if tokens[first].kind == "." and len(outer) > 1 else 0
    steps = [index for index in outer[1 + leading :] if tokens[index].kind in (".", "[", "(", "{")]
    if not steps:
        return tokens[outer[leading]].start
    root = steps[-1]
    is_selection = tokens[root].kind == "." and tokens[root + 1].kind != "?"
    if is_selection or (tokens[first].text == "has" and len(steps) == 1):
        return None
    return tokens[root].start
