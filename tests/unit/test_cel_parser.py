"""CEL text → tree: grammar, macros, literals, and where syntax errors are reported.

Error texts and positions were read off Kubernetes 1.37.2 (cel-go 0.29.2).
"""

from __future__ import annotations

import pytest

from reparto.cel.ast import (
    Ast,
    Bind,
    Call,
    Comprehension,
    Conditional,
    Has,
    Ident,
    Index,
    ListLiteral,
    Literal,
    LiteralKind,
    Logical,
    MapLiteral,
    Node,
    OptionalMap,
    Select,
    SortBy,
    StructLiteral,
    children,
    clauses,
    walk,
)
from reparto.cel.errors import CompileError
from reparto.cel.parser import parse


def show(node: Node) -> str:
    """A tree in one line, every operation in brackets."""
    match node:
        case Literal():
            return repr(node.value) + ("u" if node.kind is LiteralKind.UINT else "")
        case Ident():
            return node.name
        case Select():
            return f"{show(node.operand)}.{'?' if node.optional else ''}{node.field}"
        case Index():
            return f"{show(node.operand)}[{'?' if node.optional else ''}{show(node.key)}]"
        case Call():
            target = "" if node.target is None else f"{show(node.target)}."
            return f"{target}{node.function}({', '.join(map(show, node.arguments))})"
        case Logical():
            return f"({f' {node.operator} '.join(map(show, node.terms))})"
        case Conditional():
            return f"({show(node.condition)} ? {show(node.then)} : {show(node.otherwise)})"
        case ListLiteral():
            return "[" + ", ".join(("?" if i in node.optional else "") + show(e) for i, e in enumerate(node.elements)) + "]"
        case MapLiteral():
            return "{" + ", ".join(f"{'?' if e.optional else ''}{show(e.key)}: {show(e.value)}" for e in node.entries) + "}"
        case StructLiteral():
            return node.type_name + "{" + ", ".join(f"{f.name}: {show(f.value)}" for f in node.fields) + "}"
        case Has():
            return f"has<{show(node.operand)}.{node.field}>"
        case Comprehension():
            variables = " ".join(variable.name for variable in node.variables)
            filter = f" if {show(node.filter)}" if node.filter else ""
            return f"{node.macro}<{variables} of {show(node.range)}{filter}: {show(node.body)}>"
        case Bind():
            return f"bind<{node.variable.name} = {show(node.value)}: {show(node.body)}>"
        case OptionalMap():
            return f"{'optFlatMap' if node.flat else 'optMap'}<{node.variable.name} of {show(node.target)}: {show(node.body)}>"
        case SortBy():
            return f"sortBy<{node.variable.name} of {show(node.target)}: {show(node.body)}>"
        case _:
            raise TypeError(node)


def tree(text: str) -> str:
    return show(parse(text).root)


