"""What `reparto plan -o yaml` prints is taken by a real API server, and read back from it everything is bound as planned."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.control_plane import PATHS, control_plane
from reparto.cli.main import main

EXAMPLES = Path(__file__).parents[2] / "examples"
FOLDERS = ("a100-efa", "mig-partitions", "shared-capacity", "firstavailable")  # alignment, counters, shares, alternatives

pytestmark = pytest.mark.reference

Object = dict[str, Any]


def test_an_api_server_takes_the_objects_and_gives_the_same_plan_back(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    def plan(*arguments: str) -> str:
        with pytest.raises(SystemExit):
            main(["plan", *arguments])
        return capsys.readouterr().out

    with control_plane(tmp_path) as cluster:
        for folder in FOLDERS:
            first = json.loads(plan("-f", str(EXAMPLES / folder), "-o", "json"))
            saved, live = tmp_path / f"{folder}.yaml", tmp_path / f"{folder}-live.json"
            saved.write_text(plan("-f", str(EXAMPLES / folder), "-o", "yaml"))
            items: list[Object] = yaml.safe_load(saved.read_text())["items"]
            statuses = yaml.safe_load(plan("-f", str(saved), "-o", "yaml", "--show", "claims"))["items"]
            # The two commands of docs/command-line.md: kubectl create, and kubectl replace --subresource=status.
            created = [
                cluster.apply({key: part for key, part in item.items() if key != "status" or item["kind"] == "Node"})
                for item in items
            ]
            created = [claimed(cluster, item, statuses) for item in created]
            live.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": created}))
            again = json.loads(plan("-f", str(live), "-o", "json"))
            assert again["errors"] == []
            assert devices(again) == devices(first) != {}
            assert again["summary"]["bound"] == first["summary"]["placed"] + first["summary"]["bound"]
            for item in reversed(created):
                cluster.request("DELETE", f"{path(item)}/{item['metadata']['name']}?gracePeriodSeconds=0")


def claimed(cluster: Any, item: Object, statuses: list[Object]) -> Object:
    """A stored claim after its status was replaced; other objects as they are."""
    status = next((each["status"] for each in statuses if item["kind"] == "ResourceClaim" and same(each, item)), None)
    if status is None:
        return item
    return cluster.request("PUT", f"{path(item)}/{item['metadata']['name']}/status", {**item, "status": status})


def same(one: Object, other: Object) -> bool:
    return all(one["metadata"][key] == other["metadata"][key] for key in ("namespace", "name"))


def path(item: Object) -> str:
    return PATHS[item["kind"]].format(item["metadata"].get("namespace", ""))


def devices(document: Object) -> Object:
    return {
        pod["name"]: [
            (claim["name"], result["request"], result["pool"], result["device"], result.get("consumedCapacity"))
            for claim in pod["claims"]
            for result in claim["allocation"]["devices"]["results"]
        ]
        for pod in document["pods"]
        if pod["verdict"] in ("placed", "bound") and not pod["hypothetical"]
    }
