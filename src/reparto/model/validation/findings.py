"""What a rule finds: a `FieldError` in the making, and how the two layers of rules become one answer.

The API server judges an object twice: by handwritten rules on the hub version, then by declarative rules on the version of the
request (validation-1.37.md section 1). A finding therefore knows, beyond what the answer shows, which format rule it came from
(`origin`), whether a declarative rule is meant to say the same (`covered`), and whether it *is* a declarative one that may take
that place (`beta`).
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from reparto.model.errors import ErrorType, FieldError

OMITTED = "<value omitted>"


class Finding(msgspec.Struct):
    """One violated rule. Mutable, because a rule used in two places is marked by its caller."""

    type: ErrorType
    path: str
    value: Any = ""
    message: str = ""
    origin: str = ""
    covered: bool = False
    beta: bool = False


Findings = list[Finding]


def required(path: str, message: str = "", *, covered: bool = False) -> Finding:
    return Finding("FieldValueRequired", path, "", message, covered=covered)


def invalid(path: str, value: Any, message: str, origin: str = "", *, covered: bool = False) -> Finding:
    return Finding("FieldValueInvalid", path, value, message, origin, covered)


def forbidden(path: str, message: str) -> Finding:
    return Finding("FieldValueForbidden", path, "", message)


def not_found(path: str, value: Any, message: str = "") -> Finding:
    return Finding("FieldValueNotFound", path, value, message)


def duplicate(path: str, value: Any, *, covered: bool = False) -> Finding:
    return Finding("FieldValueDuplicate", path, value, covered=covered)


def too_long(path: str, limit: int, origin: str = "", *, covered: bool = False, unit: str = "bytes") -> Finding:
    return Finding("FieldValueTooLong", path, OMITTED, f"may not be more than {limit} {unit}", origin, covered)


def too_many(path: str, count: int, limit: int, origin: str = "maxItems", *, covered: bool = False) -> Finding:
    return Finding("FieldValueTooMany", path, count, f"must have at most {limit} items", origin, covered)


def not_supported(path: str, value: str, supported: Sequence[str], *, covered: bool = False) -> Finding:
    shown = ", ".join(f'"{each}"' for each in supported)
    return Finding("FieldValueNotSupported", path, value, f"supported values: {shown}", covered=covered)


def cover(findings: Findings) -> Findings:
    """Mark findings that the declarative layer is meant to repeat in its own words."""
    for finding in findings:
        finding.covered = True
    return findings


def invalids(path: str, value: Any, messages: Iterable[str], origin: str = "") -> Findings:
    """One Invalid for each broken part of a format."""
    return [invalid(path, value, message, origin) for message in messages]


def repeated(path: str, keys: Iterable[object], *, covered: bool = False) -> Findings:
    """A Duplicate at every element whose key was there before; `value` is the key."""
    seen: set[object] = set()
    found: Findings = []
    for index, key in enumerate(keys):
        if key in seen:
            found.append(duplicate(f"{path}[{index}]", key, covered=covered))
        seen.add(key)
    return found


# v1beta1's declarative paths in the shape of v1, so that both layers can be compared.
_FLAT = re.compile(
    r"spec\.devices\.requests\[(\d+)\]\.(deviceClassName|selectors|allocationMode|count|adminAccess|tolerations|derivedAttributes)"
)
_BASIC = re.compile(r"spec\.devices\[(\d+)\]\.basic\.")


def merge(handwritten: Findings, declarative: Findings) -> Findings:
    """The API server's answer: handwritten findings but those that a declarative one says better, then the declarative ones."""
    if not declarative:
        return handwritten
    twins = [(found, _hub_path(found.path)) for found in declarative if found.beta]
    kept = [finding for finding in handwritten if not (finding.covered and any(_same(finding, *twin) for twin in twins))]
    return kept + declarative


def _hub_path(path: str) -> str:
    flat = _FLAT.sub(r"spec.devices.requests[\1].exactly.\2", path)
    return flat if flat != path else _BASIC.sub(r"spec.devices[\1].", path)


def _same(finding: Finding, declared: Finding, hub_path: str) -> bool:
    if finding.type != declared.type or finding.origin != declared.origin:
        return False
    if finding.type == "FieldValueInvalid" and not finding.origin:
        return False
    return finding.path in (declared.path, hub_path)


def answer(findings: Findings, hint: Any = None) -> list[FieldError]:
    """Findings as the public errors, repeated ones once."""
    errors: list[FieldError] = []
    seen: set[tuple[str, str, str, str]] = set()
    for finding in findings:
        key = (finding.type, finding.path, repr(finding.value), finding.message)
        if key not in seen:
            seen.add(key)
            errors.append(FieldError(finding.type, finding.path, finding.value, finding.message, hint(finding) if hint else ""))
    return errors
