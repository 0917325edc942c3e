"""CEL in validation: sizes, what a registered compiler says, and the cost of derived attributes."""

from collections.abc import Iterator

import pytest

from reparto.model.gates import Gates
from reparto.model.validation import selectors
from reparto.model.validation.selectors import Compilation, register_compiler
from unit.api_objects import Json, claim, device_class, exact, found, only, updated

EXPRESSION = "spec.devices.requests[0].exactly.selectors[0].cel.expression"


class Scripted:
    """A compiler that refuses "bad" and prices the rest by what the text says."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, bool, bool]] = []

    def compile(self, expression: str, derived: bool, gates: Gates) -> Compilation:
        self.asked.append((expression, derived, gates["DRAListTypeAttributes"]))
        if expression == "bad":
            return Compilation(error="compilation failed: bad")
        if expression == "broken":
            return Compilation(error="environment missing", internal=True)
        return Compilation(cost=int(expression))


@pytest.fixture(autouse=True)
def compiler() -> Iterator[Scripted]:
    scripted = Scripted()
    before = selectors._factory
    register_compiler(lambda: scripted)
    yield scripted
    register_compiler(before)


def select(expression: str) -> Json:
    return exact(selectors=[{"cel": {"expression": expression}}])


def derive(*attributes: tuple[str, str]) -> Json:
    return exact(derivedAttributes=[{"name": name, "expression": expression} for name, expression in attributes])


def test_an_expression_that_does_not_compile_shows_the_compilers_text() -> None:
    error = only(claim(select("bad")))
    assert (error.type, error.path, error.value, error.message) == (
        "FieldValueInvalid",
        EXPRESSION,
        "bad",
        "compilation failed: bad",
    )


def test_an_internal_error_of_the_compiler_is_not_the_authors() -> None:
    assert found(claim(select("broken"))) == {("InternalError", EXPRESSION)}


def test_the_cost_of_an_expression_is_limited() -> None:
    assert found(claim(select("1000000"))) == set()
    assert found(claim(select("1000001"))) == {("Forbidden", EXPRESSION)}


def test_an_expression_that_is_too_long_is_not_compiled(compiler: Scripted) -> None:
    assert found(claim(select("1" * 10_241))) == {("TooLong", EXPRESSION)}
    assert compiler.asked == []


def test_selectors_of_a_class_are_compiled_again_only_when_they_change(compiler: Scripted) -> None:
    old = device_class(selectors=[{"cel": {"expression": "bad"}}])
    assert found(updated(old), old) == set()
    assert compiler.asked == []
    assert found(updated(device_class(selectors=[{"cel": {"expression": "bad"}}] * 2)), old) == {
        ("Invalid", "spec.selectors[0].cel.expression"),
        ("Invalid", "spec.selectors[1].cel.expression"),
    }


def test_the_compiler_is_told_every_gate(compiler: Scripted) -> None:
    found(claim(select("1")), DRAListTypeAttributes=True)
    found(claim(select("1")))
    assert compiler.asked == [("1", False, True), ("1", False, False)]


def test_derived_attributes_together_have_one_budget() -> None:
    constraints = [{"matchAttribute": "d/a"}, {"matchAttribute": "d/b"}]
    assert found(claim(derive(("d/a", "500000"), ("d/b", "500000")), constraints=constraints)) == set()
    assert found(claim(derive(("d/a", "500000"), ("d/b", "500001")), constraints=constraints)) == {("Forbidden", "spec.devices")}


def test_a_derived_attribute_has_a_full_name_an_expression_and_a_constraint() -> None:
    path = "spec.devices.requests[0].exactly.derivedAttributes"
    assert found(claim(derive(("d/a", "1")))) == {("Invalid", f"{path}[0].name")}
    assert found(claim(derive(("", "")))) == {("Required", f"{path}[0].name"), ("Required", f"{path}[0].expression")}
    assert found(claim(derive(("a", "1")), constraints=[{"matchAttribute": "d/a"}])) == {("Invalid", f"{path}[0].name")}
    constraint = [{"matchAttribute": "d/a", "requests": ["gpu"]}]
    assert found(claim(derive(("d/a", "1"), ("d/a", "1")), constraints=constraint)) == {("Duplicate", f"{path}[1]")}
    assert found(claim(derive(*[("d/a", "1")] * 33), constraints=constraint)) >= {("TooMany", path)}


def test_a_constraint_on_the_request_or_its_parent_counts_for_a_subrequest() -> None:
    sub = {"name": "s", "deviceClassName": "g", "derivedAttributes": [{"name": "d/a", "expression": "1"}]}
    for target in ("gpu", "gpu/s"):
        constraint = {"matchAttribute": "d/a", "requests": [target]}
        assert found(claim({"name": "gpu", "firstAvailable": [sub]}, constraints=[constraint])) == set()


def test_without_a_compiler_expressions_are_held_to_their_size_only() -> None:
    register_compiler(None)
    assert found(claim(select("anything at all"))) == set()
    assert found(claim(select("1" * 10_241))) == {("TooLong", EXPRESSION)}
