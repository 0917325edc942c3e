"""Questions on which an exhaustive search drowns: each has its answer, worked out by hand, within a small budget of steps.

Every expected answer is an argument in a comment: what can be counted, and in which order first fit (upstream-dra.md 3.5) takes
what is left. Names of devices start at d0, in published order. A search that goes on step by step needs more steps than the budget
for any of these, which `test_none_of_these_can_be_settled_by_trying` holds to.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from reparto.allocation import AllocatedState, AllocationError, Allocator, GaveUp, search
from reparto.allocation.feasibility import Completion
from reparto.allocation.setting import Setting
from reparto.model.v1 import ResourceClaim, ResourceSlice
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
    pool,
)

BUDGET = 20_000
MATCH_GROUP = {"matchAttribute": f"{DRIVER}/group"}
MATCH_ROOT = {"matchAttribute": f"{DRIVER}/root"}


def device(number: int, **attributes: int) -> dict[str, Any]:
    return {"name": f"d{number}", "attributes": {name: {"int": value} for name, value in attributes.items()}}


def having(attribute: str, value: int) -> str:
    return f'device.attributes["{DRIVER}"].{attribute} == {value}'


def numbered(numbers: Sequence[int]) -> list[str]:
    return [f"d{number}" for number in numbers]


def counted(devices: Sequence[dict[str, Any]], sets: Sequence[dict[str, Any]]) -> list[ResourceSlice]:
    location = {"name": "n1", "generation": 1, "resourceSliceCount": 2}
    return [pool(*devices, pool=location), pool(name="counters", pool=location, devices=None, sharedCounters=list(sets))]


def gpu(number: int, slots: int, parts: Sequence[tuple[str, int, int]], first: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """A GPU with memory slots, and its partitions: (profile, first slot, slots)."""
    devices = [
        {
            "name": f"d{first + index}",
            "attributes": {"profile": {"string": profile}},
            "consumesCounters": [
                {"counterSet": f"gpu-{number}", "counters": {f"slot-{at}": {"value": "1"} for at in range(start, start + size)}}
            ],
        }
        for index, (profile, start, size) in enumerate(parts)
    ]
    return devices, {"name": f"gpu-{number}", "counters": {f"slot-{at}": {"value": "1"} for at in range(slots)}}


def gpus(count: int, slots: int, parts: Sequence[tuple[str, int, int]]) -> list[ResourceSlice]:
    made = [gpu(number, slots, parts, number * len(parts)) for number in range(count)]
    return counted([each for devices, _ in made for each in devices], [counters for _, counters in made])


def profile(name: str) -> str:
    return f'device.attributes["{DRIVER}"].profile == "{name}"'


Question = tuple[list[ResourceSlice], list[ResourceClaim], list[list[str]] | None]


def too_few_devices() -> Question:
    # 32 of 31.
    return [pool(*(device(number) for number in range(31)))], [claim(ask(32))], None


def nothing_for_a_later_request() -> Question:
    # 8 of 16, in 12,870 ways, and then one that does not exist.
    return [pool(*(device(number, group=0) for number in range(16)))], [claim(ask(8), ask(1, having("group", 1)))], None


def nothing_for_an_earlier_request_of_another_claim() -> Question:
    slices = [pool(*(device(number, group=0) for number in range(24)))]
    return slices, [claim(ask(12), name="a"), claim(ask(12), name="b"), claim(ask(1), name="c")], None


def only_the_last_group_is_large_enough() -> Question:
    # 15 groups of 31 and one of 32, in order: only the last has enough that agree, and all of it is taken.
    devices = [device(number, group=min(number // 31, 15)) for number in range(15 * 31 + 32)]
    return [pool(*devices)], [claim(ask(32), constraints=(MATCH_GROUP,))], [numbered(range(465, 497))]


def two_attributes_agree_in_one_combination_only() -> Question:
    # Groups and roots 0 to 3, twelve devices for each pair, but 13 for (2, 1): these are the only 13 that agree in both.
    pairs = [(group, root) for group in range(4) for root in range(4) for _ in range(13 if (group, root) == (2, 1) else 12)]
    devices = [device(number, group=group, root=root) for number, (group, root) in enumerate(pairs)]
    found = [number for number, pair in enumerate(pairs) if pair == (2, 1)]
    return [pool(*devices)], [claim(ask(13), constraints=(MATCH_GROUP, MATCH_ROOT))], [numbered(found)]


def chained_requests_agree_in_one_combination_only() -> Question:
    # r0 and r1 agree in the group, r1 and r2 in the root; r0 wants kind 0, r1 kind 1, r2 kind 2. Kind 0 has groups 0 to 7 (six
    # each), kind 1 pairs group g with root g, kind 2 has three devices of every root but six of root 5: so group 5 and root 5.
    devices = [device(number, kind=0, group=number // 6, root=99) for number in range(48)]
    devices += [device(48 + number, kind=1, group=number // 6, root=number // 6) for number in range(48)]
    roots = [root for root in range(8) for _ in range(6 if root == 5 else 3)]
    devices += [device(96 + number, kind=2, group=99, root=root) for number, root in enumerate(roots)]
    wanted = claim(
        *(ask(4, having("kind", kind)) for kind in range(3)),
        constraints=(MATCH_GROUP | {"requests": ["r0", "r1"]}, MATCH_ROOT | {"requests": ["r1", "r2"]}),
    )
    third = [96 + number for number, root in enumerate(roots) if root == 5][:4]
    return [pool(*devices)], [wanted], [numbered([*range(30, 34), *range(78, 82), *third])]


def more_devices_than_distinct_values() -> Question:
    # 9 that differ, of 8 values.
    devices = [device(number, group=number % 8) for number in range(32)]
    return [pool(*devices)], [claim(ask(9), constraints=({"distinctAttribute": f"{DRIVER}/group"},))], None


def as_many_devices_as_distinct_values() -> Question:
    # 8 of 8 values, each four times in a row: the first of each four.
    devices = [device(number, group=number // 4) for number in range(32)]
    wanted = claim(ask(8), constraints=({"distinctAttribute": f"{DRIVER}/group"},))
    return [pool(*devices)], [wanted], [numbered(range(0, 32, 4))]


# A GPU of eight slots: "half" on slots 0-3 or 4-7, "pair" on 0-1, 2-3, 4-5 or 6-7 but published for 0-1, 2-3 and 4-5 only.
PARTS = [("half", 0, 4), ("half", 4, 4), ("pair", 0, 2), ("pair", 2, 2), ("pair", 4, 2)]


def counters_do_not_cover_the_sum() -> Question:
    # 8 GPUs have 64 slots. 10 halves and 13 pairs need 66.
    return gpus(8, 8, PARTS), [claim(ask(10, profile("half")), ask(13, profile("pair")))], None


def counters_cover_the_sum_in_one_layout_only() -> Question:
    # 64 slots, 8 halves and 16 pairs: every slot is needed. Pairs never reach slots 6 and 7, so on each GPU the half is on 4-7 and
    # the pairs are on 0-1 and 2-3, though the half on 0-3 comes first.
    halves = [5 * number + 1 for number in range(8)]
    pairs = [5 * number + place for number in range(8) for place in (2, 3)]
    return gpus(8, 8, PARTS), [claim(ask(8, profile("half")), ask(16, profile("pair")))], [numbered([*halves, *pairs])]


def counters_cover_the_sum_in_no_layout() -> Question:
    # 64 slots for 7 halves and 18 pairs, but a GPU holds a half and two pairs, or two halves, or three pairs: 7 x 2 + 3 < 18.
    return gpus(8, 8, PARTS), [claim(ask(7, profile("half")), ask(18, profile("pair")))], None


def only_the_last_alternatives_fit() -> Question:
    # Eight requests for 8, 7, … or 1 of eight devices: only one each leaves something for all.
    slices = [pool(*(device(number) for number in range(8)))]
    wanted = [[ask(count) for count in range(8, 0, -1)] for _ in range(8)]
    return slices, [claim(*wanted)], [numbered(range(8))]


def no_alternatives_fit() -> Question:
    # The same with seven devices: one each is eight already.
    slices = [pool(*(device(number) for number in range(7)))]
    return slices, [claim(*([ask(count) for count in range(8, 0, -1)] for _ in range(8)))], None


def an_earlier_claim_must_take_the_second_best() -> Question:
    # The first claim could have any, but the second needs 16 of group 0, which are the first 16.
    devices = [device(number, group=number // 16) for number in range(32)]
    wanted = [claim(ask(12), name="a"), claim(ask(16, having("group", 0)), name="b")]
    return [pool(*devices)], wanted, [numbered(range(16, 28)), numbered(range(16))]


def shares_fit_in_sum_but_not_in_any_split() -> Question:
    # Eight devices of 80Gi: 640Gi. Nine shares of 41Gi are 369Gi, but two of them do not fit into one device.
    devices = [
        {"name": f"d{number}", "allowMultipleAllocations": True, "capacity": {"memory": {"value": "80Gi"}}} for number in range(8)
    ]
    share = ask(1, capacity={"requests": {"memory": "41Gi"}})
    return [pool(*devices)], [claim(*[share] * 9)], None


def shares_fit_in_one_split() -> Question:
    # Four devices of 10: shares of 4, 4, 4, 4, 6, 6, 6, 6 fit only as 4 + 6 each, so the small ones must spread.
    devices = [
        {"name": f"d{number}", "allowMultipleAllocations": True, "capacity": {"memory": {"value": "10"}}} for number in range(4)
    ]
    shares = [ask(1, capacity={"requests": {"memory": str(size)}}) for size in (4, 4, 4, 4, 6, 6, 6, 6)]
    return [pool(*devices)], [claim(*shares)], [numbered([0, 1, 2, 3, 0, 1, 2, 3])]


def all_devices_with_one_in_use_by_an_earlier_request() -> Question:
    # Whichever of the 32 the first request takes, the second asks for it.
    return [pool(*(device(number) for number in range(32)))], [claim(ask(10), name="a"), claim(everything(), name="b")], None


QUESTIONS = [
    too_few_devices,
    nothing_for_a_later_request,
    nothing_for_an_earlier_request_of_another_claim,
    only_the_last_group_is_large_enough,
    two_attributes_agree_in_one_combination_only,
    chained_requests_agree_in_one_combination_only,
    more_devices_than_distinct_values,
    counters_do_not_cover_the_sum,
    counters_cover_the_sum_in_one_layout_only,
    counters_cover_the_sum_in_no_layout,
    only_the_last_alternatives_fit,
    no_alternatives_fit,
    an_earlier_claim_must_take_the_second_best,
    shares_fit_in_sum_but_not_in_any_split,
    all_devices_with_one_in_use_by_an_earlier_request,
]
EASY = [as_many_devices_as_distinct_values, shares_fit_in_one_split]


class Stubborn(Allocator):
    """Never looks at the whole."""

    def setting(self, *given: Any, **named: Any) -> Setting:
        return replace(super().setting(*given, **named), patience=None)


@pytest.mark.parametrize("question", [*QUESTIONS, *EASY], ids=lambda question: question.__name__)
def test_the_answer_is_known_and_found(question):
    slices, claims, expected = question()
    allocator = Allocator(slices, [device_class()], features=ALL_FEATURES, step_budget=BUDGET)
    assert names(allocator.allocate(node(), claims)) == expected


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.__name__)
def test_none_of_these_can_be_settled_by_trying(question):
    slices, claims, _ = question()
    with pytest.raises(GaveUp):
        Stubborn(slices, [device_class()], features=ALL_FEATURES, step_budget=BUDGET).allocate(node(), claims)


def test_all_of_32_devices_with_one_in_use():
    slices = [pool(*(device(number) for number in range(32)))]
    state = AllocatedState.from_claims([allocated_claim({"device": "d31"})])
    allocator = Allocator(slices, [device_class()], allocated=state, features=ALL_FEATURES, step_budget=BUDGET)
    assert allocator.allocate(node(), [claim(everything())]) is None


def test_what_one_request_was_refused_the_next_that_asks_the_same_does_not_look_at_again():
    # 300 looks for the first request, at the eight taken before and one more for each other: not 8 times 293.
    slices = [pool(*(device(number, group=number // 292) for number in range(300)))]
    requests = [ask(1, having("group", 1)) for _ in range(8)]
    allocator = Stubborn(slices, [device_class()], features=ALL_FEATURES, step_budget=600)
    assert names(allocator.allocate(node(), [claim(*requests)])) == [numbered(range(292, 300))]


def test_a_device_that_was_held_when_it_was_met_is_asked_about_once_it_is_free():
    # Three devices are even, d0, d50 and d98, and the last two requests need all of them, but the first tries d0 before d1.
    devices = [device(number, even=int(number in (0, 50, 98)), low=int(number < 2)) for number in range(100)]
    requests = [ask(1, having("low", 1)), ask(1, having("even", 1)), ask(2, having("even", 1))]
    allocator = Stubborn([pool(*devices)], [device_class()], features=ALL_FEATURES, step_budget=BUDGET)
    assert names(allocator.allocate(node(), [claim(*requests)])) == [["d1", "d0", "d50", "d98"]]


def test_every_order_of_requests_ends():
    slices = [pool(*(device(number, group=number // 16) for number in range(32)))]
    allocator = Allocator(slices, [device_class()], features=ALL_FEATURES, step_budget=BUDGET)
    eight, six, nothing = ask(8, having("group", 0)), ask(6, having("group", 1)), ask(1, having("group", 2))
    for order in ([eight, six, nothing], [eight, nothing, six], [nothing, eight, six]):
        assert allocator.allocate(node(), [claim(*order)]) is None


def test_nodes_that_are_filled_alike_share_one_search(monkeypatch):
    # 200 nodes of 24 devices, four in use on each: 21 of the 20 others.
    looked_at = []
    monkeypatch.setattr(search, "Completion", lambda *given: looked_at.append(given) or Completion(*given))
    monkeypatch.setattr(search, "proof_of", lambda instance: None)
    slices, holders = [], []
    for number in range(200):
        location = {"name": f"n{number}", "generation": 1, "resourceSliceCount": 1}
        slices.append(pool(*(device(each) for each in range(24)), name=f"n{number}", nodeName=f"n{number}", pool=location))
        holders.append(allocated_claim(*({"pool": f"n{number}", "device": f"d{each}"} for each in range(4)), name=f"h{number}"))
    allocator = Allocator(
        slices, [device_class()], allocated=AllocatedState.from_claims(holders), features=ALL_FEATURES, step_budget=BUDGET
    )
    assert [allocator.allocate(node(f"n{number}"), [claim(ask(21))]) for number in range(200)] == [None] * 200
    assert len(looked_at) == 1


def test_mode_all_under_a_constraint_is_an_error_where_it_is_violated_and_no_hindrance_where_it_is_not():
    # 12 of 31 devices of kind 0 for a; b asks for all of kind 1, which agree in their group, and for one that does not exist.
    def of_kinds(group_of_last: int) -> list[ResourceSlice]:
        devices = [device(number, kind=0, group=0) for number in range(31)]
        return [pool(*devices, device(31, kind=1, group=1), device(32, kind=1, group=group_of_last))]

    claims = [
        claim(ask(12, having("kind", 0)), name="a"),
        claim(
            everything(selectors=[{"cel": {"expression": having("kind", 1)}}]),
            ask(1, having("kind", 2)),
            name="b",
            constraints=(MATCH_GROUP | {"requests": ["r0"]},),
        ),
    ]
    agreeing = Allocator(of_kinds(1), [device_class()], features=ALL_FEATURES, step_budget=BUDGET)
    assert agreeing.allocate(node(), claims) is None
    with pytest.raises(AllocationError, match="a claim constraint would not be satisfied"):
        Allocator(of_kinds(2), [device_class()], features=ALL_FEATURES, step_budget=BUDGET).allocate(node(), claims)


@pytest.mark.parametrize("patience", [-1, None])
def test_mode_all_violates_a_constraint_before_capacity_is_looked_at(patience):
    # upstream-dra.md 3.8: constraints are step 6, capacity is checked again in step 7. So the device without the attribute is an
    # error although a share that is left from before leaves it no room (it allows one allocation only by now).
    small: dict[str, Any] = {**device(0), "capacity": {"memory": {"value": "1"}}, "attributes": {}}
    held = allocated_claim({"device": "d0", "shareID": "00000000-0000-4000-8000-000000000003", "consumedCapacity": {"memory": "1"}})
    wanted = claim(everything(), constraints=(MATCH_GROUP,))
    allocator = Allocator([pool(small)], [device_class()], allocated=AllocatedState.from_claims([held]), features=ALL_FEATURES)
    setting = replace(allocator.setting(node()), patience=patience)
    with pytest.raises(AllocationError, match="a claim constraint would not be satisfied"):
        search.Search(setting, allocator.prepare(setting, [wanted])).run()
