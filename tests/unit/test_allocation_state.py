"""What counts as taken (upstream-dra.md 3.1), and that events lead where counting anew would."""

import copy
import pickle

import pytest

from reparto.allocation import AllocatedState, Allocator
from reparto.allocation.state import Change
from reparto.model.quantity import Quantity
from unit.allocation_objects import ALL_FEATURES, DRIVER, allocated_claim, ask, claim, device_class, names, node, pool

A = (DRIVER, "n1", "a")
SHARE = "00000000-0000-4000-8000-000000000001"


def shared(device: str, share: str = SHARE, **consumed: str):
    return {"device": device, "shareID": share, "consumedCapacity": consumed}


def test_a_claim_takes_its_devices_whole():
    state = AllocatedState.from_claims([allocated_claim({"device": "a"})])
    assert state.in_use(A, consumable_capacity=True) and state.is_allocated(A) and not state.is_shared(A)
    assert state.owners(A) == ("ns/holder",)


def test_a_claim_without_allocation_takes_nothing():
    assert not AllocatedState.from_claims([claim(ask())]).is_allocated(A)


def test_admin_access_takes_nothing():
    assert not AllocatedState.from_claims([allocated_claim({"device": "a", "adminAccess": True})]).is_allocated(A)


def test_shares_leave_the_device_to_others_and_their_capacity_adds_up():
    one = allocated_claim(shared("a", memory="10Gi"), name="one")
    two = allocated_claim(shared("a", "00000000-0000-4000-8000-000000000002", memory="5Gi"), name="two")
    state = AllocatedState.from_claims([one, two])
    assert not state.in_use(A, consumable_capacity=True)
    assert state.is_shared(A) and state.owners(A) == ("ns/one", "ns/two")
    assert state.consumed(A) == {"memory": Quantity.parse("15Gi").nano}


def test_without_consumable_capacity_a_share_takes_the_whole_device():
    state = AllocatedState.from_claims([allocated_claim(shared("a"))])
    assert state.in_use(A, consumable_capacity=False)


def test_a_state_can_be_given_directly():
    b, c = (DRIVER, "n1", "b"), (DRIVER, "n1", "c")
    state = AllocatedState(devices={A}, shared={(*b, SHARE)}, consumed={c: {"memory": "1Gi", "cores": Quantity.parse("2")}})
    assert state.in_use(A, consumable_capacity=True)
    assert state.is_shared(b) and not state.in_use(b, consumable_capacity=False)
    assert state.is_shared(c) and state.consumed(c)["cores"] == 2 * 10**9
    assert state.owners(A) == ()


def test_a_device_held_twice_is_free_when_both_holders_are_gone():
    one, two = (allocated_claim({"device": "a"}, name=name) for name in ("one", "two"))
    state = AllocatedState.from_claims([one, two])
    state.remove(one)
    assert state.in_use(A, consumable_capacity=True) and state.owners(A) == ("ns/two",)
    state.remove(two)
    assert not state.is_allocated(A)


def test_a_claim_that_is_added_again_counts_as_it_is_now():
    state = AllocatedState.from_claims([allocated_claim({"device": "a"})])
    state.add(allocated_claim({"device": "b"}))
    assert not state.is_allocated(A) and state.is_allocated((DRIVER, "n1", "b"))


def test_removing_an_unknown_claim_changes_nothing():
    state = AllocatedState()
    state.remove(allocated_claim({"device": "a"}))
    assert state.version == 0


def test_an_allocator_sees_events_between_two_questions():
    state = AllocatedState()
    consuming = {"consumesCounters": [{"counterSet": "s", "counters": {"c": {"value": "1"}}}]}
    location = {"name": "n1", "generation": 1, "resourceSliceCount": 2}
    slices = [
        pool({"name": "a", **consuming}, {"name": "b", **consuming}, pool=location),
        pool(name="n1", pool=location, devices=[], sharedCounters=[{"name": "s", "counters": {"c": {"value": "1"}}}]),
    ]
    allocator = Allocator(slices, [device_class()], allocated=state, features=ALL_FEATURES)
    holder = allocated_claim({"device": "a"})
    assert names(allocator.allocate(node(), [claim(ask())])) == [["a"]]
    state.add(holder)
    assert allocator.allocate(node(), [claim(ask())]) is None  # b is free, but its counter is not
    state.remove(holder)
    assert names(allocator.allocate(node(), [claim(ask())])) == [["a"]]


