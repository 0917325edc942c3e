"""What a controller can look up while it makes pods: what exists, who owns it, which nodes there are, what a person overrode."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from reparto.model import core
from reparto.model.carriers import Carrier
from reparto.model.meta import ObjectMeta, OwnerReference
from reparto.placement.drawn_names import drawn_name
from reparto.placement.label_selectors import SelectorError, compile_selector
from reparto.placement.workloads.fields import Json, listing, mapping
from reparto.placement.workloads.objects import Workload, derived_uid
from reparto.placement.workloads.overrides import Override, is_kind

_GENERATED_PREFIX: Final = 58  # 63 characters less those that are drawn
FINISHED: Final = ("Succeeded", "Failed")
_Owner = tuple[str, str, str]  # namespace, kind, name


class World:
    """The input as controllers see it. What was used of the overrides is remembered."""

    def __init__(
        self, carriers: Sequence[Carrier], pods: Iterable[core.Pod], nodes: Sequence[core.Node], overrides: Sequence[Override]
    ) -> None:
        self.nodes = nodes
        self.names: set[tuple[str, str]] = set()
        self.objects: list[Workload] = []
        for carrier in carriers:
            self.objects.append(_workload(carrier, len(self.objects)))
        self._overrides = overrides
        self._used: set[str] = set()
        self._pods: dict[_Owner, list[core.Pod]] = {}
        self._orphans: dict[str, list[core.Pod]] = {}
        for pod in pods:
            self.names.add((pod.metadata.namespace, pod.metadata.name))
            owner = controller(pod.metadata)
            if owner is not None:
                self._pods.setdefault((pod.metadata.namespace, owner.kind, owner.name), []).append(pod)
            elif pod.metadata.labels:
                self._orphans.setdefault(pod.metadata.namespace, []).append(pod)
        self._by_name = {(item.namespace, item.kind, item.name): item for item in self.objects}
        self._children: dict[_Owner, list[Workload]] = {}
        for item in self.objects:
            owner = self.owner(item)
            if owner is not None:
                self._children.setdefault((owner.namespace, owner.kind, owner.name), []).append(item)

    # --- objects -----------------------------------------------------------------------------------------------------------------

    def owner(self, item: Workload) -> Workload | None:
        """The object of the input that controls `item`."""
        for reference in _owners(item.value):
            found = self._by_name.get((item.namespace, reference.kind, reference.name)) or self._by_name.get(
                ("", reference.kind, reference.name)
            )
            if found is not None and found is not item and _same(reference.uid, _written_uid(found)):
                return found
        return None

    def children(self, item: Workload, kind: str = "") -> list[Workload]:
        """The objects of the input that `item` controls, in the order of the input."""
        owned = self._children.get((item.namespace, item.kind, item.name), [])
        return [child for child in owned if not kind or child.kind == kind]

    def find(self, kind: str, namespace: str, name: str) -> Workload | None:
        """An object of the input by its name."""
        return self._by_name.get((namespace, kind, name))

    def of_kind(self, kind: str) -> Iterator[Workload]:
        return (item for item in self.objects if item.kind == kind)

    def child(self, parent: Workload, api_version: str, kind: str, name: str, value: Json) -> Workload:
        """The object that a controller makes for `parent`, with uid and status of the real one if that exists."""
        real = self._by_name.get((parent.namespace, kind, name))
        if real is not None:
            value = {**value, "status": real.value.get("status")}
        uid = real.uid if real is not None else derived_uid(f"{kind}/{parent.namespace}/{name}")
        metadata = {**mapping(value, "metadata"), "name": name, "namespace": parent.namespace}
        return Workload(
            api_version, kind, parent.namespace, name, {**value, "metadata": metadata}, uid, parent.doubts, parent.file, parent.line
        )

    # --- pods --------------------------------------------------------------------------------------------------------------------

    def pods(self, owner: Workload, *, selector: Json | None = None) -> list[core.Pod]:
        """The pods of the input that `owner` controls, and those without a controller that it would adopt by `selector`."""
        return [*self.controlled(owner), *self.adoptable(owner.namespace, selector)]

    def controlled(self, owner: Workload) -> list[core.Pod]:
        written = _written_uid(owner)
        candidates = self._pods.get((owner.namespace, owner.kind, owner.name), [])
        return [pod for pod in candidates if (by := controller(pod.metadata)) is not None and _same(by.uid, written)]

    def adoptable(self, namespace: str, selector: Json | None) -> list[core.Pod]:
        """Pods without a controller that a selector, as written, selects; none where it is empty or cannot be parsed."""
        if not selector:
            return []
        try:
            compiled = compile_selector(msgspec.convert(selector, core.LabelSelector))
        except (msgspec.ValidationError, SelectorError):
            return []
        return [] if compiled.empty else [pod for pod in self._orphans.get(namespace, []) if compiled.matches(pod.metadata.labels)]

    def owned_by_kind(self, namespace: str, kind: str) -> Iterator[tuple[str, list[core.Pod]]]:
        """(owner's name, its pods) of every owner of a kind in a namespace, whether the owner is in the input or not."""
        for (space, owner_kind, name), pods in self._pods.items():
            if (space, owner_kind) == (namespace, kind):
                yield name, pods

    def has_pod(self, namespace: str, name: str) -> bool:
        return (namespace, name) in self.names

    # --- overrides ---------------------------------------------------------------------------------------------------------------

    def replicas(self, item: Workload, default: int, role: str = "") -> int:
        """How many replicas `item`, or a role of it, shall have: what was asked for, else `default`. The last wish wins.

        A wish without a role is for the object as a whole; a role takes it only where the caller asks with `role` empty.
        """
        count = default
        for wish in self._overrides:
            if (
                is_kind(wish.kind, item.kind)
                and wish.name == item.name
                and wish.namespace in ("", item.namespace)
                and wish.role == role
            ):
                self._used.add(wish.text)
                count = wish.count
        return count

    def unused(self) -> list[Override]:
        """Overrides that named nothing that has replicas."""
        return [wish for wish in self._overrides if wish.text not in self._used]


def active(pods: Iterable[core.Pod]) -> list[core.Pod]:
    """Those that neither finished nor are being deleted: what controllers count."""
    return [pod for pod in pods if pod.status.phase not in FINISHED and pod.metadata.deletion_timestamp is None]


def controller(metadata: ObjectMeta) -> OwnerReference | None:
    """The owner that controls an object. In a trimmed dump, which may lack the flag, the only owner."""
    owners = metadata.owner_references
    for owner in owners:
        if owner.controller:
            return owner
    return owners[0] if len(owners) == 1 and owners[0].controller is None else None


def _owners(value: Json) -> list[OwnerReference]:
    references = listing(mapping(value, "metadata").get("ownerReferences"))
    controlling = [item for item in references if item.get("controller") is True] or (references if len(references) == 1 else [])
    return [OwnerReference(kind=_text(each, "kind"), name=_text(each, "name"), uid=_text(each, "uid")) for each in controlling]


def _text(mapping: Json, name: str) -> str:
    value = mapping.get(name)
    return value if isinstance(value, str) else ""


def _written_uid(item: Workload) -> str:
    """The uid that the cluster gave; empty for what has none yet."""
    return "" if _DERIVED.fullmatch(item.uid) else item.uid


# What `derived_uid` makes: version 8, which nobody draws at random.
_DERIVED = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}")


def _same(uid: str, other: str) -> bool:
    """Whether two uids may be the same one: trimmed dumps lack them."""
    return not uid or not other or uid == other


def _workload(carrier: Carrier, place: int) -> Workload:
    """The object of a carrier; one that has but a generateName gets a name, and each copy of it another."""
    metadata = mapping(carrier.value, "metadata")
    uid, name = _text(metadata, "uid"), carrier.name
    if not metadata.get("name") and metadata.get("generateName"):
        name = drawn_name(name[:_GENERATED_PREFIX], f"{carrier.ref}/{place}")
    return Workload(
        carrier.api_version,
        carrier.kind,
        carrier.namespace,
        name,
        carrier.value,
        uid or derived_uid(f"{carrier.kind}/{carrier.namespace}/{name}"),
        [],
        carrier.file,
        carrier.line,
    )
