"""`verify`, what several claims hold together: devices, shares, capacity, counters, groups.

Source: upstream-dra.md 3.1, 3.10, 3.11, 3.16.
"""

from reparto.allocation import BreachKind, Standing, verify
from unit.allocation_objects import ALL_FEATURES, ask, claim, device_class, node, pool
from unit.verification_objects import broken, held, without


def holder(name: str, *devices, **fields):
    return held(claim(ask(len(devices), **fields), name=name), *devices)


# --- devices ----------------------------------------------------------------------------------------------------------------------


def test_two_claims_do_not_hold_one_device():
    assert broken([pool("d0", "d1")], [holder("a", "d0"), holder("b", "d1")]) == []
    assert broken([pool("d0", "d1")], [holder("a", "d0"), holder("b", "d0")]) == [BreachKind.DEVICE_HELD_TWICE]
    assert BreachKind.DEVICE_HELD_TWICE.standing is Standing.MADE_WRONG


def test_devices_of_the_same_name_in_different_pools_are_different():
    slices = [pool("d0"), pool("d0", name="other")]
    assert broken(slices, [holder("a", "d0"), holder("b", {"pool": "other", "device": "d0"})]) == []


def test_admin_access_holds_nothing():
    admin = holder("admin", {"device": "d0", "adminAccess": True}, adminAccess=True)
    assert broken([pool("d0")], [admin, holder("a", "d0"), holder("b", "d0")]) == [BreachKind.DEVICE_HELD_TWICE]
    assert broken([pool("d0")], [admin, holder("a", "d0")]) == []


# --- shares -----------------------------------------------------------------------------------------------------------------------

SHARED = {
    "name": "d0",
    "allowMultipleAllocations": True,
    "capacity": {"mem": {"value": "40Gi", "requestPolicy": {"default": "10Gi", "validRange": {"min": "10Gi"}}}},
}


def share(number: int, amount: str = "10Gi", **fields):
    return {"device": "d0", "shareID": str(number), "consumedCapacity": {"mem": amount}, **fields}


def sharer(number: int, amount: str = "10Gi", **fields):
    return holder(f"c{number}", share(number, amount, **fields), capacity={"requests": {"mem": amount}})


def test_shares_may_use_a_device_up_but_no_further():
    gpus = [pool(SHARED)]
    assert broken(gpus, [sharer(1), sharer(2), sharer(3, "20Gi")]) == []  # 10 + 10 + 20 = 40
    assert broken(gpus, [sharer(1), sharer(2), sharer(3, "21Gi")]) == [BreachKind.CAPACITY_OVERDRAWN]


def test_a_share_of_admin_access_takes_nothing_from_others():
    admin = held(claim(ask(adminAccess=True), name="admin"), share(9, adminAccess=True))
    assert broken([pool(SHARED)], [admin, sharer(1, "40Gi")]) == []


def test_a_share_has_an_id_of_its_own():
    gpus = [pool(SHARED)]
    twice = [holder(name, share(1)) for name in ("a", "b")]
    assert broken(gpus, twice) == [BreachKind.SHARE_ID_REPEATED]


def test_one_request_has_one_share_of_a_device_and_another_request_may_have_another():
    gpus = [pool(SHARED)]
    assert broken(gpus, [holder("a", share(1), share(2))]) == [BreachKind.DEVICE_REPEATED]
    both = held(claim(ask(), ask()), share(1), share(2, request="r1"))
    assert broken(gpus, [both]) == []


def test_a_device_is_not_held_whole_and_shared():
    """It takes a driver that changes `allowMultipleAllocations` under a claim; upstream then allocates the device again."""
    found = broken([pool(SHARED)], [sharer(1), holder("whole", {"device": "d0", "consumedCapacity": {"mem": "10Gi"}})])
    assert found == [BreachKind.SHARE_ID, BreachKind.DEVICE_HELD_AND_SHARED]


def test_without_consumable_capacity_shares_are_whole_devices():
    found = broken([pool("d0")], [sharer(1), sharer(2)], features=without("consumable_capacity"))
    assert found[-1] is BreachKind.DEVICE_HELD_TWICE


# --- counters ---------------------------------------------------------------------------------------------------------------------


def drawing(name: str, slots: str, *groups: str, **fields):
    return {
        "name": name,
        "consumesCounters": [{"counterSet": "s", "counters": {"slots": {"value": slots}}, "compatibilityGroups": list(groups)}],
    } | fields


