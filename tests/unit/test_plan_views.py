"""A plan seen from its devices, nodes and claims: who holds what, and what is free."""

from reparto.allocation import Features
from reparto.cli.plan_summary import summarise
from reparto.cli.plan_views import claim_views, device_views, node_views
from reparto.model import v1
from reparto.model.meta import ObjectMeta
from reparto.placement import Plan, make_plan, take_snapshot
from unit.placement_objects import allocated, any_device_class, claim, gpus, node, template
from unit.placement_objects import pod as make_pod

FEATURES = Features.for_version("1.37")


def planned(*objects: object) -> Plan:
    return make_plan(take_snapshot(objects), FEATURES)


def state(plan: Plan, *slices: v1.ResourceSlice) -> dict[str, str]:
    return {view.device: view.state for view in device_views(plan, slices)}


def partitioned(*devices: tuple[str, int], memory: int) -> v1.ResourceSlice:
    """A pool with one counter `memory`, and devices that draw on it."""
    item = gpus("n", 0)
    counters = (v1.CounterSet(name="gpu", counters={"memory": v1.Counter(value=str(memory))}),)
    drawn = tuple(
        v1.Device(
            name=name,
            consumes_counters=(v1.DeviceCounterConsumption(counter_set="gpu", counters={"memory": v1.Counter(value=str(draw))}),),
        )
        for name, draw in devices
    )
    spec = v1.ResourceSliceSpec(driver="gpu.test", node_name="n", pool=item.spec.pool, devices=drawn, shared_counters=counters)
    return v1.ResourceSlice(metadata=item.metadata, spec=spec)


def test_a_device_is_used_by_the_claim_that_holds_it_and_its_pods():
    slices = gpus("n", 2)
    plan = planned(any_device_class(), slices, node("n"), claim("c"), make_pod("a", claims=("c",)), make_pod("b", claims=("c",)))
    used, free = device_views(plan, [slices])
    assert (used.device, used.state, used.node) == ("gpu-0", "used", "n")
    assert [(holder.namespace, holder.claim, holder.request, holder.pods) for holder in used.holders] == [
        ("default", "c", "gpu", ("a", "b"))
    ]
    assert (free.device, free.state, free.holders) == ("gpu-1", "free", ())


def test_what_an_allocated_claim_without_pods_holds_is_used():
    slices = gpus("n", 1)
    assert state(planned(any_device_class(), slices, node("n"), allocated(claim("c"), "n", "gpu-0")), slices) == {"gpu-0": "used"}


def test_what_hypothetical_pods_would_get_is_free():
    slices = gpus("n", 1)
    plan = planned(any_device_class(), slices, node("n"), template("t"))
    assert [pod.verdict for pod in plan.pods] == ["placed"]
    assert state(plan, slices) == {"gpu-0": "free"}
    assert claim_views(plan) == []


def test_a_device_whose_counters_are_used_up_is_blocked():
    slices = partitioned(("half-0", 4), ("half-1", 4), ("whole", 8), memory=8)
    held = allocated(claim("c"), "n", "half-0")
    assert state(planned(any_device_class(), slices, node("n"), held), slices) == {
        "half-0": "used",
        "half-1": "free",
        "whole": "blocked",
    }


def test_a_tainted_device_is_not_free():
    slices = gpus("n", 1)
    device = v1.Device(name="gpu-0", taints=(v1.DeviceTaint(key="broken", value="yes", effect="NoSchedule"),))
    spec = v1.ResourceSliceSpec(driver="gpu.test", node_name="n", pool=slices.spec.pool, devices=(device,))
    tainted = v1.ResourceSlice(metadata=slices.metadata, spec=spec)
    (view,) = device_views(planned(tainted, node("n")), [tainted])
    assert (view.state, view.taints) == ("tainted", ("broken=yes:NoSchedule",))


def test_only_the_newest_generation_of_a_pool_counts():
    old = gpus("n", 3)
    pool = v1.ResourcePool(name="n", generation=2, resource_slice_count=1)
    new = v1.ResourceSlice(
        metadata=ObjectMeta(name="new"),
        spec=v1.ResourceSliceSpec(driver="gpu.test", node_name="n", pool=pool, devices=(v1.Device(name="only"),)),
    )
    assert state(planned(old, new, node("n")), old, new) == {"only": "free"}


def test_a_node_counts_its_pods_and_its_devices_by_product():
    slices = [gpus("n1", 2), gpus("n2", 1)]
    plan = planned(any_device_class(), *slices, node("n1"), node("n2"), node("n3"), template("t"), make_pod("a", templates=("t",)))
    views = node_views(plan, ["n1", "n2", "n3"], device_views(plan, slices))
    assert [(view.name, view.pods) for view in views] == [("n1", 1), ("n2", 0), ("n3", 0)]
    assert [(item.devices, item.used, item.free) for item in views[0].products] == [(2, 1, 1)]
    assert views[2].products == ()


def test_devices_of_no_one_node_come_last_without_a_name():
    slices = gpus("n", 1)
    roaming = v1.ResourceSlice(
        metadata=ObjectMeta(name="net"),
        spec=v1.ResourceSliceSpec(
            driver="net.test",
            all_nodes=True,
            pool=v1.ResourcePool(name="net", generation=1, resource_slice_count=1),
            devices=(v1.Device(name="vip"),),
        ),
    )
    plan = planned(slices, roaming, node("n"))
    assert [view.name for view in node_views(plan, ["n"], device_views(plan, [slices, roaming]))] == ["n", ""]


def test_a_claim_that_a_pod_waits_for_is_pending():
    plan = planned(
        any_device_class(),
        gpus("n", 1),
        node("n"),
        claim("c"),
        make_pod("a", claims=("c",)),
        template("t"),
        make_pod("b", templates=("t",)),
    )
    assert [(view.state, view.node, view.pods) for view in claim_views(plan)] == [
        ("pending", "", ("b",)),
        ("allocated", "n", ("a",)),
    ]


def test_a_summary_counts_devices_by_product_and_pods_by_their_first_reason():
    slices = [gpus("n1", 2), gpus("n2", 1)]
    pods = [make_pod(name, templates=("t",)) for name in ("a", "b", "c", "d")]
    plan = planned(any_device_class(), *slices, node("n1"), node("n2"), template("t"), *pods, make_pod("e", templates=("none",)))
    found = summarise(plan, device_views(plan, slices))
    assert [(item.devices, item.used, item.free) for item in found.products] == [(3, 3, 0)]
    assert [(item.code, item.pods) for item in found.reasons] == [("RPT103", 1), ("RPT201", 1)]
