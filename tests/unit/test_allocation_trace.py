"""Why claims do not fit on a node: the first gate, with counts that a person can check against the slices."""

import pytest

from reparto.allocation import AllocatedState, Allocator, explain_failure
from reparto.model import codes
from unit.allocation_objects import (
    ALL_FEATURES,
    DRIVER,
    allocated_claim,
    ask,
    claim,
    device_class,
    everything,
    node,
    pool,
    published,
)


def gate(slices, *claims, classes=None, holding=(), features=ALL_FEATURES, **options):
    state = AllocatedState.from_claims(holding)
    allocator = Allocator(slices, classes or [device_class()], allocated=state, features=features, **options)
    return explain_failure(allocator, node(), list(claims))


def sized(name: str, size: int, **more):
    return {"name": name, "attributes": {"size": {"int": size}}, **more}


SIZE = 'device.attributes["gpu.example.com"].size == {}'


def test_a_missing_class():
    found = gate([pool("a")], claim(ask(deviceClassName="tpu")))
    assert (found.code, found.class_name, found.request) == (codes.NO_SUCH_CLASS, "tpu", "r0")


def test_a_node_without_devices():
    assert gate([], claim(ask())).code == codes.NO_DEVICES


def test_too_few_devices():
    found = gate([pool("a", "b")], claim(ask(3)))
    assert (found.code, found.matching, found.total, found.needed) == (codes.TOO_FEW, 2, 2, 3)


def test_a_selector_of_the_request_that_is_true_for_too_few():
    slices = [pool(sized("a", 1), sized("b", 1), sized("c", 2))]
    found = gate(slices, claim(ask(2, "true", SIZE.format(2))))
    assert (found.code, found.selector, found.class_name) == (codes.SELECTOR, 1, "")
    assert (found.matching, found.total, found.needed) == (1, 3, 2)
    assert found.expression == SIZE.format(2)
    assert found.cause == "selector 2 of request r0 is true for too few devices"


def test_a_selector_of_the_class_comes_first():
    found = gate([pool("a")], claim(ask(1, "false")), classes=[device_class("gpu", 'device.driver == "other"')])
    assert (found.code, found.class_name, found.selector, found.matching, found.total) == (codes.SELECTOR, "gpu", 0, 0, 1)


def test_devices_in_use_name_their_holders():
    found = gate(
        [pool("a", "b")],
        claim(ask()),
        holding=[allocated_claim({"device": "a"}, name="x"), allocated_claim({"device": "b"}, name="y")],
    )
    assert (found.code, found.matching, found.total) == (codes.IN_USE, 0, 2)
    assert found.owners == ("ns/x", "ns/y")


def test_all_devices_are_asked_for_and_one_is_in_use():
    found = gate([pool("a", "b")], claim(everything()), holding=[allocated_claim({"device": "a"})])
    assert (found.code, found.matching, found.total, found.owners) == (codes.ALL_MODE, 1, 2, ("ns/holder",))


def test_a_taint_that_is_not_tolerated():
    found = gate([pool({"name": "a", "taints": [{"key": "sick", "value": "yes", "effect": "NoExecute"}]})], claim(ask()))
    assert (found.code, found.cause) == (codes.DEVICE_TAINTED, "taint sick=yes:NoExecute is not tolerated")


@pytest.mark.parametrize("count", [2, 3])
def test_a_pool_that_withholds_the_devices(count):
    location = {"name": "n1", "generation": 1, "resourceSliceCount": count}
    slices = [
        pool("a", pool=location),
        published("other", driver=DRIVER, pool={"name": "p", "generation": 1, "resourceSliceCount": 1}, nodeName="n2"),
    ]
    found = gate(slices, claim(ask()))
    assert (found.code, found.pool) == (codes.POOL_INCOMPLETE, "gpu.example.com/n1")
    assert found.cause == f"a pool of gpu.example.com is incomplete: 1 of {count} slices"


def test_an_incomplete_pool_whose_devices_would_not_do_is_not_to_blame():
    slices = [pool(sized("a", 1), pool={"name": "n1", "generation": 1, "resourceSliceCount": 2}), pool(sized("b", 1), name="p2")]
    assert gate(slices, claim(ask(1, SIZE.format(2)))).code == codes.SELECTOR


def test_an_invalid_pool_says_what_is_wrong():
    found = gate([pool("a", "a")], claim(ask()))
    assert (found.code, found.cause) == (codes.POOL_INVALID, "a pool of gpu.example.com is invalid: duplicate device name a")


