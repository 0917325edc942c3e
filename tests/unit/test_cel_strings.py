"""Texts: positions in code points, Go's idea of white space, RE2, and a `format` that speaks en_US."""

from __future__ import annotations

import pytest

from unit.cel_evaluation import error, holds, refusal, value


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ('"gpunode".charAt(3)', "n"),
        ('"gpunode".charAt(7)', ""),
        ('"amber camber".indexOf("amb")', 0),
        ('"amber camber".indexOf("lamb")', -1),
        ('"amber camber".indexOf("", 2)', 2),
        ('"amber camber".indexOf("", 20)', 12),
        ('"amber camber".indexOf("amb", 2)', 7),
        ('"amber camber".indexOf("amb", 20)', -1),
        ('"amber camber".lastIndexOf("amb")', 7),
        ('"amber camber".lastIndexOf("amb", 6)', 0),
        ('"amber camber".lastIndexOf("camb", -1 + 1)', -1),
        ('"amber camber".lastIndexOf("")', 12),
        ('["rack", "slot"].join()', "rackslot"),
        ('["rack", "slot"].join("-")', "rack-slot"),
        ('"RackÆBC".lowerAscii()', "rackÆbc"),
        ('"rackåbc".upperAscii()', "RACKåBC"),
        ('"mig mig".replace("mi", "hu")', "hug hug"),
        ('"mig mig".replace("mi", "hu", -1)', "hug hug"),
        ('"mig mig".replace("mi", "hu", 1)', "hug mig"),
        ('"mig mig".replace("mi", "hu", 0)', "mig mig"),
        ('"abc".replace("", "-")', "-a-b-c-"),
        ('"mig mig mig".split(" ")', ["mig", "mig", "mig"]),
        ('"mig mig mig".split(" ", 0)', []),
        ('"mig mig mig".split(" ", 1)', ["mig mig mig"]),
        ('"mig mig mig".split(" ", 2)', ["mig", "mig mig"]),
        ('"mig mig mig".split(" ", -1)', ["mig", "mig", "mig"]),
        ('"abc".split("")', ["a", "b", "c"]),
        ('"abc".split("", 2)', ["a", "bc"]),
        ('"".split(",")', [""]),
        ('"gpunode".substring(4)', "ode"),
        ('"gpunode".substring(0, 4)', "gpun"),
        # U+0085 and U+00A0 are space to Go, U+200B and U+001F are not.
        (r'" \u0085\u00a0x\u200b ".trim()', "x\u200b"),
        (r'"\u001f x".trim()', "\x1f x"),
        (r'strings.quote("a\t\"b\"\\")', r'"a\t\"b\"\\"'),
        ('size("é")', 1),
        ('size(b"é")', 2),
        ('"é" + "x"', "éx"),
    ],
)
def test_text_functions(expression: str, result: object) -> None:
    assert value(expression) == result


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ('"abc".charAt(4)', "index out of range: 4"),
        ('"abc".charAt(-1)', "index out of range: -1"),
        ('"abc".substring(4)', "index out of range: 4"),
        ('"abc".substring(2, 1)', "invalid substring range. start: 2, end: 1"),
        ('"abc".indexOf("a", -1)', "index out of range: -1"),
        ("dyn([1]).join()", "no such overload: join(list)"),
        ('dyn("a").charAt(dyn("b"))', "no such overload: charAt(string, string)"),
    ],
)
def test_text_errors(expression: str, message: str) -> None:
    assert error(expression) == message


@pytest.mark.parametrize(
    ("expression", "verdict"),
    [
        ('"gpunode".matches("gpu.*")', True),
        ('"gpunode".matches("u+n")', True),  # not anchored
        ('"gpunode".matches("^p")', False),
        ('"gpunode".contains("uno") && "gpunode".startsWith("gpu") && "gpunode".endsWith("ode")', True),
        ('"a" < "é" && "Z" < "a"', True),
    ],
)
def test_text_verdicts(expression: str, verdict: bool) -> None:
    assert holds(expression) is verdict


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ('"slot 17".find("[0-9]+")', "17"),
        ('"slot".find("[0-9]+")', ""),
        ('"40 or 80".findAll("[0-9]+")', ["40", "80"]),
        ('"40 or 80".findAll("[0-9]+", 1)', ["40"]),
        ('"40 or 80".findAll("[0-9]+", 0)', []),
        ('"baac".findAll("a*")', ["", "aa", ""]),
    ],
)
def test_regular_expressions(expression: str, result: object) -> None:
    assert value(expression) == result


