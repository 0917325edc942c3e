"""ResourceClaim status: the rules of a status update (validation-1.37.md section 5)."""

import pytest

from reparto import model
from unit.api_objects import Json, claim, exact, found, only, updated

UUID = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9"
RESULT = {"request": "gpu", "driver": "gpu.example.com", "pool": "node-1", "device": "gpu-0"}
DEVICE = {"driver": "gpu.example.com", "pool": "node-1", "device": "gpu-0"}
POD = {"resource": "pods", "name": "p", "uid": "u"}
CONDITION = {"type": "Ready", "status": "True", "reason": "Fine", "lastTransitionTime": "2024-01-01T00:00:00Z"}
RESULTS = "status.allocation.devices.results[0]"
CONFIG = "status.allocation.devices.config[0]"
OPAQUE = {"opaque": {"driver": "d", "parameters": {}}}


def allocated(*results: Json, config: Json = None, **status: Json) -> Json:
    devices: Json = {"results": list(results) or [RESULT]}
    if config is not None:
        devices["config"] = config
    return {"allocation": {"devices": devices}, **status}


def errors(status: Json, old: Json = None, **metadata: Json) -> set[tuple[str, str]]:
    """What a status update finds that writes `status` to a claim whose status is `old`."""
    new = updated(claim(status=status))
    new["metadata"] |= metadata
    return found(new, claim(status=old), "status")


def test_an_allocation_is_valid() -> None:
    status = allocated(reservedFor=[POD], devices=[{**DEVICE, "conditions": [CONDITION], "data": {"a": 1}}])
    assert errors(status) == set()


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"request": "other"}, {("Invalid", f"{RESULTS}.request")}),
        ({"request": "gpu/sub"}, {("Invalid", f"{RESULTS}.request")}),
        ({"driver": ""}, {("Required", f"{RESULTS}.driver")}),
        ({"driver": "d_"}, {("Invalid", f"{RESULTS}.driver")}),
        ({"pool": ""}, {("Required", f"{RESULTS}.pool")}),
        ({"pool": "a//b"}, {("Invalid", f"{RESULTS}.pool")}),
        ({"device": ""}, {("Invalid", f"{RESULTS}.device")}),
        ({"shareID": "no"}, {("Invalid", f"{RESULTS}.shareID")}),
        ({"shareID": UUID.upper()}, {("Invalid", f"{RESULTS}.shareID")}),
        ({"shareID": UUID}, set()),
        ({"bindingConditions": ["a"]}, {("Invalid", f"{RESULTS}.bindingFailureConditions")}),
        ({"tolerations": [{"operator": "Odd"}]}, {("NotSupported", f"{RESULTS}.tolerations[0].operator")}),
        ({"skipNodeOperations": ["NodePrepareResources"]}, {("Invalid", f"{RESULTS}.skipNodeOperations")}),
    ],
)
def test_results(result: Json, expected: set[tuple[str, str]]) -> None:
    assert errors(allocated({**RESULT, **result})) == expected


def test_33_results_are_too_many() -> None:
    assert errors(allocated(*([RESULT] * 33))) == {("TooMany", "status.allocation.devices.results")}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"source": "FromClass", **OPAQUE}, set()),
        (OPAQUE, {("Required", f"{CONFIG}.source")}),
        ({"source": "FromAir", **OPAQUE}, {("NotSupported", f"{CONFIG}.source")}),
        ({"source": "FromClaim", "requests": ["no"], **OPAQUE}, {("Invalid", f"{CONFIG}.requests[0]")}),
        ({"source": "FromClaim"}, {("Required", f"{CONFIG}.opaque")}),
    ],
)
def test_configuration_of_an_allocation(config: Json, expected: set[tuple[str, str]]) -> None:
    assert errors(allocated(config=[config])) == expected


def test_an_allocation_is_set_once_and_then_only_cleared() -> None:
    other = allocated({**RESULT, "device": "gpu-1"})
    error = only(updated(claim(status=other)), claim(status=allocated()), "status")
    assert (error.type, error.path, error.value) == ("FieldValueInvalid", "status.allocation", None)
    assert errors({}, allocated()) == set()


def test_an_unchanged_allocation_is_never_judged_again() -> None:
    broken = allocated({**RESULT, "driver": "", "request": "gone"})
    assert errors({**broken, "reservedFor": [POD]}, broken) == set()


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({"reservedFor": [POD]}, {("Forbidden", "status.reservedFor")}),
        (allocated(reservedFor=[{}]), {("Required", f"status.reservedFor[0].{name}") for name in ("resource", "name", "uid")}),
        (allocated(reservedFor=[POD, {**POD, "name": "q"}]), {("Duplicate", "status.reservedFor[1]")}),
        (allocated(reservedFor=[{**POD, "uid": str(n)} for n in range(256)]), set()),
        (allocated(reservedFor=[{**POD, "uid": str(n)} for n in range(257)]), {("TooMany", "status.reservedFor")}),
    ],
)
def test_reservations(status: Json, expected: set[tuple[str, str]]) -> None:
    assert errors(status) == expected


