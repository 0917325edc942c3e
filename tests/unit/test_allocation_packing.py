"""Best fit takes the device whose loss costs the rest least. The right choices are argued from what would stop being possible."""

from typing import Any

import pytest

from reparto.allocation import AllocatedState, Allocator
from reparto.allocation.best_node import best_node
from reparto.allocation.packing import Shape
from reparto.model.v1 import ResourceClaim, ResourceSlice
from unit.allocation_objects import ALL_FEATURES, DRIVER, allocated_claim, ask, claim, device_class, names, node, pool

KIND = f"device.attributes['{DRIVER}'].kind"


def memory(amount: str) -> dict[str, Any]:
    return {"memory": {"value": amount}}


def partition(gpu: int, kind: str, size: int, start: int, **fields: Any) -> dict[str, Any]:
    """A partition of a GPU: so many of its slots, from `start` on."""
    slots = {f"slot-{slot}": {"value": "1"} for slot in range(start, start + size)}
    return {
        "name": f"gpu-{gpu}-{kind}-{start}",
        "attributes": {"kind": {"string": kind}, "gpu": {"int": gpu}},
        "capacity": memory(f"{10 * size}Gi"),
        "consumesCounters": [{"counterSet": f"gpu-{gpu}", "counters": slots}],
    } | fields


def gpus(count: int, *, name: str = "n1") -> list[ResourceSlice]:
    """GPUs of four slots: `quarter` anywhere, `half` on 0-1 or 2-3, `large` on 0-2 only, `whole`."""
    location = {"name": name, "generation": 1, "resourceSliceCount": 2}
    devices = [
        partition(gpu, kind, size, start)
        for gpu in range(count)
        for kind, size, starts in (("quarter", 1, range(4)), ("half", 2, (0, 2)), ("large", 3, (0,)), ("whole", 4, (0,)))
        for start in starts
    ]
    slots = {f"slot-{slot}": {"value": "1"} for slot in range(4)}
    sets = [{"name": f"gpu-{gpu}", "counters": slots} for gpu in range(count)]
    return [
        pool(*devices, name=name, pool=location, nodeName=name),
        pool(name=f"{name}-counters", pool=location, devices=None, sharedCounters=sets, nodeName=name),
    ]


def wants(kind: str, count: int = 1, **fields: Any) -> dict[str, Any]:
    return ask(count, f"{KIND} == '{kind}'", **fields)


def chosen(slices: list[ResourceSlice], asked: ResourceClaim, *held: str, policy: str = "best-fit") -> list[str] | None:
    """The devices for one claim on n1, while some are held."""
    state = AllocatedState.from_claims([allocated_claim(*({"device": each} for each in held))] if held else [])
    allocator = Allocator(slices, [device_class()], allocated=state, features=ALL_FEATURES, policy=policy)  # type: ignore[arg-type]
    found = names(allocator.allocate(node(), [asked]))
    return None if found is None else found[0]


# --- partitions -------------------------------------------------------------------------------------------------------------------


def test_a_small_partition_goes_where_it_ends_the_fewest_large_ones():
    # Slot 3 is the only one that `large` does not need; slots 0, 1 and 2 would end it.
    assert chosen(gpus(1), claim(wants("quarter"))) == ["gpu-0-quarter-3"]
    assert chosen(gpus(1), claim(wants("quarter")), policy="first-fit") == ["gpu-0-quarter-0"]


def test_the_next_one_goes_beside_it_rather_than_into_the_other_half():
    # 2 ends `large`; 0 and 1 would end `large` and the only half that is left.
    assert chosen(gpus(1), claim(wants("quarter")), "gpu-0-quarter-3") == ["gpu-0-quarter-2"]


def test_a_gpu_that_is_used_already_comes_before_a_fresh_one_even_if_it_comes_later():
    assert chosen(gpus(3), claim(wants("half")), "gpu-2-quarter-3") == ["gpu-2-half-0"]
    assert chosen(gpus(3), claim(wants("half")), "gpu-2-quarter-3", policy="first-fit") == ["gpu-0-half-0"]


def test_of_two_used_gpus_the_fuller_one_is_taken_where_the_loss_is_equal():
    # One quarter in either: the last one of GPU 1, or one of two on GPU 0, of which the other one then is left over.
    held = ("gpu-0-half-0", "gpu-1-half-0", "gpu-1-quarter-2")
    assert chosen(gpus(2), claim(wants("quarter")), *held) == ["gpu-1-quarter-3"]


