"""`reparto validate`: the contract of its JSON, its exit codes, and what people see."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

GOOD = """\
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: node-1-gpu}
spec:
  driver: gpu.example.com
  nodeName: node-1
  pool: {name: node-1, generation: 1, resourceSliceCount: 1}
  devices:
  - name: gpu-0
  - name: gpu-1
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
"""
BAD = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: gpu, namespace: ml}
spec:
  devices:
    requests:
    - name: gpu
      deviceClassName: gpu.example.com
"""
TRIMMED = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata:
  name: gpu
  ownerReferences: [{apiVersion: v1, kind: Pod, name: p}]
spec: {devices: {}}
"""


def reparto(*arguments: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    import os

    return subprocess.run(
        [sys.executable, "-m", "reparto.cli.main", *arguments],
        input=stdin,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


@pytest.fixture
def good(tmp_path: Path) -> str:
    (tmp_path / "good.yaml").write_text(GOOD)
    return str(tmp_path / "good.yaml")


@pytest.fixture
def bad(tmp_path: Path) -> str:
    (tmp_path / "bad.yaml").write_text(BAD)
    return str(tmp_path / "bad.yaml")


def answer(*arguments: str, **more: Any) -> dict[str, Any]:
    run = reparto("validate", *arguments, "-o", "json", **more)
    assert run.stderr == ""
    return json.loads(run.stdout)


def test_the_json_contract(good: str, bad: str) -> None:
    found = answer("-f", good, "-f", bad)
    assert found == {
        "schema": "validate/v1",
        "files": [{"file": good, "objects": 1, "skipped": 1}, {"file": bad, "objects": 0, "skipped": 0}],
        "objects": [
            {
                "apiVersion": "resource.k8s.io/v1",
                "kind": "ResourceSlice",
                "namespace": "",
                "name": "node-1-gpu",
                "file": good,
                "line": 1,
            }
        ],
        "slices": [{"name": "node-1-gpu", "driver": "gpu.example.com", "pool": "node-1", "node": "node-1", "devices": 2}],
        "errors": found["errors"],
        "warnings": [],
    }
    (error,) = found["errors"]
    assert error.keys() == {"file", "line", "object", "path", "type", "value", "message", "hint"}
    assert (error["file"], error["line"], error["object"]) == (bad, 8, "ResourceClaim/ml/gpu")
    assert (error["path"], error["type"], error["value"]) == (
        "spec.devices.requests[0].deviceClassName",
        "Decode",
        "gpu.example.com",
    )
    assert "exactly" in error["hint"]


def test_exit_codes(good: str, bad: str) -> None:
    assert reparto("validate", "-f", good).returncode == 0
    assert reparto("validate", "-f", good, "-f", bad).returncode == 2


def test_without_files_it_says_what_to_give() -> None:
    run = reparto("validate")
    assert run.returncode == 2
    assert "-f" in run.stderr
    assert "reparto validate -f cluster.yaml" in run.stderr


def test_the_table_counts_by_file_and_errors_go_to_stderr(good: str, bad: str) -> None:
    run = reparto("validate", "-f", good, "-f", bad)
    lines = run.stdout.splitlines()
    assert lines[0].split() == ["FILE", "OBJECTS", "PASSED", "OVER", "ERRORS", "WARNINGS"]
    assert lines[1].split() == [good, "1", "1", "0", "0"]
    assert lines[2].split() == [bad, "0", "0", "1", "0"]
    assert lines[-1] == "1 error, 0 warnings; valid: 1 ResourceSlice with 2 devices"
    assert run.stderr.splitlines()[0].startswith(
        f"error: {bad}:8: ResourceClaim/ml/gpu: spec.devices.requests[0].deviceClassName: "
    )


def test_of_many_files_those_with_problems_are_shown(bad: str, tmp_path: Path) -> None:
    folder = tmp_path / "many"
    folder.mkdir()
    for number in range(60):
        (folder / f"{number}.yaml").write_text(f"apiVersion: v1\nkind: Namespace\nmetadata: {{name: n{number}}}\n")
    lines = reparto("validate", "-f", bad, "-f", str(folder)).stdout.splitlines()
    assert [line.split()[0] for line in lines[:2]] == ["FILE", bad]
    assert lines[2:] == [
        "… and 60 files without errors and warnings (-v shows them)",
        "",
        "1 error, 0 warnings; valid: 60 Namespaces",
    ]
    assert len(reparto("validate", "-v", "-f", bad, "-f", str(folder)).stdout.splitlines()) == 1 + 61 + 2


def test_wide_lists_objects_and_slices(good: str) -> None:
    run = reparto("validate", "-f", good, "-o", "wide")
    assert f"{good}:1" in run.stdout
    assert ["node-1-gpu", "gpu.example.com", "node-1", "node-1", "2"] in [line.split() for line in run.stdout.splitlines()]


def test_names(good: str) -> None:
    assert reparto("validate", "-f", good, "-o", "name").stdout == "slice/node-1-gpu\n"
    assert reparto("validate", "-f", "-", "-o", "name", stdin=TRIMMED).stdout == "claim/default/gpu\n"
    assert reparto("validate", "-f", "-", "-o", "name", "-n", "ml", stdin=TRIMMED).stdout == "claim/gpu\n"


WORKLOAD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: ml}
spec: {template: {spec: {containers: [{name: c}]}}}
---
apiVersion: v1
kind: Namespace
metadata: {name: ml}
"""