def issues(text: str) -> list[tuple[int, int, str]]:
    """Line, column from 1 and message of everything that is wrong with a text."""
    with pytest.raises(CompileError) as caught:
        parse(text)
    return [(issue.line, issue.column + 1, issue.message) for issue in caught.value.issues]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3 - 4", "_-_(_+_(1, _*_(2, 3)), 4)"),
        ("1 - 2 - 3", "_-_(_-_(1, 2), 3)"),
        ("1 < 2 == true", "_==_(_<_(1, 2), True)"),
        ("a || b && c", "(a || (b && c))"),
        ("a && b && c && d", "(a && b && c && d)"),
        ("(a && b) && c", "((a && b) && c)"),
        ("a ? b : c ? d : e", "(a ? b : (c ? d : e))"),
        ("a in b || !c", "(@in(a, b) || !_(c))"),
        ("a.b.c(d)[e].f", "a.b.c(d)[e].f"),
        ("a.?b[?c].?d", "a.?b[?c].?d"),
        ("[1, ?a, 2,]", "[1, ?a, 2]"),
        ("[,]", "[]"),
        ("{'a': 1, ?b: c,}", "{'a': 1, ?b: c}"),
        ("a.`b-c/d e.f`", "a.b-c/d e.f"),
        ("a.b.C{d: 1, `e`: 2}", "a.b.C{d: 1, e: 2}"),
        (".a.b", ".a.b"),
        (".f(1)", ".f(1)"),
        ("a // to the end of the line\n + b", "_+_(a, b)"),
        # Reserved words are fields, though not variables; the four keywords are neither.
        ("a.if.package", "a.if.package"),
    ],
)
def test_operators_bind_as_the_grammar_says(text: str, expected: str) -> None:
    assert tree(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("!!a", "a"),
        ("!!!a", "!_(a)"),
        ("- - a", "a"),
        # One minus before a number is part of it, so that the smallest int can be written.
        ("-9223372036854775808", "-9223372036854775808"),
        ("-1.size()", "-1.size()"),
        ("--1", "1"),
        ("---1", "-_(1)"),
        ("1 - -1", "_-_(1, -1)"),
        ("1 -1", "_-_(1, 1)"),
        ("-1u", "-_(1u)"),
        ("!-1", "!_(-1)"),
    ],
)
def test_repeated_unary_operators_cancel_out(text: str, expected: str) -> None:
    assert tree(text) == expected


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("0x1F", LiteralKind.INT, 31),
        ("007", LiteralKind.INT, 7),
        ("0xffffffffffffffffu", LiteralKind.UINT, 2**64 - 1),
        ("5U", LiteralKind.UINT, 5),
        (".5", LiteralKind.DOUBLE, 0.5),
        ("1e3", LiteralKind.DOUBLE, 1000.0),
        ("-2.5E-1", LiteralKind.DOUBLE, -0.25),
        (r'"\a\b\f\n\r\t\v\"\'\\\?\`"', LiteralKind.STRING, "\a\b\f\n\r\t\v\"'\\?`"),
        (r'"\x41\X42\u00e9\U0001F600\101"', LiteralKind.STRING, "ABé😀A"),
        (r'r"\d\"', LiteralKind.STRING, "\\d\\"),
        ('"""a"b\nc"""', LiteralKind.STRING, 'a"b\nc'),
        ("'''a\r\nb\rc'''", LiteralKind.STRING, "a\nb\nc"),
        (r"R'''\n'''", LiteralKind.STRING, "\\n"),
        (r'b"\x00\377é"', LiteralKind.BYTES, b"\x00\xff\xc3\xa9"),
        (r"br'\x'", LiteralKind.BYTES, b"\\x"),
        ("true", LiteralKind.BOOL, True),
        ("null", LiteralKind.NULL, None),
    ],
)
def test_literals_have_their_type_and_value(text: str, kind: LiteralKind, value: object) -> None:
    node = parse(text).root
    assert isinstance(node, Literal)
    assert (node.kind, node.value) == (kind, value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("9223372036854775808", "invalid int literal"),
        ("-9223372036854775809", "invalid int literal"),
        ("18446744073709551616u", "invalid uint literal"),
        ("1e999", "invalid double literal"),
        (r'"\ud800"', "invalid unicode code point"),
        (r'b"\u0041"', "unable to unescape string"),
        ("if", "reserved identifier: if"),
        ("while(1)", "reserved identifier: while"),
    ],
)
def test_tokens_without_a_value_are_refused(text: str, message: str) -> None:
    assert issues(text) == [(1, 1, message)]


