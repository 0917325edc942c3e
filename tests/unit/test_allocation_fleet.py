"""A fleet keeps answers, drops those that rest on what changed, and answers as if every node were asked in turn."""

import gc
from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from reparto.allocation import AllocatedState, AllocationError, Allocator, FailureKind, Fleet, GaveUp, Sample
from reparto.allocation.fleet import QUESTIONS
from reparto.allocation.inventory import Inventory
from reparto.allocation.journal import KEPT, Journal
from reparto.model.v1 import ResourceClaim, ResourceClaimStatus, ResourceSlice
from unit.allocation_objects import (
    ALL_FEATURES,
    DRIVER,
    allocated_claim,
    ask,
    claim,
    device_class,
    everything,
    names,
    node,
    published,
)

MODEL = f'device.attributes["{DRIVER}"].model == "a"'


class Counting(Allocator):
    """Counts how often it is really asked, and where."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.asked: list[str] = []

    def solve(self, setting, prepared):
        self.asked.append(setting.node.metadata.name)
        return super().solve(setting, prepared)


def gpus(node_name: str, *devices: Any, generation: int = 1) -> ResourceSlice:
    """The only slice of the only pool of a node."""
    listed = [{"name": device} if isinstance(device, str) else device for device in devices]
    location = {"name": node_name, "generation": generation, "resourceSliceCount": 1}
    return published(f"slice-{node_name}", driver=DRIVER, pool=location, nodeName=node_name, devices=listed)


def network(*devices: str, **spec: Any) -> ResourceSlice:
    """A pool that is not any node's own."""
    location = {"name": "net", "generation": 1, "resourceSliceCount": 1}
    listed = [{"name": device} for device in devices]
    return published("net", driver="net.example.com", pool=location, devices=listed, **(spec or {"allNodes": True}))


def fleet_of(*slices: ResourceSlice, on: Sequence[str] = ("a", "b", "c"), state: AllocatedState | None = None, **options: Any):
    """A fleet with a counting allocator over it."""
    classes = options.pop("classes", [device_class()])
    allocator = Counting(slices, classes, allocated=state or AllocatedState(), features=ALL_FEATURES, **options)
    return Fleet(allocator, [node(name) for name in on]), allocator


def take(fleet: Fleet, position: int, wanted: ResourceClaim) -> ResourceClaim:
    """The claim with what it gets on a node, counted."""
    results = fleet.allocate(position, [wanted])
    assert results is not None
    held = msgspec.structs.replace(wanted, status=ResourceClaimStatus(allocation=results[0]))
    fleet.allocator.allocated.add(held)
    return held


def held(device: str, on: str, name: str = "holder", **fields: Any) -> ResourceClaim:
    return allocated_claim({"device": device, "pool": on, **fields}, name=name)


ONE = claim(ask())


# --- walking ---------------------------------------------------------------------------------------------------------------------


def test_a_walk_wraps_around_and_stops_where_enough_nodes_fit():
    fleet, _ = fleet_of(gpus("a", "x"), gpus("b"), gpus("c", "x"), gpus("d", "x"), on="abcd")
    assert fleet.feasible([ONE]) == Sample([0, 2, 3], 4)
    assert fleet.feasible([ONE], start=1, wanted=2) == Sample([2, 3], 3)
    assert fleet.feasible([ONE], start=3, wanted=2) == Sample([3, 0], 2)
    assert fleet.feasible([ONE], start=7, wanted=1) == Sample([3], 1)
    assert fleet.feasible([ONE], start=1, wanted=4) == Sample([2, 3, 0], 4)
    assert fleet.feasible([ONE], wanted=0) == Sample([], 0)


def test_a_walk_asks_no_further_than_it_has_to():
    fleet, allocator = fleet_of(gpus("a", "x"), gpus("b", "x"), gpus("c", "x"))
    fleet.feasible([ONE], start=1, wanted=1)
    assert allocator.asked == ["b"]
    assert fleet.first([ONE]) == 0
    assert allocator.asked == ["b", "a"]


