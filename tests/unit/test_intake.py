"""Input as a whole: names, namespaces, versions, copies, trimmed dumps, and that nothing invalid takes part."""

from pathlib import Path
from typing import Any

import pytest

from reparto.model import core, v1
from reparto.model.intake import Intake, read_inputs


def claim(name: str = "c", **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": name, **metadata} if name else metadata,
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com"}}]}},
    }


def device_slice(name: str = "s", version: str = "v1", **spec: Any) -> dict[str, Any]:
    device: dict[str, Any] = {"name": "gpu-0"}
    data = {"attributes": {"model": {"string": "A"}}, "capacity": {"memory": {"value": "80Gi"}}}
    device |= {"basic": data} if version == "v1beta1" else data
    whole = {"driver": "gpu.example.com", "nodeName": "n", "pool": {"name": "n", "resourceSliceCount": 1}, "devices": [device]}
    return {"apiVersion": f"resource.k8s.io/{version}", "kind": "ResourceSlice", "metadata": {"name": name}, "spec": whole | spec}


def refs(intake: Intake) -> list[str]:
    return [loaded.ref for loaded in intake.objects]


def paths(intake: Intake) -> list[tuple[str, str]]:
    return [(error.type, error.path) for error in intake.errors]


# --- names and namespaces ---------------------------------------------------------------------------------------------------------


def test_an_object_without_namespace_is_in_default_or_in_the_one_given() -> None:
    assert refs(read_inputs([claim()])) == ["ResourceClaim/default/c"]
    assert refs(read_inputs([claim()], namespace="ml")) == ["ResourceClaim/ml/c"]
    assert refs(read_inputs([claim(namespace="own")], namespace="ml")) == ["ResourceClaim/own/c"]


def test_cluster_scoped_objects_have_no_namespace() -> None:
    intake = read_inputs([device_slice(), {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}], namespace="ml")
    assert refs(intake) == ["ResourceSlice/s", "Node/n"]


def test_an_object_with_a_generated_name_gets_the_same_one_on_every_run() -> None:
    first, second = (refs(read_inputs([claim("", generateName="gpu-")])) for _ in range(2))
    assert first == second
    name = first[0].rpartition("/")[2]
    assert name.startswith("gpu-")
    assert len(name) == len("gpu-") + 5


def test_two_objects_with_a_generated_name_are_two_objects() -> None:
    intake = read_inputs([claim("", generateName="gpu-"), claim("", generateName="gpu-")])
    assert len(set(refs(intake))) == 2


def test_an_object_without_any_name_is_refused() -> None:
    assert paths(read_inputs([claim("")])) == [("FieldValueRequired", "metadata.name")]
    assert paths(read_inputs([{"apiVersion": "v1", "kind": "Pod", "spec": {}}])) == [("FieldValueRequired", "metadata.name")]


def test_two_nameless_objects_are_two_errors_of_names_not_of_copies() -> None:
    assert paths(read_inputs([claim(""), claim("") | {"spec": {}}])) == [("FieldValueRequired", "metadata.name")] * 2


# --- copies -----------------------------------------------------------------------------------------------------------------------


def test_identical_copies_count_once() -> None:
    assert refs(read_inputs([claim(), claim(), device_slice(), device_slice()])) == ["ResourceClaim/default/c", "ResourceSlice/s"]


def test_what_a_server_added_makes_no_difference() -> None:
    dumped = claim(uid="u", resourceVersion="7", creationTimestamp="2026-01-01T00:00:00Z", managedFields=[])
    dumped["spec"]["devices"]["requests"][0]["exactly"] |= {"allocationMode": "ExactCount", "count": 1}  # its defaults, too
    assert refs(read_inputs([claim(), dumped])) == ["ResourceClaim/default/c"]


def test_the_same_object_in_two_versions_counts_once() -> None:
    assert refs(read_inputs([device_slice(version="v1beta1"), device_slice(version="v1")])) == ["ResourceSlice/s"]


def test_contradicting_copies_are_an_error_that_names_both_places(tmp_path: Path) -> None:
    for name, driver in (("a.yaml", "a.example.com"), ("b.yaml", "b.example.com")):
        text = f"apiVersion: v1\nkind: Namespace\nmetadata:\n  name: x\n  labels: {{driver: {driver}}}\n"
        (tmp_path / name).write_text(f"# one line down\n{text}" if name == "b.yaml" else text)
    intake = read_inputs([tmp_path])
    (error,) = intake.errors
    assert (error.file, error.line, error.type) == (str(tmp_path / "b.yaml"), 5, "FieldValueDuplicate")
    assert f"{tmp_path / 'a.yaml'}:1" in error.message