def test_a_number_of_many_digits_is_refused_at_once() -> None:
    assert issues("9" * 20_000) == [(1, 1, "invalid int literal")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("has(a.b)", "has<a.b>"),
        ("has(has(a.b))", "has<a.b>"),  # the reference takes it for has(a.b), too
        ("a.all(x, x)", "all<x of a: x>"),
        ("a.exists(k, v, v)", "exists<k v of a: v>"),
        ("a.exists_one(x, x)", "exists_one<x of a: x>"),
        ("a.existsOne(k, v, v)", "exists_one<k v of a: v>"),
        ("a.existsOne(x, x)", "a.existsOne(x, x)"),  # there is no such macro of one variable
        ("a.map(x, y)", "map<x of a: y>"),
        ("a.map(x, p, y)", "map<x of a if p: y>"),
        ("a.filter(x, p)", "filter<x of a: p>"),
        ("a.filter(k, v, p)", "a.filter(k, v, p)"),
        ("a.transformList(k, v, y)", "transformList<k v of a: y>"),
        ("a.transformMap(k, v, p, y)", "transformMap<k v of a if p: y>"),
        ("a.transformMapEntry(k, v, {v: k})", "transformMapEntry<k v of a: {v: k}>"),
        ("cel.bind(x, 1, x)", "bind<x = 1: x>"),
        ("dog.bind(x, 1, x)", "dog.bind(x, 1, x)"),
        ("a.optMap(x, y)", "optMap<x of a: y>"),
        ("a.optFlatMap(x, y)", "optFlatMap<x of a: y>"),
        ("a.sortBy(x, y)", "sortBy<x of a: y>"),
        ("all(x, y)", "all(x, y)"),
        (".has(a.b)", ".has(a.b)"),
    ],
)
def test_macros_are_known_by_name_receiver_and_number_of_arguments(text: str, expected: str) -> None:
    assert tree(text) == expected


def test_sort_by_is_a_plain_call_where_the_lists_library_is_missing() -> None:
    assert show(parse("a.sortBy(x, y)", sort_by=False).root) == "a.sortBy(x, y)"


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("has(a)", 5, "invalid argument to has() macro"),
        ("has(a.?b)", 6, "invalid argument to has() macro"),
        ("a.all(x.y, x)", 8, "argument must be a simple name"),
        ("a.map(x.y, x)", 8, "argument is not an identifier"),
        ("a.all(__result__, x)", 7, "iteration variable overwrites accumulator variable"),
        ("a.all(k, k, x)", 10, "duplicate variable name: k"),
        ("cel.bind(x.y, 1, x)", 11, "cel.bind() variable names must be simple identifiers"),
        ("a.optMap(1, x)", 10, "optMap() variable name must be a simple identifier"),
        ("'a'.sortBy(x, x)", 1, "sortBy can only be applied to a list, identifier, comprehension, call or select expression"),
    ],
)
def test_macro_arguments_are_checked_while_parsing(text: str, column: int, message: str) -> None:
    assert issues(text) == [(1, column, message)]


_EXPRESSION = "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("a b c", 1, 3, "mismatched input 'b' expecting <EOF>"),
        ("1 2", 1, 3, "extraneous input '2' expecting <EOF>"),
        ("(1", 1, 3, "missing ')' at '<EOF>'"),
        ("a +", 1, 4, f"mismatched input '<EOF>' expecting {_EXPRESSION}"),
        ("1 +\n  * 2", 2, 3, f"extraneous input '*' expecting {_EXPRESSION}"),
        ("a.", 1, 3, "no viable alternative at input '.'"),
        ("a.true", 1, 3, "mismatched input 'true' expecting IDENTIFIER"),
        ("a ? b", 1, 6, "mismatched input '<EOF>' expecting ':'"),
        ("[1 2]", 1, 4, "extraneous input '2' expecting {']', ','}"),
        ("[1,,2]", 1, 4, "mismatched input ',' expecting ']'"),
        ("{1 2}", 1, 4, "missing ':' at '2'"),
        ("a = b", 1, 3, "token recognition error at: '= '"),
        ("# comment", 1, 1, "token recognition error at: '#'"),
    ],
)
def test_a_syntax_error_names_the_token_and_its_place(text: str, line: int, column: int, message: str) -> None:
    assert issues(text)[0] == (line, column, f"Syntax error: {message}")


_INVALID_HAS = "invalid argument to has() macro"


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("has(a.b ||)", 9),
        ("has(a && b && c &&)", 12),  # the middle operator of the chain, which is the root of the reference's tree
        ("has(a == 1 + )", 7),
        ("has(a ? b : )", 7),
        ("has((a && ))", 8),
        ("has(-)", 5),
        ("has(a[0]", 6),
        ("has(a.?b", 6),
        ('has(a."s")', 5),
        ("has(.x.{", 6),
    ],
)
def test_an_argument_of_has_that_breaks_off_is_no_selection_either(text: str, column: int) -> None:
    assert issues(text)[0] == (1, column, _INVALID_HAS)  # columns as kube-scheduler's compiler reports them


