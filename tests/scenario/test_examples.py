"""Every folder of examples/ gets the plan that was worked out by hand, device by device, in the comments of this file.

Devices are tried in the order of their pools, slices and places in the slice, and the first combination that satisfies everything
is taken (upstream-dra.md, section 3.5); pods come in the order of the files; each sees what the former took.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reparto.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
GPU = "gpu.nvidia.com"

Devices = list[tuple[str, str]]


class Planned:
    """The answer of `reparto plan -o json`, looked at by pod."""

    def __init__(self, status: int, document: dict[str, Any]) -> None:
        self.status, self.document = status, document
        self.pods: dict[str, dict[str, Any]] = {pod["name"]: pod for pod in document["pods"]}

    def node(self, pod: str) -> str:
        assert self.pods[pod]["verdict"] == "placed"
        return self.pods[pod]["node"]

    def results(self, pod: str) -> list[dict[str, Any]]:
        assert self.pods[pod]["verdict"] == "placed", self.pods[pod]["reasons"]
        return [result for claim in self.pods[pod]["claims"] for result in claim["allocation"]["devices"]["results"]]

    def devices(self, pod: str) -> Devices:
        """(request, device) in the order of the allocation."""
        return [(result["request"], result["device"]) for result in self.results(pod)]

    def codes(self, pod: str) -> set[str]:
        assert self.pods[pod]["verdict"] == "pending"
        assert not any(claim["allocation"] for claim in self.pods[pod]["claims"])
        return {reason["code"] for reason in self.pods[pod]["reasons"]}

    def counts(self, pod: str, code: str) -> list[tuple[int, int, int]]:
        """(matching, total, nodes) of the reasons with this code."""
        reasons = [reason for reason in self.pods[pod]["reasons"] if reason["code"] == code]
        return [(count["matching"], count["total"], count["nodes"]) for reason in reasons for count in reason["counts"]]


class Planner:
    """Runs `reparto plan` on files and folders."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture

    def __call__(self, *sources: Path) -> Planned:
        arguments = [argument for source in sources for argument in ("-f", str(source))]
        with pytest.raises(SystemExit) as stopped:
            main(["plan", *arguments, "-o", "json"])
        output = self._capture.readouterr().out
        assert isinstance(stopped.value.code, int)
        return Planned(stopped.value.code, json.loads(output))


@pytest.fixture
def plan(capsys: pytest.CaptureFixture[str]) -> Planner:
    return Planner(capsys)


def test_a100_efa_strands_the_card_whose_root_has_no_gpu_left(plan: Planner) -> None:
    planned = plan(EXAMPLES / "a100-efa")
    # Roots 10, 20, 90, a0 hold gpu-0/1, gpu-2/3, gpu-4/5, gpu-6/7 and one EFA card each. The notebooks take the first two GPUs.
    assert planned.devices("notebook-0") == [("gpu", "gpu-0")]
    assert planned.devices("notebook-1") == [("gpu", "gpu-1")]
    # Aligned: the first free GPU whose root has a free card. One card a root, so every pod moves on to the next root.
    assert planned.devices("train-aligned-0") == [("gpu", "gpu-2"), ("efa", "pci-0000-20-1b-0")]
    assert planned.devices("train-aligned-1") == [("gpu", "gpu-4"), ("efa", "pci-0000-90-1b-0")]
    assert planned.devices("train-aligned-2") == [("gpu", "gpu-6"), ("efa", "pci-0000-a0-1b-0")]
    # gpu-3, 5 and 7 are free and so is the card of root 10, but they share no root.
    assert planned.codes("train-aligned-3") == {"RPT109"}
    assert "pcieRoot" in planned.pods["train-aligned-3"]["reasons"][0]["message"]
    # Without the constraint exactly these go together.
    assert planned.devices("train-unaligned-0") == [("gpu", "gpu-3"), ("efa", "pci-0000-10-1b-0")]
    assert planned.status == 1
    assert planned.document["summary"]["placed"] == 6
    assert planned.document["summary"]["pending"] == 1


