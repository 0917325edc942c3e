"""Every function a selector can call: signature, overload ids and the release that brought it.

Source: cel-go 0.29.2 and k8s.io/apiserver 1.37.2 (`pkg/cel/environment`, `pkg/cel/library`), read as facts.
"""

from __future__ import annotations

from functools import lru_cache
from types import MappingProxyType

from reparto.cel.declarations.extensions import LISTS, OPTIONALS, SETS, STRINGS, TWO_VARIABLE_COMPREHENSIONS
from reparto.cel.declarations.kubernetes import (
    AUTHZ,
    AUTHZ_SELECTORS,
    CIDRS,
    FORMAT_NAMES,
    FORMATS,
    INCLUDES,
    IPS,
    LISTS_V0,
    LISTS_V1,
    QUANTITIES,
    REGEX,
    SEMVERS,
    URLS,
)
from reparto.cel.declarations.signature import Library, Overload, Release
from reparto.cel.declarations.standard import STANDARD

__all__ = ["FORMAT_NAMES", "LIBRARIES", "Library", "Overload", "Release", "functions_at"]

LIBRARIES = (
    STANDARD,
    URLS,
    REGEX,
    LISTS_V0,
    AUTHZ,
    OPTIONALS,
    QUANTITIES,
    STRINGS,
    SETS,
    IPS,
    CIDRS,
    FORMATS,
    AUTHZ_SELECTORS,
    TWO_VARIABLE_COMPREHENSIONS,
    SEMVERS,
    LISTS,
    LISTS_V1,
)
"""In the order in which Kubernetes loads them, which is the order of overloads of a function that several declare."""


@lru_cache
def functions_at(release: Release, includes: bool) -> MappingProxyType[str, tuple[Overload, ...]]:
    """All functions by name for a compatibility version.

    `includes` adds the function of that name where no library of the release brings it (it is the same overload, so both may be
    there).
    """
    found: dict[str, dict[str, Overload]] = {}
    present = [lib for lib in LIBRARIES if lib.since <= release and (lib.until is None or release < lib.until)]
    if includes:
        present.append(INCLUDES)
    for library in present:
        for overload in library.overloads:
            found.setdefault(overload.function, {}).setdefault(overload.id, overload)
    return MappingProxyType({name: tuple(overloads.values()) for name, overloads in found.items()})
