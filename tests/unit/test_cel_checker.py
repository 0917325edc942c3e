"""CEL types: what an expression's result is, what is refused, where and in which words.

Types, positions and texts were read off Kubernetes 1.37.2. What may result for a derived attribute is in
`test_cel_derived_attributes`.
"""

from __future__ import annotations

import pytest

from reparto.cel.ast import Call, Ident, Node, walk
from reparto.cel.compilation import check
from reparto.cel.environment import Environment
from reparto.cel.errors import CompileError

STORED = Environment.of(stored=True)
NEW = Environment.of()
NEW_WITH_LISTS = Environment.of(gates={"DRAListTypeAttributes": True})


def issues(text: str, environment: Environment = STORED) -> list[tuple[int, str]]:
    """Column from 1 and message of everything that is wrong with an expression of one line."""
    with pytest.raises(CompileError) as caught:
        check(text, environment)
    return [(issue.column + 1, issue.message) for issue in caught.value.issues]


def result_type(text: str, environment: Environment = STORED) -> str:
    """The type of any expression, read off a condition that it is compared in."""
    checked = check(f"dyn({text}) == 1", environment)
    call = next(node for node in walk(checked.ast.root) if isinstance(node, Call) and node.function == "dyn")
    return str(checked.types[call.arguments[0].id])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2", "int"),
        ("1u", "uint"),
        ("device", "kubernetes.DRADevice"),
        ("device.driver", "string"),
        ("device.attributes", "map(string, map(string, dyn))"),
        ('device.capacity["a"].b', "kubernetes.Quantity"),
        ('device.attributes["a"].?b', "optional_type(dyn)"),
        ("[]", "list(dyn)"),
        ("{}", "map(dyn, dyn)"),
        ("[[1], []]", "list(list(int))"),
        ('{"a": 1u}', "map(string, uint)"),
        ("[1].map(x, string(x))", "list(string)"),
        ('["a"].transformMap(i, v, i > 0)', "map(int, bool)"),
        ("[optional.of(1)].unwrapOpt()", "list(int)"),
        ('optional.of("a").optMap(x, x.size())', "optional_type(int)"),
        ('semver("1.0.0")', "kubernetes.Semver"),
        ('ip("1.2.3.4")', "net.IP"),
        ('format.named("uuid")', "optional_type(kubernetes.NamedFormat)"),
        ("null", "null_type"),
        ("type(1)", "type(int)"),
        ("int", "type(int)"),
        ("timestamp(0) - timestamp(0)", "google.protobuf.Duration"),
        ("true ? 1 : dyn(2)", "dyn"),
        ("[1, 2].sortBy(x, -x)", "list(int)"),
        ("cel.bind(x, [1], x[0])", "int"),
    ],
)
def test_types_are_deduced(text: str, expected: str) -> None:
    assert result_type(text) == expected


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("foo", 1, "undeclared reference to 'foo' (in container '')"),
        ("foo(1)", 4, "undeclared reference to 'foo' (in container '')"),
        ('"a".foo()', 8, "undeclared reference to 'foo' (in container '')"),
        ("device.foo", 7, "undefined field 'foo'"),
        ("device.driver.foo", 14, "type 'string' does not support field selection"),
        ("device.driver && true", 7, "expected type 'bool' but found 'string'"),
        ('1 == "a"', 3, "found no matching overload for '_==_' applied to '(int, string)'"),
        ('"a" + 1', 5, "found no matching overload for '_+_' applied to '(string, int)'"),
        ("-device.driver", 1, "found no matching overload for '-_' applied to '(string)'"),
        ("!1", 1, "found no matching overload for '!_' applied to '(int)'"),
        ("1 ? true : false", 3, "found no matching overload for '_?_:_' applied to '(int, bool, bool)'"),
        ('true ? 1 : "a"', 6, "found no matching overload for '_?_:_' applied to '(bool, int, string)'"),
        ("[?1] == []", 3, "expected type 'optional_type(int)' but found 'int'"),
        ('{?"a": 1} == {}', 8, "expected type 'optional_type(int)' but found 'int'"),
        ('"abc".reverse() == "cba"', 14, "found no matching overload for 'reverse' applied to 'string.()'"),
        ("foo{a: 1}", 4, "undeclared reference to 'foo' (in container '')"),
        ("int{}", 4, "'int' is not a message type"),
        ('google.protobuf.Duration{secs: 1} == duration("1s")', 30, "undefined field 'secs'"),
        (
            'google.protobuf.Duration{seconds: "1"} == duration("1s")',
            33,
            "expected type of field 'seconds' is 'int' but provided type is 'string'",
        ),
    ],
)
def test_a_mistake_is_reported_where_the_reference_reports_it(text: str, column: int, message: str) -> None:
    assert issues(text) == [(column, message)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('1 && "a" && true', [(1, "expected type 'bool' but found 'int'"), (6, "expected type 'bool' but found 'string'")]),
        (
            "foo && bar && 1",
            [
                (1, "undeclared reference to 'foo' (in container '')"),
                (8, "undeclared reference to 'bar' (in container '')"),
                (15, "expected type 'bool' but found 'int'"),
            ],
        ),
        (
            "[foo, bar].all(x, baz)",
            [
                (2, "undeclared reference to 'foo' (in container '')"),
                (7, "undeclared reference to 'bar' (in container '')"),
                (19, "undeclared reference to 'baz' (in container '')"),
            ],
        ),
    ],
)
def test_all_mistakes_are_reported_at_once(text: str, expected: list[tuple[int, str]]) -> None:
    assert issues(text) == expected