def test_the_same_name_in_two_namespaces_is_two_objects() -> None:
    assert len(refs(read_inputs([claim(namespace="a"), claim(namespace="b")]))) == 2


# --- versions ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", ["v1", "v1beta2", "v1beta1"])
def test_every_served_version_becomes_v1(version: str) -> None:
    intake = read_inputs([device_slice(version=version)])
    (loaded,) = intake.objects
    assert isinstance(loaded.object, v1.ResourceSlice)
    assert loaded.api_version == f"resource.k8s.io/{version}"
    (device,) = loaded.object.spec.devices or ()
    assert (device.attributes or {})["model"].string_value == "A"
    assert (intake.errors, intake.warnings) == ([], [])


def test_a_slice_of_1_31_is_read_with_the_warning_that_nothing_serves_it() -> None:
    old = device_slice()
    old["apiVersion"] = "resource.k8s.io/v1alpha3"
    old["spec"]["devices"] = [
        {"name": "gpu-0", "basic": {"attributes": {"model": {"string": "A"}}, "capacity": {"memory": "80Gi"}}}
    ]
    intake = read_inputs([old])
    (loaded,) = intake.objects
    assert isinstance(loaded.object, v1.ResourceSlice)
    (device,) = loaded.object.spec.devices or ()
    assert (device.capacity or {})["memory"].value == "80Gi"
    (warning,) = intake.warnings
    assert "no current API server serves it" in warning.message
    assert "resource.k8s.io/v1" in warning.hint


def test_a_field_that_only_an_earlier_release_had_is_a_warning_unless_strict() -> None:
    old = device_slice()
    old["spec"]["devices"][0]["nodeAllocatableResourceMappings"] = {"cpu": {}}  # 1.36, alpha
    intake = read_inputs([old])
    assert refs(intake) == ["ResourceSlice/s"]
    assert [warning.path for warning in intake.warnings] == ["spec.devices[0].nodeAllocatableResourceMappings"]
    assert paths(read_inputs([old], strict=True)) == [("Decode", "spec.devices[0].nodeAllocatableResourceMappings")]


def test_a_flat_request_of_v1beta1_becomes_exactly() -> None:
    flat = claim() | {"apiVersion": "resource.k8s.io/v1beta1"}
    flat["spec"] = {"devices": {"requests": [{"name": "gpu", "deviceClassName": "gpu.example.com"}]}}
    (loaded,) = read_inputs([flat]).objects
    assert isinstance(loaded.object, v1.ResourceClaim)
    exactly = loaded.object.spec.devices.requests[0].exactly
    assert exactly is not None
    assert (exactly.device_class_name, exactly.allocation_mode, exactly.count) == ("gpu.example.com", "ExactCount", 1)


def test_classic_objects_are_refused_with_all_their_fields() -> None:
    classic = {
        "apiVersion": "resource.k8s.io/v1alpha2",
        "kind": "ResourceClaim",
        "metadata": {"name": "c", "namespace": "ml"},
        "spec": {"resourceClassName": "gpu.nvidia.com"},
    }
    intake = read_inputs([classic])
    assert refs(intake) == []
    assert paths(intake) == [("Decode", "apiVersion"), ("Decode", "spec.resourceClassName")]
    assert {error.object for error in intake.errors} == {"ResourceClaim/ml/c"}


# --- judgement --------------------------------------------------------------------------------------------------------------------


def test_an_invalid_object_does_not_take_part_and_the_rest_does() -> None:
    wrong = claim("wrong")
    wrong["spec"]["devices"]["requests"][0]["exactly"]["count"] = -1
    intake = read_inputs([claim("a"), wrong, claim("b")])
    assert refs(intake) == ["ResourceClaim/default/a", "ResourceClaim/default/b"]
    assert paths(intake) == [("FieldValueInvalid", "spec.devices.requests[0].exactly.count")]


