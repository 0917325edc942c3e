"""Static types of CEL expressions as the checker sees them.

A type is a kind, a name and parameters. Two spellings exist and both are part of the reference's behaviour: `str(type)` is what a
compiled selector reports as its output type (`google.protobuf.Any`, `null_type`), `describe(type)` is what error messages say
(`any`, `null`, `timestamp`).
"""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Kind(StrEnum):
    """The general category of a type."""

    ANY = "any"
    BOOL = "bool"
    BYTES = "bytes"
    DOUBLE = "double"
    DURATION = "duration"
    DYN = "dyn"
    ERROR = "error"
    INT = "int"
    LIST = "list"
    MAP = "map"
    NULL = "null"
    OPAQUE = "opaque"
    STRING = "string"
    STRUCT = "struct"
    TIMESTAMP = "timestamp"
    TYPE = "type"
    TYPE_PARAM = "type_param"
    UINT = "uint"


class Type(msgspec.Struct, frozen=True):
    """A static type; equal when kind, name and parameters are. Build it with the functions below.

    `nullable` marks the wrapper types of protobuf (`google.protobuf.Int64Value` is an int that may be null).
    """

    kind: Kind
    name: str
    parameters: tuple[Type, ...] = ()
    nullable: bool = False

    def __str__(self) -> str:
        name = f"wrapper({self.name})" if self.nullable else self.name
        if self.kind is Kind.TYPE_PARAM:
            return f"<{name}>"
        if not self.parameters:
            return name
        return f"{name}({', '.join(map(str, self.parameters))})"


ANY = Type(Kind.ANY, "google.protobuf.Any")
BOOL = Type(Kind.BOOL, "bool")
BYTES = Type(Kind.BYTES, "bytes")
DOUBLE = Type(Kind.DOUBLE, "double")
DURATION = Type(Kind.DURATION, "google.protobuf.Duration")
DYN = Type(Kind.DYN, "dyn")
ERROR = Type(Kind.ERROR, "error")
INT = Type(Kind.INT, "int")
NULL = Type(Kind.NULL, "null_type")
STRING = Type(Kind.STRING, "string")
TIMESTAMP = Type(Kind.TIMESTAMP, "google.protobuf.Timestamp")
TYPE = Type(Kind.TYPE, "type")
UINT = Type(Kind.UINT, "uint")

QUANTITY = Type(Kind.STRUCT, "kubernetes.Quantity")
SEMVER = Type(Kind.STRUCT, "kubernetes.Semver")
URL = Type(Kind.STRUCT, "kubernetes.URL")
FORMAT = Type(Kind.STRUCT, "kubernetes.NamedFormat")
IP = Type(Kind.OPAQUE, "net.IP")
CIDR = Type(Kind.OPAQUE, "net.CIDR")
DEVICE = Type(Kind.STRUCT, "kubernetes.DRADevice")

AUTHORIZER = Type(Kind.STRUCT, "kubernetes.authorization.Authorizer")
PATH_CHECK = Type(Kind.STRUCT, "kubernetes.authorization.PathCheck")
GROUP_CHECK = Type(Kind.STRUCT, "kubernetes.authorization.GroupCheck")
RESOURCE_CHECK = Type(Kind.STRUCT, "kubernetes.authorization.ResourceCheck")
DECISION = Type(Kind.STRUCT, "kubernetes.authorization.Decision")


def list_of(element: Type) -> Type:
    return Type(Kind.LIST, "list", (element,))


def map_of(key: Type, value: Type) -> Type:
    return Type(Kind.MAP, "map", (key, value))


def optional_of(value: Type) -> Type:
    return Type(Kind.OPAQUE, "optional_type", (value,))


def type_of(instance: Type) -> Type:
    """The type of a type name: `int` has type `type(int)`."""
    return Type(Kind.TYPE, "type", (instance,))


def type_param(name: str) -> Type:
    """A type variable of a function signature, or one that the checker made up."""
    return Type(Kind.TYPE_PARAM, name)


def is_optional(type: Type) -> bool:
    return type.kind is Kind.OPAQUE and type.name == "optional_type"


def is_dyn(type: Type) -> bool:
    """True for `dyn` and `any`: the check is left to run time."""
    return type.kind is Kind.DYN or type.kind is Kind.ANY


_DESCRIPTIONS = {
    Kind.ANY: "any",
    Kind.DURATION: "duration",
    Kind.ERROR: "!error!",
    Kind.NULL: "null",
    Kind.TIMESTAMP: "timestamp",
}


def describe(type: Type) -> str:
    """The type as error messages spell it."""
    if type.kind in _DESCRIPTIONS:
        return _DESCRIPTIONS[type.kind]
    if type.kind is Kind.TYPE_PARAM:
        return type.name
    if not type.parameters:
        return f"wrapper({type.name})" if type.nullable else type.name
    return f"{type.name}({', '.join(map(describe, type.parameters))})"
