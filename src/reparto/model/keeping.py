"""What a snapshot keeps of an object: what decides where pods and devices go, and nothing that an application told its containers.

Environment, commands and probes are left out, for that is where secrets lie that are no Secret; so are the server's bookkeeping and
the copies of whole objects that kubectl leaves in annotations.
"""

from collections.abc import Mapping
from typing import Any, Final, cast

Object = dict[str, Any]  # as JSON and YAML have it

_BOOKKEEPING: Final = ("managedFields", "selfLink")
_COPIES: Final = ("kubectl.kubernetes.io/last-applied-configuration", "meta.helm.sh/", "objectset.rio.cattle.io/applied")
# Of a container: nothing that is scheduled by.
_TOLD: Final = frozenset(
    ("env", "envFrom", "command", "args", "livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "source", "workingDir")
)
_CONTAINERS: Final = frozenset(("containers", "initContainers", "ephemeralContainers"))
_ALONE: Final = frozenset(("container", "script"))  # Argo's
_NEVER: Final = frozenset(("Secret", "ConfigMap", "SecretList", "ConfigMapList"))
_DEEPEST: Final = 64


def kept(value: Object) -> Object | None:
    """`value` without what no plan depends on; None for an object that is never saved. The argument is not changed."""
    if value.get("kind") in _NEVER:
        return None
    metadata = {name: part for name, part in _mapping(value.get("metadata")).items() if name not in _BOOKKEEPING}
    annotations = _mapping(metadata.get("annotations"))
    if annotations:
        metadata["annotations"] = {name: text for name, text in annotations.items() if not name.startswith(_COPIES)}
    rest = {name: _quiet(part, 0) for name, part in value.items() if name != "metadata"}
    head = {name: rest.pop(name) for name in ("apiVersion", "kind") if name in rest}
    return {**head, "metadata": metadata, **rest}


def without_commands(value: Any) -> Any:
    """A pod template, or anything that holds some, without what it tells containers: equal for an object and its snapshot."""
    return _quiet(value, 0)


def _quiet(value: Any, depth: int) -> Any:
    if depth > _DEEPEST:
        return None
    if isinstance(value, dict):
        found: Object = {}
        for name, part in cast(Object, value).items():
            if name in _CONTAINERS and isinstance(part, list):
                found[name] = [_container(item, depth) for item in cast("list[Any]", part)]
            elif name in _ALONE and isinstance(part, dict):
                found[name] = _container(part, depth)
            else:
                found[name] = _quiet(part, depth + 1)
        return found
    if isinstance(value, list):
        return [_quiet(part, depth + 1) for part in cast("list[Any]", value)]
    return value


def _container(value: Any, depth: int) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: _quiet(part, depth + 1) for name, part in cast(Object, value).items() if name not in _TOLD}


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast(Mapping[str, Any], value) if isinstance(value, Mapping) else {}
