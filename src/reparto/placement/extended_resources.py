"""Extended resources that DRA serves (KEP-5004): a pod asks for `nvidia.com/gpu: 1`, and the scheduler invents the claim.

A DeviceClass can stand for an extended resource, so that pods written for device plugins run unchanged. Which resource needs the
bridge depends on the node: where the kubelet reports the resource, its device plugin serves it, elsewhere one claim per pod asks
for all such resources. This module says what that claim is; it allocates nothing.

Source: upstream-dra.md 2.2, 5.1; kube-scheduler 1.37.2, plugin DynamicResources, and the cache of extended resources.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import UTC, datetime
from typing import Final

import msgspec

from reparto.model import core, v1
from reparto.model.meta import ObjectMeta, OwnerReference
from reparto.model.names import is_extended_resource_name
from reparto.model.quantity import Quantity
from reparto.placement.drawn_names import drawn_name
from reparto.placement.resources import container_requests, is_sidecar

EXTENDED_CLAIM_ANNOTATION: Final = "resource.kubernetes.io/extended-resource-claim"
IMPLICIT_PREFIX: Final = "deviceclass.resource.kubernetes.io/"
_NAME_SUFFIX: Final = "-extended-resources-"
_BASE_LENGTH: Final = 58  # of 63: what the API server keeps of a generateName before it adds five characters
_OLDEST: Final = datetime.min.replace(tzinfo=UTC)

RequestMapping = core.ContainerExtendedResourceRequest


# --- resources and classes -------------------------------------------------------------------------------------------------------


class Displaced(msgspec.Struct, frozen=True):
    """`loser` wants `resource`, which `winner` has; `forgotten`: the loser's implicit name does not resolve either."""

    resource: str
    loser: str
    winner: str
    forgotten: bool


class ClassMapping(msgspec.Struct, frozen=True):
    """Which class serves an extended resource (`classes`), and the explicit name of each class that has one (`resources`).

    The default is that of a cluster whose DRA serves no extended resources: the feature is off.
    """

    classes: Mapping[str, str] = {}
    resources: Mapping[str, str] = {}
    displaced: tuple[Displaced, ...] = ()
    enabled: bool = False

    def class_of(self, resource: str) -> str | None:
        """The name of the class that serves `resource`; None: DRA knows nothing of it."""
        return self.classes.get(resource)


def map_classes(classes: Iterable[v1.DeviceClass]) -> ClassMapping:
    """The mapping of a scheduler that starts on a cluster with these classes, which it is told about in the order of their names.

    Every class serves its implicit name, and its explicit one unless a younger class (of two equally old ones: the first by name)
    wants the same. A class that meets a winner when its turn comes is not entered at all: its implicit name is unknown then too.
    One that is overtaken later keeps its implicit name.
    """
    by_name = {item.metadata.name: item for item in sorted(classes, key=lambda item: item.metadata.name)}
    served: dict[str, str] = {}
    displaced: list[Displaced] = []
    for name, item in by_name.items():
        if (explicit := item.spec.extended_resource_name) is not None:
            holder = served.get(explicit)
            if holder is not None and _created(item) <= _created(by_name[holder]):
                displaced.append(Displaced(explicit, name, holder, forgotten=True))
                continue
            if holder is not None:
                displaced.append(Displaced(explicit, holder, name, forgotten=False))
            served[explicit] = name
        served[IMPLICIT_PREFIX + name] = name
    explicit_names = {name: item.spec.extended_resource_name for name, item in by_name.items() if item.spec.extended_resource_name}
    return ClassMapping(served, explicit_names, tuple(displaced), enabled=True)


def is_extended(resource: str) -> bool:
    """Whether this is the name of an extended resource, or the implicit one of a class."""
    return resource.startswith(IMPLICIT_PREFIX) or not is_extended_resource_name(resource)


def served_by_plugin(node: core.Node, resource: str) -> bool:
    """Whether a device plugin serves `resource` on the node, so that it is counted like CPU and no claim is needed."""
    # The API server takes the capacity for what can be allocated where a node does not say that.
    reported = node.status.capacity if node.status.allocatable is None else node.status.allocatable
    quantity = (reported or {}).get(resource)
    return quantity is not None and Quantity.parse(quantity).value() > 0


def _created(item: v1.DeviceClass) -> datetime:
    text = item.metadata.creation_timestamp
    time = datetime.fromisoformat(text) if text else _OLDEST
    return time if time.tzinfo else time.replace(tzinfo=UTC)


# --- what a pod needs ------------------------------------------------------------------------------------------------------------


