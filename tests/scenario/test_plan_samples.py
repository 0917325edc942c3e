"""`reparto plan` on real files, as published: what real drivers put into slices, and what their users claim.

The files lie beside the checkout (`../shared/data/samples`); in CI they must. Every expected device was worked out by hand from the
slices; the working stands above each test. Devices are taken in the order in which a slice lists them (first fit).
"""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from reparto.cli.main import main

SAMPLES = Path(__file__).parents[2].parent / "shared" / "data" / "samples"
EKS, GB300 = SAMPLES / "aws-eks-a100-efa", SAMPLES / "azure-aks-gb300"
GB200, NVIDIA = SAMPLES / "oci-oke-gb200", SAMPLES / "nvidia-quickstart"

pytestmark = [pytest.mark.samples, pytest.mark.usefixtures("samples")]


@pytest.fixture
def plan(capsys):
    def run(*paths: Path, exit_code: int) -> dict[str, Any]:
        arguments = [option for path in paths for option in ("-f", str(path))]
        with pytest.raises(SystemExit) as stop:
            main(["plan", *arguments, "-o", "json"])
        written = capsys.readouterr()
        assert stop.value.code == exit_code, written.out + written.err
        return json.loads(written.out)

    return run


def pods(answer: dict[str, Any], *, hypothetical: bool = False) -> list[dict[str, Any]]:
    return [pod for pod in answer["pods"] if pod["hypothetical"] is hypothetical]


def devices(pod: dict[str, Any]) -> list[str]:
    allocations = [claim["allocation"] for claim in pod["claims"] if claim["allocation"]]
    return [result["device"] for allocation in allocations for result in allocation["devices"]["results"]]


def named(answer: dict[str, Any], name: str) -> dict[str, Any]:
    (pod,) = (pod for pod in answer["pods"] if pod["name"] == name)
    return pod


def codes(pod: dict[str, Any]) -> list[str]:
    return [reason["code"] for reason in pod["reasons"]]


def write_pods(folder: Path, template: str, count: int) -> Path:
    """A file of `count` pods, worker-0 …, each with a claim of its own from `template`."""
    documents = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"worker-{number}", "namespace": "default"},
            "spec": {
                "resourceClaims": [{"name": "gpu-efa", "resourceClaimTemplateName": template}],
                "containers": [{"name": "nccl", "image": "nccl-tests", "resources": {"claims": [{"name": "gpu-efa"}]}}],
            },
        }
        for number in range(count)
    ]
    path = folder / "pods.yaml"
    path.write_text(yaml.safe_dump_all(documents))
    return path


# --- EKS: a p4d node ---
#
# PCIe root    GPUs          EFA card            ENA card (another product, which class efa.networking.k8s.aws excludes)
# pci0000:10   gpu-0, gpu-1  pci-0000-10-1b-0
# pci0000:20   gpu-2, gpu-3  pci-0000-20-1b-0    pci-0000-20-01-0
# pci0000:90   gpu-4, gpu-5  pci-0000-90-1b-0    pci-0000-90-01-0
# pci0000:a0   gpu-6, gpu-7  pci-0000-a0-1b-0    pci-0000-a0-01-0
#
# So there are four EFA cards for eight GPUs: four claims fit, aligned or not.

EKS_PARTS = ("resourceslice-gpu.yaml", "resourceslice-dranet.yaml", "device-class.yaml", "resource-claim-template.yaml")
ALIGNED = [
    ["gpu-0", "pci-0000-10-1b-0"],
    ["gpu-2", "pci-0000-20-1b-0"],  # gpu-1 is on root 10, whose card is taken
    ["gpu-4", "pci-0000-90-1b-0"],  # gpu-1 and gpu-3 likewise
    ["gpu-6", "pci-0000-a0-1b-0"],
]
UNALIGNED = [
    ["gpu-0", "pci-0000-10-1b-0"],
    ["gpu-1", "pci-0000-20-1b-0"],  # crosses from root 10 to root 20
    ["gpu-2", "pci-0000-90-1b-0"],
    ["gpu-3", "pci-0000-a0-1b-0"],
]


@pytest.mark.parametrize("template, expected", [("gpu-efa-aligned", ALIGNED), ("gpu-efa-unaligned", UNALIGNED)])
def test_eks_of_eight_claims_four_fit(plan, tmp_path, template, expected):
    answer = plan(*(EKS / part for part in EKS_PARTS), write_pods(tmp_path, template, 8), exit_code=1)
    workers = pods(answer)
    assert [pod["verdict"] for pod in workers] == ["placed"] * 4 + ["pending"] * 4
    assert [devices(pod) for pod in workers[:4]] == expected
    assert {pod["node"] for pod in workers[:4]} == {"ip-192-168-153-160.ec2.internal"}
    assert all(codes(pod) for pod in workers[4:])


