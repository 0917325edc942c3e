"""Claims that the pods of a PodGroup share, behind gate DRAWorkloadResourceClaims.

Right values: upstream-dra.md 2.5, 5.1 and 5.2, worked out by hand.
"""

import pytest

from reparto.allocation import Features
from reparto.model import codes, core, v1
from reparto.model.decoding import decode
from reparto.model.intake import read_inputs
from reparto.model.meta import ObjectMeta, OwnerReference
from reparto.placement import make_plan, take_snapshot
from reparto.placement.claims import Claims, Membership, obstacles, reserve, reserved_for
from unit.placement_objects import allocated, any_device_class, claim, gpus, node, owned_by, pod, template

TEMPLATE = core.PodResourceClaim(name="template-0", resource_claim_template_name="t")
CLAIM = core.PodResourceClaim(name="claim-0", resource_claim_name="shared")
GANG = core.PodGroupSchedulingPolicy(gang={"minCount": 2})


def group(*entries: core.PodResourceClaim, name: str = "g", uid: str = "", namespace: str = "default", **spec: object):
    metadata = ObjectMeta(name=name, namespace=namespace, uid=uid)
    return core.PodGroup(metadata=metadata, spec=core.PodGroupSpec(resource_claims=entries, **spec))  # type: ignore[arg-type]


def member(name: str, of: str = "g", **fields: object) -> core.Pod:
    return pod(name, scheduling_group=core.PodSchedulingGroup(pod_group_name=of), **fields)  # type: ignore[arg-type]


def made_for(item: v1.ResourceClaim, of: str, pod_claim: str, *, uid: str = "", api_version: str = "scheduling.k8s.io/v1beta1"):
    """The claim as the resourceclaim controller made it for an entry of a group."""
    owner = OwnerReference(api_version=api_version, kind="PodGroup", name=of, uid=uid, controller=True)
    metadata = ObjectMeta(
        name=item.metadata.name,
        namespace=item.metadata.namespace,
        annotations={"resource.kubernetes.io/pod-claim-name": pod_claim},
        owner_references=(owner,),
    )
    return v1.ResourceClaim(metadata=metadata, spec=item.spec, status=item.status)


def plan(*objects: object, on: bool = True):
    return make_plan(take_snapshot([any_device_class(), *objects]), Features(), group_claims=on)


def resolve(item: core.Pod, *objects: object):
    return Claims(take_snapshot(objects), group_claims=True).resolve(item)


def only(item: core.Pod, *objects: object):
    (entry,), reasons = resolve(item, *objects)
    assert not reasons
    return entry


def verdicts(answer) -> dict[str, str]:
    return {each.name: each.verdict for each in answer.pods}


# --- one claim for the group ---


def test_two_pods_of_a_group_share_one_device_where_one_is_all_there_is():
    answer = plan(
        node("n"), gpus("n", 1), template("t"), group(TEMPLATE), member("a", templates=["t"]), member("b", templates=["t"])
    )
    assert verdicts(answer) == {"a": "placed", "b": "placed"}
    first, second = answer.pods
    assert [each.name for each in first.claims] == [each.name for each in second.claims]
    assert len(answer.claims) == 1


def test_with_the_gate_off_each_pod_has_its_own_claim_and_nothing_is_said():
    objects = (node("n"), gpus("n", 1), template("t"), group(TEMPLATE, scheduling_policy=GANG))
    answer = plan(*objects, member("a", templates=["t"]), member("b", templates=["t"]), on=False)
    without = plan(*objects[:-1], pod("a", templates=["t"]), pod("b", templates=["t"]), on=False)
    assert verdicts(answer) == {"a": "placed", "b": "pending"}
    assert answer == without


def test_with_the_gate_off_a_missing_group_keeps_nobody():
    answer = plan(node("n"), gpus("n", 1), template("t"), member("a", templates=["t"]), on=False)
    assert verdicts(answer) == {"a": "placed"}


