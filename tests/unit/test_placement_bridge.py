"""Extended resources that DRA serves, in a plan: which node serves them, what claim is made, and what goes wrong."""

import msgspec

from reparto.allocation import Features
from reparto.model import codes, core, v1
from reparto.model.meta import ObjectMeta
from reparto.placement import Plan, PodPlan, make_plan, take_snapshot
from reparto.placement.extended_resources import invented_claim
from unit.placement_objects import allocated, any_device_class, claim, gpus, node, pod, spec, template

GPU = "example.com/gpu"
CLASS = v1.DeviceClass(metadata=ObjectMeta(name="gpu"), spec=v1.DeviceClassSpec(extended_resource_name=GPU))
QUOTA = core.ResourceQuota(
    metadata=ObjectMeta(name="team", namespace="default"),
    spec=core.ResourceQuotaSpec(hard={"gpu.deviceclass.resource.k8s.io/devices": "1"}),
)


def asking(name: str, count: int = 1, **fields: object) -> core.Pod:
    resources = core.ContainerResources(limits={GPU: str(count)})
    return pod(name, containers=(core.Container(name="main", resources=resources),), **fields)


def with_plugin(name: str, count: int) -> core.Node:
    return msgspec.structs.replace(node(name), status=core.NodeStatus(allocatable={GPU: str(count), "pods": "10"}))


def decide(*objects: object, extended_resources: bool = True, created: tuple[core.Pod, ...] = ()) -> Plan:
    seen = take_snapshot([any_device_class(), CLASS, *objects], created=created)
    return make_plan(seen, Features.for_version(), extended_resources=extended_resources)


def devices(item: PodPlan) -> list[str]:
    return [result.device for each in item.claims if each.allocation for result in each.allocation.devices.results]


def reasons(item: PodPlan) -> list[str]:
    return [reason.code for reason in item.reasons]


def test_where_no_device_plugin_is_the_pod_gets_a_claim():
    (item,) = decide(gpus("a", 2), asking("p", 2)).pods
    assert (item.verdict, item.node, devices(item)) == ("placed", "a", ["gpu-0", "gpu-1"])
    assert item.claims[0].pod_claim_name == ""
    status = item.extended_resource_claim_status
    assert status is not None
    assert status.resource_claim_name == item.claims[0].name
    assert status.request_mappings == (core.ContainerExtendedResourceRequest("main", GPU, "container-0-request-0"),)


def test_the_claim_exists_after_the_plan_and_belongs_to_the_pod():
    (made,) = decide(gpus("a", 1), asking("p", uid="u")).claims
    assert made.metadata.annotations == {"resource.kubernetes.io/extended-resource-claim": "true"}
    assert [(owner.name, owner.uid) for owner in made.metadata.owner_references] == [("p", "u")]
    assert [consumer.name for consumer in made.status.reserved_for] == ["p"]


def test_where_a_device_plugin_is_the_pod_gets_none():
    (item,) = decide(with_plugin("a", 1), gpus("a", 1), asking("p")).pods
    assert (item.verdict, item.node, item.claims) == ("placed", "a", ())
    assert item.extended_resource_claim_status is None


def test_a_device_plugin_that_is_used_up_does_not_fall_back_to_dra():
    items = decide(with_plugin("a", 1), gpus("a", 1), asking("p"), asking("q")).pods
    assert [item.verdict for item in items] == ["placed", "pending"]
    assert reasons(items[1]) == [codes.NODE_RESOURCES]


def test_devices_are_shared_with_claims_that_pods_write_themselves():
    items = decide(gpus("a", 2), claim("c"), pod("p", claims=["c"]), asking("q"), asking("r")).pods
    assert [devices(item) for item in items] == [["gpu-0"], ["gpu-1"], []]
    assert reasons(items[2]) == [codes.IN_USE]


def test_own_claims_come_first_and_the_claim_for_extended_resources_last():
    (item,) = decide(gpus("a", 2), claim("c"), asking("p", claims=["c"])).pods
    assert [each.pod_claim_name for each in item.claims] == ["claim-0", ""]
    assert devices(item) == ["gpu-0", "gpu-1"]


