"""The MIG benchmark decides as the allocator does, and its small parts are right: published figures and arithmetic by hand."""

from __future__ import annotations

import random

import pytest
from benchmarks.mig_engine import SIZES, Engine, name_on, placements
from benchmarks.mig_layouts import Pools, gpu_layouts, whole_gpus
from benchmarks.mig_mixes import DYNAMIC, MIXES, Arrival, Audit, Dynamic, Shape, arrivals, mean_demand, simulate

ONE, TWO, THREE, FOUR, SEVEN = range(5)


def places(engine: Engine, size: int, state: int = 0) -> list[int]:
    """Where one partition after the other goes on one GPU."""
    found: list[int] = []
    while (answer := engine.answer(state, size)) is not None:
        found.append(placements()[answer.placement].start)
        state |= 1 << answer.placement
    return found


def test_an_a100_gets_its_small_partitions_at_slot_6_first_and_at_slot_0_after_the_other_half():
    # packing.md 4.1: one 1g at start 0 kills the only 4g and half the 3g.
    starts = places(Engine("best-fit"), ONE)
    assert starts[0] == 6
    assert set(starts[:3]) == {4, 5, 6}
    assert places(Engine("first-fit"), ONE) == [0, 1, 2, 3, 4, 5, 6]


def test_a_3g_goes_where_the_only_4g_cannot_start():
    assert places(Engine("best-fit"), THREE) == [4, 0]
    assert places(Engine("first-fit"), THREE) == [0, 4]


def test_a_gpu_can_be_cut_up_in_as_many_ways_as_published():
    # packing.md 4.1: 38 distinct multisets, 1g.20gb among the profiles.
    assert len(gpu_layouts((*SIZES, "1g.20gb"))) == 38
    assert (0, 0, 1, 1, 0) in gpu_layouts()
    assert (0, 0, 0, 1, 0) not in gpu_layouts(), "there is room beside a 4g"


@pytest.mark.parametrize("way", [way for way, choosing in DYNAMIC.items() if choosing.nodes != "fullest"])
@pytest.mark.parametrize("mix", ["MIG uniform", "openb default"])
def test_answers_put_together_from_gpus_are_the_allocator_s_over_whole_nodes(way: str, mix: str):
    choosing, nodes = DYNAMIC[way], 3
    fleet = Dynamic(choosing, Engine(choosing.policy), nodes)
    audit = fleet.audit = Audit(choosing, every=1, nodes=nodes)
    draw = random.Random(f"{way}/{mix}")
    (shapes,) = MIXES[mix]
    held: list[tuple[object, Shape]] = []
    for _ in range(120):
        if held and draw.random() < 0.35:
            placed, shape = held.pop(draw.randrange(len(held)))
            fleet.free(placed, shape)
        else:
            shape = draw.choices(list(shapes), list(shapes.values()))[0]
            if (placed := fleet.place(shape)) is not None:
                held.append((placed, shape))
    assert audit.compared > 60


def test_names_are_those_of_the_driver():
    assert name_on(3, next(n for n, each in enumerate(placements()) if each.profile.name == SIZES[FOUR])) == "gpu-3-mig-4g40gb-5-0"


def test_waste_is_the_share_of_gpus_that_serve_nobody():
    # One of 512 GPUs is in use from 1 to 3, and one from 2 on; measured from 1 to 5: 2 + 3 of 512 × 4 GPU-times.
    whole = Shape(1, SEVEN, 1.0)
    result = simulate(Pools([whole_gpus()] * 64), [Arrival(1.0, whole, 2.0), Arrival(2.0, whole, 9.0)], until=5.0, warm_up=1.0)
    assert result.waste == pytest.approx(100 * (1 - 5 / 2048))
    assert result.demand == 0


def test_pods_ask_for_all_gpus_on_average_and_openb_for_what_was_published():
    # packing.md 4.1: the demand of openb's GPU pods is 98 % of 6,212 GPUs, by 7,064 pods.
    (default,) = MIXES["openb default"]
    assert mean_demand(default) * 7064 == pytest.approx(0.98 * 6212, rel=0.01)
    pods = arrivals(MIXES["MIG uniform"], seed=5, until=20.0)
    assert sum(pod.shape.demand * pod.stays for pod in pods) / 20.0 == pytest.approx(512, rel=0.03)


def test_an_openb_pod_gets_the_smallest_profile_that_covers_it():
    # packing.md 4.1: 0.11 -> 1g, 0.16-0.23 -> 2g, 0.32-0.37 -> 3g, 0.46-0.47 -> 4g, 0.55 and more -> 7g.
    (share,) = MIXES["openb gpushare100"]
    sizes = {round(shape.demand, 2): shape.size for shape in share}
    assert [sizes[demand] for demand in (0.11, 0.16, 0.23, 0.32, 0.37, 0.46, 0.47, 0.55, 0.81)] == [
        ONE, TWO, TWO, THREE, THREE, FOUR, FOUR, SEVEN, SEVEN,
    ]  # fmt: skip
