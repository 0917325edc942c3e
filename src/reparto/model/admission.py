"""One object before the API server: decoded, stripped of fields whose gate is off, judged.

Each step returns what it found instead of raising, because input is judged as a whole. The spec is judged as on create, the
status as on a status update of the same object without one.
"""

import re
from collections.abc import Mapping
from typing import Any, cast

import msgspec
from msgspec.structs import replace

from reparto.model import core
from reparto.model.decoding import decode
from reparto.model.errors import DecodeError, FieldError
from reparto.model.gating import Dropped, dropped
from reparto.model.legacy import pod_fields
from reparto.model.meta import Base, ObjectMeta
from reparto.model.names import dns1123_subdomain
from reparto.model.parts import SharedParts
from reparto.model.reading import Document
from reparto.model.trimmed import stand_ins
from reparto.model.validation import judge, validate

Gates = Mapping[str, bool]

_LONGEST_MESSAGE = 1000
_TRIMMED = "missing; only a server writes it, and a trimmed dump lacks it"


# Alpha fields of 1.33 to 1.36 that did not survive (k8s.io/api, testdata of those releases).
_REMOVED = re.compile(
    r"spec\.devices\[\d+\](\.basic)?\.nodeAllocatableResourceMappings|spec\.deviceSelector\.(deviceClassName|selectors)"
)


class Verdict(msgspec.Struct):
    """What the API server would refuse (`errors`), and what it would not miss in a trimmed dump (`warnings`)."""

    errors: list[FieldError] = []
    warnings: list[FieldError] = []


def decoded(
    document: Document, strict: bool, served: bool = False, parts: SharedParts | None = None
) -> tuple[Base | None, Verdict]:
    """The typed object in the version it was written in, `parts` of slices shared; None, and why, if it is none.

    Fields that an earlier release had and 1.37 has no more are warnings (with `strict`, errors): the API server of 1.37 drops them.
    So are all unknown fields of an object that a server gave (`served`): they are of a release after 1.37.
    """
    raw = document.value if document.raw is None else document.raw
    try:
        return decode(raw, parts=parts), Verdict()
    except DecodeError as error:
        problems = [error, *error.others]
    except RecursionError:
        problems = [DecodeError("nested too deeply")]
    found = [FieldError("Decode", each.path, each.value, _short(each.message), each.hint) for each in problems]
    if not served and (strict or not all(_REMOVED.fullmatch(each.path) for each in found)):
        return None, Verdict(errors=found)
    hint = "Kubernetes 1.37 does not know it" if served else "remove it: Kubernetes 1.37 ignores it"
    try:
        return decode(raw, strict=False), Verdict(warnings=[replace(each, hint=hint) for each in found])
    except (DecodeError, RecursionError):
        return None, Verdict(errors=found)


def without_unknown(document: Document, errors: list[FieldError]) -> Base | None:
    """The object without the unknown fields that `errors` are about; None if there is anything else that it cannot be read for.

    The API server stops here; people want to know all that is wrong with a file at once.
    """
    if any(not error.message.startswith("unknown field") for error in errors):
        return None
    try:
        return decode(document.value if document.raw is None else document.raw, strict=False)
    except (DecodeError, RecursionError):
        return None


def not_because(errors: list[FieldError], unknown: list[FieldError]) -> list[FieldError]:
    """Of the verdict on an object whose unknown fields were left out, what does not follow from their being left out.

    A field in the wrong place is missing in the right one: so nothing is said of the struct that had it, of those around that, of
    what is required inside, nor of names that requests do not have.
    """
    parents = {error.path.rpartition(".")[0] for error in unknown}

    def follows(error: FieldError) -> bool:
        path = error.path
        around = any(parent == path or parent.startswith((f"{path}.", f"{path}[")) for parent in parents)
        inside = error.type == "FieldValueRequired" and any(path.startswith((f"{parent}.", f"{parent}[")) for parent in parents)
        return around or inside or "name of a request" in error.message

    return [error for error in errors if not follows(error)]


def _short(message: str) -> str:
    return message if len(message) <= _LONGEST_MESSAGE else message[:_LONGEST_MESSAGE] + "…"


def stripped(obj: Base, gates: Gates) -> tuple[Base, list[Dropped]]:
    """`obj` without the fields whose gate is off, as the API server stores it, and what was left out."""
    return dropped(obj, gates)


def judged(obj: Base, gates: Gates, strict: bool) -> Verdict:
    """The verdict on a defaulted object of resource.k8s.io. `strict`: what a trimmed dump lacks is an error."""
    verdict = Verdict()
    if not strict:
        obj = _completed(obj, verdict)
    verdict.errors += judge(obj, gates)
    return verdict


def judged_core(obj: Base, document: Document, gates: Gates, strict: bool) -> Verdict:
    """The verdict on a core object as far as allocation depends on it: its name, and a pod's claims.

    Source: validation-1.37.md section 8.
    """
    verdict = Verdict()
    metadata: ObjectMeta = cast(Any, obj).metadata
    if metadata.name:
        broken = dns1123_subdomain(metadata.name)
        verdict.errors += [FieldError("FieldValueInvalid", "metadata.name", metadata.name, message) for message in broken]
    else:
        verdict.errors.append(
            FieldError(
                "FieldValueRequired", "metadata.name", None, "name or generateName is required", "give it a name, or a generateName"
            )
        )
    if strict:
        verdict.errors += [FieldError("FieldValueRequired", path, None, "must not be empty") for path in stand_ins(obj)[1]]
    else:
        obj = _completed(obj, verdict)
    if isinstance(obj, core.Pod) and _names_claims(obj.spec):
        verdict.errors += _pod_claims(obj, document, gates, verdict.errors)
    return verdict


def _names_claims(spec: core.PodSpec) -> bool:
    return bool(spec.resource_claims) or any(each.resources.claims for each in (*spec.containers, *spec.init_containers))


def _pod_claims(pod: core.Pod, document: Document, gates: Gates, known: list[FieldError]) -> list[FieldError]:
    spec = document.value.get("spec")
    errors = pod_fields(cast(dict[str, Any], spec)) if isinstance(spec, dict) else []
    if errors:
        return errors  # a field that does not exist is why the rest does not add up
    said = {error.path for error in known}
    return [error for error in validate(pod, gates=gates) if error.path not in said]


def _completed(obj: Base, verdict: Verdict) -> Base:
    obj, missing = stand_ins(obj)
    verdict.warnings += [
        FieldError("FieldValueRequired", path, None, _TRIMMED, "give the untrimmed dump, or ignore this") for path in missing
    ]
    return obj
