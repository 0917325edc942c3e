"""One allocator, one fleet and one state for many threads: nothing is given out twice, and no answer mixes two moments."""

import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import msgspec
import pytest

from reparto.allocation import AllocatedState, Allocator, Fleet
from reparto.model.v1 import ResourceClaim, ResourceClaimStatus, ResourceSlice
from unit.allocation_objects import ALL_FEATURES, DRIVER, ask, claim, device_class, node, published

THREADS = 8
NODES = [node(f"n{number}") for number in range(6)]
PAIR = claim(ask(2), constraints=({"matchAttribute": f"{DRIVER}/board"},))


@pytest.fixture(autouse=True)
def _impatient() -> Iterator[None]:
    """Threads change places after a few instructions, not after 5 ms."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(usual)


def slices(on: str, generation: int = 1, sick: bool = False) -> list[ResourceSlice]:
    """Eight devices on four boards, which draw on counters for seven; if `sick`, the first board is tainted."""
    location = {"name": on, "generation": generation, "resourceSliceCount": 2}
    devices = [
        {
            "name": f"d{number}",
            "attributes": {"board": {"int": number // 2}},
            "taints": [{"key": "sick", "effect": "NoSchedule"}] if sick and number < 2 else [],
            "consumesCounters": [{"counterSet": "s", "counters": {"c": {"value": "1"}}}],
        }
        for number in range(8)
    ]
    counters = [{"name": "s", "counters": {"c": {"value": "7"}}}]
    return [
        published(f"{on}-1", driver=DRIVER, pool=location, nodeName=on, devices=devices),
        published(f"{on}-2", driver=DRIVER, pool=location, nodeName=on, sharedCounters=counters),
    ]


def build() -> Fleet:
    every = [each for one in NODES for each in slices(one.metadata.name)]
    return Fleet(Allocator(every, [device_class()], allocated=AllocatedState(), features=ALL_FEATURES), NODES)


def numbered(wanted: ResourceClaim, name: str) -> ResourceClaim:
    return msgspec.structs.replace(wanted, metadata=msgspec.structs.replace(wanted.metadata, name=name, uid=name))


def devices_of(holder: ResourceClaim) -> list[tuple[str, str]]:
    assert holder.status.allocation is not None
    return [(result.pool, result.device) for result in holder.status.allocation.devices.results]


def in_threads(work: Callable[[int], Any]) -> list[Any]:
    ready = Barrier(THREADS)

    def begin(thread: int) -> Any:
        ready.wait()
        return work(thread)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(begin, range(THREADS)))


def test_threads_that_decide_and_count_under_the_lock_never_give_out_a_device_twice():
    fleet = build()
    state = fleet.allocator.allocated

    def work(thread: int) -> list[ResourceClaim]:
        rng, mine = random.Random(thread), []
        for number in range(500):
            wanted = numbered(rng.choice((PAIR, claim(ask()))), f"{thread}-{number}")
            with state.lock:
                position = fleet.first([wanted])
                results = None if position is None else fleet.allocate(position, [wanted])
                if results is not None:
                    mine.append(msgspec.structs.replace(wanted, status=ResourceClaimStatus(allocation=results[0])))
                    state.add(mine[-1])
            if mine and rng.random() < 0.6:
                state.remove(mine.pop(rng.randrange(len(mine))))
        return mine

    holders = [holder for mine in in_threads(work) for holder in mine]
    given = Counter(device for holder in holders for device in devices_of(holder))
    assert given and max(given.values()) == 1
    assert all(count <= 7 for count in Counter(pool for pool, _ in given).values())
    # What the threads left behind is what their claims add up to.
    fresh = Allocator(
        [each for one in NODES for each in slices(one.metadata.name)],
        [device_class()],
        allocated=AllocatedState.from_claims(holders),
        features=ALL_FEATURES,
    )
    for wanted in (PAIR, claim(ask())):
        for position, one in enumerate(NODES):
            assert fleet.allocate(position, [wanted]) == fresh.allocate(one, [wanted])


def test_every_answer_belongs_to_one_moment():
    # Each node is healthy, sick, or about to be published again with a newer generation; nothing else can be seen.
    fleet = build()
    allocator = fleet.allocator
    legal = [None, ["d0", "d1"], ["d2", "d3"]]

    def change(thread: int) -> None:
        rng = random.Random(thread)
        for _ in range(80):
            name = rng.choice(NODES).metadata.name
            for published_slice in slices(name, generation=rng.randrange(1, 4), sick=rng.random() < 0.5):
                allocator.put_slice(published_slice)
            allocator.put_class(device_class())

    def read(thread: int) -> None:
        rng = random.Random(thread)
        for _ in range(300):
            position = rng.randrange(len(NODES))
            if rng.random() < 0.5:
                results = fleet.allocate(position, [PAIR])
            else:
                results = allocator.allocate(NODES[position], [PAIR])
            found = None if results is None else [result.device for result in results[0].devices.results]
            assert found in legal
            sample = fleet.feasible([PAIR], start=position, wanted=2)
            assert len(sample.positions) <= 2 and sample.looked <= len(NODES)

    in_threads(lambda thread: change(thread) if thread % 2 else read(thread))
    for one in NODES:
        for published_slice in slices(one.metadata.name, generation=9):
            allocator.put_slice(published_slice)
    assert fleet.feasible([PAIR]).positions == list(range(len(NODES)))
