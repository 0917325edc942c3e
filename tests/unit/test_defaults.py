"""Defaults of each version (validation-1.37.md section 2)."""

import pytest

from reparto import model
from reparto.model import v1
from reparto.model.versions import v1alpha3, v1beta1
from unit.api_objects import Json, claim, device, exact, slice_of, taint_rule, template

NOW = "2026-11-30T18:00:00Z"


@pytest.mark.parametrize("version", ["v1", "v1beta2"])
@pytest.mark.parametrize(
    ("given", "mode", "count"),
    [
        ({}, "ExactCount", 1),
        ({"count": 3}, "ExactCount", 3),
        ({"allocationMode": "All"}, "All", 0),
        ({"allocationMode": "Odd"}, "Odd", 0),
    ],
)
def test_a_request_takes_one_device_unless_it_says_otherwise(version: str, given: Json, mode: str, count: int) -> None:
    obj = model.default(claim(exact(**given), version=version))
    assert isinstance(obj, v1.ResourceClaim)
    exactly = obj.spec.devices.requests[0].exactly
    assert exactly is not None
    assert (exactly.allocation_mode, exactly.count) == (mode, count)


def test_alternatives_and_templates_are_defaulted_too() -> None:
    request = {"name": "gpu", "firstAvailable": [{"name": "big", "deviceClassName": "g", "tolerations": [{"key": "a"}]}]}
    obj = model.default(template(request))
    assert isinstance(obj, v1.ResourceClaimTemplate)
    (alternative,) = obj.spec.spec.devices.requests[0].first_available
    assert (alternative.allocation_mode, alternative.count, alternative.tolerations[0].operator) == ("ExactCount", 1, "Equal")


def test_v1beta1_leaves_a_request_without_class_alone_for_it_may_have_alternatives() -> None:
    requests = ({"name": "a"}, {"name": "b", "deviceClassName": "g"})
    obj = model.default(claim(*requests, version="v1beta1"))
    assert isinstance(obj, v1beta1.ResourceClaim)
    assert [(each.allocation_mode, each.count) for each in obj.spec.devices.requests] == [("", 0), ("ExactCount", 1)]


def test_tolerations_of_a_result_compare_for_equality() -> None:
    result = {"request": "gpu", "driver": "d", "pool": "p", "device": "x", "tolerations": [{"key": "a"}, {"operator": "Exists"}]}
    obj = model.default(claim(status={"allocation": {"devices": {"results": [result]}}}))
    assert isinstance(obj, v1.ResourceClaim)
    assert obj.status.allocation is not None
    assert [each.operator for each in obj.status.allocation.devices.results[0].tolerations] == ["Equal", "Exists"]


@pytest.mark.parametrize("version", ["v1", "v1beta2", "v1alpha3"])
def test_a_taint_without_a_time_was_added_now(version: str) -> None:
    obj = model.default(taint_rule(version), now=NOW)
    assert isinstance(obj, v1.DeviceTaintRule)
    assert obj.spec.taint.time_added == NOW


def test_a_taint_with_a_time_keeps_it() -> None:
    taints = [{"key": "a", "effect": "None", "timeAdded": "2024-01-01T00:00:00Z"}, {"key": "b", "effect": "None"}]
    obj = model.default(slice_of(device(taints=taints)), now=NOW)
    assert isinstance(obj, v1.ResourceSlice)
    assert obj.spec.devices
    assert [each.time_added for each in obj.spec.devices[0].taints] == ["2024-01-01T00:00:00Z", NOW]


def test_the_clock_is_used_where_no_time_is_given() -> None:
    obj = model.default(taint_rule())
    assert isinstance(obj, v1.DeviceTaintRule)
    assert obj.spec.taint.time_added is not None
    assert obj.spec.taint.time_added > "2026"


def test_a_pool_status_request_reports_100_pools() -> None:
    raw = {
        "apiVersion": "resource.k8s.io/v1alpha3",
        "kind": "ResourcePoolStatusRequest",
        "metadata": {"name": "x"},
        "spec": {"driver": "d"},
    }
    obj = model.default(raw)
    assert isinstance(obj, v1alpha3.ResourcePoolStatusRequest)
    assert obj.spec.limit == 100


def test_an_object_that_needs_no_default_is_not_copied() -> None:
    obj = model.default(claim(exact()))
    assert model.default(obj) is obj


def test_a_taint_with_the_zero_time_is_not_given_another_one() -> None:
    # To the API server the field is set; it only writes it as null.
    obj = model.default(taint_rule(taint={"key": "a", "effect": "NoSchedule", "timeAdded": "0001-01-01T00:00:00Z"}))
    assert isinstance(obj, v1.DeviceTaintRule)
    assert obj.spec.taint.time_added is None
