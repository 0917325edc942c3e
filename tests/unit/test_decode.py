"""Strict decoding: what the API server refuses to read, in its words, and what to write instead."""

import json

import pytest

from reparto import model
from reparto.model import v1
from reparto.model.versions import v1beta1
from unit.api_objects import Json, claim, device, device_class, exact, slice_of, taint_rule


def refused(obj: Json, strict: bool = True) -> model.DecodeError:
    with pytest.raises(model.DecodeError) as caught:
        model.decode(json.dumps(obj).encode() if not isinstance(obj, bytes) else obj, strict=strict)
    return caught.value


def test_unknown_fields_are_all_named_as_the_api_server_names_them() -> None:
    obj = slice_of(device(capacity={"memory": {"valu": "1Gi"}}), nodeNamez="n")
    error = refused(obj)
    assert str(error).startswith("strict decoding error: ")
    assert [each.message for each in (error, *error.others)] == [
        'unknown field "spec.devices[0].capacity.memory.valu"',
        'unknown field "spec.nodeNamez"',
    ]
    assert 'unknown field "spec.devices[0].capacity.memory.valu", unknown field "spec.nodeNamez"' in str(error)


def test_fields_are_case_sensitive_and_the_right_spelling_is_named() -> None:
    error = refused(slice_of(Pool={}))
    assert (error.path, error.hint) == ("spec.Pool", "did you mean pool?")


@pytest.mark.parametrize(
    ("obj", "path", "hint"),
    [
        (
            claim({"name": "gpu", "deviceClassName": "g"}),
            "spec.devices.requests[0].deviceClassName",
            "move it under exactly: v1 nests the fields of a plain request there",
        ),
        (
            claim(exact(), version="v1beta1"),
            "spec.devices.requests[0].exactly",
            "v1beta1 has no exactly: write its fields beside name, or use apiVersion resource.k8s.io/v1",
        ),
        (slice_of({"name": "g", "basic": {}}), "spec.devices[0].basic", "v1 has no basic: write its fields beside name"),
        (
            slice_of(device(attributes={}), version="v1beta1"),
            "spec.devices[0].attributes",
            "move it under basic: v1beta1 keeps a device's data there",
        ),
        (
            {**claim(), "spec": {"resourceClassName": "g"}},
            "spec.resourceClassName",
            "classic DRA is gone since Kubernetes 1.32: write spec.devices.requests[].exactly.deviceClassName",
        ),
        ({**claim(), "spec": {"requests": []}}, "spec.requests", "move it under devices: spec.devices.requests"),
        (
            claim(exact(selectors=[{"expression": "true"}])),
            "spec.devices.requests[0].exactly.selectors[0].expression",
            "nest it: selectors: [{cel: {expression: …}}]",
        ),
    ],
)
def test_a_field_of_another_version_is_told_where_it_belongs(obj: Json, path: str, hint: str) -> None:
    error = refused(obj)
    assert (error.path, error.hint) == (path, hint)


def test_unknown_fields_are_ignored_without_field_validation() -> None:
    obj = model.decode(json.dumps(slice_of(nodeNamez="n")).encode(), strict=False)
    assert isinstance(obj, v1.ResourceSlice)
    assert obj.spec.node_name == "node-1"


