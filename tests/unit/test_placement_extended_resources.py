"""Extended resources that DRA serves: which class, which nodes, and the claim that the scheduler invents."""

from reparto.model import codes, core, v1
from reparto.model.meta import ObjectMeta, OwnerReference
from reparto.placement.extended_resources import (
    EXTENDED_CLAIM_ANNOTATION,
    Bridge,
    Displaced,
    NodeClaim,
    invented_claim,
    invented_for,
    is_extended,
    map_classes,
    served_by_plugin,
)
from reparto.placement.remarks import remarks
from reparto.placement.snapshot import take_snapshot

GPU = "example.com/gpu"
NIC = "example.com/nic"


def device_class(name: str, extended: str | None = None, created: str | None = None) -> v1.DeviceClass:
    spec = v1.DeviceClassSpec(extended_resource_name=extended)
    return v1.DeviceClass(metadata=ObjectMeta(name=name, creation_timestamp=created), spec=spec)


def container(name: str = "main", limits: dict[str, str] | None = None, **requests: str) -> core.Container:
    """`gpu` and `nic` stand for the two extended resources."""
    named = {{"gpu": GPU, "nic": NIC}.get(key, key): text for key, text in requests.items()}
    return core.Container(name=name, resources=core.ContainerResources(requests=named or None, limits=limits))


def sidecar(name: str, **requests: str) -> core.Container:
    item = container(name, **requests)
    return core.Container(name=name, restart_policy="Always", resources=item.resources)


def pod(*containers: core.Container, init: tuple[core.Container, ...] = (), name: str = "train") -> core.Pod:
    spec = core.PodSpec(containers=containers, init_containers=init)
    return core.Pod(metadata=ObjectMeta(name=name, namespace="ml", uid=f"uid-{name}"), spec=spec)


def node(**allocatable: str) -> core.Node:
    named = {{"gpu": GPU, "nic": NIC}.get(key, key): text for key, text in allocatable.items()}
    return core.Node(metadata=ObjectMeta(name="a"), status=core.NodeStatus(allocatable=named))


BRIDGE = Bridge(map_classes([device_class("gpu.example.com", GPU), device_class("nic.example.com", NIC)]))


def claim_on(item: core.Node, *containers: core.Container, init: tuple[core.Container, ...] = ()) -> NodeClaim:
    demand = BRIDGE.demand(pod(*containers, init=init))
    assert demand is not None
    return demand.on(item)


def requests(claim: NodeClaim) -> list[tuple[str, str, int]]:
    """(name, class, count) of each request."""
    found: list[tuple[str, str, int]] = []
    for request in claim.spec.devices.requests:
        assert request.exactly is not None
        assert request.exactly.allocation_mode == "ExactCount"
        found.append((request.name, request.exactly.device_class_name, request.exactly.count))
    return found


def uses(claim: NodeClaim) -> list[tuple[str, str, str]]:
    """(container, resource, request) of each mapping."""
    return [(item.container_name, item.resource_name, item.request_name) for item in claim.mappings]


# --- which class ------------------------------------------------------------------------------------------------------------------


def test_a_class_serves_the_resource_that_it_names_and_always_its_implicit_one():
    mapping = map_classes([device_class("gpu.example.com", GPU), device_class("plain")])
    assert mapping.class_of(GPU) == "gpu.example.com"
    assert mapping.class_of("deviceclass.resource.kubernetes.io/gpu.example.com") == "gpu.example.com"
    assert mapping.class_of("deviceclass.resource.kubernetes.io/plain") == "plain"
    assert mapping.class_of(NIC) is None
    assert mapping.resources == {"gpu.example.com": GPU}


def test_of_two_classes_with_one_resource_the_younger_serves_it():
    old, young = device_class("b", GPU, "2026-01-01T00:00:00Z"), device_class("c", GPU, "2026-01-02T00:00:00Z")
    mapping = map_classes([young, old])
    assert mapping.class_of(GPU) == "c"
    # b came first by name and was entered before c overtook it.
    assert mapping.class_of("deviceclass.resource.kubernetes.io/b") == "b"
    assert mapping.displaced == (Displaced(GPU, "b", "c", forgotten=False),)


def test_an_older_class_that_comes_later_by_name_is_forgotten_with_its_implicit_name():
    young, old = device_class("b", GPU, "2026-01-02T00:00:00Z"), device_class("c", GPU, "2026-01-01T00:00:00Z")
    mapping = map_classes([old, young])
    assert mapping.class_of(GPU) == "b"
    assert mapping.class_of("deviceclass.resource.kubernetes.io/c") is None
    assert mapping.displaced == (Displaced(GPU, "c", "b", forgotten=True),)


def test_of_two_classes_of_one_age_the_first_by_name_serves_the_resource():
    both = [device_class("c", GPU, "2026-01-01T00:00:00Z"), device_class("b", GPU, "2026-01-01T00:00:00Z")]
    assert map_classes(both).class_of(GPU) == "b"