def test_the_claim_is_named_annotated_and_owned_as_the_controller_does():
    made = only(member("a", templates=["t"]), template("t"), group(TEMPLATE, uid="u")).claim.metadata
    assert made.name.startswith("g-template-0-")
    assert len(made.name) == len("g-template-0-") + 5
    assert made.annotations == {"resource.kubernetes.io/pod-claim-name": "template-0"}
    assert made.owner_references == (
        OwnerReference(api_version="scheduling.k8s.io/v1beta1", kind="PodGroup", name="g", uid="u", controller=True),
    )


def test_the_name_depends_on_the_group_alone_and_differs_from_that_for_a_pod_of_its_name():
    objects = (template("t"), group(TEMPLATE))
    names = {only(member(name, templates=["t"]), *objects).claim.metadata.name for name in "ab"}
    assert len(names) == 1
    assert only(pod("g", templates=["t"]), *objects).claim.metadata.name not in names


def test_long_names_are_cut_in_proportion():
    # 60 + 1 + 10 + 1 = 72 characters: 60 * 57 // 72 = 47 of the group's name, 10 * 57 // 72 = 7 of the claim's.
    made = only(member("a", of="g" * 60, templates=["t"]), template("t"), group(TEMPLATE, name="g" * 60))
    assert made.claim.metadata.name[:-5] == "g" * 47 + "-" + "templat"


def test_the_claim_is_reserved_once_for_the_group():
    answer = plan(
        node("n"),
        gpus("n", 1),
        template("t"),
        group(TEMPLATE, uid="u"),
        member("a", uid="1", templates=["t"]),
        member("b", uid="2", templates=["t"]),
    )
    (made,) = answer.claims
    assert made.status.reserved_for == (
        v1.ResourceClaimConsumerReference(api_group="scheduling.k8s.io", resource="podgroups", name="g", uid="u"),
    )


def test_groups_and_other_pods_do_not_share():
    answer = plan(
        node("n"),
        gpus("n", 3),
        template("t"),
        group(TEMPLATE),
        group(TEMPLATE, name="h"),
        *(member(name, templates=["t"]) for name in ("a", "b")),
        member("c", of="h", templates=["t"]),
        pod("d", templates=["t"]),
    )
    assert set(verdicts(answer).values()) == {"placed"}
    assert len(answer.claims) == 3


# --- which claims are the group's ---


@pytest.mark.parametrize(
    "other",
    [
        core.PodResourceClaim(name="another", resource_claim_template_name="t"),
        core.PodResourceClaim(name="template-0", resource_claim_template_name="u"),
        core.PodResourceClaim(name="template-0", resource_claim_name="t"),
    ],
)
def test_an_entry_that_differs_in_anything_is_the_pod_s_own(other):
    made = only(member("a", templates=["t"]), template("t"), group(other))
    assert made.claim.metadata.owner_references[0].kind == "Pod"
    assert made.membership == Membership("g")


def test_a_claim_that_pod_and_group_name_is_reserved_for_the_group():
    answer = plan(
        node("n"), gpus("n", 1), claim("shared"), group(CLAIM), member("a", claims=["shared"]), member("b", claims=["shared"])
    )
    assert verdicts(answer) == {"a": "placed", "b": "placed"}
    assert [(each.resource, each.name) for each in answer.claims[0].status.reserved_for] == [("podgroups", "g")]


def test_a_claim_that_only_the_pods_name_is_reserved_for_each():
    answer = plan(node("n"), gpus("n", 1), claim("shared"), group(), member("a", claims=["shared"]), member("b", claims=["shared"]))
    assert [(each.resource, each.name) for each in answer.claims[0].status.reserved_for] == [("pods", "a"), ("pods", "b")]


# --- reservations ---


def test_a_reservation_for_the_group_counts_by_name_whatever_its_uid():
    held = allocated(claim("shared"), "n", "gpu-0")
    held = reserve(held, held.status.allocation, member("a"), Membership("g", group(uid="old")))
    assert reserved_for(held, member("b"), Membership("g"))
    assert not reserved_for(held, member("b"), Membership("h"))
    assert not reserved_for(held, member("b"))
    assert reserve(held, held.status.allocation, member("b"), Membership("g", group(uid="new"))) == held