def test_all_errors_come_at_once_each_on_its_line(tmp_path: Path) -> None:
    file = tmp_path / "claims.yaml"
    file.write_text("""\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: a}
spec:
  devices:
    requests:
    - name: gpu
      exactly:
        count: -1
        deviceClassName: Not A Name
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: b}
spec:
  devices:
    requests:
    - name: gpu
      deviceClassName: gpu.example.com
""")
    intake = read_inputs([file])
    assert {(error.line, error.path, error.type) for error in intake.errors} == {
        (9, "spec.devices.requests[0].exactly.count", "FieldValueInvalid"),
        (10, "spec.devices.requests[0].exactly.deviceClassName", "FieldValueInvalid"),
        (19, "spec.devices.requests[0].deviceClassName", "Decode"),
    }
    flat = next(error for error in intake.errors if error.line == 19)
    assert flat.object == "ResourceClaim/default/b"
    assert "exactly" in flat.hint
    assert {error.file for error in intake.errors} == {str(file)}


def test_found_values_are_kept_with_the_error() -> None:
    wrong = claim()
    wrong["spec"]["devices"]["requests"][0]["exactly"]["allocationMode"] = "all"
    (error,) = read_inputs([wrong]).errors
    assert (error.type, error.value) == ("FieldValueNotSupported", "all")


def test_validation_can_be_left_out() -> None:
    wrong = claim()
    wrong["spec"]["devices"]["requests"][0]["exactly"]["count"] = -1
    assert refs(read_inputs([wrong], validate=False)) == ["ResourceClaim/default/c"]


def test_defaults_can_be_left_out() -> None:
    (loaded,) = read_inputs([claim()], default=False, validate=False).objects
    assert isinstance(loaded.object, v1.ResourceClaim)
    assert loaded.object.spec.devices.requests[0].exactly == v1.ExactDeviceRequest(device_class_name="gpu.example.com")


def test_taints_without_a_time_get_the_one_given() -> None:
    tainted = device_slice()
    tainted["spec"]["devices"][0]["taints"] = [{"key": "example.com/broken", "effect": "NoSchedule"}]
    (loaded,) = read_inputs([tainted], now="2026-11-30T18:00:00Z").objects
    assert isinstance(loaded.object, v1.ResourceSlice)
    assert (loaded.object.spec.devices or ())[0].taints[0].time_added == "2026-11-30T18:00:00Z"


def test_fields_of_a_feature_that_is_off_are_dropped_and_that_is_said() -> None:
    shared = device_slice()
    shared["spec"]["devices"][0]["allowMultipleAllocations"] = True
    (on,) = read_inputs([shared]).objects
    assert isinstance(on.object, v1.ResourceSlice)
    assert (on.object.spec.devices or ())[0].allow_multiple_allocations is True
    intake = read_inputs([shared], gates={"DRAConsumableCapacity": False})
    (off,) = intake.objects
    assert isinstance(off.object, v1.ResourceSlice)
    assert (off.object.spec.devices or ())[0].allow_multiple_allocations is None
    (note,) = intake.notes
    assert note.object == "ResourceSlice/s"
    assert "spec.devices[0].allowMultipleAllocations" in note.message


def test_the_release_decides_which_features_are_on() -> None:
    tainted = device_slice()
    tainted["spec"]["devices"][0]["taints"] = [{"key": "example.com/broken", "effect": "NoSchedule"}]
    (loaded,) = read_inputs([tainted], version="1.34").objects  # DRADeviceTaints is alpha there
    assert isinstance(loaded.object, v1.ResourceSlice)
    assert (loaded.object.spec.devices or ())[0].taints == ()


# --- trimmed dumps ----------------------------------------------------------------------------------------------------------------


def allocated() -> dict[str, Any]:
    dumped = claim(ownerReferences=[{"apiVersion": "v1", "kind": "Pod", "name": "p"}])
    device = {"driver": "gpu.example.com", "pool": "n", "device": "gpu-0"}
    dumped["status"] = {
        "allocation": {"devices": {"results": [{"request": "gpu"} | device]}},
        "reservedFor": [{"resource": "pods", "name": "p"}, {"resource": "pods", "name": "q"}],
        "devices": [device | {"conditions": [{"type": "Ready", "status": "True", "reason": "Ok", "message": ""}]}],
    }
    return dumped


SERVER_ONLY = {
    "metadata.ownerReferences[0].uid",
    "status.reservedFor[0].uid",
    "status.reservedFor[1].uid",
    "status.devices[0].conditions[0].lastTransitionTime",
}


def test_what_only_a_server_writes_is_a_warning_and_the_object_takes_part() -> None:
    intake = read_inputs([allocated()])
    assert refs(intake) == ["ResourceClaim/default/c"]
    assert intake.errors == []
    assert {warning.path for warning in intake.warnings} == SERVER_ONLY


