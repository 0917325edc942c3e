"""What cannot be read is refused with its line and what to do, quickly, and never with a traceback."""

import gzip
import time
from itertools import pairwise
from pathlib import Path

import pytest

from reparto.model.reading import limits, read, yaml_text
from unit.reading_input import NAMESPACE, Found, reading

OBJECT = NAMESPACE.format(name="a")


@pytest.mark.parametrize(
    ("content", "line", "says"),
    [
        ("apiVersion: v1\nmetadata:\n\tname: a\n", 3, "tab"),
        ("apiVersion: v1\nmetadata:\n  \tname: a\n", 3, "tab"),
        (OBJECT + "  name: b\n", 5, "'name' is repeated (first on line 4)"),
        (OBJECT + "x: .nan\n", 5, ".nan is no JSON number"),
        (OBJECT + "x: -.inf\n", 5, "-.inf is no JSON number"),
        ("a: *nothing\n", 1, "alias *nothing has no anchor"),
        ("a: &a\n- *a\n", 2, "alias *a contains itself"),
        ("a: 1\n? [b]\n: 2\n", 2, "stands where a key must be"),
        ("a: 1\n~: 2\n", 2, "a key is null"),
        ("a: 1\nb: !!int x\n", 2, "no !!int"),
        ("a: !!binary //79\n", 1, "bytes that are no text"),
        ("a: 1\nb: \x01\n", 2, "control character U+0001"),
        ("a: 1\nb: \x1b[31mred\x1b[0m \x07\n", 2, "control character U+0007"),
        ("a: b: c\n", 1, "not YAML"),
        ("No resources found in default namespace.\n", 1, "what kubectl prints for people"),
        ("- a\n", 1, "not a Kubernetes object but text"),
        ("42\n", 1, "not a Kubernetes object but a number"),
        ("a: \xe9\n".encode("latin-1"), 1, "not UTF-8"),
        (b"\x7fELF\x02\x01\n\x00\x00", 2, "binary data"),
        (("\ufeff" + OBJECT).encode("utf-16-le"), 0, "UTF-16"),
        (("\ufeff" + OBJECT).encode("utf-16-be"), 0, "UTF-16"),
        ("", 0, "it holds no object"),
        ("# nothing\n---\n# here\n", 0, "it holds no object"),
    ],
)
def test_broken_yaml(content: str | bytes, line: int, says: str, tmp_path: Path) -> None:
    problem = reading(tmp_path, content).problem
    assert says in problem.message
    assert problem.line == line
    assert problem.type == "Decode"


@pytest.mark.parametrize(
    ("content", "line", "says"),
    [
        ('{"apiVersion": "v1",\n"kind": ', 2, "not JSON"),
        ('{"a": 1,\n"b" 2}', 2, "not JSON"),
        ('{"a": {"b": 1},\n"c": {"b": 1,\n"b": 2}}', 3, "'b' is repeated (first on line 2)"),
        ('{"a": 1,\n"b": NaN}', 2, "NaN is no JSON number"),
        ('{"a": 1,\n"b": -Infinity}', 2, "-Infinity is no JSON number"),
        ('{"a": 1e400}', 1, "1e400 is no JSON number"),
        ('{"a": ' + "1" * 5000 + "}", 1, "thousands of digits"),
        ('{"a": "NaN",\n"b": tru}', 2, "not JSON"),
        ("[1]", 1, "a number"),
        ('"text"', 1, "not a Kubernetes object but text"),
    ],
)
def test_broken_json(content: str, line: int, says: str, tmp_path: Path) -> None:
    problem = reading(tmp_path, content, "input.json").problem
    assert says in problem.message
    assert problem.line == line


@pytest.mark.parametrize(
    ("content", "advice"),
    [
        ('{"a": 1,\n}', "remove the comma"),
        ('{"a": [1, 2,]}', "remove the comma"),
        ('{"a": ', "the file ends early"),
        ("{\"a\": 'x'}", "quotes"),
    ],
)
def test_common_slips_in_json_come_with_advice(content: str, advice: str, tmp_path: Path) -> None:
    assert advice in reading(tmp_path, content, "input.json").problem.hint


@pytest.mark.parametrize(
    "content",
    [
        "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {{ .Values.namespace }}\n",
        "apiVersion: v1\nkind: Namespace\nmetadata:\n{{- if .Values.x }}\n  name: a\n{{- end }}\n",
        '# {{ not here }}\nkind: Namespace\nmetadata:\n  {{ include "labels" . | nindent 4 }}\n',
    ],
)
def test_a_helm_template_is_said_to_be_one(content: str, tmp_path: Path) -> None:
    problem = reading(tmp_path, content).problem
    assert "template" in problem.message
    assert "helm template" in problem.hint
    assert problem.line == 4


def test_a_template_that_begins_with_braces_is_not_called_json(tmp_path: Path) -> None:
    problem = reading(tmp_path, "{{- if .Values.x }}\nkind: Namespace\n{{- end }}\n").problem
    assert "template" in problem.message
    assert problem.line == 1


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("deep.yaml", "[" * 200_000),
        ("block.yaml", "\n".join(" " * depth + "a:" for depth in range(500))),
        ("dashes.yaml", "- " * 5_000 + "a"),
        ("braces.yaml", "{a: " * 100_000),
        ("deep.json", '{"a":' + "[" * 200_000 + "]" * 200_000 + "}"),
        ("deep2.json", '{"a":' * 300 + "1" + "}" * 300),
    ],
)
def test_deep_nesting_is_refused_at_once(name: str, content: str, tmp_path: Path) -> None:
    start = time.perf_counter()
    problem = reading(tmp_path, content, name).problem
    assert "nested more than 100 levels" in problem.message
    assert time.perf_counter() - start < 2