def partitioned(*devices, total: str):
    location = {"name": "n1", "generation": 1, "resourceSliceCount": 2}
    sets = [{"name": "gpu-0", "counters": {"memory": {"value": total}}}]
    return [pool(*devices, pool=location), pool(pool=location, devices=None, sharedCounters=sets)]


def draws(name: str, memory: str):
    return {"name": name, "consumesCounters": [{"counterSet": "gpu-0", "counters": {"memory": {"value": memory}}}]}


def test_a_counter_that_is_used_up_is_named():
    slices = partitioned(draws("a", "30Gi"), draws("b", "20Gi"), total="40Gi")
    found = gate(slices, claim(ask()), holding=[allocated_claim({"device": "a"})])
    assert (found.code, found.cause) == (codes.COUNTERS, "counter gpu-0/memory is used up")


def test_counters_that_allow_each_device_but_not_all():
    found = gate(partitioned(draws("a", "30Gi"), draws("b", "30Gi"), total="40Gi"), claim(ask(2)))
    assert (found.code, found.cause) == (codes.COUNTERS, "the shared counters do not allow 2 such devices at once")


def test_capacity_that_no_device_has_and_capacity_that_is_taken():
    device = {"name": "a", "allowMultipleAllocations": True, "capacity": {"memory": {"value": "80Gi"}}}
    wanted = claim(ask(capacity={"requests": {"memory": "50Gi"}}))
    share = {"device": "a", "shareID": "00000000-0000-4000-8000-000000000001", "consumedCapacity": {"memory": "40Gi"}}
    taken = gate([pool(device)], wanted, holding=[allocated_claim(share)])
    assert (taken.code, taken.cause, taken.owners) == (codes.CAPACITY, "not enough of capacity memory is left", ("ns/holder",))
    small = gate([pool(device | {"capacity": {"memory": {"value": "40Gi"}}})], wanted)
    assert (small.code, small.cause) == (codes.CAPACITY, "capacity memory of the devices does not serve the request")


def test_a_constraint_that_no_combination_meets():
    found = gate([pool(sized("a", 1), sized("b", 2))], claim(ask(2), constraints=({"matchAttribute": f"{DRIVER}/size"},)))
    assert (found.code, found.constraint) == (codes.CONSTRAINT, 0)
    assert found.cause == "no combination of free devices agrees in gpu.example.com/size"


def test_requests_that_compete():
    found = gate([pool("a")], claim(ask(), ask()))
    assert (found.code, found.claim, found.cause) == (codes.COMBINATION, "ns/claim", "requests r0, r1 compete for the same devices")


def test_claims_that_compete():
    found = gate([pool("a")], claim(ask(), name="x"), claim(ask(), name="y"))
    assert (found.code, found.cause) == (codes.COMBINATION, "each of the claims ns/x, ns/y alone fits, but not all together")


def test_of_several_alternatives_the_one_that_came_closest_is_explained():
    found = gate([pool("a")], claim([ask(1, "false"), ask(1)]), holding=[allocated_claim({"device": "a"})])
    assert (found.code, found.request) == (codes.IN_USE, "r0/s1")


def test_a_device_of_another_node_in_a_pool_of_this_one():
    slices = [pool({"name": "a", "nodeName": "n2"}, {"name": "b", "nodeName": "n1"}, perDeviceNodeSelection=True)]
    found = gate(slices, claim(ask(2)))
    assert (found.code, found.matching, found.total) == (codes.NODE_SELECTION, 1, 2)


def test_an_error_is_a_gate_too():
    found = gate([pool("a")], claim(ask(33)))
    assert found.code == codes.TOO_MANY and "exceeds the claim limit of 32" in found.cause


def test_requests_that_compete_in_more_ways_than_anybody_could_try():
    # Twice 15 of 29 devices: 77 million choices for the first alone, and 29 < 30.
    devices = [sized(f"d{index}", 1) for index in range(29)]
    found = gate([pool(*devices)], claim(ask(15), ask(15)))
    assert (found.code, found.cause) == (codes.COMBINATION, "requests r0, r1 compete for the same devices")


def test_what_the_small_searches_do_not_find_out_is_not_claimed(monkeypatch):
    monkeypatch.setattr("reparto.allocation.trace.SEARCH_STEPS", 20)
    devices = [sized(f"d{index}", 1) for index in range(29)]
    found = gate([pool(*devices)], claim(ask(15), ask(15)))
    assert (found.code, found.cause) == (codes.COMBINATION, "no combination of devices serves all requests")