def test_stand_ins_do_not_stay_in_the_object() -> None:
    (loaded,) = read_inputs([allocated()]).objects
    assert isinstance(loaded.object, v1.ResourceClaim)
    assert [consumer.uid for consumer in loaded.object.status.reserved_for] == ["", ""]


def test_strict_makes_them_errors() -> None:
    intake = read_inputs([allocated()], strict=True)
    assert refs(intake) == []
    assert intake.warnings == []
    required = {error.path for error in intake.errors if error.type == "FieldValueRequired"}
    assert required >= SERVER_ONLY - {"metadata.ownerReferences[0].uid"}


def test_a_complete_dump_has_neither() -> None:
    dumped = allocated()
    dumped["metadata"]["ownerReferences"][0]["uid"] = "u"
    dumped["status"]["reservedFor"][0]["uid"] = "a"
    dumped["status"]["reservedFor"][1]["uid"] = "b"
    dumped["status"]["devices"][0]["conditions"][0]["lastTransitionTime"] = "2026-01-01T00:00:00Z"
    intake = read_inputs([dumped], strict=True)
    assert (intake.errors, intake.warnings) == ([], [])


def test_two_consumers_with_the_same_uid_are_an_error_in_any_case() -> None:
    dumped = allocated()
    for consumer in dumped["status"]["reservedFor"]:
        consumer["uid"] = "same"
    assert ("FieldValueDuplicate", "status.reservedFor[1]") in paths(read_inputs([dumped]))


def test_the_status_is_judged_too() -> None:
    dumped = allocated()
    dumped["status"]["allocation"]["devices"]["results"][0]["driver"] = ""
    assert ("FieldValueRequired", "status.allocation.devices.results[0].driver") in paths(read_inputs([dumped]))


# --- admin access -----------------------------------------------------------------------------------------------------------------


def admin(kind: str = "ResourceClaim") -> dict[str, Any]:
    asking = claim()
    asking["spec"]["devices"]["requests"][0]["exactly"]["adminAccess"] = True
    return asking | ({"kind": kind, "spec": {"spec": asking["spec"]}} if kind.endswith("Template") else {})


def namespace(**labels: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default", "labels": labels}}


LABEL = {"resource.kubernetes.io/admin-access": "true"}


@pytest.mark.parametrize("kind", ["ResourceClaim", "ResourceClaimTemplate"])
def test_admin_access_in_a_namespace_without_the_label_is_refused_wherever_the_namespace_stands(kind: str) -> None:
    for order in ([admin(kind), namespace()], [namespace(), admin(kind)]):
        intake = read_inputs(order)
        assert refs(intake) == ["Namespace/default"]
        # The API server leaves out `exactly`, and for templates the outer spec.
        assert paths(intake) == [("FieldValueForbidden", "spec.devices.requests[0].adminAccess")]


def test_admin_access_in_a_namespace_with_the_label_is_fine() -> None:
    intake = read_inputs([admin(), namespace(**LABEL)])
    assert len(intake.objects) == 2
    assert (intake.errors, intake.warnings) == ([], [])


def test_admin_access_in_an_unknown_namespace_is_a_warning() -> None:
    intake = read_inputs([admin()])
    assert refs(intake) == ["ResourceClaim/default/c"]
    assert [warning.path for warning in intake.warnings] == ["spec.devices.requests[0].adminAccess"]


def test_the_line_of_admin_access_in_a_template_is_found(tmp_path: Path) -> None:
    file = tmp_path / "t.yaml"
    file.write_text("""\
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: t}
spec:
  spec:
    devices:
      requests:
      - name: r
        exactly:
          deviceClassName: a
          adminAccess: true
""")
    (warning,) = read_inputs([file]).warnings
    assert warning.line == 11


# --- core objects, carriers, others -----------------------------------------------------------------------------------------------

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p"},
    "spec": {
        "resourceClaims": [{"name": "g", "resourceClaimTemplateName": "t"}],
        "containers": [
            {"name": "c", "image": "x", "resources": {"claims": [{"name": "g"}], "limits": {"cpu": 1, "memory": "1Gi"}}}
        ],
        "futureField": {"is": "fine"},
    },
}


