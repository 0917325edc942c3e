"""What pods get, one after the other. Devices are published in order gpu-0, gpu-1, …, and first fit takes them in that order.

Right values: worked out by hand from upstream-dra.md 5.1 and the order of pods; classes have no selectors, so no CEL is involved.
"""

import msgspec
import pytest

from reparto.allocation import Features
from reparto.model import codes, v1
from reparto.model.core import PodSchedulingGate, PodStatus, Taint
from reparto.model.meta import ObjectMeta
from reparto.placement.plan import Plan, PodPlan
from reparto.placement.planner import make_plan
from reparto.placement.snapshot import take_snapshot
from unit.placement_objects import allocated, any_device_class, claim, gpus, node, owned_by, pod, template


def decide(*objects: object, refused: tuple[str, ...] = (), taint_rules: bool = True) -> Plan:
    seen = take_snapshot([any_device_class(), *objects], refused=refused)
    return make_plan(seen, Features.for_version("1.37"), taint_rules=taint_rules)


def devices(item: PodPlan) -> list[str]:
    return [result.device for each in item.claims if each.allocation for result in each.allocation.devices.results]


def verdicts(answer: Plan) -> dict[str, str]:
    return {item.name: item.verdict for item in answer.pods}


def test_each_pod_sees_what_the_former_took():
    answer = decide(gpus("n", 2), template("t"), pod("a", templates=["t"]), pod("b", templates=["t"]), pod("c", templates=["t"]))
    assert [(item.name, item.verdict, item.node, devices(item)) for item in answer.pods] == [
        ("a", "placed", "n", ["gpu-0"]),
        ("b", "placed", "n", ["gpu-1"]),
        ("c", "pending", "", []),
    ]
    assert answer.exit_code() == 1


def test_the_first_node_by_name_that_fits_is_chosen():
    answer = decide(
        gpus("b", 1),
        gpus("a", 1),
        gpus("c", 2),
        template("t"),
        template("two", count=2),
        pod("p", templates=["t"]),
        pod("q", templates=["two"]),
    )
    assert [(item.name, item.node) for item in answer.pods] == [("p", "a"), ("q", "c")]


def test_what_runs_already_counts_first():
    runs = pod("runs", node_name="n", claims=["held"], status=PodStatus(phase="Running"))
    answer = decide(pod("new", templates=["t"]), gpus("n", 2), template("t"), allocated(claim("held"), "n", "gpu-0"), runs)
    assert [(item.name, item.verdict, devices(item)) for item in answer.pods] == [
        ("runs", "bound", ["gpu-0"]),
        ("new", "placed", ["gpu-1"]),
    ]


def test_an_allocated_claim_counts_even_if_no_pod_uses_it():
    answer = decide(gpus("n", 2), allocated(claim("held"), "n", "gpu-0"), template("t"), pod("p", templates=["t"]))
    assert [(item.name, item.verdict, devices(item)) for item in answer.pods] == [
        ("p", "placed", ["gpu-1"]),
        ("hypothetical-held", "bound", ["gpu-0"]),
    ]


def test_a_pod_of_higher_priority_goes_first():
    answer = decide(gpus("n", 1), template("t"), pod("low", templates=["t"]), pod("high", templates=["t"], priority=10))
    assert verdicts(answer) == {"high": "placed", "low": "pending"}


def test_pods_that_share_a_claim_share_its_devices_and_its_node():
    answer = decide(gpus("a", 1), gpus("b", 1), claim("shared"), pod("p", claims=["shared"]), pod("q", claims=["shared"]))
    assert [(item.node, devices(item)) for item in answer.pods] == [("a", ["gpu-0"]), ("a", ["gpu-0"])]


def test_an_allocated_claim_pins_its_pods_to_its_node():
    tainted = node("a", taints=(Taint(key="broken", effect="NoSchedule"),))
    objects = (tainted, node("b"), gpus("a", 1), gpus("b", 1), allocated(claim("held"), "a", "gpu-0"))
    (item,) = decide(*objects, pod("p", claims=["held"])).pods
    assert item.verdict == "pending"
    assert [(reason.code, reason.object, reason.counts[-1].matching) for reason in item.reasons] == [
        (codes.NODE_TAINT, "Pod/default/p", 1),
        (codes.CLAIM_PINNED, "ResourceClaim/default/held", 1),
    ]


def test_reservations_are_counted_up_to_256_while_the_plan_goes_on():
    # 255 consumers, then two more pods: the first becomes the 256th, the second finds the claim full.
    held = allocated(claim("held"), "n", "gpu-0")
    consumers = tuple(v1.ResourceClaimConsumerReference(resource="pods", name=f"u{n}", uid=f"u{n}") for n in range(255))
    held = msgspec.structs.replace(held, status=msgspec.structs.replace(held.status, reserved_for=consumers))
    answer = decide(gpus("n", 1), held, pod("p", uid="p", claims=["held"]), pod("q", uid="q", claims=["held"]))
    assert verdicts(answer) == {"p": "placed", "q": "pending"}
    assert answer.pods[1].reasons[0].code == codes.CLAIM_FULL


