"""Renaming what tells whose cluster it is, so that a snapshot can be shown to strangers and still gives the same plan.

Renamed, the same text always the same way: names of objects and namespaces, values of labels and of everything that selects by
them, values of taints, images. Left out: annotations, volumes' sources, addresses, texts of custom resources. Kept, for decisions
read them: drivers, classes, devices and their attributes, names of requests, keys of labels, resource names, quantities, times,
uids.

Two orders decide in the scheduler and are kept: that of the names of nodes (and pools), and that of the names of slices. A name
that a controller made from its owner's keeps what the controller added, for controllers recognise their own by it.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, cast

Object = dict[str, Any]  # as JSON and YAML have it

_PLAIN: Final = re.compile(r"-?\d+|true|false|")  # tells nobody anything, and may be compared as a number
_KEPT_KEYS: Final = (
    "kubernetes.io/arch",
    "kubernetes.io/os",
    "node.kubernetes.io/instance-type",
    "nvidia.com/",
    "resource.kubernetes.io/",
)
_KEPT_ANNOTATIONS: Final = "resource.kubernetes.io/"
_KEPT_CLASSES: Final = ("system-cluster-critical", "system-node-critical")
_KINDS_KEPT: Final = ("DeviceClass",)
# Not looked into: hardware, and expressions over it.
_HARDWARE: Final = frozenset(
    ("attributes", "capacity", "opaque", "counters", "consumesCounters", "sharedCounters", "selectors", "consumedCapacity")
)
_LEFT_OUT: Final = frozenset(
    (
        *(
            "serviceAccount",
            "serviceAccountName",
            "hostname",
            "subdomain",
            "imagePullSecrets",
            "hostAliases",
            "dnsConfig",
            "setHostnameAsFQDN",
        ),
        *("securityContext", "volumeMounts", "volumeDevices", "providerID", "podCIDR", "podCIDRs", "configSource", "managedFields"),
        *("entrypoint", "runtimeEnvYAML", "serveConfigV2", "arguments", "networkData", "data", "resourceVersion", "description"),
        *("terminationMessagePath", "annotations"),
    )
)
_STATUS_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "Pod": ("phase", "resourceClaimStatuses", "extendedResourceClaimStatus", "nominatedNodeName", "qosClass"),
    "Node": ("capacity", "allocatable", "declaredFeatures", "images"),
    "ResourceClaim": ("allocation", "reservedFor", "devices"),
}
_LABELS: Final = frozenset(("labels", "matchLabels", "nodeSelector", "selector"))
_NODES: Final = frozenset(("nodeName", "nominatedNodeName"))
_NAMES: Final = frozenset(("resourceClaimName", "resourceClaimTemplateName", "priorityClassName", "claimName", "runtime"))
_DEEPEST: Final = 64


def redacted(values: Sequence[Object]) -> list[Object]:
    """`values` renamed as the module says, in the same order. The argument is not changed."""
    return Redaction(values).objects()


class Redaction:
    """One input and its new names; `nodes`, `slices`, `namespaces` and `names` map old to new ones."""

    def __init__(self, values: Sequence[Object]) -> None:
        self._values = values
        self.nodes = _in_order("node", _node_names(values))
        self.slices = _in_order("slice", (_name(value) for value in values if value.get("kind") == "ResourceSlice"))
        self.namespaces = _in_order("namespace", _namespaces(values))
        self.names: dict[str, str] = {name: name for name in _KEPT_CLASSES}
        self.words: dict[str, str] = {}
        self.images: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._owners: dict[str, list[tuple[str, str]]] = {}
        for value in values:
            owners = [(str(owner.get("name")), str(owner.get("kind"))) for owner in _items(_metadata(value).get("ownerReferences"))]
            self._owners.setdefault(_name(value), []).extend(owners)
        for value in values:
            kind = str(value.get("kind"))
            if kind not in ("Node", "Namespace", "ResourceSlice", *_KINDS_KEPT) and _name(value):
                self._named(_name(value), kind)

    def objects(self) -> list[Object]:
        """The input with its new names."""
        return [self._object(value) for value in self._values]

    # --- words -------------------------------------------------------------------------------------------------------------------

    def _named(self, text: str, kind: str = "object") -> str:
        found = self.names.get(text)
        if found is not None:
            return found
        for owner, owner_kind in self._owners.get(text, ()):
            if owner and text.startswith(f"{owner}-"):
                stem = self.nodes.get(owner) if owner_kind == "Node" else self._named(owner, owner_kind)
                found = f"{stem}{text[len(owner) :]}"
                break
        else:
            found = self._fresh(kind.lower())
        self.names[text] = found
        return found

    def _fresh(self, word: str) -> str:
        self._counts[word] = self._counts.get(word, 0) + 1
        return f"{word}-{self._counts[word]:04d}"

    def _prefix(self, text: str) -> str:
        """A generateName: its owner's name and a hyphen, mostly."""
        return f"{self._named(text.rstrip('-'))}-" if text else text

    def _label(self, key: str, text: str) -> str:
        if key.startswith(_KEPT_KEYS) or _PLAIN.fullmatch(text):
            return text
        return self.nodes.get(text) or self.names.get(text) or self._word(text)

    def _word(self, text: str) -> str:
        if text not in self.words:
            self.words[text] = self._fresh("value")
        return self.words[text]

    def _image(self, text: str) -> str:
        # The scheduler compares images by name, and a name without a tag means `latest`.
        full = text if text.rfind(":") > text.rfind("/") else f"{text}:latest"
        if full not in self.images:
            self.images[full] = f"{self._fresh('image')}:1"
        return self.images[full]

    def _node(self, text: str) -> str:
        return self.nodes.get(text, text)

    def _namespace(self, text: str) -> str:
        return self.namespaces.get(text, text)

    # --- objects -----------------------------------------------------------------------------------------------------------------

    def _object(self, value: Object) -> Object:
        kind = str(value.get("kind"))
        kept = _STATUS_OF.get(kind)
        status = _mapping(value.get("status"))
        if kept is None:  # of a workload only its numbers and conditions count
            status = {name: part for name, part in status.items() if isinstance(part, (int, float)) or name == "conditions"}
        else:
            status = {name: status[name] for name in kept if name in status}
        rest = {name: part for name, part in value.items() if name not in ("metadata", "status")}
        found = cast(Object, self._walk(rest, "", 0))
        metadata = self._metadata_of(_metadata(value), kind)
        head = {name: found.pop(name) for name in ("apiVersion", "kind") if name in found}
        tail = {"status": self._walk(status, "status", 0)} if "status" in value else {}
        return {**head, "metadata": metadata, **found, **tail}

    def _metadata_of(self, metadata: Mapping[str, Any], kind: str) -> Object:
        found = cast(Object, self._walk(dict(metadata), "metadata", 0))
        name = str(metadata.get("name") or "")
        if name:
            by_kind: Mapping[str, Callable[[str], str]] = {
                "Node": self._node,
                "Namespace": self._namespace,
                "ResourceSlice": self.slices.__getitem__,
                **dict.fromkeys(_KINDS_KEPT, str),
            }
            found["name"] = by_kind.get(kind, self._named)(name)
        if kind in ("ResourceSlice", *_KINDS_KEPT):
            found.pop("generateName", None)
        annotations = _mapping(metadata.get("annotations"))
        kept = {key: text for key, text in annotations.items() if key.startswith(_KEPT_ANNOTATIONS)}
        return {**found, **({"annotations": kept} if kept else {})}

    def _walk(self, value: Any, key: str, depth: int) -> Any:
        if depth > _DEEPEST:
            return None
        if isinstance(value, list):
            return [self._walk(part, key, depth + 1) for part in cast("list[Any]", value)]
        if not isinstance(value, dict):
            return value
        mapping = cast(Object, value)
        if key in _LABELS and all(isinstance(part, str) for part in mapping.values()):
            return {name: self._label(name, text) for name, text in mapping.items()}
        found: Object = {}
        for name, part in mapping.items():
            if name in _LEFT_OUT:
                continue
            found[name] = part if name in _HARDWARE else self._field(mapping, key, name, part, depth)
        return found

    def _field(self, parent: Object, key: str, name: str, part: Any, depth: int) -> Any:
        """One field of `parent`, which itself is found under `key`."""
        if isinstance(part, str):
            return self._text(parent, key, name, part)
        if name == "values" and isinstance(part, list):
            return [self._selected(parent, key, str(text)) for text in cast("list[Any]", part)]
        if name == "namespaces" and isinstance(part, list):
            return [self._namespace(str(text)) for text in cast("list[Any]", part)]
        if name == "names" and key == "images":
            return [self._image(str(text)) for text in cast("list[Any]", part)]
        if name == "volumes":
            return [self._volume(volume) for volume in _items(part)]
        if name == "volumeClaimTemplates":
            return [{"metadata": {"name": f"volume-{index}"}, "spec": {}} for index, _ in enumerate(_items(part))]
        if name == "conditions":
            return [{what: text for what, text in condition.items() if what != "message"} for condition in _items(part)]
        return self._walk(part, name, depth + 1)

    def _text(self, parent: Object, key: str, name: str, text: str) -> str:
        if name in _NODES or (name == "pool" and "driver" in parent) or (name == "name" and key == "pool"):
            return self._node(text)
        if name in _NAMES or (name == "name" and key in ("ownerReferences", "reservedFor", "runtimeRef")):
            owner = str(parent.get("kind"))
            return self._node(text) if owner == "Node" else self._named(text, owner if key == "ownerReferences" else "object")
        if name == "pool" and key == "deviceSelector":
            return self._node(text)
        if name == "namespace":
            return self._namespace(text)
        if name == "generateName":
            return self._prefix(text)
        if name == "image":
            return self._image(text)
        if name == "value" and key in ("taints", "tolerations", "taint"):
            return self._label(str(parent.get("key")), text)
        return text

    def _selected(self, parent: Object, key: str, text: str) -> str:
        """A value of a selector's requirement, or of a quota's scope."""
        if key == "matchFields":
            return self._node(text)
        if "scopeName" in parent:
            return self._named(text, "priorityclass")
        return self._label(str(parent.get("key")), text)

    def _volume(self, volume: Object) -> Object:
        """Its name and what kind it is: that a pod has one is all that counts."""
        return {
            name: part
            if name == "name"
            else {"claimName": self._named(str(_mapping(part).get("claimName")))}
            if name == "persistentVolumeClaim"
            else {}
            for name, part in volume.items()
        }