@pytest.mark.parametrize("template, expected", [("gpu-efa-aligned", ALIGNED[:3]), ("gpu-efa-unaligned", UNALIGNED[:3])])
def test_eks_with_the_shipped_allocated_claim_three_more_fit(plan, tmp_path, template, expected):
    # The shipped claim holds gpu-6 and the card of root a0. Neither is given out again.
    answer = plan(EKS, write_pods(tmp_path, template, 8), exit_code=1)
    workers = pods(answer)
    assert [devices(pod) for pod in workers] == [*expected, [], [], [], [], []]
    holder = named(answer, "hypothetical-nccl-test-dra-worker-0-gpu-efa-example")
    assert (holder["verdict"], devices(holder)) == ("bound", ["gpu-6", "pci-0000-a0-1b-0"])


def test_eks_the_folder_alone_plans_each_template_by_itself(plan):
    answer = plan(EKS, exit_code=0)
    assert [(pod["name"], pod["verdict"]) for pod in answer["pods"]] == [
        ("hypothetical-nccl-test-dra-worker-0-gpu-efa-example", "bound"),
        ("hypothetical-gpu-efa-aligned", "placed"),
        ("hypothetical-gpu-efa-unaligned", "placed"),
    ]
    # Each sees the shipped claim, neither sees the other.
    assert [devices(pod) for pod in answer["pods"][1:]] == [["gpu-0", "pci-0000-10-1b-0"]] * 2
    assert {note["code"] for note in answer["notes"]} >= {
        "RPT501",
        "RPT502",
    }  # no nodes, no class gpu.nvidia.com


# --- Azure: a GB300 node ---
#
# The claim asks for the GPU on PCI bus 0008:06:00.0 (gpu-0) and the NIC whose rdmaDevice is mlx5_2 (pci-0103-00-00-0), and was
# allocated just these.


def unallocated_gb300_claim(folder: Path) -> tuple[Path, list[str]]:
    claim = yaml.safe_load((GB300 / "resource-claim.yaml").read_text())
    shipped = [result["device"] for result in claim.pop("status")["allocation"]["devices"]["results"]]
    path = folder / "claim.yaml"
    path.write_text(yaml.safe_dump(claim))
    return path, shipped


GB300_SLICES = (GB300 / "resourceslice-gpu.yaml", GB300 / "resourceslice-dranet.yaml")
GB300_CONSUMER = "hypothetical-nccl-test-dra-worker-0-gpu-nic-sbmhc"


def test_gb300_the_shipped_spec_gets_the_shipped_devices(plan, tmp_path):
    claim, shipped = unallocated_gb300_claim(tmp_path)
    pod = named(plan(*GB300_SLICES, claim, GB200 / "deviceclass.yaml", exit_code=0), GB300_CONSUMER)
    assert (pod["verdict"], pod["node"]) == ("placed", "aks-gpu-45139532-vmss000081")
    assert devices(pod) == shipped == ["gpu-0", "pci-0103-00-00-0"]


def test_gb300_without_its_class_the_claim_is_pending_for_that_reason(plan, tmp_path):
    # dranet ships no class; people write their own, and this folder lacks it.
    claim, _ = unallocated_gb300_claim(tmp_path)
    pod = named(plan(*GB300_SLICES, claim, exit_code=1), GB300_CONSUMER)
    assert (pod["verdict"], codes(pod)) == ("pending", ["RPT101"])
    (reason,) = pod["reasons"]
    assert "dranet.net" in reason["message"]
    assert reason["path"] == "spec.devices.requests[1].exactly.deviceClassName"


# --- Oracle: a GB200 node ---
#
# gpu-0 is the GPU on PCI bus 0008:06:00.0, on NUMA node 0. RDMA NICs of NUMA 0, in order: pci-0000-03-00-0, pci-0000-03-00-1,
# pci-0002-03-00-0, pci-0002-03-00-1; of NUMA 1: pci-0010-03-00-0, pci-0010-03-00-1, pci-0012-03-00-0, pci-0012-03-00-1.

NUMA_0 = ["pci-0000-03-00-0", "pci-0000-03-00-1", "pci-0002-03-00-0", "pci-0002-03-00-1"]
NUMA_1 = ["pci-0010-03-00-0", "pci-0010-03-00-1", "pci-0012-03-00-0", "pci-0012-03-00-1"]