PODS = """
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec:
  containers:
  - {{name: main, image: example.com/train, resources: {{claims: [{{name: claim}}]}}}}
  resourceClaims:
  - {{name: claim, resourceClaimTemplateName: {template}}}
"""


def copies(folder: Path, template: str, number: int) -> Path:
    """A file with so many pods that use the template."""
    path = folder / f"{template}.yaml"
    path.write_text("---".join(PODS.format(name=f"{template}-{index}", template=template) for index in range(number)))
    return path


def test_of_eight_aligned_pods_four_fit_on_an_a100_node_each_with_the_card_of_its_root(plan: Planner, tmp_path: Path) -> None:
    pods = copies(tmp_path, "gpu-efa-aligned", 8)
    planned = plan(EXAMPLES / "a100-efa" / "1-cluster.yaml", EXAMPLES / "a100-efa" / "2-templates.yaml", pods)
    # One EFA card a root and two GPUs: the first GPU of each root gets it, the second has nothing left to align with.
    assert [planned.devices(f"gpu-efa-aligned-{index}") for index in range(4)] == [
        [("gpu", "gpu-0"), ("efa", "pci-0000-10-1b-0")],
        [("gpu", "gpu-2"), ("efa", "pci-0000-20-1b-0")],
        [("gpu", "gpu-4"), ("efa", "pci-0000-90-1b-0")],
        [("gpu", "gpu-6"), ("efa", "pci-0000-a0-1b-0")],
    ]
    # The ENA cards match no request; with the four EFA cards gone the fifth pod stops there, before any constraint.
    for index in range(4, 8):
        assert planned.codes(f"gpu-efa-aligned-{index}") == {"RPT103"}


def test_of_eight_unaligned_pods_four_fit_and_the_second_crosses_roots(plan: Planner, tmp_path: Path) -> None:
    pods = copies(tmp_path, "gpu-efa-unaligned", 8)
    planned = plan(EXAMPLES / "a100-efa" / "1-cluster.yaml", EXAMPLES / "a100-efa" / "2-templates.yaml", pods)
    # First GPU, first card: the second pod has gpu-1 of root 10 and the card of root 20.
    assert [planned.devices(f"gpu-efa-unaligned-{index}") for index in range(4)] == [
        [("gpu", "gpu-0"), ("efa", "pci-0000-10-1b-0")],
        [("gpu", "gpu-1"), ("efa", "pci-0000-20-1b-0")],
        [("gpu", "gpu-2"), ("efa", "pci-0000-90-1b-0")],
        [("gpu", "gpu-3"), ("efa", "pci-0000-a0-1b-0")],
    ]
    for index in range(4, 8):
        assert planned.codes(f"gpu-efa-unaligned-{index}") == {"RPT103"}


def test_gb300_rdma_aligns_by_numa_node_because_its_cards_publish_no_root(plan: Planner) -> None:
    planned = plan(EXAMPLES / "gb300-rdma")
    # mlx5_0 and mlx5_1 (0101, 0102) are of NUMA node 0, mlx5_2 and mlx5_3 (0103, 0104) of node 1.
    assert planned.devices("near") == [("gpu", "gpu-0"), ("nic", "pci-0101-00-00-0")]
    assert planned.devices("far") == [("gpu", "gpu-1"), ("nic", "pci-0103-00-00-0"), ("nic", "pci-0104-00-00-0")]
    # gpu-2, gpu-3 and pci-0102 are free, but a card without a pcieRoot can match nothing.
    assert planned.codes("copied") == {"RPT109"}
    assert planned.codes("no-class") == {"RPT101"}
    assert "rdma.dra.net" in planned.pods["no-class"]["reasons"][0]["message"]
    assert planned.status == 1


