"""Why a pod is pending, counted over nodes. Right values: worked out by hand from what each node publishes and holds."""

import msgspec

from reparto.allocation import Features
from reparto.model import codes, v1
from reparto.model.meta import ObjectMeta
from reparto.placement.plan import Count, PodPlan, Reason
from reparto.placement.planner import make_plan
from reparto.placement.snapshot import take_snapshot
from unit.placement_objects import allocated, any_device_class, claim, device, gpus, pod, spec, template


def pending(*objects: object, name: str = "p") -> PodPlan:
    answer = make_plan(take_snapshot([any_device_class(), *objects]), Features.for_version("1.37"))
    (item,) = (item for item in answer.pods if item.name == name)
    assert item.verdict == "pending"
    return item


def reason(*objects: object) -> Reason:
    (only,) = pending(*objects).reasons
    return only


def nodes(one: Reason) -> tuple[int, int]:
    """On how many of how many nodes the reason holds."""
    last = one.counts[-1]
    assert last.what == "nodes"
    return last.matching, last.total


def devices(one: Reason) -> tuple[int, int, int]:
    """Devices that pass, devices looked at, and the nodes they are on."""
    first = one.counts[0]
    return first.matching, first.total, first.nodes


def with_devices(item: v1.ResourceSlice, *each: v1.Device) -> v1.ResourceSlice:
    return msgspec.structs.replace(item, spec=msgspec.structs.replace(item.spec, devices=each))


def test_devices_in_use_are_counted_over_nodes_and_their_holders_named():
    held = [allocated(claim("a"), "m", "gpu-0", "gpu-1"), allocated(claim("b"), "n", "gpu-0")]
    one = reason(gpus("m", 2), gpus("n", 1), *held, template("t"), pod("p", templates=["t"]))
    assert (one.code, nodes(one), devices(one)) == (codes.IN_USE, (2, 2), (0, 3, 2))
    assert "held by default/a, default/b" in one.message
    assert (one.object, one.path) == ("ResourceClaimTemplate/default/t", "spec.spec.devices.requests[0].exactly")


def test_nodes_that_fail_for_different_reasons_are_told_apart():
    held = allocated(claim("a"), "big", "gpu-0", "gpu-1")
    published = (gpus("big", 2), gpus("small-1", 1), gpus("small-2", 1))
    reasons = pending(*published, held, template("t", count=2), pod("p", templates=["t"])).reasons
    assert [(one.code, nodes(one)) for one in reasons] == [(codes.TOO_FEW, (2, 3)), (codes.IN_USE, (1, 3))]
    assert "on node big" in reasons[1].message


def test_a_node_without_devices_is_said_to_have_none():
    from unit.placement_objects import node

    one = reason(node("n"), template("t"), pod("p", templates=["t"]))
    assert (one.code, nodes(one)) == (codes.NO_DEVICES, (1, 1))


def test_tainted_devices():
    tainted = v1.Device(name="gpu-0", taints=(v1.DeviceTaint(key="xid", value="79", effect="NoExecute"),))
    one = reason(with_devices(gpus("n", 1), tainted), template("t"), pod("p", templates=["t"]))
    assert (one.code, devices(one)) == (codes.DEVICE_TAINTED, (0, 1, 1))
    assert "xid=79:NoExecute" in one.message


def test_an_incomplete_pool_says_how_many_slices_there_are():
    half = gpus("n", 4)
    half = msgspec.structs.replace(
        half, spec=msgspec.structs.replace(half.spec, pool=v1.ResourcePool(name="n", generation=1, resource_slice_count=2))
    )
    one = reason(half, template("t"), pod("p", templates=["t"]))
    assert one.code == codes.POOL_INCOMPLETE
    assert "1 of 2 slices" in one.message


def test_a_pool_that_contradicts_itself():
    twice = with_devices(gpus("n", 1), device("gpu-0"), device("gpu-0"))
    one = reason(twice, template("t"), pod("p", templates=["t"]))
    assert (one.code, nodes(one)) == (codes.POOL_INVALID, (1, 1))


