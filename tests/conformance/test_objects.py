"""Random objects: decoding, defaults, conversion and validation against Kubernetes' own code.

For each object the verdict of strict decoding, its class and the unknown fields; the defaulted form; the form in another version;
and the set of validation errors with type, path, value and text. Creates, updates and status updates; three sets of feature
gates. Not compared are the CEL compiler's texts, which have tests of their own, and values that are internal structs upstream. No
difference is allowed.

    REPARTO_SEED=7 REPARTO_PROBLEMS=20000 make conformance ARGS='-k random_objects'
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

import reparto.model as model
from conformance.object_answers import difference, normal, ours
from conformance.objects import GATE_SETS, problems
from conformance.oracle import Oracle, module_folder, validation
from conformance.scale import amount
from conformance.shrinking import shrunk

OBJECTS = amount(6_000)
#: Attempts at making a failing case smaller, each of which asks the oracle once.
SHRINKING = 400
SHOWN = 10

Json = Any


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with validation() as session:
        yield session


@pytest.mark.reference
@pytest.mark.parametrize("gates", range(len(GATE_SETS)), ids=("default-gates", "alpha-gates", "fewer-gates"))
def test_random_objects_are_judged_as_the_api_server_judges_them(
    gates: int, seed: str, write_failure: Callable[[Any], Path]
) -> None:
    asked = list(problems(seed, OBJECTS // len(GATE_SETS), GATE_SETS[gates]))
    found: list[str] = []
    with validation() as oracle:  # a process of its own, which keeps its gates
        failing = [
            question for question, answer in zip(asked, oracle.ask_many(asked), strict=True) if _difference(question, answer)
        ]
        for question in failing[:SHOWN]:
            small = shrunk(question, _removable, lambda each: bool(_difference(each, oracle.ask(each))), SHRINKING)
            answer = oracle.ask(small)
            path = write_failure({"question": small, "oracle": answer, "ours": ours(small)})
            found.append(f"{path}: {_difference(small, answer)}")
    assert not failing, f"seed {seed}: {len(failing)} of {len(asked)} differ\n" + "\n".join(found)


def test_random_objects_cover_every_kind_version_and_operation() -> None:
    asked = list(problems("1", 600, {}))
    kinds = {(each["object"].get("apiVersion"), each["object"].get("kind")) for each in asked}
    for kind, versions in (("ResourceSlice", ("v1", "v1beta2", "v1beta1")), ("DeviceTaintRule", ("v1", "v1beta2", "v1alpha3"))):
        assert {(f"resource.k8s.io/{version}", kind) for version in versions} <= kinds
    assert {("old" in each, bool(each.get("status"))) for each in asked} >= {(False, False), (True, False), (True, True)}


def test_the_same_seed_gives_the_same_objects() -> None:
    assert list(problems("7", 50, {})) == list(problems("7", 50, {}))


def test_a_failing_case_is_shrunk_to_what_makes_it_fail() -> None:
    case = {"object": {"kind": "X", "spec": {"a": [1, 2, {"bad": True}, 3], "b": {"c": "d"}}}, "gates": {}, "to": "v"}
    small = shrunk(case, _removable, lambda each: '"bad": true' in json.dumps(each), SHRINKING)
    assert small == {"object": {"spec": {"a": [{"bad": True}]}}, "gates": {}, "to": "v"}


@pytest.mark.reference
@pytest.mark.parametrize("version", ("v1", "v1beta2", "v1beta1", "v1alpha3"))
def test_every_round_trip_fixture_of_kubernetes_loads(version: str) -> None:
    """k8s.io/api keeps one object of every kind and version with every field set, for the present and for former releases."""
    folder = module_folder("k8s.io/api") / "testdata"
    files = sorted(folder.glob(f"*/resource.k8s.io.{version}.*.json"))
    assert files
    for file in files:
        # Former releases had fields that were taken back while they were alpha: those are not fields of the version any more.
        obj = model.decode(file.read_bytes(), strict=file.parent.name == "HEAD")
        twin = yaml.safe_load(file.with_suffix(".yaml").read_text())
        assert model.decode(_texts(twin), strict=file.parent.name == "HEAD") == obj, file
        if file.parent.name == "HEAD":
            raw = json.loads(file.read_bytes())
            assert normal(msgspec.to_builtins(obj)) == normal(raw), file


@pytest.mark.reference
def test_fixtures_that_kubernetes_round_trips_are_converted_to_every_version_as_kubernetes_does(oracle: Oracle) -> None:
    folder = module_folder("k8s.io/api") / "testdata" / "HEAD"
    for file in sorted(folder.glob("resource.k8s.io.*.json")):
        raw = json.loads(file.read_bytes())
        for version in ("v1", "v1beta2", "v1beta1"):
            question = {"object": raw, "to": f"resource.k8s.io/{version}", "gates": {}}
            answer = oracle.ask(question)
            if answer.get("decode"):
                assert "decode" in ours(question), file  # this kind is not in that version
            else:
                assert normal(answer["converted"]) == normal(ours(question)["converted"]), (file, version)


def _difference(question: Json, answer: Json) -> str:
    if answer.get("kind") == "panic" or str(answer.get("decode", "")).startswith("panic"):
        return ""  # upstream's own crash is no verdict
    return difference(question, answer, ours(question))


def _texts(value: Json) -> Json:
    """YAML as kubectl reads it: times stay text."""
    if isinstance(value, dict):
        return {key: _texts(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_texts(entry) for entry in value]
    return value.strftime("%Y-%m-%dT%H:%M:%SZ") if hasattr(value, "strftime") else value


def _removable(question: Json) -> Iterator[tuple[Json, ...]]:
    """What may be left out of a question: parts of the object and of the old one, and the old one itself, the largest first."""
    return iter(sorted(_paths(question), key=len))


def _paths(question: Json) -> Iterator[tuple[Json, ...]]:
    for part in ("object", "old"):
        if part in question:
            if part == "old":
                yield (part,)
            yield from _inside(question[part], (part,))


def _inside(value: Json, path: tuple[Json, ...]) -> Iterator[tuple[Json, ...]]:
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield (*path, key)
        yield from _inside(entry, (*path, key))
