"""Pods of a plan as a table: one line for each device, one for each pod that stays pending, with why.

The table is meant to be read and grepped: every line carries its pod. Pods that use no claim are counted, not listed, unless they
are pending; `-o wide` lists them, and shows where each device and claim is to be found in the cluster.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from reparto.cli.rendering.layout import Column, Row, table
from reparto.hardware.products import describe
from reparto.model.v1 import DeviceRequestAllocationResult, ResourceSlice
from reparto.placement.plan import ClaimPlan, PodPlan, Reason

DeviceKey = tuple[str, str, str]

NOTHING: Final = "-"
COLOURS: Final[Mapping[str, str]] = {
    "placed": "green",
    "bound": "green",
    "pending": "red",
    "waiting": "yellow",
    "invalid": "red",
    "skipped": "bright_black",
}
_DEVICE_LEAST_MOST: Final = 30
_STATUS: Final = Column("status", least=None)


def pod_table(pods: Iterable[PodPlan], slices: Iterable[ResourceSlice], *, namespaces: bool, wide: bool, width: int | None) -> str:
    """The pods in the order of the plan; `namespaces` adds their column. Empty where there are no pods."""
    shown = tuple(pods)
    products = _products(slices, shown)
    columns = (*([Column("namespace")] if namespaces else []), *_columns(shown, wide), _STATUS)
    rows: list[Row] = []
    for pod in shown:
        lead = [pod.namespace] if namespaces else []
        rows += [Row([*lead, *cells, pod.verdict], tail) for cells, tail in _lines(pod, products, wide)]

    def style(column: int, text: str) -> dict[str, Any]:
        return {"fg": COLOURS.get(text)} if column == len(columns) - 1 else {}

    return table(columns, rows, width=width, style=style) if rows else ""


def _columns(pods: Iterable[PodPlan], wide: bool) -> list[Column]:
    # A device's name says more than its product, which is behind it.
    names = [
        len(result.device)
        for pod in pods
        for claim in pod.claims
        if claim.allocation
        for result in claim.allocation.devices.results
    ]
    device = Column("device", least=min(max(names, default=0) + 2, _DEVICE_LEAST_MOST), spare=True)
    columns = [Column("pod", least=16), Column("node", least=8)]
    if not wide:
        return [*columns, Column("claim/request"), device]
    columns += [Column("claim"), Column("claim/request"), device]
    return [*columns, *map(Column, ("driver", "pool", "detail", "scores"))]


def brief(reasons: tuple[Reason, ...]) -> str:
    """Why a pod is not placed, in one line: the reason of most nodes, and how many others there are."""
    if not reasons:
        return ""
    first, others = reasons[0], len(reasons) - 1
    more = f"; and {others} more {'reason' if others == 1 else 'reasons'} (--reasons)" if others else ""
    return f"{first.code}: {first.message}{more}"


def _lines(pod: PodPlan, products: Mapping[DeviceKey, str], wide: bool) -> Iterator[tuple[list[str], str]]:
    """The cells between namespace and status of each line of a pod, with what follows the status."""
    name = f"{pod.name} (hypothetical)" if wide and pod.hypothetical else pod.name or NOTHING
    lead, why = [name, pod.node or NOTHING], brief(pod.reasons)
    held = [(claim, result) for claim in pod.claims if claim.allocation for result in claim.allocation.devices.results or [None]]
    if not held or (pod.reasons and pod.verdict not in ("placed", "bound", "waiting")):
        yield [*lead, *[NOTHING] * (6 if wide else 2), *([_scores(pod)] if wide else [])], why
        return
    resources = _resources(pod)
    for claim, result in held:
        product = products.get((result.driver, result.pool, result.device), "") if result else ""
        yield [*lead, *_cells(claim, result, product, resources, wide), *([_scores(pod)] if wide else [])], why
        why = ""


def _scores(pod: PodPlan) -> str:
    """The node's score and those of the next best, as `371 (n7: 371, n2: 290)`; nothing where one node fitted."""
    if not pod.scores:
        return NOTHING
    first, *others = pod.scores
    return str(first.score) + (f" ({', '.join(f'{each.node}: {each.score}' for each in others)})" if others else "")


def _resources(pod: PodPlan) -> dict[str, str]:
    """The extended resource that each request of the claim made for them stands for."""
    status = pod.extended_resource_claim_status
    return {mapping.request_name: mapping.resource_name for mapping in status.request_mappings} if status else {}


def _cells(
    claim: ClaimPlan, result: DeviceRequestAllocationResult | None, product: str, resources: Mapping[str, str], wide: bool
) -> list[str]:
    if result is None:  # allocated without any device: admin access to nothing, for example
        return [*([claim.name] if wide else []), claim.pod_claim_name or NOTHING, *[NOTHING] * (4 if wide else 1)]
    # The claim that the scheduler makes for a pod's extended resources has no name in the pod.
    request = f"{claim.pod_claim_name}/{result.request}" if claim.pod_claim_name else resources.get(result.request, result.request)
    device = result.device + (f" ({product})" if product else "")
    if not wide:
        return [request, device]
    details = ["admin access"] if result.admin_access else []
    details += [f"{name}={amount}" for name, amount in (result.consumed_capacity or {}).items()]
    details += [f"share {result.share_id}"] if result.share_id else []
    return [claim.name, request, device, result.driver, result.pool, ", ".join(details) or NOTHING]


def _products(slices: Iterable[ResourceSlice], pods: Iterable[PodPlan]) -> dict[DeviceKey, str]:
    wanted = {
        (result.driver, result.pool, result.device)
        for pod in pods
        for claim in pod.claims
        for result in (claim.allocation.devices.results if claim.allocation else ())
    }
    pools = {(driver, pool) for driver, pool, _ in wanted}
    found: dict[DeviceKey, str] = {}
    for item in slices:
        driver, pool = item.spec.driver, item.spec.pool.name
        if (driver, pool) in pools:
            for device in item.spec.devices or ():
                if (driver, pool, device.name) in wanted:
                    found[driver, pool, device.name] = describe(driver, device)
    return found
