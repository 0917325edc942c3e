"""What a server serves: of each resource the newest version that we know, else the one that the server prefers.

Asked in one request where the server has aggregated discovery (1.27 and newer), else group by group.
"""

import asyncio
from collections.abc import Collection, Iterable, Sequence

import msgspec

from reparto.kube.client import Client
from reparto.kube.errors import ApiError, Forbidden, NotServed

_AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"


class Served(msgspec.Struct, frozen=True):
    """A resource that can be listed: its path below the server, its kind, and whether it lives in namespaces."""

    group: str
    version: str
    resource: str
    kind: str
    namespaced: bool

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str | None = None) -> str:
        base = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        return f"{base}/namespaces/{namespace}/{self.resource}" if namespace and self.namespaced else f"{base}/{self.resource}"


class Version(msgspec.Struct, frozen=True):
    """`/version`: what runs. `minor` may carry a suffix ("37+")."""

    git_version: str = msgspec.field(default="", name="gitVersion")
    major: str = ""
    minor: str = ""
    emulation_major: str = msgspec.field(default="", name="emulationMajor")
    emulation_minor: str = msgspec.field(default="", name="emulationMinor")
    min_compatibility_major: str = msgspec.field(default="", name="minCompatibilityMajor")
    min_compatibility_minor: str = msgspec.field(default="", name="minCompatibilityMinor")

    @property
    def release(self) -> tuple[int, int] | None:
        """Major and minor of the release whose behaviour the server has, the emulated one where it emulates; None if unreadable."""
        return _numbers(self.emulation_major, self.emulation_minor) or _numbers(self.major, self.minor)

    @property
    def compatible_with(self) -> tuple[int, int] | None:
        """The oldest release that the other components of the cluster may have, as far as it says."""
        return _numbers(self.min_compatibility_major, self.min_compatibility_minor)


def _numbers(major: str, minor: str) -> tuple[int, int] | None:
    digits = minor.rstrip("+")
    return (int(major), int(digits)) if major.isdigit() and digits.isdigit() else None


class _Kind(msgspec.Struct):
    kind: str = ""


class _Resource(msgspec.Struct, rename="camel"):
    resource: str = ""
    response_kind: _Kind = msgspec.field(default_factory=_Kind)
    scope: str = ""
    verbs: list[str] = []


class _GroupVersion(msgspec.Struct):
    version: str = ""
    resources: list[_Resource] = []


class _Name(msgspec.Struct):
    name: str = ""


class _Group(msgspec.Struct):
    metadata: _Name = msgspec.field(default_factory=_Name)
    versions: list[_GroupVersion] = []


class _ClassicVersion(msgspec.Struct):
    version: str = ""


class _ClassicGroup(msgspec.Struct):
    name: str = ""
    versions: list[_ClassicVersion] = []


class _Groups(msgspec.Struct):
    """The answer to `/apis` in either form: an APIGroupDiscoveryList has items, an APIGroupList has groups."""

    items: list[_Group] = []
    groups: list[_ClassicGroup] = []


class _ClassicResource(msgspec.Struct):
    name: str = ""
    kind: str = ""
    namespaced: bool = False
    verbs: list[str] = []


class _ClassicResources(msgspec.Struct):
    resources: list[_ClassicResource] = []


class Directory:
    """What a server lists, by group and resource, the server's preferred version first."""

    def __init__(self, entries: Iterable[Served]) -> None:
        self._entries: dict[tuple[str, str], list[Served]] = {}
        for entry in entries:
            self._entries.setdefault((entry.group, entry.resource), []).append(entry)

    def find(self, group: str, resource: str, known: Sequence[str] = ()) -> Served | None:
        """The resource in the first of the versions `known` that is served; without `known`, in the version the server prefers."""
        served = self._entries.get((group, resource), [])
        if not known:
            return served[0] if served else None
        return next((entry for version in known for entry in served if entry.version == version), None)


async def version(client: Client) -> Version:
    """The server's version. Raises KubeError."""
    return await client.get("/version", Version)


async def directory(client: Client, groups: Collection[str]) -> Directory:
    """What the server lists of `groups`. Raises KubeError."""
    answer = await client.get("/apis", _Groups, accept=_AGGREGATED)
    if answer.items or not answer.groups:
        return Directory(_aggregated(answer.items))
    pairs = [(group.name, version.version) for group in answer.groups if group.name in groups for version in group.versions]
    found = await asyncio.gather(*(_classic(client, *pair) for pair in pairs))
    return Directory(entry for entries in found for entry in entries)


def _aggregated(groups: Iterable[_Group]) -> Iterable[Served]:
    for group in groups:
        for version in group.versions:
            for each in version.resources:
                if "list" in each.verbs:
                    yield Served(
                        group.metadata.name, version.version, each.resource, each.response_kind.kind, each.scope == "Namespaced"
                    )


async def _classic(client: Client, group: str, version: str) -> list[Served]:
    try:
        answer = await client.get(f"/apis/{group}/{version}", _ClassicResources)
    except (Forbidden, NotServed):
        return []
    except ApiError as error:
        # An aggregated API whose server is down must not hide all others.
        if error.status == 503 and not group.endswith("k8s.io"):
            return []
        raise
    return [
        Served(group, version, each.name, each.kind, each.namespaced)
        for each in answer.resources
        if "/" not in each.name and "list" in each.verbs
    ]
