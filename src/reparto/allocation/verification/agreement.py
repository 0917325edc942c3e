"""Whether attribute values agree, or differ, as a constraint of a claim wants it: the checker's own reading.

Without list attributes a value is a scalar and agreement is equality. With them a value is a set, a scalar being a set of one:
devices agree if one element is common to all, and differ if no two of them share any.

Source: upstream-dra.md 3.9; KEP-4381, KEP-5491.
"""

from collections.abc import Sequence

from reparto.model.v1 import DeviceAttribute

_SCALARS = ("string_value", "int_value", "bool_value", "version_value")
_LISTS = ("int_values", "bool_values", "string_values", "version_values")
_Value = tuple[str, frozenset[object]]
"""Type and elements."""


def attribute_of(attributes: dict[str, DeviceAttribute] | None, driver: str, name: str) -> DeviceAttribute | None:
    """The attribute with this full name; a bare name of the device belongs to its driver's domain."""
    published = attributes or {}
    if name in published:
        return published[name]
    domain, slash, bare = name.partition("/")
    return published.get(bare) if slash and domain == driver else None


def clash(values: Sequence[DeviceAttribute], *, distinct: bool, lists: bool) -> tuple[int, int] | None:
    """Two positions whose values do not go together as wanted, the second being the first that does not fit; None if all do.

    A value that cannot be compared clashes with itself, or with the one before it.
    """
    read = [_as_set(value) if lists else _as_scalar(value) for value in values]
    if lists and None in read:
        position = read.index(None)
        return position, position
    common: frozenset[object] | None = None
    for position, value in enumerate(read):
        if position == 0:
            common = value[1] if value is not None else frozenset()
            continue
        if value is None:  # unreadable as a scalar; only the first of all is not looked at
            return position - 1, position
        if distinct:
            for earlier, other in enumerate(read[:position]):
                if other is not None and other[0] == value[0] and other[1] & value[1]:
                    return earlier, position
            continue
        first = read[0]
        common = (common or frozenset()) & value[1]
        if first is None or first[0] != value[0] or not common:
            return position - 1, position
    return None


def _as_scalar(attribute: DeviceAttribute) -> _Value | None:
    for kind in _SCALARS:
        value = getattr(attribute, kind)
        if value is not None:
            return kind, frozenset((value,))
    return None


def _as_set(attribute: DeviceAttribute) -> _Value | None:
    for kind in _LISTS:
        elements = getattr(attribute, kind)
        if elements:
            return kind.removesuffix("s"), frozenset(elements)
    return _as_scalar(attribute)
