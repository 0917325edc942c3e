"""ResourceQuota: what claims and pods cost, and what a namespace may still create."""

import msgspec

from reparto.model import core, v1
from reparto.model.meta import ObjectMeta
from reparto.model.quantity import Quantity
from reparto.placement.extended_resources import ClassMapping, invented_claim, map_classes
from reparto.placement.quota import Quotas, claim_usage, pod_usage

GPU = "example.com/gpu"
CLASS = "gpu.example.com"
PER_CLASS = "gpu.example.com.deviceclass.resource.k8s.io/devices"
IMPLICIT = "requests.deviceclass.resource.kubernetes.io/gpu.example.com"
CLAIMS = "count/resourceclaims.resource.k8s.io"
MAPPING = map_classes([v1.DeviceClass(metadata=ObjectMeta(name=CLASS), spec=v1.DeviceClassSpec(extended_resource_name=GPU))])


def exactly(count: int = 1, mode: str = "ExactCount", device_class: str = CLASS) -> v1.DeviceRequest:
    request = v1.ExactDeviceRequest(device_class_name=device_class, allocation_mode=mode, count=count)
    return v1.DeviceRequest(name="gpu", exactly=request)


def alternatives(*parts: tuple[str, int]) -> v1.DeviceRequest:
    first = tuple(
        v1.DeviceSubRequest(name=f"a{index}", device_class_name=name, allocation_mode="ExactCount", count=count)
        for index, (name, count) in enumerate(parts)
    )
    return v1.DeviceRequest(name="any", first_available=first)


def claim(*requests: v1.DeviceRequest, name: str = "c", namespace: str = "ml") -> v1.ResourceClaim:
    spec = v1.ResourceClaimSpec(devices=v1.DeviceClaim(requests=requests))
    return v1.ResourceClaim(metadata=ObjectMeta(name=name, namespace=namespace), spec=spec)


def pod(name: str = "p", phase: str = "", spec: core.PodSpec | None = None, **requests: str) -> core.Pod:
    named = {{"gpu": GPU}.get(key, key): text for key, text in requests.items()}
    containers = (core.Container(name="main", resources=core.ContainerResources(requests=named)),)
    return core.Pod(
        metadata=ObjectMeta(name=name, namespace="ml", uid=f"uid-{name}"),
        spec=spec or core.PodSpec(containers=containers),
        status=core.PodStatus(phase=phase),
    )


def quota(
    hard: dict[str, str], *, used: dict[str, str] | None = None, scopes: tuple[str, ...] = (), namespace: str = "ml"
) -> core.ResourceQuota:
    return core.ResourceQuota(
        metadata=ObjectMeta(name="team", namespace=namespace),
        spec=core.ResourceQuotaSpec(hard=hard, scopes=scopes),
        status=core.ResourceQuotaStatus(used=used),
    )


def texts(usage: dict[str, Quantity]) -> dict[str, str]:
    return {name: str(quantity) for name, quantity in usage.items()}


# --- what a claim costs -----------------------------------------------------------------------------------------------------------


def test_a_claim_costs_itself_and_its_devices_under_three_names():
    assert texts(claim_usage(claim(exactly(2), exactly(1)), MAPPING)) == {
        CLAIMS: "1",
        PER_CLASS: "3",
        IMPLICIT: "3",
        "requests.example.com/gpu": "3",
    }


def test_a_class_without_a_resource_of_its_own_is_charged_under_two():
    usage = claim_usage(claim(exactly(device_class="plain")), MAPPING)
    assert texts(usage) == {
        CLAIMS: "1",
        "plain.deviceclass.resource.k8s.io/devices": "1",
        "requests.deviceclass.resource.kubernetes.io/plain": "1",
    }


def test_where_dra_serves_no_extended_resources_only_the_class_is_charged():
    assert texts(claim_usage(claim(exactly(2)), ClassMapping())) == {CLAIMS: "1", PER_CLASS: "2"}


def test_all_devices_cost_32():
    assert str(claim_usage(claim(exactly(0, "All")), MAPPING)[PER_CLASS]) == "32"


def test_alternatives_cost_the_most_that_one_of_them_takes_of_each_class():
    usage = claim_usage(claim(alternatives((CLASS, 1), ("mig", 7), (CLASS, 2)), exactly(1)), MAPPING)
    assert str(usage[PER_CLASS]) == "3"  # 2 of the alternatives and 1 of the other request
    assert str(usage["mig.deviceclass.resource.k8s.io/devices"]) == "7"


