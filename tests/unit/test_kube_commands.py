"""The commands on a cluster: which one is read, by which release's rules, what is shown, saved and said."""

import gzip
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from reparto.cli.main import main
from reparto.cli.recorded import Gap, Origin, recorded
from unit.kube_server import Api, refusal, serving, write_kubeconfig

Run = Callable[..., tuple[int, str, str]]
RESOURCE = "resource.k8s.io/v1"
UID = "11111111-2222-4333-8444-55555555555"


@pytest.fixture
def api() -> Iterator[Api]:
    """A cluster with one node and two GPUs, and a pod that wants one, in each of the namespaces ml and web."""
    with serving(Api()) as running:
        running.put(*cluster())
        yield running


@pytest.fixture
def config(api: Api, tmp_path: Path) -> Path:
    return write_kubeconfig(tmp_path / "config", api.url, namespace="ml")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    def call(*arguments: object, **environment: str) -> tuple[int, str, str]:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return int(stop.value.code or 0), out, err

    return call


def cluster() -> list[dict[str, Any]]:
    devices = [{"name": f"gpu-{index}"} for index in range(2)]
    spec = {
        "driver": "gpu.example",
        "nodeName": "n1",
        "pool": {"name": "n1", "generation": 1, "resourceSliceCount": 1},
        "devices": devices,
    }
    requests = [{"name": "gpu", "exactly": {"deviceClassName": "gpus", "allocationMode": "ExactCount", "count": 1}}]
    room = {"cpu": "8", "memory": "8Gi", "pods": "10"}
    found = [
        made("Node", "n1", status={"capacity": room, "allocatable": room}),
        made("ResourceSlice", "n1-gpu", api_version=RESOURCE, spec=spec),
        made("DeviceClass", "gpus", api_version=RESOURCE, spec={}),
    ]
    for space in ("ml", "web"):
        found.append(made("Namespace", space, status={"phase": "Active"}))
        found.append(made("ResourceClaimTemplate", "one", space, RESOURCE, spec={"spec": {"devices": {"requests": requests}}}))
        container = {"name": "c", "image": "x", "resources": {"claims": [{"name": "gpu"}]}}
        claims = [{"name": "gpu", "resourceClaimTemplateName": "one"}]
        found.append(
            made(
                "Pod", f"{space}-0", space, spec={"containers": [container], "resourceClaims": claims}, status={"phase": "Pending"}
            )
        )
    return found


def made(kind: str, name: str, namespace: str = "", api_version: str = "v1", **rest: Any) -> dict[str, Any]:
    metadata = {"name": name, "uid": f"{UID}{len(name) % 10}", "creationTimestamp": "2026-11-30T00:00:00Z"}
    metadata |= {"namespace": namespace} if namespace else {}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **rest}


@pytest.fixture(autouse=True)
def plural(api: Api) -> None:
    """The class's plural is the one that adding an s does not make."""
    path = "/apis/resource.k8s.io/v1/deviceclasses"
    api.lists.setdefault(path, api.lists.pop("/apis/resource.k8s.io/v1/deviceclasss", []))


def answer(out: str) -> dict[str, Any]:
    return json.loads(out)


def pods(out: str) -> list[tuple[str, str, str]]:
    return [(pod["namespace"], pod["name"], pod["verdict"]) for pod in answer(out)["pods"]]


def notes(out: str, code: str) -> list[str]:
    return [note["message"] for note in answer(out)["notes"] if note["code"] == code]


BOTH = [("ml", "ml-0", "placed"), ("web", "web-0", "placed")]


# --- which cluster, what is shown ------------------------------------------------------------------------------------------------


def test_without_files_the_cluster_is_planned(run: Run, config: Path):
    code, out, _ = run("plan", "--kubeconfig", config, "-A", "-o", "json")
    assert (code, pods(out)) == (0, BOTH)


def test_the_environment_names_the_cluster(run: Run, config: Path):
    assert pods(run("plan", "-A", "-o", "json", KUBECONFIG=str(config))[1]) == BOTH


