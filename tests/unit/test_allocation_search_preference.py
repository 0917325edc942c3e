"""The order in which devices are tried can be chosen: the first solution in that order is the answer, if there is any solution."""

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from reparto.allocation import Allocator
from reparto.allocation.search import Search
from unit.allocation_objects import ALL_FEATURES, DRIVER, ask, claim, device_class, everything, node, pool


def sized(number: int, size: int) -> dict[str, Any]:
    return {"name": f"d{number}", "attributes": {"size": {"int": size}}}


SIZED = f'device.attributes["{DRIVER}"].size == {{}}'


@pytest.fixture(params=[None, -1], ids=["walking", "whole"])
def chosen(request):
    """The devices of each claim under a preference, by a search that walks or looks at the whole."""

    def choose(slices, claims, preference) -> list[list[str]] | None:
        allocator = Allocator(slices, [device_class()], features=ALL_FEATURES)
        setting = replace(allocator.setting(node()), patience=request.param)
        solutions = Search(setting, allocator.prepare(setting, claims), preference).run()
        return None if solutions is None else [[pick.device.name for pick in solution.picks] for solution in solutions]

    return choose


def backwards(alternative: Any, candidates: Sequence[Any], search: Search) -> Sequence[int]:
    return range(len(candidates) - 1, -1, -1)


def test_devices_are_tried_in_the_order_of_the_preference(chosen):
    assert chosen([pool("a", "b", "c")], [claim(ask(2))], backwards) == [["c", "b"]]


def test_a_preferred_device_gives_way_to_a_later_request(chosen):
    slices = [pool(sized(0, 1), sized(1, 2))]
    assert chosen(slices, [claim(ask(1), ask(1, SIZED.format(2)))], backwards) == [["d0", "d1"]]


def test_devices_that_a_preference_leaves_out_come_last(chosen):
    assert chosen([pool("a", "b", "c")], [claim(ask(3))], lambda *_: [1]) == [["b", "a", "c"]]


def test_mode_all_takes_what_there_is_in_published_order(chosen):
    assert chosen([pool("a", "b")], [claim(everything())], backwards) == [["a", "b"]]


def test_a_preference_sees_what_was_taken_before(chosen):
    # Each request wants a neighbour of the last device taken, the higher one first.
    def neighbour(alternative: Any, candidates: Sequence[Any], search: Search) -> Sequence[int]:
        last = search.taken[-1].record.device.name if search.taken else "d3"
        at = next(place for place, (_, record) in enumerate(candidates) if record.device.name == last)
        return sorted(range(len(candidates)), key=lambda place: (abs(place - at), -place))

    slices = [pool(*(sized(number, 1) for number in range(6)))]
    assert chosen(slices, [claim(ask(1), ask(1)), claim(ask(1), name="other")], neighbour) == [["d3", "d4"], ["d5"]]


def test_every_order_finds_a_solution_where_there_is_one(chosen):
    rng = random.Random(5)
    for _ in range(60):
        slices = [pool(*(sized(number, rng.randint(1, 3)) for number in range(7)))]
        wanted = claim(
            *(ask(rng.randint(1, 3), *([SIZED.format(rng.randint(1, 3))] if rng.random() < 0.6 else [])) for _ in range(3)),
            constraints=({"matchAttribute": f"{DRIVER}/size", "requests": ["r0", "r1"]},) if rng.random() < 0.5 else (),
        )
        shuffled = rng.sample(range(7), 7)
        first_fit = Allocator(slices, [device_class()], features=ALL_FEATURES).allocate(node(), [wanted])
        preferred = chosen(slices, [wanted], lambda *_, order=shuffled: order)
        assert (preferred is None) == (first_fit is None)


def test_walking_and_looking_at_the_whole_choose_the_same():
    rng = random.Random(6)
    for _ in range(60):
        slices = [pool(*(sized(number, rng.randint(1, 2)) for number in range(7)))]
        wanted = claim(ask(rng.randint(1, 4)), [ask(3, SIZED.format(1)), ask(2)], ask(rng.randint(1, 2), SIZED.format(1)))
        order = rng.sample(range(7), 7)
        allocator = Allocator(slices, [device_class()], features=ALL_FEATURES)
        answers = []
        for patience in (None, -1):
            setting = replace(allocator.setting(node()), patience=patience)
            solutions = Search(setting, allocator.prepare(setting, [wanted]), lambda *_, order=order: order).run()
            answers.append(None if solutions is None else [pick.device.name for pick in solutions[0].picks])
        assert answers[0] == answers[1]


def test_share_ids_are_drawn_for_the_devices_of_the_solution_alone():
    # The first share goes to a device that the second request needs, and is given back.
    shared = {"allowMultipleAllocations": True, "capacity": {"memory": {"value": "10"}}}
    slices = [pool(sized(0, 1) | shared, sized(1, 2) | shared)]
    most, all_of_one = (
        ask(1, capacity={"requests": {"memory": "6"}}),
        ask(1, SIZED.format(1), capacity={"requests": {"memory": "6"}}),
    )
    drawn = iter("abcdef")
    allocator = Allocator(slices, [device_class()], features=ALL_FEATURES, share_ids=lambda: next(drawn))
    (result,) = allocator.allocate(node(), [claim(most, all_of_one)]) or [None]
    assert [(each.device, each.share_id) for each in result.devices.results] == [("d1", "a"), ("d0", "b")]