def test_an_extended_resource_claim_costs_less_what_its_pod_has_paid():
    usage = claim_usage(claim(exactly(2)), MAPPING, {"requests.example.com/gpu": Quantity.from_int(2)})
    assert texts(usage) == {CLAIMS: "1", PER_CLASS: "2", IMPLICIT: "2"}


# --- what a pod costs -------------------------------------------------------------------------------------------------------------


def test_a_pod_costs_what_it_requests_and_its_limits():
    resources = core.ContainerResources(requests={"cpu": "500m", GPU: "1"}, limits={"memory": "1Gi"})
    usage = pod_usage(pod(spec=core.PodSpec(containers=(core.Container(name="main", resources=resources),))))
    assert texts(usage) == {
        "count/pods": "1",
        "pods": "1",
        "cpu": "500m",
        "requests.cpu": "500m",
        "memory": "1Gi",  # the limit is the request where there is none
        "requests.memory": "1Gi",
        "limits.memory": "1Gi",
        "requests.example.com/gpu": "1",
    }


def test_a_finished_pod_only_counts_as_an_object():
    assert texts(pod_usage(pod(phase="Succeeded", cpu="1"))) == {"count/pods": "1"}


# --- admission --------------------------------------------------------------------------------------------------------------------


def quotas(
    item: core.ResourceQuota, *existing: v1.ResourceClaim, pods: tuple[core.Pod, ...] = (), mapping: ClassMapping = MAPPING
) -> Quotas:
    return Quotas([item], existing, pods, mapping)


def test_a_claim_beyond_the_quota_is_refused_with_the_figures():
    book = quotas(quota({PER_CLASS: "4"}), claim(exactly(3), name="old"))
    refused = book.admit_claim(claim(exactly(2)))
    assert refused is not None
    assert refused.quota == "ResourceQuota/ml/team"
    assert refused.message == f"quota team is exceeded ({PER_CLASS}: 2 more, 3 of 4 used)"


def test_a_refused_claim_costs_nothing_and_an_admitted_one_does():
    book = quotas(quota({PER_CLASS: "4"}))
    assert book.admit_claim(claim(exactly(5))) is not None
    assert book.admit_claim(claim(exactly(3), name="a")) is None
    assert book.admit_claim(claim(exactly(2), name="b")) is not None
    assert book.admit_claim(claim(exactly(1), name="b")) is None
    assert book.admit_claim(claim(exactly(1), name="d")) is not None


def test_a_withdrawn_claim_gives_back_what_it_cost():
    book = quotas(quota({PER_CLASS: "1"}))
    assert book.admit_claim(claim(exactly(1), name="a")) is None
    book.withdraw_claim(claim(exactly(1), name="a"))
    assert book.admit_claim(claim(exactly(1), name="b")) is None


def test_other_namespaces_and_other_classes_are_not_concerned():
    book = quotas(quota({PER_CLASS: "0"}))
    assert book.admit_claim(claim(exactly(1), namespace="web")) is None
    assert book.admit_claim(claim(exactly(1, device_class="plain"))) is None


def test_what_exceeds_already_does_not_stop_what_adds_nothing():
    book = quotas(quota({PER_CLASS: "1"}), claim(exactly(3), name="old"))
    assert book.admit_claim(claim(exactly(1, device_class="plain"))) is None


def test_the_number_of_claims_is_limited_by_the_object_count():
    book = quotas(quota({CLAIMS: "1"}))
    assert book.admit_claim(claim(name="a")) is None
    assert book.admit_claim(claim(name="b")) is not None


def test_a_quota_with_a_scope_never_concerns_a_claim():
    assert quotas(quota({PER_CLASS: "0"}, scopes=("NotBestEffort",))).admit_claim(claim(exactly(1))) is None


def test_a_quota_on_an_extended_resource_that_no_class_serves_is_not_about_claims():
    book = quotas(quota({"requests.deviceclass.resource.kubernetes.io/plain": "0"}))
    assert book.admit_claim(claim(exactly(1, device_class="plain"))) is None