def test_a_bad_constant_pattern_does_not_compile_and_a_computed_one_fails() -> None:
    assert "invalid matches argument" in refusal('"a".matches("[")')
    assert refusal('"a".find("[") == ""').startswith("program instantiation failed: error parsing regexp")
    assert "error parsing regexp" in error('"a".matches("[" + device.driver)')


def test_patterns_are_re2_and_take_linear_time() -> None:
    assert "invalid matches argument" in refusal('"a".matches("(?=a)")')
    assert not holds(f'"{"a" * 40}".matches("^(a+)+$x")')


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ('"%s is %d%%".format(["x", 5])', "x is 5%"),
        ('"%s".format([1.5e21])', "1.5e+21"),
        ('"%s".format([[1.5, 2.0]])', "[1.500000, 2.000000]"),
        ('"%s".format([{"b": 1, "a": 2}])', '{"a":2, "b":1}'),
        ('"%s".format([null])', "null"),
        ('"%s".format([[duration("90m"), duration("0s")]])', '[duration("5400s"), duration("0s")]'),
        # Thousands are grouped, as en_US does.
        ('"%f".format([1234567.5])', "1,234,567.500000"),
        ('"%.2f".format([999.995])', "1,000.00"),
        ('"%.256f".format([2.0])', "2"),  # as Kubernetes 1.37.2 answers: the precision is eight bits wide
        ('"%.257f".format([2.0])', "2.0"),
        ('"%f".format([double("Infinity")])', "∞"),
        # For %e the number is a width, and the exponent is written out.
        ('"%e".format([1234567.5])', "1.234568×10⁰⁶"),
        ('"%.20e".format([1.0 / 3.0])', "      3.333333×10⁻⁰¹"),
        ('"%x %X".format(["aé", 255])', "61c3a9 FF"),
        ('"%o %b %b".format([8, -5, true])', "10 -101 1"),
        (r'"%s".format([["\u0001\u200b\""]])', r'["\x01\u200b\""]'),
    ],
)
def test_format(expression: str, text: str) -> None:
    assert value(expression) == text


def test_format_errors() -> None:
    assert error('"%d".format([dyn("x")])') == (
        "error during formatting: decimal clause can only be used on integers, was given string"
    )
    assert "too many arguments supplied" in refusal('"%d".format([1, 2]) == ""')


@pytest.mark.parametrize(
    ("expression", "result"),
    [
        ('url("https://example.com:80/a%2Fb?x=1#f").getEscapedPath()', "/a%2Fb"),
        ('url("https://user:p@example.com:80/").getHost()', "example.com:80"),
        ('url("https://[::1]:80/").getHostname()', "::1"),
        ('url("https://example.com:80/").getPort()', "80"),
        ('url("HTTPS://example.com").getScheme()', "https"),
        ('url("https://a/?k=a+b&k=%63&z=%zz&q;r=1").getQuery()["k"]', ["a b", "c"]),
        ('url("https://a/?k=a+b&k=%63&z=%zz&q;r=1").getQuery().size()', 1),
    ],
)
def test_urls(expression: str, result: object) -> None:
    assert value(expression) == result


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("https://a.b/c", True),
        ("/absolute", True),
        ("foo:bar", True),
        ("../relative", False),
        ("", False),
        (":x", False),
        ("https://exa mple.com/", False),
        ("https://example.com/%zz", False),
        ("http://a:80a/", False),
        ("http://[::1", False),
        ("https://a:b:c/", False),
    ],
)
def test_is_url(text: str, valid: bool) -> None:
    assert holds(f'isURL("{text}")') is valid