def test_core_objects_are_typed_and_unknown_fields_of_theirs_do_not_matter() -> None:
    (loaded,) = read_inputs([POD]).objects
    assert isinstance(loaded.object, core.Pod)
    assert loaded.object.spec.resource_claims[0].resource_claim_template_name == "t"
    assert loaded.object.metadata.namespace == "default"


@pytest.mark.parametrize("kind", ["Node", "Namespace", "PriorityClass", "ResourceQuota"])
def test_every_core_kind_we_read(kind: str) -> None:
    version = "scheduling.k8s.io/v1" if kind == "PriorityClass" else "v1"
    (loaded,) = read_inputs([{"apiVersion": version, "kind": kind, "metadata": {"name": "x"}}]).objects
    assert type(loaded.object).__name__ == kind


def test_legacy_fields_of_a_pod_are_errors() -> None:
    old = POD | {"spec": {"resourceClaims": [{"name": "g", "source": {"resourceClaimTemplateName": "t"}}], "containers": []}}
    intake = read_inputs([old])
    assert refs(intake) == []
    assert paths(intake) == [("Decode", "spec.resourceClaims[0].source")]


def test_a_pod_claim_that_names_nothing_is_an_error() -> None:
    bad = POD | {"spec": POD["spec"] | {"resourceClaims": [{"name": "g"}]}}  # type: ignore[operator]
    assert paths(read_inputs([bad])) == [("FieldValueInvalid", "spec.resourceClaims[0]")]


def test_workloads_are_kept_with_the_places_of_their_pod_templates() -> None:
    template = {"spec": POD["spec"]}
    job = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "j"},
        "spec": {"jobTemplate": {"spec": {"template": template}}},
    }
    ray = {
        "apiVersion": "ray.io/v1",
        "kind": "RayCluster",
        "metadata": {"name": "r", "namespace": "ml"},
        "spec": {"headGroupSpec": {"template": template}, "workerGroupSpecs": [{"template": template}]},
    }
    intake = read_inputs([job, ray])
    assert [(carrier.ref, carrier.templates) for carrier in intake.carriers] == [
        ("CronJob/default/j", ("spec.jobTemplate.spec.template",)),
        ("RayCluster/ml/r", ("spec.headGroupSpec.template", "spec.workerGroupSpecs[0].template")),
    ]
    assert intake.skipped == {}


def test_legacy_fields_in_a_pod_template_are_errors_at_their_path() -> None:
    spec = {"resourceClaims": [{"name": "g", "source": {}}], "containers": []}
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": {"template": {"spec": spec}}}
    intake = read_inputs([deployment])
    assert intake.carriers == []
    assert paths(intake) == [("Decode", "spec.template.spec.resourceClaims[0].source")]


def test_other_kinds_are_counted() -> None:
    others = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": str(number)}} for number in range(3)]
    intake = read_inputs(
        [*others, {"apiVersion": "resource.nvidia.com/v1beta1", "kind": "ComputeDomain", "metadata": {"name": "x"}}]
    )
    assert intake.skipped == {"ConfigMap": 3, "ComputeDomain": 1}
    assert (intake.objects, intake.errors) == ([], [])


@pytest.mark.parametrize(
    ("value", "path"),
    [({"apiVersion": "v1"}, "kind"), ({"kind": "Pod"}, "apiVersion"), ({"apiVersion": "v1", "kind": ["Pod"]}, "kind")],
)
def test_an_object_without_version_or_kind_is_an_error(value: dict[str, Any], path: str) -> None:
    assert paths(read_inputs([value])) == [("Decode", path)]


@pytest.mark.parametrize("name", ["values.yaml", "Chart.yaml", "kustomization.yaml"])
def test_files_that_live_beside_manifests_are_passed_over(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("apiVersion: v2\nname: x\nresources: [a.yaml]\n")
    intake = read_inputs([tmp_path])
    assert (intake.errors, intake.skipped) == ([], {name: 1})


def test_a_templated_value_is_said_to_be_a_template() -> None:
    (error,) = read_inputs([claim("{{ .Release.Name }}")]).errors[:1]
    assert "helm template" in error.hint


# --- the whole --------------------------------------------------------------------------------------------------------------------


def test_files_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "{apiVersion: v1, kind: Namespace, metadata: {name: a}}\n---\n{apiVersion: v1, kind: ConfigMap}\n"
    )
    (tmp_path / "b.yaml").write_text("a: }\n")
    intake = read_inputs([tmp_path])
    assert [(Path(count.file).name, count.objects, count.skipped) for count in intake.files] == [("a.yaml", 1, 1), ("b.yaml", 0, 0)]


