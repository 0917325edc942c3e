"""Builders for the tests of placement: objects that say only what a test is about, all else as the API server defaults it."""

from reparto.model import core, v1
from reparto.model.meta import ObjectMeta, OwnerReference


def node(
    name: str,
    *,
    labels: dict[str, str] | None = None,
    taints: tuple[core.Taint, ...] = (),
    unschedulable: bool = False,
    has: dict[str, str] | None = None,
    **status: object,
) -> core.Node:
    """`has` is what is allocatable; without it, resources have no limit."""
    return core.Node(
        metadata=ObjectMeta(name=name, labels=labels),
        spec=core.NodeSpec(taints=taints, unschedulable=unschedulable),
        status=core.NodeStatus(allocatable=has, **status),  # type: ignore[arg-type]
    )


def container(name: str = "c", image: str = "", *, limits: dict[str, str] | None = None, **requests: str) -> core.Container:
    """A container that asks for `requests` (`ephemeral_storage` for ephemeral-storage)."""
    asked = {name.replace("_", "-"): amount for name, amount in requests.items()}
    return core.Container(name=name, image=image, resources=core.ContainerResources(limits=limits, requests=asked or None))


def device(name: str, **attributes: str) -> v1.Device:
    return v1.Device(name=name, attributes={key: v1.DeviceAttribute(string_value=value) for key, value in attributes.items()})


def gpus(node_name: str, count: int, *, driver: str = "gpu.test") -> v1.ResourceSlice:
    """One complete pool of `count` devices `gpu-0` … on a node."""
    return v1.ResourceSlice(
        metadata=ObjectMeta(name=f"{node_name}-{driver}"),
        spec=v1.ResourceSliceSpec(
            driver=driver,
            node_name=node_name,
            pool=v1.ResourcePool(name=node_name, generation=1, resource_slice_count=1),
            devices=tuple(device(f"gpu-{index}") for index in range(count)),
        ),
    )


def any_device_class(name: str = "any") -> v1.DeviceClass:
    """A class without selectors: every device will do, so that no CEL is needed."""
    return v1.DeviceClass(metadata=ObjectMeta(name=name))


def spec(count: int = 1, *, device_class: str = "any") -> v1.ResourceClaimSpec:
    exactly = v1.ExactDeviceRequest(device_class_name=device_class, allocation_mode="ExactCount", count=count)
    return v1.ResourceClaimSpec(devices=v1.DeviceClaim(requests=(v1.DeviceRequest(name="gpu", exactly=exactly),)))


def claim(name: str, *, namespace: str = "default", count: int = 1, device_class: str = "any") -> v1.ResourceClaim:
    return v1.ResourceClaim(metadata=ObjectMeta(name=name, namespace=namespace), spec=spec(count, device_class=device_class))


def allocated(item: v1.ResourceClaim, node_name: str, *devices: str, driver: str = "gpu.test") -> v1.ResourceClaim:
    """The claim with these devices of a node's pool allocated, pinned to the node."""
    from reparto.model.meta import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm

    results = [v1.DeviceRequestAllocationResult(request="gpu", driver=driver, pool=node_name, device=each) for each in devices]
    here = NodeSelectorTerm(match_fields=[NodeSelectorRequirement(key="metadata.name", operator="In", values=[node_name])])
    allocation = v1.AllocationResult(
        devices=v1.DeviceAllocationResult(results=results), node_selector=NodeSelector(node_selector_terms=[here])
    )
    return v1.ResourceClaim(metadata=item.metadata, spec=item.spec, status=v1.ResourceClaimStatus(allocation=allocation))


def template(name: str, *, namespace: str = "default", count: int = 1, device_class: str = "any") -> v1.ResourceClaimTemplate:
    return v1.ResourceClaimTemplate(
        metadata=ObjectMeta(name=name, namespace=namespace),
        spec=v1.ResourceClaimTemplateSpec(spec=spec(count, device_class=device_class)),
    )


def pod(name: str, *, namespace: str = "default", uid: str = "", **fields: object) -> core.Pod:
    """A pod; `claims` and `templates` are names that its claims `claim-0` … and `template-0` … use."""
    entries = [
        *(
            core.PodResourceClaim(name=f"claim-{index}", resource_claim_name=each)
            for index, each in enumerate(fields.pop("claims", ()))  # type: ignore[call-overload]
        ),
        *(
            core.PodResourceClaim(name=f"template-{index}", resource_claim_template_name=each)
            for index, each in enumerate(fields.pop("templates", ()))  # type: ignore[call-overload]
        ),
    ]
    created = fields.pop("created", None)
    deleted = fields.pop("deleted", None)
    labels = fields.pop("labels", None)
    status = fields.pop("status", core.PodStatus())
    metadata = ObjectMeta(
        name=name,
        namespace=namespace,
        uid=uid,
        labels=labels,  # type: ignore[arg-type]
        creation_timestamp=created,  # type: ignore[arg-type]
        deletion_timestamp=deleted,  # type: ignore[arg-type]
    )
    return core.Pod(metadata=metadata, spec=core.PodSpec(resource_claims=tuple(entries), **fields), status=status)  # type: ignore[arg-type]


def owned_by(item: v1.ResourceClaim, owner: core.Pod, pod_claim: str) -> v1.ResourceClaim:
    """The claim as the resourceclaim controller made it for an entry of a pod."""
    reference = OwnerReference(api_version="v1", kind="Pod", name=owner.metadata.name, uid=owner.metadata.uid, controller=True)
    metadata = ObjectMeta(
        name=item.metadata.name,
        namespace=item.metadata.namespace,
        annotations={"resource.kubernetes.io/pod-claim-name": pod_claim},
        owner_references=(reference,),
    )
    return v1.ResourceClaim(metadata=metadata, spec=item.spec, status=item.status)