@pytest.mark.parametrize("text", ["1Gi", "1073741824"])
def test_consumed_capacity_compares_by_value(text):
    assert AllocatedState(consumed={A: {"memory": text}}).consumed(A) == {"memory": 2**30 * 10**9}


def test_a_state_shows_how_much_it_holds():
    state = AllocatedState.from_claims([allocated_claim({"device": "a"}, {"device": "b"}), claim(ask())])
    assert repr(state) == "<AllocatedState: 2 devices held by 1 claims>"


def test_a_state_that_lives_long_forgets_what_has_come_and_gone():
    state = AllocatedState()
    empty = remembered(state)
    for number in range(100):
        gone = allocated_claim(
            shared("a", f"00000000-0000-4000-8000-{number:012}", memory="1Gi"), {"device": "b"}, name=f"c{number}"
        )
        state.add(gone)
        state.remove(gone)
    assert remembered(state) == empty
    assert len(state.journal.since(0) or ()) == 200  # the journal is bounded by itself


def remembered(state: AllocatedState) -> bytes:
    """All but how often it changed."""
    return pickle.dumps({name: value for name, value in vars(state).items() if name not in ("version", "journal", "lock")})


def test_a_copy_goes_its_own_way():
    state = AllocatedState.from_claims([allocated_claim({"device": "a"})])
    copied = copy.deepcopy(state)
    copied.remove(allocated_claim({"device": "a"}))
    assert state.is_allocated(A) and not copied.is_allocated(A)


def test_what_is_held_in_a_pool_is_counted_by_every_reason_for_it():
    whole, share = allocated_claim({"device": "a"}, name="whole"), allocated_claim(shared("a"), name="share")
    state = AllocatedState.from_claims([whole, share])
    assert set(state.allocated_in((DRIVER, "n1"))) == {"a"}
    state.remove(whole)
    assert set(state.allocated_in((DRIVER, "n1"))) == {"a"}
    state.remove(share)
    assert not state.allocated_in((DRIVER, "n1"))


def test_what_was_given_at_the_start_is_held_for_ever():
    state = AllocatedState(devices={A}, consumed={(DRIVER, "n1", "b"): {"memory": "1"}}, shared={(DRIVER, "n1", "c", SHARE)})
    holder = allocated_claim({"device": "a"})
    state.add(holder)
    state.remove(holder)
    assert set(state.allocated_in((DRIVER, "n1"))) == {"a", "b", "c"}


def test_the_version_of_a_pool_changes_with_its_own_devices_only():
    state = AllocatedState()
    seen = [state.pool_version((DRIVER, "n1"))]
    state.add(allocated_claim({"device": "a", "pool": "n2"}))
    assert state.pool_version((DRIVER, "n1")) == seen[0]
    for number in range(3):
        state.add(allocated_claim({"device": f"d{number}"}, name=f"c{number}"))
        seen.append(state.pool_version((DRIVER, "n1")))
    assert len(set(seen)) == 4


def test_the_journal_tells_taking_from_sharing_from_freeing():
    state = AllocatedState()
    whole, share = allocated_claim({"device": "a"}, name="whole"), allocated_claim(shared("b"), {"device": "a"}, name="share")
    for claim_ in (whole, share):
        state.add(claim_)
    state.remove(whole)
    place = (DRIVER, "n1")
    entries = state.journal.since(0)
    assert entries == [(place, Change.TAKEN), (place, Change.SHARED), (place, Change.FREED)]
    assert state.journal.since(2) == entries[2:]


def test_shares_with_admin_access_take_nothing_and_have_their_id_all_the_same():
    looking = allocated_claim(shared("a", memory="10Gi") | {"adminAccess": True})
    state = AllocatedState.from_claims([looking])
    assert state.knows_share(SHARE) and not state.is_allocated(A)
    state.remove(looking)
    assert not state.knows_share(SHARE)
