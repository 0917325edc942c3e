"""`--replicas KIND/NAME=N`: how many replicas a person wants to try, instead of those written."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

_FORM: Final = "KIND/NAME=N or KIND/NAMESPACE/NAME=N, for example Deployment/web=3 (one role: RayCluster/big:gpu-workers=2)"
_SHORT: Final[Mapping[str, str]] = {
    "deploy": "deployment",
    "sts": "statefulset",
    "ds": "daemonset",
    "rs": "replicaset",
    "rc": "replicationcontroller",
    "cj": "cronjob",
    "lws": "leaderworkerset",
    "isvc": "inferenceservice",
    "ksvc": "service",
    "vcjob": "job",
}
_TEXT = re.compile(
    r"(?P<kind>[A-Za-z][A-Za-z0-9]*)/(?:(?P<namespace>[^/=:]+)/)?(?P<name>[^/=:]+)(?::(?P<role>[^/=:]+))?=(?P<count>[^=]*)"
)
_MAX_REPLICAS: Final = 100_000


class Override(msgspec.Struct, frozen=True):
    """One wish: `kind` in lower case; `namespace` and `role` are empty where any will do."""

    kind: str
    namespace: str
    name: str
    role: str
    count: int
    text: str


def parse_replicas(texts: Iterable[str]) -> tuple[Override, ...]:
    """The wishes of `--replicas`, in order; kinds in any case, in plural or as kubectl shortens them. ValueError: what is wrong."""
    return tuple(_parsed(text.strip()) for text in texts)


def _parsed(text: str) -> Override:
    found = _TEXT.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not {_FORM}")
    count = found["count"].strip()
    if not (count.isascii() and count.isdigit()):
        raise ValueError(f"{text!r}: {count!r} is not a number of replicas (0 or more)")
    if int(count) > _MAX_REPLICAS:
        raise ValueError(f"{text!r}: more than {_MAX_REPLICAS} replicas are not planned")
    kind = found["kind"].lower()
    kind = _SHORT.get(kind, kind)
    return Override(kind, found["namespace"] or "", found["name"], found["role"] or "", int(count), text)


def is_kind(wanted: str, kind: str) -> bool:
    """Whether `wanted` (lower case) names `kind`, in singular or plural."""
    kind = kind.lower()
    return wanted in (kind, f"{kind}s", f"{kind}es", f"{kind[:-1]}ies" if kind.endswith("y") else kind)
