"""What an expression may mention, depending on the Kubernetes release, the feature gates and whether the expression is new.

Kubernetes keeps two environments. *New* expressions (created or changed objects) see what the server's minimum compatibility
version, one minor below its own, has, and obey feature gates. *Stored* ones (what the scheduler evaluates) see everything the
release knows, whatever the gates. Source: cel.md section 3; k8s.io/dynamic-resource-allocation 1.37.2 `cel/compile.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

import msgspec

from reparto.cel.declarations import Overload, Release, functions_at
from reparto.cel.types import ANY, BOOL, DYN, QUANTITY, STRING, Type, map_of
from reparto.model.gates import default_gates

DEVICE_VARIABLE = "device"

# Limits of the API that bound what an expression can meet (k8s.io/api/resource/v1).
DRIVER_NAME_LENGTH = 63
DOMAIN_LENGTH = 63
ID_LENGTH = 32
ATTRIBUTE_VALUE_LENGTH = 64
ATTRIBUTE_LIST_LENGTH = 48
ATTRIBUTES_PER_DEVICE = 32

MAX_COST = 1_000_000
"""Limit of the estimated and of the actual cost of one selector."""


class Bounds(msgspec.Struct, frozen=True):
    """How large a value can get: characters of a string, entries of a map or list. Upstream gives 0 to what has no size."""

    size: int = 0
    fields: Mapping[str, Bounds] = {}
    keys: Bounds | None = None
    values: Bounds | None = None


class Environment(msgspec.Struct, frozen=True):
    """A CEL environment; equal ones are interchangeable and can key a cache."""

    version: str = "1.37"
    stored: bool = False
    consumable_capacity: bool = True
    list_attributes: bool = False

    @staticmethod
    def of(version: str = "1.37", gates: Mapping[str, bool] | None = None, *, stored: bool = False) -> Environment:
        """The environment of a release ("1.34" to "1.37") with its default gates, changed by `gates`."""
        effective = {**default_gates(version), **(gates or {})}
        return Environment(
            version,
            stored,
            effective.get("DRAConsumableCapacity", False),
            effective.get("DRAListTypeAttributes", False),
        )

    @property
    def release(self) -> Release:
        major, minor = self.version.split(".")
        return int(major), int(minor)

    @property
    def compatibility(self) -> Release:
        """The release whose function libraries are visible."""
        major, minor = self.release
        return (major, minor) if self.stored else (major, minor - 1)

    @property
    def dynamic_attributes(self) -> bool:
        """Attributes are `dyn`, which a macro can walk over, rather than `any`. Since 1.36."""
        return self.release >= (1, 36) and (self.stored or self.list_attributes)

    @property
    def attribute_type(self) -> Type:
        return DYN if self.dynamic_attributes else ANY

    @property
    def allows_sort_by(self) -> bool:
        return self.compatibility >= (1, 34)

    @property
    def functions(self) -> MappingProxyType[str, tuple[Overload, ...]]:
        """Overloads by function name."""
        return functions_at(self.compatibility, self.dynamic_attributes)

    @property
    def device_fields(self) -> MappingProxyType[str, Type]:
        """Fields of the one variable, `device`."""
        return _device_fields(self)

    @property
    def bounds(self) -> Bounds:
        """How large `device` and what it holds can get."""
        return _bounds(self)


@lru_cache
def _device_fields(environment: Environment) -> MappingProxyType[str, Type]:
    fields = {
        "driver": STRING,
        "attributes": map_of(STRING, map_of(STRING, environment.attribute_type)),
        "capacity": map_of(STRING, map_of(STRING, QUANTITY)),
    }
    if environment.stored or environment.consumable_capacity:
        fields["allowMultipleAllocations"] = BOOL
    return MappingProxyType(fields)


@lru_cache
def _bounds(environment: Environment) -> Bounds:
    value = Bounds(ATTRIBUTE_VALUE_LENGTH)
    if environment.dynamic_attributes:
        value = Bounds(max(ATTRIBUTE_VALUE_LENGTH, ATTRIBUTE_LIST_LENGTH))
    domain, id = Bounds(DOMAIN_LENGTH), Bounds(ID_LENGTH)

    def maps(of: Bounds) -> Bounds:
        inner = Bounds(ATTRIBUTES_PER_DEVICE, keys=id, values=of)
        return Bounds(ATTRIBUTES_PER_DEVICE, keys=domain, values=inner)

    fields = {"driver": Bounds(DRIVER_NAME_LENGTH), "attributes": maps(value), "capacity": maps(Bounds())}
    if environment.stored or environment.consumable_capacity:
        # Without a size of 1 the reference would underestimate comparisons with it.
        fields["allowMultipleAllocations"] = Bounds(1)
    return Bounds(fields=fields)