def test_an_own_claim_and_a_device_plugin_cannot_be_bound_and_the_claim_keeps_its_devices():
    plan = decide(with_plugin("a", 1), gpus("a", 1), claim("c"), asking("p", claims=["c"]), pod("q", claims=["c"]))
    failed, other = plan.pods
    assert (failed.verdict, failed.node, reasons(failed)) == ("pending", "", [codes.DEVICE_PLUGIN_AND_CLAIM])
    assert devices(failed) == ["gpu-0"]
    # Nobody has the claim reserved, so a pod that shares it takes the devices as they are.
    assert (other.verdict, devices(other)) == ("placed", ["gpu-0"])
    assert [consumer.name for consumer in plan.claims[0].status.reserved_for] == ["q"]


def test_a_claim_of_a_failed_attempt_is_deleted_first_and_its_devices_are_free_again():
    first = asking("p", uid="u")
    left_over = allocated(invented_claim(first, spec(device_class="gpu")), "a", "gpu-0")
    plan = decide(gpus("a", 1), left_over, first, asking("q"))
    assert [(item.verdict, reasons(item)) for item in plan.pods] == [("pending", [codes.LEFT_OVER]), ("placed", [])]
    assert devices(plan.pods[1]) == ["gpu-0"]


def test_a_pod_that_runs_shows_the_claim_that_serves_it():
    status = core.PodStatus(
        phase="Running",
        extended_resource_claim_status=core.PodExtendedResourceClaimStatus(
            (core.ContainerExtendedResourceRequest("main", GPU, "container-0-request-0"),), "made"
        ),
    )
    made = allocated(claim("made"), "a", "gpu-0")
    running, waiting = decide(gpus("a", 1), made, asking("p", node_name="a", status=status), asking("q")).pods
    assert (running.verdict, devices(running)) == ("bound", ["gpu-0"])
    assert running.extended_resource_claim_status == status.extended_resource_claim_status
    assert reasons(waiting) == [codes.IN_USE]


def test_a_claim_of_a_running_pod_that_is_not_in_the_input_is_remarked():
    status = core.PodStatus(extended_resource_claim_status=core.PodExtendedResourceClaimStatus((), "gone"))
    plan = decide(gpus("a", 1), asking("p", node_name="a", status=status))
    assert [note.object for note in plan.notes if note.code == codes.CLAIM_UNSEEN] == ["Pod/default/p"]


def test_a_quota_refuses_the_claim_when_the_pod_is_bound():
    items = decide(QUOTA, gpus("a", 3), asking("p"), asking("q")).pods
    assert [item.verdict for item in items] == ["placed", "pending"]
    assert reasons(items[1]) == [codes.CLAIM_OVER_QUOTA]


def test_what_the_quota_refuses_leaves_the_pods_own_claims_allocated():
    own = claim("c")
    items = decide(QUOTA, gpus("a", 4), own, asking("p", 2, claims=["c"]), asking("q")).pods
    assert (items[0].verdict, devices(items[0])) == ("pending", ["gpu-0"])
    assert devices(items[1]) == ["gpu-1"]


def test_a_claim_of_a_manifest_that_a_quota_refuses_does_not_exist_and_nobody_can_use_it():
    both = claim("both", count=2, device_class="gpu")
    plan = decide(QUOTA, gpus("a", 2), both, claim("one", device_class="gpu"), pod("p", claims=["both"]), pod("q", claims=["one"]))
    assert [(item.verdict, reasons(item)) for item in plan.pods] == [("pending", [codes.CLAIM_OVER_QUOTA]), ("placed", [])]
    assert [item.metadata.name for item in plan.claims] == ["one"]


def test_a_claim_of_a_template_that_a_quota_refuses_is_never_made():
    items = decide(QUOTA, gpus("a", 2), template("t", count=2, device_class="gpu"), pod("p", templates=["t"])).pods
    assert reasons(items[0]) == [codes.CLAIM_OVER_QUOTA]


