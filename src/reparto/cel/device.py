"""What a selector sees of a device: its driver and two maps, domain to name to value.

A name without a domain belongs to the driver's. The domain maps answer for every domain, with an empty map where the device has
none; an unknown *name* is an error. A device may carry both `x` and `<driver>/x`: the reference then picks one at random per
evaluation, here the qualified one always wins. Version attributes are parsed beforehand, and one that is no strict semantic version
fails the whole device, whether or not the expression reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from reparto.cel.environment import (
    ATTRIBUTE_LIST_LENGTH,
    ATTRIBUTE_VALUE_LENGTH,
    ATTRIBUTES_PER_DEVICE,
    DOMAIN_LENGTH,
    DRIVER_NAME_LENGTH,
    ID_LENGTH,
)
from reparto.cel.functions.quantities import own
from reparto.cel.values import EMPTY_MAP, Key, MapValue, Value, is_list
from reparto.model.quantity import Quantity
from reparto.model.semver import Semver, SemverError
from reparto.model.v1 import DeviceAttribute, DeviceCapacity

AttributeInput: TypeAlias = DeviceAttribute | Mapping[str, Any]
CapacityInput: TypeAlias = DeviceCapacity | Mapping[str, Any]

# In the order in which the reference looks for the field that is set.
_FIELDS: Final = ("ints", "bools", "strings", "versions", "int", "bool", "string", "version")


class DeviceError(ValueError):
    """An attribute that has no value, or a version that cannot be parsed."""


def _native(attribute: AttributeInput) -> Value:
    """The CEL value of an attribute. Raises DeviceError."""
    if isinstance(attribute, DeviceAttribute):
        if attribute.string_value is not None and attribute.int_values is None:
            # By far the most common case, and no list is set in a valid attribute.
            return attribute.string_value
        fields: Mapping[str, Any] = {
            "ints": attribute.int_values,
            "bools": attribute.bool_values,
            "strings": attribute.string_values,
            "versions": attribute.version_values,
            "int": attribute.int_value,
            "bool": attribute.bool_value,
            "string": attribute.string_value,
            "version": attribute.version_value,
        }
    else:
        fields = attribute
    for name in _FIELDS:
        value = fields.get(name)
        if value is None:
            continue
        if name == "version":
            return _version(value)
        if name == "versions":
            return tuple(_version(text) for text in value)
        return tuple(value) if name in ("ints", "bools", "strings") else value
    raise DeviceError("unsupported attribute value")


def _version(text: str) -> Semver:
    try:
        return Semver.parse(text)
    except SemverError as error:
        raise DeviceError(f"parse semantic version: {error}") from None


def _amount(capacity: CapacityInput) -> Quantity:
    value = capacity.value if isinstance(capacity, DeviceCapacity) else capacity["value"]
    return value if isinstance(value, Quantity) else Quantity.parse(str(value))


def _fits(value: Value) -> bool:
    """Whether a value is as small as the API allows: the estimate of a selector's cost assumes it."""
    if type(value) is str:
        return len(value) <= ATTRIBUTE_VALUE_LENGTH
    if is_list(value):
        return len(value) <= ATTRIBUTE_LIST_LENGTH and all(map(_fits, value))
    return True


class Device:
    """A device as selectors read it; immutable once made.

    `attributes` maps names, with or without domain, to `v1.DeviceAttribute` or to the API's form (`{"int": 3}`), `capacity`
    likewise (`{"value": "80Gi"}`). `domains` and `capacities` are the normalised maps; `error` is what every evaluation fails with,
    if anything; `regular` says that nothing stands in the way of the compiled form of a selector.

    Raises QuantityError for a capacity that is no quantity.
    """

    __slots__ = ("allow_multiple_allocations", "capacities", "domains", "driver", "error", "regular", "root")

    def __init__(
        self,
        driver: str = "",
        attributes: Mapping[str, AttributeInput] | None = None,
        capacity: Mapping[str, CapacityInput] | None = None,
        allow_multiple_allocations: bool | None = None,
    ) -> None:
        self.driver = driver
        self.allow_multiple_allocations = bool(allow_multiple_allocations)
        self.error: str | None = None
        self.regular = len(driver) <= DRIVER_NAME_LENGTH
        values: dict[str, Value] = {}
        for name, attribute in (attributes or {}).items():
            try:
                values[name] = value = _native(attribute)
            except DeviceError as error:
                self.error = f"attribute {name}: {error}"
                self.regular = False
                break
            if not _fits(value):
                self.regular = False
        self.domains: dict[str, dict[str, Value]] = self._by_domain(values)
        self.capacities: dict[str, dict[str, Value]] = self._by_domain(
            {name: _amount(item) for name, item in (capacity or {}).items()}
        )
        self.root: MapValue | None = None

    def _by_domain(self, values: dict[str, Value]) -> dict[str, dict[str, Value]]:
        found: dict[str, dict[str, Value]] = {}
        qualified: list[tuple[str, str, Value]] = []
        for full_name, value in values.items():
            domain, slash, name = full_name.partition("/")
            if slash:
                qualified.append((domain, name, value))
            else:
                found.setdefault(self.driver, {})[full_name] = value
        for domain, name, value in qualified:
            found.setdefault(domain, {})[name] = value
        for domain, names in found.items():
            if len(domain) > DOMAIN_LENGTH or len(names) > ATTRIBUTES_PER_DEVICE or any(len(name) > ID_LENGTH for name in names):
                self.regular = False
        return found

    def variable(self, own_quantities: bool = False) -> MapValue:
        """The value of `device` in an expression; with quantities of its own if an evaluation might change them."""
        root = self.root
        if root is None or own_quantities:
            entries: dict[str, Value] = {
                "driver": self.driver,
                "allowMultipleAllocations": self.allow_multiple_allocations,
                "attributes": _domain_maps(self.domains),
            }
            capacities = self.capacities
            if own_quantities:
                capacities = {domain: {name: own(item) for name, item in names.items()} for domain, names in capacities.items()}
            entries["capacity"] = _domain_maps(capacities)
            root = MapValue(entries)
            if not own_quantities:
                self.root = root
        return root


def _domain_maps(domains: dict[str, dict[str, Value]]) -> MapValue:
    maps: dict[Key, Value] = {domain: MapValue(names, of_device=True) for domain, names in domains.items()}
    return MapValue(maps, EMPTY_MAP, of_device=True)