def test_workloads_count_among_the_objects_in_the_order_of_the_input() -> None:
    found = answer("-f", "-", stdin=WORKLOAD)
    assert [(row["kind"], row["namespace"], row["line"]) for row in found["objects"]] == [
        ("Deployment", "ml", 1),
        ("Namespace", "", 6),
    ]
    assert found["files"][0]["objects"] == 2
    run = reparto("validate", "-f", "-", stdin=WORKLOAD)
    assert run.stdout.splitlines()[-1] == "0 errors, 0 warnings; valid: 1 Deployment, 1 Namespace"


def test_copies_are_told_with_v(good: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy.yaml"
    copy.write_text(GOOD)
    run = reparto("validate", "-f", good, "-f", str(copy), "-v")
    assert run.returncode == 0
    assert "note: read more than once and counted once: 1 identical copy\n" in run.stdout


def test_what_a_gate_drops_is_said_with_its_line() -> None:
    run = reparto(
        "validate", "-f", "-", stdin=GOOD.replace("  nodeName: node-1", "  nodeName: node-1\n  partitionTypeAttribute: a.b/c")
    )
    assert run.returncode == 0
    (note,) = [line for line in run.stdout.splitlines() if line.startswith("note: ")]
    assert note.startswith(
        "note: <stdin>:7: ResourceSlice/node-1-gpu: dropped, because feature gate DRAPartitionableDevicesType is off: "
    )


def test_a_file_of_other_kinds_only_is_told_so() -> None:
    run = reparto("validate", "-f", "-", stdin="apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    assert run.stdout.splitlines()[-1] == "0 errors, 0 warnings; valid: no object of a kind that Reparto reads"


@pytest.mark.parametrize("output", ["json", "yaml"])
def test_no_character_is_lost_for_programs_on_a_terminal_of_few(output: str) -> None:
    import yaml

    text = "apiVersion: v1\nkind: Namespace\nmetadata: {name: ñandú-名}\n"
    run = reparto("validate", "-f", "-", "-o", output, stdin=text, PYTHONIOENCODING="utf-8")
    narrow = reparto("validate", "-f", "-", "-o", output, stdin=text, PYTHONIOENCODING="ascii")
    assert yaml.safe_load(narrow.stdout)["errors"][0]["value"] == "ñandú-名"
    assert yaml.safe_load(narrow.stdout) == yaml.safe_load(run.stdout)


def test_yaml_says_the_same_as_json(good: str) -> None:
    import yaml

    run = reparto("validate", "-f", good, "-o", "yaml")
    assert yaml.safe_load(run.stdout) == answer("-f", good)


def test_other_kinds_are_named_with_v_only(good: str) -> None:
    assert "ConfigMap" not in reparto("validate", "-f", good).stdout
    assert "1 ConfigMap" in reparto("validate", "-f", good, "-v").stdout


def test_a_trimmed_dump_passes_unless_strict(tmp_path: Path) -> None:
    file = tmp_path / "trimmed.yaml"
    file.write_text(TRIMMED)
    lenient = reparto("validate", "-f", str(file))
    assert lenient.returncode == 0
    assert f"warning: {file}:5: ResourceClaim/default/gpu: metadata.ownerReferences[0].uid: missing" in lenient.stderr
    strict = reparto("validate", "-f", str(file), "--strict")
    assert strict.returncode == 2
    assert f"error: {file}:5: ResourceClaim/default/gpu: metadata.ownerReferences[0].uid: " in strict.stderr


def test_selectors_are_compiled(tmp_path: Path) -> None:
    file = tmp_path / "class.yaml"
    head = "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: x}\n"
    file.write_text(head + "spec:\n  selectors:\n  - cel:\n      expression: device.nothing\n")
    run = reparto("validate", "-f", str(file))
    assert run.returncode == 2
    assert f"{file}:7" in run.stderr
    assert "undefined field 'nothing'" in run.stderr


def test_standard_input_is_called_that() -> None:
    run = reparto("validate", "-f", "-", stdin=BAD)
    assert run.returncode == 2
    assert run.stderr.startswith("error: <stdin>:8: ")


def test_the_namespace_given_is_that_of_objects_without_one() -> None:
    found = answer("-f", "-", "-n", "ml", stdin=TRIMMED)
    assert [row["namespace"] for row in found["objects"]] == ["ml"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-n", "a", "-A"], "contradict"),
        (["-n", "Not A Name"], "no namespace name"),
        (["--kubernetes-version", "1.20"], "1.34"),
        (["--feature-gates", "DRAConsumableCapacit=true"], "DRAConsumableCapacity"),
        (["--feature-gates", "DRAConsumableCapacity"], "=true"),
        (["-o", "xml"], "json"),
        (["--nonsense"], "No such option"),
    ],
)
def test_wrong_options_are_explained(arguments: list[str], says: str, good: str) -> None:
    run = reparto("validate", "-f", good, *arguments)
    assert run.returncode == 2
    assert says in run.stderr
    assert "Traceback" not in run.stderr


def test_colour_only_on_a_terminal(bad: str) -> None:
    run = reparto("validate", "-f", bad)
    assert "\x1b" not in run.stdout + run.stderr


def test_control_characters_of_input_do_not_reach_the_terminal() -> None:
    named = json.dumps({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "x\x1b[2J\ny"}, "spec": {}})
    run = reparto("validate", "-f", "-", stdin=named)
    assert run.returncode == 2
    assert "\x1b" not in run.stdout + run.stderr


