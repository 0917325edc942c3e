"""A real kube-apiserver 1.37.2 with real slices, classes, claims and workloads, read by the commands as a user runs them."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from conformance.control_plane import ControlPlane, control_plane
from reparto.kube.client import Client
from reparto.kube.discovery import Served
from reparto.kube.kubeconfig import connection
from reparto.kube.listing import objects
from reparto.model.errors import Problem
from reparto.model.given import Given
from reparto.model.intake import read_inputs
from reparto.model.reading import Document, read

pytestmark = pytest.mark.reference

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "a100-efa"
GPU = "gpu.nvidia.com"


class Run:
    """One run of the command line, as a user sees it."""

    def __init__(self, *arguments: str | Path, **environment: str) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "reparto.cli.main", *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"PYTHONPATH": str(ROOT / "src")} | environment,
        )
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr
        assert "Traceback" not in self.err, self.err

    @property
    def answer(self) -> dict[str, Any]:
        return json.loads(self.out)


def values(*paths: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for entry in read(list(map(str, paths))):
        assert not isinstance(entry, Problem)
        if isinstance(entry, Document):
            found.append(entry.value)
    return found


def untrimmed(obj: dict[str, Any]) -> dict[str, Any]:
    """`obj` with the uids and times that published dumps leave out and a server insists on."""
    status = obj.get("status") or {}
    for index, reference in enumerate([*obj["metadata"].get("ownerReferences", []), *status.get("reservedFor", [])]):
        reference.setdefault("uid", f"00000000-0000-4000-8000-{index:012d}")
    for device in status.get("devices", []):
        for condition in device.get("conditions", []):
            condition.setdefault("lastTransitionTime", "2026-01-01T00:00:00Z")
    return obj


def node(name: str, **labels: str) -> dict[str, Any]:
    room = {"cpu": "96", "memory": "1000Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}},
        "status": {"capacity": room, "allocatable": room, "conditions": [{"type": "Ready", "status": "True"}]},
    }


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory, samples: Path) -> Iterator[ControlPlane]:
    """The example a100-efa in namespace default, and everything of the published samples in theirs."""
    with control_plane(tmp_path_factory.mktemp("control-plane")) as running:
        created: set[tuple[str, str, str]] = set()
        objects = [*values(EXAMPLE), *values(*sorted(path for path in samples.iterdir() if path.is_dir()))]
        names = {obj["spec"]["nodeName"] for obj in objects if obj["kind"] == "ResourceSlice" and obj["spec"].get("nodeName")}
        there = {obj["metadata"]["name"] for obj in objects if obj["kind"] == "Node"}
        spaces = {obj["metadata"].get("namespace", "default") for obj in objects} - {"default"}  # one sample names one it lacks
        first = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in sorted(spaces)]
        for obj in [*first, *(node(name) for name in sorted(names - there)), *objects]:
            identity = (obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
            if obj["kind"] != "ComputeDomain" and identity not in created:
                created.add(identity)
                running.apply(untrimmed(obj))
        yield running


def plan(*arguments: str | Path) -> dict[str, Any]:
    run = Run("plan", *arguments, "-o", "json")
    assert run.code in (0, 1), run.err
    return run.answer


def decisions(answer: dict[str, Any]) -> list[tuple[Any, ...]]:
    """What was decided, pod by pod: everything but the texts."""
    return [
        (
            *(pod["namespace"], pod["name"], pod["verdict"], pod["node"]),
            [(claim["name"], results(claim)) for claim in pod["claims"]],
            [reason["code"] for reason in pod["reasons"]],
        )
        for pod in answer["pods"]
    ]


def results(claim: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    devices = (claim["allocation"] or {}).get("devices", {}).get("results", [])
    return [(result["request"], result["driver"], result["pool"], result["device"]) for result in devices]


def verdicts(answer: dict[str, Any], namespace: str) -> list[tuple[str, list[str]]]:
    return [
        (pod["verdict"], [reason["code"] for reason in pod["reasons"]])
        for pod in answer["pods"]
        if pod["namespace"] == namespace and not pod["hypothetical"]
    ]


@pytest.fixture(scope="module")
def admin(cluster: ControlPlane) -> Path:
    return cluster.kubeconfig()


@pytest.fixture(scope="module")
def live(admin: Path) -> dict[str, Any]:
    """The plan for the whole cluster."""
    return plan("--kubeconfig", admin, "-A")


# --- plan ------------------------------------------------------------------------------------------------------------------------


def test_pods_that_a_cluster_holds_get_its_devices(live: dict[str, Any]):
    held = [
        (pod["namespace"], pod["name"], pod["node"], results(claim))
        for pod in live["pods"]
        for claim in pod["claims"]
        if pod["namespace"] in ("gpu-test1", "gpu-test3") and pod["verdict"] == "placed"
    ]
    assert [(namespace, name) for namespace, name, *_ in held] == [
        ("gpu-test1", "pod1"),
        ("gpu-test1", "pod2"),
        ("gpu-test3", "pod1"),
        ("gpu-test3", "pod2"),
    ]
    devices = [(driver, pool, device) for *_, found in held for _, driver, pool, device in found]
    assert {driver for driver, *_ in devices} == {GPU}
    assert len(set(devices)) == 3  # both pods of gpu-test3 share one claim


def test_deployments_of_a_cluster_without_controllers_are_expanded(live: dict[str, Any]):
    assert len(verdicts(live, "gpu-test4")) == 4
    assert len(verdicts(live, "imex-test1")) == 8


def test_a_class_that_a_cluster_lacks_is_not_made_up_for(live: dict[str, Any]):
    """From files alone mig.nvidia.com is taken to be the class that NVIDIA's driver ships; of a cluster, all classes are known."""
    for namespace in ("gpu-test4", "imex-test1"):
        assert {(verdict, *codes) for verdict, codes in verdicts(live, namespace)} <= {
            ("pending", *["RPT101"] * count) for count in (1, 4)
        }
    assert not [note for note in live["notes"] if note["code"] == "RPT502"]


