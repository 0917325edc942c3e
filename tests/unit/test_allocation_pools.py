"""Pools as a node sees them: generations, completeness, validity (upstream-dra.md 3.3)."""

import pytest

from reparto.allocation import AllocationError, Allocator, FailureKind, Features
from reparto.allocation.plain import PlainAllocator
from unit.allocation_objects import ALL_FEATURES, DRIVER, ask, claim, device_class, everything, names, node, published


def part(name: str, *devices: str, generation: int = 1, count: int = 1, on: str | None = "n1", **spec):
    where = {} if on is None else {"nodeName": on}
    location = {"name": "pool", "generation": generation, "resourceSliceCount": count}
    return published(name, driver=DRIVER, pool=location, devices=[{"name": device} for device in devices], **where, **spec)


@pytest.fixture(params=[Allocator, PlainAllocator])
def given(request):
    def allocate(slices, request_=None, features=ALL_FEATURES, on="n1"):
        allocator = request.param(slices, [device_class()], features=features)
        return names(allocator.allocate(node(on), [claim(request_ or ask())]))

    return allocate


def test_a_newer_generation_replaces_the_older_one(given):
    assert given([part("a", "old"), part("b", "new", generation=2)]) == [["new"]]


def test_a_pool_with_a_newer_generation_elsewhere_is_ignored_silently(given):
    slices = [part("a", "old", count=2), part("b", generation=2, on="n2", count=2)]
    assert given(slices) is None
    assert given(slices, everything()) is None  # not even an error for "all"


def test_an_own_complete_set_needs_no_look_at_other_nodes(given):
    assert given([part("a", "old"), part("b", generation=2, on="n2")]) == [["old"]]


def test_an_incomplete_pool_offers_nothing_and_forbids_all(given):
    slices = [part("a", "x", count=2)]
    assert given(slices) is None
    with pytest.raises(AllocationError, match=r"resource pool gpu\.example\.com/pool is currently being updated") as error:
        given(slices, everything())
    assert error.value.kind is FailureKind.POOL_INCOMPLETE and not error.value.node_only


def test_slices_of_other_nodes_complete_a_pool(given):
    assert given([part("a", "x", count=2), part("b", "y", count=2, on="n2")], ask(2)) is None
    assert given([part("a", "x", count=2), part("b", "y", count=2, on="n2")], ask(1)) == [["x"]]


def test_one_slice_too_many_makes_a_pool_incomplete(given):
    assert given([part("a", "x"), part("b", "y")]) is None


@pytest.mark.parametrize(
    "slices",
    [
        [part("a", "x", "x")],
        [part("a", "x", count=2), part("b", "x", count=2)],
        [
            published(
                "a",
                driver=DRIVER,
                pool={"name": "pool", "generation": 1, "resourceSliceCount": 1},
                nodeName="n1",
                devices=[{"name": "x", "consumesCounters": [{"counterSet": "nowhere", "counters": {"c": {"value": "1"}}}]}],
            )
        ],
    ],
    ids=["twice in a slice", "twice in a pool", "unknown counter set"],
)
def test_an_invalid_pool_is_an_error_of_its_node_only(given, slices):
    with pytest.raises(AllocationError, match="invalid resource pools were encountered") as error:
        given(slices)
    assert error.value.node_only


def test_an_invalid_pool_does_not_matter_if_another_serves(given):
    good = published(
        "g", driver="a.io", pool={"name": "p", "generation": 1, "resourceSliceCount": 1}, nodeName="n1", devices=[{"name": "good"}]
    )
    assert given([part("a", "x", "x"), good]) == [["good"]]
    with pytest.raises(AllocationError, match="currently invalid"):
        given([part("a", "x", "x"), good], everything())


def test_device_names_may_repeat_on_other_nodes(given):
    assert given([part("a", "x", count=2), part("b", "x", count=2, on="n2")]) == [["x"]]


def test_a_slice_that_says_nothing_about_nodes_is_passed_over(given):
    assert given([part("a", "x", on=None)]) is None


def test_slices_with_compatibility_groups_do_not_exist_without_the_feature(given):
    location = {"name": "pool", "generation": 1, "resourceSliceCount": 2}
    consuming = [{"counterSet": "s", "counters": {"c": {"value": "1"}}, "compatibilityGroups": ["g"]}]
    slices = [
        published("a", driver=DRIVER, pool=location, nodeName="n1", devices=[{"name": "x", "consumesCounters": consuming}]),
        published(
            "b", driver=DRIVER, pool=location, nodeName="n1", sharedCounters=[{"name": "s", "counters": {"c": {"value": "1"}}}]
        ),
    ]
    assert given(slices) == [["x"]]
    with pytest.raises(AllocationError, match="currently being updated"):
        given(slices, everything(), features=Features(partitionable_devices=True))


def test_nodes_that_see_the_same_slices_share_a_pool():
    allocator = Allocator([part("a", "x", on=None, allNodes=True)], [device_class()], features=ALL_FEATURES)
    first, second = (allocator.setting(node(name)).pools[0] for name in ("n1", "n2"))
    assert first is second
