"""The simple tests of cel-spec as device selectors.

The language's own test suite knows nothing of devices, and a device selector must be bool. So a test that expects a value
becomes the selector "the expression has this type and equals this value", one that expects an error becomes a selector that
evaluates the expression and must fail, be it at compile time; variables become `cel.bind`. Both we and Kubernetes get the same
selectors.

Left out is what a device expression cannot contain: protobuf messages and enums, containers, declared functions, qualified
variables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import inf, isinf, isnan
from pathlib import Path
from typing import Any

from conformance import textproto
from conformance.textproto import Message

#: The files that concern device expressions; the others test protobuf, enums and libraries that Kubernetes does not have.
FILES = (
    *(
        "basic",
        "bindings_ext",
        "comparisons",
        "conversions",
        "fields",
        "fp_math",
        "integer_math",
        "lists",
        "logic",
        "macros",
        "macros2",
    ),
    *("namespace", "optionals", "parse", "plumbing", "string", "string_ext", "timestamps", "type_deduction"),
)

#: What a device expression cannot name: messages and enums. Timestamp and Duration are types of the language itself.
PROTOBUF = re.compile(r"google\.protobuf\.|proto[23]|TestAllTypes|cel\.expr")
WELL_KNOWN_NAMES = re.compile(r"google\.protobuf\.(Timestamp|Duration)\b(?!\s*{)")
SIMPLE_NAME = re.compile(r"(?!(?:true|false|null|in)$)[A-Za-z_]\w*")
TYPES = (
    *("bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint", "optional_type"),
    *("google.protobuf.Timestamp", "google.protobuf.Duration"),
)


@dataclass(frozen=True)
class SpecTest:
    """One test: its place in the suite and the selector that it became. `must_fail` where an error is expected."""

    name: str
    selector: str
    must_fail: bool


class NotForDevices(Exception):
    """The test needs something that no device expression has."""


def read_suite(folder: Path) -> Iterator[SpecTest]:
    """All tests of the suite that can be put as a device selector."""
    for stem in FILES:
        path = folder / f"{stem}.textproto"
        if not path.exists():
            continue
        suite = textproto.parse(path.read_text())
        for section in suite.get("section", []):
            for test in section.get("test", []):
                name = f"{stem}/{section['name'][0].decode()}/{test['name'][0].decode()}"
                try:
                    selector, must_fail = put(test)
                except NotForDevices:
                    continue
                yield SpecTest(name, selector, must_fail)


def put(test: Message) -> tuple[str, bool]:
    """The selector, and whether it must fail."""
    declared = test.get("type_env", [])
    if "container" in test or any("function" in declaration for declaration in declared):
        raise NotForDevices
    expression = test["expr"][0].decode()
    if PROTOBUF.search(WELL_KNOWN_NAMES.sub("", expression)):
        raise NotForDevices
    bound = [(binding["key"][0].decode(), binding["value"][0]) for binding in test.get("bindings", [])]
    if any(not SIMPLE_NAME.fullmatch(name) or "value" not in value for name, value in bound):
        raise NotForDevices
    if {declaration["name"][0].decode() for declaration in declared} - {name for name, _ in bound}:
        raise NotForDevices  # a variable without a value
    if "\n" in expression or "//" in expression:
        expression = f"\n{expression}\n"  # a comment at its end must not swallow what we put behind
    must_fail = "eval_error" in test or "any_eval_errors" in test
    holds = "result == result" if must_fail else condition(expected_value(test))
    selector = f"cel.bind(result, dyn({expression}), {holds})"
    for name, value in reversed(bound):
        selector = f"cel.bind({name}, {literal(value['value'][0])}, {selector})"
    return selector, must_fail


def expected_value(test: Message) -> Message:
    """What the test says the expression is worth; by the suite's convention true where it says nothing."""
    if "value" in test:
        return test["value"][0]
    if "typed_result" not in test:
        return {"bool_value": ["true"]}
    if "result" not in test["typed_result"][0]:
        raise NotForDevices  # only a type is deduced: there is nothing to evaluate
    return test["typed_result"][0]["result"][0]


def condition(value: Message) -> str:
    """That `result` is this value and of its type."""
    (kind, (content, *_)) = next(iter(value.items()))
    if kind == "double_value" and isnan(number(content)):
        return "type(result) == double && result != result"
    types = {
        "int64_value": "int",
        "uint64_value": "uint",
        "double_value": "double",
        "bool_value": "bool",
        "string_value": "string",
        "bytes_value": "bytes",
    }
    typed = f"type(result) == {types[kind]} && " if kind in types else ""
    if kind in ("list_value", "map_value"):  # elements of several types: the literal must not be checked as one type
        return f"result == {literal(value, dynamic=True)}"
    return f"{typed}result == {literal(value)}"


def number(content: Any) -> float:
    if isinstance(content, str):
        return {"inf": inf, "-inf": -inf, "infinity": inf, "nan": float("nan")}[content.lower()]
    return float(content)


def literal(value: Message, dynamic: bool = False) -> str:
    """CEL source of a value. With `dynamic` the elements of lists and maps hide their types."""
    (kind, (content, *_)) = next(iter(value.items()))

    def inner(element: Message) -> str:
        return f"dyn({literal(element, dynamic=True)})" if dynamic else literal(element)

    match kind:
        case "null_value":
            return "null"
        case "bool_value":
            return str(content)
        case "int64_value":
            return str(content)
        case "uint64_value":
            return f"{content}u"
        case "double_value":
            as_float = number(content)
            if isinf(as_float) or isnan(as_float):
                return f'double("{as_float}")'
            return repr(as_float)
        case "string_value":
            return '"' + "".join(escaped(character) for character in content.decode()) + '"'
        case "bytes_value":
            return 'b"' + "".join(f"\\x{byte:02x}" for byte in content) + '"'
        case "list_value":
            return "[" + ", ".join(inner(element) for element in content.get("values", [])) + "]"
        case "map_value":
            return (
                "{"
                + ", ".join(f"{inner(entry['key'][0])}: {inner(entry['value'][0])}" for entry in content.get("entries", []))
                + "}"
            )
        case "type_value":
            name = content.decode()
            if name not in TYPES:
                raise NotForDevices
            return name
        case "object_value":
            return well_known(content)
    raise NotForDevices


def well_known(content: Message) -> str:
    (name, (fields, *_)) = next(iter(content.items()))
    seconds, nanos = fields.get("seconds", [0])[0], fields.get("nanos", [0])[0]
    match name.rpartition("/")[2]:
        case "google.protobuf.Duration":
            sign = "-" if seconds < 0 or nanos < 0 else ""
            return f'duration("{sign}{abs(seconds)}.{abs(nanos):09d}s")'
        case "google.protobuf.Timestamp":
            moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
            return f'timestamp("{moment.year:04d}{moment:-%m-%dT%H:%M:%S}.{nanos:09d}Z")'
    raise NotForDevices


def escaped(character: str) -> str:
    if character in '"\\':
        return "\\" + character
    return character if character.isprintable() else f"\\U{ord(character):08x}"
