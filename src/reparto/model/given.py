"""Objects that stand somewhere else than in a file: those of a cluster, on top of which files would be applied.

A file's object that the cluster has, too, is the update that `kubectl apply` would send: the file says what is wanted, and what
only the server and controllers write (status, uid, node of a pod, …) stays as the cluster has it. It is judged as an update, so
that a changed spec of a claim is refused as the API server would. Pods and nodes keep what the file does not mention.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

import msgspec

from reparto.model.decoding import decode
from reparto.model.defaults import default
from reparto.model.errors import DecodeError, FieldError
from reparto.model.gates import Gates
from reparto.model.meta import Base, Strict
from reparto.model.reading import Document
from reparto.model.validation import validate

_SERVERS_OWN = ("uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "ownerReferences", "finalizers")
_KEPT_UNMENTIONED = ("Pod", "Node")  # others write most of their spec: the scheduler and admission, the kubelet


class Remark(msgspec.Struct, frozen=True):
    """Something worth knowing that is neither error nor warning; `code` is one of `reparto.model.codes`."""

    code: str
    object: str
    message: str
    file: str = ""
    line: int = 0


class Given(msgspec.Struct, frozen=True):
    """Objects as JSON, each with its apiVersion and kind. `name` stands where a file's would; `remarks` says what is missing."""

    name: str
    objects: tuple[bytes, ...] = ()
    remarks: tuple[Remark, ...] = ()

    def documents(self) -> Iterator[Document]:
        """The objects as documents without lines."""
        return (Document(self.name, 0, raw=raw) for raw in self.objects)


class _Metadata(msgspec.Struct):
    name: str = ""
    namespace: str = ""


class _Named(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


_Identity = tuple[str, str, str, str]  # API group, kind, namespace, name


class Standing:
    """What a cluster holds, by identity, while files are read; afterwards, what of it no file replaces."""

    def __init__(self, given: Iterable[Given]) -> None:
        self._documents = [document for each in given for document in each.documents()]
        named = (msgspec.json.decode(cast(bytes, document.raw), type=_Named) for document in self._documents)
        self._identities = [_identity(each.api_version, each.kind, each.metadata.namespace, each.metadata.name) for each in named]
        self._found = dict(zip(self._identities, self._documents, strict=True))
        self._replaced: set[_Identity] = set()

    def update(self, document: Document, namespace: str) -> "Update | None":
        """`document` of a file as the update of the object that the cluster has; None where it has none.

        `namespace` is that of objects which name none.
        """
        value = document.value
        metadata = value.get("metadata")
        if not isinstance(metadata, Mapping):
            return None
        written = cast(Mapping[str, Any], metadata)
        head = document.head
        for place in (str(written.get("namespace") or namespace), ""):
            identity = _identity(str(head.api_version), str(head.kind), place, str(written.get("name") or ""))
            old = self._found.get(identity)
            if old is not None:
                self._replaced.add(identity)
                return Update(document, value, old)
        return None

    def remaining(self) -> Iterator[Document]:
        """The cluster's objects that no file replaced, in order."""
        return (
            document for document, identity in zip(self._documents, self._identities, strict=True) if identity not in self._replaced
        )


def _identity(api_version: str, kind: str, namespace: str, name: str) -> _Identity:
    return api_version.rpartition("/")[0], kind, namespace, name


class Update(Document):
    """An object of a file over the same object of a cluster. Its lines are those of the file."""

    __slots__ = ("_new", "old")

    def __init__(self, new: Document, value: dict[str, Any], old: Document) -> None:
        super().__init__(new.file, new.line, value=_merged(value, old.value), head=new.head)
        self._new, self.old = new, old

    def line_of(self, path: str) -> int:
        return self._new.line_of(path)

    def written(self, path: str) -> str | None:
        return self._new.written(path)

    def refusals(self, hub: Base, gates: Gates) -> list[FieldError]:
        """What the API server would say of `hub` (this object, defaulted, as v1) as an update of the cluster's."""
        try:
            old = default(decode(cast(bytes, self.old.raw), strict=False), None)
        except DecodeError:
            return []  # said where the cluster's object is read
        return validate(hub, old, gates=gates) if isinstance(old, Strict) else []


def _merged(new: Mapping[str, Any], old: Mapping[str, Any]) -> dict[str, Any]:
    merged = {key: value for key, value in new.items() if key != "status"}
    if "status" in old:
        merged["status"] = old["status"]
    before, after = _mapping(old.get("metadata")), _mapping(new.get("metadata"))
    metadata = {**after, **{key: before[key] for key in _SERVERS_OWN if key in before}}
    for name in ("labels", "annotations"):
        if name in before or name in after:
            metadata[name] = {**_mapping(before.get(name)), **_mapping(after.get(name))}
    merged["metadata"] = metadata
    if new.get("kind") in _KEPT_UNMENTIONED:
        merged["spec"] = {**_mapping(old.get("spec")), **_mapping(new.get("spec"))}
    return merged


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], value) if isinstance(value, Mapping) else {}
