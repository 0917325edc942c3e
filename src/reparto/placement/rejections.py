"""Why a node is out for a pod, before any device is looked at: a code, the field that decides, and the cause in words."""

from functools import lru_cache

import msgspec


class Rejection(msgspec.Struct, frozen=True, cache_hash=True):
    """Equal for nodes that fail alike, so that they can be counted. `path` is a field of the pod.

    `resolvable` says that the scheduler would look whether evicting other pods helps (its status Unschedulable, not
    UnschedulableAndUnresolvable).
    """

    code: str
    path: str
    cause: str
    resolvable: bool = False


@lru_cache(maxsize=65_536)
def rejection(code: str, path: str, cause: str, resolvable: bool = False) -> Rejection:
    """The one `Rejection` with these values."""
    return Rejection(code, path, cause, resolvable)
