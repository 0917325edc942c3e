"""Opaque driver configuration, and other fields that hold a JSON object of the driver's own making."""

from typing import Any, cast

import msgspec

from reparto.model.v1 import OpaqueDeviceConfiguration
from reparto.model.validation.findings import OMITTED, Findings, invalid, required, too_long
from reparto.model.validation.formats import driver

PARAMETERS_BYTES = 10 * 1024


def configuration(entry: OpaqueDeviceConfiguration | None, path: str, *, stored: bool = False) -> Findings:
    """The `opaque` member of a configuration at `path`. `stored`: unchanged by this update, so that its size no longer counts."""
    if entry is None:
        return [required(f"{path}.opaque")]
    return driver(entry.driver, f"{path}.opaque.driver", covered=True) + json_object(
        entry.parameters, f"{path}.opaque.parameters", stored=stored
    )


def json_object(value: Any, path: str, *, stored: bool = False) -> Findings:
    """A JSON object of at most 10,240 bytes, written compactly (kubectl sends it so)."""
    if value is None:
        return [required(path)]
    if not stored and _size(value) > PARAMETERS_BYTES:
        return [too_long(path, PARAMETERS_BYTES)]
    if not isinstance(value, dict):
        return [invalid(path, OMITTED, "must be a valid JSON object")]
    return []


def _size(value: Any) -> int:
    if isinstance(value, dict) and not cast("dict[str, Any]", value):
        return 2
    try:
        return len(msgspec.json.encode(value))
    except RecursionError:
        return PARAMETERS_BYTES + 1  # nested deeper than can be written at all
