"""Values of the API as rules need them: as JSON for an answer, and compared as the API server compares them.

Semantic equality is what ratcheting and immutability rest on: an empty list equals an absent one, and quantities and times are
equal when their values are, however they are written.
"""

import json
from functools import cache
from typing import Any, cast

import msgspec

from reparto.model.canonical import canonical_time, canonicalise
from reparto.model.quantity import Quantity
from reparto.model.shapes import Shape, shape_of


def as_json(value: msgspec.Struct) -> Any:
    """A struct as an error's value: its JSON, quantities in canonical text."""
    return msgspec.to_builtins(canonicalise(value))


def equal(left: Any, right: Any) -> bool:
    """Whether two values of one type mean the same to the API server (`apiequality.Semantic.DeepEqual`)."""
    if left is right:
        return True
    if isinstance(left, msgspec.Struct) and type(left) is type(right):
        return _equal(left, right, shape_of(type(left)))
    if isinstance(left, tuple | list) or isinstance(right, tuple | list):
        ours, theirs = cast("tuple[Any, ...]", left or ()), cast("tuple[Any, ...]", right or ())
        return len(ours) == len(theirs) and all(equal(one, other) for one, other in zip(ours, theirs, strict=True))
    if isinstance(left, dict) or isinstance(right, dict):
        entries, others = cast("dict[str, Any]", left or {}), cast("dict[str, Any]", right or {})
        return entries.keys() == others.keys() and all(equal(value, others[key]) for key, value in entries.items())
    return left == right


def _equal(left: Any, right: Any, shape: Shape) -> bool:
    if left is right:
        return True
    # Python's own equality settles it quickly where it says yes, except for free JSON: there True == 1 == 1.0.
    if left == right and not _holds_free_json(shape):
        return True
    match shape.kind:
        case "struct":
            if left is None or right is None:
                return False
            return all(
                _equal(getattr(left, field.attribute), getattr(right, field.attribute), field.shape)
                for field in shape.fields.values()
            )
        case "list" | "map":
            if not left and not right:
                return True
            if not left or not right or len(left) != len(right):
                return False
            assert shape.item is not None
            if shape.kind == "list":
                return all(_equal(one, other, shape.item) for one, other in zip(left, right, strict=True))
            return left.keys() == right.keys() and all(_equal(value, right[key], shape.item) for key, value in left.items())
        case "quantity":
            return left is not None and right is not None and Quantity.parse(left) == Quantity.parse(right)
        case "time":
            return left is not None and right is not None and canonical_time(left) == canonical_time(right)
        case "any":
            # The API server keeps the text it was sent and compares that: the order of keys counts.
            return json.dumps(left) == json.dumps(right)
        case _:
            return left == right


@cache
def _holds_free_json(shape: Shape) -> bool:
    if shape.kind == "any":
        return True
    inner = [field.shape for field in shape.fields.values()] + ([shape.item] if shape.item else [])
    return any(_holds_free_json(each) for each in inner)
