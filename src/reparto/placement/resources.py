"""How much of a node's resources a pod takes: CPU, memory, ephemeral storage, huge pages, extended resources.

The scheduler counts one pod in four ways, and the node it ends up on depends on each: what must be left on the node, what the node
is charged with, and what its two scores about resources add. They differ in what a container without a request counts as, and in
whether requests of the pod as a whole are looked at. Quantities become integers here, rounded up once, after summing, as upstream
does.

Source: component-helpers `resource` 0.37.2 (PodRequests); scheduler `noderesources`, `framework/types.go` of 1.37.2.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

import msgspec

from reparto.model.core import Container, ContainerResources, ContainerStatus, Node, Pod
from reparto.model.names import is_extended_resource_name
from reparto.model.quantity import Quantity

Amounts = dict[str, int]
"""Amounts by resource: `cpu` in thousandths of a core, everything else in its own unit (bytes, pieces)."""

CPU: Final = "cpu"
MEMORY: Final = "memory"
EPHEMERAL_STORAGE: Final = "ephemeral-storage"
PODS: Final = "pods"
_HUGE_PAGES: Final = "hugepages-"
_ATTACHABLE_VOLUMES: Final = "attachable-volumes-"
_NATIVE: Final = "kubernetes.io/"

# What a container that asks for none is taken to use where load is compared (scheduler util, pod_resources.go).
_USUAL: Final = {CPU: 100 * 10**6, MEMORY: 200 * 2**20 * 10**9}
_MILLI: Final = 10**6
_UNIT: Final = 10**9

_Nano = dict[str, int]


class PodResources(msgspec.Struct, frozen=True):
    """One pod's resources, as the scheduler counts them in different places.

    `requested` must be left on a node; a node is charged with `charged`, and with `charged_usual` where load is compared: CPU and
    memory, with the usual amount for containers that ask for none. `usual` is what the pod would add there, `plain` what it adds to
    the balance of CPU and memory.
    """

    requested: Amounts
    charged: Amounts
    charged_usual: tuple[int, int]
    usual: tuple[int, int]
    plain: tuple[int, int]


def pod_resources(pod: Pod) -> PodResources:
    """What `pod` counts for. A limit without a request counts as the request, as the API server fills it in."""
    spec = pod.spec
    whole = _of_the_pod(pod)
    containers = _aggregated(_requests(spec.containers), _requests(spec.init_containers), spec.init_containers)
    overhead = _nano(spec.overhead)
    total = _sum({**containers, **whole}, overhead)
    used = _in_use(pod, containers)
    actual = _pod_level_in_use(pod, whole)
    charged = _sum({**used, **actual}, overhead)
    missing = {name: amount for name, amount in _USUAL.items() if not whole or name not in charged}
    charged_usual = charged
    if missing:
        with_usual = _aggregated(
            _requests(spec.containers, missing), _requests(spec.init_containers, missing), spec.init_containers
        )
        charged_usual = _sum({**_in_use(pod, with_usual, missing), **actual}, overhead)
    # The score of free resources has never learnt about requests of the pod as a whole: its scorer has the gate off.
    usual = _sum(
        _aggregated(_requests(spec.containers, _USUAL), _requests(spec.init_containers, _USUAL), spec.init_containers), overhead
    )
    return PodResources(_amounts(total), _amounts(charged), _pair(charged_usual), _pair(usual), _pair(charged))


def container_requests(container: Container) -> dict[str, str]:
    """The requests of a container as the API server stores them: a limit stands in for a request that is missing."""
    return {**(container.resources.limits or {}), **(container.resources.requests or {})}


def pod_requests(pod: Pod) -> Amounts:
    """What must be left on a node for `pod`."""
    return pod_resources(pod).requested


def node_allocatable(node: Node) -> Amounts:
    """What `node` has for pods. `pods` is how many it takes; a node that does not say takes none."""
    return _amounts(_nano(node.status.allocatable))


@cache
def is_scalar(name: str) -> bool:
    """Whether the scheduler counts the resource besides CPU, memory and ephemeral storage; others it ignores."""
    return (
        name.startswith((_HUGE_PAGES, _ATTACHABLE_VOLUMES))
        or _NATIVE in name
        or ("/" in name and not is_extended_resource_name(name))
    )


def is_sidecar(container: Container) -> bool:
    """Whether an init container keeps running beside the containers."""
    return container.restart_policy == "Always"


def _aggregated(containers: Iterable[_Nano], init: Iterable[_Nano], init_containers: Iterable[Container]) -> _Nano:
    """Containers and sidecars together, or the init container that needs most, with the sidecars before it."""
    total: _Nano = {}
    for amounts in containers:
        _add(total, amounts)
    sidecars: _Nano = {}
    peak: _Nano = {}
    for container, amounts in zip(init_containers, init, strict=True):
        if is_sidecar(container):
            _add(total, amounts)
            _add(sidecars, amounts)
            _raise(peak, sidecars)
        else:
            _raise(peak, _sum(amounts, sidecars))
    _raise(total, peak)
    return total


def _requests(containers: Iterable[Container], usual: Mapping[str, int] | None = None) -> list[_Nano]:
    return [{**(usual or {}), **_nano(container_requests(container))} for container in containers]


def _of_the_pod(pod: Pod) -> _Nano:
    """Requests of the pod as a whole (PodLevelResources), with the default that the API server takes from its limits."""
    resources = pod.spec.resources
    if resources is None:
        return {}
    requests = {name: amount for name, amount in _nano(resources.requests).items() if _pod_level(name)}
    asked = {name for container in (*pod.spec.containers, *pod.spec.init_containers) for name in container_requests(container)}
    for name, amount in _nano(resources.limits).items():
        if _pod_level(name) and name not in requests and (name not in asked or name.startswith(_HUGE_PAGES)):
            requests[name] = amount
    return requests


def _pod_level(name: str) -> bool:
    return name in _USUAL or name.startswith(_HUGE_PAGES)


# --- what the kubelet reports: pods that are being resized -----------------------------------------------------------------------


def _in_use(pod: Pod, wanted: _Nano, usual: Mapping[str, int] | None = None) -> _Nano:
    """The most of what containers want, were given, and have; without what they want where it cannot be had."""
    status, spec = pod.status, pod.spec
    infeasible = _infeasible(pod)
    if not (status.container_statuses or status.init_container_statuses or status.resources or infeasible):
        return wanted
    if status.allocated_resources is not None and status.resources is not None and status.resources.requests is not None:
        given, actual = _nano(status.allocated_resources), _nano(status.resources.requests)
    else:
        statuses = {each.name: each for each in (*status.init_container_statuses, *status.container_statuses)}
        given, actual = (
            _aggregated(
                [{**(usual or {}), **of(container, statuses.get(container.name), infeasible)} for container in spec.containers],
                [
                    {**(usual or {}), **of(container, statuses.get(container.name), infeasible)}
                    for container in spec.init_containers
                ],
                spec.init_containers,
            )
            for of in (_given, _actual)
        )
    most = {} if infeasible else dict(wanted)
    _raise(most, actual)
    _raise(most, given)
    return most


def _given(container: Container, status: ContainerStatus | None, infeasible: bool) -> _Nano:
    if status is not None and status.allocated_resources is not None:
        return _nano(status.allocated_resources)
    return {} if infeasible else _nano(container_requests(container))


def _actual(container: Container, status: ContainerStatus | None, infeasible: bool) -> _Nano:
    if status is not None and status.resources is not None and status.resources.requests is not None:
        return _nano(status.resources.requests)
    return _given(container, status, infeasible)


def _pod_level_in_use(pod: Pod, whole: _Nano) -> _Nano:
    reported: ContainerResources | None = pod.status.resources
    if not whole or reported is None:
        return whole
    most = {} if _infeasible(pod) else dict(whole)
    _raise(most, _nano(reported.requests))
    _raise(most, _nano(pod.status.allocated_resources))
    return {name: amount for name, amount in most.items() if _pod_level(name)}


def _infeasible(pod: Pod) -> bool:
    return next((each.reason == "Infeasible" for each in pod.status.conditions if each.type == "PodResizePending"), False)


# --- amounts ---------------------------------------------------------------------------------------------------------------------


def _nano(resources: Mapping[str, str] | None) -> _Nano:
    """Exact amounts in 1e-9 units, rounded up to thousandths as the API server stores them."""
    if not resources:
        return {}
    return {name: -(-Quantity.parse(text).nano // _MILLI) * _MILLI for name, text in resources.items()}


def _amounts(resources: _Nano) -> Amounts:
    """Whole units, rounded up; resources that the scheduler does not count are left out."""
    amounts: Amounts = {}
    for name, nano in resources.items():
        if name == CPU:
            amounts[name] = -(-nano // _MILLI)
        elif name in (MEMORY, EPHEMERAL_STORAGE, PODS) or is_scalar(name):
            amounts[name] = -(-nano // _UNIT)
    return amounts


def _pair(resources: _Nano) -> tuple[int, int]:
    return -(-resources.get(CPU, 0) // _MILLI), -(-resources.get(MEMORY, 0) // _UNIT)


def _add(total: _Nano, amounts: _Nano) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + amount


def _sum(one: _Nano, other: _Nano) -> _Nano:
    total = dict(one)
    _add(total, other)
    return total


def _raise(least: _Nano, amounts: _Nano) -> None:
    for name, amount in amounts.items():
        if name not in least or amount > least[name]:
            least[name] = amount
