"""Our answer to a CEL problem and Kubernetes' answer, in one form, and what counts as a difference.

Texts of errors drift between releases of cel-go, so errors are compared by class: the stable fragment that tells what went wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import msgspec

from reparto import cel

#: Fragments of compilation errors; the first one found in the text is the class.
COMPILE_CLASSES = (
    "must evaluate to",
    "Syntax error",
    "undeclared reference",
    "undefined field",
    "found no matching overload",
    "expected type",
    "cannot be range of a comprehension",
    "does not support field selection",
    "invalid argument to has",
    "argument must be a simple name",
    "invalid timestamp argument",
    "invalid duration argument",
    "invalid matches argument",
    "invalid format argument",
    "unsupported field name",
    "type conversion error",
    "error parsing regexp",
    "overload",
    "recursion",
    "nested",
    "exceeds",
    "overflow",
    "invalid",
)
#: The same for errors of evaluation.
ERROR_CLASSES = (
    "internal error",
    "cost limit",
    "network address parse error",
    "expected list element",
    "no such key",
    "no such overload",
    "no such attribute",
    "optional.none() dereference",
    "expected iterable type",
    "unsigned integer overflow",
    "integer overflow",
    "timestamp overflow",
    "duration overflow",
    "range error",
    "out of range",
    "out of bounds",
    "division by zero",
    "modulus by zero",
    "could not be converted to bool",
    "unsupported CEL return type",
    "type conversion error",
    "unsupported conversion",
    "cannot convert",
    "IPv4-Mapped IPv6",
    "IP Address",
    "CIDR",
    "URL parse error",
    "quantities must match",
    "unable to parse quantity's suffix",
    "unable to parse numeric part",
    "No Major.Minor.Patch",
    "leading zeroes",
    "Invalid character(s)",
    "Prerelease is empty",
    "Build meta data is empty",
    "Version string empty",
    "short version",
    "ParseUint",
    "unknown time zone",
    "unsupported",
    "failed",
    "empty list",
    "invalid",
)


def error_class(text: str, classes: tuple[str, ...]) -> str:
    """The stable fragment of an error text; without one, the text without its details."""
    lowered = text.lower()
    for fragment in classes:
        if fragment.lower() in lowered:
            return fragment
    return re.sub(r"'[^']*'|\"[^\"]*\"|\d+", "…", text)[:80]


def compile_classes(text: str) -> set[str]:
    """The classes of all errors of a compilation; several at the same place come in no particular order.

    A syntax error stands for all: what else is found behind it depends on how the parser recovers.
    """
    parts = re.split(r"^ERROR: |compilation failed: ERROR: ", text, flags=re.MULTILINE)
    classes = {error_class(part, COMPILE_CLASSES) for part in parts if part}
    return {"Syntax error"} if "Syntax error" in classes else classes


@dataclass(frozen=True)
class Compiled:
    """What a compiler made of an expression: a type and an estimate, or an error."""

    output_type: str = ""
    estimate: int = 0
    error: str = ""


@dataclass(frozen=True)
class Outcome:
    """What an evaluation gave: a value or an error, and what it cost where that is known."""

    value: Any = None
    error: str = ""
    cost: int | None = None


def options(question: dict[str, Any]) -> cel.Options:
    """Our options for a question to the oracle."""
    features, selector = question.get("features", {}), question["selector"]
    return cel.Options(
        stored=selector.get("environment", "StoredExpressions") == "StoredExpressions",
        version="1.37",
        consumable_capacity=features.get("consumable_capacity", False),
        list_type_attributes=features.get("list_type_attributes", False),
        derived_attribute=selector.get("derived", False),
    )


def our_program(question: dict[str, Any]) -> tuple[cel.Program | None, Compiled]:
    """Our compiled program, if it compiles."""
    try:
        program = cel.compile(question["selector"]["expression"], options(question))
    except cel.CompileError as error:
        return None, Compiled(error=str(error) or "error without text")
    return program, Compiled(str(program.output_type), program.max_cost)


def our_device(device: dict[str, Any]) -> cel.Device:
    return cel.Device(
        driver=device["driver"],
        attributes=device.get("attributes", {}),
        capacity=device.get("capacity", {}),
        allow_multiple_allocations=device.get("allowMultipleAllocations"),
    )


def our_outcome(program: cel.Program, device: dict[str, Any]) -> Outcome:
    answer = program.evaluate(our_device(device))
    error = "" if answer.error is None else str(answer.error) or "error without text"
    value = None if error else msgspec.to_builtins(answer.value)
    if isinstance(value, dict):  # an empty list attribute vanishes when the oracle writes JSON
        value = {name: content for name, content in value.items() if content != []}
    return Outcome(value, error, answer.cost)


def our_match(program: cel.Program, device: dict[str, Any]) -> Outcome:
    """The fast way, which knows no cost."""
    try:
        return Outcome(program.matches(our_device(device)))
    except cel.EvaluationError as error:
        return Outcome(error=str(error) or "error without text")


def their_compiled(answer: dict[str, Any]) -> Compiled:
    """A compiler that panics refuses, too: the API server answers 500 and stores nothing."""
    if answer["kind"] == "panic":
        return Compiled(error="panic")
    if answer["kind"] != "selector":
        raise AssertionError(f"the oracle cannot be asked this: {answer}")
    selector = answer["selector"]
    if "compileError" in selector:
        return Compiled(error=selector["compileError"])
    return Compiled(selector["outputType"], selector["estimatedCost"])


def their_outcomes(outcome: dict[str, Any]) -> list[Outcome]:
    """All that Kubernetes answered: several, where evaluation follows random map order."""
    found: list[Outcome] = []
    for one in (outcome, *outcome.get("alternatives", ())):
        value = one["match"] if "match" in one else one.get("attribute")
        found.append(Outcome(value, one.get("matchError", ""), one.get("actualCost")))
    return found


def compile_difference(ours: Compiled, theirs: Compiled) -> str:
    """Names what differs, or nothing."""
    if bool(ours.error) != bool(theirs.error):
        return "refused by us" if ours.error else "accepted by us"
    if ours.error:
        if theirs.error == "panic":
            return ""
        return "" if compile_classes(ours.error) == compile_classes(theirs.error) else "compile error class"
    if ours.output_type != theirs.output_type:
        return "output type"
    return "" if ours.estimate == theirs.estimate else "estimated cost"


def in_any_order(value: Any) -> Any:
    """A value whose list, if it is a list attribute, is sorted."""
    if not isinstance(value, dict):
        return value
    return {name: sorted(content, key=repr) if isinstance(content, list) else content for name, content in value.items()}


def outcome_difference(ours: Outcome, theirs: list[Outcome]) -> str:
    """Names what differs from every answer that Kubernetes gave, or nothing.

    Where it gave several, evaluation followed the order of a map: a list made from the map then counts as the same in any order.
    """
    order = in_any_order if len(theirs) > 1 else lambda value: value
    verdicts = [one for one in theirs if bool(one.error) == bool(ours.error) and order(one.value) == order(ours.value)]
    if not verdicts:
        return "verdict"
    ours_class = error_class(ours.error, ERROR_CLASSES)
    classes = [one for one in verdicts if error_class(one.error, ERROR_CLASSES) == ours_class]
    if not classes:
        return "error class"
    if not any(one.cost is None or one.cost == ours.cost for one in classes):
        return "actual cost"
    return ""
