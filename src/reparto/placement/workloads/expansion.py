"""Expansion: the pods that controllers would make of the workloads in the input, in the order of the input.

Every controller of a cluster is taken to have caught up: what exists already is counted, what is missing is made, and nothing is
deleted or rolled over. Names that a cluster draws at random are derived from the owner. What cannot be known is assumed and said;
what cannot be read is a problem of its object, and makes no pods.
"""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, cast

import msgspec

from reparto.model import codes, core
from reparto.model.carriers import Carrier
from reparto.model.decoding import decode
from reparto.model.errors import DecodeError, ErrorType, Problem
from reparto.model.gates import Gates
from reparto.model.legacy import pod_fields
from reparto.model.validation import validate
from reparto.placement.drawn_names import drawn_name
from reparto.placement.plan import Note
from reparto.placement.workloads.families import family_of, is_kept_apart
from reparto.placement.workloads.fields import Fields, Json, MalformedField, is_expression, mapping
from reparto.placement.workloads.objects import Draft, Workload, derived_uid
from reparto.placement.workloads.overrides import Override
from reparto.placement.workloads.world import World

MAX_PODS: Final = 100_000  # a typing error must not end in memory; clusters end at 150,000
_GENERATED_PREFIX: Final = 58  # 63 characters less those that are drawn
_MAX_DEPTH: Final = 12  # objects that make objects; the deepest known has 5


class Expansion(msgspec.Struct, frozen=True):
    """`pods` that do not exist yet, with owner references; `documents` are the same in full, as the API has them, where they were
    asked for; `notes` say what was assumed; `problems` are fields that no controller could read; `unused` are overrides that named
    nothing, each as a sentence."""

    pods: tuple[core.Pod, ...] = ()
    documents: tuple[dict[str, Any], ...] = ()
    notes: tuple[Note, ...] = ()
    problems: tuple[Problem, ...] = ()
    unused: tuple[str, ...] = ()


def expand(
    carriers: Sequence[Carrier],
    existing_pods: Iterable[core.Pod],
    *,
    nodes: Sequence[core.Node] = (),
    replicas_overrides: Sequence[Override] = (),
    gates: Gates | None = None,
    keep_documents: bool = False,
) -> Expansion:
    """The pods that are missing. `nodes` are where DaemonSets run; `gates` decide which claims a pod may have."""
    return _Expansion(World(carriers, existing_pods, nodes, replicas_overrides), gates, keep_documents).run()


