"""Which claims a pod uses. Right values: upstream-dra.md 2.3 and 5.1, by hand."""

import msgspec
import pytest

from reparto.model import codes, v1
from reparto.model.core import PodResourceClaimStatus, PodStatus
from reparto.model.meta import Condition, ObjectMeta
from reparto.placement.claims import Claims, binding, obstacles, reserve, reserved_for
from reparto.placement.snapshot import take_snapshot
from unit.placement_objects import allocated, any_device_class, claim, owned_by, pod, template


def resolve(item, *objects):
    return Claims(take_snapshot(objects)).resolve(item)


def only(item, *objects):
    entries, reasons = resolve(item, *objects)
    assert not reasons
    assert len(entries) == 1
    return entries[0]


def reason(item, *objects):
    entries, reasons = resolve(item, *objects)
    assert not entries
    assert len(reasons) == 1
    return reasons[0]


def recorded(name: str | None, pod_claim: str = "template-0") -> PodStatus:
    return PodStatus(resource_claim_statuses=(PodResourceClaimStatus(name=pod_claim, resource_claim_name=name),))


# --- claims named by the pod ---


def test_a_named_claim_is_taken_from_the_pod_s_namespace():
    mine, other = claim("gpu", namespace="a"), claim("gpu", namespace="b", count=2)
    assert only(pod("p", namespace="a", claims=["gpu"]), other, mine).claim is mine


def test_a_claim_that_two_entries_name_is_used_once():
    entries, _ = resolve(pod("p", claims=["gpu", "gpu"]), claim("gpu"))
    assert [entry.name for entry in entries] == ["claim-0"]


def test_a_missing_claim_is_named_with_the_nearest_that_exists():
    answer = reason(pod("p", claims=["gpus"]), claim("gpu"))
    assert (answer.code, answer.object, answer.path) == (
        codes.CLAIM_MISSING,
        "Pod/default/p",
        "spec.resourceClaims[0].resourceClaimName",
    )
    assert answer.hint == "did you mean gpu?"


def test_a_claim_of_another_namespace_is_not_for_the_pod():
    answer = reason(pod("p", namespace="a", claims=["gpu"]), claim("gpu", namespace="b"))
    assert answer.code == codes.CLAIM_ELSEWHERE
    assert "in namespace b, the pod in a" in answer.message


def test_a_refused_claim_is_said_to_be_invalid():
    seen = take_snapshot([], refused=["ResourceClaim/default/gpu"])
    _, reasons = Claims(seen).resolve(pod("p", claims=["gpu"]))
    assert [(each.code, each.object) for each in reasons] == [(codes.CLAIM_INVALID, "ResourceClaim/default/gpu")]


def test_every_claim_that_a_pod_cannot_have_is_named():
    _, reasons = resolve(pod("p", claims=["a"], templates=["b"]))
    assert [each.code for each in reasons] == [codes.CLAIM_MISSING, codes.TEMPLATE_MISSING]


# --- claims made from templates ---


def test_a_claim_is_made_from_the_template_as_the_controller_makes_it():
    made = msgspec.structs.replace(
        template("gpus", count=2),
        spec=v1.ResourceClaimTemplateSpec(metadata=ObjectMeta(labels={"team": "ml"}), spec=claim("x", count=2).spec),
    )
    entry = only(pod("p", uid="u-1", templates=["gpus"]), made)
    metadata = entry.claim.metadata
    assert metadata.name.startswith("p-template-0-") and len(metadata.name) == len("p-template-0-") + 5
    assert metadata.labels == {"team": "ml"}
    assert metadata.annotations == {"resource.kubernetes.io/pod-claim-name": "template-0"}
    assert [(o.kind, o.name, o.uid, o.controller, o.block_owner_deletion) for o in metadata.owner_references] == [
        ("Pod", "p", "u-1", True, None)
    ]
    assert entry.claim.spec is made.spec.spec
    assert (entry.origin, entry.path) == ("ResourceClaimTemplate/default/gpus", "spec.spec")


def test_a_generated_name_is_the_same_in_every_run_and_differs_between_pods():
    first, again = (only(pod("p", templates=["t"]), template("t")).claim.metadata.name for _ in range(2))
    other = only(pod("q", templates=["t"]), template("t")).claim.metadata.name
    assert first == again
    assert first[-5:] != other[-5:]
    assert set(first[-5:]) <= set("bcdfghjklmnpqrstvwxz2456789")


def test_long_names_are_cut_in_proportion_and_lose_the_last_hyphen():
    # pod 50 + "-" + claim 10 + "-" = 62 > 57, so 50·57/62 = 45 and 10·57/62 = 9 characters, joined by a hyphen.
    long = pod("p" * 50, templates=["t"])
    entry = msgspec.structs.replace(long.spec.resource_claims[0], name="c" * 10)
    long = msgspec.structs.replace(long, spec=msgspec.structs.replace(long.spec, resource_claims=(entry,)))
    name = only(long, template("t")).claim.metadata.name
    assert name[:-5] == "p" * 45 + "-" + "c" * 9


def test_the_claim_in_the_pod_s_status_is_used():
    using = pod("p", uid="u", templates=["t"], status=recorded("p-gpu-abcde"))
    existing = owned_by(claim("p-gpu-abcde"), using, "template-0")
    assert only(using, template("t"), existing).claim is existing


def test_a_status_without_a_name_means_that_no_claim_is_needed():
    assert resolve(pod("p", templates=["t"], status=recorded(None)), template("t")) == ((), ())


def test_a_recorded_claim_of_another_pod_is_refused():
    using = pod("p", uid="u", templates=["t"], status=recorded("x"))
    foreign = owned_by(claim("x"), pod("other", uid="v"), "template-0")
    assert reason(using, template("t"), foreign).code == codes.CLAIM_NOT_OWNED


