"""What can be wrong with input, as values: one field error, one decoding error, one problem with its place in a file.

`FieldError` speaks the API server's language (type, path, value, message) and knows no file. `Problem` is a `FieldError` or a
decoding error with its file, line and object: the ERROR of the JSON contract (design.md section 3), and what a person reads.
"""

import re
from collections.abc import Iterable
from typing import Any, Literal

import msgspec

ErrorType = Literal[
    "FieldValueRequired",
    "FieldValueInvalid",
    "FieldValueTooLong",
    "FieldValueTooMany",
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueNotSupported",
    "FieldValueNotFound",
    "FieldValueTypeInvalid",
    "InternalError",
    "Decode",
]

_OWN_WORD = 5  # shorter values may be in a message by chance
_PATTERN = re.compile(r",? *regex used for validation is '[^']*'(?=\))")  # the server's own, which the sentence says in words
_SHOWN = 100  # characters of a found value that fit into a sentence


class FieldError(msgspec.Struct, frozen=True):
    """One validation error as kube-apiserver 1.37.2 reports it: `type` at `path`, the offending `value`, and `message` (its
    detail)."""

    type: ErrorType
    path: str
    value: Any = None
    message: str = ""
    hint: str = ""


class DecodeError(ValueError):
    """An object that cannot be read as its kind at all (strict decoding): `path` names the field where that is known.

    `others` holds whatever else is wrong with the same object, each an error of its own; as text, several unknown fields are one
    sentence, as the API server writes them.
    """

    def __init__(self, message: str, path: str = "", value: Any = None, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.path, self.value, self.hint = message, path, value, hint
        self.others: tuple[DecodeError, ...] = ()


class Problem(msgspec.Struct, frozen=True, omit_defaults=False):
    """A problem with its place: the ERROR of the JSON contract. `line` is 1-based, 0 where unknown; `object` is
    Kind/namespace/name."""

    file: str
    line: int
    object: str
    path: str
    type: ErrorType
    value: Any
    message: str
    hint: str = ""

    def sentence(self) -> str:
        """`file:line: Kind/ns/name: path: message (found: value)`, and the hint on an indented line of its own."""
        where = f"{self.file}:{self.line}" if self.line else self.file
        message = _PATTERN.sub("", self.message)
        parts = [part for part in (where, self.object, self.path, message + self._found()) if part]
        text = ": ".join(parts)
        return f"{text}\n  {self.hint}" if self.hint else text

    def _found(self) -> str:
        """The value, where it is short and the message does not show it already."""
        value = self.value
        if self.type == "Decode" or not isinstance(value, (str, int, float)) or value == "":
            return ""
        text = f'"{value}"' if isinstance(value, str) else str(value).lower()
        if text in self.message or (len(text) > _OWN_WORD and str(value) in self.message):
            return ""
        return f" (found: {text})" if len(text) <= _SHOWN and "\n" not in text else ""


class ModelError(ValueError):
    """Input that cannot be used. `errors` holds every problem found, not only the first."""

    def __init__(self, errors: Iterable[Problem]) -> None:
        self.errors: list[Problem] = list(errors)
        super().__init__("\n".join(error.sentence() for error in self.errors))
