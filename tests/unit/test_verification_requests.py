"""`verify`, the rules that a claim breaks by itself: requests, counts, and what results repeat.

Source: upstream-dra.md 3.4, 3.5, 3.14.
"""

import pytest

from reparto.allocation import BreachKind, Standing, verify
from unit.allocation_objects import ALL_FEATURES, ask, claim, device_class, everything, node, pool
from unit.verification_objects import broken, held, on, without

GPUS = [pool("d0", "d1", "d2")]


def test_a_claim_without_allocation_breaks_nothing():
    assert broken(GPUS, [claim(ask())]) == []


def test_an_allocation_that_is_what_was_asked_for_is_legal():
    assert broken(GPUS, [held(claim(ask(2)), "d0", "d2")]) == []


def test_a_claim_that_asks_for_nothing_is_legal_without_devices():
    assert broken(GPUS, [held(claim(), anywhere=True)]) == []


@pytest.mark.parametrize("devices", [("d0",), ("d0", "d1", "d2")])
def test_two_devices_asked_for_are_two_not_fewer_not_more(devices):
    assert broken(GPUS, [held(claim(ask(2)), *devices)]) == [BreachKind.COUNT]


def test_a_request_without_any_device_is_not_overlooked():
    assert broken(GPUS, [held(claim(ask(), ask()), "d0")]) == [BreachKind.COUNT]


def test_a_result_for_a_request_that_the_claim_lacks():
    found = broken(GPUS, [held(claim(ask()), "d0", {"request": "r9", "device": "d1"})])
    assert found == [BreachKind.REQUEST_UNKNOWN]


def test_alternatives_are_named_with_their_request():
    listed = claim([ask(), ask(2)])
    assert broken(GPUS, [held(listed, {"request": "r0/s0", "device": "d0"})]) == []
    assert broken(GPUS, [held(listed, {"request": "r0", "device": "d0"})]) == [BreachKind.REQUEST_UNKNOWN, BreachKind.COUNT]


def test_a_plain_request_has_no_alternatives():
    assert broken(GPUS, [held(claim(ask()), {"request": "r0/s0", "device": "d0"})]) == [
        BreachKind.REQUEST_UNKNOWN,
        BreachKind.COUNT,
    ]


def test_only_one_alternative_of_a_request_is_taken():
    both = [{"request": "r0/s0", "device": "d0"}, {"request": "r0/s1", "device": "d1"}]
    assert broken(GPUS, [held(claim([ask(), ask()]), *both)]) == [BreachKind.ALTERNATIVES_MIXED]


def test_the_count_is_that_of_the_alternative_taken():
    assert broken(GPUS, [held(claim([ask(2), ask(1)]), {"request": "r0/s1", "device": "d0"})]) == []
    assert broken(GPUS, [held(claim([ask(2), ask(1)]), {"request": "r0/s0", "device": "d0"})]) == [BreachKind.COUNT]


def test_a_claim_holds_32_devices_at_most():
    many = [f"d{index}" for index in range(33)]
    asked = claim(ask(32), ask(1))
    results = [*many[:32], {"request": "r1", "device": "d32"}]
    assert broken([pool(*many)], [held(asked, *results)]) == [BreachKind.TOO_MANY_DEVICES]
    assert broken([pool(*many)], [held(claim(ask(31), ask(1)), *results[:31], {"request": "r1", "device": "d31"})]) == []


def test_a_device_is_in_a_claim_once():
    assert broken(GPUS, [held(claim(ask(2)), "d0", "d0")]) == [BreachKind.DEVICE_REPEATED]


def test_two_requests_for_admin_access_get_different_devices():
    asked = claim(ask(adminAccess=True), ask(adminAccess=True))
    results = [{"request": f"r{index}", "device": "d0", "adminAccess": True} for index in range(2)]
    assert broken(GPUS, [held(asked, *results)]) == [BreachKind.DEVICE_REPEATED]


def test_tolerations_are_those_of_the_request():
    tolerant = claim(ask(tolerations=[{"key": "sick", "operator": "Exists"}]))
    copied = {"device": "d0", "tolerations": [{"key": "sick", "operator": "Exists"}]}
    assert broken(GPUS, [held(tolerant, copied)]) == []
    assert broken(GPUS, [held(tolerant, "d0")]) == [BreachKind.TOLERATIONS_NOT_COPIED]
    assert broken(GPUS, [held(claim(ask()), copied)]) == [BreachKind.TOLERATIONS_NOT_COPIED]


