"""What the structs look like from JSON's side: one `Shape` per type, derived from the structs themselves.

The fast decoder is msgspec's and needs no description. Explaining what is wrong with an object, canonicalising its quantities and
times, and comparing values as the API server does, all walk an object by its declared types; they share this description instead
of each inspecting annotations.
"""

from functools import cache
from typing import Any, Literal, cast

import msgspec
import msgspec.inspect as inspect

Kind = Literal["string", "quantity", "time", "int64", "int32", "bool", "any", "struct", "list", "map"]


class Field(msgspec.Struct, frozen=True):
    """A field of a struct: its Python name, its JSON name, its shape."""

    attribute: str
    name: str
    shape: "Shape"


class Shape(msgspec.Struct, frozen=True, eq=False):
    """One type: `item` is what a list or map holds, `struct` and `fields` (by JSON name) belong to a struct."""

    kind: Kind
    item: "Shape | None" = None
    struct: type[msgspec.Struct] | None = None
    fields: dict[str, Field] = {}


@cache
def shape_of(struct: type[msgspec.Struct]) -> Shape:
    """The shape of a struct type, its fields included. Cost: one inspection per type and process."""
    info = inspect.type_info(struct)
    assert isinstance(info, inspect.StructType)
    return _struct(info)


def _struct(info: inspect.StructType) -> Shape:
    fields = {field.encode_name: Field(field.name, field.encode_name, _shape(field.type)) for field in info.fields}
    return Shape("struct", struct=info.cls, fields=fields)


def _shape(info: inspect.Type, extra: dict[str, Any] | None = None) -> Shape:
    match info:
        case inspect.Metadata():
            return _shape(info.type, cast(Any, info).extra)  # a bare dict in msgspec's types
        case inspect.UnionType():
            # Only `X | None` occurs: null is the same as absent.
            (inner,) = (each for each in info.types if not isinstance(each, inspect.NoneType))
            return _shape(inner, extra)
        case inspect.StructType():
            return shape_of(info.cls)
        case inspect.VarTupleType() | inspect.ListType():
            return Shape("list", item=_shape(info.item_type))
        case inspect.DictType():
            return Shape("map", item=_shape(info.value_type))
        case inspect.IntType():
            return Shape("int32" if info.le == 2**31 - 1 else "int64")
        case inspect.BoolType():
            return Shape("bool")
        case inspect.StrType():
            text = (extra or {}).get("text")
            return Shape("quantity" if text == "quantity" else "time" if text == "time" else "string")
        case inspect.AnyType():
            return Shape("any")
        case _:
            raise TypeError(f"no shape for {info!r}")