def test_names_and_encodings_that_cannot_be_written_are_replaced(tmp_path: Path) -> None:
    import os

    file = os.path.join(os.fsencode(tmp_path), b"caf\xe9.yaml")
    with open(file, "w") as stream:
        stream.write(GOOD.replace("node-1-gpu", "é"))
    for output in ("json", "table"):
        run = reparto("validate", "-f", os.fsdecode(file), "-o", output, PYTHONIOENCODING="ascii")
        assert run.returncode == 2
        assert "caf?.yaml" in run.stdout + run.stderr or "caf\\ufffd.yaml" in run.stdout
        assert "internal error" not in run.stderr


def test_help_has_examples() -> None:
    for command in ("plan", "validate", "version", "completion"):
        run = reparto(command, "--help")
        assert (run.returncode, run.stderr) == (0, "")
        assert "Examples:" in run.stdout


def test_every_sample_is_valid(pytestconfig: pytest.Config) -> None:
    samples = pytestconfig.rootpath.parent / "shared" / "data" / "samples"
    if not samples.is_dir():
        pytest.skip("the samples do not lie beside this checkout")
    for folder in sorted(path for path in samples.iterdir() if path.is_dir()):
        found = answer("-f", str(folder))
        assert found["errors"] == [], folder
        assert found["objects"]