def partitioned(*devices, slots: str = "3", spare: str = "0", **location):
    """A pool whose counter set s has `slots`, and another counter that nobody draws from."""
    place = {"name": "n1", "generation": 1, "resourceSliceCount": 2} | location
    sets = [{"name": "s", "counters": {"slots": {"value": slots}, "spare": {"value": spare}}}]
    return [pool(*devices, pool=place), pool(name="counters", pool=place, devices=None, sharedCounters=sets)]


def test_counters_may_be_used_up_but_no_further():
    slices = partitioned(drawing("d0", "1"), drawing("d1", "2"), drawing("d2", "1"))
    assert broken(slices, [holder("a", "d0"), holder("b", "d1")]) == []  # 1 + 2 = 3
    assert broken(slices, [holder("a", "d0"), holder("b", "d1"), holder("c", "d2")]) == [BreachKind.COUNTERS_OVERDRAWN]


def test_the_last_claim_that_draws_is_named_with_the_others_and_the_figures():
    slices = partitioned(drawing("d0", "1"), drawing("d1", "2500m"), "free")
    claims = [holder("a", "d1"), holder("b", "d0"), holder("c", "free")]
    (breach,) = verify(slices, [device_class()], claims, [node()], features=ALL_FEATURES)
    assert (breach.object, breach.others) == ("ResourceClaim/ns/b", ("ResourceClaim/ns/a",))
    assert breach.message == "2 devices of pool gpu.example.com/n1 draw 3.5 from counter s/slots, which has 3"


def test_counters_are_those_of_the_pool_and_its_driver():
    one, other = (
        partitioned(drawing("d0", "3")),
        [
            pool(drawing("d0", "3"), name="p2", pool={"name": "p2", "generation": 1, "resourceSliceCount": 2}),
            pool(
                name="p2-counters",
                pool={"name": "p2", "generation": 1, "resourceSliceCount": 2},
                devices=None,
                sharedCounters=[{"name": "s", "counters": {"slots": {"value": "3"}}}],
            ),
        ],
    )
    assert broken([*one, *other], [holder("a", "d0"), holder("b", {"pool": "p2", "device": "d0"})]) == []


def test_a_shared_device_draws_once():
    slices = partitioned(drawing("d0", "3", **{key: value for key, value in SHARED.items() if key != "name"}))
    assert broken(slices, [sharer(1), sharer(2)]) == []


def test_admin_access_draws_nothing_once_it_is_given():
    slices = partitioned(drawing("d0", "3"), drawing("d1", "3"))
    admin = holder("admin", {"device": "d1", "adminAccess": True}, adminAccess=True)
    assert broken(slices, [holder("a", "d0"), admin]) == []


def test_one_negative_counter_bars_all_devices_with_counters():
    slices = partitioned(drawing("d0", "1"), "free", spare="-1")
    assert broken(slices, [holder("a", "d0")]) == [BreachKind.COUNTERS_OVERDRAWN]
    assert broken(slices, [holder("a", "free")]) == []


def test_counters_are_not_judged_before_all_slices_are_there():
    slices = partitioned(drawing("d0", "2"), drawing("d1", "2"), resourceSliceCount=3)
    found = broken(slices, [holder("a", "d0"), holder("b", "d1")])
    assert set(found) == {BreachKind.POOL_INCOMPLETE}


# --- compatibility groups ---------------------------------------------------------------------------------------------------------


def test_all_devices_on_a_counter_set_have_one_group_in_common():
    slices = partitioned(drawing("d0", "1", "g1", "g2"), drawing("d1", "1", "g2", "g3"), drawing("d2", "1", "g3", "g1"))
    assert broken(slices, [holder("a", "d0"), holder("b", "d1")]) == []  # g2
    pairwise = [holder("a", "d0"), holder("b", "d1"), holder("c", "d2")]  # any two have one, the three have none
    assert broken(slices, pairwise) == [BreachKind.COMPATIBILITY_GROUPS]


def test_devices_without_groups_go_only_with_their_like():
    slices = partitioned(drawing("d0", "1"), drawing("d1", "1"), drawing("d2", "1", "g1"))
    assert broken(slices, [holder("a", "d0"), holder("b", "d1")]) == []
    assert broken(slices, [holder("a", "d0"), holder("b", "d2")]) == [BreachKind.COMPATIBILITY_GROUPS]