def test_a_class_of_a_manifest_has_no_age_and_loses_against_one_of_the_cluster():
    both = [device_class("b", GPU), device_class("c", GPU, "2026-01-01T00:00:00Z")]
    assert map_classes(both).class_of(GPU) == "c"


def test_cpu_and_names_of_kubernetes_are_no_extended_resources():
    assert [is_extended(name) for name in ("cpu", "kubernetes.io/x", "requests.example.com/gpu")] == [False, False, False]
    assert [is_extended(name) for name in (GPU, "deviceclass.resource.kubernetes.io/plain")] == [True, True]


# --- which nodes ------------------------------------------------------------------------------------------------------------------


def test_a_node_whose_kubelet_reports_the_resource_uses_its_device_plugin():
    assert served_by_plugin(node(gpu="4"), GPU)
    assert not served_by_plugin(node(gpu="0"), GPU)
    assert not served_by_plugin(node(cpu="4"), GPU)


def test_a_pod_that_asks_for_no_resource_of_a_class_needs_no_bridge():
    assert BRIDGE.demand(pod(container(cpu="1"), container(gpu="0"))) is None
    assert BRIDGE.demand(pod(core.Container(name="main", resources=core.ContainerResources(limits={"other.com/gpu": "1"})))) is None


def test_on_a_node_with_a_device_plugin_nothing_is_left_to_allocate():
    claim = claim_on(node(gpu="4"), container(gpu="1"))
    assert claim.resources == ()
    assert not claim.is_needed(own_claims=False)


def test_a_pod_with_claims_of_its_own_gets_an_empty_claim_there_and_fails_when_it_is_bound():
    claim = claim_on(node(gpu="4"), container(gpu="1"))
    assert claim.is_needed(own_claims=True)
    assert claim.fails_when_bound


def test_of_two_resources_only_the_one_without_a_plugin_is_in_the_claim():
    claim = claim_on(node(nic="1"), container(gpu="1", nic="1"))
    assert requests(claim) == [("container-0-request-0", "gpu.example.com", 1)]
    assert uses(claim) == [("main", GPU, "container-0-request-0")]
    assert not claim.fails_when_bound


# --- the claim --------------------------------------------------------------------------------------------------------------------


def test_a_request_is_named_by_container_and_by_the_place_of_the_resource_among_all_that_the_container_requests():
    # Sorted: cpu, example.com/gpu, example.com/nic, memory.
    claim = claim_on(node(), container("first", cpu="1"), container("second", memory="1Gi", cpu="1", nic="1", gpu="2"))
    assert requests(claim) == [("container-1-request-1", "gpu.example.com", 2), ("container-1-request-2", "nic.example.com", 1)]
    assert uses(claim) == [("second", GPU, "container-1-request-1"), ("second", NIC, "container-1-request-2")]


def test_a_limit_counts_as_request_also_for_the_names():
    claim = claim_on(node(), container(limits={GPU: "1", "cpu": "1", "a.example/x": "1"}))
    assert requests(claim) == [("container-0-request-2", "gpu.example.com", 1)]  # a.example/x, cpu, example.com/gpu


def test_every_container_has_a_request_of_its_own_and_requests_are_sorted_by_name():
    claim = claim_on(node(), *(container(f"c{index}", gpu="1") for index in range(11)))
    names = [name for name, _, _ in requests(claim)]
    assert names[:3] == ["container-0-request-0", "container-1-request-0", "container-10-request-0"]
    assert [name for name, _, _ in uses(claim)] == [f"c{index}" for index in range(11)]


def test_an_init_container_is_served_from_the_requests_of_later_containers():
    claim = claim_on(node(), container("main", gpu="2"), container("other", gpu="2"), init=(container("fetch", gpu="3"),))
    assert requests(claim) == [("container-1-request-0", "gpu.example.com", 2), ("container-2-request-0", "gpu.example.com", 2)]
    assert uses(claim) == [
        ("main", GPU, "container-1-request-0"),
        ("other", GPU, "container-2-request-0"),
        ("fetch", GPU, "container-1-request-0"),
        ("fetch", GPU, "container-2-request-0"),
    ]


def test_what_an_init_container_lacks_is_requested_on_top():
    claim = claim_on(node(), container("main", gpu="2"), init=(container("fetch", gpu="5"),))
    assert requests(claim) == [("container-0-request-0", "gpu.example.com", 3), ("container-1-request-0", "gpu.example.com", 2)]
    assert uses(claim)[1:] == [("fetch", GPU, "container-1-request-0"), ("fetch", GPU, "container-0-request-0")]


def test_of_several_init_containers_the_largest_request_serves_all_since_they_run_one_by_one():
    claim = claim_on(
        node(), container("main", cpu="1"), init=(container("a", gpu="1"), container("b", gpu="3"), container("c", gpu="3"))
    )
    assert requests(claim) == [("container-1-request-0", "gpu.example.com", 3)]
    assert uses(claim) == [(name, GPU, "container-1-request-0") for name in ("a", "b", "c")]


