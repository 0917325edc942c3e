"""What counting shows: each proof says how many there are of what is short, which a person can check against the slices."""

from typing import Any

import pytest

from reparto.allocation import AllocatedState, Allocator, explain_failure
from reparto.allocation.instance import written_down
from reparto.allocation.proofs import ProofKind, proof_of
from reparto.model import codes
from unit.allocation_objects import ALL_FEATURES, DRIVER, allocated_claim, ask, claim, device_class, everything, node, pool

SIZED = f'device.attributes["{DRIVER}"].size == {{}}'
MATCH = {"matchAttribute": f"{DRIVER}/size"}
DISTINCT = {"distinctAttribute": f"{DRIVER}/size"}


def sized(number: int, size: int, **more: Any) -> dict[str, Any]:
    return {"name": f"d{number}", "attributes": {"size": {"int": size}}} | more


def proof(slices, *claims, holding=()):
    allocator = Allocator(slices, [device_class()], allocated=AllocatedState.from_claims(holding), features=ALL_FEATURES)
    setting = allocator.setting(node())
    candidates = [(each, record) for each in setting.pools for record in each.devices]
    instance = written_down(setting, allocator.prepare(setting, claims), candidates)
    assert not instance.cut
    return proof_of(instance)


def counted(found):
    return None if found is None else (found.kind, found.requests, found.have, found.need)


def drawing(*amounts: int, left: int):
    location = {"name": "n1", "generation": 1, "resourceSliceCount": 2}
    devices = [
        {"name": f"d{number}", "consumesCounters": [{"counterSet": "s", "counters": {"memory": {"value": str(amount)}}}]}
        for number, amount in enumerate(amounts)
    ]
    sets = [{"name": "s", "counters": {"memory": {"value": str(left)}}}]
    return [pool(*devices, pool=location), pool(name="counters", pool=location, devices=None, sharedCounters=sets)]


def test_a_request_that_is_short_by_itself():
    assert counted(proof([pool("a", "b")], claim(ask(3)))) == (ProofKind.SHORTAGE, ((0, 0),), 2, 3)


def test_devices_in_use_do_not_count():
    held = allocated_claim({"device": "a"})
    assert counted(proof([pool("a", "b")], claim(ask(2)), holding=[held])) == (ProofKind.SHORTAGE, ((0, 0),), 1, 2)
    assert counted(proof([pool("a", "b")], claim(everything()), holding=[held]))[0] is ProofKind.SHORTAGE


def test_the_largest_group_that_agrees_is_too_small():
    # Sizes 1, 1, 2, 2, 2: three agree at the most.
    found = proof(
        [pool(*(sized(number, size) for number, size in enumerate((1, 1, 2, 2, 2))))], claim(ask(4), constraints=(MATCH,))
    )
    assert counted(found) == (ProofKind.AGREEMENT, ((0, 0),), 3, 4)
    assert (found.constraint, found.attribute, found.total) == (0, f"{DRIVER}/size", 5)


def test_requests_that_must_agree_find_no_common_value():
    # r0 has size 1 only, r1 size 2 only: of one value only one of the two can be served.
    slices = [pool(sized(0, 1), sized(1, 1), sized(2, 2))]
    found = proof(slices, claim(ask(1, SIZED.format(1)), ask(1, SIZED.format(2)), constraints=(MATCH,)))
    assert counted(found) == (ProofKind.AGREEMENT, ((0, 0), (0, 1)), 1, 2)


def test_fewer_values_than_devices_that_must_differ():
    slices = [pool(*(sized(number, number % 2) for number in range(6)))]
    assert counted(proof(slices, claim(ask(3), constraints=(DISTINCT,)))) == (ProofKind.DIFFERENCE, ((0, 0),), 2, 3)


def test_requests_that_need_more_together_than_there_are_for_them():
    # Sizes 1, 1, 2, 2, 2. r0 and r2 want three of the two of size 1; r1 has enough of its own and is not to blame.
    slices = [pool(*(sized(number, size) for number, size in enumerate((1, 1, 2, 2, 2))))]
    one, two = ask(1, SIZED.format(1)), ask(2, SIZED.format(1))
    assert counted(proof(slices, claim(one, ask(2, SIZED.format(2)), two))) == (ProofKind.COMPETITION, ((0, 0), (0, 2)), 2, 3)


def test_requests_of_several_claims_compete():
    found = proof([pool("a", "b")], claim(ask(1), name="x"), claim(ask(2), name="y"))
    assert counted(found) == (ProofKind.COMPETITION, ((0, 0), (1, 0)), 2, 3)


def test_of_alternatives_the_least_counts():
    wanted = [ask(3), ask(1)]
    assert proof([pool("a", "b")], claim(wanted, wanted)) is None
    assert counted(proof([pool("a")], claim(wanted, wanted))) == (ProofKind.COMPETITION, ((0, 0), (0, 1)), 1, 2)


def test_counters_that_do_not_cover_the_least_that_is_drawn():
    # Three devices of 30, 20 and 20 units: two take 40 at least, and 39 are left.
    found = proof(drawing(30, 20, 20, left=39), claim(ask(1), ask(1)))
    assert (found.kind, found.counter, found.have, found.need) == (ProofKind.COUNTERS, "memory", 39 * 10**9, 40 * 10**9)
    assert proof(drawing(30, 20, 20, left=40), claim(ask(1), ask(1))) is None


def test_capacity_that_does_not_cover_the_sum():
    shared = {"allowMultipleAllocations": True, "capacity": {"memory": {"value": "10"}}}
    slices = [pool(sized(0, 1) | shared, sized(1, 1) | shared)]
    share = ask(1, capacity={"requests": {"memory": "7"}})
    found = proof(slices, claim(share, share, share))
    assert (found.kind, found.counter, found.have, found.need) == (ProofKind.CAPACITY, "memory", 20 * 10**9, 21 * 10**9)


def gate(slices, *claims):
    allocator = Allocator(slices, [device_class()], features=ALL_FEATURES)
    return explain_failure(allocator, node(), list(claims))


@pytest.mark.parametrize(
    ("constraint", "what", "have"),
    [(MATCH, "devices that agree", 3), (DISTINCT, "devices that differ", 2)],
    ids=["match", "distinct"],
)
def test_an_explanation_counts_what_a_constraint_leaves(constraint, what, have):
    slices = [pool(*(sized(number, size) for number, size in enumerate((1, 1, 2, 2, 2))))]
    found = gate(slices, claim(ask(4), constraints=(constraint,)))
    assert (found.code, found.constraint, found.what) == (codes.CONSTRAINT, 0, what)
    assert (found.matching, found.total, found.needed) == (have, 5, 4)


def test_an_explanation_names_only_the_requests_that_compete():
    slices = [pool(*(sized(number, size) for number, size in enumerate((1, 1, 2, 2, 2))))]
    one, two = ask(1, SIZED.format(1)), ask(2, SIZED.format(1))
    found = gate(slices, claim(one, ask(2, SIZED.format(2)), two))
    assert (found.code, found.cause) == (codes.COMBINATION, "requests r0, r2 compete for the same devices")
    assert (found.matching, found.total, found.needed) == (2, 5, 3)


def test_an_explanation_names_the_counter_that_requests_need_together():
    found = gate(drawing(30, 20, 20, left=39), claim(ask(1), ask(1)))
    assert (found.code, found.cause) == (codes.COUNTERS, "counter memory does not suffice for requests r0, r1 together")
