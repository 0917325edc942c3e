"""`reparto plan` as a program: options, exit codes, what goes to stdout and stderr, and the JSON contract `plan/v1`.

The contract is that of design.md section 3; the schema below is written from it, not from the code.
"""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from reparto.cli.main import main

CLASS = {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "any"}, "spec": {}}


def published(node: str, count: int) -> dict[str, Any]:
    devices = [{"name": f"gpu-{number}", "attributes": {"productName": {"string": "NVIDIA L4"}}} for number in range(count)]
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node}-slice"},
        "spec": {"driver": "gpu.test", "nodeName": node, "pool": pool, "devices": devices},
    }


def template(name: str, namespace: str = "ml", count: int = 1) -> dict[str, Any]:
    exactly = {"deviceClassName": "any", "allocationMode": "ExactCount", "count": count}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}},
    }


def pod(name: str, claim_template: str | None, namespace: str = "ml") -> dict[str, Any]:
    spec: dict[str, Any] = {"containers": [{"name": "c", "image": "i"}]}
    if claim_template:
        spec["resourceClaims"] = [{"name": "mine", "resourceClaimTemplateName": claim_template}]
        spec["containers"][0]["resources"] = {"claims": [{"name": "mine"}]}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace}, "spec": spec}


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    def call(*documents: dict[str, Any], options: tuple[str, ...] = ()) -> tuple[int, str, str]:
        path = tmp_path / "cluster.yaml"
        path.write_text(yaml.safe_dump_all(documents))
        with pytest.raises(SystemExit) as stop:
            main(["plan", "-f", str(path), *options])
        written = capsys.readouterr()
        assert isinstance(stop.value.code, int)
        return stop.value.code, written.out, written.err

    return call


FITS = (CLASS, published("node-1", 2), template("t"), pod("a", "t"), pod("b", "t"))
DOES_NOT_FIT = (*FITS, pod("c", "t"))


def test_everything_placed_is_exit_code_0(run):
    assert run(*FITS)[0] == 0


def test_a_pending_pod_is_exit_code_1(run):
    assert run(*DOES_NOT_FIT)[0] == 1


def test_an_unusable_object_is_exit_code_2_and_the_rest_is_planned(run):
    broken = template("broken")
    broken["spec"]["spec"]["devices"]["requests"][0]["exactly"]["count"] = -1
    code, out, err = run(*DOES_NOT_FIT, broken)
    assert code == 2
    assert "cluster.yaml:" in err and "count" in err
    assert "gpu-0 (NVIDIA L4)" in out


def test_the_table_has_one_line_for_each_device_and_each_pending_pod(run):
    _, out, _ = run(*DOES_NOT_FIT)
    lines = out.splitlines()
    assert lines[0].split() == ["POD", "NODE", "CLAIM/REQUEST", "DEVICE", "STATUS"]
    assert lines[1].split() == ["a", "node-1", "mine/gpu", "gpu-0", "(NVIDIA", "L4)", "placed"]
    assert lines[2].split()[:4] == ["b", "node-1", "mine/gpu", "gpu-1"]
    assert lines[3].startswith("c ") and "pending RPT103: on the only node: mine/gpu: " in lines[3]
    assert lines[-1] == "3 pods in namespace ml: 2 placed, 1 pending"


def test_pods_of_several_namespaces_have_a_column_for_them(run):
    _, out, _ = run(*FITS, template("t", "other"), pod("c", "t", "other"))
    lines = out.splitlines()
    assert [line.split()[0] for line in lines[:4]] == ["NAMESPACE", "ml", "ml", "other"]
    assert lines[-1] == "3 pods: 2 placed, 1 pending"


def test_a_namespace_is_shown_alone_but_all_are_planned(run):
    other = (template("t", "other"), pod("first", "t", "other"))
    _, out, _ = run(CLASS, published("node-1", 1), *other, template("t"), pod("second", "t"), options=("-n", "ml"))
    lines = out.splitlines()
    assert lines[0].split()[0] == "POD"
    assert lines[1].split()[0] == "second" and "held by other/" in lines[1]
    assert lines[-1] == "1 pod: 1 pending"


def test_pods_without_claims_are_counted_and_shown_when_asked(run):
    _, out, _ = run(*FITS, pod("plain", None))
    assert "plain" not in out
    assert "1 without claims not shown" in out
    _, wide, _ = run(*FITS, pod("plain", None), options=("-o", "wide"))
    assert "plain" in wide


def test_wide_says_where_devices_are_and_what_to_do(run):
    _, out, _ = run(*DOES_NOT_FIT, options=("-o", "wide"))
    assert "gpu.test" in out and "a-mine-" in out
    assert "hint: RPT103: " in out


def test_names(run):
    assert run(*FITS, options=("-o", "name"))[1] == "pod/ml/a\npod/ml/b\n"
    assert run(*FITS, options=("-o", "name", "-n", "ml"))[1] == "pod/a\npod/b\n"


def test_output_is_the_same_in_every_run(run):
    assert run(*DOES_NOT_FIT, options=("-o", "json")) == run(*DOES_NOT_FIT, options=("-o", "json"))


@pytest.mark.parametrize("version, said", [("1.37", False), ("1.35", True)])
def test_another_release_is_said_to_be_its_gates_only(run, version, said):
    _, out, _ = run(*FITS, options=("--kubernetes-version", version))
    assert ("the algorithm is that of 1.37.2" in out) is said


