"""The API server's sentences about broken objects, in words that a person can act on.

Decoding speaks as Go's JSON library does ("cannot unmarshal bool into Go struct field …"), and that is what the Python API raises
and what conformance compares. People see the place beside the message anyway, so here the message shrinks to what was expected and
what was found, as it is written in the file: YAML's `n` is a boolean to Kubernetes, but `n` is what has to be put in quotes.
"""

import re
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from reparto.model.errors import ErrorType, FieldError

_UNMARSHAL = re.compile(r"json: cannot unmarshal (\w+)(?: \S+)? into Go struct field \S+ of type (\S+)")
_QUOTES = "put it in quotes: "
_FOUND = {"string": "text", "number": "a number", "bool": "a boolean", "object": "a mapping", "array": "a list", "null": "null"}
_WANTED = {
    "string": "text",
    "bool": "true or false",
    "int64": "a whole number",
    "int32": "a whole number",
    "resource.Quantity": "a quantity",
}
_SHORT = 60  # characters of a scalar that fit into the sentence


def in_words(error: FieldError, api_version: str, written: str | None) -> FieldError:
    """`error` of type Decode as a person reads it; `written` is the scalar at its path as it stands in the file, if one does."""
    if error.type != "Decode":
        return error
    if error.message == f'unknown field "{error.path}"':
        return replace(error, message=f"unknown field in {api_version}")
    match = _UNMARSHAL.fullmatch(error.message)
    if match is None:
        return error
    found, wanted = _FOUND[match[1]], _wanted(match[2])
    if found == wanted:  # a whole number that does not fit, or has a point
        return error
    shown = written if written is not None and len(written) <= _SHORT else _text(error.value)
    message = f"{wanted} is expected here, and {found} was found" + (f": {shown}" if shown else "")
    hint = f'{_QUOTES}"{shown}"' if error.hint.startswith(_QUOTES) and shown else error.hint
    return replace(error, message=message, hint=hint)


def advice(error: FieldError) -> str:
    """What to write instead, where the rule that failed does not say so itself; "" where its message is all there is to say."""
    for pattern, hint in _ADVICE:
        if pattern.search(error.message):
            return hint + _example(error, dots="." in hint) if "lower-case" in hint else hint
    return _BY_TYPE.get(error.type, "")


def _example(error: FieldError, dots: bool) -> str:
    """The name that was probably meant."""
    if not isinstance(error.value, str):
        return ""
    name = re.sub(r"[^a-z0-9.]+" if dots else r"[^a-z0-9]+", "-", error.value.lower()).strip("-.")
    likely = 2 * len(name) > len(error.value) and name != error.value and len(name) <= _SHORT
    return f', for example "{name}"' if likely else ""


# By the API server's message, first match first.
_ADVICE = tuple(
    (re.compile(pattern), hint)
    for pattern, hint in (
        ("must be no more than", "shorten it"),
        ("a lowercase RFC 1123 label", "write lower-case letters, digits and '-', beginning and ending with a letter or digit"),
        (
            "a lowercase RFC 1123 subdomain",
            "write lower-case letters, digits, '-' and '.', beginning and ending with a letter or digit",
        ),
        (
            "(name part|valid label( key)?) must",
            "write letters, digits, '-', '_' and '.', beginning and ending with a letter or digit",
        ),
        (
            "must be an allocated device in the claim",
            "name one of status.allocation.devices.results by its driver, pool and device",
        ),
        ("can only be set if `perDeviceNodeSelection`", "set spec.perDeviceNodeSelection: true, or remove them from the device"),
        ("not a valid selector operator", "write In, NotIn, Exists, DoesNotExist, Gt or Lt"),
        ("must evaluate to bool", "compare it with something: a selector answers true or false"),
        ("no matching overload for .*(Quantity|quantity)", 'compare quantities with .compareTo(quantity("40Gi")) >= 0'),
        (
            "undefined field",
            'a device has driver, attributes and capacity, for example device.attributes["gpu.nvidia.com"].productName',
        ),
        (
            "compilation failed: .*(Syntax error|undeclared reference)",
            'write CEL over device, for example device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("40Gi")) >= 0',
        ),
    )
)

_BY_TYPE: Mapping[ErrorType, str] = {
    "FieldValueRequired": "add it",
    "FieldValueDuplicate": "remove or rename one of them",
    "FieldValueForbidden": "remove it",
    "FieldValueTooMany": "split it over several objects",
    "FieldValueTooLong": "shorten it",
}


def _wanted(go_type: str) -> str:
    return _WANTED.get(go_type) or ("a list" if go_type.startswith("[]") else "a mapping")


def _text(value: Any) -> str:
    """A scalar as YAML and JSON write it; "" for what is none, or too long."""
    if isinstance(value, bool):
        return str(value).lower()
    text = str(value) if isinstance(value, (str, int, float)) else ""
    return text if len(text) <= _SHORT and "\n" not in text else ""
