"""The vocabulary of the declarative rules: each check that a marker can ask for, in the words of the generated code.

What asks for which check is `declarative`'s. Source: apimachinery `pkg/api/validate` of 1.37.2.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from reparto.model import names, v1
from reparto.model.conversion import flat_request
from reparto.model.gates import Gates
from reparto.model.validation.features import enabled
from reparto.model.validation.findings import OMITTED, Finding, Findings
from reparto.model.validation.formats import byte_length, go_lower
from reparto.model.validation.values import as_json, equal

_T = TypeVar("_T")
_S = TypeVar("_S", bound=msgspec.Struct)

_TYPE_GATE = "DRAPartitionableDevicesType"
_CASELESS = (
    "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character "
    r"(e.g. 'Example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)


class Checks:
    """What a walk over an object has found so far, and the checks that add to it."""

    def __init__(self, gates: Gates | None, *, update: bool, flat: bool) -> None:
        self.findings: Findings = []
        self._gates = gates
        self._update = update
        self._flat = flat
        self._exactly = "" if flat else ".exactly"
        self._basic = ".basic" if flat else ""
        # Rules are beta (they replace a handwritten twin) unless they stand alone.
        self._beta = True

    # --- walking ---

    def unchanged(self, new: Any, old_parent: msgspec.Struct | None, attribute: str) -> bool:
        """Whether an update leaves a field as it was, so that it is not judged again."""
        return self._update and old_parent is not None and equal(new, getattr(old_parent, attribute))

    def _each(
        self, new: Iterable[_S], old: Iterable[_S] | None, path: str, key: Callable[[_S], object]
    ) -> Iterable[tuple[str, _S, _S | None]]:
        """Elements of a list with keys that are new or changed, each with its path and the old element of its key."""
        before: dict[object, _S] = {}
        for entry in old or ():
            before.setdefault(key(entry), entry)
        for index, entry in enumerate(new):
            was = before.get(key(entry))
            if not (self._update and was is not None and equal(entry, was)):
                yield f"{path}[{index}]", entry, was

    # --- rules ---

    def _add(self, finding: Finding) -> None:
        finding.beta = self._beta
        self.findings.append(finding)

    def _required(self, path: str) -> None:
        self._add(Finding("FieldValueRequired", path))

    def _invalid(self, path: str, value: Any, message: str, origin: str) -> None:
        self._add(Finding("FieldValueInvalid", path, value, message, origin))

    def _formats(self, path: str, value: str, messages: Iterable[str], origin: str) -> None:
        for message in messages:
            self._invalid(path, value, message, origin)

    def _enum(self, value: str, supported: Sequence[str], path: str) -> None:
        if value not in supported:
            shown = ", ".join(f'"{each}"' for each in supported)
            self._add(Finding("FieldValueNotSupported", path, value, f"supported values: {shown}"))

    def _at_most(self, entries: Sequence[Any], limit: int, path: str) -> bool:
        """False, and a finding, for a list that is too long: its elements are then not looked at."""
        if len(entries) <= limit:
            return True
        self._add(Finding("FieldValueTooMany", path, len(entries), f"must have at most {limit} items", "maxItems"))
        return False

    def _at_most_bytes(self, text: str, limit: int, path: str) -> None:
        if byte_length(text) > limit:
            self._add(Finding("FieldValueTooLong", path, OMITTED, f"may not be more than {limit} bytes", "maxBytes"))

    def _unique(self, entries: Sequence[_T], key: Callable[[_T], object], path: str) -> None:
        seen: set[object] = set()
        for index, entry in enumerate(entries):
            own = key(entry)
            if own in seen:
                self._add(Finding("FieldValueDuplicate", f"{path}[{index}]", self._shown(entry)))
            seen.add(own)

    def _shown(self, entry: object) -> Any:
        """An element as JSON of the request's version."""
        if self._flat and isinstance(entry, v1.DeviceRequest):
            return as_json(flat_request(entry))
        return as_json(entry) if isinstance(entry, msgspec.Struct) else entry

    def _union(self, chosen: list[str], members: Iterable[tuple[str, str]], path: str) -> None:
        if len(chosen) == 1:
            return
        shown = ", ".join(f"`{member}`" for member, _ in members)
        if chosen:
            self._invalid(path, f"{{{', '.join(chosen)}}}", f"must specify exactly one of: {shown}", "union")
        else:
            self._invalid(path, "", f"must specify one of: {shown}", "union")

    def _minimum(self, value: int, least: int, path: str) -> None:
        if value < least:
            self._invalid(path, value, f"must be greater than or equal to {least}", "minimum")

    def _required_minimum(self, value: int | None, least: int, path: str) -> None:
        if value is None:
            self._required(path)
        else:
            self._minimum(value, least, path)

    def _short_name(self, text: str, path: str) -> None:
        self._formats(path, text, names.dns1123_label(text, "bytes"), "format=k8s-short-name")

    def _short_name_or_required(self, text: str, path: str) -> None:
        if text:
            self._short_name(text, path)
        else:
            self._required(path)

    def _long_name(self, text: str, path: str) -> None:
        self._formats(path, text, names.dns1123_subdomain(text, "bytes"), "format=k8s-long-name")

    def _driver(self, text: str, path: str, limit: int) -> None:
        if not text:
            self._required(path)
            return
        for message in names.dns1123_subdomain(go_lower(text), "bytes"):
            caseless = _CASELESS if "RFC 1123" in message else message
            self._invalid(path, text, caseless, "format=k8s-long-name-caseless")
        if len(text) > limit:
            self._add(Finding("FieldValueTooLong", path, OMITTED, f"may not be more than {limit} characters", "maxLength"))

    def _pool(self, text: str, path: str) -> None:
        if text:
            self._pool_format(text, path)
        else:
            self._required(path)

    def _pool_format(self, text: str, path: str) -> None:
        origin = "format=k8s-resource-pool-name"
        if byte_length(text) > 253:
            self._add(Finding("FieldValueTooLong", path, OMITTED, "may not be more than 253 bytes", origin))
        for index, part in enumerate(text.split("/")):
            if not part:
                self._invalid(path, text, f"segment {index}: must not be empty", origin)
            else:
                messages = (f"segment {index}: {message}" for message in names.dns1123_subdomain(part, "bytes"))
                self._formats(path, part, messages, origin)

    def _uuid(self, text: str, path: str) -> None:
        hyphens = (8, 13, 18, 23)
        good = len(text) == 36 and all(
            char == "-" if index in hyphens else char in "0123456789abcdef" for index, char in enumerate(text)
        )
        if not good:
            self._invalid(path, text, "must be a lowercase UUID in 8-4-4-4-12 format", "format=k8s-uuid")

    def _gated_name(self, text: str, path: str) -> None:
        """A fully qualified name in a field that is forbidden while its gate is off."""
        if enabled(self._gates, _TYPE_GATE):
            self._fully_qualified(text, path)
        else:
            self._add(Finding("FieldValueForbidden", path))

    def _fully_qualified(self, text: str, path: str) -> None:
        origin = "format=k8s-resource-fully-qualified-name"
        parts = text.split("/")
        if len(parts) == 1:
            self._identifier(text, path, origin)
        elif len(parts) == 2:
            domain, identifier = parts
            if not domain:
                self._invalid(path, "", "prefix must not be empty", origin)
            else:
                if byte_length(domain) > 63:
                    self._add(Finding("FieldValueTooLong", path, OMITTED, "may not be more than 63 bytes", origin))
                self._formats(path, domain, (f"prefix: {message}" for message in names.dns1123_subdomain(domain, "bytes")), origin)
            if not identifier:
                self._invalid(path, "", "name must not be empty", origin)
            else:
                self._identifier(identifier, path, origin)
        if "/" not in text:
            self._invalid(path, text, "a fully qualified name must be a domain and a name separated by a slash", origin)

    def _identifier(self, text: str, path: str, origin: str) -> None:
        if byte_length(text) > 32:
            self._add(Finding("FieldValueTooLong", path, OMITTED, "may not be more than 32 bytes", origin))
        self._formats(path, text, names.c_identifier(text), origin)