def test_admin_access_is_given_to_those_who_ask_for_it():
    assert broken(GPUS, [held(claim(ask(adminAccess=True)), {"device": "d0", "adminAccess": True})]) == []
    assert broken(GPUS, [held(claim(ask()), {"device": "d0", "adminAccess": True})]) == [BreachKind.ADMIN_ACCESS]
    assert broken(GPUS, [held(claim(ask(adminAccess=True)), "d0")]) == [BreachKind.ADMIN_ACCESS]
    assert broken(GPUS, [held(claim(ask(adminAccess=False)), "d0")]) == []


def test_all_devices_are_all_that_match():
    assert broken(GPUS, [held(claim(everything()), "d0", "d1", "d2")]) == []
    assert broken(GPUS, [held(claim(everything()), "d0", "d1")]) == [BreachKind.ALL_DEVICES]


def test_all_devices_include_those_that_others_use():
    """A device in use makes the request unsatisfiable; it does not shrink it (3.4)."""
    other = held(claim(ask(), name="other"), "d2")
    assert broken(GPUS, [other, held(claim(everything()), "d0", "d1")]) == [BreachKind.ALL_DEVICES]


def test_all_devices_are_only_those_that_the_request_selects():
    gpus = [pool({"name": "big", "attributes": {"size": {"int": 2}}}, {"name": "small", "attributes": {"size": {"int": 1}}})]
    selective = claim(everything(selectors=[{"cel": {"expression": 'device.attributes["gpu.example.com"].size == 2'}}]))
    assert broken(gpus, [held(selective, "big")]) == []
    assert broken(gpus, [held(selective, "big", "small")]) == [BreachKind.SELECTOR, BreachKind.ALL_DEVICES]


def test_none_are_not_all():
    """A request for all devices where there are none fails (3.4)."""
    assert broken([pool()], [held(claim(everything()), anywhere=True)]) == [BreachKind.COUNT]


def test_all_devices_wait_for_every_pool_of_the_node():
    partial = pool("e0", name="other", pool={"name": "other", "generation": 1, "resourceSliceCount": 2})
    found = broken([*GPUS, partial], [held(claim(everything()), "d0", "d1", "d2")])
    assert found == [BreachKind.ALL_DEVICES]


def test_all_devices_are_counted_without_those_too_small_for_the_capacity_asked_for():
    """With nothing consumed: static capacity alone decides who takes part (3.4)."""
    gpus = [pool({"name": "big", "capacity": {"mem": {"value": "20Gi"}}}, {"name": "small", "capacity": {"mem": {"value": "5Gi"}}})]
    asked = claim(everything(capacity={"requests": {"mem": "10Gi"}}))
    assert broken(gpus, [held(asked, "big")]) == []


# --- configuration ----------------------------------------------------------------------------------------------------------------


def opaque(text: str) -> dict[str, object]:
    return {"opaque": {"driver": "gpu.example.com", "parameters": {"text": text}}}


CONFIGURED = device_class(config=(opaque("class"),))


def test_configuration_of_the_class_and_of_the_claim_comes_along_in_this_order_and_is_for_all_if_it_is():
    asked = claim(ask(), config=(opaque("claim"),))
    handed_on = [{"source": "FromClass", **opaque("class")}, {"source": "FromClaim", **opaque("claim")}]
    assert broken(GPUS, [held(asked, "d0", config=handed_on)], classes=[CONFIGURED]) == []
    assert broken(GPUS, [held(asked, "d0", config=handed_on[:1])], classes=[CONFIGURED]) == [BreachKind.CONFIG_OF_CLAIM]
    assert broken(GPUS, [held(asked, "d0", config=handed_on[1:])], classes=[CONFIGURED]) == [BreachKind.CONFIG_OF_CLASS]


def test_configuration_names_the_alternative_that_was_taken():
    asked = claim([ask(2), ask()], ask(deviceClassName="plain"))
    results = [{"request": "r0/s1", "device": "d0"}, {"request": "r1", "device": "d1"}]
    classes = [CONFIGURED, device_class("plain")]
    of_class = {"source": "FromClass", "requests": ["r0/s1"], **opaque("class")}
    assert broken(GPUS, [held(asked, *results, config=[of_class])], classes=classes) == []
    for wrong in (["r0"], ["r0/s0"], []):
        assert broken(GPUS, [held(asked, *results, config=[of_class | {"requests": wrong}])], classes=classes) == [
            BreachKind.CONFIG_OF_CLASS
        ]


def test_configuration_for_an_alternative_not_taken_stays_behind():
    asked = claim([ask(2), ask()], ask(), config=({"requests": ["r0/s0"], **opaque("claim")},))
    results = [{"request": "r0/s1", "device": "d0"}, {"request": "r1", "device": "d1"}]
    assert broken(GPUS, [held(asked, *results)]) == []
    handed_on = [{"source": "FromClaim", "requests": ["r0/s0"], **opaque("claim")}]
    assert broken(GPUS, [held(asked, *results, config=handed_on)]) == [BreachKind.CONFIG_OF_CLAIM]