def test_the_namespace_of_the_context_is_shown_as_kubectl_would(run: Run, config: Path):
    _, out, _ = run("plan", "--kubeconfig", config, "-o", "json")
    assert pods(out) == BOTH[:1]
    assert notes(out, "RPT523") == ["only namespace ml is shown; -A shows all, -n another one"]


def test_another_namespace_is_shown_on_request(run: Run, config: Path):
    _, out, _ = run("plan", "--kubeconfig", config, "-n", "web", "-o", "json")
    assert pods(out) == BOTH[1:]
    assert notes(out, "RPT523") == []


def test_files_alone_do_not_ask_the_cluster_of_the_environment(run: Run, api: Api, config: Path, tmp_path: Path):
    (tmp_path / "f.json").write_text(json.dumps(cluster()[0]))
    assert run("plan", "-f", tmp_path / "f.json", KUBECONFIG=str(config))[0] == 0
    assert api.requests == []


def test_files_on_a_cluster_are_applied_to_it(run: Run, config: Path, tmp_path: Path):
    third = cluster()[-1]
    third["metadata"] = {"name": "third"}  # in the namespace of the context
    (tmp_path / "f.json").write_text(json.dumps(third))
    code, out, _ = run("plan", "--kubeconfig", config, "-f", tmp_path / "f.json", "-o", "json")
    assert (code, pods(out)) == (1, [*BOTH, ("ml", "third", "pending")])


def test_validate_reads_the_cluster_too(run: Run, config: Path):
    code, out, _ = run("validate", "--kubeconfig", config, "-A", "-o", "json")
    assert code == 0
    assert {row["file"] for row in answer(out)["objects"]} == {"cluster/test"}


def test_nothing_to_read_says_what_to_give(run: Run, tmp_path: Path):
    code, _, err = run("plan", KUBECONFIG=str(tmp_path / "missing"), KUBERNETES_SERVICE_HOST="")
    assert code == 2
    assert "reparto plan -f cluster.yaml" in err
    assert "--kubeconfig" in err


def test_a_class_that_the_cluster_lacks_is_not_made_up_for(run: Run, api: Api, config: Path):
    for item in api.lists["/apis/resource.k8s.io/v1/resourceclaimtemplates"]:
        item["spec"]["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"] = "gpu.nvidia.com"  # type: ignore[index]
    _, out, _ = run("plan", "--kubeconfig", config, "-A", "-o", "json")
    assert {reason["code"] for pod in answer(out)["pods"] for reason in pod["reasons"]} == {"RPT101"}
    api.forbidden = {"/apis/resource.k8s.io/v1/deviceclasses"}
    assert notes(run("plan", "--kubeconfig", config, "-A", "-o", "json")[1], "RPT502")


# --- the release -----------------------------------------------------------------------------------------------------------------


def version(minor: int) -> dict[str, str]:
    return {"gitVersion": f"v1.{minor}.3", "major": "1", "minor": str(minor)}


@pytest.mark.parametrize(("minor", "said"), [(34, False), (36, False), (37, False), (33, True), (39, True)])
def test_the_gates_are_those_of_the_servers_release(run: Run, api: Api, config: Path, minor: int, said: bool):
    api.version = version(minor)
    out = run("plan", "--kubeconfig", config, "-A", "-o", "json")[1]
    nearest = min(max(minor, 34), 37)
    assert (f"1.{nearest}" in " ".join(notes(out, "RPT504"))) == (nearest != 37)
    assert bool(notes(out, "RPT522")) == said


def test_a_release_that_is_asked_for_wins_over_the_servers(run: Run, api: Api, config: Path):
    api.version = version(39)
    out = run("plan", "--kubeconfig", config, "-A", "-o", "json", "--kubernetes-version", "1.35")[1]
    assert "1.35" in notes(out, "RPT504")[0]
    assert notes(out, "RPT522") == []


def test_gates_that_the_servers_release_does_not_have_are_refused(run: Run, api: Api, config: Path):
    api.version = version(34)
    code, _, err = run("plan", "--kubeconfig", config, "--feature-gates", "DRADerivedAttributes=true")
    assert code == 2
    assert "does not exist in Kubernetes 1.34" in err