@pytest.mark.parametrize("text", ["1 < 2.0", "1u < 2", "1.5 >= 2u", "-1 <= 1u"])
def test_numbers_of_different_types_can_be_ordered(text: str) -> None:
    assert str(check(text, STORED).output_type) == "bool"


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("1 == 1.0", 3, "found no matching overload for '_==_' applied to '(int, double)'"),
        ("2 in [1.0]", 3, "found no matching overload for '@in' applied to '(int, list(double))'"),
    ],
)
def test_numbers_of_different_types_cannot_be_equal(text: str, column: int, message: str) -> None:
    assert issues(text) == [(column, message)]


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ('[1, "a"] == []', 5, "expected type 'int' but found 'string'"),
        ('[1, dyn("a")] == []', 8, "expected type 'int' but found 'dyn'"),
        ('[device.attributes["x"].i, 1] == []', 28, "expected type 'dyn' but found 'int'"),
        ('{"a": 1, "b": "c"} == {}', 15, "expected type 'int' but found 'string'"),
        ('{"a": 1, 2: 3} == {}', 10, "expected type 'string' but found 'int'"),
    ],
)
def test_literals_hold_one_type(text: str, column: int, message: str) -> None:
    assert issues(text) == [(column, message)]


def test_the_arguments_of_format_may_be_mixed() -> None:
    check('"%s %d %.2f".format(["a", 1, 2.0]) == ""', STORED)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ('duration("x") == duration("1s")', 10, "invalid duration argument"),
        ('timestamp("2020-01-01") == timestamp(0)', 11, "invalid timestamp argument"),
        ("timestamp(999999999999) == timestamp(0)", 11, "invalid timestamp argument"),
        ('"a".matches("[")', 13, "invalid matches argument"),
        # The reference checks the first argument, which is the string of a global call.
        ('matches("[", "a")', 9, "invalid matches argument"),
        (
            '"%d".format(["a"]) == ""',
            14,
            "error during formatting: decimal clause can only be used on integers, was given string",
        ),
        ('"%s %s".format(["a"]) == ""', 15, "index 1 out of range"),
        ('"%s".format(["a", "b"]) == ""', 12, "too many arguments supplied to string.format (expected 1, got 2)"),
        ('"%".format(["a"]) == ""', 11, "unexpected end of string"),
        ('"%q".format(["a"]) == ""', 12, 'could not parse formatting clause: unrecognized formatting clause "q"'),
    ],
)
def test_literal_arguments_are_checked_when_compiling(text: str, column: int, message: str) -> None:
    assert issues(text) == [(column, message)]


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("[1].all(x, 1)", 12, "expected type 'bool' but found 'int'"),
        ("[1].filter(x, 1) == []", 11, "found no matching overload for '_?_:_' applied to '(int, list(int), list(int))'"),
        ("[1].map(x, 1, x) == []", 8, "found no matching overload for '_?_:_' applied to '(int, list(int), list(int))'"),
        (
            "1.all(x, true)",
            1,
            "expression of type 'int' cannot be range of a comprehension (must be list, map, or dynamic)",
        ),
        ("[1].all(x, y)", 12, "undeclared reference to 'y' (in container '')"),
        ("[1].all(i, v, i.size() > 0)", 21, "found no matching overload for 'size' applied to 'int.()'"),
    ],
)
def test_macros_are_checked_as_the_loops_that_they_stand_for(text: str, column: int, message: str) -> None:
    assert issues(text) == [(column, message)]


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        # The documentation shows both as members.
        ('quantity("1").sign() == 1', 19, "found no matching overload for 'sign' applied to 'kubernetes.Quantity.()'"),
        (
            'quantity("1").add("20k") == quantity("2")',
            18,
            "found no matching overload for 'add' applied to 'kubernetes.Quantity.(string)'",
        ),
        (
            'quantity("1") < quantity("2")',
            15,
            "found no matching overload for '_<_' applied to '(kubernetes.Quantity, kubernetes.Quantity)'",
        ),
        ('quantity("1").foo', 14, "unexpected failed resolution of 'kubernetes.Quantity'"),
        ('[quantity("1")].sort() == []', 21, "found no matching overload for 'sort' applied to 'list(kubernetes.Quantity).()'"),
        # Declared, but without the variable to call it on.
        ('"a".path("/")', 9, "found no matching overload for 'path' applied to 'string.(string)'"),
        ('authorizer.path("/")', 1, "undeclared reference to 'authorizer' (in container '')"),
    ],
)
def test_kubernetes_types_have_their_functions_and_no_others(text: str, column: int, message: str) -> None:
    assert issues(text) == [(column, message)]


