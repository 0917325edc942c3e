"""An allocation is legal, and None means that there is none: checked by brute force over small problems.

The checks here know nothing of the search. They take the devices that were chosen and judge them by upstream-dra.md 3.8 to 3.12,
and they look for a legal choice by trying all.
"""

from collections import Counter
from itertools import combinations, product

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from reparto.allocation import AllocatedState, Allocator
from reparto.model.v1 import AllocationResult, ResourceClaim
from unit.allocation_objects import ALL_FEATURES, DRIVER, ask, claim, device_class, node, pool

# One pool of up to five devices that differ in two attributes, draw on one counter and may be tainted.
devices = st.lists(
    st.fixed_dictionaries(
        {
            "numa": st.integers(0, 1),
            "model": st.sampled_from("xy"),
            "draw": st.integers(0, 2),
            "tainted": st.booleans(),
            "held": st.booleans(),
        }
    ),
    max_size=5,
)
requests = st.lists(
    st.fixed_dictionaries({"count": st.integers(1, 2), "model": st.sampled_from(["x", "y", None]), "tolerant": st.booleans()}),
    min_size=1,
    max_size=3,
)
constraint = st.sampled_from([None, "matchAttribute", "distinctAttribute"])


def slices(described: list[dict], limit: int):
    location = {"name": "n1", "generation": 1, "resourceSliceCount": 2}
    written = [
        {
            "name": f"d{index}",
            "attributes": {"numa": {"int": each["numa"]}, "model": {"string": each["model"]}},
            "taints": [{"key": "sick", "effect": "NoSchedule"}] if each["tainted"] else [],
            "consumesCounters": [{"counterSet": "s", "counters": {"c": {"value": str(each["draw"])}}}],
        }
        for index, each in enumerate(described)
    ]
    counters = [{"name": "s", "counters": {"c": {"value": str(limit)}}}]
    return [pool(*written, pool=location), pool(name="counters", pool=location, devices=None, sharedCounters=counters)]


def asked(wanted: list[dict], kind: str | None) -> ResourceClaim:
    written = [
        ask(
            each["count"],
            *([f'device.attributes["{DRIVER}"].model == "{each["model"]}"'] if each["model"] else []),
            tolerations=[{"operator": "Exists"}] if each["tolerant"] else [],
        )
        for each in wanted
    ]
    return claim(*written, constraints=({kind: f"{DRIVER}/numa"},) if kind else ())


def legal(choice: list[tuple[int, ...]], described: list[dict], wanted: list[dict], kind: str | None, limit: int) -> bool:
    """Whether these device numbers, per request, obey every rule."""
    chosen = [number for numbers in choice for number in numbers]
    if max(Counter(chosen).values(), default=0) > 1 or any(described[number]["held"] for number in chosen):
        return False
    for numbers, request in zip(choice, wanted, strict=True):
        if len(numbers) != request["count"]:
            return False
        for each in (described[number] for number in numbers):
            if request["model"] not in (None, each["model"]) or (each["tainted"] and not request["tolerant"]):
                return False
    values = [described[number]["numa"] for number in chosen]
    if kind == "matchAttribute" and len(set(values)) > 1:
        return False
    if kind == "distinctAttribute" and len(set(values)) < len(values):
        return False
    drawn = sum(each["draw"] for number, each in enumerate(described) if each["held"] or number in chosen)
    return drawn <= limit


@settings(max_examples=300, deadline=None)
@given(described=devices, wanted=requests, kind=constraint, limit=st.integers(0, 6))
def test_the_answer_is_the_first_legal_choice_or_there_is_none(described, wanted, kind, limit):
    held = {(DRIVER, "n1", f"d{index}") for index, each in enumerate(described) if each["held"]}
    allocator = Allocator(slices(described, limit), [device_class()], allocated=AllocatedState(devices=held), features=ALL_FEATURES)
    results = allocator.allocate(node(), [asked(wanted, kind)])

    numbers = range(len(described))
    choices = product(*(list(combinations(numbers, request["count"])) for request in wanted))
    first = next((list(choice) for choice in choices if legal(list(choice), described, wanted, kind, limit)), None)
    if first is None:
        assert results is None
    else:
        assert results is not None
        assert [int(result.device[1:]) for result in results[0].devices.results] == [number for each in first for number in each]


# Claims that come and go: (which claim, which devices it holds; shares have a number).
holdings = st.lists(
    st.tuples(st.integers(0, 3), st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), max_size=3)), max_size=12
)


def holder(number: int, devices: list[tuple[int, int]]) -> ResourceClaim:
    results = [
        {"request": "r", "driver": DRIVER, "pool": "p", "device": f"d{device}"}
        | ({"shareID": f"{number}-{index}", "consumedCapacity": {"memory": str(share)}} if share else {})
        for index, (device, share) in enumerate(devices)
    ]
    allocation = msgspec.convert({"devices": {"results": results}}, AllocationResult)
    empty = claim(name=f"c{number}")
    return msgspec.structs.replace(empty, status=msgspec.structs.replace(empty.status, allocation=allocation))


def seen(state: AllocatedState) -> list[object]:
    identities = [(DRIVER, "p", f"d{device}") for device in range(4)]
    return [
        (state.in_use(i, True), state.in_use(i, False), state.is_shared(i), dict(state.consumed(i)), state.owners(i))
        for i in identities
    ]


@given(events=holdings)
def test_events_lead_where_counting_anew_leads(events):
    state, current = AllocatedState(), {}
    for number, devices in events:
        if devices:
            current[number] = holder(number, devices)
            state.add(current[number])
        elif number in current:
            state.remove(current.pop(number))
        assert seen(state) == seen(AllocatedState.from_claims(current.values()))
