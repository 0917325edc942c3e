"""Input as a whole: what files hold becomes typed objects that the API server would have accepted, and a list of everything wrong.

Each object goes the server's way: decoded strictly, named and given a namespace, defaulted, stripped of fields whose gate is off,
judged, converted to v1. What fails there never takes part; everything else does. Rules that need the whole input, such as the same
object twice, are asked here. Nothing is raised for what input contains.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, cast

import msgspec

from reparto.model import admin_access, codes, core, v1
from reparto.model.admission import decoded, judged, judged_core, not_because, stripped, without_unknown
from reparto.model.carriers import WORKLOADS, Carrier, makes_pods, pod_templates
from reparto.model.conversion import to_v1
from reparto.model.decoding import struct_of
from reparto.model.defaults import default as defaulted
from reparto.model.duplicates import Mark, Place, Register, contradiction
from reparto.model.errors import ErrorType, FieldError, Problem
from reparto.model.gates import apply_gates
from reparto.model.gating import Dropped
from reparto.model.given import Given, Standing, Update
from reparto.model.given import Remark as Remark
from reparto.model.legacy import classic_fields, pod_fields, refusal
from reparto.model.meta import Base
from reparto.model.naming import DEFAULT_NAMESPACE, NAMESPACED, Names, is_named, reference, written_name
from reparto.model.parts import SharedParts
from reparto.model.reading import RENDER, TEMPLATE, Document, Entry, Note, Opened, flattened, read
from reparto.model.versions import RETIRED, STRUCTS
from reparto.model.wording import advice, in_words

# YAML files that live beside manifests and are no objects; `helm` and `kustomize` read them.
_COMPANIONS = frozenset(("Chart.yaml", "values.yaml", "kustomization.yaml", "kustomization.yml"))
_PATHS_SHOWN = 5
_GROUP_GATE = "DRAWorkloadResourceClaims"  # while it is off, nothing looks at PodGroups


class Loaded(msgspec.Struct, frozen=True):
    """An accepted object: `object` is its v1 struct (or a core struct), `api_version` the version it was written in.

    `document` is the object as written, where `read_inputs` was asked to keep it: core structs hold only what decisions need.
    """

    object: Base
    ref: str
    kind: str
    namespace: str
    name: str
    file: str
    line: int
    api_version: str
    document: Document | None = None


class FileCount(msgspec.Struct):
    """A file that was read: how many of its objects were accepted and how many were of kinds that are passed over."""

    file: str
    objects: int = 0
    skipped: int = 0


class Intake(msgspec.Struct):
    """All that was read, in order. `skipped` counts objects of other kinds by kind, `copies` those that were there already."""

    objects: list[Loaded] = []
    carriers: list[Carrier] = []
    errors: list[Problem] = []
    warnings: list[Problem] = []
    notes: list[Remark] = []
    skipped: dict[str, int] = {}
    copies: int = 0
    files: list[FileCount] = []

    def typed(self) -> list[Base]:
        """The accepted objects alone, in input order."""
        return [loaded.object for loaded in self.objects]


class Rules(msgspec.Struct, frozen=True):
    """By which rules objects are taken; see `read_inputs`."""

    gates: Mapping[str, bool]
    strict: bool = False
    validate: bool = True
    default: bool = True
    now: str | None = None
    keep_documents: bool = False


def read_inputs(
    sources: Sequence[str | os.PathLike[str] | Mapping[str, Any] | Given],
    *,
    namespace: str | None = None,
    strict: bool = False,
    gates: Mapping[str, bool] | None = None,
    version: str = "1.37",
    validate: bool = True,
    default: bool = True,
    now: str | None = None,
    keep_documents: bool = False,
    visit: Callable[[Loaded], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Intake:
    """Everything in `sources`: paths of files and directories, `-` for standard input, decoded objects, or those of a cluster, on
    top of which the others are applied (`reparto.model.given`).

    `namespace` is that of objects which name none (else `default`). `strict` makes the warnings of trimmed dumps errors.
    `gates` are settings over the defaults of release `version`. `validate=False` and `default=False` take objects as they are.
    `now` is the time of taints without `timeAdded` (RFC 3339; the clock's if None). With `visit`, accepted objects are handed
    over one by one and not kept, so that 10,000 slices need little more memory than their text. `progress(done, total)` is
    called with bytes. `keep_documents` keeps each accepted object as it was written, too (`Loaded.document`).
    """
    rules = Rules(apply_gates(gates or {}, version), strict, validate, default, now, keep_documents)
    given = [source for source in sources if isinstance(source, Given)]
    desk = _Desk(Names(namespace or DEFAULT_NAMESPACE), rules, visit, given)
    others = [source for source in sources if not isinstance(source, Given)]
    for is_decoded, group in groupby(others, key=lambda source: isinstance(source, Mapping)):
        if is_decoded:
            for value in group:
                desk.take(flattened(dict(cast(Mapping[str, Any], value)), "", 0))
        else:
            desk.take(read([cast(str, path) for path in group], progress))
    return desk.closed()


class _Desk:
    """Where documents arrive one by one. Holds what rules about the whole input need to remember."""

    def __init__(self, names: Names, rules: Rules, visit: Callable[[Loaded], None] | None, given: Sequence[Given]) -> None:
        self._names, self._rules, self._visit = names, rules, visit
        self._given = given
        self._standing = Standing(given)
        self._clusters = {each.name for each in given}
        self._intake = Intake()
        self._register = Register()
        self._parts = SharedParts()
        self._file: FileCount | None = None
        self._labels: dict[str, Mapping[str, str]] = {}  # of the Namespaces in the input
        self._admin: list[
            tuple[Loaded, FileCount | None, list[tuple[str, int]]]
        ] = []  # with the paths and lines of their admin access

    # --- documents ---------------------------------------------------------------------------------------------------------------

    def take(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            match entry:
                case Opened():
                    self._file = FileCount(entry.file)
                    self._intake.files.append(self._file)
                case Problem():
                    self._intake.errors.append(entry)
                case Note():
                    place = f"{entry.file}:{entry.line}" if entry.line else entry.file
                    self._remark(codes.INPUT_CUT, "", f"{place}: {entry.message}", entry.file, entry.line)
                case Document():
                    self._document(self._standing.update(entry, self._names.namespace) or entry if self._given else entry)

    def _document(self, document: Document) -> None:
        api_version, kind = document.head.api_version, document.head.kind
        if not isinstance(kind, str) or not isinstance(api_version, str) or not kind or not api_version:
            self._nameless(document, api_version, kind)
        elif (api_version, kind) == ("v1", "Status"):
            self._status(document)
        elif (api_version, kind) in STRUCTS:
            self._device_object(document, api_version, kind)
        elif struct_of(api_version, kind) is not None and (kind != "PodGroup" or self._rules.gates.get(_GROUP_GATE, False)):
            self._core_object(document, api_version, kind)
        elif not self._refused(document, api_version, kind) and not self._carrier(document, api_version, kind):
            self._pass_over(kind)

    def _pass_over(self, kind: str) -> None:
        self._intake.skipped[kind] = self._intake.skipped.get(kind, 0) + 1
        if self._file is not None:
            self._file.skipped += 1

    def _nameless(self, document: Document, api_version: Any, kind: Any) -> None:
        file = os.path.basename(document.file)
        if file in _COMPANIONS and not kind:
            self._pass_over(file)
            return
        missing = "apiVersion" if isinstance(kind, str) and kind else "kind"
        found = api_version if missing == "apiVersion" else kind
        if found in ("", None):
            message, hint, found = "missing, so this is no Kubernetes object", f"every object has {missing}:", None
        else:
            message, hint = "not text", f"write {missing} as text"
        keys = document.value.keys()
        if not {"spec", "metadata"} & keys:
            hint = "give manifests only: objects begin with apiVersion: and kind:"
        if "API Version" in keys:
            message, hint = "missing: this is what kubectl describe prints", "give what kubectl get -o yaml prints"
        elif len(keys) == 1 and (said := next(iter(keys))).lower().startswith("error"):
            message, hint = f"missing: this is an error of the command that wrote it: {said}", "run the command again"
        self._errors(document, "", [FieldError("Decode", missing, found, message, hint)])

    def _status(self, document: Document) -> None:
        """A Status is what the API server answers instead of objects: whoever saved it believes to have a dump."""
        message = (
            f"not an object but the API server's answer: {document.value.get('message') or document.value.get('reason') or '?'}"
        )
        self._errors(document, "", [FieldError("Decode", "", None, message, "run the command that wrote it again")])

    def _refused(self, document: Document, api_version: str, kind: str) -> bool:
        refused = refusal(api_version, kind)
        if refused is None:
            return False
        value = document.value
        namespace, name = written_name(value)
        ref = reference(kind, namespace or (self._names.namespace if kind in NAMESPACED else ""), name)
        self._errors(document, ref, [refused, *classic_fields(value)])
        return True

    # --- typed objects -----------------------------------------------------------------------------------------------------------

    def _device_object(self, document: Document, api_version: str, kind: str) -> None:
        obj = self._decoded(document, kind)
        if obj is None:
            return
        rules = self._rules
        obj, metadata = self._names.completed(obj, kind)
        ref = reference(kind, metadata.namespace if kind in NAMESPACED else "", metadata.name)
        if rules.default:
            obj = defaulted(obj, rules.now)
        hub = to_v1(obj)
        if self._twice(document, ref, kind, hub, metadata.name):
            return
        if (api_version, kind) in RETIRED:
            message = f"{api_version} {kind} is of Kubernetes 1.31: no current API server serves it"
            hint = f"write apiVersion: {v1.API_VERSION}{_MOVED.get(kind, '')}"
            self._warnings(document, ref, [FieldError("FieldValueNotSupported", "apiVersion", api_version, message, hint)])
        if rules.validate:
            kept, left_out = stripped(obj, rules.gates)
            if left_out:
                self._dropped(document, ref, left_out)
                obj, hub = kept, to_v1(kept)
            verdict = judged(obj, rules.gates, rules.strict)
            if isinstance(document, Update):
                verdict.errors += [error for error in document.refusals(hub, rules.gates) if error not in verdict.errors]
            self._warnings(document, ref, verdict.warnings)
            if verdict.errors:
                self._errors(document, ref, verdict.errors)
                return
        loaded = Loaded(
            hub, ref, kind, metadata.namespace, metadata.name, document.file, document.line, api_version, self._kept(document)
        )
        paths = admin_access.uses(hub) if rules.validate else []
        if paths:
            # Decided at the end: the namespace may come later in the input.
            places = [(path, document.line_of(admin_access.line_path(hub, path))) for path in paths]
            self._admin.append((loaded, self._file, places))
            if self._visit is not None:
                return
        self._accept(loaded, self._file)

    def _core_object(self, document: Document, api_version: str, kind: str) -> None:
        obj = self._decoded(document, kind)
        if obj is None:
            return
        obj, metadata = self._names.completed(obj, kind)
        namespace = metadata.namespace if kind in NAMESPACED else ""
        ref = reference(kind, namespace, metadata.name)
        if self._twice(document, ref, kind, obj, metadata.name):
            return
        if self._rules.validate:
            verdict = judged_core(obj, document, self._rules.gates, self._rules.strict)
            self._warnings(document, ref, verdict.warnings)
            if verdict.errors:
                self._errors(document, ref, verdict.errors)
                return
        if isinstance(obj, core.Namespace):
            self._labels[metadata.name] = metadata.labels or {}
        loaded = Loaded(obj, ref, kind, namespace, metadata.name, document.file, document.line, api_version, self._kept(document))
        self._accept(loaded, self._file)

    def _kept(self, document: Document) -> Document | None:
        return document if self._rules.keep_documents else None

    def _decoded(self, document: Document, kind: str) -> Base | None:
        obj, verdict = decoded(document, self._rules.strict, document.file in self._clusters, self._parts)
        if verdict.errors or verdict.warnings:
            verdict.errors += self._also_wrong(document, kind, verdict.errors)
            namespace, name = written_name(document.value)
            ref = reference(kind, (namespace or self._names.namespace) if kind in NAMESPACED else "", name)
            self._errors(document, ref, verdict.errors)
            self._warnings(document, ref, verdict.warnings)
        return obj

    def _also_wrong(self, document: Document, kind: str, unknown: list[FieldError]) -> list[FieldError]:
        """What validation says of an object that has unknown fields and is refused for them."""
        rest = without_unknown(document, unknown) if unknown and self._rules.validate else None
        if rest is None:
            return []
        obj, _ = self._names.completed(rest, kind)
        obj, _ = stripped(defaulted(obj, self._rules.now), self._rules.gates)
        return not_because(judged(obj, self._rules.gates, self._rules.strict).errors, unknown)

    def _twice(self, document: Document, ref: str, kind: str, obj: Base, name: str) -> bool:
        if not name:
            return False
        mark = Mark(obj, keep=self._visit is None)
        first = self._register.seen(ref, mark, document.file, document.line)
        if first is None:
            return False
        self._again(document, ref, mark, contradiction(kind, name, first), first)
        return True

    def _again(self, document: Document, ref: str, mark: Mark, error: FieldError, first: Place) -> None:
        if first.mark == mark:
            self._intake.copies += 1
        else:
            self._errors(document, ref, [error])

    def _dropped(self, document: Document, ref: str, left_out: list[Dropped]) -> None:
        for gate in dict.fromkeys(each.gate for each in left_out):
            paths = [each.path for each in left_out if each.gate == gate]
            shown = ", ".join(paths[:_PATHS_SHOWN])
            if len(paths) > _PATHS_SHOWN:
                shown += f" and {len(paths) - _PATHS_SHOWN} more"
            message = f"dropped, because feature gate {gate} is off: {shown}"
            self._remark(codes.FIELDS_DROPPED, ref, message, document.file, document.line_of(paths[0]))

    # --- objects that hold pod templates -----------------------------------------------------------------------------------------

    def _carrier(self, document: Document, api_version: str, kind: str) -> bool:
        kept = makes_pods(api_version, kind)
        if not kept and kind not in WORKLOADS and document.raw is not None and b'"containers"' not in document.raw:
            return False
        value = document.value
        templates = list(pod_templates(value))
        if not templates and not kept:
            return False
        namespace, name = written_name(value)
        space = "" if kind.startswith("Cluster") else namespace or self._names.namespace
        ref = reference(kind, space, name)
        mark = Mark(value)
        first = self._register.seen(f"{api_version} {ref}", mark, document.file, document.line) if is_named(value) else None
        if first is not None:
            self._again(document, ref, mark, contradiction(kind, name, first), first)
            return True
        errors = [error for path, template in templates for error in pod_fields(template["spec"], f"{path}.spec")]
        if errors and self._rules.validate:
            self._errors(document, ref, errors)
            return True
        paths = tuple(path for path, _ in templates)
        self._intake.carriers.append(Carrier(value, ref, kind, space, name, document.file, document.line, api_version, paths))
        if self._file is not None:
            self._file.objects += 1
        return True

    # --- the end -----------------------------------------------------------------------------------------------------------------

    def closed(self) -> Intake:
        """Decide what had to wait for the whole input, and return everything."""
        self._take_given()
        refused: set[int] = set()
        for loaded, file, places in self._admin:
            labels = self._labels.get(loaded.namespace)
            for path, line in places:
                error = admin_access.judged(path, loaded.namespace, labels)
                if error is None:
                    continue
                problem = _problem(loaded.file, line, loaded.ref, error)
                (self._intake.warnings if labels is None else self._intake.errors).append(problem)
                if labels is not None:
                    refused.add(id(loaded))
            if self._visit is not None and id(loaded) not in refused:
                self._accept(loaded, file)
            elif self._visit is None and id(loaded) in refused and file is not None:
                file.objects -= 1
        if refused:
            self._intake.objects = [loaded for loaded in self._intake.objects if id(loaded) not in refused]
        return self._intake

    def _take_given(self) -> None:
        """What stands in a cluster and no file replaces; it comes before what the files add."""
        if not self._given:
            return
        objects, carriers = self._intake.objects, self._intake.carriers
        self._intake.objects, self._intake.carriers = [], []
        names = {each.name: FileCount(each.name) for each in self._given if each.objects}
        self._intake.files += names.values()
        for document in self._standing.remaining():
            self._file = names[document.file]
            self._document(document)
        self._intake.objects += objects
        self._intake.carriers += carriers
        self._intake.notes += [remark for each in self._given for remark in each.remarks]

    def _accept(self, loaded: Loaded, file: FileCount | None) -> None:
        if file is not None:
            file.objects += 1
        if self._visit is not None:
            self._visit(loaded)
        else:
            self._intake.objects.append(loaded)

    def _errors(self, document: Document, ref: str, errors: Sequence[FieldError]) -> None:
        self._intake.errors += _placed(document, ref, errors)

    def _warnings(self, document: Document, ref: str, warnings: Sequence[FieldError]) -> None:
        self._intake.warnings += _placed(document, ref, warnings)

    def _remark(self, code: str, ref: str, message: str, file: str, line: int) -> None:
        self._intake.notes.append(Remark(code, ref, message, file, line))


def _placed(document: Document, ref: str, errors: Sequence[FieldError]) -> list[Problem]:
    """Problems of one object in the order of its lines."""
    if not errors:
        return []
    version = str(document.head.api_version)
    if refusal(version, str(document.head.kind)) is not None:
        version = v1.API_VERSION  # a field that classic DRA did have is unknown today
    placed = [
        (
            document.line_of(error.path) if error.path else document.line,
            in_words(error, version, document.written(error.path)),
        )
        for error in errors
    ]
    placed.sort(key=lambda pair: pair[0])
    return [_problem(document.file, line, ref, error) for line, error in placed]


def _problem(file: str, line: int, ref: str, error: FieldError) -> Problem:
    value = msgspec.to_builtins(error.value, enc_hook=float)  # decoding.Number, a float that remembers its text
    hint = error.hint or advice(error)
    message = error.message or _WORDS.get(error.type, "is not valid")
    if "{{" in (value if isinstance(value, str) else error.message):
        message, hint = f"{TEMPLATE}: {message}", RENDER
    return Problem(file, line, ref, error.path, error.type, None if value == "" else value, message, hint)


# What else changes on the way from v1alpha3 to v1.
_MOVED: Mapping[str, str] = {
    "ResourceClaim": ", and nest the fields of each request under exactly",
    "ResourceClaimTemplate": ", and nest the fields of each request under exactly",
    "ResourceSlice": ", leave basic out, and write capacity as {value: QUANTITY}",
}

# What is wrong, where the API server says so by the type alone.
_WORDS: Mapping[ErrorType, str] = {
    "FieldValueRequired": "a value is required",
    "FieldValueDuplicate": "repeats an earlier entry",
    "FieldValueNotFound": "it is not there",
}
