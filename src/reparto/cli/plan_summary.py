"""A plan in numbers: what `--summary` prints."""

from collections.abc import Sequence

import msgspec

from reparto.cli.plan_views import DeviceView, ProductView, product_views
from reparto.cli.rendering.layout import Column, Row, table
from reparto.cli.rendering.remarks import sum_text
from reparto.model import codes
from reparto.placement.plan import Plan


class ReasonSummary(msgspec.Struct, frozen=True):
    """How many pods are not placed first of all for this reason."""

    code: str
    title: str
    pods: int


class Summary(msgspec.Struct, frozen=True):
    """Reasons, the most frequent first; products, the most numerous first."""

    reasons: tuple[ReasonSummary, ...]
    products: tuple[ProductView, ...]


def summarise(plan: Plan, devices: Sequence[DeviceView]) -> Summary:
    """Count the first reason of every pod that has one, and the devices by product."""
    first: dict[str, int] = {}
    for pod in plan.pods:
        for reason in pod.reasons[:1]:
            first[reason.code] = first.get(reason.code, 0) + 1
    return Summary(
        tuple(
            ReasonSummary(code, codes.lookup(code).title, pods) for code, pods in sorted(first.items(), key=lambda pair: -pair[1])
        ),
        tuple(sorted(product_views(devices), key=lambda view: -view.devices)),
    )


def summary_document(plan: Plan, summary: Summary) -> dict[str, object]:
    """The JSON contract `plan-summary/v1`."""
    return {
        "schema": "plan-summary/v1",
        "summary": plan.summary(),
        "reasons": summary.reasons,
        "products": summary.products,
        "errors": plan.errors,
        "notes": plan.notes,
    }


def summary_text(plan: Plan, summary: Summary, namespace: str, width: int | None) -> str:
    """Both tables, where there is something in them, and the sum."""
    reasons = [Row([str(each.pods), each.code, each.title]) for each in summary.reasons]
    products = [
        Row([each.product or "-", each.driver, str(each.devices), str(each.used), str(each.free)]) for each in summary.products
    ]
    numbers = [Column(title, "right", least=None) for title in ("devices", "used", "free")]
    parts = [
        table([Column("product", least=12), Column("driver"), *numbers], products, width=width) if products else "",
        table([Column("pods", "right", least=None), Column("code", least=None), Column("reason")], reasons, width=width)
        if reasons
        else "",
        sum_text(plan, namespace, width),
    ]
    return "\n".join(part for part in parts if part)