def test_equal_losses_leave_it_to_the_order_in_which_devices_are_published():
    assert chosen(gpus(3), claim(wants("whole"))) == ["gpu-0-whole-0"]
    assert chosen(gpus(3), claim(wants("whole")), "gpu-0-whole-0") == ["gpu-1-whole-0"]


def test_several_devices_of_one_request_are_chosen_each_after_the_former():
    assert chosen(gpus(2), claim(wants("quarter", 3))) == ["gpu-0-quarter-3", "gpu-0-quarter-2", "gpu-0-quarter-0"]


def test_a_later_request_sees_what_the_earlier_one_took():
    assert chosen(gpus(2), claim(wants("quarter"), wants("large"))) == ["gpu-0-quarter-3", "gpu-0-large-0"]


def test_a_request_that_any_partition_satisfies_gets_the_smallest_that_is_big_enough():
    big_enough = f"device.capacity['{DRIVER}'].memory.compareTo(quantity('15Gi')) >= 0"
    # Either half ends `large` and leaves the other half; that is less than `large` or `whole` would cost.
    assert chosen(gpus(1), claim(ask(1, big_enough))) == ["gpu-0-half-0"]
    assert chosen(gpus(1), claim(ask(1, big_enough)), "gpu-0-quarter-0") == ["gpu-0-half-2"]


def test_constraints_hold_whatever_is_cheaper():
    # GPU 1 is the cheaper one for a quarter, but the pair must be on one GPU, and only GPU 0 has room for both.
    pair = claim(wants("quarter"), wants("large"), constraints=({"matchAttribute": f"{DRIVER}/gpu"},))
    assert chosen(gpus(2), pair, "gpu-1-half-0") == ["gpu-0-quarter-3", "gpu-0-large-0"]


def test_alternatives_keep_the_order_of_whoever_wrote_them():
    assert chosen(gpus(1), claim([wants("whole"), wants("quarter")])) == ["gpu-0-whole-0"]


def test_devices_taken_and_given_back_leave_no_trace():
    state = AllocatedState()
    allocator = Allocator(gpus(2), [device_class()], allocated=state, features=ALL_FEATURES, policy="best-fit")
    holder = allocated_claim({"device": "gpu-1-half-0"})
    asked = claim(wants("quarter"))
    for _ in range(3):
        assert names(allocator.allocate(node(), [asked])) == [["gpu-0-quarter-3"]]
        state.add(holder)
        assert names(allocator.allocate(node(), [asked])) == [["gpu-1-quarter-2"]]
        state.remove(holder)


def test_a_pool_that_is_published_anew_is_judged_anew():
    devices, counters = gpus(1)
    allocator = Allocator([devices, counters], [device_class()], features=ALL_FEATURES, policy="best-fit")
    assert names(allocator.allocate(node(), [claim(wants("quarter"))])) == [["gpu-0-quarter-3"]]
    mirrored = [
        partition(0, kind, size, start)
        for kind, size, starts in (("quarter", 1, range(4)), ("half", 2, (0, 2)), ("large", 3, (1,)))
        for start in starts
    ]
    location = {"name": "n1", "generation": 1, "resourceSliceCount": 2}
    allocator.put_slice(pool(*mirrored, pool=location))
    assert names(allocator.allocate(node(), [claim(wants("quarter"))])) == [["gpu-0-quarter-0"]]


# --- whole devices and shares -----------------------------------------------------------------------------------------------------


def test_of_whole_devices_the_smallest_that_fits_is_taken():
    slices = [
        pool(
            {"name": "a", "capacity": memory("80Gi")},
            {"name": "b", "capacity": memory("40Gi")},
            {"name": "c"} | {"capacity": memory("24Gi")},
        )
    ]
    at_least = f"device.capacity['{DRIVER}'].memory.compareTo(quantity('30Gi')) >= 0"
    assert chosen(slices, claim(ask(1, at_least))) == ["b"]
    assert chosen(slices, claim(ask(1, at_least)), policy="first-fit") == ["a"]
    assert chosen(slices, claim(ask(1, capacity={"requests": {"memory": "30Gi"}}))) == ["b"]


def shareable(name: str, amount: str = "80Gi") -> dict[str, Any]:
    return {"name": name, "allowMultipleAllocations": True, "capacity": memory(amount)}


def share(device: str, amount: str, number: int) -> dict[str, Any]:
    share_id = f"00000000-0000-4000-8000-{number:012}"
    return {"device": device, "shareID": share_id, "consumedCapacity": {"memory": amount}}