def test_gb200_numa_waits_for_its_numa_node_while_other_ports_are_idle(plan: Planner) -> None:
    planned = plan(EXAMPLES / "gb200-numa")
    # NUMA node 0: cards 0000 and 0002 with two ports each; node 1: cards 0010 and 0012.
    assert planned.devices("greedy") == [
        ("gpu", "gpu-0"),
        ("nic", "pci-0000-03-00-0"),
        ("nic", "pci-0000-03-00-1"),
        ("nic", "pci-0002-03-00-0"),
        ("nic", "pci-0002-03-00-1"),
    ]
    assert planned.devices("modest") == [("gpu", "gpu-1"), ("nic", "pci-0010-03-00-0")]
    # All four ports that match are greedy's.
    assert planned.codes("late") == {"RPT103"}
    # Of card 0010 one port is left; 0012-0 is on another card, so the two differ in pcieRoot.
    assert planned.devices("redundant") == [("gpu", "gpu-3"), ("nic", "pci-0010-03-00-1"), ("nic", "pci-0012-03-00-0")]
    assert planned.status == 1


def test_an_80gi_threshold_matches_no_h100_and_80g_does(plan: Planner) -> None:
    planned = plan(EXAMPLES / "h100-80gi-trap")
    # 81559Mi = 85,520,809,984 bytes; 80Gi = 85,899,345,920; 80G = 80,000,000,000; 79Gi = 84,825,604,096.
    assert planned.codes("binary") == {"RPT102"}
    assert (0, 4, 1) in planned.counts("binary", "RPT102")  # none of the four devices of the one node
    assert planned.devices("decimal") == [("gpu", "gpu-0")]
    assert planned.devices("rounded-down") == [("gpu", "gpu-1")]
    assert planned.status == 1


def test_mig_partitions_fit_where_their_memory_slices_are_free(plan: Planner) -> None:
    planned = plan(EXAMPLES / "mig-partitions")
    # On gpu-0 a 3g at slices 0-3 leaves no room for the 4g, which starts at 0 only; the constraint forbids gpu-1: 3g moves to 4-7.
    # 60 + 64 of 132 multiprocessors, 2 x 40448Mi of 81152Mi, 3 + 4 of 7 decoders: the other counters suffice.
    assert planned.devices("pair") == [("small", "gpu-0-mig-3g40gb-9-4"), ("large", "gpu-0-mig-4g40gb-5-0")]
    assert planned.devices("three") == [("mig", "gpu-1-mig-3g40gb-9-0")]
    # gpu-1 has slices 4-7 and 72 multiprocessors left, and still no 4g: its slices 0-3 are taken.
    assert planned.codes("four") == {"RPT107"}
    # 1g at 0..3 collide with the 3g; 4 is the first place that does not.
    assert planned.devices("one") == [("mig", "gpu-1-mig-1g10gb-19-4")]
    # Neither GPU is itself allocated, but both are cut up.
    assert planned.codes("whole") == {"RPT107"}
    assert planned.status == 1


def test_first_available_takes_the_best_alternative_that_is_left(plan: Planner) -> None:
    planned = plan(EXAMPLES / "firstavailable")
    assert (planned.node("llm-0"), planned.devices("llm-0")) == ("gpu-a", [("gpu/h100", "gpu-0")])
    assert (planned.node("llm-1"), planned.devices("llm-1")) == ("gpu-b", [("gpu/l40s", "gpu-0"), ("gpu/l40s", "gpu-1")])
    assert (planned.node("llm-2"), planned.devices("llm-2")) == ("gpu-b", [("gpu/l40s", "gpu-2"), ("gpu/l40s", "gpu-3")])
    # On gpu-a the H100 is in use and there is no L40S, on gpu-b all four L40S are in use and there is no H100.
    assert "RPT103" in planned.codes("llm-3")
    assert planned.status == 1


