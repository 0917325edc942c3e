"""Strategic merge patches of pod specs, as far as placement depends on them: lists of named things are merged by name.

Source: patchMergeKey in k8s.io/api/core/v1: containers, volumes, resourceClaims and env merge by name; tolerations are replaced.
"""

from collections.abc import Mapping
from typing import Any, Final, cast

from reparto.placement.workloads.fields import Json

_BY_NAME: Final = frozenset(
    ("containers", "initContainers", "volumes", "resourceClaims", "env", "claims", "imagePullSecrets", "schedulingGates")
)


def patched_pod(template: Json, patch: Json) -> Json:
    """A pod template with a patch of its metadata and spec applied."""
    return patched(template, {name: patch[name] for name in ("metadata", "spec") if patch.get(name)})


def patched(value: Json, patch: Json) -> Json:
    """`value` with `patch` over it: mappings merge, lists of named things merge by name, null removes, all else is replaced."""
    result: dict[str, Any] = dict(value)
    for name, change in patch.items():
        own = result.get(name)
        if change is None:
            result.pop(name, None)
        elif isinstance(change, Mapping) and isinstance(own, Mapping):
            result[name] = patched(cast(Json, own), cast(Json, change))
        elif name in _BY_NAME and isinstance(change, list) and isinstance(own, list):
            result[name] = _by_name(cast("list[Any]", own), cast("list[Any]", change))
        else:
            result[name] = change
    return result


def _by_name(own: list[Any], changes: list[Any]) -> list[Any]:
    result = list(own)
    places = {name: index for index, item in enumerate(own) if (name := _name(item))}
    for change in changes:
        index = places.get(_name(change))
        if index is None:
            result.append(change)
        else:
            result[index] = patched(cast(Json, result[index]), cast(Json, change))
    return result


def _name(item: Any) -> str:
    """What an entry of a list is called; empty where it has no name."""
    name: object = cast(Json, item).get("name") if isinstance(item, Mapping) else None
    return name if isinstance(name, str) else ""
