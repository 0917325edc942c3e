"""What changed between two plans, as a table: a line for each pod that is not as it was."""

from collections.abc import Mapping
from typing import Any, Final

from reparto.cli.plan_diff import CHANGES, Difference, Side
from reparto.cli.rendering.layout import Column, Row, table
from reparto.cli.rendering.pods import NOTHING, brief

_COLOURS: Final[Mapping[str, str]] = {"pending": "red", "moved": "yellow", "devices": "yellow", "placed": "green", "new": "green"}


def change_table(found: Difference, *, namespaces: bool, width: int | None) -> str:
    """The changed pods, the worst first, and a line that counts them."""
    columns = [Column("namespace")] if namespaces else []
    columns += [Column("pod", least=16), Column("was", least=14), Column("is", least=14), Column("change", least=None)]
    rows: list[Row] = []
    for each in found.changes:
        cells = [each.name, _side(each.old), _side(each.new), each.change]
        why = brief(each.new.reasons) if each.new is not None and each.new.verdict not in ("placed", "bound") else ""
        rows.append(Row([each.namespace, *cells] if namespaces else cells, why))

    def style(column: int, text: str) -> dict[str, Any]:
        return {"fg": _COLOURS.get(text)} if column == len(columns) - 1 else {}

    summary = found.summary()
    counts = [f"{summary[change]} {_WORDS[change]}" for change in CHANGES if summary[change]]
    total = f"{', '.join(counts) or 'nothing changed'}; {summary['unchanged']} unchanged\n"
    return f"{table(columns, rows, width=width, style=style)}\n{total}" if rows else total


_WORDS: Final[Mapping[str, str]] = {
    "pending": "became pending",
    "moved": "moved",
    "devices": "with other devices",
    "placed": "became placed",
    "new": "new",
    "gone": "gone",
    "other": "changed otherwise",
}


def _side(side: Side | None) -> str:
    if side is None:
        return NOTHING
    if side.verdict not in ("placed", "bound"):
        return side.verdict
    devices = ",".join(device.device for device in side.devices)
    return f"{side.node}: {devices}" if devices else side.node