def test_counters_that_other_partitions_have_used_up():
    # One GPU with 4 memory slices: gpu-half-0 holds 2, so the whole of it, which needs 4, is out.
    def drawing(name: str, slices: str) -> v1.Device:
        draw = v1.DeviceCounterConsumption(counter_set="gpu-0", counters={"slices": v1.Counter(value=slices)})
        return v1.Device(name=name, consumes_counters=(draw,))

    def published(name: str, **fields: object) -> v1.ResourceSlice:
        pool = v1.ResourcePool(name="n", generation=1, resource_slice_count=2)
        return v1.ResourceSlice(
            metadata=ObjectMeta(name=name),
            spec=v1.ResourceSliceSpec(driver="gpu.test", node_name="n", pool=pool, **fields),  # type: ignore[arg-type]
        )

    sets = published("a", shared_counters=(v1.CounterSet(name="gpu-0", counters={"slices": v1.Counter(value="4")}),))
    gpu = published("b", devices=(drawing("gpu-half-0", "2"), drawing("gpu-whole", "4")))
    one = reason(sets, gpu, allocated(claim("half"), "n", "gpu-half-0"), template("t"), pod("p", templates=["t"]))
    assert (one.code, devices(one)) == (codes.COUNTERS, (0, 1, 1))  # the half is in use, and of the rest the whole lacks counters
    assert "gpu-0/slices" in one.message


def test_a_constraint_that_free_devices_cannot_meet():
    # gpu-0 and gpu-1 hang on different roots, so no two devices agree.
    roots = with_devices(
        gpus("n", 2),
        v1.Device(name="gpu-0", attributes={"gpu.test/root": v1.DeviceAttribute(string_value="a")}),
        v1.Device(name="gpu-1", attributes={"gpu.test/root": v1.DeviceAttribute(string_value="b")}),
    )
    asking = spec(2)
    asking = msgspec.structs.replace(
        asking, devices=msgspec.structs.replace(asking.devices, constraints=(v1.DeviceConstraint(match_attribute="gpu.test/root"),))
    )
    wanted = v1.ResourceClaim(metadata=ObjectMeta(name="c", namespace="default"), spec=asking)
    one = reason(roots, wanted, pod("p", claims=["c"]))
    assert (one.code, one.object, one.path) == (codes.CONSTRAINT, "ResourceClaim/default/c", "spec.devices.constraints[0]")


def test_more_than_32_devices_are_an_error_of_the_pod():
    one = reason(gpus("n", 40), template("t", count=33), pod("p", templates=["t"]))
    assert (one.code, one.counts) == (codes.TOO_MANY, ())


def test_a_search_that_runs_out_of_steps_says_that_it_gave_up():
    # Eight GPUs, each with its own value, and a constraint over four of them: hopeless, and three steps are too few to find out.
    each = [v1.Device(name=f"gpu-{n}", attributes={"gpu.test/id": v1.DeviceAttribute(int_value=n)}) for n in range(8)]
    asking = spec(4)
    asking = msgspec.structs.replace(
        asking, devices=msgspec.structs.replace(asking.devices, constraints=(v1.DeviceConstraint(match_attribute="gpu.test/id"),))
    )
    wanted = v1.ResourceClaim(metadata=ObjectMeta(name="c", namespace="default"), spec=asking)
    seen = take_snapshot([any_device_class(), with_devices(gpus("n", 8), *each), wanted, pod("p", claims=["c"])])
    (item,) = make_plan(seen, Features.for_version("1.37"), max_steps=3).pods
    assert [one.code for one in item.reasons] == [codes.GAVE_UP]
    assert "not known" in item.reasons[0].message


def test_counts_add_up_over_many_nodes():
    objects = [gpus(f"node-{n}", 2) for n in range(5)]
    one = reason(*objects, template("t", count=3), pod("p", templates=["t"]))
    assert one.counts == (Count(one.counts[0].what, 10, 10, 5), Count("nodes", 5, 5, 5))
    assert one.message.startswith("on 5 of 5 nodes: ")


def test_a_node_selector_on_inferred_nodes_says_that_labels_are_not_known():
    from unit.placement_objects import node

    asking = pod("p", templates=["t"], node_selector={"zone": "a"})
    assert "labels are not known" in reason(gpus("n", 1), template("t"), asking).hint
    known = reason(node("n"), gpus("n", 1), template("t"), asking)
    assert (known.code, known.message) == (codes.NODE_AFFINITY, "on the only node: without the label zone=a")
    assert "not known" not in known.hint
