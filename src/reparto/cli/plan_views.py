"""A plan seen from the devices, the nodes or the claims instead of the pods: what `--show` prints.

Everything here is counted from the claims as they are after the plan and from the slices; nothing is decided.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

import msgspec

from reparto.hardware.products import describe, product
from reparto.model.meta import NodeSelector
from reparto.model.quantity import Quantity
from reparto.model.v1 import AllocationResult, Device, DeviceRequestAllocationResult, ResourceClaim, ResourceSlice
from reparto.placement import Plan

DeviceKey = tuple[str, str, str]
"""Driver, pool and device: what tells one device from all others."""

DeviceState = Literal["free", "used", "shared", "blocked", "tainted"]
ClaimState = Literal["allocated", "pending"]

_KEEPS_AWAY: Final = ("NoSchedule", "NoExecute")
_HOLDING: Final = ("placed", "bound", "waiting")


class Holder(msgspec.Struct, frozen=True, rename="camel"):
    """A claim that holds a device, and the pods that use the claim."""

    namespace: str
    claim: str
    request: str
    pods: tuple[str, ...]
    admin_access: bool
    share_id: str = msgspec.field(name="shareID")
    consumed_capacity: dict[str, str]


class DeviceView(msgspec.Struct, frozen=True, rename="camel"):
    """One published device after the plan; `node` is empty where several nodes can reach it.

    `product` is what devices are counted by, `detail` the product with what tells this device from others.
    `state`: free; used; shared (held, but others may get a share); blocked (not held, but its counters are used up); tainted (not
    held, but only for claims that tolerate the taint).
    """

    driver: str
    pool: str
    device: str
    node: str
    product: str
    detail: str
    state: DeviceState
    taints: tuple[str, ...]
    holders: tuple[Holder, ...]


class ProductView(msgspec.Struct, frozen=True):
    """Devices of one product, on a node or in all: how many there are, how many claims hold, and how many are free."""

    product: str
    driver: str
    devices: int
    used: int
    free: int


class NodeView(msgspec.Struct, frozen=True):
    """A node with the pods that it has after the plan; the name is empty for devices that several nodes can reach."""

    name: str
    pods: int
    products: tuple[ProductView, ...]


class ClaimView(msgspec.Struct, frozen=True):
    """A claim after the plan."""

    namespace: str
    name: str
    state: ClaimState
    node: str
    pods: tuple[str, ...]
    allocation: AllocationResult | None


def device_views(plan: Plan, slices: Iterable[ResourceSlice]) -> list[DeviceView]:
    """Every device of the newest generation of its pool, by node, driver, pool and as published."""
    users = _users(plan)
    holders: dict[DeviceKey, list[Holder]] = {}
    for claim in plan.claims:
        for result in claim.status.allocation.devices.results if claim.status.allocation else ():
            holders.setdefault((result.driver, result.pool, result.device), []).append(_holder(claim, result, users))
    views: list[DeviceView] = []
    for published in _newest(slices):
        remaining = _counters_left(published, holders)
        for item in published:
            for device in item.spec.devices or ():
                identity = item.spec.driver, item.spec.pool.name, device.name
                held = holders.get(identity, [])
                taints = tuple(f"{taint.key}{'=' * bool(taint.value)}{taint.value}:{taint.effect}" for taint in device.taints)
                node = _node(item.spec.node_name, item.spec.node_selector) or _node(device.node_name, device.node_selector)
                driver, state = item.spec.driver, _state(device, held, remaining)
                names = product(driver, device), describe(driver, device)
                views.append(DeviceView(*identity, node, *names, state, taints, tuple(held)))
    return sorted(views, key=lambda view: (not view.node, view.node, view.driver, view.pool))


def node_views(plan: Plan, names: Iterable[str], devices: Iterable[DeviceView]) -> list[NodeView]:
    """Every node of `names`, in that order, with its devices by product; last, nameless, the devices of no one node."""
    pods: dict[str, int] = {}
    for pod in plan.pods:
        if pod.node and not pod.hypothetical and pod.verdict in _HOLDING:
            pods[pod.node] = pods.get(pod.node, 0) + 1
    on: dict[str, list[DeviceView]] = {}
    for device in devices:
        on.setdefault(device.node, []).append(device)
    listed: list[str] = [*names]
    listed += [name for name in sorted(on.keys() - set(listed)) if name]
    listed += [""] if "" in on else []
    return [NodeView(name, pods.get(name, 0), product_views(on.get(name, ()))) for name in listed]


def product_views(devices: Iterable[DeviceView]) -> tuple[ProductView, ...]:
    """Devices counted by product and driver, in order of appearance."""
    products: dict[tuple[str, str], list[DeviceView]] = {}
    for device in devices:
        products.setdefault((device.product, device.driver), []).append(device)
    return tuple(
        ProductView(
            label,
            driver,
            len(members),
            sum(bool(member.holders) for member in members),
            sum(member.state == "free" for member in members),
        )
        for (label, driver), members in products.items()
    )


def claim_views(plan: Plan) -> list[ClaimView]:
    """Every claim that exists after the plan, and every claim that a pod is still waiting for."""
    users = _users(plan)
    views = {
        (claim.metadata.namespace, claim.metadata.name): ClaimView(
            claim.metadata.namespace,
            claim.metadata.name,
            "allocated" if claim.status.allocation else "pending",
            _node(None, claim.status.allocation.node_selector) if claim.status.allocation else "",
            users.get((claim.metadata.namespace, claim.metadata.name), ()),
            claim.status.allocation,
        )
        for claim in plan.claims
    }
    for pod in plan.pods:
        for claim in pod.claims if not pod.hypothetical else ():
            if (identity := (claim.namespace, claim.name)) not in views:
                views[identity] = ClaimView(claim.namespace, claim.name, "pending", "", users.get(identity, ()), None)
    return [view for _, view in sorted(views.items())]


def _users(plan: Plan) -> dict[tuple[str, str], tuple[str, ...]]:
    """The pods that use each claim, or wait for it, in the order of the plan; hypothetical ones use nothing."""
    found: dict[tuple[str, str], list[str]] = {}
    for pod in plan.pods:
        for claim in pod.claims if not pod.hypothetical and pod.verdict != "skipped" else ():
            found.setdefault((claim.namespace, claim.name), []).append(pod.name)
    for claim in plan.claims:
        # Consumers that are not in the input are known by the reservation alone.
        names = found.setdefault((claim.metadata.namespace, claim.metadata.name), [])
        names += [each.name for each in claim.status.reserved_for if each.resource == "pods" and each.name not in names]
    return {identity: tuple(names) for identity, names in found.items()}


def _holder(
    claim: ResourceClaim, result: DeviceRequestAllocationResult, users: Mapping[tuple[str, str], tuple[str, ...]]
) -> Holder:
    metadata = claim.metadata
    return Holder(
        metadata.namespace,
        metadata.name,
        result.request,
        users.get((metadata.namespace, metadata.name), ()),
        bool(result.admin_access),
        result.share_id or "",
        dict(result.consumed_capacity or {}),
    )


def _newest(slices: Iterable[ResourceSlice]) -> list[list[ResourceSlice]]:
    """The slices of each pool's newest generation, pools in order of appearance."""
    pools: dict[tuple[str, str], list[ResourceSlice]] = {}
    for item in slices:
        pools.setdefault((item.spec.driver, item.spec.pool.name), []).append(item)
    newest = [max(item.spec.pool.generation for item in members) for members in pools.values()]
    return [
        [item for item in members if item.spec.pool.generation == generation]
        for generation, members in zip(newest, pools.values(), strict=True)
    ]