def test_the_first_node_that_fits_comes_before_known_ones_behind_it():
    fleet, _ = fleet_of(gpus("a"), gpus("b", "x"), gpus("c", "x"))
    assert fleet.feasible([ONE], start=2, wanted=1) == Sample([2], 1)
    assert fleet.first([ONE]) == 1


def test_nothing_fits_without_nodes_and_everything_without_claims():
    assert fleet_of(on=())[0].feasible([ONE]) == Sample([], 0)
    assert fleet_of(on=())[0].first([ONE]) is None
    fleet, allocator = fleet_of()
    assert fleet.feasible([]) == Sample([0, 1, 2], 3)
    assert fleet.allocate(1, []) == []
    assert not allocator.asked


def test_a_fleet_has_each_node_once():
    with pytest.raises(ValueError, match="two nodes are called a"):
        fleet_of(on=("a", "b", "a"))


def test_allocations_are_those_of_the_allocator():
    fleet, allocator = fleet_of(gpus("a", "x", "y"), gpus("b", "x"))
    pair = claim(ask(2))
    assert fleet.allocate(0, [pair]) == allocator.allocate(node("a"), [pair])
    assert names(fleet.allocate(0, [pair])) == [["x", "y"]]
    assert fleet.allocate(1, [pair]) is None


# --- what is kept ----------------------------------------------------------------------------------------------------------------


def test_claims_whose_specs_say_the_same_are_one_question():
    fleet, allocator = fleet_of(gpus("a", "x"))
    fleet.feasible([ONE])
    fleet.feasible([claim(ask(), name="twin")])  # an equal spec, another object
    assert allocator.asked == ["a", "b", "c"]
    fleet.feasible([claim(ask(2))])
    assert len(allocator.asked) == 6


def test_what_is_taken_from_a_pool_of_one_node_is_asked_again_there_only():
    fleet, allocator = fleet_of(gpus("a", "x", "y"), gpus("b", "x"), gpus("c", "x"))
    fleet.feasible([ONE])
    take(fleet, 0, ONE)
    del allocator.asked[:]
    assert fleet.feasible([ONE]) == Sample([0, 1, 2], 3)
    assert allocator.asked == ["a"]
    assert names(fleet.allocate(0, [ONE])) == [["y"]]


def test_what_is_taken_from_a_pool_of_many_nodes_is_asked_again_on_those_that_see_it():
    east = {"nodeSelector": {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["b"]}]}]}}
    fleet, allocator = fleet_of(network("port", **east), gpus("c", "x"))
    fleet.feasible([ONE])
    take(fleet, 1, ONE)
    del allocator.asked[:]
    assert fleet.feasible([ONE]) == Sample([2], 3)
    assert allocator.asked == ["b"]


@pytest.mark.parametrize("count", [3, 100], ids=["few nodes", "many nodes"])
def test_a_device_that_all_nodes_see_is_gone_everywhere_and_comes_back_everywhere(count):
    fleet, _ = fleet_of(network("port"), on=[f"n{number:03}" for number in range(count)])
    assert fleet.feasible([ONE], wanted=2) == Sample([0, 1], 2)
    assert len(fleet.feasible([ONE]).positions) == count
    holder = take(fleet, 1, ONE)
    assert fleet.feasible([ONE]) == Sample([], count)
    fleet.allocator.allocated.remove(holder)
    assert len(fleet.feasible([ONE]).positions) == count


def test_what_does_not_fit_is_not_tried_again_before_something_is_freed():
    fleet, allocator = fleet_of(gpus("a", "x", "y"), on="a")
    pair, holder = claim(ask(2)), held("x", "a")
    fleet.allocator.allocated.add(holder)
    assert fleet.first([pair]) is None
    fleet.allocator.allocated.add(held("y", "a", name="other"))
    assert fleet.first([pair]) is None
    assert allocator.asked == ["a"]
    fleet.allocator.allocated.remove(holder)
    assert fleet.first([pair]) is None
    assert allocator.asked == ["a", "a"]


def test_questions_that_nobody_asks_any_more_are_forgotten():
    fleet, allocator = fleet_of(gpus("a", "x"), on="a")
    fleet.first([ONE])
    for number in range(QUESTIONS + 1):
        fleet.first([claim(ask(2, f"{number} == {number}"))])
    del allocator.asked[:]
    assert fleet.first([ONE]) == 0
    assert allocator.asked == ["a"]


