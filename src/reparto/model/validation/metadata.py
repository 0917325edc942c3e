"""Rules for metadata and conditions, which resource.k8s.io shares with every other group.

Source: apimachinery `pkg/api/validation/objectmeta.go`, `meta/v1/validation`, core's additions for finalizers (1.37.2). Upstream
declares the same rules a second time, but not yet enforced, so the handwritten ones are the answer.
"""

import re
from collections.abc import Iterable

from reparto.model import names
from reparto.model.meta import Condition, ManagedFieldsEntry, ObjectMeta, OwnerReference
from reparto.model.validation.findings import (
    Finding,
    Findings,
    duplicate,
    forbidden,
    invalid,
    invalids,
    not_supported,
    required,
    too_long,
    too_many,
)
from reparto.model.validation.formats import byte_length, label_key
from reparto.model.validation.values import as_json

ANNOTATION_BYTES = 256 * 1024  # all keys and values together
_MANAGER_BYTES = 128
_SUBRESOURCE_BYTES = 256
_REASON_BYTES = 1024
_MESSAGE_BYTES = 32 * 1024
_STANDARD_FINALIZERS = frozenset(("kubernetes", "orphan", "foregroundDeletion"))
_REASON_PATTERN = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_is_reason = re.compile(r"[A-Za-z](?:[,:]*[A-Za-z0-9_])*+").fullmatch
_REASON_RULE = (
    "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric characters or '_,:', "
    "and must end with an alphanumeric character or '_' "
    "(e.g. 'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', "
    f"regex used for validation is '{_REASON_PATTERN}')"
)


def object_meta(meta: ObjectMeta, *, namespaced: bool, generated_name: bool = True) -> Findings:
    """Metadata of an object that is created, `metadata.name` a DNS subdomain. `generated_name=False`: DeviceClass."""
    if not meta.annotations and not meta.owner_references and not meta.finalizers and not meta.labels and not meta.managed_fields:
        # The common case of an object fresh from a file or a driver.
        if meta.name and not meta.generate_name and meta.generation >= 0 and bool(meta.namespace) == namespaced:
            if not names.dns1123_subdomain(meta.name) and not (namespaced and names.dns1123_label(meta.namespace)):
                return []
    findings: Findings = []
    if meta.generate_name:
        if generated_name:
            findings += invalids(
                "metadata.generateName", meta.generate_name, names.dns1123_subdomain(_without_hyphen(meta.generate_name))
            )
        elif not meta.name:
            message = f'generateName was specified ("{meta.generate_name}"), but no name was generated'
            findings.append(Finding("InternalError", "metadata.name", {}, message))
    if not meta.name:
        findings.append(required("metadata.name", "name or generateName is required"))
    else:
        unit = "characters" if generated_name else "bytes"
        findings += invalids("metadata.name", meta.name, names.dns1123_subdomain(meta.name, unit))
    if namespaced:
        if not meta.namespace:
            findings.append(required("metadata.namespace"))
        else:
            findings += invalids("metadata.namespace", meta.namespace, names.dns1123_label(meta.namespace))
    elif meta.namespace:
        findings.append(forbidden("metadata.namespace", "not allowed on this type"))
    findings += _generation(meta)
    findings += labels(meta.labels, "metadata.labels")
    findings += annotations(meta.annotations, "metadata.annotations")
    findings += _owners(meta.owner_references)
    findings += _finalizers(meta.finalizers)
    findings += _managed_fields(meta.managed_fields)
    return findings + _kube_finalizers(meta.finalizers)


def object_meta_update(new: ObjectMeta, old: ObjectMeta) -> Findings:
    """Metadata of an object that is updated: what may not change, and most of the rules of a create once more."""
    findings: Findings = []
    if old.deletion_timestamp is not None:
        added = sorted(set(new.finalizers) - set(old.finalizers))
        if added:
            shown = "[]string{" + ", ".join(f'"{each}"' for each in added) + "}"
            message = f"no new finalizers can be added if the object is being deleted, found new finalizers {shown}"
            findings.append(forbidden("metadata.finalizers", message))
    if not new.resource_version:
        findings.append(invalid("metadata.resourceVersion", "", "must be specified for an update"))
    findings += _generation(new)
    if new.generation < old.generation:
        findings.append(invalid("metadata.generation", new.generation, "must not be decremented"))
    for attribute, name in _IMMUTABLE:
        value = getattr(new, attribute)
        if value != getattr(old, attribute):
            findings.append(invalid(f"metadata.{name}", value, "field is immutable"))
    findings += labels(new.labels, "metadata.labels")
    findings += annotations(new.annotations, "metadata.annotations")
    findings += _owners(new.owner_references)
    findings += _managed_fields(new.managed_fields)
    return findings + _kube_finalizers(new.finalizers)


