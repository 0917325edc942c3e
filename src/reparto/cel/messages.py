"""Type names that an expression can mention, and the message types that it can build.

Selectors have no use for messages, yet the reference knows protobuf's well-known ones and accepts
`google.protobuf.Duration{seconds: 1}`. Type names are needed for `type(x) == int`; some are known to the checker only and fail
when the program is built.
"""

from __future__ import annotations

from types import MappingProxyType

import msgspec

from reparto.cel.types import (
    ANY,
    BOOL,
    BYTES,
    CIDR,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    IP,
    NULL,
    STRING,
    TIMESTAMP,
    TYPE,
    UINT,
    Kind,
    Type,
    list_of,
    map_of,
    optional_of,
    type_param,
)

_JSON_LIST = list_of(DYN)
_JSON_OBJECT = map_of(STRING, DYN)
_EMPTY = Type(Kind.STRUCT, "google.protobuf.Empty")


def _wrapper(type: Type) -> Type:
    return msgspec.structs.replace(type, nullable=True)


DEFINED: MappingProxyType[str, Type] = MappingProxyType(
    {
        "bool": BOOL,
        "bytes": BYTES,
        "double": DOUBLE,
        "google.protobuf.Duration": DURATION,
        "int": INT,
        "list": list_of(DYN),
        "map": map_of(DYN, DYN),
        "null_type": NULL,
        "string": STRING,
        "google.protobuf.Timestamp": TIMESTAMP,
        "type": TYPE,
        "uint": UINT,
        "optional_type": optional_of(type_param("V")),
        "net.IP": IP,
        "net.CIDR": CIDR,
        "google.protobuf.Empty": _EMPTY,
    }
)
"""Type names that have a value when an expression runs."""

DECLARED: MappingProxyType[str, Type] = MappingProxyType(
    {
        "duration": DURATION,
        "timestamp": TIMESTAMP,
        "google.protobuf.Any": ANY,
        "google.protobuf.BoolValue": _wrapper(BOOL),
        "google.protobuf.BytesValue": _wrapper(BYTES),
        "google.protobuf.DoubleValue": _wrapper(DOUBLE),
        "google.protobuf.FloatValue": _wrapper(DOUBLE),
        "google.protobuf.Int32Value": _wrapper(INT),
        "google.protobuf.Int64Value": _wrapper(INT),
        "google.protobuf.ListValue": _JSON_LIST,
        "google.protobuf.StringValue": _wrapper(STRING),
        "google.protobuf.Struct": _JSON_OBJECT,
        "google.protobuf.UInt32Value": _wrapper(UINT),
        "google.protobuf.UInt64Value": _wrapper(UINT),
        "google.protobuf.Value": DYN,
    }
)
"""Type names that check but do not run, except in message literals."""

CONSTANTS: MappingProxyType[str, int] = MappingProxyType({"google.protobuf.NullValue.NULL_VALUE": 0})
"""Enum values, which are plain ints."""

FIELDS: MappingProxyType[str, dict[str, Type]] = MappingProxyType(
    {
        "google.protobuf.Any": {"type_url": STRING, "value": BYTES},
        "google.protobuf.BoolValue": {"value": BOOL},
        "google.protobuf.BytesValue": {"value": BYTES},
        "google.protobuf.DoubleValue": {"value": DOUBLE},
        "google.protobuf.Duration": {"seconds": INT, "nanos": INT},
        "google.protobuf.Empty": {},
        "google.protobuf.Int64Value": {"value": INT},
        "google.protobuf.ListValue": {"values": list_of(DYN)},
        "google.protobuf.StringValue": {"value": STRING},
        "google.protobuf.Struct": {"fields": map_of(STRING, DYN)},
        "google.protobuf.Timestamp": {"seconds": INT, "nanos": INT},
        "google.protobuf.UInt64Value": {"value": UINT},
        "google.protobuf.Value": {
            "null_value": INT,
            "number_value": DOUBLE,
            "string_value": STRING,
            "bool_value": BOOL,
            "struct_value": _JSON_OBJECT,
            "list_value": _JSON_LIST,
        },
    }
)
"""Fields of the messages that can be built. 32-bit wrappers are built as their 64-bit siblings."""

_WRAPPERS = {
    Kind.BOOL: "google.protobuf.BoolValue",
    Kind.BYTES: "google.protobuf.BytesValue",
    Kind.DOUBLE: "google.protobuf.DoubleValue",
    Kind.INT: "google.protobuf.Int64Value",
    Kind.STRING: "google.protobuf.StringValue",
    Kind.UINT: "google.protobuf.UInt64Value",
}
_WELL_KNOWN = {
    Kind.ANY: "google.protobuf.Any",
    Kind.DURATION: "google.protobuf.Duration",
    Kind.DYN: "google.protobuf.Value",
    Kind.NULL: "google.protobuf.NullValue",
    Kind.TIMESTAMP: "google.protobuf.Timestamp",
}


def message_name(type: Type) -> str | None:
    """The message to build for a type named in a message literal, or None if the type is no message."""
    if type.kind is Kind.STRUCT:
        return type.name
    if type.nullable:
        return _WRAPPERS.get(type.kind)
    if type == _JSON_LIST:
        return "google.protobuf.ListValue"
    if type == _JSON_OBJECT:
        return "google.protobuf.Struct"
    return _WELL_KNOWN.get(type.kind)
