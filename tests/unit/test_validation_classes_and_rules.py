"""DeviceClass, DeviceTaintRule and ResourcePoolStatusRequest (validation-1.37.md section 7)."""

import pytest

from reparto import model
from unit.api_objects import Json, device_class, found, taint_rule, updated


@pytest.mark.parametrize(
    ("spec", "errors"),
    [
        ({}, set()),
        ({"selectors": [{"cel": {"expression": "true"}}] * 33}, {("TooMany", "spec.selectors")}),
        ({"selectors": [{}]}, {("Required", "spec.selectors[0].cel")}),
        ({"config": [{}]}, {("Required", "spec.config[0].opaque")}),
        ({"config": [{}] * 33}, {("TooMany", "spec.config")}),
        ({"config": [{"opaque": {"driver": "D_", "parameters": {}}}]}, {("Invalid", "spec.config[0].opaque.driver")}),
        ({"extendedResourceName": "example.com/gpu"}, set()),
        ({"extendedResourceName": "gpu"}, {("Invalid", "spec.extendedResourceName")}),
        ({"extendedResourceName": "kubernetes.io/gpu"}, {("Invalid", "spec.extendedResourceName")}),
        ({"extendedResourceName": "requests.example.com/gpu"}, {("Invalid", "spec.extendedResourceName")}),
        ({"extendedResourceName": ""}, {("Invalid", "spec.extendedResourceName")}),
    ],
)
def test_classes(spec: Json, errors: set[tuple[str, str]]) -> None:
    assert found(device_class(**spec)) == errors


def test_a_class_has_a_name_and_no_namespace() -> None:
    broken = device_class()
    broken["metadata"] = {"name": "GPU", "namespace": "ns"}
    assert found(broken) == {("Invalid", "metadata.name"), ("Forbidden", "metadata.namespace")}


@pytest.mark.parametrize("version", ["v1", "v1beta2", "v1alpha3"])
@pytest.mark.parametrize(
    ("spec", "errors"),
    [
        ({}, set()),
        ({"deviceSelector": {}}, set()),
        ({"deviceSelector": {"driver": "d", "pool": "a/b", "device": "x"}}, set()),
        (
            {"deviceSelector": {"driver": "", "pool": "", "device": ""}},
            {
                ("Required", "spec.deviceSelector.driver"),
                ("Required", "spec.deviceSelector.pool"),
                ("Invalid", "spec.deviceSelector.device"),
            },
        ),
        ({"taint": {"key": "a", "effect": ""}}, {("Required", "spec.taint.effect")}),
        ({"taint": {"key": "", "effect": "None"}}, {("Invalid", "spec.taint.key")}),
        ({"taint": {"key": "a", "value": "-", "effect": "None"}}, {("Invalid", "spec.taint.value")}),
    ],
)
def test_taint_rules(version: str, spec: Json, errors: set[tuple[str, str]]) -> None:
    assert found(taint_rule(version, **spec)) == errors


def test_a_taint_rule_status_has_at_most_eight_conditions() -> None:
    condition = {"status": "True", "reason": "R", "lastTransitionTime": "2024-01-01T00:00:00Z"}
    status = {"conditions": [{**condition, "type": f"C{index}"} for index in range(9)]}
    assert found(updated({**taint_rule(), "status": status}), taint_rule(), "status") == {("TooMany", "status.conditions")}
    assert {each.path for each in model.judge(model.default({**taint_rule(), "status": status}))} == {"status.conditions"}


def pool_request(status: Json = None, **spec: Json) -> Json:
    raw = {
        "apiVersion": "resource.k8s.io/v1alpha3",
        "kind": "ResourcePoolStatusRequest",
        "metadata": {"name": "r"},
        "spec": {"driver": "gpu.example.com", **spec},
    }
    return raw if status is None else {**raw, "status": status}


@pytest.mark.parametrize(
    ("spec", "errors"),
    [
        ({}, set()),
        ({"driver": ""}, {("Required", "spec.driver")}),
        ({"driver": "d_"}, {("Invalid", "spec.driver")}),
        ({"poolName": "a//b"}, {("Invalid", "spec.poolName")}),
        ({"limit": 0}, {("Invalid", "spec.limit")}),
        ({"limit": 1001}, {("Invalid", "spec.limit")}),
        ({"limit": 1000}, set()),
        ({"defaultPartitionTypeAttribute": "a.b/c"}, {("Forbidden", "spec.defaultPartitionTypeAttribute")}),
    ],
)
def test_pool_status_requests(spec: Json, errors: set[tuple[str, str]]) -> None:
    assert found(pool_request(**spec)) == errors


def test_a_pool_status_request_never_changes_and_is_answered_once() -> None:
    assert found(updated(pool_request(limit=5)), pool_request()) == {("Invalid", "spec")}
    answered = {"poolCount": 0}
    assert found(updated(pool_request(answered)), pool_request(), "status") == set()
    assert found(updated(pool_request({"poolCount": 1})), pool_request(answered), "status") == {("Invalid", "status")}
    assert found(updated(pool_request({})), pool_request(), "status") == {("Required", "status.poolCount")}
