"""Our answer to a question about an object, in the oracle's form, and how the two are compared.

Both sides leave out what JSON need not say: Go writes required fields even when empty, we do not. Times that a server adds are
replaced.
"""

import json
from collections import Counter
from typing import Any

import msgspec

import reparto.model as model

Json = Any

# Values that hold the user's own JSON, kept to the letter.
_VERBATIM = ("parameters", "data", "fieldsV1")
# Fields that Go writes although they are empty. Everything else that is empty text or zero was set on purpose (a pointer).
_ALWAYS_WRITTEN = frozenset(
    (
        "driver", "name", "pool", "device", "request", "key", "effect", "expression", "deviceClassName", "counterSet", "source",
        "resource", "uid", "type", "status", "reason", "message", "apiVersion", "kind", "generation", "resourceSliceCount", "value",
        "lastTransitionTime", "operator",
    )
)  # fmt: skip
# Structs that are never null in Go, so that an empty one says nothing; and maps.
_NEVER_NULL = frozenset(("metadata", "spec", "status", "pool", "devices", "taint"))
_MAPS = frozenset(
    ("attributes", "capacity", "labels", "annotations", "counters", "requests", "consumedCapacity", "nodeAllocatableResources")
)
_RECENT = "2025"  # generated objects hold times before, the clock gives later ones


def normal(value: Json, key: str = "") -> Json:
    """A value without what both sides may write or leave out."""
    if isinstance(value, dict):
        entries = {
            name: entry if name in _VERBATIM else normal(entry, name)
            for name, entry in value.items()
            if not (name in _ALWAYS_WRITTEN and entry in ("", 0, None, "0") and not isinstance(entry, bool))
        }
        return {name: entry for name, entry in entries.items() if not _says_nothing(name, entry)}
    if isinstance(value, list | tuple):
        return [normal(entry) for entry in value]
    if key == "timeAdded" and isinstance(value, str) and value > _RECENT:
        return "NOW"
    return value


def _says_nothing(name: str, entry: Json) -> bool:
    if entry is None or entry == []:
        return True
    return entry == {} and (name in _NEVER_NULL or name in _MAPS)


def ours(question: Json) -> Json:
    """What `reparto.model` answers, by the steps that a user would take."""
    raw = json.dumps(question["object"]).encode()
    gates = question["gates"]
    try:
        defaulted = model.default(raw, gates)
        converted = model.convert(raw, question["to"], gates)
        old = json.dumps(question["old"]).encode() if "old" in question else None
        subresource = "status" if question.get("status") else ""
        errors = model.validate(raw, old, subresource, gates)
    except model.DecodeError as problem:
        return {"decode": str(problem), "unknown": [each.message for each in (problem, *problem.others)]}
    return {
        "defaulted": msgspec.to_builtins(defaulted),
        "converted": msgspec.to_builtins(converted),
        "errors": [{"type": each.type, "field": each.path, "value": each.value, "detail": each.message} for each in errors],
    }


def decode_class(text: str | None) -> str:
    """The kind of decoding error: strict field validation, an unknown kind, a missing kind, anything else that cannot be read."""
    if not text:
        return "readable"
    text = text.removeprefix("old: ")
    if text.startswith("strict decoding error"):
        return "strict"
    if text.startswith("no kind"):
        return "kind"
    return "missing" if text.startswith("Object ") else "type"


def difference(question: Json, theirs: Json, mine: Json) -> str:
    """What differs, in a few words; "" if nothing does."""
    verdict, my_verdict = decode_class(theirs.get("decode")), decode_class(mine.get("decode"))
    if verdict != my_verdict:
        return f"decode: {verdict} ({theirs.get('decode')}), ours: {my_verdict} ({mine.get('decode')})"
    if verdict != "readable":
        if verdict == "strict" and not theirs["decode"].startswith("old: "):
            fields = _fields(theirs["decode"])
            if fields != _fields(mine["decode"]):
                return f"strict: {theirs['decode']}, ours: {mine['decode']}"
        return ""
    for form in ("defaulted", "converted"):
        if normal(theirs[form]) != normal(mine[form]):
            return f"{form}: {json.dumps(normal(theirs[form]))}\nours: {json.dumps(normal(mine[form]))}"
    # Values that are internal structs upstream are not part of the API: the same errors' values are then not compared.
    hidden = {(error["type"], error["field"]) for error in theirs["errors"] if _internal(error.get("value"))}
    expected, found = _errors(theirs["errors"], hidden), _errors(mine["errors"], hidden)
    if expected != found:
        missing, extra = expected - found, found - expected
        return f"errors missing: {sorted(missing.elements())}\nextra: {sorted(extra.elements())}"
    return ""


def _fields(text: str) -> set[str]:
    return set(text.removeprefix("strict decoding error: ").split(", unknown field"))


def _errors(errors: list[Json], hidden: set[tuple[str, str]]) -> Counter[tuple[str, str, str, str]]:
    # Upstream repeats an error that two rules find alike; the set is what counts.
    return Counter({(error["type"], error["field"], _value(error, hidden), _detail(error)): 1 for error in errors})


def _detail(error: Json) -> str:
    """The text of an error, except where it is the CEL compiler's, which has conformance tests of its own."""
    compiled = error["type"] == "FieldValueInvalid" and error["field"].endswith("expression")
    return "" if compiled or error["type"] == "InternalError" else error.get("detail", "")


def _value(error: Json, hidden: set[tuple[str, str]]) -> str:
    if error["type"] == "InternalError" or (error["type"], error["field"]) in hidden:
        return "…"
    value = normal(error.get("value"))
    return "…" if value in (None, "", [], {}) else json.dumps(value, sort_keys=True)


def _internal(value: Json) -> bool:
    """Whether a value is an internal struct of the API server (an immutable template, say), whose JSON is no part of the API."""
    if isinstance(value, list):
        return any(_internal(entry) for entry in value)
    return isinstance(value, dict) and any(name[:1].isupper() for name in value)