# --- features, and the form of a breach -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "asked, result, off",
    [
        (claim([ask()]), {"request": "r0/s0", "device": "d0"}, "prioritized_list"),
        (claim(ask(adminAccess=True)), {"device": "d0", "adminAccess": True}, "admin_access"),
        (claim(ask(capacity={"requests": {}})), {"device": "d0"}, "consumable_capacity"),
        (claim(ask(derivedAttributes=[{"name": "x/y", "expression": "1"}])), {"device": "d0"}, "derived_attributes"),
    ],
)
def test_what_needs_a_feature_is_not_to_be_had_without_it(asked, result, off):
    assert broken(GPUS, [held(asked, result)]) == []
    assert broken(GPUS, [held(asked, result)], features=without(off)) == [BreachKind.FEATURE_OFF]


def test_a_breach_says_where_and_what_in_one_sentence():
    (breach,) = verify(GPUS, [device_class()], [held(claim(ask(2)), "d0")], [node()], features=ALL_FEATURES)
    assert str(breach) == "ResourceClaim/ns/claim: spec.devices.requests[0].exactly: request r0 has 1 devices and asks for 2"
    assert breach.standing is Standing.MADE_WRONG


def test_a_breach_names_the_device_and_the_others():
    claims = [held(claim(ask(), name=name), "d1") for name in ("b", "a", "c")]
    *_, last = verify(GPUS, [device_class()], claims, [node()], features=ALL_FEATURES)
    assert (last.object, last.path) == ("ResourceClaim/ns/c", "status.allocation.devices.results[0]")
    assert (last.device, last.others) == ("gpu.example.com/n1/d1", ("ResourceClaim/ns/a", "ResourceClaim/ns/b"))


def test_features_are_those_of_the_newest_release_unless_given():
    """1.37 has admin access on and list attributes off (upstream-dra.md section 1)."""
    asked = claim(ask(adminAccess=True))
    assert verify(GPUS, [device_class()], [held(asked, {"device": "d0", "adminAccess": True})], [node()]) == []


def test_a_selector_for_another_node_than_the_slice_is_for():
    assert broken(GPUS, [held(claim(ask()), "d0", selector=on("n2"))], nodes=[node(), node("n2")]) == [
        BreachKind.DEVICE_NOT_ON_NODE
    ]


def test_all_devices_are_those_of_the_node_that_the_claim_was_allocated_for_which_nobody_wrote_down():
    """A claim that may be used on every node was allocated on one, perhaps with fewer devices than the others see."""
    slices = [pool("d0", allNodes=True), pool("d1", name="n2", nodeName="n2")]
    everywhere = held(claim(everything()), "d0", anywhere=True)
    assert broken(slices, [everywhere], nodes=[node("n2"), node("n1")]) == []
    assert broken(slices, [everywhere], nodes=[node("n2")]) == [BreachKind.ALL_DEVICES]


def test_a_mode_that_is_unknown_asks_for_nothing_that_could_be_given():
    assert broken(GPUS, [held(claim(ask(allocationMode="Some")), "d0")]) == [BreachKind.COUNT]


def test_pools_that_give_way_to_a_newer_generation_are_not_part_of_all_devices():
    location = {"name": "other", "generation": 1, "resourceSliceCount": 2}
    older = pool("e0", name="other", pool=location)
    newer = pool("e0", name="newer", pool=location | {"generation": 2}, nodeName="n2")
    assert broken([*GPUS, older, newer], [held(claim(everything()), "d0", "d1", "d2")]) == []


def test_devices_with_binding_conditions_are_not_part_of_all_devices_without_the_feature():
    slices = [pool("d0", {"name": "d1", "bindingConditions": ["a/ready"], "bindingFailureConditions": ["a/failed"]})]
    assert broken(slices, [held(claim(everything()), "d0")]) == [BreachKind.ALL_DEVICES]
    assert broken(slices, [held(claim(everything()), "d0")], features=without("device_binding_and_status")) == []


def test_every_kind_has_a_standing():
    """What a claim's own, unchangeable text shows is made wrong; what somebody else may have changed since is not."""
    alone = {kind for kind in BreachKind if kind.standing is Standing.MADE_WRONG}
    assert {BreachKind.COUNT, BreachKind.DEVICE_HELD_TWICE, BreachKind.TOLERATIONS_NOT_COPIED} <= alone
    changeable = {BreachKind.SELECTOR, BreachKind.TAINT, BreachKind.POOL_OUTDATED, BreachKind.COUNTERS_OVERDRAWN}
    assert not changeable & alone
