"""What a plain YAML scalar is: the types that kubectl sees, which are YAML 1.1 as Go's yaml.v2 reads it, then JSON.

`yes`, `on` and `y` are true, `0777` is 511, `1_000` is 1000, `2026-01-01` stays text, `1e3` becomes 1000 because JSON writes it so.
PyYAML's own resolver differs (sexagesimal numbers, dates, no `y`), so it is not used.
Source: go.yaml.in/yaml/v2 resolve.go as sigs.k8s.io/yaml 1.6 uses it.
"""

import re
from decimal import Decimal

Scalar = str | int | float | bool | None

WORDS: dict[str, Scalar] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), float("nan")),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), float("inf")),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), float("-inf")),
}
NUMERIC = frozenset("0123456789+-.")

_INTEGER = re.compile(r"([+-]?)(?:0[xX]([0-9a-fA-F]+)|0[bB]([01]+)|0[oO]?([0-7]+)|(0|[1-9][0-9]*))")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_POINT = re.compile(r"\.[0-9]+(?:[eE][-+]?[0-9]+)?")


def resolved(text: str) -> Scalar:
    """The value of the plain scalar `text`. NaN and the infinities come back as floats, for the caller to refuse."""
    if text in WORDS:
        return WORDS[text]
    return number(text) if text[0] in NUMERIC else text


def number(text: str) -> Scalar:
    """`text`, which begins like a number, as one; the text itself if it is none (a date, a version, a quantity)."""
    if text[0] == ".":
        return _json_number(float(text)) if _POINT.fullmatch(text) else text
    plain = text.replace("_", "")
    if match := _INTEGER.fullmatch(plain):
        sign, hexadecimal, binary, octal, decimal = match.groups()
        digits, base = next(
            (part, base) for part, base in ((hexadecimal, 16), (binary, 2), (octal, 8), (decimal, 10)) if part is not None
        )
        if len(digits) <= 64:
            value = int(digits, base)
            value = -value if sign == "-" else value
            if -(1 << 63) <= value < (1 << 63) or (not sign and value < (1 << 64)):
                return value
    if _FLOAT.fullmatch(plain):
        value = float(plain)
        # Go's parser reports a number beyond float64 as an error, and the scalar then stays text.
        return text if value in (float("inf"), float("-inf")) else _json_number(value)
    return text


def _json_number(value: float) -> int | float:
    """A float as JSON carries it: whole numbers below 1e21 are written without a point, so they arrive as integers."""
    if not value.is_integer() or abs(value) >= 1e21:
        return value
    # The shortest digits that mean this float, then zeros, as Go writes it: not every digit that the float has.
    return int(value) if abs(value) < 2**53 else int(Decimal(repr(value)))


def key(value: Scalar) -> str | None:
    """A mapping key as JSON has it: numbers and booleans become text. None for null, which cannot be a key."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None or isinstance(value, str):
        return value
    return repr(value) if isinstance(value, float) else str(value)