def test_fractional_ranges_are_on_where_the_whole_cluster_is_new():
    assert Origin("v1.37.2", (1, 37), (1, 37)).rules().gates == ("DRAFractionalCapacityRange=true",)
    assert Origin("v1.37.2", (1, 37), (1, 36)).rules().gates == ()
    assert Origin("v1.36.2", (1, 36)).rules().gates == ()


# --- what cannot be read ---------------------------------------------------------------------------------------------------------


def test_a_refusal_becomes_a_note_of_the_plan(run: Run, api: Api, config: Path):
    api.forbidden = {"/api/v1/nodes"}
    code, out, _ = run("plan", "--kubeconfig", config, "-A", "-o", "json")
    assert code == 0
    assert notes(out, "RPT521")[0].startswith("listing nodes is forbidden, so nodes are guessed from slices")


def test_where_all_namespaces_are_forbidden_the_one_asked_for_is_read(run: Run, api: Api, config: Path):
    api.forbidden = {"/api/v1/pods"}
    _, out, _ = run("plan", "--kubeconfig", config, "-n", "web", "-o", "json")
    assert pods(out) == BOTH[1:]
    assert notes(out, "RPT521")[0].startswith("of pods only namespace web was read")


@pytest.mark.parametrize("command", ["plan", "validate", "snapshot"])
@pytest.mark.parametrize(
    ("url", "user", "words"),
    [
        ("http://127.0.0.1:1", {}, "cannot reach the server of context 'test'"),
        ("", {"token": "expired"}, "does not accept the credentials of user 'jane'"),
        (
            "",
            {"exec": {"command": "no-such", "apiVersion": "client.authentication.k8s.io/v1", "interactiveMode": "Never"}},
            "not installed",
        ),
        ("", {"client-certificate": "/no/such"}, ""),
    ],
)
def test_every_failure_is_one_sentence_and_exit_code_2(
    run: Run, api: Api, tmp_path: Path, command: str, url: str, user: Any, words: str
):
    api.token = "valid"
    config = write_kubeconfig(tmp_path / "config", url or api.url, user)
    options = ["-o", tmp_path / "s.json"] if command == "snapshot" else []
    code, out, err = run(command, "--kubeconfig", config, *options)
    assert (code, out) == (2, "")
    assert words in err
    assert err.startswith("Error: ")
    assert len(err.strip().splitlines()) <= 2
    assert not (tmp_path / "s.json").exists()


# --- snapshots -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["s.json", "s.yaml", "s.yml", "s.json.gz", "s.yaml.gz"])
def test_a_snapshot_gives_the_same_plan_elsewhere(run: Run, api: Api, config: Path, tmp_path: Path, name: str):
    api.version = version(36)
    api.forbidden = {"/apis/scheduling.k8s.io/v1/priorityclasses"}
    live = run("plan", "--kubeconfig", config, "-A", "-o", "json")
    code, out, err = run("snapshot", "--kubeconfig", config, "-o", tmp_path / name)
    assert code == 0
    assert out == (
        f"saved {tmp_path / name} of Kubernetes v1.36.3: 1 DeviceClass, 2 Namespaces, 1 Node, 2 Pods, 2 ResourceClaimTemplates, "
        "1 ResourceSlice\n"
    )
    assert err.startswith("not saved: listing priorityclasses.scheduling.k8s.io is forbidden")
    asked = len(api.requests)
    again = run("plan", "-f", tmp_path / name, "-o", "json")
    assert again[:2] == live[:2]
    assert len(api.requests) == asked


def test_json_has_one_object_a_line_and_yaml_can_be_read(run: Run, config: Path, tmp_path: Path):
    run("snapshot", "--kubeconfig", config, "-o", tmp_path / "s.json.gz")
    lines = gzip.decompress((tmp_path / "s.json.gz").read_bytes()).decode().splitlines()
    assert [json.loads(line.rstrip(","))["kind"] for line in lines[1:-1]][:2] == ["ResourceSlice", "DeviceClass"]
    run("snapshot", "--kubeconfig", config, "-o", tmp_path / "s.yaml")
    content = yaml.safe_load((tmp_path / "s.yaml").read_text())
    assert (content["kind"], len(content["items"])) == ("List", 9)


