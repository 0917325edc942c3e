"""The loader survives anything: bytes, broken YAML, mutated real objects. It answers with problems, in time, and never raises."""

import json
import random
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.objects import problems
from reparto.model.decoding import decode_bytes
from reparto.model.errors import DecodeError, Problem
from reparto.model.intake import Intake, read_inputs
from reparto.model.parts import SharedParts
from reparto.model.reading import json_text, yaml_text
from reparto.model.reading.transcripts import cleaned
from reparto.model.validation import slices, validate

BOUND = 5.0  # seconds for one small input, generous for a loaded machine: what this guards against is a hang

SLICE: dict[str, Any] = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceSlice",
    "metadata": {
        "name": "s",
        "labels": {"a": "b"},
        "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}],
    },
    "spec": {
        "driver": "gpu.example.com",
        "nodeName": "n",
        "pool": {"name": "n", "generation": 1, "resourceSliceCount": 1},
        "devices": [
            {
                "name": "gpu-0",
                "attributes": {
                    "model": {"string": "A"},
                    "example.com/index": {"int": 1},
                    "version": {"version": "1.2.3"},
                    "ok": {"bool": True},
                },
                "capacity": {
                    "memory": {"value": "80Gi", "requestPolicy": {"default": "1Gi", "validRange": {"min": "1Gi", "step": "1Gi"}}}
                },
                "allowMultipleAllocations": True,
                "taints": [{"key": "example.com/x", "effect": "NoSchedule"}],
            }
        ],
    },
}
PARTITIONS: dict[str, Any] = {
    **SLICE,
    "spec": {
        **{name: value for name, value in SLICE["spec"].items() if name != "devices"},
        "devices": [
            {
                "name": f"gpu-0-{start}",
                "attributes": {"type": {"string": "mig"}, "parentUUID": {"string": "GPU-1"}},
                "capacity": {"memory": {"value": "9984Mi"}, "engines": {"value": "1"}},
                "consumesCounters": [
                    {"counterSet": "gpu-0", "counters": {"memory": {"value": "9984Mi"}, f"slice-{start}": {"value": "1"}}}
                ],
            }
            for start in range(3)
        ],
    },
}
COUNTERS: dict[str, Any] = {
    **SLICE,
    "spec": {
        **{name: value for name, value in PARTITIONS["spec"].items() if name != "devices"},
        "sharedCounters": [{"name": "gpu-0", "counters": {"memory": {"value": "80Gi"}, "slice-0": {"value": "1"}}}],
    },
}
CLAIM: dict[str, Any] = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaim",
    "metadata": {"name": "c"},
    "spec": {
        "devices": {
            "requests": [
                {"name": "gpu", "exactly": {"deviceClassName": "gpu", "count": 1, "selectors": [{"cel": {"expression": "true"}}]}},
                {"name": "any", "firstAvailable": [{"name": "a", "deviceClassName": "gpu"}]},
            ],
            "constraints": [{"requests": ["gpu"], "matchAttribute": "example.com/root"}],
            "config": [{"opaque": {"driver": "gpu.example.com", "parameters": {"kind": "Config"}}}],
        }
    },
    "status": {
        "allocation": {"devices": {"results": [{"request": "gpu", "driver": "gpu.example.com", "pool": "n", "device": "gpu-0"}]}},
        "reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}],
    },
}
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "creationTimestamp": None},
    "spec": {
        "resourceClaims": [{"name": "g", "resourceClaimName": "c"}],
        "containers": [{"name": "c", "resources": {"claims": [{"name": "g"}], "limits": {"cpu": 1}}}],
        "tolerations": [{"operator": "Exists"}],
    },
}
DEPLOYMENT: dict[str, Any] = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {"template": POD}}
OBJECTS = (SLICE, PARTITIONS, CLAIM, POD, DEPLOYMENT, {"apiVersion": "v1", "kind": "List", "items": [SLICE, CLAIM]})

# fmt: off
FRAGMENTS = (
    *"{}[],:-?&*!|>'\"%@`#\t\n\r \\~",
    "---\n", "...\n", "…", "<<: ", "&a ", "*a", "!!binary ", "!!int ", "{{ .Values.x }}", "$ kubectl get x\n",
    "\ufeff", "\x00", "\x1b[31m", "😀", "é", "NaN", "1e999", "0x", "null", "yes", "\\ud800", "9" * 30, "- " * 20, "[" * 20,
)
VALUES = (
    None, True, False, 0, -1, 2**63, 2**70, 1.5, "", "x", "é", "{{ .x }}", [], {}, [None], {"": None},
    {"kind": "List", "items": [1]}, "\x00", "a" * 300,
)
# fmt: on