def test_visited_objects_are_not_kept() -> None:
    visited: list[str] = []
    intake = read_inputs([device_slice("a"), admin(), namespace()], visit=lambda loaded: visited.append(loaded.ref))
    assert visited == ["ResourceSlice/a", "Namespace/default"]
    assert intake.objects == []
    assert len(intake.errors) == 1


def test_json_and_yaml_of_the_same_object_are_the_same(tmp_path: Path) -> None:
    import json

    (tmp_path / "a.json").write_text(json.dumps(device_slice()))
    (tmp_path / "b.yaml").write_text(json.dumps(device_slice()))
    assert refs(read_inputs([tmp_path])) == ["ResourceSlice/s"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('Error from server (NotFound): pods "x" not found\n', "error of the command that wrote it: Error from server (NotFound)"),
        ("Name:         gpu\nNamespace:    default\nAPI Version:  resource.k8s.io/v1\n", "kubectl describe"),
        ("NAME    READY\nweb-0   1/1\n", "what kubectl prints for people"),
        ("No resources found in default namespace.\n", "what kubectl prints for people"),
        ('{"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "pods is forbidden"}', "pods is forbidden"),
    ],
)
def test_what_a_command_prints_instead_of_objects_is_told_apart(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(text)
    (problem,) = read_inputs([tmp_path / "a.yaml"]).errors
    assert says in problem.message
    assert problem.hint


def test_workloads_that_only_have_a_generate_name_are_different_objects(tmp_path: Path) -> None:
    job = "apiVersion: batch/v1\nkind: Job\nmetadata: {generateName: x-}\nspec: {template: {spec: {containers: [{name: IMAGE}]}}}\n"
    (tmp_path / "a.yaml").write_text("---\n".join(job.replace("IMAGE", name) for name in ("a", "b", "b")))
    intake = read_inputs([tmp_path / "a.yaml"])
    assert (len(intake.carriers), intake.copies, intake.errors) == (3, 0, [])


def test_an_object_with_unknown_fields_is_judged_for_the_rest(tmp_path: Path) -> None:
    text = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: gpu}
spec:
  devices:
    requests:
    - name: flat
      deviceClassName: gpu.example.com
    - name: right
      exactly:
        deviceClassName: gpu.example.com
        selectors: [{cel: {expression: device.nothing}}]
    - name: Bad_Name
      exactly: {deviceClassName: gpu.example.com}
"""
    (tmp_path / "a.yaml").write_text(text)
    errors = read_inputs([tmp_path / "a.yaml"]).errors
    # Not: that the flat request has neither `exactly` nor `firstAvailable`, which follows from the first error.
    assert [(error.line, error.path, error.type) for error in errors] == [
        (8, "spec.devices.requests[0].deviceClassName", "Decode"),
        (12, "spec.devices.requests[1].exactly.selectors[0].cel.expression", "FieldValueInvalid"),
        (13, "spec.devices.requests[2].name", "FieldValueInvalid"),
    ]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("nodeName: n", "nodename: n"),
        ("driver: d.example.com", "drivers: d.example.com"),
        ("name: p, generation", "nam: p, generation"),
    ],
)
def test_what_follows_from_a_misspelled_field_is_not_said(right: str, wrong: str, tmp_path: Path) -> None:
    text = (
        "apiVersion: resource.k8s.io/v1\nkind: ResourceSlice\nmetadata: {name: s}\nspec:\n"
        "  driver: d.example.com\n  nodeName: node-1\n"
        "  pool: {name: p, generation: 1, resourceSliceCount: 1}\n"
    )
    (tmp_path / "a.yaml").write_text(text.replace(right, wrong))
    (error,) = read_inputs([tmp_path / "a.yaml"]).errors
    assert error.type == "Decode"


def test_classic_objects_have_a_namespace_and_their_fields_are_unknown_today(tmp_path: Path) -> None:
    text = "apiVersion: resource.k8s.io/v1alpha2\nkind: ResourceClaim\nmetadata: {name: a}\nspec: {resourceClassName: gpu}\n"
    (tmp_path / "a.yaml").write_text(text)
    _, field = read_inputs([tmp_path / "a.yaml"]).errors
    assert (field.object, field.message) == ("ResourceClaim/default/a", "unknown field in resource.k8s.io/v1")