def test_shared_capacity_is_handed_out_in_steps_until_the_card_is_full(plan: Planner) -> None:
    planned = plan(EXAMPLES / "shared-capacity")
    # 46068Mi: 24576Mi and 16384Mi leave 5108Mi. 8Gi = 8192Mi do not fit; 4G = 3814.7Mi take 3815 steps of 1Mi.
    consumed = {pod: planned.results(pod)[0]["consumedCapacity"] for pod in ("big", "medium", "rounded")}
    assert consumed == {"big": {"memory": "24Gi"}, "medium": {"memory": "16Gi"}, "rounded": {"memory": "3815Mi"}}
    assert all(planned.devices(pod) == [("gpu", "gpu-0")] for pod in consumed)
    assert len({planned.results(pod)[0]["shareID"] for pod in consumed}) == 3
    assert planned.codes("too-much") == {"RPT108"}
    # The default of the policy is all of the card, of which 1293Mi are left.
    assert planned.codes("greedy") == {"RPT108"}
    assert planned.status == 1


def test_tainted_devices_are_for_those_who_tolerate_the_taint(plan: Planner) -> None:
    planned = plan(EXAMPLES / "taints")
    # gpu-0 is tainted by its driver, gpu-1 by a DeviceTaintRule.
    assert planned.devices("train-0") == [("gpu", "gpu-2")]
    assert "RPT104" in planned.codes("train-1")
    assert planned.devices("diagnose") == [("gpu", "gpu-0")]
    assert planned.results("diagnose")[0]["tolerations"] == [
        {"effect": "NoSchedule", "key": "gpu.nvidia.com/xid", "operator": "Exists"}
    ]
    assert planned.status == 1


def test_every_folder_of_examples_is_told_about_here() -> None:
    told = Path(__file__).read_text()
    folders = {path.name for path in EXAMPLES.iterdir() if path.is_dir() and path.name != "broken"}
    assert {folder for folder in folders if f'EXAMPLES / "{folder}"' not in told} == set()


@pytest.mark.parametrize("folder", sorted(path.name for path in EXAMPLES.iterdir() if path.is_dir() and path.name != "broken"))
def test_an_example_has_no_errors_and_says_in_its_first_line_what_it_shows(plan: Planner, folder: str) -> None:
    first = min((EXAMPLES / folder).glob("*.yaml"))
    assert first.read_text().startswith("# ")
    assert plan(EXAMPLES / folder).document["errors"] == []


def mappings(planned: Planned, pod: str) -> list[tuple[str, str, str]]:
    """(container, resource, request) of the claim that serves a pod's extended resources."""
    status = planned.pods[pod]["extendedResourceClaimStatus"]
    assert status["resourceClaimName"] == planned.pods[pod]["claims"][-1]["name"]
    return [(item["containerName"], item["resourceName"], item["requestName"]) for item in status["requestMappings"]]


def test_pods_written_for_device_plugins_run_there_or_get_a_claim_where_dra_is(plan: Planner) -> None:
    planned = plan(EXAMPLES / "extended-resource")
    # The plugin has 3 GPUs. legacy takes 2 of them, and no claim is needed.
    assert planned.node("legacy") == "plugin-a"
    assert planned.pods["legacy"]["claims"] == []
    # train asks for 2, of which the plugin has 1 left. Its containers count from the init containers: the trainer is number 1, and
    # of its requests (cpu, nvidia.com/gpu) the GPU is number 1. The warm-up is over before the trainer starts and uses its request.
    assert planned.node("train") == "dra-b"
    assert planned.devices("train") == [("container-1-request-1", "gpu-0"), ("container-1-request-1", "gpu-1")]
    assert mappings(planned, "train") == [
        ("trainer", "nvidia.com/gpu", "container-1-request-1"),
        ("warm-up", "nvidia.com/gpu", "container-1-request-1"),
    ]
    # No kubelet reports the implicit name of a class, so it is DRA's on every node; only dra-b has devices of the class.
    assert planned.devices("notebook") == [("container-0-request-0", "gpu-2")]
    assert mappings(planned, "notebook") == [("main", "deviceclass.resource.kubernetes.io/gpu.nvidia.com", "container-0-request-0")]