class _Expansion:
    def __init__(self, world: World, gates: Gates | None, keep_documents: bool) -> None:
        self._world, self._gates, self._keep_documents = world, gates, keep_documents
        self._pods: list[core.Pod] = []
        self._documents: list[dict[str, Any]] = []
        self._notes: dict[Note, None] = {}
        self._problems: dict[Problem, None] = {}
        self._judged: dict[tuple[str, int], bool] = {}
        self._templates: list[Json] = []  # kept alive, so that their ids stay theirs
        self._counters: dict[str, int] = {}

    def run(self) -> Expansion:
        for item in self._world.objects:
            if self._world.owner(item) is None:
                self._take(item, 0)
                self._doubts(item)
        return Expansion(
            tuple(self._pods), tuple(self._documents), tuple(self._notes), tuple(self._problems), tuple(self._unused())
        )

    def _take(self, item: Workload, depth: int) -> None:
        if is_kept_apart(item) or mapping(item.value, "metadata").get("deletionTimestamp"):
            return
        if not item.name:
            self._problem(item, "metadata.name", None, "name or generateName is required", "FieldValueRequired")
            return
        if not item.namespace:
            self._say(item, codes.NOT_EXPANDED, "it is cluster-scoped, so the namespace of its pods is not known")
            return
        if depth > _MAX_DEPTH:
            self._say(item, codes.NOT_EXPANDED, "its objects are nested too deeply")
            return
        family, follows_children = family_of(item)
        children = self._world.children(item)
        if follows_children and children:
            # The controller of a kind that is known less well has spoken already: what it made is what it makes.
            for child in children:
                self._take(child, depth + 1)
                self._doubts(child)
            return
        try:
            for number, made in enumerate(family(item, self._world)):
                if max(number, len(self._pods)) >= MAX_PODS:
                    self._say(item, codes.NOT_EXPANDED, f"more than {MAX_PODS} pods are not planned; the rest is left out")
                    return
                if isinstance(made, Workload):
                    self._take(made, depth + 1)
                else:
                    self._make(made.owner or item, made)
        except MalformedField as problem:
            for each in (problem, *problem.others):
                self._problem(item, each.path, each.found, each.message, hint=each.hint)

    def _doubts(self, item: Workload) -> None:
        for doubt in dict.fromkeys(item.doubts):
            self._say(item, codes.WORKLOAD_ASSUMED, doubt)

    # --- one pod -----------------------------------------------------------------------------------------------------------------

    def _make(self, owner: Workload, draft: Draft) -> None:
        if not self._accepted(owner, draft):
            return
        name = self._name(owner, draft)
        if self._world.has_pod(owner.namespace, name):
            return
        document = _document(owner, draft, name)
        try:
            pod = decode(document)
        except DecodeError as error:
            self._undecodable(owner, draft, error)
            return
        self._world.names.add((owner.namespace, name))
        self._pods.append(cast(core.Pod, pod))
        if self._keep_documents:
            self._documents.append(document)

    def _name(self, owner: Workload, draft: Draft) -> str:
        if not draft.name.endswith("-"):
            return draft.name
        prefix = draft.name[:_GENERATED_PREFIX]
        key = f"{owner.ref}/{draft.name}"
        number = self._counters[key] = self._counters.get(key, -1) + 1
        name = drawn_name(prefix, f"{key}/{number}")
        while self._world.has_pod(owner.namespace, name):
            number = self._counters[key] = self._counters[key] + 1
            name = drawn_name(prefix, f"{key}/{number}")
        return name

    def _accepted(self, owner: Workload, draft: Draft) -> bool:
        """Whether the API server would take pods of this template: asked once for each owner and template."""
        key = (owner.ref, id(draft.template))
        if key not in self._judged:
            self._templates.append(draft.template)
            self._judged[key] = self._judge(owner, draft)
        return self._judged[key]

    def _judge(self, owner: Workload, draft: Draft) -> bool:
        document = _document(owner, draft, "x")
        spec: Json = document["spec"]
        for text in _expressions(spec):
            owner.doubts.append(f"{draft.path}.spec.{text}, which only rendering tells; it was taken as written")
        errors = pod_fields(spec)
        try:
            pod = decode(document)
        except DecodeError as error:
            self._undecodable(owner, draft, error)
            return False
        errors = errors or validate(pod, gates=self._gates)
        for error in errors:
            path = f"{draft.path}.{error.path}"
            self._problem(
                owner, path, error.value, error.message or "the API server refuses pods with this field", error.type, error.hint
            )
        return not errors

    def _undecodable(self, owner: Workload, draft: Draft, error: DecodeError) -> None:
        self._judged[(owner.ref, id(draft.template))] = False
        for each in (error, *error.others):
            self._problem(
                owner, f"{draft.path}.{each.path}" if each.path else draft.path, each.value, each.message, "Decode", each.hint
            )

    # --- what is said ------------------------------------------------------------------------------------------------------------

    def _say(self, item: Workload, code: str, text: str) -> None:
        name = f"{item.namespace}/{item.name}" if item.namespace else item.name
        self._notes.setdefault(Note(code, item.ref, f"{item.kind} {name}: {text}"))

    def _problem(
        self, item: Workload, path: str, found: object, message: str, kind: ErrorType = "FieldValueInvalid", hint: str = ""
    ) -> None:
        value = found if isinstance(found, (str, int, float, bool)) else None
        if isinstance(found, str) and is_expression(found):
            hint = "this is a template: render it first, for example with `helm template`"
        self._problems.setdefault(Problem(item.file, item.line, item.ref, path, kind, value, message, hint))

    def _unused(self) -> Iterable[str]:
        names = {f"{item.kind}/{item.name}": None for item in self._world.objects}
        for wish in self._world.unused():
            near = get_close_matches(wish.text.partition("=")[0], names, n=1, cutoff=0.6)
            hint = f"; did you mean {near[0]}?" if near else ""
            yield f"--replicas {wish.text}: no workload of this name has replicas{hint}"


def _document(owner: Workload, draft: Draft, name: str) -> dict[str, Any]:
    template = Fields(draft.template, draft.path, owner.doubts)
    metadata = template.at("metadata")
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            **({"generateName": draft.name} if draft.name.endswith("-") else {}),
            "namespace": owner.namespace,
            "labels": {**metadata.labels("labels"), **draft.labels},
            "annotations": {**metadata.labels("annotations"), **draft.annotations},
            "ownerReferences": [
                {
                    "apiVersion": owner.api_version,
                    "kind": owner.kind,
                    "name": owner.name,
                    "uid": owner.uid or derived_uid(owner.ref),
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        },
        "spec": {**template.at("spec").value, **draft.spec},
    }


# Where an expression would change what a pod asks for.
_TELLING: Final = ("nodeSelector", "resourceClaims", "schedulerName", "priorityClassName")


def _expressions(spec: Json) -> Iterable[str]:
    for field in _TELLING:
        if _holds_expression(spec.get(field)):
            yield f"{field} holds an expression"
    for field in ("containers", "initContainers"):
        containers = spec.get(field)
        for index, container in enumerate(cast("list[Any]", containers) if isinstance(containers, list) else ()):
            if isinstance(container, Mapping) and _holds_expression(cast(Json, container).get("resources")):
                yield f"{field}[{index}].resources holds an expression"


def _holds_expression(value: object) -> bool:
    if isinstance(value, str):
        return is_expression(value)
    if isinstance(value, Mapping):
        return any(_holds_expression(item) for item in cast(Json, value).values())
    return isinstance(value, list) and any(_holds_expression(item) for item in cast("list[Any]", value))