# --- taking that helps -----------------------------------------------------------------------------------------------------------


def counting_pool(*devices: dict[str, Any], total: str = "1") -> list[ResourceSlice]:
    location = {"name": "a", "generation": 1, "resourceSliceCount": 2}
    counters = [{"name": "s", "counters": {"c": {"value": total}}}]
    return [
        published("1", driver=DRIVER, pool=location, nodeName="a", devices=list(devices)),
        published("2", driver=DRIVER, pool=location, nodeName="a", sharedCounters=counters),
    ]


def draws(amount: str, *groups: str) -> dict[str, Any]:
    return {"consumesCounters": [{"counterSet": "s", "counters": {"c": {"value": amount}}, "compatibilityGroups": list(groups)}]}


def test_who_shares_a_device_pays_for_no_counters_so_a_share_may_help_others():
    # The device draws two of one counter. Somebody shares it all the same, and then it is paid for (3.8, step 4).
    fleet, _ = fleet_of(*counting_pool({"name": "x", "allowMultipleAllocations": True, **draws("2")}), on="a")
    assert fleet.first([ONE]) is None
    fleet.allocator.allocated.add(held("x", "a", shareID="00000000-0000-4000-8000-000000000009"))
    assert fleet.first([ONE]) == 0


def test_a_device_that_frees_counters_helps_others_when_it_is_taken():
    fleet, _ = fleet_of(
        *counting_pool({"name": "x", "attributes": {"model": {"string": "a"}}, **draws("2")}, {"name": "y", **draws("-1")}), on="a"
    )
    only_x = claim(ask(1, f'device.attributes["{DRIVER}"].?model.orValue("") == "a"'))
    assert fleet.first([only_x]) is None
    fleet.allocator.allocated.add(held("y", "a"))
    assert fleet.first([only_x]) == 0


def test_a_device_that_should_not_be_there_may_change_what_groups_have_in_common():
    # The first allocated device in the order of the pool counts (3.16): w alone demands no groups, v before it demands g.
    devices = ({"name": "v", **draws("0", "g")}, {"name": "w", **draws("0")}, {"name": "x", **draws("0", "g")})
    fleet, _ = fleet_of(*counting_pool(*devices), on="a")
    fleet.allocator.allocated.add(held("w", "a", name="one"))
    fleet.allocator.allocated.add(held("v", "a", name="two"))
    fleet.allocator.allocated.remove(held("v", "a", name="two"))
    assert fleet.first([ONE]) is None
    fleet.allocator.allocated.add(held("v", "a", name="two"))
    assert fleet.first([ONE]) == 0


def test_an_error_may_come_up_behind_devices_that_were_passed_over_as_too_many():
    # 20 good devices and 13 more would be one too many for a claim, so nobody looks beyond the first 20 (SIZE, 3.5). With some of
    # them in use the search comes by the one on which the selector fails.
    good = [{"name": f"d{number:02}", "attributes": {"model": {"string": "a"}}} for number in range(24)]
    fleet, _ = fleet_of(gpus("a", *good, "e"), on="a")
    wanted = claim([ask(20, MODEL), ask(1, "false")], ask(13))
    assert fleet.first([wanted]) is None
    for number in range(5):
        fleet.allocator.allocated.add(held(f"d{number:02}", "a", name=f"holder-{number}"))
    with pytest.raises(AllocationError, match="no such key: model"):
        fleet.first([wanted])


# --- errors ----------------------------------------------------------------------------------------------------------------------


def test_an_error_of_the_pod_ends_the_walk_that_meets_it_and_no_other():
    fleet, _ = fleet_of(gpus("a", {"name": "x", "attributes": {"model": {"string": "a"}}}), gpus("b", "x"), gpus("c"))
    wanted = claim(ask(1, MODEL))
    assert fleet.first([wanted]) == 0
    assert fleet.feasible([wanted], start=2, wanted=1) == Sample([0], 2)
    with pytest.raises(AllocationError, match="no such key: model") as error:
        fleet.feasible([wanted])
    assert not error.value.node_only
    assert fleet.first([wanted]) == 0