def test_a_claim_that_is_being_deleted_takes_no_new_consumers() -> None:
    old = allocated(reservedFor=[POD])
    new = allocated(reservedFor=[POD, {**POD, "uid": "v"}])
    gone = {"deletionTimestamp": "2024-01-01T00:00:00Z"}
    raw = updated(claim(status=new))
    raw["metadata"] |= gone
    before = claim(status=old)
    before["metadata"] |= gone
    assert found(raw, before, "status") == {("Forbidden", "status.reservedFor")}


@pytest.mark.parametrize(
    ("device", "expected"),
    [
        ({"device": "gpu-9"}, {("Invalid", "status.devices[0]")}),
        ({"shareID": UUID}, {("Invalid", "status.devices[0]")}),  # allocated without
        ({"driver": ""}, {("Required", "status.devices[0].driver"), ("Invalid", "status.devices[0]")}),
        ({"data": [1]}, {("Invalid", "status.devices[0].data")}),
        ({"data": None}, set()),
        ({"data": {"a": "x" * 10240}}, {("TooLong", "status.devices[0].data")}),
        ({"conditions": [CONDITION, CONDITION]}, {("Duplicate", "status.devices[0].conditions[1]")}),
        ({"conditions": [{**CONDITION, "type": f"C{n}"} for n in range(9)]}, {("TooMany", "status.devices[0].conditions")}),
        (
            {"conditions": [{}]},
            {
                ("Required", f"status.devices[0].conditions[0].{name}")
                for name in ("type", "status", "reason", "lastTransitionTime")
            },
        ),
        ({"networkData": {"interfaceName": "x" * 257}}, {("TooLong", "status.devices[0].networkData.interfaceName")}),
        ({"networkData": {"hardwareAddress": "x" * 129}}, {("TooLong", "status.devices[0].networkData.hardwareAddress")}),
        ({"networkData": {"ips": ["10.9.8.7"]}}, {("Invalid", "status.devices[0].networkData.ips[0]")}),
        ({"networkData": {"ips": ["10.09.8.7/24"]}}, {("Invalid", "status.devices[0].networkData.ips[0]")}),
        ({"networkData": {"ips": ["2001:DB8::1/64"]}}, {("Invalid", "status.devices[0].networkData.ips[0]")}),
        ({"networkData": {"ips": ["10.9.8.7/24", "2001:db8::1/64"]}}, set()),
        ({"networkData": {"ips": ["10.9.8.7/24"] * 2}}, {("Duplicate", "status.devices[0].networkData.ips[1]")}),
        ({"networkData": {"ips": ["10.9.8.7/24"] * 17}}, {("TooMany", "status.devices[0].networkData.ips")}),
    ],
)
def test_device_status(device: Json, expected: set[tuple[str, str]]) -> None:
    assert errors(allocated(devices=[{**DEVICE, **device}])) == expected


@pytest.mark.parametrize(
    ("written", "canonical"),
    [("10.9.8.7/024", "10.9.8.7/24"), ("fd12::9/064", "fd12::9/64"), ("::ffff:10.9.8.7/0120", "10.9.8.7/24")],
)
def test_leading_zeros_of_an_address_are_forgiven_so_far_that_its_canonical_form_is_named(written: str, canonical: str) -> None:
    status = allocated(devices=[{**DEVICE, "networkData": {"ips": [written]}}])
    error = only(updated(claim(status=status)), claim(status=allocated()), "status")
    assert error.message == f'must be in canonical form ("{canonical}")'


def test_two_entries_for_one_device_are_one_too_many() -> None:
    assert errors(allocated(devices=[DEVICE, DEVICE])) == {("Duplicate", "status.devices[1]")}


def test_an_update_needs_a_resource_version() -> None:
    assert found(claim(status=allocated()), claim(), "status") == {("Invalid", "metadata.resourceVersion")}


def test_judging_a_file_looks_at_spec_and_status_at_once() -> None:
    raw = claim(exact(count=-1), status={"reservedFor": [POD]})
    assert {(each.type, each.path) for each in model.judge(model.default(raw))} == {
        ("FieldValueInvalid", "spec.devices.requests[0].exactly.count"),
        ("FieldValueForbidden", "status.reservedFor"),
    }


def test_judging_a_file_says_what_is_wrong_with_metadata_once() -> None:
    raw = claim(status=allocated())
    raw["metadata"] |= {"name": "C", "labels": {"-": ""}}
    assert sorted(each.path for each in model.judge(model.default(raw))) == ["metadata.labels", "metadata.name"]
