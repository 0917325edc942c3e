"""Kinds that nobody told us about: whatever holds a pod template is taken to run it as often as the field beside it says.

Most custom resources that make pods keep `template` beside `replicas`; some keep whole objects inside (AppWrapper). What was taken
is said for each object: its controller may do otherwise.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

import msgspec

from reparto.model.carriers import is_template
from reparto.placement.workloads.fields import Fields, Json, mapping
from reparto.placement.workloads.objects import Draft, Made, Workload
from reparto.placement.workloads.world import World

_COUNTS: Final = ("replicas", "parallelism", "count", "size", "instances")
_NAMES: Final = ("name", "groupName", "role", "replicaType", "type")
_MAX_DEPTH: Final = 16


class _Found(msgspec.Struct, frozen=True):
    """A pod template, or a whole object (`whole`), at `path`: `holder` is the mapping around it, `label` what it stands under."""

    path: str
    value: Json
    holder: Json
    label: str
    whole: bool


def unknown(item: Workload, world: World) -> Made:
    """The objects inside an object, and pods for each template that is found otherwise."""
    found = list(_walk(item.value, _Found("", item.value, {}, "", False), 0))
    templates = [each for each in found if not each.whole]
    exist = len(world.controlled(item))
    if exist and len(templates) > 1:
        # With several templates nobody can say whose pods they are; its controller has spoken.
        item.spec.doubt(f"the controller of {item.kind} is not known; it has {exist} pods, and no further ones were planned")
        return
    for number, each in enumerate(each for each in found if each.whole):
        kind, name = str(each.value["kind"]), mapping(each.value, "metadata").get("name")
        item.spec.doubt(f"{each.path} is a whole {kind}; it was planned as if applied by itself")
        name = name if isinstance(name, str) and name else f"{item.name}-{number}"
        yield world.child(item, str(each.value["apiVersion"]), kind, name, each.value)
    for each in templates:
        role = _role(each) if len(templates) > 1 else ""
        count, said = _count(Fields(each.holder, each.path.rpartition(".")[0], item.doubts))
        count = world.replicas(item, count, role)
        count = world.replicas(item, count) if len(templates) == 1 else count
        item.spec.doubt(f"the controller of {item.kind} is not known; of {each.path}, {said} planned")
        for _ in range(count - exist):
            yield Draft(f"{item.name}-{role}-" if role else f"{item.name}-", each.value, path=each.path)


def _walk(value: Any, at: _Found, depth: int) -> Iterator[_Found]:
    """What is found inside `value`, outermost only."""
    if depth > _MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        here = cast(Json, value)
        if at.path and is_template(here):
            yield msgspec.structs.replace(at, value=here)
            return
        if at.path and _is_whole(here):
            yield msgspec.structs.replace(at, value=here, whole=True)
            return
        for name, child in here.items():
            path = f"{at.path}.{name}" if at.path else str(name)
            yield from _walk(child, _Found(path, here, here, str(name), False), depth + 1)
    elif isinstance(value, list):
        for index, child in enumerate(cast("list[Any]", value)):
            holder = cast(Json, child) if isinstance(child, Mapping) else at.holder
            yield from _walk(child, msgspec.structs.replace(at, path=f"{at.path}[{index}]", holder=holder), depth + 1)


def _is_whole(value: Json) -> bool:
    named = (
        isinstance(value.get("apiVersion"), str) and isinstance(value.get("kind"), str) and isinstance(value.get("spec"), Mapping)
    )
    return named and any(True for _ in _walk({"object": {**value, "kind": None}}, _Found("", {}, {}, "", False), 1))


def _role(found: _Found) -> str:
    """A name for the pods of one of several templates: what the mapping around it is called, else the last name of its path."""
    label = found.label
    if label == "template":
        label = found.path.rpartition(".")[0].rpartition(".")[2]
    named = next((found.holder[name] for name in _NAMES if isinstance(found.holder.get(name), str)), label)
    return "".join(character for character in named.lower() if character.isalnum() or character == "-").strip("-")


def _count(beside: Fields) -> tuple[int, str]:
    for name in _COUNTS:
        if name in beside:
            count = beside.number(name, 1)
            return count, f"as many pods as {name} says ({count}) were"
    return 1, "one pod was"
