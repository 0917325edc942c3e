"""What a person reads of an object that cannot be decoded: what was expected, what stands there, and what to write."""

from pathlib import Path

import pytest

from reparto.model import read_inputs
from reparto.model.errors import Problem

SLICE = """\
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: s}
spec:
  driver: gpu.example.com
  nodeName: FOUND
  pool: {name: p, generation: 1, resourceSliceCount: 1}
"""


def problem(folder: Path, text: str, name: str = "a.yaml") -> Problem:
    (folder / name).write_text(text)
    (found,) = read_inputs([folder / name]).errors
    return found


@pytest.mark.parametrize(
    ("written", "what", "hint"),
    [
        ("n", "a boolean was found: n", 'put it in quotes: "n"'),
        ("Yes", "a boolean was found: Yes", 'put it in quotes: "Yes"'),
        ("0777", "a number was found: 0777", 'put it in quotes: "0777"'),
        ("1_000", "a number was found: 1_000", 'put it in quotes: "1_000"'),
        ("1e3", "a number was found: 1e3", 'put it in quotes: "1e3"'),
        ("[a]", "a list was found", "write text here"),
    ],
)
def test_a_scalar_is_shown_as_it_is_written(tmp_path: Path, written: str, what: str, hint: str) -> None:
    found = problem(tmp_path, SLICE.replace("FOUND", written))
    assert (found.line, found.path, found.hint) == (6, "spec.nodeName", hint)
    assert found.message == f"text is expected here, and {what}"


@pytest.mark.parametrize(
    ("line", "becomes", "message"),
    [
        ("{name: p, generation: 1, resourceSliceCount: 1}", "p", "a mapping is expected here, and text was found: p"),
        ("generation: 1", 'generation: "1"', "a whole number is expected here, and text was found: 1"),
        ("nodeName: FOUND", "allNodes: 1", "true or false is expected here, and a number was found: 1"),
        ("nodeName: FOUND", "devices: {a: b}", "a list is expected here, and a mapping was found"),
    ],
)
def test_what_is_expected_is_said_in_words_of_yaml(tmp_path: Path, line: str, becomes: str, message: str) -> None:
    assert problem(tmp_path, SLICE.replace(line, becomes).replace("FOUND", "n1")).message == message


def test_json_has_its_own_spelling(tmp_path: Path) -> None:
    text = '{"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass",\n "metadata": {"name": true}}'
    found = problem(tmp_path, text, "a.json")
    assert found.message == "text is expected here, and a boolean was found: true"
    assert (found.line, found.hint) == (2, 'put it in quotes: "true"')


def test_an_unknown_field_is_named_once(tmp_path: Path) -> None:
    found = problem(tmp_path, SLICE.replace("nodeName: FOUND", "nodename: n1"))
    assert (found.path, found.message, found.hint) == (
        "spec.nodename",
        "unknown field in resource.k8s.io/v1",
        "did you mean nodeName?",
    )


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        (
            "GPU_Class",
            "write lower-case letters, digits, '-' and '.', beginning and ending with a letter or digit, for example \"gpu-class\"",
        ),
        ("a" * 300, "shorten it"),
    ],
)
def test_a_wrong_name_gets_a_right_one(tmp_path: Path, written: str, hint: str) -> None:
    text = f"apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {{name: {written}}}\nspec: {{}}\n"
    assert problem(tmp_path, text).hint == hint


@pytest.mark.parametrize(
    ("expression", "hint"),
    [
        ("memory >= 40Gi", "device.capacity["),
        ("device.capacity['gpu.nvidia.com'].memory >= quantity('40Gi')", ".compareTo(quantity("),
        ("device.driver", "true or false"),
    ],
)
def test_a_selector_that_articles_show_gets_the_cel_that_is_meant(tmp_path: Path, expression: str, hint: str) -> None:
    head = "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: a}\nspec: {selectors: [{cel: {expression: "
    assert hint in problem(tmp_path, f'{head}"{expression}"}}}}]}}\n').hint


def test_a_template_in_quotes_is_called_one(tmp_path: Path) -> None:
    found = problem(tmp_path, SLICE.replace("{name: s}", '{name: "{{ .Release.Name }}"}').replace("FOUND", "n1"))
    assert found.line == 3
    assert found.message.startswith("a Helm or Go template, not yet YAML: ")
    assert "helm template" in found.hint


def test_the_sentence_leaves_regular_expressions_to_programs(tmp_path: Path) -> None:
    found = problem(tmp_path, SLICE.replace("{name: s}", "{name: S_1}").replace("FOUND", "n1"))
    assert "regex used for validation is" in found.message
    assert "regex" not in found.sentence()
    assert "(e.g. 'example.com') (found: \"S_1\")" in found.sentence()
