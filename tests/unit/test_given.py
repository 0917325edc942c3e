"""Files on top of a cluster: what `kubectl apply` would make of them, judged as the API server judges updates."""

import json
from pathlib import Path
from typing import Any

import pytest

from reparto.model import core, v1
from reparto.model.given import Given, Remark
from reparto.model.intake import Intake, Loaded, read_inputs

RESOURCE = "resource.k8s.io/v1"
UID = "11111111-2222-4333-8444-555555555555"


def pod(name: str, **spec: Any) -> dict[str, Any]:
    containers = [{"name": "c", "image": "x"}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {"containers": containers, **spec},
    }


def claim(name: str, count: int = 1, api_version: str = RESOURCE, **rest: Any) -> dict[str, Any]:
    exactly = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count}
    request = {"name": "r", **exactly} if api_version.endswith("v1beta1") else {"name": "r", "exactly": exactly}
    metadata = {"name": name, "namespace": "ml"}
    return {
        "apiVersion": api_version,
        "kind": "ResourceClaim",
        "metadata": metadata,
        "spec": {"devices": {"requests": [request]}},
        **rest,
    }


def stored(obj: dict[str, Any], **metadata: str) -> dict[str, Any]:
    """An object as a server gives it back."""
    return {**obj, "metadata": {**obj["metadata"], "uid": UID, "resourceVersion": "7", **metadata}}


def over(cluster: list[dict[str, Any]], *files: Path, **options: Any) -> Intake:
    given = Given("cluster/test", tuple(json.dumps(obj).encode() for obj in cluster), options.pop("remarks", ()))
    return read_inputs([given, *map(str, files)], **options)


def file(folder: Path, *objects: dict[str, Any]) -> Path:
    path = folder / "f.json"
    path.write_text("\n".join(json.dumps(obj, indent=1) for obj in objects))
    return path


def only(intake: Intake, kind: type) -> Any:
    assert not intake.errors, intake.errors
    (found,) = [loaded.object for loaded in intake.objects if isinstance(loaded.object, kind)]
    return found


def test_objects_of_a_cluster_come_under_its_name_and_without_lines():
    intake = over([stored(pod("p"))])
    (loaded,) = intake.objects
    assert (loaded.ref, loaded.file, loaded.line) == ("Pod/ml/p", "cluster/test", 0)
    assert [(each.file, each.objects) for each in intake.files] == [("cluster/test", 1)]


def test_what_is_wrong_with_them_is_said_with_that_name():
    broken = stored(claim("c"))
    broken["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"] = "GPU!"
    (error,) = over([broken]).errors
    assert error.sentence().startswith("cluster/test: ResourceClaim/ml/c: spec.devices.requests[0].exactly.deviceClassName: ")


def test_a_field_of_a_newer_release_is_a_warning_for_a_server_and_an_error_in_a_file(tmp_path: Path):
    newer = stored(claim("c"))
    newer["spec"]["devices"]["requests"][0]["exactly"]["colour"] = "red"
    intake = over([newer])
    assert not intake.errors
    assert [(warning.path, warning.hint) for warning in intake.warnings] == [
        ("spec.devices.requests[0].exactly.colour", "Kubernetes 1.37 does not know it")
    ]
    assert over([], file(tmp_path, newer)).errors


def test_remarks_about_the_reading_are_passed_on():
    remark = Remark("RPT521", "", "listing nodes is forbidden")
    assert over([], remarks=(remark,)).notes == [remark]


def test_what_files_add_comes_after_what_the_cluster_has(tmp_path: Path):
    intake = over([stored(pod("a")), stored(pod("b"))], file(tmp_path, pod("new"), pod("a")))
    assert [loaded.name for loaded in intake.objects] == ["b", "new", "a"]


def test_the_same_object_in_a_file_is_an_update_and_no_contradiction(tmp_path: Path):
    intake = over([stored(pod("p", priority=1))], file(tmp_path, pod("p", priority=2)))
    assert only(intake, core.Pod).spec.priority == 2