def test_an_error_names_the_claims_of_the_pod_that_meets_it():
    fleet, _ = fleet_of(gpus("a", {"name": "x", "attributes": {"model": {"string": "a"}}}), gpus("b", "x"))
    assert fleet.first([claim(ask(1, MODEL), name="former")]) == 0
    with pytest.raises(AllocationError, match="claim ns/latter: selector #0"):
        fleet.feasible([claim(ask(1, MODEL), name="latter")])


def test_an_error_of_one_node_is_an_answer():
    fleet, allocator = fleet_of(gpus("a", "x", "x"), gpus("b", "x"))
    assert fleet.feasible([ONE]) == Sample([1], 3)
    for _ in range(2):
        with pytest.raises(AllocationError, match="invalid resource pools were encountered") as error:
            fleet.allocate(0, [ONE])
        assert error.value.kind is FailureKind.POOL_INVALID and error.value.node_only
    assert allocator.asked == ["a", "b", "c"]


class Defeated(Counting):
    """Gives up on every node, and notes after how many steps."""

    def solve(self, setting, prepared):
        self.asked.append(setting.step_budget)
        raise GaveUp(setting.step_budget)


def test_the_steps_of_a_pod_do_not_grow_with_the_cluster():
    allocator = Defeated([], [device_class()], features=ALL_FEATURES, step_budget=40_000)
    fleet = Fleet(allocator, [node(name) for name in "abcd"])
    for _ in range(2):
        assert fleet.feasible([ONE]) == Sample([], 4)
    with pytest.raises(GaveUp):
        fleet.allocate(2, [ONE])
    assert allocator.asked == [40_000, 20_000, 10_000, 10_000]


# --- slices, classes and nodes ---------------------------------------------------------------------------------------------------


def test_a_slice_that_comes_changes_and_goes_is_followed_where_it_is_seen():
    fleet, allocator = fleet_of(gpus("b", "x"))
    assert fleet.feasible([ONE]) == Sample([1], 3)
    del allocator.asked[:]
    allocator.put_slice(gpus("a", "x"))
    assert fleet.feasible([ONE]) == Sample([0, 1], 3)
    assert allocator.asked == ["a"]
    allocator.put_slice(gpus("a", {"name": "x", "taints": [{"key": "sick", "effect": "NoSchedule"}]}))
    assert fleet.feasible([ONE]) == Sample([1], 3)
    allocator.remove_slice("slice-b")
    assert fleet.feasible([ONE]) == Sample([], 3)
    allocator.remove_slice("slice-b")


def test_a_slice_that_moves_to_another_node_is_followed_on_both():
    fleet, allocator = fleet_of(gpus("a", "x"))
    assert fleet.feasible([ONE]) == Sample([0], 3)
    moved = msgspec.structs.replace(gpus("c", "x"), metadata=gpus("a").metadata)
    allocator.put_slice(moved)
    assert fleet.feasible([ONE]) == Sample([2], 3)


def test_a_slice_elsewhere_completes_a_pool_here():
    def part(on: str) -> ResourceSlice:
        location = {"name": "p", "generation": 1, "resourceSliceCount": 2}
        return published(f"part-{on}", driver=DRIVER, pool=location, nodeName=on, devices=[{"name": f"x-{on}"}])

    fleet, allocator = fleet_of(part("a"))
    assert fleet.feasible([ONE]) == Sample([], 3)
    allocator.put_slice(part("b"))
    assert fleet.feasible([ONE]) == Sample([0, 1], 3)
    allocator.remove_slice("part-a")
    assert fleet.feasible([ONE]) == Sample([], 3)


def test_a_pool_that_is_published_again_as_it_was_is_not_searched_again():
    fleet, allocator = fleet_of(gpus("a", "x"), on="a")
    pair = claim(ask(2))
    assert fleet.first([ONE]) == 0 and fleet.first([pair]) is None
    del allocator.asked[:]
    allocator.put_slice(gpus("a", "x", generation=2))
    assert fleet.first([ONE]) == 0 and fleet.first([pair]) is None
    assert allocator.asked == []
    allocator.put_slice(gpus("a", "x", "y", generation=3))
    assert fleet.first([ONE]) == 0 and fleet.first([pair]) == 0
    assert allocator.asked == ["a", "a"]