class ResourceField(msgspec.Struct, frozen=True):
    """The extended resource that a request stands for, and the field of the pod that asks for it."""

    resource: str
    path: str


class NodeClaim(msgspec.Struct, frozen=True):
    """What a pod's invented claim asks for on one node.

    `resources` are those that DRA serves there, `mappings` which container uses which request, `fields` what each request stands
    for. Pods of one shape share the very same `spec`. Without `mappings` the claim is of no use: see `fails_when_bound`.
    """

    resources: tuple[str, ...]
    spec: v1.ResourceClaimSpec
    mappings: tuple[RequestMapping, ...]
    fields: Mapping[str, ResourceField] = {}

    def is_needed(self, own_claims: bool) -> bool:
        """Whether the scheduler allocates the claim on the node. With claims of the pod's own it does even where it is empty."""
        return bool(self.resources) or own_claims

    @property
    def fails_when_bound(self) -> bool:
        """Whether kube-scheduler 1.37.2 stops at an error after it chose the node, each time it tries.

        It invents a claim for a pod that has claims of its own and whose extended resources a device plugin serves, finds that no
        container uses it, and gives the attempt up. Source: upstream-dra.md 3.18.
        """
        return not self.mappings


class Demand:
    """The extended resources of one pod that classes stand for."""

    def __init__(self, pod: core.Pod, resources: tuple[str, ...], bridge: "Bridge") -> None:
        self.pod = pod
        self.resources = resources
        self._bridge = bridge
        self._answers: dict[tuple[str, ...], NodeClaim] = {}

    def on(self, node: core.Node) -> NodeClaim:
        """The claim as `node` needs it: for what no device plugin serves there."""
        resources = tuple(resource for resource in self.resources if not served_by_plugin(node, resource))
        if (known := self._answers.get(resources)) is None:
            known = self._answers[resources] = self._bridge.node_claim(self.pod, resources)
        return known


class Bridge:
    """Turns the extended resources of pods into claims, by the classes of one cluster."""

    def __init__(self, mapping: ClassMapping) -> None:
        self.mapping = mapping
        # One spec for each list of requests: whoever remembers what became of a spec can go by identity.
        self._specs: dict[tuple[v1.DeviceRequest, ...], v1.ResourceClaimSpec] = {}

    def demand(self, pod: core.Pod) -> Demand | None:
        """What `pod` needs of the bridge; None: it asks for no resource that a class stands for."""
        asked = {
            name
            for requests in (*map(container_requests, _containers(pod)), pod.spec.overhead or {})
            for name, quantity in requests.items()
            if self.mapping.class_of(name) is not None and Quantity.parse(quantity).sign()
        }
        return Demand(pod, tuple(sorted(asked)), self) if asked else None

    def node_claim(self, pod: core.Pod, resources: Iterable[str]) -> NodeClaim:
        """The claim for `resources`, sorted, each of which has a class."""
        requests: list[v1.DeviceRequest] = []
        mappings: list[RequestMapping] = []
        fields: dict[str, ResourceField] = {}
        wanted = tuple(resources)
        for resource in wanted:
            of_resource, used = _requests(pod, resource, self.mapping.classes[resource])
            requests += of_resource
            mappings += used
            fields |= {request.name: ResourceField(resource, _field(pod, request.name, resource)) for request in of_resource}
        ordered = tuple(sorted(requests, key=lambda request: request.name))
        spec = self._specs.setdefault(ordered, v1.ResourceClaimSpec(devices=v1.DeviceClaim(requests=ordered)))
        return NodeClaim(wanted, spec, tuple(mappings), fields)


def _requests(pod: core.Pod, resource: str, device_class: str) -> tuple[list[v1.DeviceRequest], list[RequestMapping]]:
    """The requests of all containers for one resource, and who uses them.

    Containers that run on (those of the pod, and sidecars) each get a request of their own. Init containers that end are served
    from the requests of later containers first; of what is missing, the largest request serves all, since they run one by one.
    """
    containers = _containers(pod)
    ends = [index < len(pod.spec.init_containers) and not is_sidecar(item) for index, item in enumerate(containers)]
    running: dict[int, v1.DeviceRequest] = {}
    mappings: list[RequestMapping] = []
    for index, container in enumerate(containers):
        if not ends[index] and (count := _count(container, resource)):
            running[index] = _request(index, container, resource, device_class, count)
            mappings.append(RequestMapping(container.name, resource, running[index].name))
    extra: list[v1.DeviceRequest] = []
    starting: list[RequestMapping] = []
    for index, container in enumerate(containers):
        missing = _count(container, resource) if ends[index] else 0
        for later in (running[number] for number in sorted(running) if number >= index):
            if missing <= 0:
                break
            starting.append(RequestMapping(container.name, resource, later.name))
            missing -= _devices(later)
        if missing > 0:
            extra.append(_request(index, container, resource, device_class, missing))
            starting.append(RequestMapping(container.name, resource, extra[-1].name))
    if not extra:
        return list(running.values()), mappings + starting
    largest = max(extra, key=_devices)  # the first of equally large ones
    replaced = {request.name for request in extra}
    mappings += [
        msgspec.structs.replace(item, request_name=largest.name) if item.request_name in replaced else item for item in starting
    ]
    return [largest, *running.values()], mappings


