"""Shared counters and compatibility groups of partitionable devices (upstream-dra.md 3.10, 3.16)."""

import pytest

from reparto.allocation import AllocatedState, Allocator, Features
from reparto.allocation.plain import PlainAllocator
from unit.allocation_objects import ALL_FEATURES, allocated_claim, ask, claim, device_class, names, node, pool


@pytest.fixture(params=[Allocator, PlainAllocator])
def given(request):
    def allocate(devices, counters, *claims, holding=(), features=ALL_FEATURES):
        location = {"name": "n1", "generation": 1, "resourceSliceCount": 2}
        sets = [
            {"name": name, "counters": {key: {"value": value} for key, value in each.items()}} for name, each in counters.items()
        ]
        slices = [pool(*devices, pool=location), pool(pool=location, devices=None, sharedCounters=sets)]
        allocator = request.param(slices, [device_class()], allocated=AllocatedState.from_claims(holding), features=features)
        return names(allocator.allocate(node(), list(claims)))

    return allocate


def draws(name: str, counter_set: str = "s", groups: tuple[str, ...] = (), **counters: str):
    consumption = {"counterSet": counter_set, "counters": {key: {"value": value} for key, value in counters.items()}}
    return {"name": name, "consumesCounters": [consumption | ({"compatibilityGroups": list(groups)} if groups else {})]}


def test_devices_share_the_counters_of_their_pool(given):
    devices = [draws("half-0", c="4"), draws("half-1", c="4"), draws("eighth", c="1")]
    assert given(devices, {"s": {"c": "8"}}, claim(ask(2))) == [["half-0", "half-1"]]
    assert given(devices, {"s": {"c": "8"}}, claim(ask(3))) is None
    assert given(devices, {"s": {"c": "5"}}, claim(ask(2))) == [["half-0", "eighth"]]


def test_allocated_devices_draw_too(given):
    devices = [draws("a", c="4"), draws("b", c="4")]
    assert given(devices, {"s": {"c": "7"}}, claim(ask()), holding=[allocated_claim({"device": "a"})]) is None
    assert given(devices, {"s": {"c": "8"}}, claim(ask()), holding=[allocated_claim({"device": "a"})]) == [["b"]]


def test_an_overdrawn_counter_blocks_the_whole_pool_even_other_sets(given):
    devices = [draws("a", c="4"), draws("b", "t", c="1")]
    counters = {"s": {"c": "3"}, "t": {"c": "8"}}
    assert given(devices, counters, claim(ask())) == [["b"]]
    assert given(devices, counters, claim(ask()), holding=[allocated_claim({"device": "a"})]) is None


def test_a_device_without_counters_does_not_mind(given):
    assert given([draws("a", c="4"), {"name": "free"}], {"s": {"c": "-1"}}, claim(ask())) == [["free"]]


def test_admin_access_draws_once_more(given):
    # kubernetes#140729: the partition is allocated already, and admin access needs its counters a second time.
    admin, holding = claim(ask(adminAccess=True)), [allocated_claim({"device": "a"})]
    assert given([draws("a", c="4")], {"s": {"c": "7"}}, admin, holding=holding) is None
    assert given([draws("a", c="4")], {"s": {"c": "8"}}, admin, holding=holding) == [["a"]]


def test_a_shared_device_draws_with_its_first_share_only(given):
    device = draws("a", c="4") | {"allowMultipleAllocations": True}
    assert given([device], {"s": {"c": "4"}}, claim(ask(), ask())) == [["a", "a"]]
    share = {"device": "a", "shareID": "00000000-0000-4000-8000-000000000001"}
    assert given([device], {"s": {"c": "4"}}, claim(ask()), holding=[allocated_claim(share)]) == [["a"]]


def test_without_the_feature_the_counters_are_unknown_and_the_devices_unusable(given):
    devices = [draws("a", c="1"), {"name": "plain"}]
    assert given(devices, {"s": {"c": "8"}}, claim(ask()), features=Features()) == [["plain"]]


def test_one_group_must_be_common_to_all_on_a_counter_set(given):
    # Each two have a group in common, all three do not.
    devices = [draws("a", groups=("x", "y"), c="1"), draws("b", groups=("y", "z"), c="1"), draws("c", groups=("z", "x"), c="1")]
    assert given(devices, {"s": {"c": "9"}}, claim(ask(2))) == [["a", "b"]]
    assert given(devices, {"s": {"c": "9"}}, claim(ask(3))) is None


def test_devices_without_groups_go_with_their_like_only(given):
    devices = [draws("grouped", groups=("x",), c="1"), draws("plain-0", c="1"), draws("plain-1", c="1")]
    assert given(devices, {"s": {"c": "9"}}, claim(ask(2))) == [["plain-0", "plain-1"]]


def test_groups_of_allocated_devices_count(given):
    devices = [draws("a", groups=("x",), c="1"), draws("b", groups=("y",), c="1"), draws("c", groups=("y", "x"), c="1")]
    assert given(devices, {"s": {"c": "9"}}, claim(ask()), holding=[allocated_claim({"device": "a"})]) == [["c"]]


def test_groups_are_a_matter_of_one_counter_set(given):
    devices = [draws("a", "s", groups=("x",), c="1"), draws("b", "t", groups=("y",), c="1")]
    assert given(devices, {"s": {"c": "9"}, "t": {"c": "9"}}, claim(ask(2))) == [["a", "b"]]


def test_a_device_that_counters_turn_down_leaves_no_groups_behind(given):
    devices = [draws("large", groups=("x",), c="9"), draws("small", groups=("y",), c="1")]
    assert given(devices, {"s": {"c": "4"}}, claim(ask())) == [["small"]]


@pytest.mark.parametrize("engine", [Allocator, PlainAllocator])
def test_devices_of_the_pool_on_other_nodes_draw_too(engine):
    location = {"name": "pool", "generation": 1, "resourceSliceCount": 3}
    slices = [
        pool(draws("here", c="4"), name="here", pool=location),
        pool(draws("there", c="4"), name="there", pool=location, nodeName="n2"),
        pool(
            name="counters",
            pool=location,
            devices=None,
            allNodes=True,
            sharedCounters=[{"name": "s", "counters": {"c": {"value": "7"}}}],
        ),
    ]
    state = AllocatedState(devices={("gpu.example.com", "pool", "there")})
    assert names(engine(slices, [device_class()], features=ALL_FEATURES).allocate(node(), [claim(ask())])) == [["here"]]
    assert engine(slices, [device_class()], allocated=state, features=ALL_FEATURES).allocate(node(), [claim(ask())]) is None
