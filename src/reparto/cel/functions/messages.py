"""Protobuf's well-known messages as literals: `google.protobuf.Duration{seconds: 1}`.

No selector needs them, but the reference accepts them, and every such message is a plain CEL value once it is built: wrappers are
what they wrap, `Value`, `ListValue` and `Struct` are JSON, whose numbers are all doubles.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from reparto.cel.functions.conversions import FUNCTIONS as CONVERSIONS
from reparto.cel.values import (
    INT_MAX,
    INT_MIN,
    Duration,
    EmptyMessage,
    Failure,
    MapValue,
    Timestamp,
    UInt,
    Value,
    is_list,
    kind_of,
    no_such_overload,
    type_name,
)
from reparto.cel.work import spend

Builder: TypeAlias = Callable[[str, Mapping[str, Value]], Value]
"""Takes the name of a message and its fields. Raises Failure."""

_SECOND: Final = 1_000_000_000
_LARGEST_JSON_INTEGER: Final = 2**53 - 1
_ZEROS: Final[dict[type, Value]] = {bool: False, int: 0, UInt: UInt(0), float: 0.0, str: "", bytes: b""}
_WRAPPED: Final[dict[str, tuple[type, str]]] = {
    "google.protobuf.BoolValue": (bool, "bool"),
    "google.protobuf.BytesValue": (bytes, "[]uint8"),
    "google.protobuf.DoubleValue": (float, "float64"),
    "google.protobuf.FloatValue": (float, "float32"),
    "google.protobuf.Int32Value": (int, "int32"),
    "google.protobuf.Int64Value": (int, "int64"),
    "google.protobuf.StringValue": (str, "string"),
    "google.protobuf.UInt32Value": (UInt, "uint32"),
    "google.protobuf.UInt64Value": (UInt, "uint64"),
}
"""What a wrapper holds: our type, and Go's."""
_PROBLEMS: Final = {
    "string": "unsupported native conversion from string to '{}'",
    "int": "unsupported type conversion from 'int' to {}",
    "uint": "unsupported type conversion from 'uint' to {}",
    "double": "type conversion error from Double to '{}'",
    "bytes": "type conversion error from Bytes to '{}'",
    "bool": "type conversion error from bool to '{}'",
}


def _refused(message: str, name: str, problem: str) -> Failure:
    return Failure(f"field type conversion error for {message}.{name} value type: {problem}")


def _field(message: str, fields: Mapping[str, Value], name: str, kind: type, go_name: str) -> Any:
    """The value of a field, which must have exactly the Python type; the zero value where it is not set."""
    if name not in fields:
        return _ZEROS[kind]
    value = fields[name]
    if kind_of(value) is not kind:
        found = type_name(value)
        problem = _PROBLEMS.get(found, f"type conversion error from '{found}' to '{{}}'")
        raise _refused(message, name, problem.format(go_name))
    if go_name == "int32" and not -(2**31) <= value < 2**31:
        raise _refused(message, name, "integer overflow")
    if go_name == "uint32" and value >= 2**32:
        raise _refused(message, name, "unsigned integer overflow")
    return struct.unpack("f", struct.pack("f", value))[0] if go_name == "float32" else value


def _span(message: str, fields: Mapping[str, Value]) -> tuple[int, int]:
    return _field(message, fields, "seconds", int, "int64"), _field(message, fields, "nanos", int, "int32")


def _duration(message: str, fields: Mapping[str, Value]) -> Duration:
    seconds, nanos = _span(message, fields)
    # Out of range is capped, as protobuf's Go library does.
    return Duration(min(max(seconds * _SECOND + nanos, INT_MIN), INT_MAX))


def _timestamp(message: str, fields: Mapping[str, Value]) -> Timestamp:
    seconds, nanos = _span(message, fields)
    carried, rest = divmod(nanos, _SECOND)
    return Timestamp(seconds + carried, rest)


def _json(value: Value) -> Value:
    """A value as JSON holds it."""
    kind = kind_of(value)
    if kind in (bool, str, float) or value is None:
        return value
    if kind in (int, UInt):
        return float(value) if -_LARGEST_JSON_INTEGER <= value <= _LARGEST_JSON_INTEGER else str(int(value))
    if kind is bytes:
        return base64.b64encode(value).decode()
    if kind is Duration:
        return CONVERSIONS["duration_to_string"](value)
    if kind is Timestamp:
        return CONVERSIONS["timestamp_to_string"](value)
    if is_list(value):
        spend(20 * len(value))
        return tuple(map(_json, value))
    if type(value) is MapValue:
        spend(40 * len(value))
        return MapValue({_json_key(key): _json(item) for key, item in value.items()})
    raise Failure(f"type conversion error from '{type_name(value)}' to '*structpb.Value'")


def _json_key(key: Value) -> str:
    if type(key) is str:
        return key
    if type(key) in (int, UInt):
        return str(int(key))
    raise Failure(f"unsupported type conversion from '{type_name(key)}' to string")


_SCALARS: Final = {"number_value": (float, "float64"), "string_value": (str, "string"), "bool_value": (bool, "bool")}


def _value(message: str, fields: Mapping[str, Value]) -> Value:
    for name, value in fields.items():
        kind = _SCALARS.get(name)
        if kind is not None:
            return _field(message, fields, name, *kind)
        return None if name == "null_value" else _json(value)
    return None


def _list(message: str, fields: Mapping[str, Value]) -> Value:
    values = fields.get("values", ())
    if not is_list(values):
        raise no_such_overload()
    return _json(values)


def _struct(message: str, fields: Mapping[str, Value]) -> Value:
    values = fields.get("fields", MapValue({}))
    if type(values) is not MapValue:
        raise no_such_overload()
    return _json(values)


def _wrapper(message: str, fields: Mapping[str, Value]) -> Value:
    return _field(message, fields, "value", *_WRAPPED[message])


def _empty(message: str, fields: Mapping[str, Value]) -> EmptyMessage:
    return EmptyMessage()


def _any(message: str, fields: Mapping[str, Value]) -> Value:
    # A packed message would be unpacked by the reference. Nobody writes one by hand, so here none is.
    raise Failure("unsupported conversion to ref.Val: (*dynamicpb.Message)")


def _unknown(message: str, fields: Mapping[str, Value]) -> Value:
    raise Failure(f"unknown type '{message}'")


def builder_of(message: str) -> Builder:
    """What builds the value of a message. Kubernetes' own types can be named but not built, which only shows at run time."""
    return _BUILDERS.get(message, _unknown)


_BUILDERS: Final[dict[str, Builder]] = {
    **dict.fromkeys(_WRAPPED, _wrapper),
    "google.protobuf.Any": _any,
    "google.protobuf.Duration": _duration,
    "google.protobuf.Empty": _empty,
    "google.protobuf.ListValue": _list,
    "google.protobuf.Struct": _struct,
    "google.protobuf.Timestamp": _timestamp,
    "google.protobuf.Value": _value,
}
