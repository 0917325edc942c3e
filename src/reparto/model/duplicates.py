"""The same object twice: copies count once, contradictions are an error that names both places.

Copies are compared by what people write. What a server adds (uid, resourceVersion, managed fields, …) does not count, so a
manifest and a dump of the same object agree. Only a digest of each object is remembered.
"""

import hashlib
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from reparto.model.errors import FieldError
from reparto.model.meta import Base, ObjectMeta

_VOLATILE = ("uid", "resourceVersion", "generation", "selfLink", "creationTimestamp", "managedFields")


class Place(msgspec.Struct, frozen=True):
    """Where an object was seen first, and what it was."""

    file: str
    line: int
    digest: bytes


class Register:
    """All objects seen so far, by what identifies them."""

    def __init__(self) -> None:
        self._seen: dict[str, Place] = {}

    def seen(self, identity: str, digest: bytes, file: str, line: int) -> Place | None:
        """Where `identity` was seen before; None, and it is remembered, if this is the first time."""
        first = self._seen.get(identity)
        if first is None:
            self._seen[identity] = Place(file, line, digest)
        return first


def contradiction(kind: str, name: str, first: Place) -> FieldError:
    """The error of an object that is also at `first`, with other content."""
    place = f"{first.file}:{first.line}" if first.line else first.file or "another place of the input"
    message = f"the same {kind} is also at {place}, with other content"
    return FieldError("FieldValueDuplicate", "metadata.name", name, message, "keep one of them")


def digest(obj: Base) -> bytes:
    """Equal for copies of one object, in whatever API version they came (`obj` is of the hub version). About 1 GB/s."""
    metadata: ObjectMeta = cast(Any, obj).metadata
    own = ObjectMeta(
        name=metadata.name,
        namespace=metadata.namespace,
        labels=metadata.labels,
        annotations=metadata.annotations,
        owner_references=metadata.owner_references,
        finalizers=metadata.finalizers,
        deletion_timestamp=metadata.deletion_timestamp,
    )
    return _hash(replace(cast(Any, obj), metadata=own, api_version=""))


def digest_of_value(value: dict[str, Any]) -> bytes:
    """The same for an object that is kept as it was written."""
    metadata = value.get("metadata")
    if isinstance(metadata, dict):
        own = {name: content for name, content in cast(dict[str, Any], metadata).items() if name not in _VOLATILE}
        value = {**value, "metadata": own}
    return _hash(value)


def _hash(content: Any) -> bytes:
    return hashlib.blake2b(msgspec.json.encode(content, order="deterministic"), digest_size=16).digest()