def test_claims_of_templates_are_made_in_the_order_of_the_pods_not_of_their_priorities():
    pods = [pod("low", templates=["t"]), pod("high", templates=["t"], priority=10)]
    plan = decide(QUOTA, gpus("a", 2), template("t", device_class="gpu"), *pods)
    assert {item.name: item.verdict for item in plan.pods} == {"low": "placed", "high": "pending"}


def test_a_finished_pod_leaves_its_share_of_the_quota_to_others():
    done = pod("done", templates=["t"], status=core.PodStatus(phase="Succeeded"))
    items = decide(QUOTA, gpus("a", 2), template("t", device_class="gpu"), done, pod("p", templates=["t"])).pods
    assert {item.name: item.verdict for item in items} == {"done": "skipped", "p": "placed"}


def test_a_template_that_nobody_uses_is_held_against_the_quota_without_using_it_up():
    plan = decide(QUOTA, gpus("a", 4), template("t", device_class="gpu"), template("u", count=2, device_class="gpu"), asking("p"))
    assert {item.name: item.verdict for item in plan.pods} == {
        "p": "placed",
        "hypothetical-t": "pending",
        "hypothetical-u": "pending",
    }
    plan = decide(QUOTA, gpus("a", 4), template("t", device_class="gpu"), template("u", device_class="gpu"))
    assert [item.verdict for item in plan.pods] == ["placed", "placed"]


def test_the_defaults_of_a_limit_range_can_ask_for_devices():
    item = core.LimitRangeItem(type="Container", default={GPU: "1"})
    bounds = core.LimitRange(metadata=ObjectMeta(name="b", namespace="default"), spec=core.LimitRangeSpec(limits=(item,)))
    made = pod("made", containers=(core.Container(name="main"),))
    (planned,) = decide(bounds, gpus("a", 1), created=(made,)).pods
    assert devices(planned) == ["gpu-0"]


def test_a_pod_that_a_limit_range_refuses_is_pending_for_that_reason():
    item = core.LimitRangeItem(type="Container", max={GPU: "1"})
    bounds = core.LimitRange(metadata=ObjectMeta(name="b", namespace="default"), spec=core.LimitRangeSpec(limits=(item,)))
    (planned,) = decide(bounds, gpus("a", 2), created=(asking("made", 2),)).pods
    assert (planned.verdict, reasons(planned)) == ("pending", [codes.OUT_OF_LIMITS])


def test_without_the_feature_no_class_serves_the_resource():
    (item,) = decide(node("a"), gpus("a", 1), asking("p"), extended_resources=False).pods
    assert (item.claims, item.extended_resource_claim_status) == ((), None)


# --- why a pod is pending --------------------------------------------------------------------------------------------------------


def test_a_reason_names_the_resource_and_the_field_of_the_pod_that_asks_for_it():
    early = core.Container(name="fetch", resources=core.ContainerResources(requests={GPU: "3"}, limits={GPU: "3"}))
    (item,) = decide(node("a"), gpus("a", 2), asking("p", init_containers=(early,))).pods
    (reason,) = item.reasons
    # fetch may use the one device of main, and needs two more: three in all, of two.
    assert (reason.code, reason.object) == (codes.COMBINATION, "Pod/default/p")
    (item,) = decide(node("a"), gpus("a", 2), asking("p", 3)).pods
    (reason,) = item.reasons
    assert (reason.code, reason.path) == (codes.TOO_FEW, "spec.containers[0].resources.limits[example.com/gpu]")
    assert reason.message.startswith("on the only node: example.com/gpu: ")


def test_more_devices_than_a_claim_can_hold_are_an_error_of_the_pod():
    (item,) = decide(node("a"), gpus("a", 2), asking("p", 33)).pods
    (reason,) = item.reasons
    assert (reason.code, reason.object) == (codes.TOO_MANY, "Pod/default/p")
    assert reason.path == "spec.containers[0].resources.limits[example.com/gpu]"
