"""What a whole pod requests and may use at most, as exact quantities: the sums that quotas and limits are held against.

Containers run together, init containers one after the other, and sidecars from their place on. Resources that the pod itself states
replace the sum of its containers. Overhead is apart, since only some counts include it.

Source: k8s.io/component-helpers 0.37.2, `resource`; KEP-753, KEP-2837.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from reparto.model.core import Container, Pod
from reparto.model.quantity import Quantity
from reparto.placement.resources import container_requests, is_sidecar

Sums = dict[str, Quantity]
# The resources that `spec.resources` of a pod may state; admission by LimitRange does not know of hugepages there.
POD_LEVEL: Final = ("cpu", "memory", "hugepages-")
POD_LEVEL_OF_LIMIT_RANGES: Final = ("cpu", "memory")
_NOTHING: Final = Quantity.from_int(0)


def is_pod_level(resource: str, pod_level: tuple[str, ...] = POD_LEVEL) -> bool:
    """Whether a pod may state this resource for all its containers."""
    return any(resource == each or (each.endswith("-") and resource.startswith(each)) for each in pod_level)


def container_limits(container: Container) -> Mapping[str, str]:
    """The limits of a container."""
    return container.resources.limits or {}


def pod_requests(pod: Pod, pod_level: tuple[str, ...] = POD_LEVEL) -> Sums:
    """What the pod requests, without overhead; `pod_level` are the resources (or prefixes) that the pod itself may state."""
    return _stated(_sum(pod, container_requests), pod.spec.resources.requests if pod.spec.resources else None, pod_level)


def pod_limits(pod: Pod, pod_level: tuple[str, ...] = POD_LEVEL) -> Sums:
    """What the pod may use at most, without overhead, as far as its containers have limits; `pod_level` as for requests."""
    return _stated(_sum(pod, container_limits), pod.spec.resources.limits if pod.spec.resources else None, pod_level)


def with_overhead(sums: Sums, pod: Pod, *, everywhere: bool) -> Sums:
    """`sums` and the overhead of the pod's sandbox: `everywhere`, or only where there is something to add to."""
    result = dict(sums)
    for name, text in (pod.spec.overhead or {}).items():
        if everywhere or (name in sums and sums[name].sign()):
            result[name] = result.get(name, _NOTHING).add(Quantity.parse(text))
    return result


def _sum(pod: Pod, resources: Callable[[Container], Mapping[str, str]]) -> Sums:
    result = _added({}, map(resources, pod.spec.containers))
    sidecars: Sums = {}
    starting: Sums = {}
    for container in pod.spec.init_containers:
        if is_sidecar(container):
            result = _added(result, [resources(container)])
            needed = sidecars = _added(sidecars, [resources(container)])
        else:
            needed = _added(sidecars, [resources(container)])
        starting = _largest(starting, needed)
    return _largest(result, starting)


def _added(sums: Sums, resources: Iterable[Mapping[str, str]]) -> Sums:
    result = dict(sums)
    for each in resources:
        for name, text in each.items():
            quantity = Quantity.parse(text)
            result[name] = result[name].add(quantity) if name in result else quantity
    return result


def _largest(first: Sums, second: Sums) -> Sums:
    larger = {name: quantity for name, quantity in second.items() if name not in first or quantity > first[name]}
    return {**first, **larger}


def _stated(sums: Sums, stated: Mapping[str, str] | None, pod_level: tuple[str, ...]) -> Sums:
    supported = {name: Quantity.parse(text) for name, text in (stated or {}).items() if is_pod_level(name, pod_level)}
    return {**sums, **supported} if supported else sums
