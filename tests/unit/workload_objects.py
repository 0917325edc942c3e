"""Builders for the tests of workloads: objects as people write them, and what expansion makes of them."""

from collections.abc import Iterable
from typing import Any

from reparto.model import core
from reparto.model.intake import read_inputs
from reparto.placement.workloads import Expansion, expand, parse_replicas

Object = dict[str, Any]


def pod_template(*, labels: dict[str, str] | None = None, **spec: Any) -> Object:
    """A pod template with one container, unless `spec` says otherwise."""
    return {"metadata": {"labels": labels or {"app": "x"}}, "spec": {"containers": [{"name": "c"}], **spec}}


def workload(
    api_version: str, kind: str, spec: Object, *, name: str = "x", status: Object | None = None, **metadata: Any
) -> Object:
    written = {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "namespace": "ml", **metadata},
        "spec": spec,
    }
    return written if status is None else {**written, "status": status}


def owned(kind: str, name: str, uid: str = "", *, api_version: str = "apps/v1") -> list[Object]:
    """The owner references of something that this object controls."""
    return [{"apiVersion": api_version, "kind": kind, "name": name, "uid": uid or f"uid-of-{name}", "controller": True}]


def running(name: str, owners: list[Object] | None = None, *, phase: str = "Running", node: str = "n", **metadata: Any) -> Object:
    """A pod that exists."""
    about = {"name": name, "namespace": "ml", **({"ownerReferences": owners} if owners else {}), **metadata}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": about,
        "spec": {"nodeName": node, "containers": [{"name": "c"}]},
        "status": {"phase": phase},
    }


def expanded(*objects: Object, nodes: Iterable[core.Node] = (), replicas: Iterable[str] = ()) -> Expansion:
    """What expansion makes of objects, read as from a file; nothing in them may be refused when they are read."""
    intake = read_inputs(list(objects))
    assert intake.errors == []
    pods = [item for item in intake.typed() if isinstance(item, core.Pod)]
    return expand(intake.carriers, pods, nodes=list(nodes), replicas_overrides=parse_replicas(replicas))


def names(expansion: Expansion) -> list[str]:
    assert expansion.problems == ()
    return [pod.metadata.name for pod in expansion.pods]


def stems(expansion: Expansion) -> list[str]:
    """Names without the five characters that a cluster draws, each of which must be unlike all others."""
    found = names(expansion)
    assert len(set(found)) == len(found)
    return [name[:-5] for name in found]


def messages(expansion: Expansion) -> str:
    return "\n".join(note.message for note in expansion.notes)


def owners(expansion: Expansion) -> list[str]:
    return [f"{owner.kind}/{owner.name}" for pod in expansion.pods for owner in pod.metadata.owner_references if owner.controller]
