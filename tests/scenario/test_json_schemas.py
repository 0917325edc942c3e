"""What `-o json` prints conforms to the JSON Schemas that the package ships, for every example, good or broken."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from reparto.cli.main import main

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FOLDERS = sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir())


def validator(name: str) -> jsonschema.Draft202012Validator:
    schema = json.loads((files("reparto") / "schemas" / f"{name}.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    with pytest.raises(SystemExit):
        main([*arguments, "-o", "json"])
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_plan_conforms_to_plan_v1(capsys: pytest.CaptureFixture[str], folder: str) -> None:
    document = answer(capsys, "plan", "-f", str(EXAMPLES / folder))
    assert [error.message for error in validator("plan-v1").iter_errors(document)] == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_validation_conforms_to_validate_v1(capsys: pytest.CaptureFixture[str], folder: str) -> None:
    document = answer(capsys, "validate", "-f", str(EXAMPLES / folder))
    assert [error.message for error in validator("validate-v1").iter_errors(document)] == []


SIDES = {
    "plan-nodes-v1": ("--show", "nodes"),
    "plan-devices-v1": ("--show", "devices"),
    "plan-claims-v1": ("--show", "claims"),
    "plan-summary-v1": ("--summary",),
    "plan-diff-v1": ("--diff", str(EXAMPLES / "taints")),
}


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("name", SIDES)
def test_every_side_of_a_plan_conforms_to_its_schema(capsys: pytest.CaptureFixture[str], name: str, folder: str) -> None:
    document = answer(capsys, "plan", "-f", str(EXAMPLES / folder), *SIDES[name])
    assert document["schema"] == name.replace("-v1", "/v1")
    assert [error.message for error in validator(name).iter_errors(document)] == []


def test_the_examples_exercise_every_part_of_the_schemas_of_sides(capsys: pytest.CaptureFixture[str]) -> None:
    documents = {name: [answer(capsys, "plan", "-f", str(EXAMPLES / folder), *SIDES[name]) for folder in FOLDERS] for name in SIDES}
    devices = [device for document in documents["plan-devices-v1"] for device in document["devices"]]
    assert {device["state"] for device in devices} == {"free", "used", "shared", "blocked", "tainted"}
    assert any(holder["consumedCapacity"] for device in devices for holder in device["holders"])
    assert any(node["products"] for document in documents["plan-nodes-v1"] for node in document["nodes"])
    claims = [claim for document in documents["plan-claims-v1"] for claim in document["claims"]]
    assert {claim["state"] for claim in claims} == {"allocated", "pending"}
    assert any(document["reasons"] and document["products"] for document in documents["plan-summary-v1"])
    changes = [change["change"] for document in documents["plan-diff-v1"] for change in document["changes"]]
    assert {"new", "gone"} <= set(changes)


@pytest.mark.parametrize(
    ("arguments", "kind", "option"),
    [
        (("plan", "--max-steps", "none"), "Usage", "--max-steps"),
        (("plan", "--no-such-option"), "Usage", "--no-such-option"),
        (("plan", "-f", str(EXAMPLES / "taints"), "--replicas", "Deployment/none=1"), "Usage", "--replicas"),
        (("plna",), "Usage", ""),
    ],
)
def test_a_command_that_cannot_answer_says_so_in_json(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], kind: str, option: str
) -> None:
    document = answer(capsys, *arguments)
    assert [error.message for error in validator("error-v1").iter_errors(document)] == []
    (error,) = document["errors"]
    assert (error["type"], error["path"]) == (kind, option)
    assert error["message"]


def test_the_version_conforms_to_its_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert [error.message for error in validator("version").iter_errors(answer(capsys, "version"))] == []


def test_every_schema_is_documented_and_tested() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "json.md").read_text()
    names = {path.name for path in (files("reparto") / "schemas").iterdir() if path.name.endswith(".json")}
    assert names == {f"{name}.json" for name in (*SIDES, "plan-v1", "validate-v1", "error-v1", "version")}
    assert {name for name in names if f"src/reparto/schemas/{name}" not in page} == set()


def test_the_examples_exercise_every_part_of_the_plan_schema(capsys: pytest.CaptureFixture[str]) -> None:
    # Otherwise the tests above could pass on empty lists.
    documents = [answer(capsys, "plan", "-f", str(EXAMPLES / folder)) for folder in FOLDERS]
    pods = [pod for document in documents for pod in document["pods"]]
    assert any(pod["reasons"] for pod in pods)
    assert any(reason["counts"] for pod in pods for reason in pod["reasons"])
    assert any(claim["allocation"] for pod in pods for claim in pod["claims"])
    assert any(document["errors"] for document in documents)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("plan-v1", {"schema": "plan/v2"}),
        ("plan-v1", {"unknown": 1}),
        ("plan-v1", {"pods": [{"name": "a"}]}),
        ("validate-v1", {"slices": [{"name": "a", "driver": "d", "pool": "p", "node": "n", "devices": -1}]}),
    ],
)
def test_the_schemas_refuse_what_the_contract_does_not_allow(
    capsys: pytest.CaptureFixture[str], name: str, change: dict[str, Any]
) -> None:
    document = answer(capsys, name.removesuffix("-v1"), "-f", str(EXAMPLES / "taints"))
    assert not validator(name).is_valid({**document, **change})
