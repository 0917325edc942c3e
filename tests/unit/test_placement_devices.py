"""Devices in a plan: pods see what the former took, wherever it was taken."""

from reparto.allocation import Features
from reparto.model import v1
from reparto.model.meta import ObjectMeta
from reparto.placement import make_plan, take_snapshot
from unit.placement_objects import any_device_class, gpus, node, pod, template


def shared_pool() -> v1.ResourceSlice:
    """A pool that every node sees."""
    spec = v1.ResourceSliceSpec(
        driver="net.test",
        all_nodes=True,
        pool=v1.ResourcePool(name="net", generation=1, resource_slice_count=1),
        devices=(v1.Device(name="port-0"),),
    )
    return v1.ResourceSlice(metadata=ObjectMeta(name="net"), spec=spec)


def test_a_device_of_a_shared_pool_is_given_out_once_though_every_node_sees_it():
    # Two nodes with nothing of their own see one port: the second pod finds it in use on both.
    nodes = (node("a"), node("b"))
    seen = take_snapshot([any_device_class(), *nodes, shared_pool(), template("t"), *(pod(name, templates=["t"]) for name in "pq")])
    assert [item.verdict for item in make_plan(seen, Features.for_version("1.37")).pods] == ["placed", "pending"]


def test_a_device_of_a_shared_pool_is_seen_taken_by_more_nodes_than_are_gone_through_one_by_one():
    nodes = [node(f"n{number:03}") for number in range(100)]
    seen = take_snapshot([any_device_class(), *nodes, shared_pool(), template("t"), *(pod(name, templates=["t"]) for name in "pq")])
    assert [item.verdict for item in make_plan(seen, Features.for_version("1.37")).pods] == ["placed", "pending"]


def test_pods_of_one_template_are_told_the_same_reason():
    pods = [pod(name, templates=["t"]) for name in "pqr"]
    seen = take_snapshot([any_device_class(), gpus("a", 1), template("t"), *pods])
    _, second, third = make_plan(seen, Features.for_version("1.37")).pods
    assert second.reasons == third.reasons
    assert "held by default/p-template-0-" in second.reasons[0].message
