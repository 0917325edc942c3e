"""The compiled form of a selector answers as the exact evaluator does, whatever the expression and the device."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from reparto import cel

DRIVER = "d.example.com"
HERE = f'device.attributes["{DRIVER}"]'
NAMES = ("a", "b", "c")

ATTRIBUTES = st.one_of(
    st.builds(lambda value: {"int": value}, st.sampled_from((0, 1, 3))),
    st.builds(lambda value: {"string": value}, st.sampled_from(("", "a", "ab", "1.0.0"))),
    st.builds(lambda value: {"bool": value}, st.booleans()),
    st.builds(lambda value: {"version": value}, st.sampled_from(("1.0.0", "2.0.0-rc.1"))),
    st.builds(lambda value: {"ints": value}, st.lists(st.sampled_from((0, 1, 3)), max_size=3)),
    st.builds(lambda value: {"strings": value}, st.lists(st.sampled_from(("a", "ab")), max_size=3)),
)
CAPACITIES = st.builds(lambda value: {"value": value}, st.sampled_from(("0", "1", "1Gi", "1500m")))
DEVICES = st.builds(
    cel.Device,
    st.just(DRIVER),
    st.dictionaries(st.sampled_from(NAMES), ATTRIBUTES),
    st.dictionaries(st.sampled_from(NAMES), CAPACITIES),
    st.sampled_from((None, False, True)),
)

LEAVES = st.sampled_from(
    (
        *(f"{HERE}.{name}" for name in NAMES),
        *(f"{HERE}.?{name}.orValue(1)" for name in NAMES),
        "1",
        "3.0",
        '"a"',
        "true",
        'semver("1.0.0")',
        "[1, 3]",
        '["a"]',
        "device.driver",
        "device.allowMultipleAllocations",
    )
)


def operands(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Expressions of any type, kept apart by `dyn` so that nearly all combinations compile."""
    return st.one_of(
        st.builds("dyn({0}) + dyn({1})".format, inner, inner),
        st.builds("(dyn({0}) ? dyn({1}) : dyn({2}))".format, inner, inner, inner),
        st.builds("cel.bind(x, dyn({0}), [x, dyn({1})].size())".format, inner, inner),
        st.builds("dyn({0}).size()".format, inner),
        st.builds("string(dyn({0}))".format, inner),
        predicates(inner),
    )


def predicates(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("(dyn({0}) {1} dyn({2}))".format, inner, st.sampled_from(("==", "!=", "<", "<=", ">", ">=", "in")), inner),
        st.builds("({0} {1} {2})".format, inner, st.sampled_from(("==", "<", "in")), inner),
        st.builds("(dyn({0}) {1} dyn({2}))".format, inner, st.sampled_from(("&&", "||")), inner),
        st.builds("!dyn({0})".format, inner),
        st.builds("(dyn({0}) in [1, 3])".format, inner),
        st.builds('(dyn({0}) in ["a", "ab"])'.format, inner),
        st.builds("dyn({0}).includes({1})".format, inner, inner),
        st.builds('dyn({0}).compareTo(semver("1.0.0")) {1} 0'.format, inner, st.sampled_from(("==", ">=", "<"))),
        st.builds('dyn({0}).{1}("a")'.format, inner, st.sampled_from(("startsWith", "contains", "matches"))),
        st.builds("dyn({0}).{1}(x, dyn(x) == {2})".format, inner, st.sampled_from(("all", "exists", "exists_one")), inner),
        st.builds("dyn({0}).map(x, dyn(x)).filter(y, y != {1}).size() > 0".format, inner, inner),
        st.builds(
            f'has({HERE}.{{0}}) && device.capacity["{DRIVER}"].{{0}}.isGreaterThan(quantity("1"))'.format, st.sampled_from(NAMES)
        ),
    )


SELECTORS = predicates(st.recursive(LEAVES, operands, max_leaves=6))


def outcome(program: cel.Program, device: cel.Device) -> Any:
    try:
        return program.matches(device)
    except cel.EvaluationError as error:
        return str(error)


@given(SELECTORS, st.lists(DEVICES, min_size=1, max_size=4))
def test_the_compiled_form_answers_as_the_exact_evaluator(text: str, devices: list[cel.Device]) -> None:
    try:
        program = cel.compile(text)
    except cel.CompileError:
        return
    for device in devices:
        answer = program.evaluate(device)
        exact = answer.value if answer.error is None else str(answer.error)
        assert outcome(program, device) == exact


@given(SELECTORS, DEVICES)
def test_clauses_together_decide_as_the_whole_does(text: str, device: cel.Device) -> None:
    try:
        program = cel.compile(f"{text} && {HERE}.a != 7 && true")
    except cel.CompileError:
        return
    answers = [clause.value for clause in program.clause_answers(device)]
    whole = program.evaluate(device).value
    if False in answers:
        # An internal error ends the whole evaluation although a later clause is false.
        assert whole in (False, None)
    elif None in answers:
        assert whole is None
    else:
        assert whole is True
