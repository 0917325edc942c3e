"""The same object twice: copies count once, contradictions are an error that names both places.

Copies are compared by what people write. What a server adds (uid, resourceVersion, managed fields, …) does not count, so a
manifest and a dump of the same object agree. They are compared by digest, and an object is digested when its name comes a second
time, not before: hardly any does.
"""

import hashlib
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from reparto.model.errors import FieldError
from reparto.model.meta import Base, ObjectMeta

_VOLATILE = ("uid", "resourceVersion", "generation", "selfLink", "creationTimestamp", "managedFields")


class Mark:
    """Two marks are equal where their objects are copies. `keep=False` keeps a digest, not the object, at 500 MB/s."""

    __slots__ = ("_digest", "_object")

    def __init__(self, obj: Base | dict[str, Any], keep: bool = True) -> None:
        self._object: Base | dict[str, Any] | None = obj if keep else None
        self._digest = None if keep else _digest(obj)

    @property
    def digest(self) -> bytes:
        if self._digest is None:
            assert self._object is not None
            self._digest, self._object = _digest(self._object), None
        return self._digest

    def __eq__(self, other: object) -> bool:
        return self.digest == other.digest if isinstance(other, Mark) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.digest)


class Place(msgspec.Struct, frozen=True):
    """Where an object was seen first, and what it was."""

    file: str
    line: int
    mark: Mark


class Register:
    """All objects seen so far, by what identifies them."""

    def __init__(self) -> None:
        self._seen: dict[str, Place] = {}

    def seen(self, identity: str, mark: Mark, file: str, line: int) -> Place | None:
        """Where `identity` was seen before; None, and it is remembered, if this is the first time."""
        first = self._seen.get(identity)
        if first is None:
            self._seen[identity] = Place(file, line, mark)
        return first


def contradiction(kind: str, name: str, first: Place) -> FieldError:
    """The error of an object that is also at `first`, with other content."""
    place = f"{first.file}:{first.line}" if first.line else first.file or "another place of the input"
    message = f"the same {kind} is also at {place}, with other content"
    return FieldError("FieldValueDuplicate", "metadata.name", name, message, "keep one of them")


def _digest(obj: Base | dict[str, Any]) -> bytes:
    """Equal for copies of one object, in whatever API version they came (`obj` is of the hub version, or as it was written)."""
    if isinstance(obj, dict):
        metadata = obj.get("metadata")
        if isinstance(metadata, dict):
            own = {name: content for name, content in cast(dict[str, Any], metadata).items() if name not in _VOLATILE}
            obj = {**obj, "metadata": own}
        return _hash(obj)
    typed: ObjectMeta = cast(Any, obj).metadata
    people_write = ObjectMeta(
        name=typed.name,
        namespace=typed.namespace,
        labels=typed.labels,
        annotations=typed.annotations,
        owner_references=typed.owner_references,
        finalizers=typed.finalizers,
        deletion_timestamp=typed.deletion_timestamp,
    )
    return _hash(replace(cast(Any, obj), metadata=people_write, api_version=""))


def _hash(content: Any) -> bytes:
    return hashlib.blake2b(msgspec.json.encode(content, order="deterministic"), digest_size=16).digest()