@pytest.mark.parametrize(
    ("obj", "message"),
    [
        (slice_of(driver=5), "json: cannot unmarshal number into Go struct field ResourceSliceSpec.spec.driver of type string"),
        (
            slice_of(pool={"resourceSliceCount": "1"}),
            "json: cannot unmarshal string into Go struct field ResourcePool.spec.pool.resourceSliceCount of type int64",
        ),
        (
            slice_of(device(attributes={"a": {"int": 2**63}})),
            "json: cannot unmarshal number 9223372036854775808 into Go struct field "
            "DeviceAttribute.spec.devices.attributes.int of type int64",
        ),
        (
            slice_of(device(capacity={"memory": "40Gi"})),
            "json: cannot unmarshal string into Go struct field Device.spec.devices.capacity of type v1.DeviceCapacity",
        ),
        (
            slice_of(devices={}),
            "json: cannot unmarshal object into Go struct field ResourceSliceSpec.spec.devices of type []v1.Device",
        ),
        (
            slice_of(device(capacity={"memory": {"value": "40GiB"}})),
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
    ],
)
def test_a_wrong_type_is_named_as_go_names_it(obj: Json, message: str) -> None:
    assert str(refused(obj)) == message


def test_json_1_0_is_no_integer_but_yaml_1_0_is() -> None:
    obj = slice_of(pool={"name": "p", "resourceSliceCount": 1.0})
    assert "cannot unmarshal number 1.0" in str(refused(obj))
    decoded = model.decode(obj)
    assert isinstance(decoded, v1.ResourceSlice)
    assert decoded.spec.pool.resource_slice_count == 1


def test_null_means_absent() -> None:
    obj = slice_of(device(capacity={"memory": {"value": None}}))
    obj["metadata"]["labels"] = {"a": None}
    obj["spec"]["nodeSelector"] = None
    decoded = model.decode(obj)
    assert isinstance(decoded, v1.ResourceSlice)
    assert decoded.metadata.labels == {"a": ""}
    assert decoded.spec.node_selector is None
    assert decoded.spec.devices
    assert decoded.spec.devices[0].capacity == {"memory": v1.DeviceCapacity(value="0")}


@pytest.mark.parametrize(
    ("written", "canonical"),
    [("1024Mi", "1Gi"), (1000, "1k"), ("1000m", "1"), ("0.5", "500m"), (" 1.50 ", "1500m"), ("1e3", "1e3")],
)
def test_quantities_come_back_as_the_api_server_writes_them(written: Json, canonical: str) -> None:
    decoded = model.decode(json.dumps(slice_of(device(capacity={"m": {"value": written}}))).encode())
    assert isinstance(decoded, v1.ResourceSlice)
    assert decoded.spec.devices
    assert decoded.spec.devices[0].capacity == {"m": v1.DeviceCapacity(value=canonical)}


def test_times_come_back_in_utc_without_fractions() -> None:
    rule = taint_rule(taint={"key": "a", "effect": "None", "timeAdded": "2024-01-01T00:00:00.5+02:00"})
    decoded = model.decode(rule)
    assert isinstance(decoded, v1.DeviceTaintRule)
    assert decoded.spec.taint.time_added == "2023-12-31T22:00:00Z"


@pytest.mark.parametrize("zero", ["0001-01-01T00:00:00Z", "0001-01-01T01:00:00.0+01:00"])
def test_the_zero_time_of_go_is_null(zero: str) -> None:
    raw = device_class()
    raw["metadata"]["creationTimestamp"] = zero
    assert model.decode(raw).metadata.creation_timestamp is None


def test_it_is_null_in_an_object_that_needs_a_closer_look_too() -> None:
    raw = taint_rule()
    raw["metadata"]["creationTimestamp"] = "0001-01-01T00:00:00Z"
    raw["spec"]["taint"] = None  # null is fine to the server, but nothing that a struct holds
    assert model.decode(raw).metadata.creation_timestamp is None


def test_half_a_second_after_the_zero_time_is_a_time() -> None:
    raw = device_class()
    raw["metadata"]["creationTimestamp"] = "0001-01-01T00:00:00.5Z"
    assert model.decode(raw).metadata.creation_timestamp == "0001-01-01T00:00:00Z"  # as `metav1.Time` writes it


@pytest.mark.parametrize("time", ["yesterday", "2024-02-30T00:00:00Z", "2024-01-01 00:00:00", "2024-01-01T00:00:00z", ""])
def test_what_is_no_rfc_3339_time_is_refused_with_an_example(time: str) -> None:
    error = refused(taint_rule(taint={"key": "a", "effect": "None", "timeAdded": time}))
    assert error.path == "spec.taint.timeAdded"
    assert "2026-11-30T18:00:00Z" in error.hint


@pytest.mark.parametrize(
    ("head", "message", "hint"),
    [
        (
            {"kind": "ResourceClass", "apiVersion": "resource.k8s.io/v1"},
            'no kind "ResourceClass" is registered',
            "write a DeviceClass",
        ),
        (
            {"kind": "ResourceClaim", "apiVersion": "resource.k8s.io/v1alpha2"},
            'for version "resource.k8s.io/v1alpha2"',
            "write apiVersion: resource.k8s.io/v1",
        ),
        ({"kind": "DeviceTaintRule", "apiVersion": "resource.k8s.io/v1beta1"}, "no kind", "resource.k8s.io/v1"),
        ({"kind": "GPU", "apiVersion": "resource.k8s.io/v1"}, "no kind", "ResourceClaim"),
        ({"kind": "ResourceSlic", "apiVersion": "resource.k8s.io/v1"}, "no kind", "did you mean ResourceSlice?"),
        ({"apiVersion": "resource.k8s.io/v1"}, "Object 'Kind' is missing", "every Kubernetes object has kind"),
        ({"kind": "ResourceSlice"}, "Object 'apiVersion' is missing", "resource.k8s.io/v1"),
        ({"kind": "DeviceClass", "apiVersion": "a/b/c"}, "unexpected GroupVersion string: a/b/c", "GROUP/VERSION"),
        ({"apiVersion": "a/b/c"}, "unexpected GroupVersion string: a/b/c", "GROUP/VERSION"),  # said before the missing kind
    ],
)
def test_an_unknown_kind_or_version_is_told_the_modern_one(head: Json, message: str, hint: str) -> None:
    error = refused({**head, "metadata": {"name": "x"}})
    assert message in str(error)
    assert hint in error.hint


def test_claims_of_1_31_are_read_like_v1beta1() -> None:
    decoded = model.decode(claim({"name": "gpu", "deviceClassName": "g"}, version="v1alpha3"))
    assert isinstance(decoded, v1beta1.ResourceClaim)
    assert decoded.api_version == "resource.k8s.io/v1alpha3"


def test_slices_of_1_31_have_bare_quantities() -> None:
    old = slice_of({"name": "g", "basic": {"capacity": {"memory": "40960Mi"}}}, version="v1alpha3")
    hub = model.to_v1(model.decode(old))
    assert isinstance(hub, v1.ResourceSlice)
    assert hub.spec.devices == (v1.Device(name="g", capacity={"memory": v1.DeviceCapacity(value="40Gi")}),)


@pytest.mark.parametrize(
    "raw",
    [b"", b"[]", b"7", b'{"a":', b"\xff", b'{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","spec":NaN}', b"[" * 100_000],
)
def test_what_is_no_json_object_is_a_decode_error_and_nothing_worse(raw: bytes) -> None:
    refused(raw)


def test_typed_objects_pass_through() -> None:
    obj = v1.ResourceSlice()
    assert model.decode(obj) is obj


def test_core_objects_may_have_fields_that_reparto_does_not_know() -> None:
    pod = model.decode(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "clusterName": "old"}, "spec": {"dnsPolicy": "Default"}}
    )
    assert type(pod).__name__ == "Pod"