def test_a_hundred_levels_are_allowed(tmp_path: Path) -> None:
    found = reading(tmp_path, '{"apiVersion": "v1", "kind": "C", "a": ' + "[" * 99 + "]" * 99 + "}", "input.json")
    assert len(found.documents) == 1


def test_an_alias_bomb_is_refused_before_it_goes_off(tmp_path: Path) -> None:
    names = "abcdefghijklmnop"
    lines = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    lines += [f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]" for before, name in pairwise(names)]
    start = time.perf_counter()
    problem = reading(tmp_path, "\n".join(lines)).problem
    assert "aliases stand for more than 1,000,000 values" in problem.message
    assert problem.line == 7  # 9 to the 7th is 4.8 million
    assert time.perf_counter() - start < 1


def test_aliases_of_long_text_count_by_their_length(tmp_path: Path) -> None:
    text = "a: &a " + "x" * 1_000_000 + "\nb: [" + ", ".join(["*a"] * 100) + "]\n"
    assert "aliases" in reading(tmp_path, text).problem.message


def test_a_gzip_bomb_is_stopped(tmp_path: Path) -> None:
    bomb = gzip.compress(b"\0" * 200_000_000)
    start = time.perf_counter()
    assert "binary" in reading(tmp_path, bomb, "bomb.yaml.gz").problem.message
    assert time.perf_counter() - start < 1


def test_damaged_gzip_is_said_to_be_damaged(tmp_path: Path) -> None:
    assert "damaged gzip" in reading(tmp_path, gzip.compress(OBJECT.encode() * 100)[:60], "x.yaml.gz").problem.message


def test_a_line_that_is_too_long_is_refused_in_yaml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert limits.MAX_LINE == 64 << 20
    monkeypatch.setattr(yaml_text, "MAX_LINE", 1000)
    problem = reading(tmp_path, OBJECT + "x: " + "y" * 1000 + "\n").problem
    assert problem.line == 5
    assert "a line of more than" in problem.message


def test_a_json_file_may_be_one_long_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml_text, "MAX_LINE", 1000)
    text = '{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}, "x": "' + "y" * 2000 + '"}'
    assert reading(tmp_path, text, "input.json").names == ["a"]


def test_broken_documents_are_reported_up_to_a_bound(tmp_path: Path) -> None:
    found = reading(tmp_path, "a: }\n---\n" * 1000)
    assert len(found.problems) == limits.MAX_PROBLEMS


OBJECTS = '{"apiVersion": "v1", "kind": "C"}\n'


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("hashes.yaml", "#" * 5_000 + "\nfoo: }"),
        ("rulers.yaml", ("#" * 80 + "\n") * 5_000 + "a: 1\n"),
        ("blank.yaml", "\n" * 300_000 + "a: }"),
        ("spaces.yaml", " " * 300_000 + "…"),
        ("prompts.yaml", "$ kubectl get x\n" * 20_000),
        ("elisions.yaml", "$ kubectl get x\na:\n" + "  ...\n" * 50_000),
        ("at.yaml", "a@" * 100_000),
        ("slashes.yaml", "a/" * 100_000 + "\n" + "~" * 100_000),
        ("bars.yaml", "| " * 100_000 + "\n" + "|#" * 100_000),
        ("braces.yaml", "{{" * 100_000),
        ("quotes.yaml", '"' * 100_001),
        ("quotes.json", '{"a": 1, "a": 2, ' + '"' * 100_001),
        ("backslashes.json", '{"a": "' + "\\" * 200_001),
        ("surrogates.json", '{"a": "' + "\\ud800" * 50_000 + '"}'),
        ("lines.json", OBJECTS * 30_000),
        ("documents.yaml", "---\na: b\n" * 20_000),
        ("repeated.yaml", "a: 1\n" * 20_000),
        ("anchors.yaml", "".join(f"k{n}: &a{n} 1\n" for n in range(20_000))),
        ("colons.yaml", "a: " * 20_000),
        ("question.yaml", "? " * 20_000),
        ("dashes.yaml", "-" * 300_000 + "\n"),
        ("members.yaml.gz", gzip.compress(b"") * 20_000),
        ("tags.yaml", "!a " * 20_000),
        ("bom.yaml", "\ufeff" * 100_000),
    ],
)
def test_nothing_takes_for_ever(name: str, content: str | bytes, tmp_path: Path) -> None:
    start = time.perf_counter()
    reading(tmp_path, content, name)
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize(
    "content", ["", "\n", "# only a comment\n", "---\n---\n", "[]", "null\n", "~\n", "--- \n# a\n...\n", "[[]]", "[null]"]
)
def test_a_file_without_any_object_is_refused(tmp_path: Path, content: str) -> None:
    assert reading(tmp_path, content).problem.message == "it holds no object"


@pytest.mark.parametrize("content", ["apiVersion: v1\nkind: List\nitems: []\n", '{"kind": "ResourceSliceList", "items": null}'])
def test_an_empty_list_is_an_answer_and_noted(tmp_path: Path, content: str) -> None:
    found = reading(tmp_path, content)
    assert [note.message for note in found.notes] == ["an empty list: it holds no object"]
    assert (found.documents, found.problems) == ([], [])


def test_a_file_of_a_directory_may_be_empty(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("# nothing\n")
    found = Found(read([tmp_path]))
    assert ([note.message for note in found.notes], found.problems) == (["it holds no object"], [])


def test_logs_that_never_end_cost_no_time(tmp_path: Path) -> None:
    start = time.perf_counter()
    reading(tmp_path, "==== START logs for container x\n" * 50_000)
    assert time.perf_counter() - start < 5
