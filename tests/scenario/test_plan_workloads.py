"""`reparto plan` on workloads: the quick start's Deployments, against slices that fit them, and what a person does with replicas.

The Deployments lie beside the checkout (`../shared/data/samples/nvidia-quickstart`). The slices are made here, as that version of
the driver publishes them (gpu-landscape.md 2.2); which devices the pods get was worked out by hand.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from reparto.cli.main import main

NVIDIA = Path(__file__).parents[2].parent / "shared" / "data" / "samples" / "nvidia-quickstart"

# The layout of one A100 with 40 GB that the quick start's gpu-test4 wants, of the eight memory slices that the card has:
# profile, its id, first slice, number of slices (mig-profiles.yaml).
LAYOUT = [("1g.5gb", 19, 0, 1), ("1g.5gb", 19, 1, 1), ("2g.10gb", 14, 2, 2), ("3g.20gb", 9, 4, 4)]


@pytest.fixture
def plan(capsys, tmp_path):
    def run(*inputs: Path | dict[str, Any], options: tuple[str, ...] = (), exit_code: int) -> dict[str, Any]:
        arguments: list[str] = []
        for number, value in enumerate(inputs):
            path = value
            if isinstance(value, dict):
                path = tmp_path / f"{number}.json"
                path.write_text(json.dumps(value))
            arguments += ["-f", str(path)]
        with pytest.raises(SystemExit) as stop:
            main(["plan", *arguments, "-o", "json", *options])
        written = capsys.readouterr()
        assert stop.value.code == exit_code, written.out + written.err
        return json.loads(written.out)

    return run


def pods(answer: dict[str, Any]) -> list[dict[str, Any]]:
    return [pod for pod in answer["pods"] if not pod["hypothetical"]]


def devices(pod: dict[str, Any]) -> list[str]:
    allocations = [claim["allocation"] for claim in pod["claims"] if claim["allocation"]]
    return [result["device"] for allocation in allocations for result in allocation["devices"]["results"]]


def published(devices: list[dict[str, Any]], *, version: str = "v1") -> dict[str, Any]:
    return {
        "apiVersion": f"resource.k8s.io/{version}",
        "kind": "ResourceSlice",
        "metadata": {"name": "node-1-gpu.nvidia.com"},
        "spec": {
            "driver": "gpu.nvidia.com",
            "nodeName": "node-1",
            "pool": {"name": "node-1", "generation": 1, "resourceSliceCount": 1},
            "devices": devices,
        },
    }


def mig_devices(cards: int) -> list[dict[str, Any]]:
    """Static partitions: all small ones first, so that first fit alone would mix the cards."""
    found = [
        {
            "name": f"gpu-{card}-mig-{profile.replace('.', '')}-{number}-{start}",
            "attributes": {
                "type": {"string": "mig"},
                "profile": {"string": profile},
                "parentUUID": {"string": f"GPU-{card}"},
                "productName": {"string": "NVIDIA A100-SXM4-40GB"},
            },
            "capacity": {f"memorySlice{each}": {"value": "1"} for each in range(start, start + slices)},
        }
        for card in range(cards)
        for profile, number, start, slices in LAYOUT
    ]
    return sorted(found, key=lambda device: device["attributes"]["profile"]["string"])


def whole_cards(count: int, *, indexed: bool) -> list[dict[str, Any]]:
    """Eight A100 as v1beta1 has them; driver 25.3 published `index` and `minor`, 25.8 no longer."""
    return [
        {
            "name": f"gpu-{number}",
            "basic": {
                "attributes": {
                    "type": {"string": "gpu"},
                    "uuid": {"string": f"GPU-{number}"},
                    "productName": {"string": "NVIDIA A100-SXM4-40GB"},
                    **({"index": {"int": number}, "minor": {"int": number}} if indexed else {}),
                },
                "capacity": {"memory": {"value": "40Gi"}},
            },
        }
        for number in range(count)
    ]


@pytest.mark.samples
@pytest.mark.usefixtures("samples")
class TestQuickStart:
    def test_test4_four_pods_have_four_mig_devices_of_one_parent_each(self, plan):
        # Each pod: requests 1g, 1g, 2g, 3g, all with one parentUUID. First fit gives the n-th pod the n-th card.
        answer = plan(published(mig_devices(4)), NVIDIA / "gpu-test4.yaml", exit_code=0)
        assert [devices(pod) for pod in pods(answer)] == [
            [f"gpu-{card}-mig-{each}" for each in ("1g5gb-19-0", "1g5gb-19-1", "2g10gb-14-2", "3g20gb-9-4")] for card in range(4)
        ]
        assert [pod["verdict"] for pod in pods(answer)] == ["placed"] * 4
        assert len({pod["name"] for pod in pods(answer)}) == 4
        assert all(pod["name"].startswith("pod-") and pod["namespace"] == "gpu-test4" for pod in pods(answer))

    def test_test4_on_three_cards_leaves_one_pod_pending(self, plan):
        answer = plan(published(mig_devices(3)), NVIDIA / "gpu-test4.yaml", exit_code=1)
        assert [pod["verdict"] for pod in pods(answer)] == ["placed"] * 3 + ["pending"]

    def test_test6_four_pods_have_the_even_cards_of_driver_25_3(self, plan):
        answer = plan(published(whole_cards(8, indexed=True), version="v1beta1"), NVIDIA / "gpu-test6.yaml", exit_code=0)
        assert [devices(pod) for pod in pods(answer)] == [["gpu-0"], ["gpu-2"], ["gpu-4"], ["gpu-6"]]

    def test_test6_fails_with_a_cel_error_where_slices_have_no_index(self, plan):
        answer = plan(published(whole_cards(8, indexed=False), version="v1beta1"), NVIDIA / "gpu-test6.yaml", exit_code=1)
        assert [pod["verdict"] for pod in pods(answer)] == ["pending"] * 4
        for pod in pods(answer):
            (reason,) = pod["reasons"]
            assert reason["code"] == "RPT114"
            assert "no such key: index" in reason["message"]

    def test_imex_test1_stays_pending_for_no_driver_ships_the_class(self, plan):
        answer = plan(published(whole_cards(8, indexed=True), version="v1beta1"), NVIDIA / "imex-test1.yaml", exit_code=1)
        assert [pod["name"].rsplit("-", 2)[0] for pod in pods(answer)] == [
            f"deployment{number}" for number in (0, 0, 1, 1, 2, 2, 3, 3)
        ]
        for pod in pods(answer):
            assert pod["verdict"] == "pending"
            assert [reason["code"] for reason in pod["reasons"]] == ["RPT101"]
            assert "imex.nvidia.com" in pod["reasons"][0]["message"]

    def test_replicas_can_be_tried_out(self, plan):
        inputs = (published(mig_devices(4)), NVIDIA / "gpu-test4.yaml")
        answer = plan(*inputs, options=("--replicas", "Deployment/pod=6"), exit_code=1)
        assert [pod["verdict"] for pod in pods(answer)] == ["placed"] * 4 + ["pending"] * 2


TEMPLATE = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaimTemplate",
    "metadata": {"name": "one-gpu", "namespace": "ml"},
    "spec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]}}},
}


def with_gpu(api_version: str, kind: str, name: str, spec: dict[str, Any]) -> dict[str, Any]:
    pod = {
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one-gpu"}],
        "containers": [{"name": "c", "resources": {"claims": [{"name": "gpu"}]}}],
    }
    template = {"metadata": {"labels": {"app": name}}, "spec": pod}
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {"selector": {"matchLabels": {"app": name}}, "template": template, **spec},
    }


def test_pods_of_several_workloads_share_the_cards_in_the_order_of_the_input(plan):
    # Five cards: the StatefulSet's two pods come first, then the Job's two that run at once, then one of the Deployment's two.
    job = with_gpu("batch/v1", "Job", "train", {"completions": 5, "parallelism": 2})
    del job["spec"]["selector"]
    answer = plan(
        published(whole_cards(5, indexed=True), version="v1beta1"),
        TEMPLATE,
        with_gpu("apps/v1", "StatefulSet", "db", {"replicas": 2, "serviceName": "db"}),
        job,
        with_gpu("apps/v1", "Deployment", "web", {"replicas": 2}),
        exit_code=1,
    )
    assert [(pod["name"].partition("-")[0], devices(pod)) for pod in pods(answer)] == [
        ("db", ["gpu-0"]),
        ("db", ["gpu-1"]),
        ("train", ["gpu-2"]),
        ("train", ["gpu-3"]),
        ("web", ["gpu-4"]),
        ("web", []),
    ]


def test_a_workload_that_cannot_be_read_is_an_error_with_its_place(plan):
    answer = plan(
        published(whole_cards(1, indexed=True), version="v1beta1"),
        TEMPLATE,
        with_gpu("apps/v1", "Deployment", "web", {"replicas": "two"}),
        exit_code=2,
    )
    (error,) = answer["errors"]
    assert (error["object"], error["path"], error["value"]) == ("Deployment/ml/web", "spec.replicas", "two")
    assert error["file"].endswith("2.json")


def test_what_was_assumed_is_noted(plan):
    answer = plan(
        published(whole_cards(2, indexed=True), version="v1beta1"),
        TEMPLATE,
        with_gpu("apps/v1", "Deployment", "web", {"replicas": "{{ .Values.replicas }}"}),
        exit_code=0,
    )
    assert len(pods(answer)) == 1
    assert [note["message"] for note in answer["notes"] if note["code"] == "RPT513"] == [
        "Deployment ml/web: spec.replicas is '{{ .Values.replicas }}', which only rendering tells: 1 was assumed"
    ]