def test_a_claim_with_256_consumers_has_room_for_a_member_of_a_group_among_them():
    held = allocated(claim("shared"), "n", "gpu-0")
    for number in range(255):
        held = reserve(held, held.status.allocation, pod(f"user-{number}", uid=f"u{number}"))
    held = reserve(held, held.status.allocation, member("a"), Membership("g", group()))
    seen = take_snapshot([held, group(CLAIM)])
    claims = Claims(seen, group_claims=True)

    def codes_for(item: core.Pod) -> list[str]:
        (entry,), _ = claims.resolve(item)
        return [each.code for each in obstacles(item, entry, seen)]

    assert codes_for(member("b", claims=["shared"])) == []
    assert codes_for(pod("c", claims=["shared"])) == [codes.CLAIM_FULL]


# --- claims that were made before ---


def recorded(name: str, entry: str = "template-0") -> tuple[core.PodResourceClaimStatus, ...]:
    return (core.PodResourceClaimStatus(name=entry, resource_claim_name=name),)


def test_the_claim_that_the_group_s_status_records_is_taken():
    old, other = made_for(claim("old"), "g", "template-0"), made_for(claim("first"), "g", "template-0")
    status = core.PodGroupStatus(resource_claim_statuses=recorded("old"))
    mine = core.PodGroup(metadata=ObjectMeta(name="g", namespace="default"), spec=group(TEMPLATE).spec, status=status)
    assert only(member("a", templates=["t"]), other, old, mine, template("t")).claim is old


@pytest.mark.parametrize("api_version", ["scheduling.k8s.io/v1beta1", "scheduling.k8s.io/v1"])
def test_a_claim_that_the_controller_made_is_found_by_annotation_and_owner(api_version):
    old = made_for(claim("old"), "g", "template-0", api_version=api_version)
    assert only(member("a", templates=["t"]), old, group(TEMPLATE), template("t")).claim is old


def test_a_claim_of_a_former_group_of_that_name_is_not_taken():
    old = made_for(claim("old"), "g", "template-0", uid="former")
    assert only(member("a", templates=["t"]), old, group(TEMPLATE, uid="new"), template("t")).claim is not old


def test_a_claim_of_another_api_s_group_is_not_taken():
    old = made_for(claim("old"), "g", "template-0", api_version="scheduling.volcano.sh/v1beta1")
    assert only(member("a", templates=["t"]), old, group(TEMPLATE), template("t")).claim is not old


def test_a_claim_in_the_pod_s_status_may_be_the_group_s():
    status = core.PodStatus(resource_claim_statuses=recorded("old"))
    old, item = made_for(claim("old"), "g", "template-0", uid="former"), member("a", templates=["t"], status=status)
    assert only(item, old, group(TEMPLATE, uid="new"), template("t")).claim is old
    _, off = Claims(take_snapshot([old, group(TEMPLATE), template("t")])).resolve(item)
    assert [each.code for each in off] == [codes.CLAIM_NOT_OWNED]


def test_a_claim_in_the_pod_s_status_may_not_be_another_group_s():
    status = core.PodStatus(resource_claim_statuses=recorded("old"))
    _, reasons = resolve(
        member("a", templates=["t"], status=status), made_for(claim("old"), "h", "template-0"), group(TEMPLATE), template("t")
    )
    assert [each.code for each in reasons] == [codes.CLAIM_NOT_OWNED]


def test_a_claim_that_the_pod_has_of_its_own_stays_its_claim():
    status = core.PodStatus(resource_claim_statuses=recorded("own"))
    item = member("a", templates=["t"], status=status)
    own = owned_by(claim("own"), item, "template-0")
    assert only(item, own, group(TEMPLATE), template("t")).claim is own


def test_the_claim_of_a_group_is_no_unused_claim():
    old = made_for(claim("old"), "g", "template-0")
    answer = plan(node("n"), gpus("n", 1), template("t"), old, group(TEMPLATE), member("a", templates=["t"]))
    assert verdicts(answer) == {"a": "placed"}


