"""What objects are called: namespaces that were left out, names that a server would have drawn, and `Kind/namespace/name`."""

import hashlib
from collections.abc import Mapping
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from reparto.model.meta import Base, ObjectMeta
from reparto.model.versions import NAMESPACED as DEVICE_KINDS

DEFAULT_NAMESPACE = "default"

# Of the kinds that become typed objects, those that live in a namespace; all others of them are cluster-scoped.
NAMESPACED = DEVICE_KINDS | {"Pod", "PodGroup", "Service", "ResourceQuota", "LimitRange"}

_SUFFIX = "bcdfghjklmnpqrstvwxz2456789"  # the alphabet of names that the API server generates
_SUFFIX_LENGTH = 5
_GENERATED_PREFIX = 58  # 63 characters less the suffix: longer prefixes are cut, as the API server does


def reference(kind: str, namespace: str, name: str) -> str:
    """`Kind/namespace/name`, or `Kind/name` where it is cluster-scoped (`namespace` empty)."""
    return f"{kind}/{namespace}/{name}" if namespace else f"{kind}/{name}"


def written_name(value: Mapping[str, Any]) -> tuple[str, str]:
    """Namespace and name (or generateName) of an object that could not be decoded; "" for what it lacks."""
    metadata = value.get("metadata")
    found: Mapping[str, Any] = cast(Mapping[str, Any], metadata) if isinstance(metadata, Mapping) else {}
    return str(found.get("namespace") or ""), str(found.get("name") or found.get("generateName") or "")


def is_named(value: Mapping[str, Any]) -> bool:
    """Whether an object has a name of its own; with a generateName only, every copy of it is another object."""
    metadata = value.get("metadata")
    return isinstance(metadata, Mapping) and bool(cast(Mapping[str, Any], metadata).get("name"))


class Names:
    """Gives objects of one input their namespace and name, the same on every run."""

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self._drawn: dict[str, int] = {}

    def completed(self, obj: Base, kind: str) -> tuple[Base, ObjectMeta]:
        """`obj` with a namespace where its kind has one, and with a name if it has but a generateName; and its metadata then."""
        metadata: ObjectMeta = cast(Any, obj).metadata
        changes: dict[str, str] = {}
        if kind in NAMESPACED and not metadata.namespace:
            changes["namespace"] = self.namespace
        if not metadata.name and metadata.generate_name:
            namespace = changes.get("namespace", metadata.namespace)
            changes["name"] = self._draw(metadata.generate_name, f"{kind}/{namespace}", msgspec.json.encode(obj))
        if not changes:
            return obj, metadata
        metadata = replace(metadata, **changes)
        return replace(cast(Any, obj), metadata=metadata), metadata

    def _draw(self, prefix: str, place: str, content: bytes) -> str:
        """A server draws at random; ours depends on the content, and on how many objects like it came before."""
        basis = f"{place}/{prefix}/{hashlib.sha256(content).hexdigest()}"
        copy = self._drawn[basis] = self._drawn.get(basis, -1) + 1
        number = int.from_bytes(hashlib.sha256(f"{basis}/{copy}".encode()).digest()[:8], "big")
        suffix = ""
        for _ in range(_SUFFIX_LENGTH):
            number, digit = divmod(number, len(_SUFFIX))
            suffix += _SUFFIX[digit]
        return prefix[:_GENERATED_PREFIX] + suffix
