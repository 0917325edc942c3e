"""One list, page by page, as the objects' JSON.

The token of a page is good for a few minutes only. Where it has expired (410) the list starts anew, and after a few such restarts
it is asked for as a whole, which cannot expire. Objects stay bytes: whoever wants them decodes them into structs at once.
"""

from collections.abc import Callable

import msgspec

from reparto.kube.client import Client
from reparto.kube.discovery import Served
from reparto.kube.errors import Expired

PAGE = 500  # kubectl's
RESTARTS = 3


class _ListMeta(msgspec.Struct, rename="camel"):
    resource_version: str = ""
    token: str = msgspec.field(default="", name="continue")


class _List(msgspec.Struct):
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)
    items: list[msgspec.Raw] | None = None


async def objects(
    client: Client, served: Served, namespace: str | None = None, *, page: int = PAGE, count: Callable[[int], None] | None = None
) -> list[bytes]:
    """Every object of a resource (of one namespace, if given), in the server's order, each with its apiVersion and kind.

    `count(n)` is called with the number of objects of each page. Raises KubeError.
    """
    for restart in range(RESTARTS + 1):
        try:
            return await _pages(client, served, namespace, page if restart < RESTARTS else 0, count)
        except Expired:
            if restart == RESTARTS:
                raise
    raise AssertionError  # the last round returns or raises


async def _pages(
    client: Client, served: Served, namespace: str | None, page: int, count: Callable[[int], None] | None
) -> list[bytes]:
    found: list[bytes] = []
    token = ""
    while True:
        parameters = ({"limit": str(page)} if page else {}) | ({"continue": token} if token else {})
        answer = await client.get(served.path(namespace), _List, parameters)
        items = answer.items or []
        found += [_complete(bytes(item), served) for item in items]
        if count is not None:
            count(len(items))
        token = answer.metadata.token
        if not token:
            return found


def _complete(item: bytes, served: Served) -> bytes:
    """Items of a typed list carry no apiVersion and kind: they are put in front."""
    body = item.lstrip()[1:]
    head = f'{{"apiVersion":"{served.api_version}","kind":"{served.kind}"'.encode()
    if body.lstrip()[:1] == b"}":
        return head + b"}"
    if b'"kind":' in item[:200]:  # custom resources do carry them; the last of two would win, so ours is dropped
        first = msgspec.json.decode(item, type=_Head)
        if first.kind:
            return item
    return head + b"," + body


class _Head(msgspec.Struct):
    kind: str = ""
