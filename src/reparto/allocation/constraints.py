"""Constraints of a claim: devices that must agree in an attribute, or must all differ in it.

A constraint is asked about every device that is about to be taken and keeps what it needs to answer for the next one; devices leave
in the opposite order. An attribute that a device does not have always violates. With list attributes on, every value is a set (a
scalar is a set of one): matching sets keep a common element, distinct sets share none.

Source: upstream-dra.md 3.9.
"""

from collections.abc import Callable
from typing import Protocol, TypeAlias

from reparto.model.v1 import Device, DeviceAttribute, DeviceConstraint

_Values: TypeAlias = tuple[str, frozenset[int | bool | str]]
"""The kind of an attribute and its values. The kind keeps true and 1, or a string and a version, apart."""
_Scalar: TypeAlias = tuple[str, int | bool | str]

Lookup: TypeAlias = Callable[[str], DeviceAttribute | None]
"""The attribute of the device in question by fully qualified name, None if it has none."""


class Constraint(Protocol):
    """One constraint during one attempt. Every `add` that returns True is undone by exactly one `remove`, last in first out."""

    attribute: str
    source: DeviceConstraint

    def covers(self, request: str, parent: str) -> bool:
        """Whether the constraint speaks about `request`, a subrequest if `parent` is not empty."""
        ...

    def add(self, lookup: Lookup) -> bool:
        """Take one more device, or return False and stay as it was if the device violates the constraint."""
        ...

    def remove(self) -> None:
        """Forget the device that was added last."""
        ...


def make(source: DeviceConstraint, list_attributes: bool) -> Constraint | None:
    """The constraint that `source` describes.

    None if it names no attribute. With both attributes set, only matchAttribute counts.
    """
    if source.match_attribute is not None:
        return MatchAttribute(source, source.match_attribute, list_attributes)
    if source.distinct_attribute is not None:
        return DistinctAttribute(source, source.distinct_attribute, list_attributes)
    return None


class _Scope:
    def __init__(self, source: DeviceConstraint, attribute: str, list_attributes: bool) -> None:
        self.source = source
        self.attribute = attribute
        self._list_attributes = list_attributes
        self._requests = frozenset(source.requests)

    def covers(self, request: str, parent: str) -> bool:
        if not self._requests:
            return True
        if parent:
            return parent in self._requests or f"{parent}/{request}" in self._requests
        return request in self._requests


class MatchAttribute(_Scope):
    """All devices have the attribute, with the same type and value (or, for lists, with an element common to all of them)."""

    def __init__(self, source: DeviceConstraint, attribute: str, list_attributes: bool) -> None:
        super().__init__(source, attribute, list_attributes)
        # What the devices so far have in common, as of each device: scalars stay, lists shrink.
        self._common: list[_Values] = []
        self._value: _Scalar | None = None
        self._devices = 0

    def add(self, lookup: Lookup) -> bool:
        attribute = lookup(self.attribute)
        if attribute is None:
            return False
        fits = self._narrow(values_of(attribute)) if self._list_attributes else self._agrees(scalar_of(attribute))
        if fits:
            self._devices += 1
        return fits

    def _narrow(self, values: _Values | None) -> bool:
        if values is not None and self._common:
            values = _common(self._common[-1], values)
        if values is None:
            return False
        self._common.append(values)
        return True

    def _agrees(self, value: _Scalar | None) -> bool:
        if self._devices:
            return value is not None and value == self._value
        # The first device is taken whatever its value: upstream only finds out with the second that it cannot compare it.
        self._value = value
        return True

    def remove(self) -> None:
        self._devices -= 1
        if self._list_attributes:
            self._common.pop()


class DistinctAttribute(_Scope):
    """All devices have the attribute and no two of them the same value (or, for lists, a common element).

    Values of different types are distinct.
    """

    def __init__(self, source: DeviceConstraint, attribute: str, list_attributes: bool) -> None:
        super().__init__(source, attribute, list_attributes)
        self._lists: list[_Values] = []
        self._scalars: list[_Scalar | None] = []

    def add(self, lookup: Lookup) -> bool:
        attribute = lookup(self.attribute)
        if attribute is None:
            return False
        if self._list_attributes:
            values = values_of(attribute)
            if values is None or any(_common(other, values) is not None for other in self._lists):
                return False
            self._lists.append(values)
            return True
        value = scalar_of(attribute)
        # A value of unknown type passes as long as there is nothing to compare it with.
        if self._scalars and (value is None or value in self._scalars):
            return False
        self._scalars.append(value)
        return True

    def remove(self) -> None:
        (self._lists if self._list_attributes else self._scalars).pop()


def values_of(attribute: DeviceAttribute) -> _Values | None:
    """The attribute as a set of values with their kind, lists before scalars; None if no (or only an empty) value is set."""
    if attribute.int_values:
        return "int", frozenset(attribute.int_values)
    if attribute.bool_values:
        return "bool", frozenset(attribute.bool_values)
    if attribute.string_values:
        return "string", frozenset(attribute.string_values)
    if attribute.version_values:
        return "version", frozenset(attribute.version_values)
    if attribute.int_value is not None:
        return "int", frozenset((attribute.int_value,))
    if attribute.bool_value is not None:
        return "bool", frozenset((attribute.bool_value,))
    if attribute.string_value is not None:
        return "string", frozenset((attribute.string_value,))
    if attribute.version_value is not None:
        # Versions compare as text: semver allows one way only to write a version.
        return "version", frozenset((attribute.version_value,))
    return None


def scalar_of(attribute: DeviceAttribute) -> _Scalar | None:
    """The attribute as one value with its kind; None if it has no value, or a list of them."""
    if attribute.string_value is not None:
        return "string", attribute.string_value
    if attribute.int_value is not None:
        return "int", attribute.int_value
    if attribute.bool_value is not None:
        return "bool", attribute.bool_value
    if attribute.version_value is not None:
        return "version", attribute.version_value
    return None


def _common(left: _Values, right: _Values) -> _Values | None:
    shared = left[1] & right[1] if left[0] == right[0] else None
    return (right[0], shared) if shared else None


def static_attribute(device: Device, driver: str, name: str) -> DeviceAttribute | None:
    """The attribute with a fully qualified name: published so, or as the bare identifier if the domain is the driver's own."""
    attributes = device.attributes
    if not attributes:
        return None
    exact = attributes.get(name)
    if exact is not None:
        return exact
    domain, slash, identifier = name.partition("/")
    return attributes.get(identifier) if slash and domain == driver else None