@pytest.mark.parametrize("name", ["math.greatest(1, 2)", 'base64.encode(b"a")', 'jsonpatch.escapeKey("a")', "math.abs(1)"])
def test_libraries_that_kubernetes_leaves_out_are_undeclared(name: str) -> None:
    assert "undeclared reference to" in issues(f"{name} == 1")[0][1]


# Which attributes exist, by environment: cel.md section 3.


def test_a_new_expression_cannot_walk_over_an_attribute() -> None:
    text = 'device.attributes["gpu.vendor.example"].peers.all(peer, peer > 2)'
    message = "expression of type 'any' cannot be range of a comprehension (must be list, map, or dynamic)"
    assert issues(text, NEW) == [(40, message)]
    assert str(check(text, NEW_WITH_LISTS).output_type) == "bool"
    assert str(check(text, STORED).output_type) == "bool"


def test_includes_exists_for_new_expressions_only_with_the_gate() -> None:
    text = 'device.attributes["a"].x.includes(1)'
    assert issues(text, NEW) == [(34, "undeclared reference to 'includes' (in container '')")]
    check(text, NEW_WITH_LISTS)
    check(text, STORED)
    assert "undeclared" in issues(text, Environment.of("1.35", stored=True))[0][1]


def test_an_attribute_is_any_or_dyn() -> None:
    text = 'device.attributes["a"].x'
    assert str(check(text, NEW).output_type) == "google.protobuf.Any"
    assert str(check(text, NEW_WITH_LISTS).output_type) == "dyn"
    assert str(check(text, STORED).output_type) == "dyn"


def test_allow_multiple_allocations_needs_its_gate_in_new_expressions() -> None:
    text = "device.allowMultipleAllocations == false"
    check(text, NEW)
    without = {"DRAConsumableCapacity": False}
    assert issues(text, Environment.of(gates=without)) == [(7, "undefined field 'allowMultipleAllocations'")]
    check(text, Environment.of(gates=without, stored=True))
    assert issues(text, Environment.of("1.35")) == [(7, "undefined field 'allowMultipleAllocations'")]  # alpha, off


def test_the_lists_extension_reaches_new_expressions_one_release_late() -> None:
    text = "[2, 1].sort() == [1, 2]"
    check(text, Environment.of("1.34", stored=True))
    assert "undeclared reference to 'sort'" in issues(text, Environment.of("1.34"))[0][1]
    check(text, Environment.of("1.35"))


# Result types.


@pytest.mark.parametrize(
    ("text", "shown"),
    [("1", "int"), ("device", "kubernetes.DRADevice"), ("null", "null_type"), ("[true]", "list(bool)")],
)
def test_a_selector_must_be_bool_or_an_attribute(text: str, shown: str) -> None:
    with pytest.raises(CompileError) as caught:
        check(text, STORED)
    assert str(caught.value) == f"must evaluate to bool or the unknown type, not {shown}"


# Names.


def _nodes(text: str) -> list[Node]:
    return list(walk(check(text, STORED).ast.root))


def test_a_namespaced_function_loses_its_target() -> None:
    call = next(node for node in _nodes("optional.of(1).hasValue()") if isinstance(node, Call) and node.target is None)
    assert call.function == "optional.of"


def test_a_qualified_type_name_becomes_one_identifier() -> None:
    assert "net.IP" in [node.name for node in _nodes("type(1) == net.IP") if isinstance(node, Ident)]


def test_a_leading_dot_reaches_past_a_variable_of_the_same_name() -> None:
    check('cel.bind(device, 1, device == 1 && .device.driver == "a")', STORED)
    assert issues("cel.bind(device, 1, device.driver)")[0][1] == "type 'int' does not support field selection"


def test_a_type_name_without_a_value_is_refused_after_checking() -> None:
    with pytest.raises(CompileError) as caught:
        check("type(1) == duration", STORED)
    assert str(caught.value) == "program instantiation failed: reference to undefined type: duration"


def test_an_optional_element_of_unknown_type_is_an_error_where_the_reference_panics() -> None:
    with pytest.raises(CompileError):
        check('[?device.attributes["a"].x] == [1]', STORED)
    with pytest.raises(CompileError):
        check('{?"a": dyn(optional.of(1))} == {}', STORED)
    check('[?device.attributes["a"].?x] == [1]', STORED)


def test_overloads_are_recorded_in_the_order_of_declaration() -> None:
    checked = check('device.attributes["a"].x > 1', STORED)
    assert checked.overloads[checked.ast.root.id] == ("greater_int64", "greater_uint64_int64", "greater_double_int64")


def test_deep_expressions_are_checked_without_running_out_of_stack() -> None:
    check("!(" * 249 + "true" + ")" * 249, STORED)
    check(" && ".join(["true"] * 1700), STORED)
    check("+".join(["1"] * 250) + " == 1", STORED)


def test_a_chain_of_optional_maps_ends_in_an_error_instead_of_a_hang() -> None:
    check("optional.of(1)" + ".optMap(x, x)" * 8 + ".hasValue()", STORED)
    with pytest.raises(CompileError, match="macros expand to more than 50000 nodes"):
        check("optional.of(1)" + ".optMap(x, x)" * 200 + ".hasValue()", STORED)
