"""LimitRange: the defaults and bounds that a namespace puts on the containers of pods that are created in it.

Admission sets the defaults first and then judges, so a pod that names no CPU may get some, and may be refused for what it got. Only
pods that a plan creates go through here: one that is in the input as an object has passed, or will meet the same rules on its own.
Bounds on volume claims are not looked at.

Source: kubernetes 1.37.2, `plugin/pkg/admission/limitranger`, and the defaults of LimitRange itself.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from reparto.model import core
from reparto.model.quantity import Quantity
from reparto.placement.resource_sums import POD_LEVEL_OF_LIMIT_RANGES, container_limits, pod_limits, pod_requests
from reparto.placement.resources import container_requests

# Beyond it thousandths do not fit into 64 bits, and whole units are compared.
_MAX_MILLI_COMPARED: Final = (2**63 - 1) // 1000
_NOTHING: Final = Quantity.from_int(0)

_Quantities = dict[str, Quantity]


def with_defaults(pod: core.Pod, ranges: Iterable[core.LimitRange]) -> core.Pod:
    """`pod` as it is stored: containers get the requests and limits that they leave out, from `ranges` of the pod's namespace.

    What one range sets, the next finds set; they are taken by name. (The API server takes them in no particular order.)
    """
    for item in _sorted(ranges):
        requests, limits = _defaults(item)
        if requests or limits:
            spec = replace(
                pod.spec,
                containers=tuple(_completed(container, requests, limits) for container in pod.spec.containers),
                init_containers=tuple(_completed(container, requests, limits) for container in pod.spec.init_containers),
            )
            pod = replace(pod, spec=spec)
    return pod


class Violations(msgspec.Struct, frozen=True):
    """What one LimitRange has against a pod; `limit_range` is its reference."""

    limit_range: str
    texts: tuple[str, ...]


def violations(pod: core.Pod, ranges: Iterable[core.LimitRange]) -> Violations | None:
    """What the first range that refuses `pod` (with its defaults) has against it; None: it may be created."""
    for item in _sorted(ranges):
        found = tuple(text for limit in item.spec.limits for text in _violations(pod, limit))
        if found:
            return Violations(f"LimitRange/{item.metadata.namespace}/{item.metadata.name}", tuple(dict.fromkeys(found)))
    return None


def _sorted(ranges: Iterable[core.LimitRange]) -> list[core.LimitRange]:
    return sorted(ranges, key=lambda item: item.metadata.name)


# --- defaults --------------------------------------------------------------------------------------------------------------------


def _defaults(item: core.LimitRange) -> tuple[dict[str, str], dict[str, str]]:
    """Requests and limits of containers that state none.

    The API server completes a range when it is stored: a limit defaults to the maximum, a request to the limit, else the minimum.
    """
    requests: dict[str, str] = {}
    limits: dict[str, str] = {}
    for limit in item.spec.limits:
        if limit.type == "Container":
            default = {**(limit.max or {}), **(limit.default or {})}
            limits.update(default)
            requests.update({**(limit.min or {}), **default, **(limit.default_request or {})})
    return requests, limits


def _completed(container: core.Container, requests: Mapping[str, str], limits: Mapping[str, str]) -> core.Container:
    # Requests that follow from the container's own limits were there before admission, so they win.
    resources = replace(
        container.resources,
        requests={**requests, **container_requests(container)},
        limits={**limits, **container_limits(container)},
    )
    return replace(container, resources=resources)


# --- bounds ----------------------------------------------------------------------------------------------------------------------


def _violations(pod: core.Pod, limit: core.LimitRangeItem) -> Iterator[str]:
    if limit.type == "Container":
        for container in (*pod.spec.containers, *pod.spec.init_containers):
            requests, limits = _quantities(container_requests(container)), _quantities(container_limits(container))
            yield from _judged(f"container {container.name}", limit, requests, limits)
    elif limit.type == "Pod":
        requests, limits = pod_requests(pod, POD_LEVEL_OF_LIMIT_RANGES), pod_limits(pod, POD_LEVEL_OF_LIMIT_RANGES)
        yield from _judged("the pod", limit, requests, limits)


def _judged(who: str, limit: core.LimitRangeItem, requests: _Quantities, limits: _Quantities) -> Iterator[str]:
    for name, least in sorted(_quantities(limit.min).items()):
        request, most = requests.get(name), limits.get(name)
        units = _comparable(request, most, least)
        if request is None:
            yield f"{who} has no {name} request, and at least {least} is demanded"
        elif units[0] < units[2]:
            yield f"{who} requests {request} of {name}, and at least {least} is demanded"
        elif most is not None and units[1] < units[2]:
            yield f"{who} is limited to {most} of {name}, and at least {least} is demanded"
    for name, largest in sorted(_quantities(limit.max).items()):
        request, most = requests.get(name), limits.get(name)
        units = _comparable(request, most, largest)
        if most is None:
            yield f"{who} has no {name} limit, and at most {largest} is allowed"
        elif units[1] > units[2]:
            yield f"{who} is limited to {most} of {name}, and at most {largest} is allowed"
        elif units[0] > units[2]:
            yield f"{who} requests {request} of {name}, and at most {largest} is allowed"
    for name, ratio in sorted(_quantities(limit.max_limit_request_ratio).items()):
        request, most = requests.get(name), limits.get(name)
        units = _comparable(request, most, ratio)
        if not units[0] or not units[1]:
            yield f"{who} needs both a {name} request and a {name} limit: their ratio may be at most {ratio}"
        elif _exceeds(units[1] / units[0], ratio):
            yield f"{who} has a {name} limit of {most} for a request of {request}: the ratio may be at most {ratio}"


def _quantities(resources: Mapping[str, str] | None) -> _Quantities:
    return {name: Quantity.parse(text) for name, text in (resources or {}).items()}


def _comparable(*quantities: Quantity | None) -> list[int]:
    """Thousandths, rounded up, or whole units where one of them is too large for that: the precision of the API server."""
    values = [quantity if quantity is not None else _NOTHING for quantity in quantities]
    whole = [quantity.value() for quantity in values]
    return whole if max(whole) > _MAX_MILLI_COMPARED else [quantity.milli_value() for quantity in values]


def _exceeds(observed: float, ratio: Quantity) -> bool:
    """Whether a ratio is above the allowed one, in the floating point of the API server."""
    if ratio.value() > _MAX_MILLI_COMPARED:
        return observed > float(ratio.value())
    return observed * 1000 > float(ratio.milli_value())