def test_what_was_given_back_while_a_pool_was_published_again_counts():
    fleet, allocator = fleet_of(gpus("a", "x"), on="a")
    holder = take(fleet, 0, ONE)
    assert fleet.first([ONE]) is None
    allocator.put_slice(gpus("a", "x", generation=2))
    allocator.allocated.remove(holder)
    assert fleet.first([ONE]) == 0
    allocator.allocated.add(holder)
    assert fleet.first([ONE]) is None
    allocator.allocated.remove(holder)
    allocator.put_slice(gpus("a", "x", generation=3))
    assert fleet.first([ONE]) == 0


SICK: dict[str, Any] = {"taints": [{"key": "k", "effect": "NoSchedule"}]}


@pytest.mark.parametrize(
    "less",
    [
        gpus("a", "x"),
        gpus("a", "y", generation=2),
        gpus("a", {"name": "x"} | SICK, "y"),
        gpus("a", "y", "x"),
        published("slice-a", driver=DRIVER, pool={"name": "a", "generation": 2, "resourceSliceCount": 2}, nodeName="a"),
    ],
    ids=["lost", "lost and renewed", "tainted", "order", "incomplete"],
)
def test_what_does_not_fit_is_not_tried_again_with_less(less):
    fleet, allocator = fleet_of(gpus("a", "x", "y"), on="a")
    three = claim(ask(3))
    assert fleet.first([three]) is None
    del allocator.asked[:]
    allocator.put_slice(less)
    assert fleet.first([three]) is None
    another_order = [device.name for device in less.spec.devices or ()] == ["y", "x"]
    assert allocator.asked == (["a"] if another_order else [])
    del allocator.asked[:]
    allocator.put_slice(gpus("a", "x", "y", generation=3))
    assert fleet.first([three]) is None
    assert allocator.asked == (["a"] if another_order else [])
    allocator.put_slice(gpus("a", "x", "y", "z", generation=4))
    assert fleet.first([three]) == 0


def test_a_device_that_heals_is_tried_again():
    fleet, allocator = fleet_of(gpus("a", {"name": "x"} | SICK, "y"), on="a")
    pair = claim(ask(2))
    assert fleet.first([pair]) is None
    allocator.put_slice(gpus("a", "y"))
    assert fleet.first([pair]) is None
    allocator.put_slice(gpus("a", "x", "y"))
    assert fleet.first([pair]) == 0


def test_devices_that_a_pod_may_not_choose_do_not_make_it_be_tried_again():
    def of_model(name: str, model: str) -> dict[str, Any]:
        return {"name": name, "attributes": {"model": {"string": model}}}

    fleet, allocator = fleet_of(gpus("a", of_model("x", "a")), on="a")
    pair = claim(ask(2, MODEL))
    assert fleet.first([pair]) is None
    del allocator.asked[:]
    allocator.put_slice(gpus("a", of_model("x", "a"), of_model("y", "b")))
    assert fleet.first([pair]) is None and allocator.asked == []
    allocator.put_slice(gpus("a", of_model("x", "a"), of_model("y", "a")))
    assert fleet.first([pair]) == 0 and allocator.asked == ["a"]


def test_a_device_that_comes_and_cannot_be_asked_is_an_error():
    fleet, allocator = fleet_of(gpus("a", {"name": "x", "attributes": {"model": {"string": "a"}}}), on="a")
    pair = claim(ask(2, MODEL))
    assert fleet.first([pair]) is None
    allocator.put_slice(gpus("a", {"name": "x", "attributes": {"model": {"string": "a"}}}, "y"))
    with pytest.raises(AllocationError) as raised:
        fleet.first([pair])
    assert raised.value.kind == FailureKind.SELECTOR_FAILED


