"""Text in double quotes, as Go's `%q` writes it: error messages of versions and CEL's string formatting show texts this way."""

ESCAPES = {'"': '\\"', "\\": "\\\\", "\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}
"""Characters with an escape of their own."""


def quoted(text: str) -> str:
    """`text` in double quotes: what Python's Unicode tables call printable as it is, the rest escaped."""
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    if character in ESCAPES:
        return ESCAPES[character]
    if character.isprintable():
        return character
    point = ord(character)
    if point < 0x80:
        return f"\\x{point:02x}"
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"
