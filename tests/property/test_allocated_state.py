"""What is taken, kept by events, is what it would be if all claims were counted anew."""

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from reparto.allocation import AllocatedState
from reparto.model.v1 import AllocationResult, ResourceClaim
from unit.allocation_objects import DRIVER, claim

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