def test_a_sidecar_keeps_its_devices_so_only_init_containers_before_it_may_use_them():
    init = (container("before", gpu="1"), sidecar("proxy", gpu="1"), container("after", gpu="1"))
    claim = claim_on(node(), container("main", cpu="1"), init=init)
    assert requests(claim) == [("container-1-request-0", "gpu.example.com", 1), ("container-2-request-0", "gpu.example.com", 1)]
    assert uses(claim) == [
        ("proxy", GPU, "container-1-request-0"),
        ("before", GPU, "container-1-request-0"),
        ("after", GPU, "container-2-request-0"),
    ]


def test_pods_of_one_shape_share_the_spec():
    one, other = (BRIDGE.demand(pod(container(gpu="1"), name=name)) for name in ("one", "other"))
    assert one is not None
    assert other is not None
    assert one.on(node()).spec is other.on(node()).spec


# --- the object -------------------------------------------------------------------------------------------------------------------


def test_the_invented_claim_belongs_to_its_pod_and_is_marked():
    owner = pod(container(gpu="1"))
    claim = invented_claim(owner, v1.ResourceClaimSpec())
    assert claim.metadata.namespace == "ml"
    assert claim.metadata.generate_name == "train-extended-resources-"
    assert claim.metadata.name.startswith("train-extended-resources-")
    assert len(claim.metadata.name) == len("train-extended-resources-") + 5
    assert claim.metadata.annotations == {"resource.kubernetes.io/extended-resource-claim": "true"}
    assert claim.metadata.owner_references == (
        OwnerReference(api_version="v1", kind="Pod", name="train", uid="uid-train", controller=True),
    )


def test_a_long_name_is_cut_so_that_five_characters_fit_into_63():
    name = invented_claim(pod(name="p" * 60), v1.ResourceClaimSpec()).metadata.name
    assert len(name) == 63
    assert name[:58] == "p" * 58


def test_a_name_that_is_taken_is_drawn_again():
    owner = pod()
    first = invented_claim(owner, v1.ResourceClaimSpec()).metadata.name
    assert invented_claim(owner, v1.ResourceClaimSpec(), {first}).metadata.name != first


def test_the_claim_of_an_earlier_attempt_is_found_by_its_owner():
    mine, other = pod(name="mine"), pod(name="other")
    claims = [invented_claim(other, v1.ResourceClaimSpec()), invented_claim(mine, v1.ResourceClaimSpec())]
    unmarked = v1.ResourceClaim(metadata=ObjectMeta(name="a", namespace="ml", owner_references=claims[1].metadata.owner_references))
    assert invented_for(mine, [unmarked, *claims]) is claims[1]
    assert invented_for(pod(name="third"), claims) is None


def test_a_claim_of_a_former_pod_of_that_name_is_not_taken_for_the_pods_own():
    owner = OwnerReference(api_version="v1", kind="Pod", name="train", uid="gone", controller=True)
    metadata = ObjectMeta(name="c", namespace="ml", annotations={EXTENDED_CLAIM_ANNOTATION: "true"}, owner_references=(owner,))
    assert invented_for(pod(), [v1.ResourceClaim(metadata=metadata)]) is None


# --- classes that the input lacks -------------------------------------------------------------------------------------------------


def slices_of(driver: str) -> v1.ResourceSlice:
    return v1.ResourceSlice(metadata=ObjectMeta(name=driver), spec=v1.ResourceSliceSpec(driver=driver, node_name="a"))


def asking(resource: str) -> core.Pod:
    return pod(core.Container(name="main", resources=core.ContainerResources(limits={resource: "1"})))


def test_a_pod_that_asks_for_a_shipped_class_by_its_implicit_name_gets_the_class():
    seen = take_snapshot([asking("deviceclass.resource.kubernetes.io/gpu.amd.com")])
    assert set(seen.classes) == {"gpu.amd.com"}


def test_the_class_that_serves_nvidia_com_gpu_stands_in_where_the_driver_publishes_devices():
    assert set(take_snapshot([asking("nvidia.com/gpu"), slices_of("gpu.nvidia.com")]).classes) == {"gpu.nvidia.com"}
    assert not take_snapshot([asking("nvidia.com/gpu")]).classes


def test_it_does_not_where_a_class_of_the_input_serves_the_resource():
    own = device_class("own", "nvidia.com/gpu")
    assert set(take_snapshot([asking("nvidia.com/gpu"), slices_of("gpu.nvidia.com"), own]).classes) == {"own"}


def test_two_classes_with_one_resource_are_remarked():
    notes = list(remarks(take_snapshot([node(), device_class("b", GPU), device_class("c", GPU)])))
    assert [(note.code, note.object) for note in notes if note.code == codes.RESOURCE_CONTESTED] == [
        (codes.RESOURCE_CONTESTED, "DeviceClass/c")
    ]
    assert notes[-1].message == (
        "DeviceClass c does not serve example.com/gpu, because b does; "
        "the scheduler does not know deviceclass.resource.kubernetes.io/c either"
    )