def test_a_namespace_that_the_file_leaves_out_is_the_one_of_the_context(tmp_path: Path):
    new = pod("p", priority=2)
    del new["metadata"]["namespace"]
    assert only(over([stored(pod("p"))], file(tmp_path, new), namespace="ml"), core.Pod).spec.priority == 2
    assert len(over([stored(pod("p"))], file(tmp_path, new), namespace="other").objects) == 2


def test_what_only_servers_write_stays_as_the_cluster_has_it(tmp_path: Path):
    old = stored(pod("p", nodeName="n1", priority=7), creationTimestamp="2026-01-01T00:00:00Z")
    old["status"] = {"phase": "Running"}
    found = only(over([old], file(tmp_path, {**pod("p"), "status": {"phase": "Failed"}})), core.Pod)
    assert (found.metadata.uid, found.metadata.creation_timestamp) == (UID, "2026-01-01T00:00:00Z")
    assert (found.spec.node_name, found.spec.priority, found.status.phase) == ("n1", 7, "Running")


def test_a_new_object_keeps_the_status_that_its_file_gives_it(tmp_path: Path):
    """A node that one might buy needs its capacity."""
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "8"}}}
    assert only(over([], file(tmp_path, node)), core.Node).status.allocatable == {"cpu": "8"}


def test_labels_are_added_and_the_rest_of_a_node_stays(tmp_path: Path):
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": {"a": "1", "b": "1"}}}
    old = stored({**node, "spec": {"unschedulable": True}, "status": {"allocatable": {"cpu": "8"}}})
    new = {**node, "metadata": {"name": "n", "labels": {"b": "2"}}}
    found = only(over([old], file(tmp_path, new)), core.Node)
    assert (found.metadata.labels, found.spec.unschedulable, found.status.allocatable) == ({"a": "1", "b": "2"}, True, {"cpu": "8"})


@pytest.mark.parametrize("api_version", [RESOURCE, "resource.k8s.io/v1beta2", "resource.k8s.io/v1beta1"])
def test_a_claim_keeps_its_allocation_whatever_version_the_file_has(tmp_path: Path, api_version: str):
    results = [{"request": "r", "driver": "d.example", "pool": "p", "device": "x"}]
    old = stored(claim("c", status={"allocation": {"devices": {"results": results}}}))
    found = only(over([old], file(tmp_path, claim("c", api_version=api_version))), v1.ResourceClaim)
    assert found.status.allocation.devices.results[0].device == "x"


def test_a_changed_claim_is_refused_as_the_server_would_with_the_files_line(tmp_path: Path):
    (error,) = over([stored(claim("c"))], file(tmp_path, claim("c", count=2))).errors
    assert (error.path, error.type, error.message) == ("spec", "FieldValueInvalid", "field is immutable")
    assert error.file.endswith("f.json")
    assert error.line > 1


def test_workloads_are_updated_too(tmp_path: Path):
    template = {"spec": {"containers": [{"name": "c", "image": "x"}]}}
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d", "namespace": "ml"}}
    old = {**stored({**deployment, "spec": {"replicas": 1, "template": template}}), "status": {"replicas": 1}}
    intake = over([old], file(tmp_path, {**deployment, "spec": {"replicas": 3, "template": template}}))
    (carrier,) = intake.carriers
    assert (carrier.value["spec"]["replicas"], carrier.value["metadata"]["uid"]) == (3, UID)
    assert carrier.value["status"] == {"replicas": 1}


def test_accepted_objects_are_visited_once(tmp_path: Path):
    seen: list[Loaded] = []
    over([stored(pod("p")), stored(pod("q"))], file(tmp_path, pod("p")), visit=seen.append)
    assert sorted((loaded.name, loaded.file.rpartition("/")[2]) for loaded in seen) == [("p", "f.json"), ("q", "test")]