def _request(index: int, container: core.Container, resource: str, device_class: str, count: int) -> v1.DeviceRequest:
    """Named by the place of the container (init containers first) and that of the resource among all its sorted requests."""
    place = sorted(container_requests(container)).index(resource)
    exactly = v1.ExactDeviceRequest(device_class_name=device_class, allocation_mode="ExactCount", count=count)
    return v1.DeviceRequest(name=f"container-{index}-request-{place}", exactly=exactly)


def _field(pod: core.Pod, request: str, resource: str) -> str:
    """Where the pod asks for what `request` is made of."""
    containers = _containers(pod)
    index, early = int(request.split("-")[1]), len(pod.spec.init_containers)
    place = f"initContainers[{index}]" if index < early else f"containers[{index - early}]"
    kind = "requests" if resource in (containers[index].resources.requests or {}) else "limits"
    return f"spec.{place}.resources.{kind}[{resource}]"


def _devices(request: v1.DeviceRequest) -> int:
    return request.exactly.count if request.exactly else 0


def _count(container: core.Container, resource: str) -> int:
    """How many devices a container asks for; 0 also for a fraction, which the API server refuses and the scheduler passes over."""
    text = container_requests(container).get(resource)
    quantity = Quantity.parse(text) if text is not None else None
    return quantity.as_integer() if quantity is not None and quantity.is_integer() else 0


def _containers(pod: core.Pod) -> tuple[core.Container, ...]:
    return (*pod.spec.init_containers, *pod.spec.containers)


# --- the claim as an object ------------------------------------------------------------------------------------------------------


def invented_claim(pod: core.Pod, spec: v1.ResourceClaimSpec, taken: Collection[str] = ()) -> v1.ResourceClaim:
    """The claim that the scheduler creates for `pod`, with a name that none of `taken` has.

    The API server would draw the last five characters of the name; here they follow from the pod.
    """
    generate_name = f"{pod.metadata.name}{_NAME_SUFFIX}"
    name = drawn_name(generate_name[:_BASE_LENGTH], f"{pod.metadata.namespace}/{pod.metadata.name}", taken)
    owner = OwnerReference(api_version="v1", kind="Pod", name=pod.metadata.name, uid=pod.metadata.uid, controller=True)
    metadata = ObjectMeta(
        name=name,
        generate_name=generate_name,
        namespace=pod.metadata.namespace,
        annotations={EXTENDED_CLAIM_ANNOTATION: "true"},
        owner_references=(owner,),
    )
    return v1.ResourceClaim(metadata=metadata, spec=spec)


def is_invented(claim: v1.ResourceClaim) -> bool:
    """Whether the scheduler made the claim for a pod's extended resources."""
    return (claim.metadata.annotations or {}).get(EXTENDED_CLAIM_ANNOTATION) == "true"


def invented_for(pod: core.Pod, claims: Iterable[v1.ResourceClaim]) -> v1.ResourceClaim | None:
    """The claim that was made for the extended resources of `pod`, the first by name.

    For a pod without a node it is a leftover of an attempt that failed: the scheduler deletes it and tries again later.
    """
    found = [claim for claim in claims if is_invented(claim) and _owns(pod, claim)]
    return min(found, key=lambda claim: claim.metadata.name, default=None)


def owned_by_pods(claims: Iterable[v1.ResourceClaim]) -> Mapping[tuple[str, str], list[v1.ResourceClaim]]:
    """`claims` by namespace and name of the pod that controls them."""
    owned: dict[tuple[str, str], list[v1.ResourceClaim]] = {}
    for claim in claims:
        for owner in claim.metadata.owner_references:
            if owner.controller:
                owned.setdefault((claim.metadata.namespace, owner.name), []).append(claim)
    return owned


def _owns(pod: core.Pod, claim: v1.ResourceClaim) -> bool:
    return claim.metadata.namespace == pod.metadata.namespace and any(
        owner.controller and owner.name == pod.metadata.name and owner.uid in ("", pod.metadata.uid)
        for owner in claim.metadata.owner_references
    )