def test_without_a_namespace_the_contexts_is_shown_and_that_is_said(cluster: ControlPlane):
    answer = plan("--kubeconfig", cluster.kubeconfig(namespace="gpu-test1"))
    assert {pod["namespace"] for pod in answer["pods"]} == {"gpu-test1"}
    assert [note["message"] for note in answer["notes"] if note["code"] == "RPT523"] == [
        "only namespace gpu-test1 is shown; -A shows all, -n another one"
    ]
    cluster.kubeconfig()


def test_the_environment_names_the_cluster_as_for_kubectl(admin: Path, live: dict[str, Any]):
    run = Run("plan", "-A", "-o", "json", KUBECONFIG=str(admin))
    assert decisions(run.answer) == decisions(live)


def test_files_are_what_would_be_applied(admin: Path, tmp_path: Path, live: dict[str, Any]):
    held = {result[1:] for pod in live["pods"] for claim in pod["claims"] if not pod["hypothetical"] for result in results(claim)}
    template = {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": GPU}}]}}}
    claim = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": {"name": "new"}, "spec": template}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "new"},
        "spec": {
            "containers": [{"name": "c", "image": "x", "resources": {"claims": [{"name": "gpu"}]}}],
            "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "new"}],
        },
    }
    (tmp_path / "new.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [claim, pod]}))
    answer = plan("--kubeconfig", admin, "-f", tmp_path / "new.json")
    assert decisions(answer)[: len(live["pods"])] != []
    (new,) = [pod for pod in answer["pods"] if pod["name"] == "new"]
    assert (new["namespace"], new["verdict"]) == ("default", "placed")
    assert {result[1:] for claim in new["claims"] for result in results(claim)}.isdisjoint(held)
    assert {pod["name"] for pod in live["pods"]} <= {pod["name"] for pod in answer["pods"]}


def test_a_file_that_the_server_would_refuse_as_an_update_is_refused(admin: Path, tmp_path: Path, samples: Path):
    (claim,) = [value for value in values(samples / "azure-aks-gb300" / "resource-claim.yaml") if value["kind"] == "ResourceClaim"]
    claim["spec"]["devices"]["requests"][0]["exactly"]["count"] = 2
    (tmp_path / "claim.json").write_text(json.dumps(claim))
    run = Run("validate", "--kubeconfig", admin, "-f", tmp_path / "claim.json", "-o", "json")
    assert run.code == 2
    assert [(error["path"], error["type"], error["message"]) for error in run.answer["errors"]] == [
        ("spec", "FieldValueInvalid", "field is immutable")
    ]


# --- validate, snapshot ----------------------------------------------------------------------------------------------------------


def test_a_plan_of_a_cluster_can_be_kept_as_objects(admin: Path, tmp_path: Path):
    kept = Run("plan", "--kubeconfig", admin, "-A", "-o", "yaml")
    (tmp_path / "placed.yaml").write_text(kept.out)
    again = plan("-f", tmp_path / "placed.yaml")
    bound = {(pod["namespace"], pod["name"]) for pod in again["pods"] if pod["verdict"] == "bound" and not pod["hypothetical"]}
    assert {("default", "notebook-0"), ("gpu-test1", "pod1"), ("gpu-test3", "pod2")} <= bound


def test_what_a_server_stores_is_valid(admin: Path, samples: Path):
    run = Run("validate", "--kubeconfig", admin, "-A", "-o", "json")
    assert run.code == 0, run.out
    assert run.answer["errors"] == []
    stored = values(EXAMPLE, *sorted(path for path in samples.iterdir() if path.is_dir()))
    for kind in ("ResourceSlice", "ResourceClaim", "ResourceClaimTemplate", "Pod", "Deployment"):
        expected = {(obj["metadata"].get("namespace", "default"), obj["metadata"]["name"]) for obj in stored if obj["kind"] == kind}
        assert len([row for row in run.answer["objects"] if row["kind"] == kind]) == len(expected)
    assert {row["file"] for row in run.answer["objects"]} == {"cluster/admin"}


@pytest.mark.parametrize("name", ["cluster.json", "cluster.json.gz", "cluster.yaml"])
def test_a_snapshot_gives_the_plan_of_the_cluster(admin: Path, tmp_path: Path, live: dict[str, Any], name: str):
    saved = Run("snapshot", "--kubeconfig", admin, "-o", tmp_path / name)
    assert (saved.code, saved.err) == (0, "")
    assert saved.out.startswith(f"saved {tmp_path / name} of Kubernetes v1.37.2: ")
    again = plan("-f", tmp_path / name)
    assert decisions(again) == decisions(live)
    assert again["notes"] == live["notes"]


def test_a_redacted_snapshot_gives_the_same_plan_but_for_names(admin: Path, tmp_path: Path, live: dict[str, Any]):
    assert Run("snapshot", "--kubeconfig", admin, "--redact", "-o", tmp_path / "less.json").code == 0
    text = (tmp_path / "less.json").read_text()
    assert not [word for word in ("gpu-test1", "imex-test1", "ec2.internal", "aks-gpu", "10.140.65") if word in text]
    less = plan("-f", tmp_path / "less.json")
    assert isomorphic(live, less) > 20


def isomorphic(one: dict[str, Any], other: dict[str, Any]) -> int:
    """How many pods are alike in both plans, names apart; fails where one is not, or where a name stands for two."""
    assert len(one["pods"]) == len(other["pods"])
    for names in ("node", "namespace"):
        pairs = {(old[names], new[names]) for old, new in zip(one["pods"], other["pods"], strict=True)}
        assert len(pairs) == len({old for old, _ in pairs}) == len({new for _, new in pairs})
    pools: set[tuple[str, str]] = set()
    for old, new in zip(one["pods"], other["pods"], strict=True):
        assert old["verdict"] == new["verdict"]
        assert [reason["code"] for reason in old["reasons"]] == [reason["code"] for reason in new["reasons"]]
        before = [result for claim in old["claims"] for result in results(claim)]
        after = [result for claim in new["claims"] for result in results(claim)]
        assert [(request, driver, device) for request, driver, _, device in before] == [
            (request, driver, device) for request, driver, _, device in after
        ]
        pools |= {(was[2], now[2]) for was, now in zip(before, after, strict=True)}
    assert len(pools) == len({was for was, _ in pools}) == len({now for _, now in pools})
    return len(one["pods"])


def test_nothing_secret_gets_into_a_snapshot(cluster: ControlPlane, tmp_path: Path):
    word = "tr0ub4dor"
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "password"}, "stringData": {"password": word}}
    container = {"name": "c", "image": "x", "env": [{"name": "PASSWORD", "value": word}], "command": ["login", word]}
    applied = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps({"env": word})}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "secretive", "namespace": "default", "annotations": applied},
        "spec": {"containers": [container], "schedulerName": "nobody"},
    }
    cluster.apply(secret)
    cluster.apply(pod)
    try:
        for options in ([], ["--redact"]):
            assert Run("snapshot", "--kubeconfig", cluster.kubeconfig(), *options, "-o", tmp_path / "s.json").code == 0
            text = (tmp_path / "s.json").read_text()
            assert word not in text
            assert "managedFields" not in text
    finally:
        cluster.request("DELETE", "/api/v1/namespaces/default/pods/secretive?gracePeriodSeconds=0")