@pytest.mark.parametrize(
    "template, expected",
    [
        ("1nic-aligned", ["gpu-0", NUMA_0[0]]),
        ("1nic-unaligned", ["gpu-0", NUMA_1[0]]),
        ("2nic-aligned", ["gpu-0", *NUMA_0[:2]]),
        ("4nic-aligned", ["gpu-0", *NUMA_0]),
        ("4gpu-8nic", ["gpu-0", "gpu-1", "gpu-2", "gpu-3", *NUMA_0, *NUMA_1]),
    ],
)
def test_gb200_templates_get_nics_of_the_numa_node_they_ask_for(plan, template, expected):
    pod = named(plan(GB200, exit_code=0), f"hypothetical-{template}")
    assert (pod["verdict"], pod["node"], devices(pod)) == ("placed", "10.140.65.248", expected)


# --- NVIDIA's quick start ---
#
# The files bring no slices. The test makes one node with four GPUs and two GPUs that are bound to vfio-pci. The objects count; some
# comments in the files describe something else.


@pytest.fixture
def cluster(tmp_path) -> Path:
    def device(name: str, kind: str) -> dict[str, Any]:
        attributes = {"type": {"string": kind}, "productName": {"string": "NVIDIA H100 80GB HBM3"}}
        return {"name": name, "attributes": attributes, "capacity": {"memory": {"value": "81559Mi"}}}

    published = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "node-1-gpu.nvidia.com-abcde"},
        "spec": {
            "driver": "gpu.nvidia.com",
            "nodeName": "node-1",
            "pool": {"name": "node-1", "generation": 1, "resourceSliceCount": 1},
            "devices": [
                *(device(f"gpu-{number}", "gpu") for number in range(4)),
                *(device(f"gpu-vfio-{number}", "vfio") for number in range(2)),
            ],
        },
    }
    path = tmp_path / "slices.yaml"
    path.write_text(yaml.safe_dump(published))
    return path


def got(answer: dict[str, Any]) -> dict[str, list[str]]:
    assert {pod["verdict"] for pod in pods(answer)} == {"placed"}
    return {pod["name"]: devices(pod) for pod in pods(answer)}


def test_quickstart_test1_two_pods_have_a_gpu_each(plan, cluster):
    assert got(plan(cluster, NVIDIA / "gpu-test1.yaml", exit_code=0)) == {"pod1": ["gpu-0"], "pod2": ["gpu-1"]}


def test_quickstart_test2_two_containers_share_one_gpu(plan, cluster):
    assert got(plan(cluster, NVIDIA / "gpu-test2.yaml", exit_code=0)) == {"pod": ["gpu-0"]}


def test_quickstart_mps_two_containers_share_one_gpu(plan, cluster):
    answer = plan(cluster, NVIDIA / "gpu-test-mps.yaml", exit_code=0)
    assert got(answer) == {"test-pod": ["gpu-0"]}
    (config,) = pods(answer)[0]["claims"][0]["allocation"]["devices"]["config"]
    assert config["source"] == "FromClaim"
    assert config["opaque"]["parameters"]["sharing"]["strategy"] == "MPS"


def test_quickstart_test3_two_pods_share_one_gpu(plan, cluster):
    assert got(plan(cluster, NVIDIA / "gpu-test3.yaml", exit_code=0)) == {"pod1": ["gpu-0"], "pod2": ["gpu-0"]}


def test_quickstart_test5_four_containers_share_two_gpus(plan, cluster):
    answer = plan(cluster, NVIDIA / "gpu-test5.yaml", exit_code=0)
    assert got(answer) == {"pod0": ["gpu-0", "gpu-1"]}
    allocation = pods(answer)[0]["claims"][0]["allocation"]["devices"]
    assert [result["request"] for result in allocation["results"]] == ["ts-gpu", "mps-gpu"]
    assert [config["requests"] for config in allocation["config"]] == [["ts-gpu"], ["mps-gpu"]]


def test_quickstart_vfiopci_the_pod_has_a_vfio_device(plan, cluster):
    assert got(plan(cluster, NVIDIA / "gpu-test-vfiopci.yaml", exit_code=0)) == {"pod1": ["gpu-vfio-0"]}


def test_quickstart_vfio_config_is_pending_for_its_template_is_in_another_namespace(plan, cluster):
    # The template is in gpu-test-vfio, the pod in gpu-test-vfiopci.
    answer = plan(cluster, NVIDIA / "gpu-test-vfio-config.yaml", exit_code=1)
    (pod,) = pods(answer)
    assert (pod["name"], pod["verdict"], codes(pod)) == ("pod1-full-vfioconfig", "pending", ["RPT202"])
    assert "gpu-test-vfio, the pod in gpu-test-vfiopci" in pod["reasons"][0]["message"]
    assert devices(named(answer, "hypothetical-single-gpu-full-vfioconfig")) == ["gpu-vfio-0"]
