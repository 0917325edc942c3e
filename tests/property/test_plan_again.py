"""Whatever a plan places stays placed: planned again, its objects are bound to the same nodes with the same devices."""

import json
from pathlib import Path
from typing import Any

import pytest

from conformance import scheduling
from conformance.scheduling_answers import KINDS
from reparto.cli.main import main

PROBLEMS = 15

Object = dict[str, Any]
GROUPS = {"PriorityClass": "scheduling.k8s.io/v1", "ReplicaSet": "apps/v1", "StatefulSet": "apps/v1", "Deployment": "apps/v1"}
DEVICE_KINDS = ("ResourceSlice", "DeviceClass", "ResourceClaim", "ResourceClaimTemplate", "DeviceTaintRule")


def objects(problem: Object) -> list[Object]:
    """A random cluster of the conformance tests as files have it."""
    return [
        {"apiVersion": "resource.k8s.io/v1" if kind in DEVICE_KINDS else GROUPS.get(kind, "v1"), "kind": kind, **entry}
        for key, kind in KINDS.items()
        for entry in problem.get(key) or ()
    ]


def held(document: Object) -> Object:
    """Node and devices of every pod that has them."""
    return {
        f"{pod['namespace']}/{pod['name']}": (
            pod["node"],
            sorted(
                (
                    claim["name"],
                    result["request"],
                    result["driver"],
                    result["pool"],
                    result["device"],
                    str(result.get("consumedCapacity")),
                )
                for claim in pod["claims"]
                for result in (claim["allocation"] or {"devices": {}})["devices"].get("results", [])
            ),
        )
        for pod in document["pods"]
        if pod["verdict"] in ("placed", "bound") and not pod["hypothetical"]
    }


@pytest.mark.parametrize("number", range(PROBLEMS))
def test_what_was_placed_is_bound_when_its_objects_are_planned_again(
    number: int, seed: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
):
    def plan(*arguments: str) -> str:
        with pytest.raises(SystemExit):
            main(["plan", *arguments])
        return capsys.readouterr().out

    cluster, saved = tmp_path / "cluster.json", tmp_path / "placed.yaml"
    cluster.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": objects(scheduling.make(seed, number))}))
    first = json.loads(plan("-f", str(cluster), "-o", "json"))
    saved.write_text(plan("-f", str(cluster), "-o", "yaml"))
    second = json.loads(plan("-f", str(saved), "-o", "json"))
    assert second["errors"] == []
    verdicts = {f"{pod['namespace']}/{pod['name']}": pod["verdict"] for pod in second["pods"]}
    assert {verdicts[name] for name in held(first)} <= {"bound"}
    again = held(second)
    assert {name: again[name] for name in held(first)} == held(first)