def test_what_the_quota_reports_as_used_counts_where_the_input_shows_less():
    assert quotas(quota({PER_CLASS: "4"}, used={PER_CLASS: "4"})).admit_claim(claim(exactly(1))) is not None
    # … and does not hide what the input shows.
    book = quotas(quota({PER_CLASS: "4"}, used={PER_CLASS: "0"}), claim(exactly(4), name="old"))
    assert book.admit_claim(claim(exactly(1))) is not None


def test_the_claim_for_a_pods_extended_resources_is_not_charged_for_them_twice():
    owner = pod(gpu="2")
    book = quotas(quota({"requests.example.com/gpu": "2"}), pods=(owner,))
    invented = invented_claim(owner, claim(exactly(2)).spec)
    assert book.admit_claim(invented) is None
    # A claim that somebody wrote is: the pod has used the quota up.
    assert book.admit_claim(claim(exactly(1))) is not None


def test_a_second_claim_for_the_same_pod_is_charged_in_full():
    owner = pod(gpu="2")
    spec = claim(exactly(2)).spec
    first = invented_claim(owner, spec)
    book = quotas(quota({"requests.example.com/gpu": "2"}), first, pods=(owner,))
    later = v1.ResourceClaim(
        metadata=ObjectMeta(
            name="z",
            namespace="ml",
            annotations=first.metadata.annotations,
            owner_references=first.metadata.owner_references,
            creation_timestamp="2026-01-01T00:00:00Z",
        ),
        spec=spec,
    )
    assert book.admit_claim(later) is not None


def test_a_claim_of_a_former_pod_of_that_name_changes_nothing():
    owner = pod(gpu="2")
    spec = claim(exactly(2)).spec
    former = invented_claim(msgspec.structs.replace(owner, metadata=ObjectMeta(name="p", namespace="ml", uid="gone")), spec, {"a"})
    book = quotas(quota({"requests.example.com/gpu": "4"}), former, pods=(owner,))
    assert book.admit_claim(invented_claim(owner, spec, {former.metadata.name})) is None


def test_a_pod_of_a_workload_is_refused_when_the_namespace_has_its_pods():
    book = quotas(quota({"pods": "1", "requests.example.com/gpu": "8"}))
    assert book.admit_pod(pod("a", gpu="4")) is None
    refused = book.admit_pod(pod("b", gpu="5"))
    assert refused is not None
    assert refused.message == "quota team is exceeded (pods: 1 more, 1 of 1 used; requests.example.com/gpu: 5 more, 4 of 8 used)"


def test_a_quota_on_cpu_demands_that_every_container_states_it():
    refused = quotas(quota({"requests.cpu": "8", "limits.memory": "8Gi"})).admit_pod(pod(memory="1Gi"))
    assert refused is not None
    assert refused.message == "quota team demands that every container states limits.memory, requests.cpu"


def test_scopes_choose_the_pods_that_a_quota_concerns():
    best_effort, burstable = pod(), pod(cpu="1")
    with_deadline = pod(spec=core.PodSpec(active_deadline_seconds=60, containers=(core.Container(name="main"),)))
    urgent = pod(spec=core.PodSpec(priority_class_name="urgent", containers=(core.Container(name="main"),)))
    expected = {
        "BestEffort": (True, False, True, True),
        "NotBestEffort": (False, True, False, False),
        "Terminating": (False, False, True, False),
        "NotTerminating": (True, True, False, True),
        "PriorityClass": (False, False, False, True),
        "CrossNamespacePodAffinity": (False, False, False, False),
    }
    for scope, concerned in expected.items():
        refused = tuple(
            quotas(quota({"pods": "0"}, scopes=(scope,))).admit_pod(item) is not None
            for item in (best_effort, burstable, with_deadline, urgent)
        )
        assert refused == concerned, scope


def test_a_scope_selector_names_priority_classes():
    requirement = core.ScopedResourceSelectorRequirement("PriorityClass", "In", ("urgent",))
    item = core.ResourceQuota(
        metadata=ObjectMeta(name="team", namespace="ml"),
        spec=core.ResourceQuotaSpec(hard={"pods": "0"}, scope_selector=core.ScopeSelector((requirement,))),
    )
    urgent = pod(spec=core.PodSpec(priority_class_name="urgent", containers=(core.Container(name="main"),)))
    assert quotas(item).admit_pod(urgent) is not None
    assert quotas(item).admit_pod(pod()) is None