def timed(folder: Path, content: bytes, name: str) -> Intake:
    """Read `content`; it may not take long, and everything wrong is a problem that prints."""
    file = folder / name
    file.write_bytes(content)
    start = time.perf_counter()
    intake = read_inputs([file])
    assert time.perf_counter() - start < BOUND, (name, content[:2000])
    for problem in (*intake.errors, *intake.warnings):
        assert isinstance(problem, Problem)
        assert problem.file == str(file)
        assert problem.message
        assert 0 <= problem.line <= content.count(b"\n") + content.count(b"\r") + 2
        assert problem.sentence()
        msgspec.json.encode(problem)
    return intake


def mutated_text(rng: random.Random, text: str) -> str:
    """`text` with a few fragments put in, taken out, doubled or swapped."""
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(text) + 1)
        match rng.randrange(5):
            case 0:
                text = text[:at] + rng.choice(FRAGMENTS) + text[at:]
            case 1:
                text = text[:at] + text[at + rng.randint(1, 30) :]
            case 2:
                text = text[:at] + text[at : at + rng.randint(1, 80)] * 2 + text[at:]
            case 3:
                lines = text.split("\n")
                rng.shuffle(lines) if rng.random() < 0.2 else lines.insert(rng.randrange(len(lines)), rng.choice(lines))
                text = "\n".join(lines)
            case _:
                text = text[:at]
    return text


def mutated_value(rng: random.Random, value: Any, depth: int = 0) -> Any:
    """`value` with some leaves, keys or branches replaced by something else."""
    if rng.random() < 0.06:
        return rng.choice(VALUES)
    if isinstance(value, dict):
        changed = {name: mutated_value(rng, content, depth + 1) for name, content in value.items() if rng.random() > 0.03}
        if rng.random() < 0.08:
            changed[rng.choice(("unknown", "name", "spec", "basic", "exactly", "source", "a.b/c", "", "items"))] = rng.choice(
                VALUES
            )
        return changed
    if isinstance(value, list):
        return [mutated_value(rng, item, depth + 1) for item in value] * rng.choice((1, 1, 1, 2))
    return value


def touched(rng: random.Random, whole: dict[str, Any]) -> dict[str, Any]:
    """`whole` with changes in one field of the object, its spec or a device: what repeats elsewhere stays good."""
    value = json.loads(json.dumps(whole))
    spec = value["spec"]
    place = rng.choice([value, spec, *spec.get("devices", ()), *spec.get("sharedCounters", ())])
    name = rng.choice(list(place))
    place[name] = mutated_value(rng, place[name])
    return value


def outcome(raw: bytes, parts: SharedParts | None) -> Any:
    """The object, or all that is wrong with it."""
    try:
        return decode_bytes(raw, parts=parts)
    except DecodeError as error:
        return [(each.path, each.message, each.hint) for each in (error, *error.others)]