def test_a_pod_without_claims_needs_only_a_node():
    answer = decide(node("a", unschedulable=True), node("b"), pod("p"))
    assert [(item.verdict, item.node) for item in answer.pods] == [("placed", "b")]


def test_without_any_node_every_pod_is_pending_for_that_reason():
    (item,) = decide(template("t"), pod("p", templates=["t"])).pods
    assert [reason.code for reason in item.reasons] == [codes.NODE_UNKNOWN]


def test_a_missing_class_is_named_whatever_the_nodes_are():
    (item,) = decide(gpus("n", 1), template("t", device_class="none"), pod("p", templates=["t"])).pods
    assert [(reason.code, reason.object, reason.path) for reason in item.reasons] == [
        (codes.NO_SUCH_CLASS, "ResourceClaimTemplate/default/t", "spec.spec.devices.requests[0].exactly.deviceClassName")
    ]


def test_an_allocation_that_keeps_its_pod_from_every_node_is_freed_unless_another_pod_has_it_reserved():
    # p may only run on b, but its claim is allocated on a. The scheduler gives p no node, and takes the allocation away
    # (PostFilter), so q, which comes next, finds gpu-0 of a free.
    held = allocated(claim("held"), "a", "gpu-0")
    objects = (node("a"), node("b", labels={"here": "yes"}), gpus("a", 1), template("t"))
    pods = (pod("p", claims=["held"], node_selector={"here": "yes"}), pod("q", templates=["t"]))
    answer = decide(*objects, held, *pods)
    assert verdicts(answer) == {"p": "pending", "q": "placed"}
    assert codes.ALLOCATION_FREED in {note.code for note in answer.notes}
    consumer = v1.ResourceClaimConsumerReference(resource="pods", name="other", uid="o")
    reserved = msgspec.structs.replace(held, status=msgspec.structs.replace(held.status, reserved_for=(consumer,)))
    assert verdicts(decide(*objects, reserved, *pods)) == {"p": "pending", "q": "pending"}


def test_an_allocation_is_kept_where_the_pod_s_other_claims_do_not_fit_either():
    # On b the scheduler finds no device for the second claim, and stops before it remembers that the first one is elsewhere.
    held = allocated(claim("held"), "a", "gpu-0")
    objects = (node("a"), node("b", labels={"here": "yes"}), gpus("a", 1), held, template("t"))
    answer = decide(*objects, pod("p", claims=["held"], templates=["t"], node_selector={"here": "yes"}), pod("q", templates=["t"]))
    assert verdicts(answer) == {"p": "pending", "q": "pending"}
    assert [reason.code for reason in answer.pods[0].reasons] == [codes.NODE_AFFINITY, codes.NO_DEVICES]


# --- pods that are not scheduled ---


@pytest.mark.parametrize(
    "item, verdict",
    [
        (pod("p", templates=["t"], scheduler_name="kai-scheduler"), "skipped"),
        (pod("p", templates=["t"], status=PodStatus(phase="Failed")), "skipped"),
        (pod("p", templates=["t"], scheduling_gates=(PodSchedulingGate(name="g"),)), "waiting"),
        (pod("p", templates=["t"], deleted="2026-11-30T00:00:00Z"), "skipped"),
    ],
)
def test_pods_set_aside_take_nothing(item, verdict):
    answer = decide(gpus("n", 1), template("t"), item, pod("q", templates=["t"]))
    assert verdicts(answer) == {"p": verdict, "q": "placed"}
    assert answer.exit_code() == (1 if verdict == "waiting" else 0)


def test_a_pod_that_names_its_node_bypasses_the_scheduler_and_never_gets_its_claim():
    item = decide(gpus("n", 1), template("t"), pod("p", node_name="n", templates=["t"])).pods[0]
    assert (item.verdict, [reason.code for reason in item.reasons]) == ("pending", [codes.POD_BYPASSES_SCHEDULER])


def test_a_running_pod_whose_claim_is_not_in_the_input_is_remarked():
    running = pod("p", node_name="n", claims=["gone"], status=PodStatus(phase="Running"))
    answer = decide(gpus("n", 1), running)
    assert answer.pods[0].verdict == "bound"
    assert codes.CLAIM_UNSEEN in {note.code for note in answer.notes}


def test_refused_pods_are_listed_as_invalid():
    answer = decide(gpus("n", 1), refused=("Pod/ml/broken",))
    assert [(item.namespace, item.name, item.verdict) for item in answer.pods] == [("ml", "broken", "invalid")]


# --- hypothetical consumers ---