_IMMUTABLE = (
    ("name", "name"),
    ("namespace", "namespace"),
    ("uid", "uid"),
    ("creation_timestamp", "creationTimestamp"),
    ("deletion_timestamp", "deletionTimestamp"),
    ("deletion_grace_period_seconds", "deletionGracePeriodSeconds"),
)


def template_meta(meta: ObjectMeta, path: str) -> Findings:
    """Metadata inside a template: labels and annotations only."""
    findings = annotations(meta.annotations, f"{path}.annotations") + labels(meta.labels, f"{path}.labels")
    for attribute, name in _TEMPLATE_FORBIDDEN:
        if getattr(meta, attribute):
            findings.append(forbidden(f"{path}.{name}", "cannot be set"))
    if meta.deletion_grace_period_seconds is not None:
        findings.append(forbidden(f"{path}.deletionGracePeriodSeconds", "cannot be set"))
    return findings


# Paths are Go's field names with a small first letter, hence uID.
_TEMPLATE_FORBIDDEN = (
    ("name", "name"),
    ("generate_name", "generateName"),
    ("namespace", "namespace"),
    ("self_link", "selfLink"),
    ("uid", "uID"),
    ("resource_version", "resourceVersion"),
    ("generation", "generation"),
    ("creation_timestamp", "creationTimestamp"),
    ("deletion_timestamp", "deletionTimestamp"),
    ("owner_references", "ownerReferences"),
    ("finalizers", "finalizers"),
    ("managed_fields", "managedFields"),
)


def labels(entries: dict[str, str] | None, path: str) -> Findings:
    findings: Findings = []
    for key, value in (entries or {}).items():
        findings += label_key(key, path)
        findings += invalids(path, value, names.label_value(value), "format=k8s-label-value")
    return findings


def annotations(entries: dict[str, str] | None, path: str) -> Findings:
    if not entries:
        return []
    findings: Findings = []
    for key in entries:
        findings += invalids(path, key, names.qualified_name(key.lower()), "format=k8s-label-key")
    if sum(byte_length(key) + byte_length(value) for key, value in entries.items()) > ANNOTATION_BYTES:
        findings.append(too_long(path, ANNOTATION_BYTES))
    return findings


def conditions(entries: Iterable[Condition], path: str, limit: int | None = None) -> Findings:
    """Conditions of a status; `limit` is how many there may be, counted but not cut short."""
    entries = tuple(entries)
    findings: Findings = []
    if limit is not None and len(entries) > limit:
        findings.append(too_many(path, len(entries), limit, origin=""))
    seen: set[str] = set()
    for index, condition in enumerate(entries):
        where = f"{path}[{index}]"
        if condition.type in seen:
            findings.append(duplicate(where, condition.type))
        seen.add(condition.type)
        findings += _condition(condition, where)
    return findings


def _condition(condition: Condition, path: str) -> Findings:
    findings: Findings = []
    if not condition.type:
        findings.append(required(f"{path}.type", "is required"))
    else:
        findings += label_key(condition.type, f"{path}.type")
    if not condition.status:
        findings.append(required(f"{path}.status"))
    elif condition.status not in ("False", "True", "Unknown"):
        findings.append(not_supported(f"{path}.status", condition.status, ("False", "True", "Unknown")))
    if condition.observed_generation < 0:
        value = condition.observed_generation
        findings.append(invalid(f"{path}.observedGeneration", value, "must be greater than or equal to zero"))
    if condition.last_transition_time in (None, "0001-01-01T00:00:00Z"):
        findings.append(required(f"{path}.lastTransitionTime"))
    if not condition.reason:
        findings.append(required(f"{path}.reason"))
    else:
        if not _is_reason(condition.reason):
            findings.append(invalid(f"{path}.reason", condition.reason, _REASON_RULE))
        if byte_length(condition.reason) > _REASON_BYTES:
            findings.append(too_long(f"{path}.reason", _REASON_BYTES))
    if byte_length(condition.message) > _MESSAGE_BYTES:
        findings.append(too_long(f"{path}.message", _MESSAGE_BYTES))
    return findings


