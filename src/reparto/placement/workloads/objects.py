"""What expansion is about: an object that makes pods, and a pod that it would make.

A controller makes pods, or other objects that make pods: a JobSet makes Jobs. Both are what a family yields (`Workload`, `Draft`),
so that each controller's rule is written once and the others build on it.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

import msgspec

from reparto.model.decoding import decode
from reparto.model.errors import DecodeError
from reparto.model.keeping import without_commands
from reparto.placement.workloads.fields import Fields, Json, MalformedField, is_expression, mapping

if TYPE_CHECKING:
    from reparto.placement.workloads.world import World


class Workload(msgspec.Struct, frozen=True):
    """An object that makes pods: one of the input, or one that a controller would make (then `value` is what it would write).

    `uid` is that of the cluster, or derived from what the object is called where the input has none. `doubts` collects what had to
    be assumed; objects that a controller makes share those of their root.
    """

    api_version: str
    kind: str
    namespace: str
    name: str
    value: Json
    uid: str
    doubts: list[str]
    file: str = ""
    line: int = 0

    @property
    def ref(self) -> str:
        return f"{self.kind}/{self.namespace}/{self.name}" if self.namespace else f"{self.kind}/{self.name}"

    @property
    def group(self) -> str:
        """The API group; empty for the core group."""
        return self.api_version.rpartition("/")[0]

    @property
    def fields(self) -> Fields:
        return Fields(self.value, "", self.doubts)

    @property
    def spec(self) -> Fields:
        return self.fields.at("spec")

    @property
    def status(self) -> Fields:
        return self.fields.at("status")

    def annotation(self, name: str) -> str:
        """An annotation's text; empty where it is not set."""
        value = self.fields.at("metadata", "annotations").value.get(name)
        return "" if value is None else str(value)

    def condition(self, *types: str) -> bool:
        """Whether the status has one of these conditions, and it is True."""
        return any(item.text("type") in types and item.text("status") == "True" for item in self.status.items("conditions"))


class Draft(msgspec.Struct, frozen=True):
    """A pod that a workload would make from `template` (as written, with metadata and spec).

    `name` is its whole name, or, if it ends with a hyphen, what the API server would complete with five characters. `labels`,
    `annotations` and `spec` go over those of the template. `owner` is the controller of the pod, where it is not the workload
    itself; `path` is where a person finds the template.
    """

    name: str
    template: Json
    labels: Json = {}
    annotations: Json = {}
    spec: Json = {}
    path: str = "spec.template"
    owner: Workload | None = None


Made = Iterator["Workload | Draft"]
Family = Callable[[Workload, "World"], Made]


def pod_template(fields: Fields, name: str = "template") -> Json:
    """The pod template in a field; MalformedField where there is none, or one of which no pod can be made.

    Quantities that only rendering tells are left out, and that is said.
    """
    template = fields.at(name)
    if not template.at("spec").items("containers"):
        raise MalformedField(template.path_of("spec.containers"), None, "a list of containers")
    metadata = {"name": "x", "labels": template.at("metadata").labels("labels")}
    value = without_expressions(template.value, template)
    try:
        decode({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": value["spec"]})
    except DecodeError as error:
        raise MalformedField.of(error, template.path) from None
    return value


def without_expressions(template: Json, fields: Fields) -> Json:
    """A pod template without the quantities of containers that are expressions, each of which is a doubt of `fields`."""
    spec = mapping(template, "spec")
    changed: dict[str, Any] = {}
    for field in ("containers", "initContainers"):
        containers = spec.get(field)
        for index, container in enumerate(cast("list[Any]", containers) if isinstance(containers, list) else ()):
            for part in ("limits", "requests"):
                amounts = mapping(container, "resources", part)
                unknown = {key: text for key, text in amounts.items() if isinstance(text, str) and is_expression(text)}
                for key, text in unknown.items():
                    path = fields.path_of(f"spec.{field}[{index}].resources.{part}")
                    fields.doubt(f"{path}[{key}] is {text!r}, which only rendering tells: it was left out")
                if unknown:
                    known = {key: amount for key, amount in amounts.items() if key not in unknown}
                    own = changed.setdefault(field, list(cast("list[Any]", containers)))
                    own[index] = {**own[index], "resources": {**mapping(own[index], "resources"), part: known}}
    return {**template, "spec": {**spec, **changed}} if changed else template


def merged(template: Json, *, labels: Json | None = None, annotations: Json | None = None, spec: Json | None = None) -> Json:
    """A template with labels, annotations and spec fields over its own."""
    return {
        **template,
        "metadata": {
            **mapping(template, "metadata"),
            "labels": {**mapping(template, "metadata", "labels"), **(labels or {})},
            "annotations": {**mapping(template, "metadata", "annotations"), **(annotations or {})},
        },
        "spec": {**mapping(template, "spec"), **(spec or {})},
    }


def template_hash(template: Any) -> str:
    """Up to ten characters that follow from a template, in the form of a `pod-template-hash`; not the cluster's own value.

    A snapshot leaves out commands and environment, and its pods must have the names that those of the cluster would have.
    """
    return short_hash(json.dumps(without_commands(template), sort_keys=True, default=str))


def short_hash(text: str) -> str:
    """FNV-1a of a text, its decimal digits written in the alphabet of generated names, as Kubernetes does (SafeEncodeString)."""
    return "".join(_SAFE[ord(digit) % len(_SAFE)] for digit in str(fnv32a(text.encode())))


def sha1(text: str) -> str:
    return hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()


def derived_uid(text: str) -> str:
    """A uid for an object that the input gives none."""
    digits = hashlib.sha256(text.encode()).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-8{digits[13:16]}-8{digits[17:20]}-{digits[20:32]}"


def fnv32a(data: bytes) -> int:
    """The 32-bit FNV-1a hash, which Kubernetes and Argo name things by."""
    value = 0x811C9DC5
    for byte in data:
        value = ((value ^ byte) * 0x01000193) & 0xFFFFFFFF
    return value


_SAFE = "bcdfghjklmnpqrstvwxz2456789"  # the alphabet of generated names


def with_container(spec: Json, container: Mapping[str, Any], field: str = "containers") -> Json:
    """A pod spec with one more container at the end of a list of containers."""
    return {**spec, field: [*(spec.get(field) or ()), container]}
