"""The syntax of regular expressions as Go's regexp reads it, where google-re2 reads it differently.

Both are RE2, by the same author, and nearly everything means the same to both. The rest is settled here, before RE2 sees a pattern:

- names of Unicode classes are loose in Go (`\\p{L_}`, `\\p{letter}`, `\\Pp`), and it knows a few classes more; on the other hand it
  finds no script whose name has two words (`\\p{Old_Italic}`);
- names of groups are ASCII, groups nest less than a thousand deep, and `\\C` does not exist.

Not settled: RE2 refuses patterns that compile to more than 8 MiB (`\\pL{1000}`), Go draws that line much further out.
Source: Go 1.26 `regexp/syntax/parse.go`, read as facts.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import import_module
from typing import Any, Final

MAX_HEIGHT: Final = 1000
"""Height of a syntax tree; each capturing group adds one to whatever it holds."""

_UNQUOTED: Final = re.compile(r"\\Q(?:.*?\\E|.*)|\\[pP](?:\{[^}]*\}|[^{])|\\.|\((?:\?P?<(?P<name>[^>]*)>|\?)?|[)\[]", re.DOTALL)
_IN_CLASS: Final = re.compile(r"\[:.*?:\]|\\[pP](?:\{[^}]*\}|[^{])|\\.|\]", re.DOTALL)
_CLASS_OPENING: Final = re.compile(r"\^?\]?")
_SEPARATORS: Final = str.maketrans("", "", "_- ")

_ALIASES: Final = {
    "Any": ("Any",),
    "Lc": ("Lu", "Ll", "Lt"),
    "Casedletter": ("Lu", "Ll", "Lt"),
    "Letter": ("L",),
    "Uppercaseletter": ("Lu",),
    "Lowercaseletter": ("Ll",),
    "Titlecaseletter": ("Lt",),
    "Modifierletter": ("Lm",),
    "Otherletter": ("Lo",),
    "Mark": ("M",),
    "Combiningmark": ("M",),
    "Nonspacingmark": ("Mn",),
    "Spacingmark": ("Mc",),
    "Enclosingmark": ("Me",),
    "Number": ("N",),
    "Decimalnumber": ("Nd",),
    "Digit": ("Nd",),
    "Letternumber": ("Nl",),
    "Othernumber": ("No",),
    "Punctuation": ("P",),
    "Punct": ("P",),
    "Connectorpunctuation": ("Pc",),
    "Dashpunctuation": ("Pd",),
    "Openpunctuation": ("Ps",),
    "Closepunctuation": ("Pe",),
    "Initialpunctuation": ("Pi",),
    "Finalpunctuation": ("Pf",),
    "Otherpunctuation": ("Po",),
    "Symbol": ("S",),
    "Mathsymbol": ("Sm",),
    "Currencysymbol": ("Sc",),
    "Modifiersymbol": ("Sk",),
    "Othersymbol": ("So",),
    "Separator": ("Z",),
    "Spaceseparator": ("Zs",),
    "Lineseparator": ("Zl",),
    "Paragraphseparator": ("Zp",),
    "Control": ("Cc",),
    "Cntrl": ("Cc",),
    "Format": ("Cf",),
    "Surrogate": ("Cs",),
    "Privateuse": ("Co",),
}
"""Long names of general categories (Unicode's PropertyValueAliases), without separators, and what they are to RE2."""
_VISIBLE: Final = ("L", "M", "N", "P", "S", "Z")
_ASSIGNED: Final = (*_VISIBLE, "Cc", "Cf", "Co", "Cs")
_COMPLEMENTS: Final = {"C": _VISIBLE, "Other": _VISIBLE, "Cn": _ASSIGNED, "Unassigned": _ASSIGNED}
"""Classes that RE2 does not know, or knows without unassigned code points, by what they exclude."""


class PatternError(ValueError):
    """A text that is no RE2 expression."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"error parsing regexp: {problem}")


def compile_exactly(pattern: str) -> Any:
    """The pattern compiled by google-re2, which is imported when the first one is. Raises PatternError."""
    # By name: the package has no type information.
    re2: Any = import_module("re2")
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        detail = error.args[0] if error.args else ""
        raise PatternError(detail.decode("utf-8", "replace") if isinstance(detail, bytes) else str(detail)) from None


def for_re2(pattern: str) -> str:
    """A pattern that RE2 takes, and takes as Go takes the given one. Raises PatternError for what only Go refuses.

    What both refuse may pass: RE2 will say so. Cost: linear, and once a process 100 ms for each of the rare classes that RE2 lacks.
    """
    written: list[str] = []
    capturing: list[bool] = []
    captures = position = 0
    while (found := _UNQUOTED.search(pattern, position)) is not None:
        written.append(pattern[position : found.start()])
        position, token = found.end(), found.group()
        if token.startswith("("):
            name = found.group("name")
            if name is not None and not (name.isascii() and name.replace("_", "a").isalnum()):
                raise PatternError(f"invalid named capture: `{token}`")
            # Options may open a group (`(?i:a)`) or stand alone (`(?i)`); either way its end is a closing parenthesis.
            capturing.append(name is not None or token == "(")
            captures += capturing[-1]
            if captures >= MAX_HEIGHT:
                raise PatternError(f"expression nests too deeply: `{pattern}`")
        elif token == ")":
            captures -= capturing.pop() if capturing else False
        elif token == "[":
            end = _class_end(pattern, position)
            token += _IN_CLASS.sub(lambda inner: _rewritten(inner.group(), within=True), pattern[position:end])
            position = end
        else:
            token = _rewritten(token, within=False)
        written.append(token)
    written.append(pattern[position:])
    return "".join(written)


def _class_end(pattern: str, start: int) -> int:
    """Where a bracketed class ends that begins before `start`, its closing bracket included."""
    opening = _CLASS_OPENING.match(pattern, start)
    position = opening.end() if opening is not None else start
    while (found := _IN_CLASS.search(pattern, position)) is not None:
        position = found.end()
        if found.group() == "]":
            return position
    return len(pattern)


def _rewritten(escape: str, within: bool) -> str:
    """An escape for RE2; `within` a bracketed class."""
    if escape == "\\C":
        raise PatternError("invalid escape sequence: `\\C`")
    if escape[:2] not in ("\\p", "\\P") or len(escape) < 3:
        return escape
    name = escape[3:-1] if escape[2] == "{" else escape[2:]
    negated = (escape[1] == "P") != name.startswith("^")
    ranges = _ranges(_canonical(name.removeprefix("^")), negated)
    if ranges is None:
        raise PatternError(f"invalid character class range: `{escape}`")
    return ranges if within else f"[{ranges}]"


def _canonical(name: str) -> str:
    """A class name without separators, its first letter alone in upper case."""
    # Letters beyond ASCII stay as they are, and then are in no name.
    return name.translate(_SEPARATORS).capitalize() if name.isascii() else name


@lru_cache(maxsize=1024)
def _ranges(name: str, negated: bool) -> str | None:
    """What to write within brackets for a class; None if Go knows no such class."""
    if name == "Ascii":
        return r"\x{80}-\x{10FFFF}" if negated else r"\x00-\x7F"
    if name == "Assigned":
        name, negated = "Cn", not negated
    if name in _COMPLEMENTS:
        excluded = _COMPLEMENTS[name]
        return _union(excluded) if negated else _scanned(excluded)
    if not name.isalpha():
        return None
    parts = _ALIASES.get(name, (name,))
    if len(parts) > 1:
        return _scanned(parts) if negated else _union(parts)
    try:
        compile_exactly(f"\\p{{{parts[0]}}}")
    except PatternError:
        return None
    return f"\\{'P' if negated else 'p'}{{{parts[0]}}}"


def _union(classes: tuple[str, ...]) -> str:
    return "".join(f"\\p{{{name}}}" for name in classes)


def _scanned(excluded: tuple[str, ...]) -> str:
    """The ranges of all code points outside of these classes: within brackets, RE2 can write no intersection."""
    everything = "".join(map(chr, (*range(0xD800), *range(0xE000, 0x110000))))
    runs = compile_exactly(f"[^{_union(excluded)}]+").finditer(everything)
    return "".join(f"\\x{{{ord(run.group()[0]):X}}}-\\x{{{ord(run.group()[-1]):X}}}" for run in runs)
