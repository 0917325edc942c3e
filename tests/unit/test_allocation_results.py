"""The allocation that is written into the claim (upstream-dra.md 3.14), compared as the API's JSON."""

import msgspec
import pytest

from reparto.allocation import AllocationError, Allocator, FailureKind, Features
from reparto.allocation.plain import PlainAllocator
from unit.allocation_objects import ALL_FEATURES, DRIVER, ask, claim, device_class, node, pool


@pytest.fixture(params=[Allocator, PlainAllocator])
def given(request):
    def allocate(slices, one_claim, classes=None, features=ALL_FEATURES, on=None):
        allocator = request.param(slices, classes or [device_class()], features=features)
        results = allocator.allocate(on or node(zone="east"), [one_claim])
        return None if results is None else msgspec.to_builtins(results[0])

    return allocate


def opaque(tag: str):
    return {"opaque": {"driver": DRIVER, "parameters": {"tag": tag}}}


def entry(source: str, tag: str, *requests: str):
    return {"source": source} | ({"requests": list(requests)} if requests else {}) | opaque(tag)


ONLY_N1 = {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}


def test_a_local_device_binds_the_claim_to_its_node(given):
    assert given([pool("a")], claim(ask())) == {
        "devices": {"results": [{"request": "r0", "driver": DRIVER, "pool": "n1", "device": "a"}]},
        "nodeSelector": ONLY_N1,
    }


def test_a_device_for_all_nodes_binds_it_to_none(given):
    assert "nodeSelector" not in given([pool("a", allNodes=True)], claim(ask()))


def test_a_device_that_binds_to_its_node_does_so_wherever_it_is_published(given):
    assert given([pool({"name": "a", "bindsToNode": True}, allNodes=True)], claim(ask()))["nodeSelector"] == ONLY_N1


def test_selectors_of_all_devices_add_up_without_repetition(given):
    def zone(name, *values):
        requirement = {"key": "zone", "operator": "In", "values": list(values)}
        more = [{"key": "zone", "operator": "Exists"}] if name == "b" else []
        terms = [{"matchExpressions": [requirement, *more]}]
        return pool(f"device-{name}", name=name, nodeSelector={"nodeSelectorTerms": terms})

    slices = [zone("a", "east", "west"), zone("b", "west", "east"), zone("c", "east")]
    assert given(slices, claim(ask(3)))["nodeSelector"] == {
        "nodeSelectorTerms": [
            {
                "matchExpressions": [
                    {"key": "zone", "operator": "In", "values": ["east", "west"]},
                    {"key": "zone", "operator": "Exists"},
                    {"key": "zone", "operator": "In", "values": ["east"]},
                ]
            }
        ]
    }


def test_a_selector_of_several_terms_cannot_be_expressed(given):
    terms = [{"matchExpressions": [{"key": "zone", "operator": "In", "values": [zone]}]} for zone in ("east", "west")]
    with pytest.raises(AllocationError, match=r"unsupported ResourceSlice\.NodeSelector with 2 terms") as error:
        given([pool("a", nodeSelector={"nodeSelectorTerms": terms})], claim(ask()))
    assert error.value.kind is FailureKind.NODE_SELECTOR_INVALID


def test_with_per_device_selection_the_device_says_where(given):
    devices = [{"name": "a", "allNodes": True}, {"name": "b", "nodeName": "n1"}, {"name": "c", "nodeName": "n2"}]
    slices = [pool(*devices, perDeviceNodeSelection=True)]
    assert "nodeSelector" not in given(slices, claim(ask()))
    assert given(slices, claim(ask(2)))["nodeSelector"] == ONLY_N1
    assert given(slices, claim(ask(3))) is None


def test_class_configurations_come_once_per_class_then_those_of_the_claim(given):
    classes = [device_class("gpu", config=(opaque("gpu-1"), opaque("gpu-2"))), device_class("other", config=(opaque("other"),))]
    asked = claim(
        ask(),
        ask(deviceClassName="other"),
        ask(),
        config=(opaque("all"), opaque("some") | {"requests": ["r1"]}, opaque("every") | {"requests": ["r2", "r1", "r0"]}),
    )
    assert given([pool("a", "b", "c")], asked, classes)["devices"]["config"] == [
        entry("FromClass", "gpu-1", "r0", "r2"),
        entry("FromClass", "gpu-2", "r0", "r2"),
        entry("FromClass", "other", "r1"),
        entry("FromClaim", "all"),
        entry("FromClaim", "some", "r1"),
        entry("FromClaim", "every"),  # it covers every request, so it names none
    ]


def test_only_the_class_and_configuration_of_the_chosen_alternative_count(given):
    classes = [device_class("gpu", config=(opaque("gpu"),)), device_class("other", config=(opaque("other"),))]
    asked = claim(
        [ask(9), ask(deviceClassName="other")],
        ask(),
        config=(
            opaque("first") | {"requests": ["r0/s0"]},
            opaque("second") | {"requests": ["r0/s1"]},
            opaque("both") | {"requests": ["r0"]},
        ),
    )
    assert given([pool("a", "b")], asked, classes)["devices"]["config"] == [
        entry("FromClass", "other", "r0/s1"),
        entry("FromClass", "gpu", "r1"),
        entry("FromClaim", "second", "r0/s1"),
        entry("FromClaim", "both", "r0"),
    ]


def test_binding_conditions_are_copied(given):
    conditions = {"bindingConditions": ["x/ready"], "bindingFailureConditions": ["x/failed"]}
    result = given([pool({"name": "a", **conditions})], claim(ask()))["devices"]["results"][0]
    assert {key: result[key] for key in conditions} == conditions
    assert given([pool({"name": "a", **conditions})], claim(ask()), features=Features()) is None


def test_a_share_says_what_it_consumes(given):
    device = {"name": "a", "allowMultipleAllocations": True, "capacity": {"memory": {"value": "80Gi"}, "cores": {"value": "100"}}}
    asked = claim(ask(capacity={"requests": {"memory": "8Gi"}}))
    result = given([pool(device)], asked)["devices"]["results"][0]
    assert result["consumedCapacity"] == {"memory": "8Gi", "cores": "100"}
    assert result["shareID"] == "00000000-0000-4000-8000-000000000001"
    exclusive = given([pool(device | {"allowMultipleAllocations": False})], asked)["devices"]["results"][0]
    assert "consumedCapacity" not in exclusive and "shareID" not in exclusive


def test_skipped_node_operations_are_unknown_to_the_stable_and_incubating_variants(given):
    features = Features(consumable_capacity=True)
    assert (
        "skipNodeOperations"
        not in given([pool("a", skipNodeOperations=["*"])], claim(ask()), features=features)["devices"]["results"][0]
    )
