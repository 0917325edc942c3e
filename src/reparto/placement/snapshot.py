"""Everything a plan looks at, as one value: the objects of the input, sorted into their kinds, with what is missing made up for.

People rarely have a whole cluster in their files. Missing Node objects are inferred from the slices, and a DeviceClass that a
known driver ships stands in for one that is missing; each such guess leaves a note. Decisions are functions of a snapshot alone.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final, TypeVar, cast

import msgspec

from reparto.hardware.classes import built_in_class, class_serving
from reparto.model import codes, core, v1
from reparto.model.carriers import Carrier
from reparto.model.meta import NodeSelector, ObjectMeta
from reparto.placement.default_selectors import DefaultSelectors, default_selectors, owners_of
from reparto.placement.extended_resources import IMPLICIT_PREFIX
from reparto.placement.plan import Note

# Namespace and name.
Key = tuple[str, str]

_T = TypeVar("_T")

_CLUSTER_SCOPED: Final = ("DeviceClass", "DeviceTaintRule", "Namespace", "Node", "PriorityClass", "ResourceSlice")


def reference(kind: str, metadata: ObjectMeta) -> str:
    """How output names an object: `Kind/namespace/name`, or `Kind/name` where it is cluster-scoped."""
    if kind in _CLUSTER_SCOPED or not metadata.namespace:
        return f"{kind}/{metadata.name}"
    return f"{kind}/{metadata.namespace}/{metadata.name}"


class Snapshot(msgspec.Struct, frozen=True):
    """The input of every decision.

    `pods` keep the order of the input, `nodes` are in order of their names. `refused` holds the references of objects that the API
    server would not accept: they take no part, and whoever needs them is told so. `created` says which pods do not exist yet.
    """

    slices: tuple[v1.ResourceSlice, ...] = ()
    classes: Mapping[str, v1.DeviceClass] = {}
    claims: Mapping[Key, v1.ResourceClaim] = {}
    templates: Mapping[Key, v1.ResourceClaimTemplate] = {}
    taint_rules: tuple[v1.DeviceTaintRule, ...] = ()
    nodes: tuple[core.Node, ...] = ()
    pods: tuple[core.Pod, ...] = ()
    priority_classes: Mapping[str, core.PriorityClass] = {}
    namespaces: tuple[core.Namespace, ...] = ()
    pod_groups: Mapping[Key, core.PodGroup] = {}
    default_selectors: DefaultSelectors = DefaultSelectors()
    quotas: tuple[core.ResourceQuota, ...] = ()
    limit_ranges: tuple[core.LimitRange, ...] = ()
    created: frozenset[Key] = frozenset()
    refused: frozenset[str] = frozenset()
    nodes_inferred: bool = False
    notes: tuple[Note, ...] = ()


def take_snapshot(
    objects: Iterable[object],
    *,
    refused: Iterable[str] = (),
    created: Sequence[core.Pod] = (),
    carriers: Iterable[Carrier] = (),
    stand_ins: bool = True,
) -> Snapshot:
    """Sort typed objects (defaulted, of the hub version) into a snapshot; kinds that placement does not know are passed over.

    `created` are pods that workloads would make: they come after all others, and may still be refused. `carriers` are the
    workloads themselves, for what they select. `stand_ins=False` where all DeviceClasses of a cluster are there: one that is
    missing does not exist.
    """
    kinds: dict[type, list[Any]] = {}
    for item in chain(objects, created):
        kinds.setdefault(type(item), []).append(item)

    def of(kind: type[_T]) -> tuple[_T, ...]:
        return cast("tuple[_T, ...]", tuple(kinds.get(kind, ())))

    refused_references = frozenset(refused) - _present(kinds)
    claims = {key(claim.metadata): claim for claim in of(v1.ResourceClaim)}
    templates = {key(template.metadata): template for template in of(v1.ResourceClaimTemplate)}
    slices, pods = of(v1.ResourceSlice), of(core.Pod)
    classes = {item.metadata.name: item for item in of(v1.DeviceClass)}
    specs = [*(c.spec for c in claims.values()), *(t.spec.spec for t in templates.values())]
    named = {name for spec in specs for _, _, name in class_names(spec)} | _classes_of_resources(pods, classes, slices)
    built_in = _missing_classes(classes, named, refused_references) if stand_ins else {}
    nodes = of(core.Node)
    inferred = not nodes and not any(item.startswith("Node/") for item in refused_references)
    if inferred:
        nodes = _inferred_nodes(slices, claims.values(), pods)
    return Snapshot(
        slices=slices,
        classes={**classes, **built_in},
        claims=claims,
        templates=templates,
        taint_rules=of(v1.DeviceTaintRule),
        nodes=tuple(sorted(nodes, key=lambda node: node.metadata.name)),
        pods=pods,
        priority_classes={item.metadata.name: item for item in of(core.PriorityClass)},
        namespaces=of(core.Namespace),
        pod_groups={key(item.metadata): item for item in of(core.PodGroup)},
        default_selectors=default_selectors(
            of(core.Service),
            (*of(core.ReplicationController), *of(core.ReplicaSet), *of(core.StatefulSet), *owners_of(carriers)),
        ),
        quotas=of(core.ResourceQuota),
        limit_ranges=of(core.LimitRange),
        created=frozenset(map(key, (pod.metadata for pod in created))),
        refused=refused_references,
        nodes_inferred=inferred,
        notes=(*_node_notes(slices, nodes, inferred), *(_class_note(item) for item in built_in.values())),
    )


def _present(kinds: Mapping[type, Iterable[Any]]) -> set[str]:
    """Of two objects of one name that differ, the second is refused and the first takes part: it counts as present."""
    return {reference(kind.__name__, item.metadata) for kind, items in kinds.items() for item in items}


def key(metadata: ObjectMeta) -> Key:
    """Namespace and name: what tells two objects of a kind apart."""
    return metadata.namespace, metadata.name


def class_names(spec: v1.ResourceClaimSpec) -> Iterator[tuple[str, str, str]]:
    """Every DeviceClass that a claim names: (request or `request/subrequest`, path below `spec`, class name), in request order."""
    for index, request in enumerate(spec.devices.requests):
        path = f"devices.requests[{index}]"
        if request.exactly is not None:
            yield request.name, f"{path}.exactly.deviceClassName", request.exactly.device_class_name
        for number, alternative in enumerate(request.first_available):
            yield (
                f"{request.name}/{alternative.name}",
                f"{path}.firstAvailable[{number}].deviceClassName",
                alternative.device_class_name,
            )


def _classes_of_resources(
    pods: Iterable[core.Pod], classes: Mapping[str, v1.DeviceClass], slices: Iterable[v1.ResourceSlice]
) -> set[str]:
    """The classes that pods without a node ask for as extended resources: by the name of the class, or by the resource that a
    driver's class stands for, where slices show that the driver is there and no class of the input has taken the resource."""
    asked = {
        resource
        for pod in pods
        if not pod.spec.node_name
        for container in (*pod.spec.init_containers, *pod.spec.containers)
        for resources in (container.resources.requests, container.resources.limits)
        for resource in resources or ()
        if "/" in resource
    }
    if not asked:
        return set()
    found = {resource.removeprefix(IMPLICIT_PREFIX) for resource in asked if resource.startswith(IMPLICIT_PREFIX)}
    taken = {item.spec.extended_resource_name for item in classes.values()}
    drivers = {item.spec.driver for item in slices}
    # A driver and the class that stands for its devices share their name.
    return found | {name for resource in asked - taken if (name := class_serving(resource)) in drivers}