def shared(slices: list[ResourceSlice], amount: str, *held: dict[str, Any]) -> list[list[str]] | None:
    state = AllocatedState.from_claims([allocated_claim(*held)] if held else [])
    allocator = Allocator(slices, [device_class()], allocated=state, features=ALL_FEATURES, policy="best-fit")
    return names(allocator.allocate(node(), [claim(ask(1, capacity={"requests": {"memory": amount}}))]))


def test_a_shared_device_in_use_comes_before_a_fresh_one():
    slices = [pool(shareable("a"), shareable("b"))]
    assert shared(slices, "10Gi") == [["a"]]
    assert shared(slices, "10Gi", share("b", "10Gi", 1)) == [["b"]]


def test_a_shared_device_in_use_comes_before_a_fresh_one_that_is_smaller():
    assert shared([pool(shareable("small", "20Gi"), shareable("used"))], "10Gi", share("used", "10Gi", 1)) == [["used"]]


def test_of_shared_devices_in_use_the_fullest_with_room_enough_is_taken():
    slices = [pool(shareable("a"), shareable("b"), shareable("c"))]
    held = share("a", "10Gi", 1), share("b", "50Gi", 2), share("c", "75Gi", 3)
    assert shared(slices, "10Gi", *held) == [["b"]]


# --- what may not be lost by another order ----------------------------------------------------------------------------------------


def test_a_device_that_breaks_the_selector_is_no_obstacle_if_first_fit_never_meets_it():
    # The second device lacks the attribute; upstream takes the first and never asks. It is smaller, so best fit would ask it first.
    slices = [
        pool({"name": "a", "attributes": {"x": {"int": 1}}, "capacity": memory("80Gi")}, {"name": "b", "capacity": memory("8Gi")})
    ]
    assert chosen(slices, claim(ask(1, f"device.attributes['{DRIVER}'].x == 1"))) == ["a"]


def test_a_policy_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="unknown policy 'worst-fit': say first-fit or best-fit"):
        Allocator([], [], policy="worst-fit")  # type: ignore[arg-type]


# --- nodes ------------------------------------------------------------------------------------------------------------------------


def test_the_best_node_is_the_one_where_no_fresh_gpu_is_needed():
    state = AllocatedState.from_claims([allocated_claim({"device": "gpu-1-half-0", "pool": "n2"})])
    slices = [*gpus(2, name="n1"), *gpus(2, name="n2"), *gpus(2, name="n3")]
    allocator = Allocator(slices, [device_class()], allocated=state, features=ALL_FEATURES, policy="best-fit")
    found = best_node(allocator, [node("n1"), node("n2"), node("n3")], [claim(wants("half"))])
    assert found is not None
    assert (found.position, names(found.allocations)) == (1, [["gpu-1-half-2"]])


def test_of_nodes_with_equal_loss_the_fuller_one_is_filled_and_else_the_first():
    state = AllocatedState.from_claims([allocated_claim({"device": "gpu-0-whole-0", "pool": "n2"})])
    slices = [*gpus(2, name="n1"), *gpus(2, name="n2"), *gpus(2, name="n3")]
    allocator = Allocator(slices, [device_class()], allocated=state, features=ALL_FEATURES, policy="best-fit")
    nodes = [node("n1"), node("n2"), node("n3")]
    whole = best_node(allocator, nodes, [claim(wants("whole"))])
    assert whole is not None and whole.position == 1
    pair = best_node(allocator, nodes, [claim(wants("whole", 2))])
    assert pair is not None and pair.position == 0


def test_there_is_no_best_node_where_nothing_fits():
    allocator = Allocator(gpus(1), [device_class()], features=ALL_FEATURES, policy="best-fit")
    assert best_node(allocator, [node("n1")], [claim(wants("whole", 2))]) is None


# --- the arithmetic ---------------------------------------------------------------------------------------------------------------


def test_costs_are_what_is_lost_and_half_of_what_stays_in_the_size_of_the_part():
    # Two slots; devices left, right and both. Weights: a half, a half, all. Unused it is worth 2, which is scaled to the size, 800.
    shape = Shape((1, 1), ((1, 0), (0, 1), (1, 1)), 800)
    # left: left and both go (1.5), right stays (0.5): 800 × (1.5 + 0.5 / 2) / 2. both: everything goes.
    assert shape.worth((1, 1), 0).costs == (700, 700, 800)
    assert shape.worth((1, 1), 0).value == 800
    # With left taken only right is possible, worth 0.5 of 2; nothing stays after it.
    assert shape.worth((0, 1), 0b001).costs == (None, 200, None)
    assert shape.worth((0, 1), 0b001).value == 200


def test_devices_without_counters_do_not_take_part_in_anything():
    assert chosen([pool("a", "b")], claim(ask(2))) == ["a", "b"]