def deployment(name: str, replicas: int) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": pod("x", "t")["spec"]},
        },
    }


def test_a_workload_is_planned_as_the_pods_that_it_makes(run):
    code, out, _ = run(CLASS, published("node-1", 2), template("t"), deployment("web", 2), options=("-o", "json"))
    pods = json.loads(out)["pods"]
    assert code == 0
    assert [item["name"].startswith("web-") and item["verdict"] == "placed" for item in pods] == [True, True]


def test_replicas_can_be_tried(run):
    code, out, _ = run(
        CLASS, published("node-1", 2), template("t"), deployment("web", 1), options=("--replicas", "Deployment/web=3")
    )
    assert code == 1
    assert out.splitlines()[-1] == "3 pods in namespace ml: 2 placed, 1 pending"


@pytest.mark.parametrize("value, said", [("web", "KIND/NAME=N"), ("Deployment/wbe=3", "did you mean Deployment/web?")])
def test_replicas_of_nothing_are_a_mistake(run, value, said):
    code, _, err = run(CLASS, published("node-1", 2), template("t"), deployment("web", 1), options=("--replicas", value))
    assert code == 2
    assert said in err


def test_the_hypothetical_pods_of_a_claim_and_a_template_of_one_name_are_told_apart(run):
    claim = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "t", "namespace": "ml"}}
    spec = template("t")["spec"]["spec"]
    _, out, _ = run(CLASS, published("node-1", 2), template("t"), {**claim, "spec": spec}, options=("-o", "name"))
    assert out.split() == ["pod/ml/hypothetical-t", "pod/ml/hypothetical-template-t"]


def test_what_cannot_be_read_is_said_where_nothing_could_be_planned(run):
    code, out, _ = run({"kind": "Pod"})
    assert code == 2
    assert out == "no pods, claims or templates in the input: nothing to plan; 1 error in the input\n"


def test_names_from_files_cannot_write_to_the_terminal(run):
    _, out, err = run(*FITS, pod("web\x1b[2J", "t"))
    assert "web" in out + err and "\x1b" not in out + err


# --- the contract ---

STRING, BOOL, NUMBER = str, bool, int
CONTRACT: dict[str, dict[str, Any]] = {
    "document": {"schema": STRING, "pods": ["pod"], "errors": ["error"], "notes": ["note"], "summary": dict},
    "pod": {
        "namespace": STRING,
        "name": STRING,
        "verdict": STRING,
        "node": STRING,
        "hypothetical": BOOL,
        "schedulerName": STRING,
        "claims": ["claim"],
        "reasons": ["reason"],
        "extendedResourceClaimStatus": (dict, type(None)),
    },
    "claim": {"namespace": STRING, "name": STRING, "podClaimName": STRING, "allocation": (dict, type(None))},
    "reason": {
        "code": STRING,
        "object": STRING,
        "path": STRING,
        "message": STRING,
        "hint": STRING,
        "counts": ["count"],
    },
    "count": {"what": STRING, "matching": NUMBER, "total": NUMBER, "nodes": NUMBER},
    "note": {"code": STRING, "object": STRING, "message": STRING},
    "error": {
        "file": STRING,
        "line": NUMBER,
        "object": STRING,
        "path": STRING,
        "type": STRING,
        "value": object,
        "message": STRING,
        "hint": STRING,
    },
}


def check(value: Any, kind: str) -> None:
    fields = CONTRACT[kind]
    assert set(value) == set(fields), kind
    for name, expected in fields.items():
        if isinstance(expected, list):
            for each in value[name]:
                check(each, expected[0])
        else:
            assert isinstance(value[name], expected), (kind, name)


def test_the_json_contract(run):
    broken = template("broken")
    broken["spec"]["spec"]["devices"]["requests"][0]["exactly"]["count"] = -1
    document = json.loads(run(*DOES_NOT_FIT, broken, template("unused"), options=("-o", "json"))[1])
    check(document, "document")
    assert document["schema"] == "plan/v1"
    assert [item["name"] for item in document["pods"]] == ["a", "b", "c", "hypothetical-unused"]
    assert document["pods"][0]["claims"][0]["allocation"]["devices"]["results"] == [
        {"request": "gpu", "driver": "gpu.test", "pool": "node-1", "device": "gpu-0"}
    ]
    assert set(document["summary"]) >= {"placed", "bound", "pending", "waiting", "skipped", "invalid"}
    assert (document["summary"]["placed"], document["summary"]["pending"]) == (2, 2)
    assert [(error["object"], error["path"]) for error in document["errors"]] == [
        ("ResourceClaimTemplate/ml/broken", "spec.spec.devices.requests[0].exactly.count")
    ]


# --- the documentation ---


def test_every_option_is_documented():
    from reparto.cli.plan import plan

    page = (Path(__file__).parents[2] / "docs" / "command-line.md").read_text()
    options = {option for parameter in plan.params for option in parameter.opts if option.startswith("--")} - {"--help"}
    assert "--max-steps" in options
    short = {"--filename": "-f FILE", "--namespace": "-n NAME", "--all-namespaces": "-A", "--output": "-o table", "--verbose": "-v"}
    assert {option for option in options if f"`{short.get(option, option)}" not in page} == set()