def test_the_pages_show_what_a_cluster_answers(admin: Path, tmp_path: Path):
    transcript = re.compile(r"^\$ reparto (.*)\n((?:(?!\$ |```).*\n)*)", re.MULTILINE)
    shown = transcript.findall((ROOT / "docs" / "live-clusters.md").read_text())
    assert len(shown) == 3
    # The README's own is the only one in a `text` block: the others are of files, and checked elsewhere.
    (live,) = re.findall(r"^```text\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    shown += transcript.findall(live)
    assert len(shown) == 4
    for command, output in shown:
        arguments = [str(tmp_path / word) if word.startswith("cluster.") else word for word in command.split()]
        run = Run(*arguments, KUBECONFIG=str(admin), REPARTO_COLUMNS="100")
        printed = (run.out + run.err).replace(f"{tmp_path}/", "")
        assert printed.strip().splitlines() == output.strip().splitlines(), f"$ reparto {command}\n{printed}"


@pytest.mark.parametrize("version", ["v1beta2", "v1beta1"])
def test_an_older_version_of_the_api_gives_the_same_objects(admin: Path, version: str):
    """What a server of 1.33 would be read in; page by page, so that its tokens are used."""

    async def listed(version: str, page: int) -> list[bytes]:
        async with Client(connection(str(admin))) as client:
            kinds = {
                "resourceslices": "ResourceSlice",
                "resourceclaims": "ResourceClaim",
                "resourceclaimtemplates": "ResourceClaimTemplate",
            }
            return [
                item
                for resource, kind in kinds.items()
                for item in await objects(client, Served("resource.k8s.io", version, resource, kind, False), page=page)
            ]

    def typed(raw: list[bytes]) -> list[Any]:
        intake = read_inputs([Given("cluster/admin", tuple(raw))])
        assert not intake.errors
        return [replace(item, api_version="") for item in intake.typed()]  # pyright: ignore[reportCallIssue]

    old, new = asyncio.run(listed(version, 3)), asyncio.run(listed("v1", 500))
    assert len(new) > 20
    assert typed(old) == typed(new)


# --- who asks --------------------------------------------------------------------------------------------------------------------


def test_a_client_certificate_is_accepted(cluster: ControlPlane):
    pair = cluster.client_ca.issue_cert("jane@example.org", common_name="jane", organization_name="system:masters")
    certificate, key = cluster.folder / "jane.crt", cluster.folder / "jane.key"
    pair.cert_chain_pems[0].write_to_path(str(certificate))
    pair.private_key_pem.write_to_path(str(key))
    config = cluster.kubeconfig("jane", **{"client-certificate": certificate.name, "client-key": key.name})
    assert plan("--kubeconfig", config, "-n", "gpu-test1")["summary"]["placed"] == 2


def test_an_exec_plugin_is_asked_for_a_token(cluster: ControlPlane):
    version = "client.authentication.k8s.io/v1"
    answer = {"apiVersion": version, "kind": "ExecCredential", "status": {"token": cluster.tokens["admin"]}}
    plugin = {"apiVersion": version, "command": sys.executable, "interactiveMode": "Never"}
    plugin["args"] = ["-c", f"print({json.dumps(answer)!r})"]
    assert plan("--kubeconfig", cluster.kubeconfig("plugin", exec=plugin), "-n", "gpu-test1")["summary"]["placed"] == 2


def test_what_the_user_may_not_read_is_named_with_what_the_answer_lacks(cluster: ControlPlane):
    rule = {"apiGroups": ["resource.k8s.io"], "resources": ["resourceslices", "deviceclasses", "resourceclaims"], "verbs": ["list"]}
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": "some"}, "rules": [rule]}
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "some"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "some"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "reader"}],
    }
    cluster.apply(role)
    cluster.apply(binding)
    answer = plan("--kubeconfig", cluster.kubeconfig("reader"), "-A")
    said = [note["message"] for note in answer["notes"] if note["code"] == "RPT521"]
    assert [message for message in said if message.startswith("listing nodes is forbidden, so nodes are guessed from slices")]
    assert [message for message in said if 'User "reader" cannot list resource "pods"' in message]
    assert not [message for message in said if "resourceslices" in message]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"users": [{"name": "admin", "user": {"token": "expired"}}]}, "does not accept the credentials of user 'admin' (401)"),
        ({"clusters": [{"name": "test", "cluster": {"server": "https://127.0.0.1:1"}}]}, "connection refused"),
        ({"current-context": "gone"}, "no current context 'gone'"),
        ({"users": [{"name": "admin", "user": {"exec": {"command": "no-such", "apiVersion": "x"}}}]}, "exec plugin 'no-such'"),
    ],
)
def test_what_keeps_us_from_a_cluster_is_one_sentence(admin: Path, tmp_path: Path, change: dict[str, Any], words: str):
    (tmp_path / "config").write_text(json.dumps(json.loads(admin.read_text()) | change))
    run = Run("plan", "--kubeconfig", tmp_path / "config")
    assert (run.code, run.out) == (2, "")
    assert words in run.err
    assert len(run.err.strip().splitlines()) <= 2


def test_an_untrusted_certificate_is_one_sentence(admin: Path, tmp_path: Path):
    config = json.loads(admin.read_text())
    del config["clusters"][0]["cluster"]["certificate-authority"]
    (tmp_path / "config").write_text(json.dumps(config))
    run = Run("plan", "--kubeconfig", tmp_path / "config")
    assert run.code == 2
    assert "is not trusted" in run.err
