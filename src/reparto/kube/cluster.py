"""A cluster, read: every object that a plan depends on, the release it runs, and what could not be read and therefore is not known.

The lists are taken side by side, not at one instant: a claim may be allocated while the pods are still being read. What the user
may not read is left out and said, with what the answer lacks without it; where all namespaces are forbidden, one is tried.
"""

import asyncio
from collections.abc import Callable

import msgspec

from reparto.kube import discovery
from reparto.kube.client import Client
from reparto.kube.discovery import Directory, Served, Version
from reparto.kube.errors import ApiError, Forbidden, NotServed, Unauthorized
from reparto.kube.kinds import CORE_KINDS, DEVICE_GROUP, READ, Reading
from reparto.kube.listing import objects

AT_ONCE = 6  # lists in flight: an API server gives one user about that many seats


class Gap(msgspec.Struct, frozen=True):
    """Something that was not read. `resource` as RBAC names it (`resourceslices.resource.k8s.io`), `message` says why, and what is
    unknown now."""

    resource: str
    message: str


class Cluster(msgspec.Struct, frozen=True):
    """What was read of the cluster of `context`: objects as JSON, in the order of `kinds.READ`, and of the server within a kind."""

    context: str
    version: Version
    objects: tuple[bytes, ...]
    gaps: tuple[Gap, ...]
    versions: tuple[str, ...]  # of resource.k8s.io, those that were read


async def read_cluster(client: Client, *, namespace: str | None = None, progress: Callable[[int], None] | None = None) -> Cluster:
    """Everything in `kinds.READ` that the cluster serves and the user may list.

    `namespace` is the one to fall back to where all namespaces are forbidden (None: the context's). `progress(n)` is called with
    the number of objects so far. Raises KubeError where nothing can be read at all.
    """
    connection = client.connection
    version = await discovery.version(client)
    served = await discovery.directory(client, {reading.group for reading in READ})
    seats = asyncio.Semaphore(AT_ONCE)
    total = 0

    def count(number: int) -> None:
        nonlocal total
        total += number
        if progress is not None:
            progress(total)

    async def one(reading: Reading) -> tuple[list[bytes], Gap | None]:
        entry = _served(reading, served)
        if entry is None:
            return [], None if reading.optional or reading.group == DEVICE_GROUP else _absent(reading)
        async with seats:
            return await _listed(client, reading, entry, namespace or connection.namespace, count)

    tasks = [asyncio.ensure_future(one(reading)) for reading in READ]
    try:
        parts = await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
    gaps = [gap for _, gap in parts if gap is not None]
    versions = tuple(
        dict.fromkeys(entry.version for entry in (_served(each, served) for each in READ if each.group == DEVICE_GROUP) if entry)
    )
    if not versions:
        gaps.insert(0, Gap(DEVICE_GROUP, _no_devices(version)))
    return Cluster(connection.context, version, tuple(item for found, _ in parts for item in found), tuple(gaps), versions)


def _served(reading: Reading, served: Directory) -> Served | None:
    if not reading.group:
        return Served("", "v1", reading.resource, CORE_KINDS[reading.resource], reading.namespaced)
    return served.find(reading.group, reading.resource, reading.versions)


async def _listed(
    client: Client, reading: Reading, entry: Served, namespace: str, count: Callable[[int], None]
) -> tuple[list[bytes], Gap | None]:
    try:
        return await objects(client, entry, count=count), None
    except Unauthorized:
        raise
    except NotServed:
        return [], None if reading.optional else _absent(reading)
    except Forbidden as refused:
        if not entry.namespaced:
            return [], _forbidden(reading, refused)
    except ApiError as error:
        if not reading.optional:
            raise
        return [], Gap(_name(reading), f"{_name(reading)} could not be read, so {reading.without}: {error.message}")
    try:
        found = await objects(client, entry, namespace, count=count)
    except Forbidden as refused:
        return [], _forbidden(reading, refused)
    name = _name(reading)
    message = f"of {name} only namespace {namespace} was read, since listing all is forbidden; elsewhere {reading.without}"
    return found, Gap(name, message)


def _name(reading: Reading) -> str:
    return f"{reading.resource}.{reading.group}" if reading.group else reading.resource


def _forbidden(reading: Reading, refused: Forbidden) -> Gap:
    return Gap(_name(reading), f"listing {_name(reading)} is forbidden, so {reading.without} ({refused.message})")


def _absent(reading: Reading) -> Gap:
    return Gap(_name(reading), f"the server does not serve {_name(reading)}, so {reading.without}")


def _no_devices(version: Version) -> str:
    return (
        f"the server ({version.git_version or 'unknown version'}) does not serve {DEVICE_GROUP}: "
        "dynamic resource allocation is off there, and no device, class or claim is known"
    )