def test_claims_and_templates_without_a_pod_are_each_tried_by_themselves():
    answer = decide(gpus("n", 2), claim("two", count=2), template("one"), template("both", count=2), template("three", count=3))
    assert [(item.name, item.hypothetical, item.verdict, devices(item)) for item in answer.pods] == [
        ("hypothetical-two", True, "placed", ["gpu-0", "gpu-1"]),
        ("hypothetical-both", True, "placed", ["gpu-0", "gpu-1"]),
        ("hypothetical-one", True, "placed", ["gpu-0"]),
        ("hypothetical-three", True, "pending", []),
    ]
    assert answer.summary()["hypothetical"] == 4


def test_hypothetical_consumers_see_what_real_pods_took():
    answer = decide(gpus("n", 2), template("used"), template("unused"), pod("p", templates=["used"]))
    assert [(item.name, devices(item)) for item in answer.pods] == [("p", ["gpu-0"]), ("hypothetical-unused", ["gpu-1"])]


def test_a_claim_that_was_made_for_a_pod_of_the_input_is_that_pod_s():
    user = pod("p", templates=["t"])
    answer = decide(gpus("n", 1), template("t"), user, owned_by(claim("p-made"), user, "template-0"))
    assert [(item.name, item.claims[0].name) for item in answer.pods] == [("p", "p-made")]


# --- taints of devices, binding conditions ---


def rule(effect: str) -> v1.DeviceTaintRule:
    selector = v1.DeviceTaintSelector(pool="n", device="gpu-0")
    taint = v1.DeviceTaint(key="broken", effect=effect)
    return v1.DeviceTaintRule(metadata=ObjectMeta(name="r"), spec=v1.DeviceTaintRuleSpec(device_selector=selector, taint=taint))


@pytest.mark.parametrize(
    "effect, in_force, got", [("NoSchedule", True, "gpu-1"), ("None", True, "gpu-0"), ("NoSchedule", False, "gpu-0")]
)
def test_taint_rules_keep_devices_from_new_claims_while_they_are_in_force(effect, in_force, got):
    answer = decide(gpus("n", 2), rule(effect), template("t"), pod("p", templates=["t"]), taint_rules=in_force)
    assert devices(answer.pods[0]) == [got]


def test_a_pod_whose_devices_have_binding_conditions_waits_on_its_node():
    slow = msgspec.structs.replace(
        gpus("n", 1),
        spec=msgspec.structs.replace(
            gpus("n", 1).spec,
            devices=(v1.Device(name="gpu-0", binding_conditions=("Attached",), binding_failure_conditions=("Failed",)),),
        ),
    )
    (item,) = decide(slow, template("t"), pod("p", templates=["t"])).pods
    assert (item.verdict, item.node, devices(item)) == ("waiting", "n", ["gpu-0"])
    assert [reason.code for reason in item.reasons] == [codes.BINDING_CONDITIONS]


# --- the answer as a whole ---


def test_the_same_input_gives_the_same_answer():
    objects = (gpus("n", 3), gpus("m", 1), claim("c"), template("t", count=2), *(pod(f"p{n}", templates=["t"]) for n in range(3)))
    first, second = decide(*objects), decide(*objects)
    assert msgspec.json.encode(first.document()) == msgspec.json.encode(second.document())


def test_errors_outrank_pending_pods():
    from reparto.model.errors import Problem

    answer = decide(template("t"), pod("p", templates=["t"]))
    problem = Problem("a.yaml", 1, "", "", "Decode", None, "no")
    assert answer.exit_code() == 1
    assert msgspec.structs.replace(answer, errors=(problem,)).exit_code() == 2


# --- remarks ---


def test_an_allocated_device_that_nobody_publishes_is_remarked():
    answer = decide(gpus("n", 1), allocated(claim("held"), "n", "gpu-7"))
    assert [(note.code, note.object) for note in answer.notes if note.code == codes.DEVICE_GONE] == [
        (codes.DEVICE_GONE, "ResourceClaim/default/held")
    ]


def test_an_error_on_any_node_stops_the_pod_even_if_another_would_fit():
    # Mode All on a node whose pool is incomplete is an error of the pod, and the scheduler asks all nodes of a small cluster.
    incomplete = gpus("b", 1)
    pool = v1.ResourcePool(name="b", generation=1, resource_slice_count=2)
    incomplete = msgspec.structs.replace(incomplete, spec=msgspec.structs.replace(incomplete.spec, pool=pool))
    exactly = v1.ExactDeviceRequest(device_class_name="any", allocation_mode="All")
    everything = v1.ResourceClaim(
        metadata=ObjectMeta(name="all", namespace="default"),
        spec=v1.ResourceClaimSpec(devices=v1.DeviceClaim(requests=(v1.DeviceRequest(name="r", exactly=exactly),))),
    )
    (item,) = decide(gpus("a", 1), incomplete, everything, pod("p", claims=["all"])).pods
    assert (item.verdict, [reason.code for reason in item.reasons]) == ("pending", [codes.POOL_INCOMPLETE])
