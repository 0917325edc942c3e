"""Fields whose gate is off are dropped, as the API server does, and it is said which (validation-1.37.md section 3)."""

import pytest

from reparto import model
from reparto.model.gating import dropped
from unit.api_objects import Json, claim, device, device_class, exact, slice_of, template

COUNTERS = {"counterSet": "s", "counters": {"m": {"value": "1"}}}


def notes(obj: Json, old: Json = None, **gates: bool) -> set[tuple[str, str]]:
    found = dropped(model.decode(obj), gates, None if old is None else model.decode(old))[1]
    return {(each.path, each.gate) for each in found}


@pytest.mark.parametrize(
    ("obj", "path", "gate"),
    [
        (slice_of(device(attributes={"a": {"ints": [1]}})), "spec.devices[0].attributes[a].ints", "DRAListTypeAttributes"),
        (
            slice_of(device(consumesCounters=[{**COUNTERS, "compatibilityGroups": ["a"]}])),
            "spec.devices[0].consumesCounters[0].compatibilityGroups",
            "DRADeviceCompatibilityGroups",
        ),
        (
            slice_of(device(nodeAllocatableResources={"cpu": {}})),
            "spec.devices[0].nodeAllocatableResources",
            "DRANodeAllocatableResources",
        ),
        (slice_of(partitionTypeAttribute="a/b"), "spec.partitionTypeAttribute", "DRAPartitionableDevicesType"),
        (slice_of(skipNodeOperations=["*"]), "spec.skipNodeOperations", "DRAOptionalNodeOperations"),
        (
            claim(exact(derivedAttributes=[{"name": "a/b", "expression": "1"}])),
            "spec.devices.requests[0].exactly.derivedAttributes",
            "DRADerivedAttributes",
        ),
    ],
)
def test_alpha_fields_are_dropped_by_default_and_kept_with_their_gate(obj: Json, path: str, gate: str) -> None:
    assert notes(obj) == {(path, gate)}
    assert notes(obj, **{gate: True}) == set()
    assert notes(obj, old=obj) == set()  # in use already


@pytest.mark.parametrize(
    ("obj", "gate", "paths"),
    [
        (slice_of(device(taints=[{"key": "a", "effect": "None"}])), "DRADeviceTaints", {"spec.devices[0].taints"}),
        (claim(exact(tolerations=[{"operator": "Exists"}])), "DRADeviceTaints", {"spec.devices.requests[0].exactly.tolerations"}),
        (slice_of(device(consumesCounters=[COUNTERS])), "DRAPartitionableDevices", {"spec.devices[0].consumesCounters"}),
        (
            slice_of(device(allNodes=True), nodeName=None, perDeviceNodeSelection=True),
            "DRAPartitionableDevices",
            {"spec.perDeviceNodeSelection", "spec.devices[0].allNodes"},
        ),
        (slice_of(devices=None, sharedCounters=[{"name": "a"}]), "DRAPartitionableDevices", {"spec.sharedCounters"}),
        (slice_of(device(bindsToNode=True)), "DRADeviceBindingConditions", {"spec.devices[0].bindsToNode"}),
        (
            slice_of(device(allowMultipleAllocations=True, capacity={"m": {"value": "1", "requestPolicy": {}}})),
            "DRAConsumableCapacity",
            {"spec.devices[0].allowMultipleAllocations", "spec.devices[0].capacity[m].requestPolicy"},
        ),
        (template(exact(capacity={})), "DRAConsumableCapacity", {"spec.spec.devices.requests[0].exactly.capacity"}),
        (
            claim(constraints=[{"distinctAttribute": "a/b"}]),
            "DRAConsumableCapacity",
            {"spec.devices.constraints[0].distinctAttribute"},
        ),
        (
            claim({"name": "a", "firstAvailable": [{"name": "b"}]}),
            "DRAPrioritizedList",
            {"spec.devices.requests[0].firstAvailable"},
        ),
        (claim(exact(adminAccess=True)), "DRAAdminAccess", {"spec.devices.requests[0].exactly.adminAccess"}),
        (device_class(extendedResourceName="a/b"), "DRAExtendedResource", {"spec.extendedResourceName"}),
        (claim(status={"devices": [{}]}), "DRAResourceClaimDeviceStatus", {"status.devices"}),
        (
            claim(status={"allocation": {"devices": {"results": [{"shareID": "x", "consumedCapacity": {"m": "1"}}]}}}),
            "DRAConsumableCapacity",
            {"status.allocation.devices.results[0].shareID", "status.allocation.devices.results[0].consumedCapacity"},
        ),
    ],
)
def test_fields_of_a_gate_that_is_turned_off_are_dropped(obj: Json, gate: str, paths: set[str]) -> None:
    assert notes(obj) == set()
    assert notes(obj, **{gate: False}) == {(path, gate) for path in paths}


def test_a_dropped_list_leaves_an_attribute_without_value_which_is_then_refused() -> None:
    kept = model.drop_disabled(model.decode(slice_of(device(attributes={"a": {"ints": [1]}}))))
    assert [error.path for error in model.validate(kept)] == ["spec.devices[0].attributes[a]"]


def test_v1beta1_paths_are_those_of_v1beta1() -> None:
    flat = {"name": "gpu", "deviceClassName": "g", "derivedAttributes": [{"name": "a/b", "expression": "1"}]}
    assert notes(claim(flat, version="v1beta1")) == {("spec.devices.requests[0].derivedAttributes", "DRADerivedAttributes")}
    basic = {"name": "g", "basic": {"nodeAllocatableResources": {"cpu": {}}}}
    obj = model.decode(slice_of(basic, version="v1beta1"))
    kept, found = dropped(obj)
    assert [each.path for each in found] == ["spec.devices[0].basic.nodeAllocatableResources"]
    assert type(kept) is type(obj)


def test_an_object_without_such_fields_comes_back_as_it_is() -> None:
    for raw in (slice_of(device(attributes={"a": {"int": 1}})), claim(), template(), device_class()):
        obj = model.decode(raw)
        assert model.drop_disabled(obj) is obj