def test_a_device_in_use_that_is_lost_gives_its_counters_to_others():
    devices, counters = counting_pool({"name": "x"} | draws("1"), {"name": "y"} | draws("1"))
    fleet, allocator = fleet_of(devices, counters, on="a", state=AllocatedState.from_claims([held("x", "a")]))
    assert fleet.first([ONE]) is None
    allocator.put_slice(counting_pool({"name": "y"} | draws("1"))[0])
    assert fleet.first([ONE]) == 0


def test_all_devices_may_be_had_when_one_that_may_not_is_lost():
    fleet, allocator = fleet_of(gpus("a", {"name": "x"} | SICK, "y"), on="a")
    everyone = claim(everything())
    assert fleet.first([everyone]) is None
    allocator.put_slice(gpus("a", "y"))
    assert fleet.first([everyone]) == 0


def test_what_was_given_back_while_nobody_had_seen_a_changed_pool_counts():
    holder = held("x", "a")
    fleet, allocator = fleet_of(gpus("a", "x", "y", {"name": "z"} | SICK), on="a", state=AllocatedState.from_claims([holder]))
    pair = claim(ask(2))
    assert fleet.first([pair]) is None
    allocator.put_slice(gpus("a", "x", "y"))
    assert fleet.first([ONE]) == 0  # the change is known, but not that of the pair's answer
    allocator.put_slice(gpus("a", "x", "y", generation=2))
    assert fleet.moment  # so that the fleet catches up with the change before anything is given back
    allocator.allocated.remove(holder)
    assert fleet.first([pair]) == 0


def test_what_was_taken_while_nobody_had_seen_a_changed_pool_counts_if_it_helps_others():
    def of_model(name: str, model: str) -> dict[str, Any]:
        return {"name": name, "attributes": {"model": {"string": model}}}

    helper, wanted, other = of_model("x", "b") | draws("-1"), of_model("y", "a") | draws("1"), of_model("z", "b")
    fleet, allocator = fleet_of(*counting_pool(helper, wanted, other, total="0"), on="a")
    one = claim(ask(1, MODEL))
    assert fleet.first([one]) is None
    for _ in range(2):
        allocator.put_slice(counting_pool(helper, wanted, total="0")[0])
        assert fleet.moment  # so that the fleet catches up with the change before anything is taken
    allocator.allocated.add(held("x", "a"))
    assert fleet.first([one]) == 0


def test_an_answer_of_a_node_that_changed_does_not_return_with_its_pools():
    fleet, allocator = fleet_of(gpus("a", {"name": "x", "taints": []}), on="a")
    assert fleet.first([ONE]) == 0
    allocator.put_slice(gpus("a"))
    assert fleet.first([ONE]) is None
    fleet.put_node(node("a", zone="east"))
    allocator.put_slice(gpus("a", "x", generation=2))
    del allocator.asked[:]
    assert fleet.first([ONE]) == 0
    assert allocator.asked == ["a"]


@pytest.mark.parametrize(
    "changed",
    [
        gpus("a", {"name": "x", "capacity": {"b": {"value": "1"}, "a": {"value": "1"}}}),
        gpus(
            "a", {"name": "x", "capacity": {"a": {"value": "1"}, "b": {"value": "1"}}, "taints": [{"key": "k", "effect": "None"}]}
        ),
        published(
            "slice-a",
            driver=DRIVER,
            pool={"name": "a", "generation": 2, "resourceSliceCount": 1},
            nodeName="a",
            skipNodeOperations=["*"],
            devices=[{"name": "x", "capacity": {"a": {"value": "1"}, "b": {"value": "1"}}}],
        ),
    ],
    ids=["order of a map", "a taint", "something else than devices"],
)
def test_only_the_generation_of_a_pool_may_differ_for_its_content_to_be_the_same(changed):
    same = gpus("a", {"name": "x", "capacity": {"a": {"value": "1"}, "b": {"value": "1"}}})
    inventory = Inventory([same])
    before = inventory.on_node("a")[0].content
    inventory.put(gpus("a", {"name": "x", "capacity": {"a": {"value": "1"}, "b": {"value": "1"}}}, generation=7))
    assert inventory.on_node("a")[0].content is before
    inventory.put(changed)
    assert inventory.on_node("a")[0].content is not before