def test_a_recorded_claim_that_vanished_is_made_again():
    entry = only(pod("p", templates=["t"], status=recorded("gone")), template("t"))
    assert entry.origin == "ResourceClaimTemplate/default/t"


def test_a_claim_is_found_by_owner_and_annotation_where_the_status_was_trimmed():
    using = pod("p", uid="u", templates=["t"])
    assert only(using, template("t"), existing := owned_by(claim("x"), using, "template-0")).claim is existing
    # The uid decides where both sides have one: the pod was replaced by another of the same name.
    assert only(pod("p", uid="new", templates=["t"]), template("t"), existing).origin == "ResourceClaimTemplate/default/t"


def test_a_template_of_another_namespace_is_not_for_the_pod():
    answer = reason(pod("p", namespace="a", templates=["t"]), template("t", namespace="b"))
    assert (answer.code, answer.path) == (codes.TEMPLATE_ELSEWHERE, "spec.resourceClaims[0].resourceClaimTemplateName")
    assert "template t is in namespace b, the pod in a" in answer.message


# --- what keeps a pod from a claim everywhere ---


def test_a_claim_that_is_being_deleted_is_not_used():
    leaving = v1.ResourceClaim(
        metadata=ObjectMeta(name="gpu", namespace="default", deletion_timestamp="2026-11-30T00:00:00Z"), spec=claim("x").spec
    )
    seen = take_snapshot([leaving, any_device_class()])
    item = pod("p", claims=["gpu"])
    (entry,), _ = Claims(seen).resolve(item)
    assert [each.code for each in obstacles(item, entry, seen)] == [codes.CLAIM_DELETED]


@pytest.mark.parametrize("consumers, full", [(255, False), (256, True)])
def test_a_claim_has_at_most_256_consumers(consumers, full):
    held = allocated(claim("gpu"), "n", "gpu-0")
    for number in range(consumers):
        assert held.status.allocation is not None
        held = reserve(held, held.status.allocation, pod(f"user-{number}", uid=f"u{number}"))
    seen = take_snapshot([held, any_device_class()])

    def codes_for(item):
        (entry,), _ = Claims(seen).resolve(item)
        return [each.code for each in obstacles(item, entry, seen)]

    assert codes_for(pod("late", uid="late", claims=["gpu"])) == ([codes.CLAIM_FULL] if full else [])
    assert codes_for(pod("user-7", uid="u7", claims=["gpu"])) == []  # has its reservation already


def test_every_missing_class_is_named_with_the_field_of_the_template():
    alternatives = (v1.DeviceSubRequest(name="a", device_class_name="any"), v1.DeviceSubRequest(name="b", device_class_name="anny"))
    asking = v1.ResourceClaimSpec(devices=v1.DeviceClaim(requests=(v1.DeviceRequest(name="r", first_available=alternatives),)))
    made = v1.ResourceClaimTemplate(
        metadata=ObjectMeta(name="t", namespace="default"), spec=v1.ResourceClaimTemplateSpec(spec=asking)
    )
    seen, item = take_snapshot([made, any_device_class()]), pod("p", templates=["t"])
    (entry,), _ = Claims(seen).resolve(item)
    (answer,) = obstacles(item, entry, seen)
    assert (answer.code, answer.object) == (codes.NO_SUCH_CLASS, "ResourceClaimTemplate/default/t")
    assert answer.path == "spec.spec.devices.requests[0].firstAvailable[1].deviceClassName"
    assert (answer.message, answer.hint) == ("request r/b: there is no DeviceClass anny", "did you mean any?")


def test_a_reservation_is_recognised_by_uid_and_by_name_where_there_is_none():
    held = allocated(claim("gpu"), "n", "gpu-0")
    assert held.status.allocation is not None
    for_uid = reserve(held, held.status.allocation, pod("p", uid="u"))
    assert reserved_for(for_uid, pod("p", uid="u"))
    assert not reserved_for(for_uid, pod("p", uid="v"))
    trimmed = reserve(held, held.status.allocation, pod("p"))
    assert reserved_for(trimmed, pod("p", uid="u"))
    assert reserve(for_uid, held.status.allocation, pod("p", uid="u")).status.reserved_for == for_uid.status.reserved_for


# --- binding conditions ---


@pytest.mark.parametrize(
    "conditions, state",
    [
        ({}, "waiting"),
        ({"Attached": "False"}, "waiting"),
        ({"Attached": "True"}, "ready"),
        ({"Attached": "True", "Broken": "True"}, "failed"),
        ({"Broken": "False"}, "waiting"),
    ],
)
def test_binding_conditions_of_an_allocated_claim(conditions, state):
    result = v1.DeviceRequestAllocationResult(
        request="gpu", driver="d", pool="p", device="x", binding_conditions=["Attached"], binding_failure_conditions=["Broken"]
    )
    reported = tuple(Condition(type=name, status=status) for name, status in conditions.items())
    status = v1.ResourceClaimStatus(
        allocation=v1.AllocationResult(devices=v1.DeviceAllocationResult(results=[result])),
        devices=(v1.AllocatedDeviceStatus(driver="d", pool="p", device="x", conditions=reported),),
    )
    assert binding(v1.ResourceClaim(metadata=ObjectMeta(name="c"), status=status))[0] == state


def test_a_mistyped_class_is_compared_with_those_that_drivers_ship_too():
    seen, item = take_snapshot([claim("c", device_class="gpu.nvidia.con")]), pod("p", claims=["c"])
    (entry,), _ = Claims(seen).resolve(item)
    assert obstacles(item, entry, seen)[0].hint == "did you mean gpu.nvidia.com?"
