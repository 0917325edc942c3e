"""Admission: which pods of workloads and which claims are let into a plan."""

from reparto.model import codes, core, v1
from reparto.model.meta import ObjectMeta
from reparto.placement.admission import Admission, is_stored
from reparto.placement.extended_resources import ClassMapping
from reparto.placement.snapshot import Snapshot, take_snapshot
from unit.placement_objects import claim, pod

ANY = "any.deviceclass.resource.k8s.io/devices"


def quota(**hard: str) -> core.ResourceQuota:
    named = {{"devices": ANY}.get(key, key): text for key, text in hard.items()}
    return core.ResourceQuota(metadata=ObjectMeta(name="team", namespace="default"), spec=core.ResourceQuotaSpec(hard=named))


def limit_range(**item: dict[str, str]) -> core.LimitRange:
    limits = (core.LimitRangeItem(type="Container", **item),)
    return core.LimitRange(metadata=ObjectMeta(name="bounds", namespace="default"), spec=core.LimitRangeSpec(limits=limits))


def admission(*objects: object, created: tuple[core.Pod, ...] = ()) -> Admission:
    return Admission(take_snapshot(objects, created=created), ClassMapping())


def container(**requests: str) -> tuple[core.Container, ...]:
    return (core.Container(name="main", resources=core.ContainerResources(requests=requests)),)


def test_without_quotas_and_limits_everything_is_let_in():
    made = pod("made")
    let_in = admission(created=(made,))
    assert let_in.pods == (made,)
    assert let_in.pod(made) is None
    assert let_in.claim(claim("a")) is None


def test_a_claim_is_charged_once_however_often_it_is_asked_for():
    let_in = admission(quota(devices="1"))
    assert let_in.claim(claim("a")) is None
    assert let_in.claim(claim("a")) is None
    refused = let_in.claim(claim("b"))
    assert refused is not None
    assert (refused.code, refused.object, refused.path) == (codes.CLAIM_OVER_QUOTA, "ResourceQuota/default/team", "spec.hard")
    assert refused.message == f"claim b cannot be created: quota team is exceeded ({ANY}: 1 more, 1 of 1 used)"


def test_a_claim_of_a_manifest_is_created_too_and_those_of_the_cluster_come_first():
    stored = v1.ResourceClaim(metadata=ObjectMeta(name="z", namespace="default", uid="u"), spec=claim("z").spec)
    fresh = claim("a")
    let_in = admission(quota(devices="1"), fresh, stored)
    assert let_in.claim(stored) is None
    assert let_in.claim(fresh) is not None


def test_a_claim_that_has_anything_of_a_cluster_is_stored():
    assert not is_stored(claim("a"))
    for metadata in (
        ObjectMeta(name="a", uid="u"),
        ObjectMeta(name="a", resource_version="1"),
        ObjectMeta(name="a", creation_timestamp="2026-01-01T00:00:00Z"),
    ):
        assert is_stored(v1.ResourceClaim(metadata=metadata))
    assert is_stored(v1.ResourceClaim(status=v1.ResourceClaimStatus(allocation=v1.AllocationResult())))


def test_a_claim_that_is_deleted_again_gives_its_share_back():
    let_in = admission(quota(devices="1"))
    assert let_in.claim(claim("a")) is None
    let_in.withdrawn(claim("a"))
    assert let_in.claim(claim("b")) is None


def test_asking_alone_costs_nothing():
    let_in = admission(quota(devices="1"))
    assert let_in.claim(claim("a"), keep=False) is None
    assert let_in.claim(claim("b", count=2), keep=False) is not None
    assert let_in.claim(claim("b")) is None


def test_asking_about_what_exists_costs_nothing_either():
    stored = v1.ResourceClaim(metadata=ObjectMeta(name="z", namespace="default", uid="u"), spec=claim("z").spec)
    let_in = admission(quota(devices="1"), stored)
    assert let_in.claim(stored, keep=False) is None
    assert let_in.claim(claim("a")) is not None


def test_pods_of_workloads_get_the_defaults_and_pods_of_the_input_do_not():
    given, made = pod("given", containers=container()), pod("made", containers=container())
    let_in = admission(limit_range(default={"cpu": "2"}), given, created=(made,))
    assert [item.metadata.name for item in let_in.pods] == ["given", "made"]
    requests = [item.spec.containers[0].resources.requests for item in let_in.pods]
    assert requests == [{}, {"cpu": "2"}]


def test_a_pod_of_a_workload_that_is_out_of_bounds_is_not_created():
    made = pod("made", containers=container(cpu="3"))
    let_in = admission(limit_range(max={"cpu": "2"}), created=(made,))
    refused = let_in.pod(made)
    assert refused is not None
    assert (refused.code, refused.object) == (codes.OUT_OF_LIMITS, "LimitRange/default/bounds")
    assert refused.message == "pod made cannot be created: container main requests 3 of cpu, and at most 2 is allowed"


def test_a_quota_takes_the_first_pods_of_a_workload_and_refuses_the_rest():
    pods = tuple(pod(f"made-{index}", containers=container()) for index in range(3))
    let_in = admission(quota(pods="2"), created=pods)
    assert [let_in.pod(item) is None for item in pods] == [True, True, False]
    refused = let_in.pod(pods[2])
    assert refused is not None
    assert refused.code == codes.POD_OVER_QUOTA


def test_pods_of_the_input_are_never_refused_but_count():
    given, made = pod("given", containers=container()), pod("made", containers=container())
    let_in = admission(quota(pods="0"), given)
    assert let_in.pod(given) is None
    assert admission(quota(pods="1"), given, created=(made,)).pod(made) is not None


def test_a_snapshot_knows_which_pods_do_not_exist_yet():
    seen = take_snapshot([pod("given")], created=[pod("made")])
    assert isinstance(seen, Snapshot)
    assert seen.created == {("default", "made")}
    assert [item.metadata.name for item in seen.pods] == ["given", "made"]
