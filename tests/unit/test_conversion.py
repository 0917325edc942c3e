"""Conversion between versions: lossless, up to what v1beta1 cannot say."""

import msgspec
import pytest

from reparto import model
from reparto.model import v1
from reparto.model.versions import v1beta1
from unit.api_objects import Json, claim, device, exact, slice_of, taint_rule, template


def converted(obj: Json, version: str) -> Json:
    return msgspec.to_builtins(model.convert(obj, f"resource.k8s.io/{version}"))


def test_a_plain_request_is_flat_in_v1beta1() -> None:
    beta = converted(claim(exact(count=2, tolerations=[{"operator": "Exists"}])), "v1beta1")
    assert beta["spec"]["devices"]["requests"] == (
        {
            "name": "gpu",
            "deviceClassName": "gpu.example.com",
            "allocationMode": "ExactCount",
            "count": 2,
            "tolerations": ({"operator": "Exists"},),
        },
    )


def test_a_flat_request_is_nested_in_v1() -> None:
    stable = converted(claim({"name": "gpu", "deviceClassName": "g"}, version="v1beta1"), "v1")
    exactly = {"deviceClassName": "g", "allocationMode": "ExactCount", "count": 1}
    assert stable["spec"]["devices"]["requests"] == ({"name": "gpu", "exactly": exactly},)


@pytest.mark.parametrize("field", [{"selectors": []}, {"tolerations": []}, {"capacity": {}}, {"adminAccess": False}, {"count": 1}])
def test_any_flat_field_makes_a_v1beta1_request_an_exact_one(field: Json) -> None:
    obj = model.convert(claim({"name": "gpu", **field}, version="v1beta1"), "resource.k8s.io/v1")
    assert isinstance(obj, v1.ResourceClaim)
    assert obj.spec.devices.requests[0].exactly is not None


def test_a_v1beta1_request_with_alternatives_only_is_no_exact_one() -> None:
    alternatives = [{"name": "a", "deviceClassName": "g"}]
    obj = model.convert(claim({"name": "gpu", "firstAvailable": alternatives}, version="v1beta1"), "resource.k8s.io/v1")
    assert isinstance(obj, v1.ResourceClaim)
    assert obj.spec.devices.requests[0].exactly is None


def test_devices_lie_under_basic_in_v1beta1() -> None:
    beta = converted(slice_of(device(attributes={"model": {"string": "H100"}})), "v1beta1")
    assert beta["spec"]["devices"] == ({"name": "gpu-0", "basic": {"attributes": {"model": {"string": "H100"}}}},)
    assert converted(beta, "v1")["spec"]["devices"] == ({"name": "gpu-0", "attributes": {"model": {"string": "H100"}}},)


def test_v1beta1_cannot_tell_an_empty_node_name_from_none() -> None:
    beta = slice_of(version="v1beta1", nodeName="", allNodes=False)
    obj = model.convert(beta, "resource.k8s.io/v1")
    assert isinstance(obj, v1.ResourceSlice)
    assert (obj.spec.node_name, obj.spec.all_nodes) == (None, None)


@pytest.mark.parametrize("version", ["v1", "v1beta2", "v1beta1"])
@pytest.mark.parametrize(
    "obj",
    [
        claim(
            exact("a", selectors=[{"cel": {"expression": "true"}}]),
            {"name": "b", "firstAvailable": [{"name": "x", "deviceClassName": "g"}]},
        ),
        template(exact(capacity={"requests": {"memory": "1Gi"}})),
        slice_of(
            device(
                capacity={"memory": {"value": "80Gi"}}, consumesCounters=[{"counterSet": "s", "counters": {"m": {"value": "1"}}}]
            )
        ),
    ],
    ids=("claim", "template", "slice"),
)
def test_there_and_back_again_nothing_is_lost(obj: Json, version: str) -> None:
    there = model.convert(obj, f"resource.k8s.io/{version}")
    assert model.convert(there, "resource.k8s.io/v1") == model.default(obj)


def test_a_kind_that_the_version_lacks_is_refused() -> None:
    with pytest.raises(model.DecodeError, match=r'no kind "DeviceTaintRule" is registered for version "resource\.k8s\.io/v1beta1"'):
        model.convert(taint_rule(), "resource.k8s.io/v1beta1")


def test_only_versions_of_this_group_are_converted_to() -> None:
    with pytest.raises(model.DecodeError, match="not a version of"):
        model.convert(claim(), "v1")


def test_a_typed_object_of_v1beta1_comes_out() -> None:
    assert isinstance(model.convert(claim(), "resource.k8s.io/v1beta1"), v1beta1.ResourceClaim)
