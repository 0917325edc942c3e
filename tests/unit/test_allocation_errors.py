"""What stops a pod before any device is looked at, in upstream's words (upstream-dra.md 3.4), and selectors that fail (3.7)."""

from dataclasses import replace

import pytest

from reparto.allocation import AllocatedState, AllocationError, Allocator, FailureKind
from reparto.allocation.plain import PlainAllocator
from unit.allocation_objects import ALL_FEATURES, allocated_claim, ask, claim, device_class, names, node, pool


@pytest.fixture(params=[Allocator, PlainAllocator])
def failure(request):
    def allocate(one_claim, slices=(), classes=None, features=ALL_FEATURES):
        with pytest.raises(AllocationError) as error:
            request.param(slices, classes or [device_class()], features=features).allocate(node(), [one_claim])
        assert not error.value.node_only
        return error.value

    return allocate


@pytest.mark.parametrize(
    ("switch", "asked", "text"),
    [
        ("prioritized_list", claim([ask()]), "has subrequests, but the DRAPrioritizedList feature is disabled"),
        (
            "consumable_capacity",
            claim(ask(capacity={})),
            "has capacity requests, but the DRAConsumableCapacity feature is disabled",
        ),
        ("admin_access", claim(ask(adminAccess=False)), "admin access is requested, but the feature is disabled"),
        (
            "derived_attributes",
            claim(ask(derivedAttributes=[{"name": "d/x", "expression": "1"}])),
            "cannot handle request with derived attributes, the feature is disabled",
        ),
    ],
)
def test_a_feature_that_is_off_may_not_be_used(failure, switch, asked, text):
    error = failure(asked, features=replace(ALL_FEATURES, **{switch: False}))
    assert error.kind is FailureKind.FEATURE_DISABLED
    assert str(error) == f"claim ns/claim, request r0: {text}"


def test_a_missing_class_is_named(failure):
    error = failure(claim(ask(deviceClassName="tpu")))
    assert (error.kind, error.class_name, error.request) == (FailureKind.NO_SUCH_CLASS, "tpu", "r0")
    assert str(error) == (
        'claim ns/claim, request r0: could not retrieve device class tpu: deviceclass.resource.k8s.io "tpu" not found'
    )


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (claim(ask(deviceClassName="")), "claim ns/claim, request r0: missing device class name (unsupported request type?)"),
        (claim(ask(allocationMode="Some")), "claim ns/claim, request r0: unsupported count mode Some"),
        (
            claim(ask(selectors=[{}])),
            "claim ns/claim, request r0, selector #0: CEL expression empty (unsupported selector type?)",
        ),
        (claim(ask(), constraints=({},)), "claim ns/claim, constraint #0: empty constraint (unsupported constraint type?)"),
    ],
)
def test_a_request_that_nobody_understands_is_refused(failure, asked, text):
    error = failure(asked)
    assert error.kind is FailureKind.UNSUPPORTED_REQUEST and str(error) == text


def test_a_missing_key_stops_the_pod_with_advice(failure):
    error = failure(claim(ask(1, 'device.attributes["gpu.example.com"].model == "x"')), [pool("a")])
    assert (error.kind, error.selector, error.device) == (FailureKind.SELECTOR_FAILED, 0, "gpu.example.com/n1/a")
    assert str(error).startswith(
        "claim ns/claim: selector #0 on device gpu.example.com/n1/a: CEL runtime error: no such key: model"
    )
    assert "orValue()" in str(error)


def test_a_class_is_blamed_for_its_own_selectors(failure):
    error = failure(claim(ask()), [pool("a")], [device_class("gpu", "true", "device.driver ==")])
    assert (error.kind, error.class_name, error.selector) == (FailureKind.SELECTOR_INVALID, "gpu", 1)
    assert str(error).startswith("class gpu: selector #1: CEL compile error:")


@pytest.mark.parametrize("engine", [Allocator, PlainAllocator])
def test_a_selector_is_not_asked_about_devices_in_use_nor_about_those_behind_the_answer(engine):
    attributes = {"attributes": {"model": {"string": "x"}}}
    slices = [pool("in-use", {"name": "good", **attributes}, "never-reached")]
    state = AllocatedState.from_claims([allocated_claim({"device": "in-use"})])
    allocator = engine(slices, [device_class()], allocated=state, features=ALL_FEATURES)
    asked = claim(ask(1, 'device.attributes["gpu.example.com"].model == "x"'))
    assert names(allocator.allocate(node(), [asked])) == [["good"]]


def test_a_derived_attribute_that_fails_stops_the_pod_only_when_a_constraint_asks_for_it(failure):
    derived = ask(2, derivedAttributes=[{"name": "d/x", "expression": 'device.attributes["gpu.example.com"].model'}])
    error = failure(claim(derived, constraints=({"matchAttribute": "d/x"},)), [pool("a", "b")])
    assert error.kind is FailureKind.DERIVED_ATTRIBUTE_FAILED and "no such key: model" in str(error)
    allocator = Allocator([pool("a", "b")], [device_class()], features=ALL_FEATURES)
    assert names(allocator.allocate(node(), [claim(derived)])) == [["a", "b"]]


@pytest.mark.parametrize("engine", [Allocator, PlainAllocator])
def test_devices_can_agree_in_a_derived_attribute(engine):
    devices = [{"name": f"d{index}", "attributes": {"index": {"int": index}}} for index in range(4)]
    even = {"name": "d/even", "expression": 'device.attributes["gpu.example.com"].index % 2 == 0'}
    asked = claim(ask(2, derivedAttributes=[even]), constraints=({"matchAttribute": "d/even"},))
    allocator = engine([pool(*devices)], [device_class()], features=ALL_FEATURES)
    assert names(allocator.allocate(node(), [asked])) == [["d0", "d2"]]
