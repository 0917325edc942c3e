"""A new pod as the API server stores it, as far as its node depends on that: admission adds tolerations that nobody writes.

Pods that exist went through admission already. Source: kubernetes 1.37.2, admission plugin DefaultTolerationSeconds.
"""

from typing import Final

from msgspec.structs import replace

from reparto.model.core import Pod, Toleration

# Nodes that just failed keep their pods for five minutes; a new pod may therefore be placed there as well.
_TOLERATED: Final = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_SECONDS: Final = 300


def as_admitted(pod: Pod) -> Pod:
    """`pod` with the tolerations that admission adds; itself where it has them, or exists already."""
    if pod.metadata.uid or pod.metadata.creation_timestamp:
        return pod
    covered = {toleration.key for toleration in pod.spec.tolerations if toleration.effect in ("", "NoExecute")}
    added = tuple(
        Toleration(key=key, operator="Exists", effect="NoExecute", toleration_seconds=_SECONDS)
        for key in _TOLERATED
        if not covered & {key, ""}
    )
    return replace(pod, spec=replace(pod.spec, tolerations=(*pod.spec.tolerations, *added))) if added else pod
