"""Which devices are chosen: the first combination in the order of pools, slices and devices (upstream-dra.md 3.5)."""

import pytest

from reparto.allocation import AllocatedState, AllocationError, Allocator, FailureKind, GaveUp
from reparto.allocation.plain import PlainAllocator
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
    published,
)

SIZED = 'device.attributes["gpu.example.com"].size == {}'


def sized(name: str, size: int, **more):
    return {"name": name, "attributes": {"size": {"int": size}, **more}}


@pytest.fixture(params=[Allocator, PlainAllocator])
def engine(request):
    """Both implementations: what holds for one holds for the other."""

    def allocate(slices, *claims, classes=None, on=None, holding=(), features=ALL_FEATURES, **options):
        state = AllocatedState.from_claims(holding)
        allocator = request.param(slices, classes or [device_class()], allocated=state, features=features, **options)
        return allocator.allocate(on or node(), list(claims))

    return allocate


def test_devices_are_taken_in_the_order_of_the_slice(engine):
    assert names(engine([pool("b", "a", "c")], claim(ask(2)))) == [["b", "a"]]


def test_pools_come_by_driver_and_name_and_slices_by_name(engine):
    def of(slice_name, driver, pool_name, device, count=1):
        location = {"name": pool_name, "generation": 1, "resourceSliceCount": count}
        return published(slice_name, driver=driver, pool=location, nodeName="n1", devices=[{"name": device}])

    slices = [
        of("z", "b.io", "p", "last"),
        of("y", "a.io", "q", "third"),
        of("2", "a.io", "p", "second", 2),
        of("1", "a.io", "p", "first", 2),
    ]
    assert names(engine(slices, claim(ask(4)))) == [["first", "second", "third", "last"]]


def test_pools_with_binding_conditions_come_last(engine):
    slow = {"name": "slow", "bindingConditions": ["x/ready"], "bindingFailureConditions": ["x/failed"]}
    assert names(engine([pool(slow, name="a"), pool("fast", name="b")], claim(ask(2)))) == [["fast", "slow"]]


def test_devices_of_other_claims_are_left_alone(engine):
    assert names(engine([pool("a", "b")], claim(ask(1)), holding=[allocated_claim({"device": "a"})])) == [["b"]]


def test_nothing_is_none_but_an_empty_claim_is_allocated(engine):
    assert engine([pool("a")], claim(ask(2))) is None
    assert names(engine([], claim())) == [[]]
    assert engine([], *[]) == []


def test_an_earlier_request_gives_way_to_a_later_one(engine):
    slices = [pool(sized("small", 1), sized("large", 2))]
    assert names(engine(slices, claim(ask(1), ask(1, SIZED.format(1))))) == [["large", "small"]]


def test_an_earlier_claim_gives_way_to_a_later_one(engine):
    slices = [pool(sized("small", 1), sized("large", 2))]
    assert names(engine(slices, claim(ask(1), name="a"), claim(ask(1, SIZED.format(1)), name="b"))) == [["large"], ["small"]]


def test_the_first_alternative_that_fits_is_chosen(engine):
    results = engine([pool(sized("a", 1))], claim([ask(2), ask(1, SIZED.format(2)), ask(1)]))
    assert results is not None
    assert results[0].devices.results[0].request == "r0/s2"


def test_an_earlier_request_keeps_its_best_alternative_at_the_expense_of_a_later_one(engine):
    # Both want two devices rather than one, three are there: the first request gets two.
    results = engine([pool("a", "b", "c")], claim([ask(2), ask(1)], [ask(2), ask(1)]))
    assert results is not None
    assert [result.request for result in results[0].devices.results] == ["r0/s0", "r0/s0", "r1/s1"]


def test_all_takes_every_matching_device(engine):
    assert names(engine([pool("a", "b"), pool("c", name="n2")], claim(everything()))) == [["a", "b", "c"]]


@pytest.mark.parametrize("held", [True, False])
def test_all_needs_every_matching_device_to_be_free(engine, held):
    holding = [allocated_claim({"device": "b", "adminAccess": not held})]
    assert names(engine([pool("a", "b")], claim(everything()), holding=holding)) == (None if held else [["a", "b"]])


def test_all_of_nothing_does_not_fit(engine):
    assert engine([pool(sized("a", 1))], claim(everything(selectors=[{"cel": {"expression": SIZED.format(9)}}]))) is None


def test_all_with_a_violated_constraint_stops_the_pod(engine):
    slices = [pool(sized("a", 1), sized("b", 2))]
    with pytest.raises(AllocationError, match="a claim constraint would not be satisfied") as error:
        engine(slices, claim(everything(), constraints=({"matchAttribute": f"{DRIVER}/size"},)))
    assert error.value.kind is FailureKind.CONSTRAINT_ON_ALL and not error.value.node_only


