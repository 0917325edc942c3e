"""JSON comes as an object, a list, values one after another or one a line; objects keep their lines."""

import json
from pathlib import Path

import pytest

from reparto.model.reading import json_text
from unit.reading_input import reading


def namespace(name: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def test_a_list_over_many_lines(tmp_path: Path) -> None:
    text = json.dumps({"apiVersion": "v1", "kind": "List", "items": [namespace("a"), namespace("b")]}, indent=2)
    found = reading(tmp_path, text, "input.json")
    assert found.names == ["a", "b"]
    # Line 1 "{", 2 apiVersion, 3 kind, 4 items, then seven lines for each item.
    assert found.lines == [5, 12]
    assert found.documents[1].line_of("metadata.name") == 16


def test_equal_items_of_a_list_have_each_its_own_line(tmp_path: Path) -> None:
    items = " ,\n\n ".join([json.dumps(namespace("a"))] * 3)
    found = reading(
        tmp_path, f'{{"apiVersion": "v1", "kind": "List",\n"items": [{items}, 7\n, null, {json.dumps(namespace("b"))}]}}', "x.json"
    )
    assert found.names == ["a", "a", "a", "b"]
    assert found.lines == [2, 4, 6, 7]
    assert [problem.line for problem in found.problems] == [6]


def test_values_one_after_another(tmp_path: Path) -> None:
    text = json.dumps(namespace("a"), indent=1) + "\n\n" + json.dumps(namespace("b"))
    found = reading(tmp_path, text, "input.json")
    assert found.names == ["a", "b"]
    assert found.lines == [1, 9]


def test_one_object_a_line(tmp_path: Path) -> None:
    found = reading(tmp_path, "\n".join(json.dumps(namespace(name)) for name in "abc") + "\n", "input.json")
    assert found.names == ["a", "b", "c"]
    assert found.lines == [1, 2, 3]


def test_items_of_a_typed_list_get_the_kind_that_the_api_leaves_out(tmp_path: Path) -> None:
    text = json.dumps({"kind": "NodeList", "apiVersion": "v1", "items": [{"metadata": {"name": "n"}}, {}]})
    found = reading(tmp_path, text, "nodes.json")
    assert [document.value for document in found.documents] == [
        {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}},
        {"apiVersion": "v1", "kind": "Node"},
    ]


def test_a_list_without_items_is_empty(tmp_path: Path) -> None:
    found = reading(tmp_path, '{"kind": "PodList", "apiVersion": "v1", "items": null}', "pods.json")
    assert (found.documents, found.problems) == ([], [])


def test_half_a_surrogate_pair_becomes_the_replacement_character_as_in_go(tmp_path: Path) -> None:
    text = r'{"apiVersion": "v1", "kind": "C", "a": "\ud800", "b": "\ud83d\ude00", "c": "\\ud800", "d": "\udc00x"}'
    (document,) = reading(tmp_path, text, "input.json").documents
    value = document.value
    assert (value["a"], value["b"], value["c"], value["d"]) == ("\ufffd", "😀", "\\ud800", "\ufffdx")


@pytest.mark.parametrize("separator", ["\n", "\n\n  \n", " "])
def test_big_files_are_cut_without_the_search_for_repeated_keys(
    separator: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(json_text, "DUPLICATES_UP_TO", 10)
    text = separator.join(json.dumps(namespace(name)) for name in "ab")
    documents = [entry for entry in json_text.documents(text.encode(), "x") if not hasattr(entry, "message")]
    assert [document.value["metadata"]["name"] for document in documents] == ["a", "b"]  # type: ignore[union-attr]
    assert documents[1].line == 1 + separator.count("\n")


def test_a_big_broken_file_names_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_text, "DUPLICATES_UP_TO", 10)
    (problem,) = json_text.documents(b'{"apiVersion": "v1",\n "kind": "C",\n "a": tru}', "x")
    assert problem.line == 3


@pytest.mark.parametrize(
    ("content", "line", "column", "hint"),
    [
        ('{"apiVersion": "v1",\n"kind": "Node", @}', 2, 17, ""),
        ('{"apiVersion": "v1",\n"kind": "No', 2, 12, "the file ends early: fetch it again"),
    ],
)
def test_big_files_say_where_they_break(
    content: str, line: int, column: int, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_text, "DUPLICATES_UP_TO", 10)
    problem = reading(tmp_path, content, "a.json").problem
    assert (problem.line, problem.hint) == (line, hint)
    assert problem.message.endswith(f"(column {column})")