def test_a_pool_of_many_nodes_that_comes_is_followed_by_those_that_were_asked_before():
    fleet, allocator = fleet_of(gpus("b", "x"))
    assert fleet.feasible([ONE]) == Sample([1], 3)
    allocator.put_slice(network("port"))
    assert fleet.feasible([ONE]) == Sample([0, 1, 2], 3)


def test_what_was_given_back_while_a_pool_was_away_counts_when_it_returns():
    fleet, allocator = fleet_of(gpus("a", "x"), on="a")
    holder = take(fleet, 0, ONE)
    assert fleet.first([ONE]) is None
    allocator.remove_slice("slice-a")
    assert fleet.first([ONE]) is None
    allocator.allocated.remove(holder)
    allocator.put_slice(gpus("a", "x"))
    assert fleet.first([ONE]) == 0


def test_a_class_that_comes_changes_and_goes_is_followed():
    fleet, allocator = fleet_of(gpus("a", "x"), on="a")
    assert fleet.first([ONE]) == 0
    allocator.put_class(device_class("gpu", "false"))
    assert fleet.first([ONE]) is None
    allocator.remove_class("gpu")
    with pytest.raises(AllocationError, match=r'deviceclass\.resource\.k8s\.io "gpu" not found'):
        fleet.first([ONE])
    allocator.put_class(device_class())
    assert fleet.first([ONE]) == 0


def test_a_class_that_nobody_asks_for_changes_nothing():
    fleet, allocator = fleet_of(gpus("a", "x"), on="a")
    fleet.first([ONE])
    allocator.put_class(device_class("other"))
    fleet.first([ONE])
    assert allocator.asked == ["a"]