def _without_hyphen(prefix: str) -> str:
    """A generateName as its name would look: a final hyphen is fine, for more follows it."""
    return prefix[:-2] + "a" if len(prefix) > 1 and prefix.endswith("-") else prefix


def _generation(meta: ObjectMeta) -> Findings:
    if meta.generation >= 0:
        return []
    return [invalid("metadata.generation", meta.generation, "must be greater than or equal to 0")]


def _owners(owners: tuple[OwnerReference, ...]) -> Findings:
    findings: Findings = []
    controller = ""
    for index, owner in enumerate(owners):
        path = f"metadata.ownerReferences[{index}]"
        version = _group_version(owner.api_version)
        if not owner.api_version:
            findings.append(required(f"{path}.apiVersion", "must not be empty"))
        elif version is None or not version[1]:
            findings.append(invalid(f"{path}.apiVersion", owner.api_version, "must be <group>/<version> or <version>"))
        for name, value in (("kind", owner.kind), ("name", owner.name), ("uid", owner.uid)):
            if not value:
                findings.append(required(f"{path}.{name}", "must not be empty"))
        if version == ("", "v1") and owner.kind == "Event":
            findings.append(invalid(path, as_json(owner), "/v1, Kind=Event is disallowed from being an owner"))
        if owner.controller:
            current = f"{owner.kind}/{owner.name}"
            if controller:
                message = (
                    f'Only one reference can have Controller set to true. Found "true" in references for {controller} and {current}'
                )
                findings.append(invalid("metadata.ownerReferences", [as_json(each) for each in owners], message))
            else:
                controller = current
    return findings


def _group_version(text: str) -> tuple[str, str] | None:
    if not text or text == "/":
        return "", ""
    parts = text.split("/")
    if len(parts) == 1:
        return "", text
    return (parts[0], parts[1]) if len(parts) == 2 else None


def _finalizers(finalizers: tuple[str, ...]) -> Findings:
    findings: Findings = []
    for finalizer in finalizers:
        findings += invalids("metadata.finalizers", finalizer, names.qualified_name(finalizer))
    if "orphan" in finalizers and "foregroundDeletion" in finalizers:
        message = "finalizer orphan and foregroundDeletion cannot be both set"
        findings.append(invalid("metadata.finalizers", list(finalizers), message))
    return findings


def _kube_finalizers(finalizers: tuple[str, ...]) -> Findings:
    message = "name is neither a standard finalizer name nor is it fully qualified"
    return [
        invalid(f"metadata.finalizers[{index}]", finalizer, message)
        for index, finalizer in enumerate(finalizers)
        if "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS
    ]


def _managed_fields(entries: tuple[ManagedFieldsEntry, ...]) -> Findings:
    findings: Findings = []
    for index, entry in enumerate(entries):
        path = f"metadata.managedFields[{index}]"
        if not entry.operation:
            findings.append(required(f"{path}.operation", "must not be empty"))
        elif entry.operation not in ("Apply", "Update"):
            findings.append(not_supported(f"{path}.operation", entry.operation, ("Apply", "Update")))
        if entry.fields_type and entry.fields_type != "FieldsV1":
            findings.append(invalid(f"{path}.fieldsType", entry.fields_type, "must be `FieldsV1`"))
        if byte_length(entry.manager) > _MANAGER_BYTES:
            findings.append(too_long(f"{path}.manager", _MANAGER_BYTES))
        position = 0
        for char in entry.manager:
            if not (char.isprintable()):
                findings.append(
                    invalid(f"{path}.manager", entry.manager, f"invalid character U+{ord(char):04X} (at position {position})")
                )
            position += byte_length(char)
        if byte_length(entry.subresource) > _SUBRESOURCE_BYTES:
            findings.append(too_long(f"{path}.subresource", _SUBRESOURCE_BYTES))
    return findings
