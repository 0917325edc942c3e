"""Nodes, devices and claims after a plan, as tables."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from reparto.cli.plan_views import ClaimView, DeviceView, Holder, NodeView
from reparto.cli.rendering.layout import Column, Row, table
from reparto.cli.rendering.pods import NOTHING

_STATES: Final[Mapping[str, str]] = {
    "free": "green",
    "shared": "yellow",
    "tainted": "yellow",
    "blocked": "yellow",
}
_SEVERAL: Final = "(several)"


def node_table(views: Sequence[NodeView], width: int | None) -> str:
    """One line for each product of a node, and for each node without devices."""
    columns = (
        Column("node", least=12),
        Column("pods", "right", least=None),
        Column("product", least=12),
        Column("driver"),
        Column("devices", "right", least=None),
        Column("used", "right", least=None),
        Column("free", "right", least=None),
    )
    rows: list[Row] = []
    for view in views:
        lead = [view.name or _SEVERAL, str(view.pods) if view.name else NOTHING]
        rows += [
            Row([*lead, item.product or NOTHING, item.driver, str(item.devices), str(item.used), str(item.free)])
            for item in view.products
        ] or [Row([*lead, NOTHING, NOTHING, "0", "0", "0"])]

    def style(column: int, text: str) -> dict[str, Any]:
        return {"fg": "green"} if column == len(columns) - 1 and text != "0" else {}

    return table(columns, rows, width=width, style=style) if rows else ""


def device_table(views: Sequence[DeviceView], *, wide: bool, width: int | None) -> str:
    """One line for each device and holder."""
    columns = [Column("node", least=8), Column("device", least=14), Column("product", spare=True), Column("state", least=None)]
    columns += [Column("claim"), Column("pods")]
    if wide:
        columns += [Column("driver"), Column("pool"), Column("request"), Column("detail")]
    rows: list[Row] = []
    for view in views:
        lead = [view.node or _SEVERAL, view.device, view.detail or NOTHING, view.state]
        for holder in view.holders or (None,):
            if holder is None:
                cells, more = [NOTHING, NOTHING], [view.driver, view.pool, NOTHING, _details(view, None)]
            else:
                cells = [f"{holder.namespace}/{holder.claim}", _listed(holder.pods)]
                more = [view.driver, view.pool, holder.request, _details(view, holder)]
            rows.append(Row([*lead, *cells, *(more if wide else [])]))

    def style(column: int, text: str) -> dict[str, Any]:
        return {"fg": _STATES.get(text)} if columns[column].title == "state" else {}

    return table(columns, rows, width=width, style=style) if rows else ""


def claim_table(views: Sequence[ClaimView], *, namespaces: bool, wide: bool, width: int | None) -> str:
    """One line for each claim."""
    columns = [Column("namespace")] if namespaces else []
    columns += [Column("claim", least=14), Column("state", least=None), Column("node", least=8)]
    columns += [Column("devices", least=14), Column("pods")]
    rows: list[Row] = []
    for view in views:
        results = view.allocation.devices.results if view.allocation else []
        devices = [f"{result.pool}/{result.device}" if wide else result.device for result in results]
        cells = [view.name, view.state, view.node or NOTHING, _listed(devices), _listed(view.pods)]
        rows.append(Row([view.namespace, *cells] if namespaces else cells))

    def style(column: int, text: str) -> dict[str, Any]:
        return {"fg": "green" if text == "allocated" else "red"} if columns[column].title == "state" else {}

    return table(columns, rows, width=width, style=style) if rows else ""


def _details(view: DeviceView, holder: Holder | None) -> str:
    details = list(view.taints)
    if holder is not None:
        details += ["admin access"] if holder.admin_access else []
        details += [f"{name}={amount}" for name, amount in holder.consumed_capacity.items()]
    return ", ".join(details) or NOTHING


def _listed(names: Sequence[str]) -> str:
    return ",".join(names) or NOTHING