@pytest.mark.parametrize("whole", [SLICE, PARTITIONS, COUNTERS], ids=("plain", "partitions", "counters"))
def test_slices_that_share_parts_are_what_they_are_alone(whole: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reparto.model.parts._MAPS", 50)  # so that parts are forgotten, too
    rng = random.Random(f"shared {sorted(whole['spec'])} 1")
    parts = SharedParts()
    readable = 0
    for number in range(800):
        text = json.dumps(touched(rng, whole))
        if number % 8 == 0:  # a key twice, or a byte that is no JSON
            text = mutated_text(rng, text)
        try:
            raw = text.encode("utf-8", "surrogatepass")
        except UnicodeEncodeError:
            continue
        expected, found = outcome(raw, None), outcome(raw, parts)
        assert found == expected, raw
        readable += not isinstance(expected, list)
    assert 200 < readable < 700


def test_slices_of_the_conformance_tests_are_the_same_with_shared_parts(seed: str) -> None:
    parts = SharedParts()
    asked = 0
    for question in problems(seed, 3000, {}):
        if question["object"].get("kind") == "ResourceSlice":
            raw = json.dumps(question["object"]).encode()
            assert outcome(raw, parts) == outcome(raw, None), raw
            asked += 1
    assert asked > 300


@pytest.mark.parametrize("whole", [SLICE, PARTITIONS, COUNTERS], ids=("plain", "partitions", "counters"))
def test_a_device_that_passes_at_a_glance_passes_rule_by_rule(whole: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(f"glance {sorted(whole['spec'])} 1")
    objects: list[Any] = []
    while len(objects) < 400:
        try:
            objects.append(decode_bytes(json.dumps(touched(rng, whole)).encode()))
        except DecodeError:
            continue
    quick = [validate(each) for each in objects]
    monkeypatch.setattr(slices, "_plainly_valid", lambda *_: False)
    monkeypatch.setattr(slices, "_good_counters", lambda _: False)
    assert quick == [validate(each) for each in objects]
    assert 20 < sum(map(bool, quick)) < 380


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_mutated_text_never_breaks_the_loader(form: str, tmp_path: Path) -> None:
    import yaml

    rng = random.Random(f"text {form} 1")
    texts = [yaml.safe_dump(each, sort_keys=False) if form == "yaml" else json.dumps(each, indent=1) for each in OBJECTS]
    for _ in range(400):
        text = mutated_text(rng, "---\n".join(rng.sample(texts, 2)) if form == "yaml" else rng.choice(texts))
        timed(tmp_path, text.encode("utf-8", "surrogatepass"), f"x.{form}")


def test_mutated_values_never_break_the_loader(tmp_path: Path) -> None:
    rng = random.Random("values 1")
    for _ in range(600):
        timed(tmp_path, json.dumps(mutated_value(rng, rng.choice(OBJECTS))).encode(), "x.json")


def test_mutated_bytes_never_break_the_loader(tmp_path: Path) -> None:
    rng = random.Random("bytes 1")
    whole = json.dumps(OBJECTS[-1]).encode()
    for _ in range(200):
        content = bytearray(whole)
        for _ in range(rng.randint(1, 8)):
            content[rng.randrange(len(content))] = rng.randrange(256)
        timed(tmp_path, bytes(content), rng.choice(("x.json", "x.yaml", "x.yaml.gz")))


def test_the_path_for_big_files_survives_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(json_text, "DUPLICATES_UP_TO", 0)
    monkeypatch.setattr("reparto.model.reading.reader.DUPLICATES_UP_TO", 0)
    rng = random.Random("big 1")
    for _ in range(300):
        text = mutated_text(rng, json.dumps(rng.choice(OBJECTS), indent=rng.choice((None, 1))))
        timed(tmp_path, text.encode("utf-8", "surrogatepass"), "x.json")


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=300))
def test_any_bytes(content: bytes, tmp_path: Path) -> None:
    timed(tmp_path, content, "x.yaml")


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join))
def test_any_pile_of_yaml_syntax(content: str, tmp_path: Path) -> None:
    timed(tmp_path, content.encode("utf-8", "surrogatepass"), "x.yaml")


@settings(max_examples=200)
@given(
    text=st.lists(
        st.sampled_from([*FRAGMENTS, "a: b\n", "user@host:~$ kubectl x\n", "  ...\n", "```\n", "x: |\n"]), max_size=30
    ).map("".join)
)
def test_cleaning_a_transcript_keeps_every_line_where_it_was(text: str) -> None:
    plain, _ = cleaned(text, "x")
    assert plain.count("\n") == text.count("\n")


@settings(max_examples=200)
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
        max_leaves=20,
    )
)
def test_json_and_its_yaml_reading_agree(value: Any) -> None:
    # JSON is (nearly) YAML: strings with escapes that only JSON has are left out by writing ASCII without surrogates.
    wrapped = {"apiVersion": "v1", "kind": "C", "value": value}
    text = json.dumps(wrapped)
    if "\\ud" in text or "\\u2028" in text or "\\u2029" in text:
        return
    (from_json,) = json_text.documents(text.encode(), "x")
    (from_yaml,) = yaml_text.documents(text, "x")
    assert not isinstance(from_json, Problem)
    assert not isinstance(from_yaml, Problem), from_yaml
    assert from_json.value == wrapped
    assert normal(from_yaml.value) == normal(wrapped)


def normal(value: Any) -> Any:
    """Numbers as both readers must agree on them: whole floats are integers in YAML, and beyond 64 bits integers are floats."""
    if isinstance(value, dict):
        return {name: normal(content) for name, content in value.items()}
    if isinstance(value, list):
        return [normal(item) for item in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