def _missing_classes(
    classes: Mapping[str, v1.DeviceClass], names: Iterable[str], refused: frozenset[str]
) -> dict[str, v1.DeviceClass]:
    found: dict[str, v1.DeviceClass] = {}
    for name in sorted(names):
        # A class that is there but refused is the user's own: replacing it would hide the mistake.
        if name not in classes and f"DeviceClass/{name}" not in refused and (shipped := built_in_class(name)) is not None:
            found[name] = shipped
    return found


def _class_note(item: v1.DeviceClass) -> Note:
    selectors = "; ".join(selector.cel.expression for selector in item.spec.selectors if selector.cel)
    message = f"DeviceClass {item.metadata.name} is not in the input; the one that its driver ships was used ({selectors})"
    return Note(codes.BUILT_IN_CLASS, reference("DeviceClass", item.metadata), message)


def _inferred_nodes(
    slices: Iterable[v1.ResourceSlice], claims: Iterable[v1.ResourceClaim], pods: Iterable[core.Pod]
) -> tuple[core.Node, ...]:
    """Nodes that must exist: slices are published for them, allocations are pinned to them, or pods run on them."""
    names: set[str] = set()
    for item in slices:
        names.update(_named_nodes(item.spec.node_name, item.spec.node_selector))
        for device in item.spec.devices or ():
            names.update(_named_nodes(device.node_name, device.node_selector))
    for claim in claims:
        if claim.status.allocation is not None:
            names.update(_named_nodes(None, claim.status.allocation.node_selector))
    names.update(pod.spec.node_name for pod in pods if pod.spec.node_name)
    return tuple(core.Node(metadata=ObjectMeta(name=name)) for name in names)


def _named_nodes(name: str | None, selector: NodeSelector | None) -> Iterator[str]:
    if name:
        yield name
    for term in selector.node_selector_terms if selector else ():
        for field in term.match_fields:
            if field.key == "metadata.name" and field.operator == "In":
                yield from field.values


def _node_notes(slices: tuple[v1.ResourceSlice, ...], nodes: tuple[core.Node, ...], inferred: bool) -> Iterator[Note]:
    if inferred:
        if nodes:
            count = "1 node was" if len(nodes) == 1 else f"{len(nodes)} nodes were"
            yield Note(
                codes.NODES_INFERRED,
                "",
                f"no Node objects in the input: {count} inferred from slices; labels, taints and CPU are not known",
            )
        return
    known = {node.metadata.name for node in nodes}
    missing = sorted({item.spec.node_name for item in slices if item.spec.node_name} - known)
    for name in missing:
        yield Note(
            codes.NODE_ABSENT,
            f"Node/{name}",
            f"ResourceSlices name node {name}, which is not in the input; its devices take no part",
        )