def test_a_node_that_changes_is_asked_again():
    zone = {"nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "zone", "operator": "In", "values": ["east"]}]}]}}
    fleet, _ = fleet_of(network("port", **zone))
    assert fleet.first([ONE]) is None
    assert fleet.put_node(node("b", zone="east")) == 1
    assert fleet.feasible([ONE]) == Sample([1], 3)


def test_nodes_come_and_go():
    fleet, allocator = fleet_of(gpus("a", "x"), gpus("c", "x"), gpus("d", "x"))
    assert fleet.feasible([ONE]) == Sample([0, 2], 3)
    del allocator.asked[:]
    fleet.remove_node("b")
    assert fleet.put_node(node("d")) == 2
    assert fleet.feasible([ONE]) == Sample([0, 1, 2], 3)
    assert allocator.asked == ["d"]
    assert names(fleet.allocate(1, [ONE])) == [["x"]]
    fleet.remove_node("nobody")


def test_of_two_slices_that_cannot_be_read_the_first_by_name_is_named():
    def broken(name: str) -> ResourceSlice:
        terms = [{"matchExpressions": [{"key": "zone", "operator": "Near", "values": ["east"]}]}]
        selector = {"nodeSelectorTerms": terms}
        location = {"name": name, "generation": 1, "resourceSliceCount": 1}
        return published(name, driver=DRIVER, pool=location, nodeSelector=selector, devices=[])

    fleet, allocator = fleet_of(broken("p"), broken("o"))
    with pytest.raises(AllocationError, match="for slice o:"):
        fleet.first([ONE])
    allocator.put_slice(broken("m"))
    allocator.put_slice(broken("k"))
    allocator.put_slice(broken("l"))
    with pytest.raises(AllocationError, match="for slice k:"):
        fleet.first([ONE])
    allocator.put_slice(broken("m"))
    allocator.remove_slice("k")
    with pytest.raises(AllocationError, match="for slice l:"):
        fleet.first([ONE])


# --- devices and their numbers ---------------------------------------------------------------------------------------------------


def test_a_device_that_changes_is_matched_anew():
    fleet, allocator = fleet_of(gpus("a", {"name": "x", "attributes": {"model": {"string": "b"}}}), on="a")
    wanted = claim(ask(1, MODEL))
    assert fleet.first([wanted]) is None
    allocator.put_slice(gpus("a", {"name": "x", "attributes": {"model": {"string": "a"}}}))
    assert fleet.first([wanted]) == 0


def test_a_device_whose_capacity_changes_is_matched_anew():
    def sized(memory: str) -> ResourceSlice:
        return gpus("a", {"name": "x", "capacity": {"memory": {"value": memory}}})

    fleet, allocator = fleet_of(sized("10Gi"), on="a")
    wanted = claim(ask(1, f'device.capacity["{DRIVER}"].memory.compareTo(quantity("20Gi")) >= 0'))
    assert fleet.first([wanted]) is None
    allocator.put_slice(sized("40Gi"))
    assert fleet.first([wanted]) == 0


def test_a_capacity_that_changes_is_drawn_on_anew():
    def sized(memory: str) -> ResourceSlice:
        return gpus("a", {"name": "x", "capacity": {"memory": {"value": memory}}})

    fleet, allocator = fleet_of(sized("10Gi"), on="a")
    wanted = claim(ask(1, capacity={"requests": {"memory": "20Gi"}}))
    assert fleet.first([wanted]) is None
    allocator.put_slice(sized("40Gi"))
    assert fleet.first([wanted]) == 0


def numbers(inventory: Inventory) -> list[int]:
    return [record.number for record in inventory.on_node("a")[0].devices]


def test_only_a_device_that_is_as_it_was_keeps_its_number():
    gone: list[int] = []
    tainted = {"name": "y", "taints": [{"key": "sick", "effect": "NoSchedule"}]}
    inventory = Inventory([gpus("a", "x", "y", "z")], gone.extend)
    assert numbers(inventory) == [0, 1, 2]
    inventory.put(gpus("a", "z", tainted, {"name": "x", "allowMultipleAllocations": True}, generation=2))
    assert numbers(inventory) == [2, 1, 3]
    assert gone == [0]
    inventory.put(gpus("a", "w"))
    inventory.put(gpus("a", "w", "z"))
    assert numbers(inventory) == [4, 2]
    assert sorted(gone) == [0, 1, 3]
    inventory.remove("slice-a")
    assert sorted(gone) == [0, 1, 2, 3, 4]


def test_changes_leave_nothing_behind():
    fleet, allocator = fleet_of(gpus("a", "x"), on="a")
    wanted = claim(ask(1, f'device.attributes["{DRIVER}"].?serial.orValue("") != ""', capacity={"requests": {"memory": "1Gi"}}))

    def republish(number: int) -> None:
        device = {
            "name": "x",
            "attributes": {"serial": {"string": str(number)}},
            "capacity": {"memory": {"value": f"{number + 9}Gi"}},
        }
        allocator.put_slice(gpus("a", device, generation=number))
        assert fleet.first([wanted]) == 0
        allocator.allocated.remove(take(fleet, 0, wanted))

    def alive() -> Counter[str]:
        gc.collect()
        return Counter(type(each).__name__ for each in gc.get_objects())

    for number in range(50):
        republish(number)
    before = alive()
    for number in range(50, 1050):
        republish(number)
    kept = alive() - before
    # Journals and what is known of capacities are bounded by themselves, and grow until then.
    bounded = {"SliceChange", "PoolChange", "Effect", "Draw", "set", "list", "dict", "tuple"}
    assert {name: count for name, count in kept.items() if name not in bounded and count > 500} == {}
    assert all(kept[name] <= 4000 for name in bounded)


def test_a_journal_is_bounded_and_says_so_to_readers_that_were_away():
    journal: Journal[int] = Journal()
    for number in range(2 * KEPT):
        journal.write(number)
    assert journal.end == 2 * KEPT
    assert journal.since(KEPT) == list(range(KEPT, 2 * KEPT))
    assert journal.since(KEPT - 1) is None
    assert journal.since(journal.end) == []


def test_a_fleet_that_was_away_for_too_long_asks_everything_anew():
    fleet, allocator = fleet_of(gpus("a", "x"), gpus("b", "x"), on="ab")
    assert fleet.feasible([ONE]) == Sample([0, 1], 2)
    holder = held("x", "a")
    for _ in range(KEPT):
        allocator.allocated.add(holder)
        allocator.allocated.remove(holder)
    allocator.allocated.add(holder)
    assert fleet.feasible([ONE]) == Sample([1], 2)