@pytest.mark.parametrize("text", ["has(a.b", "has(a.b }", "has(has(a.b)", "has(a.b, ||)", "has("])
def test_an_argument_of_has_that_is_a_selection_is_not_complained_about(text: str) -> None:
    assert _INVALID_HAS not in [message for _, _, message in issues(text)]


def test_an_empty_text_is_an_error_without_a_column() -> None:
    assert issues("") == [(1, 0, f"Syntax error: mismatched input '<EOF>' expecting {_EXPRESSION}")]


def test_several_mistakes_are_reported_together_in_order() -> None:
    assert issues("if == 99999999999999999999 && has(1)") == [
        (1, 1, "reserved identifier: if"),
        (1, 7, "invalid int literal"),
        (1, 35, "invalid argument to has() macro"),
    ]


def test_an_error_is_rendered_with_the_line_and_a_caret() -> None:
    with pytest.raises(CompileError) as caught:
        parse('"é" == 1 2')
    assert str(caught.value) == (
        "compilation failed: ERROR: <input>:1:10: Syntax error: extraneous input '2' expecting <EOF>\n"
        ' | "é" == 1 2\n'
        " | .．.......^"
    )
    assert caught.value.position == 9


def test_positions_count_code_points_and_texts_leave_out_parentheses() -> None:
    text = '"😀" == a && (b.c("é") || d)'
    ast = parse(text)
    first, second = clauses(ast.root)
    assert [ast.source(node) for node in (first, second)] == ['"😀" == a', 'b.c("é") || d']
    assert (first.position, second.position) == (4, 22)
    assert [node.position for node in walk(second) if isinstance(node, Call)] == [16]  # a call is reported at its parenthesis


def test_clauses_flatten_through_parentheses() -> None:
    ast = parse("a && (b && c) && (d || e)")
    assert [ast.source(node) for node in clauses(ast.root)] == ["a", "b", "c", "d || e"]


def test_node_ids_are_unique() -> None:
    ast = parse('device.attributes["a"].all(k, v, k == "b" && has(v.c)) ? [1, ?x] : {?"d": e.optMap(f, f)}')
    ids = [node.id for node in walk(ast.root)]
    assert len(set(ids)) == len(ids)
    assert max(ids) < ast.next_id


_TOO_DEEP = "expression recursion limit exceeded: 250"
_TOO_LONG = "max recursion depth exceeded"


def _deep(kind: str, levels: int) -> str:
    return {
        "parentheses": "(" * levels + "1" + ")" * levels,
        "lists": "[" * levels + "1" + "]" * levels,
        "calls": "f(" * levels + "1" + ")" * levels,
        "sums": "+".join(["1"] * (levels + 1)),
        "fields": "a" + ".b" * levels,
        "indexes": "a" + "[0]" * levels,
        "ternaries": "a ? b : " * levels + "c",
        "right operands": "1 + (" * levels + "1" + ")" * levels,
    }[kind]


@pytest.mark.parametrize(
    ("kind", "levels", "message"),
    [
        ("parentheses", 249, _TOO_DEEP),
        ("lists", 249, _TOO_DEEP),
        ("calls", 249, _TOO_DEEP),
        ("ternaries", 249, _TOO_DEEP),
        ("sums", 250, _TOO_LONG),
        ("fields", 250, _TOO_LONG),
        ("indexes", 250, _TOO_LONG),
        # A right operand in parentheses nests the rule for sums twice.
        ("right operands", 124, _TOO_DEEP),
    ],
)
def test_nesting_stops_where_the_reference_stops(kind: str, levels: int, message: str) -> None:
    assert isinstance(parse(_deep(kind, levels)), Ast)
    assert issues(_deep(kind, levels + 1)) == [(-1, 0, message)]


@pytest.mark.parametrize("text", [" && ".join(["a"] * 1700), "!" * 1000 + "a", " || ".join(["a.b == 1"] * 400)])
def test_long_chains_are_not_deep(text: str) -> None:
    root = parse(text).root
    assert all(len(children(child)) <= 2 for child in children(root))