# --- groups that are missing ---


def test_a_pod_whose_group_is_missing_is_pending_for_that_reason_and_no_claim_is_made():
    answer = plan(node("n"), gpus("n", 1), template("t"), group(TEMPLATE, name="gang"), member("a", of="gan", templates=["t"]))
    (item,) = answer.pods
    assert (item.verdict, item.claims, answer.claims) == ("pending", (), ())
    (reason,) = item.reasons
    assert (reason.code, reason.object, reason.path) == (
        codes.POD_GROUP_MISSING,
        "Pod/default/a",
        "spec.schedulingGroup.podGroupName",
    )
    assert reason.hint == "did you mean gang?"


def test_a_pod_without_claims_waits_for_its_group_as_well():
    assert [each.reasons[0].code for each in plan(node("n"), member("a")).pods] == [codes.POD_GROUP_MISSING]


def test_a_group_of_another_namespace_is_not_the_pod_s():
    _, reasons = resolve(member("a", templates=["t"]), template("t"), group(TEMPLATE, namespace="other"))
    assert [each.code for each in reasons] == [codes.POD_GROUP_MISSING]


@pytest.mark.parametrize(("count", "found"), [(4, []), (5, [(codes.POD_GROUP_MISSING, "PodGroup/default/g")])])
def test_a_group_with_more_than_four_claims_is_refused_by_the_server(count, found):
    entries = [core.PodResourceClaim(name=f"e-{number}", resource_claim_name="shared") for number in range(count)]
    _, reasons = resolve(member("a"), group(*entries))
    assert [(each.code, each.object) for each in reasons] == found


def test_a_pod_that_has_its_node_keeps_its_claims_without_its_group():
    held = reserve(allocated(claim("shared"), "n", "gpu-0"), allocated(claim("x"), "n", "gpu-0").status.allocation, member("a"))
    answer = plan(node("n"), gpus("n", 1), held, member("a", claims=["shared"], node_name="n"))
    assert [(each.verdict, [entry.name for entry in each.claims]) for each in answer.pods] == [("bound", ["shared"])]


# --- gangs ---


def test_that_gangs_are_not_simulated_is_said_once():
    answer = plan(node("n"), group(name="b", scheduling_policy=GANG), group(name="a", scheduling_policy=GANG), group(name="c"))
    (note,) = [each for each in answer.notes if each.code == codes.NOT_PLANNED]
    assert note.message.endswith("PodGroup/default/a, PodGroup/default/b")


# --- reading ---


@pytest.mark.parametrize("version", ["v1beta1", "v1alpha3"])
def test_a_group_is_read(version):
    entry = {"name": "template-0", "resourceClaimTemplateName": "t"}
    spec = {"schedulingPolicy": {"gang": {"minCount": 2}}, "resourceClaims": [entry], "priority": 3}
    status = {"resourceClaimStatuses": [{"name": "template-0", "resourceClaimName": "g-1"}]}
    raw = {
        "apiVersion": f"scheduling.k8s.io/{version}",
        "kind": "PodGroup",
        "metadata": {"name": "g"},
        "spec": spec,
        "status": status,
    }
    read = decode(raw)
    assert isinstance(read, core.PodGroup)
    assert read.spec == group(TEMPLATE, scheduling_policy=GANG).spec
    assert read.status.resource_claim_statuses == recorded("g-1")


def test_a_group_is_read_only_behind_the_gate(tmp_path):
    (tmp_path / "g.yaml").write_text("apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {name: g}\nspec: {}\n")
    gates = {"GenericWorkload": True, "DRAWorkloadResourceClaims": True}
    on, off = read_inputs([str(tmp_path / "g.yaml")], gates=gates), read_inputs([str(tmp_path / "g.yaml")])
    assert [(item.metadata.namespace, item.metadata.name) for item in on.typed() if isinstance(item, core.PodGroup)] == [
        ("default", "g")
    ]
    assert (list(off.typed()), off.skipped) == ([], {"PodGroup": 1})