def test_matching_devices_are_found_behind_a_wrong_first_group(engine):
    # Only size 2 exists three times; the group of the first device has two members.
    slices = [pool(sized("a", 1), sized("b", 2), sized("c", 1), sized("d", 2), sized("e", 2))]
    assert names(engine(slices, claim(ask(3), constraints=({"matchAttribute": f"{DRIVER}/size"},)))) == [["b", "d", "e"]]


def test_more_than_32_devices_are_refused_at_once(engine):
    slices = [pool(*(f"d{index}" for index in range(40)))]
    assert names(engine(slices, claim(ask(32)))) == [[f"d{index}" for index in range(32)]]
    with pytest.raises(AllocationError, match="adding 1 devices exceeds the claim limit of 32, with 32 already accounted for"):
        engine(slices, claim(ask(32), ask(1)))


def test_alternatives_that_exceed_32_devices_are_passed_over(engine):
    slices = [pool(*(f"d{index}" for index in range(60)))]
    results = engine(slices, claim([ask(20), ask(2)], [ask(20), ask(12)]))
    assert results is not None
    assert [len([r for r in results[0].devices.results if r.request == name]) for name in ("r0/s0", "r1/s1")] == [20, 12]


def test_each_claim_may_hold_32_devices(engine):
    slices = [pool(*(f"d{index}" for index in range(64)))]
    results = names(engine(slices, claim(ask(32), name="a"), claim(ask(32), name="b")))
    assert results is not None and [len(devices) for devices in results] == [32, 32]


def test_a_hopeless_search_gives_up_after_its_budget(engine):
    # 16 of 31 devices, and then one more that does not exist: 300 million combinations. The first takes more than 20 steps.
    slices = [pool(*(sized(f"d{index}", 1) for index in range(31)))]
    with pytest.raises(GaveUp, match="gave up after 20 steps") as error:
        engine(slices, claim(ask(16), ask(1, SIZED.format(9))), step_budget=20)
    assert error.value.node_only


def test_deep_searches_meet_no_interpreter_limit():
    # 40 claims of 32 devices: 1,280 devices one above the other.
    slices = [pool(*(f"d{index}" for index in range(1280)))]
    claims = [claim(ask(32), name=f"c{index}") for index in range(40)]
    results = names(Allocator(slices, [device_class()]).allocate(node(), claims))
    assert results is not None and sum(map(len, results)) == 1280


def test_one_request_never_takes_a_shared_device_twice_but_another_may(engine):
    shared = {"name": "a", "allowMultipleAllocations": True, "capacity": {"memory": {"value": "80Gi"}}}
    some = {"capacity": {"requests": {"memory": "10Gi"}}}
    assert engine([pool(shared)], claim(ask(2, **some))) is None
    assert names(engine([pool(shared)], claim(ask(1, **some), ask(1, **some)))) == [["a", "a"]]


def test_admin_access_ignores_other_claims_but_not_its_own(engine):
    admin = ask(1, adminAccess=True)
    assert names(engine([pool("a")], claim(admin), holding=[allocated_claim({"device": "a"})])) == [["a"]]
    assert engine([pool("a")], claim(admin, admin)) is None
    assert names(engine([pool("a")], claim(admin, name="x"), claim(admin, name="y"))) == [["a"], ["a"]]


def test_a_device_with_skipped_node_operations_needs_a_node_that_can(engine):
    slices = [pool("a", skipNodeOperations=["*"])]
    assert engine(slices, claim(ask(1))) is None
    results = engine(slices, claim(ask(1)), on=node(features=("DRAOptionalNodeOperations",)))
    assert results is not None and results[0].devices.results[0].skip_node_operations == ["*"]


def test_share_ids_are_the_same_in_every_run_and_can_be_injected():
    shared = {"name": "a", "allowMultipleAllocations": True}
    first, second = (
        [
            result.share_id
            for allocation in Allocator([pool(shared)], [device_class()]).allocate(node(), [claim(ask(1), ask(1))]) or []
            for result in allocation.devices.results
        ]
        for _ in range(2)
    )
    assert first == second == ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"]
    results = Allocator([pool(shared)], [device_class()], share_ids=lambda: "mine").allocate(node(), [claim(ask(1))])
    assert results is not None and results[0].devices.results[0].share_id == "mine"


def test_share_ids_that_exist_already_are_left_out(engine):
    shared = {"name": "a", "allowMultipleAllocations": True}
    held = {"device": "a", "shareID": "00000000-0000-4000-8000-000000000001"}
    results = engine([pool(shared)], claim(ask(1)), holding=[allocated_claim(held)])
    assert results is not None
    assert results[0].devices.results[0].share_id == "00000000-0000-4000-8000-000000000002"
