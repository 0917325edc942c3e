"""What is remembered of attempts, and when it is forgotten: the answers must be those of an allocator that is asked every time."""

from collections.abc import Sequence
from typing import Any

import pytest

from reparto.allocation import AllocatedState, Allocator, Features, GaveUp
from reparto.model import v1
from reparto.model.core import Node
from reparto.model.meta import ObjectMeta
from reparto.placement import make_plan, take_snapshot
from reparto.placement.attempts import Attempts
from unit.placement_objects import allocated, any_device_class, claim, gpus, node, pod, template


class Counting(Allocator):
    """Counts how often it is really asked."""

    asked = 0
    granted: tuple[int | None, ...] = ()

    def allocate(self, node: Node, claims: Sequence[v1.ResourceClaim], *, step_budget: int | None = None) -> Any:
        self.asked += 1
        self.granted = (*self.granted, step_budget)
        return super().allocate(node, claims, step_budget=step_budget)


def shared_pool() -> v1.ResourceSlice:
    """A pool that every node sees."""
    spec = v1.ResourceSliceSpec(
        driver="net.test",
        all_nodes=True,
        pool=v1.ResourcePool(name="net", generation=1, resource_slice_count=1),
        devices=(v1.Device(name="port-0"),),
    )
    return v1.ResourceSlice(metadata=ObjectMeta(name="net"), spec=spec)


@pytest.fixture
def counting() -> Counting:
    return Counting([gpus("a", 1), gpus("b", 1), shared_pool()], [any_device_class()], allocated=AllocatedState())


@pytest.fixture
def attempts(counting: Counting) -> Attempts:
    return Attempts(counting, [gpus("a", 1), gpus("b", 1), shared_pool()])


A, B = node("a"), node("b")


def test_claims_of_one_spec_are_asked_about_once_for_each_node(attempts, counting):
    one = claim("one")
    twin = v1.ResourceClaim(metadata=ObjectMeta(name="twin", namespace="default"), spec=one.spec)
    assert attempts.allocate(A, [one]) == attempts.allocate(A, [twin])
    assert counting.asked == 1
    attempts.allocate(B, [twin])
    assert counting.asked == 2


def test_what_was_taken_from_a_pool_of_one_node_is_forgotten_there_only(attempts, counting):
    one = claim("one")
    attempts.allocate(A, [one])
    attempts.allocate(B, [one])
    attempts.took(allocated(one, "a", "gpu-0"), A)
    attempts.allocate(B, [one])
    assert counting.asked == 2
    attempts.allocate(A, [one])
    assert counting.asked == 3


def test_what_was_taken_from_a_pool_of_many_nodes_is_forgotten_everywhere(attempts, counting):
    one = claim("one")
    attempts.allocate(A, [one])
    attempts.allocate(B, [one])
    result = v1.DeviceRequestAllocationResult(request="gpu", driver="net.test", pool="net", device="port-0")
    allocation = v1.AllocationResult(devices=v1.DeviceAllocationResult(results=[result]))
    attempts.took(v1.ResourceClaim(metadata=one.metadata, status=v1.ResourceClaimStatus(allocation=allocation)), A)
    attempts.allocate(B, [one])
    assert counting.asked == 3


def test_what_does_not_fit_is_not_tried_again_before_something_is_freed(attempts, counting):
    many = claim("many", count=5)
    assert attempts.allocate(A, [many]) is None
    attempts.took(allocated(claim("x"), "a", "gpu-0"), A)
    assert attempts.allocate(A, [many]) is None
    assert counting.asked == 1
    attempts.freed()
    assert attempts.allocate(A, [many]) is None
    assert counting.asked == 2


def test_a_device_of_a_shared_pool_is_given_out_once_though_every_node_sees_it():
    # Two nodes with nothing of their own see one port: the second pod finds it in use on both.
    seen = take_snapshot([any_device_class(), A, B, shared_pool(), template("t"), *(pod(name, templates=["t"]) for name in "pq")])
    assert [item.verdict for item in make_plan(seen, Features.for_version("1.37")).pods] == ["placed", "pending"]


def test_pods_of_one_template_are_told_the_same_reason():
    pods = [pod(name, templates=["t"]) for name in "pqr"]
    seen = take_snapshot([any_device_class(), gpus("a", 1), template("t"), *pods])
    _, second, third = make_plan(seen, Features.for_version("1.37")).pods
    assert second.reasons == third.reasons
    assert "held by default/p-template-0-" in second.reasons[0].message


def test_an_attempt_that_gave_up_is_not_repeated():
    # 13 of 12 devices: 2^12 subsets and more are tried, so 4,000 steps do not settle it on any node.
    slices = [gpus(name, 12) for name in "abc"]
    counting = Counting(slices, [any_device_class()], allocated=AllocatedState(), step_budget=4_000)
    attempts, greedy = Attempts(counting, slices), claim("greedy", count=13)
    for name in "abca":
        with pytest.raises(GaveUp):
            attempts.allocate(node(name), [greedy])
    assert counting.asked == 3


def test_the_steps_of_a_pod_do_not_grow_with_the_cluster():
    slices = [gpus(name, 20) for name in "abcd"]
    counting = Counting(slices, [any_device_class()], allocated=AllocatedState(), step_budget=40_000)
    attempts, greedy = Attempts(counting, slices), claim("greedy", count=21)
    for name in "abcd":
        with pytest.raises(GaveUp):
            attempts.allocate(node(name), [greedy])
    assert counting.granted == (40_000, 20_000, 10_000, 10_000)