def _counters_left(slices: Sequence[ResourceSlice], holders: Mapping[DeviceKey, Sequence[Holder]]) -> dict[tuple[str, str], int]:
    """What is left of each counter of a pool, in billionths, after the devices that claims hold; admin access draws nothing."""
    left = {
        (counter_set.name, name): Quantity.parse(counter.value).nano
        for item in slices
        for counter_set in item.spec.shared_counters or ()
        for name, counter in (counter_set.counters or {}).items()
    }
    for item in slices if left else ():
        for device in item.spec.devices or ():
            held = holders.get((item.spec.driver, item.spec.pool.name, device.name), ())
            if any(not holder.admin_access for holder in held):
                for counter, amount in _draws(device):
                    left[counter] = left.get(counter, 0) - amount
    return left


def _draws(device: Device) -> list[tuple[tuple[str, str], int]]:
    return [
        ((consumption.counter_set, name), Quantity.parse(counter.value).nano)
        for consumption in device.consumes_counters
        for name, counter in (consumption.counters or {}).items()
    ]


def _state(device: Device, held: Sequence[Holder], left: Mapping[tuple[str, str], int]) -> DeviceState:
    if any(not holder.admin_access for holder in held):
        return "shared" if device.allow_multiple_allocations else "used"
    if any(left.get(counter, 0) < amount for counter, amount in _draws(device)):
        return "blocked"
    return "tainted" if any(taint.effect in _KEEPS_AWAY for taint in device.taints) else "free"


def _node(name: str | None, selector: NodeSelector | None) -> str:
    """The one node that a name or a selector by name stands for; empty where it may be several."""
    if name:
        return name
    terms = selector.node_selector_terms if selector else []
    fields = [field for term in terms for field in term.match_fields if field.key == "metadata.name" and field.operator == "In"]
    if len(terms) == 1 and len(fields) == 1 and len(fields[0].values) == 1:
        return fields[0].values[0]
    return ""
