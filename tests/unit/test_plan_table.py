"""What `reparto plan` shows to a person: one line a device, one line a pending pod, reasons in full on request."""

import pytest

from reparto.cli.rendering.pods import brief, pod_table
from reparto.cli.rendering.reasons import reasons_text
from reparto.model.core import ContainerExtendedResourceRequest, PodExtendedResourceClaimStatus
from reparto.model.v1 import AllocationResult, DeviceAllocationResult, DeviceRequestAllocationResult
from reparto.placement.plan import ClaimPlan, Count, NodeScore, PodPlan, Reason
from unit.placement_objects import gpus

BUSY = Reason("RPT103", "ResourceClaim/ml/c", "spec.devices", "on 3 of 5 nodes: in use", "wait", (Count("nodes", 3, 5, 3),))
TAINT = Reason("RPT302", "Pod/ml/p", "spec.tolerations", "on 2 of 5 nodes: tainted", "tolerate it")


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")


def allocation(*devices: str) -> AllocationResult:
    results = [DeviceRequestAllocationResult(request="gpu", driver="gpu.test", pool="n", device=each) for each in devices]
    return AllocationResult(devices=DeviceAllocationResult(results=results))


def lines(*pods: PodPlan, wide: bool = False, namespaces: bool = False, width: int | None = None) -> list[str]:
    return pod_table(pods, [gpus("n", 2)], namespaces=namespaces, wide=wide, width=width).splitlines()


def test_a_pod_has_a_line_for_each_of_its_devices():
    pod = PodPlan("ml", "p", "placed", "n", claims=(ClaimPlan("ml", "p-c", "c", allocation("gpu-0", "gpu-1")),))
    assert [line.split() for line in lines(pod)[1:]] == [
        ["p", "n", "c/gpu", "gpu-0", "placed"],
        ["p", "n", "c/gpu", "gpu-1", "placed"],
    ]


def test_a_pending_pod_has_one_line_however_many_reasons_it_has():
    text = lines(PodPlan("ml", "p", "pending", reasons=(BUSY, TAINT)))
    assert len(text) == 2
    assert text[1].endswith("pending RPT103: on 3 of 5 nodes: in use; and 1 more reason (--reasons)")


def test_a_pending_pod_does_not_look_as_if_it_got_what_one_of_its_claims_has():
    claims = (ClaimPlan("ml", "shared", "c", allocation("gpu-0")),)
    text = "\n".join(lines(PodPlan("ml", "p", "pending", claims=claims, reasons=(BUSY,))))
    assert "gpu-0" not in text


def test_a_waiting_pod_shows_its_devices_and_what_it_waits_for_once():
    claims = (ClaimPlan("ml", "p-c", "c", allocation("gpu-0", "gpu-1")),)
    text = lines(PodPlan("ml", "p", "waiting", "n", claims=claims, reasons=(BUSY,)))
    assert [line.split()[3] for line in text[1:]] == ["gpu-0", "gpu-1"]
    assert sum("RPT103" in line for line in text) == 1


def test_a_namespace_column_is_added_on_request():
    assert lines(PodPlan("ml", "p", "pending"), namespaces=True)[0].split()[0] == "NAMESPACE"


def test_without_pods_there_is_no_table():
    assert lines() == []


def test_wide_names_claim_driver_and_pool():
    pod = PodPlan("ml", "p", "placed", "n", claims=(ClaimPlan("ml", "p-c-x", "c", allocation("gpu-0")),))
    assert lines(pod, wide=True)[1].split() == ["p", "n", "p-c-x", "c/gpu", "gpu-0", "gpu.test", "n", "-", "-", "placed"]


def test_wide_has_the_scores_of_the_best_nodes():
    scores = (NodeScore("n", 371), NodeScore("m", 371), NodeScore("o", 290))
    pod = PodPlan("ml", "p", "placed", "n", claims=(ClaimPlan("ml", "p-c-x", "c", allocation("gpu-0")),), scores=scores)
    assert "371 (m: 371, o: 290)" in lines(pod, wide=True)[1]
    assert "371" not in lines(pod)[1]


def test_a_device_for_an_extended_resource_is_shown_under_its_resource():
    mapping = ContainerExtendedResourceRequest(container_name="c", resource_name="nvidia.com/gpu", request_name="gpu")
    status = PodExtendedResourceClaimStatus(request_mappings=(mapping,), resource_claim_name="x")
    claims = (ClaimPlan("ml", "x", "", allocation("gpu-0")),)
    pod = PodPlan("ml", "p", "placed", "n", claims=claims, extended_resource_claim_status=status)
    assert lines(pod)[1].split() == ["p", "n", "nvidia.com/gpu", "gpu-0", "placed"]


def test_at_80_columns_the_reason_is_wrapped_below_the_pod():
    reason = Reason(
        "RPT103", "", "", "on 3 of 5 nodes: gpu/gpu: the matching devices are in use, held by default/train-0-gpu-abcde"
    )
    text = lines(PodPlan("ml", "p", "pending", reasons=(reason,)), width=80)
    assert len(text) == 4
    assert all(line.startswith("    ") for line in text[2:])
    assert max(map(len, text)) <= 80


def test_brief_counts_the_other_reasons():
    assert brief(()) == ""
    assert brief((BUSY,)) == "RPT103: on 3 of 5 nodes: in use"
    assert brief((BUSY, TAINT, TAINT)).endswith("; and 2 more reasons (--reasons)")


def test_reasons_in_full_say_field_counts_nodes_and_what_to_do():
    reason = Reason(
        "RPT103",
        "ResourceClaimTemplate/ml/t",
        "spec.spec.devices.requests[0].exactly",
        "on 12 of 20 nodes: in use",
        "wait",
        (Count("devices free", 3, 96, 12), Count("nodes", 12, 20, 12)),
        ("n-01", "n-02"),
    )
    assert reasons_text([PodPlan("ml", "p", "pending", reasons=(reason,)), PodPlan("ml", "ok", "placed")], None) == (
        "ml/p: pending\n"
        "  RPT103: on 12 of 20 nodes: in use\n"
        "    field: ResourceClaimTemplate/ml/t spec.spec.devices.requests[0].exactly\n"
        "    devices free: 3 of 96, on 12 nodes together\n"
        "    nodes: n-01, n-02 and 10 more\n"
        "    to do: wait\n"
    )