def test_a_pod_with_a_claim_of_its_own_cannot_use_the_device_plugin_and_blocks_what_it_claimed(plan: Planner) -> None:
    planned = plan(EXAMPLES / "extended-resource")
    pod = planned.pods["gpu-and-nic"]
    assert (pod["verdict"], [reason["code"] for reason in pod["reasons"]]) == ("pending", ["RPT411"])
    # The network card was written into the claim before binding failed.
    assert [result["device"] for claim in pod["claims"] for result in claim["allocation"]["devices"]["results"]] == ["nic-0"]


def test_a_quota_on_devices_counts_claims_that_the_scheduler_makes_and_all_as_32(plan: Planner) -> None:
    planned = plan(EXAMPLES / "extended-resource")
    # Three of six GPUs are taken; team b may have one, whatever is left.
    assert planned.devices("first") == [("container-0-request-0", "gpu-3")]
    assert planned.codes("second") == {"RPT212"}
    assert planned.codes("greedy") == {"RPT212"}
    refused = planned.pods["greedy"]["reasons"][0]
    assert refused["object"] == "ResourceQuota/team-b/gpus"
    assert "32 more, 0 of 1 used" in refused["message"]
    assert planned.document["summary"]["placed"] == 4
    assert planned.document["summary"]["pending"] == 3


BROKEN = {
    # (file, path, type), as Kubernetes 1.37.2 answers (asked through reference/validation).
    # Decoding errors have no type of their own.
    ("1-flat-request.yaml", "spec.spec.devices.requests[0].deviceClassName", "Decode"),
    ("1-flat-request.yaml", "spec.spec.devices.requests[0].count", "Decode"),
    ("2-selectors.yaml", "spec.selectors[0].cel.expression", "FieldValueInvalid"),
    ("2-selectors.yaml", "spec.selectors[1].cel.expression", "FieldValueInvalid"),
    ("2-selectors.yaml", "spec.selectors[2].cel.expression", "FieldValueInvalid"),
    ("3-slice.yaml", "spec.pool.resourceSliceCount", "FieldValueInvalid"),
    ("3-slice.yaml", "spec.devices[0].name", "FieldValueInvalid"),
    ("3-slice.yaml", "spec.devices[0].attributes[driverVersion].version", "FieldValueInvalid"),
    ("3-slice.yaml", "spec.devices[0].attributes[model]", "FieldValueInvalid"),
    ("3-slice.yaml", "spec.devices[0].capacity[memory].requestPolicy", "FieldValueForbidden"),
    ("4-claims.yaml", "spec.devices.requests[0].exactly.count", "FieldValueInvalid"),
    ("4-claims.yaml", "spec.devices.requests[1]", "FieldValueDuplicate"),
    ("4-claims.yaml", "spec.devices.constraints[0].requests[1]", "FieldValueInvalid"),
    ("4-claims.yaml", "spec.devices.constraints[0].matchAttribute", "FieldValueInvalid"),
}


def test_broken_manifests_get_the_errors_of_the_api_server_with_file_and_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["validate", "-f", str(EXAMPLES / "broken"), "-o", "json"])
    assert stopped.value.code == 2
    errors = json.loads(capsys.readouterr().out)["errors"]
    found = {(Path(error["file"]).name, error["path"], error["type"]) for error in errors}
    assert found >= BROKEN
    assert {error for error in found - BROKEN if error[0] != "5-invented.yaml"} == set()
    assert all(error["line"] for error in errors)


@pytest.mark.parametrize(
    ("start", "hint"),
    [
        ("ResourceClass", "DeviceClass"),
        ("ResourceClaim", "deviceClassName"),
        ("Pod", "resourceClaimTemplateName"),
    ],
)
def test_an_invented_object_is_refused_with_the_modern_field(capsys: pytest.CaptureFixture[str], start: str, hint: str) -> None:
    with pytest.raises(SystemExit):
        main(["validate", "-f", str(EXAMPLES / "broken" / "5-invented.yaml"), "-o", "json"])
    errors = json.loads(capsys.readouterr().out)["errors"]
    texts = [f"{error['message']} {error['hint']}" for error in errors if error["object"].split("/")[0] == start]
    assert texts
    assert any(hint in text for text in texts)