def _in_order(word: str, names: Iterable[str]) -> dict[str, str]:
    """New names that sort as the old ones do."""
    ordered = sorted({name for name in names if name})
    width = max(4, len(str(len(ordered))))
    return {name: f"{word}-{index:0{width}d}" for index, name in enumerate(ordered, 1)}


def _node_names(values: Iterable[Object]) -> Iterable[str]:
    for value in values:
        if value.get("kind") == "Node":
            yield _name(value)
        spec = _mapping(value.get("spec"))
        yield str(spec.get("nodeName") or "")
        yield from _pools(value)


def _pools(value: Object) -> Iterable[str]:
    """Names of pools and nodes wherever an object of resource.k8s.io has them."""
    spec, status = _mapping(value.get("spec")), _mapping(value.get("status"))
    match value.get("kind"):
        case "ResourceSlice":
            yield str(_mapping(spec.get("pool")).get("name") or "")
            yield from (str(device.get("nodeName") or "") for device in _items(spec.get("devices")))
        case "DeviceTaintRule":
            yield str(_mapping(spec.get("deviceSelector")).get("pool") or "")
        case "ResourceClaim":
            results = _mapping(_mapping(status.get("allocation")).get("devices")).get("results")
            yield from (str(item.get("pool") or "") for item in (*_items(results), *_items(status.get("devices"))))
        case _:
            yield str(status.get("nominatedNodeName") or "")


def _namespaces(values: Iterable[Object]) -> Iterable[str]:
    for value in values:
        yield _name(value) if value.get("kind") == "Namespace" else str(_metadata(value).get("namespace") or "")


def _name(value: Object) -> str:
    return str(_metadata(value).get("name") or "")


def _metadata(value: Object) -> Mapping[str, Any]:
    return _mapping(value.get("metadata"))


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], value) if isinstance(value, Mapping) else {}


def _items(value: Any) -> list[Object]:
    return [cast(Object, item) for item in cast("list[Any]", value) if isinstance(item, dict)] if isinstance(value, list) else []
