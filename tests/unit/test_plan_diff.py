"""What changed between two plans: one change a pod, the worst first."""

import json
from pathlib import Path

import pytest

from reparto.cli.plan_diff import NoPlan, difference, saved_plan
from reparto.model.v1 import AllocationResult, DeviceAllocationResult, DeviceRequestAllocationResult
from reparto.placement.plan import ClaimPlan, PodPlan, Reason, Verdict


def pod(name: str, verdict: Verdict, node: str = "", *devices: str) -> PodPlan:
    results = [DeviceRequestAllocationResult(request="r", driver="d", pool="p", device=each) for each in devices]
    allocation = AllocationResult(devices=DeviceAllocationResult(results=results)) if devices else None
    return PodPlan("ns", name, verdict, node, claims=(ClaimPlan("ns", f"{name}-c", "c", allocation),))


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        (pod("a", "placed", "n1", "g0"), pod("a", "bound", "n1", "g0"), None),
        (pod("a", "placed", "n1", "g0", "g1"), pod("a", "placed", "n1", "g1", "g0"), None),
        (pod("a", "pending"), pod("a", "pending"), None),
        (pod("a", "placed", "n1", "g0"), pod("a", "placed", "n2", "g0"), "moved"),
        (pod("a", "placed", "n1", "g0"), pod("a", "placed", "n1", "g1"), "devices"),
        (pod("a", "bound", "n1", "g0"), pod("a", "pending"), "pending"),
        (pod("a", "placed", "n1", "g0"), pod("a", "waiting", "n1", "g0"), "pending"),
        (pod("a", "pending"), pod("a", "placed", "n1", "g0"), "placed"),
        (pod("a", "bound", "n1", "g0"), pod("a", "skipped", "n1"), "other"),
        (pod("a", "waiting"), pod("a", "pending"), "other"),
        (None, pod("a", "pending"), "new"),
        (pod("a", "bound", "n1"), None, "gone"),
    ],
)
def test_each_way_of_changing(old: PodPlan | None, new: PodPlan | None, change: str | None):
    found = difference([old] if old else [], [new] if new else [])
    assert [each.change for each in found.changes] == ([change] if change else [])
    assert found.unchanged == (0 if change else 1)


def test_the_worst_comes_first():
    old = [pod("a", "placed", "n1"), pod("b", "placed", "n1"), pod("gone", "placed", "n1")]
    new = [pod("new", "placed", "n1"), pod("a", "placed", "n2"), pod("b", "pending")]
    assert [(each.name, each.change) for each in difference(old, new).changes] == [
        ("b", "pending"),
        ("a", "moved"),
        ("new", "new"),
        ("gone", "gone"),
    ]


def test_exit_codes_are_those_of_diff():
    assert difference([], []).exit_code() == 0
    assert difference([], [pod("a", "placed", "n")]).exit_code() == 1


def write(path: Path, content: object) -> str:
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))
    return str(path)


def test_a_saved_plan_is_read_back(tmp_path: Path):
    reason = {"code": "RPT101", "object": "", "path": "", "message": "no", "hint": "", "counts": []}
    saved = {
        "namespace": "ns",
        "name": "a",
        "verdict": "pending",
        "node": "",
        "hypothetical": False,
        "schedulerName": "default-scheduler",
        "claims": [{"namespace": "ns", "name": "c", "podClaimName": "c", "allocation": None}],
        "reasons": [reason],
    }
    found = saved_plan(write(tmp_path / "p.json", {"schema": "plan/v1", "pods": [saved], "errors": [], "notes": [], "summary": {}}))
    assert found is not None
    assert (found.pods[0].name, found.pods[0].verdict) == ("a", "pending")
    assert found.pods[0].reasons == (Reason("RPT101", "", "", "no"),)


def test_objects_are_no_saved_plan(tmp_path: Path):
    assert saved_plan(write(tmp_path / "l.json", {"apiVersion": "v1", "kind": "List", "items": []})) is None
    assert saved_plan(write(tmp_path / "l.yaml", "apiVersion: v1\nkind: List\nitems: []\n")) is None
    assert saved_plan(str(tmp_path)) is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"schema": "validate/v1"}, "is no plan but validate/v1"),
        ({"schema": "plan/v1", "pods": [{"name": 1}]}, "is no plan/v1"),
        ('{"schema": "plan/v1", "pods": [', "is no JSON"),
    ],
)
def test_what_claims_to_be_a_plan_and_is_none_is_refused(tmp_path: Path, content: object, said: str):
    with pytest.raises(NoPlan, match=said):
        saved_plan(write(tmp_path / "p.json", content))