def test_a_snapshot_goes_to_standard_output_on_request(run: Run, config: Path):
    out = run("snapshot", "--kubeconfig", config, "-o", "-")[1]
    assert len(json.loads(out)["items"]) == 9


def test_what_belongs_to_an_older_snapshot_is_replaced_only_by_a_whole_one(run: Run, api: Api, config: Path, tmp_path: Path):
    (tmp_path / "s.json").write_text("old")
    api.scripted["/api/v1/pods"] = [refusal(400, "BadRequest", "no")]
    assert run("snapshot", "--kubeconfig", config, "-o", tmp_path / "s.json")[0] == 2
    assert (tmp_path / "s.json").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config", "s.json"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-o", "s.txt"], "does not end in .json, .yaml"),
        ([], "Missing option '-o'"),
        (["-o", "/no/such/folder/s.json"], "cannot be written: No such file"),
        (["-o", "s.json", "-f", "x", "--context", "y"], "give one of them"),
    ],
)
def test_a_snapshot_that_cannot_be_written_says_why(run: Run, config: Path, arguments: list[str], words: str):
    code, _, err = run("snapshot", *arguments, KUBECONFIG=str(config))
    assert code == 2
    assert words in err


def test_files_can_be_saved_anew_to_redact_them(run: Run, config: Path, tmp_path: Path):
    run("snapshot", "--kubeconfig", config, "-o", tmp_path / "s.yaml")
    code, out, _ = run("snapshot", "-f", tmp_path / "s.yaml", "--redact", "-o", tmp_path / "less.yaml")
    assert code == 0
    assert "of Kubernetes v1.37.2" in out
    text = (tmp_path / "less.yaml").read_text()
    assert not [word for word in ("ml-0", "web", "n1") if word in text]
    assert [pod[2] for pod in pods(run("plan", "-f", tmp_path / "less.yaml", "-o", "json")[1])] == ["placed", "placed"]


def test_files_that_cannot_be_read_are_not_saved(run: Run, tmp_path: Path):
    (tmp_path / "bad.yaml").write_text("a: [")
    code, _, err = run("snapshot", "-f", tmp_path / "bad.yaml", "-o", tmp_path / "s.json")
    assert code == 2
    assert "bad.yaml:" in err


def test_what_a_snapshot_records_is_found_and_other_files_record_nothing(tmp_path: Path):
    (tmp_path / "plain.yaml").write_text("apiVersion: v1\nkind: List\nitems: []\n")
    (tmp_path / "fake.json").write_text('{"reparto.dev/snapshot": "no"}')
    (tmp_path / "cut.gz").write_bytes(b"\x1f\x8b\x08")
    (tmp_path / "fake.yaml").write_text("reparto.dev/snapshot: [\nitems:\n")
    found = recorded([*map(str, tmp_path.iterdir()), str(tmp_path), str(tmp_path / "missing"), "-"])
    assert (found.version, found.gates, found.sources, found.stand_ins) == (None, (), (), True)


def test_a_gap_of_a_snapshot_is_a_remark_of_its_file():
    rules = Origin("v1.37.2", (1, 37), None, (Gap("pods", "listing pods is forbidden"),)).rules()
    assert [(remark.code, remark.message) for remark in rules.remarks] == [("RPT521", "listing pods is forbidden")]


# --- cost ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments", [["--help"], ["plan", "--help"], ["plan", "-f", "examples/taints", "-o", "json"], ["version"]]
)
def test_the_network_client_is_imported_only_where_a_cluster_is_read(arguments: list[str]):
    program = (
        "import sys; from reparto.cli.main import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "loaded = [name for name in sys.modules if name.partition('.')[0] in ('httpx2', 'httpcore2', 'anyio', 'ssl')]\n"
        "print(loaded, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False, cwd=Path(__file__).parents[2]
    )
    assert done.stderr.strip().splitlines()[-1] == "[]"
