"""Tables that fit where they are read: aligned like kubectl's, never wider than the terminal, never cut in a pipe.

A terminal that wraps a table line makes the table unreadable, so on one the widest columns give way and long cells lose their
middle: the ends of a Kubernetes name tell more than its centre. In a pipe nothing is cut, so that `grep` and `awk` see everything;
REPARTO_COLUMNS lays tables out for that width anyway, for logs and documentation that people read.
"""

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final, Literal, TextIO

import click
import msgspec

from reparto.cli.output import coloured, printable

GAP: Final = "   "  # between columns; kubectl's width
INDENT: Final = "    "  # of lines that continue a row
_LEAST_WIDTH: Final = 40  # narrower terminals get lines of this width: below it, nothing is readable anyway
_LEAST_COLUMN: Final = 5  # `ab…yz` can still be told from others
_ELLIPSIS: Final = "…"

Style = Callable[[int, str], dict[str, Any]]


class Column(msgspec.Struct, frozen=True):
    """One column: numbers are aligned to the right; `least` is how narrow it may become (None: it is never cut).

    `spare` is for cells that end in something that is only nice to know: they give way before others do, from their end.
    """

    title: str
    align: Literal["left", "right"] = "left"
    least: int | None = 10
    spare: bool = False


class Row(msgspec.Struct, frozen=True):
    """The cells of a line, and a `tail` that follows the last cell where it fits, else goes below, wrapped and indented."""

    cells: Sequence[str]
    tail: str = ""


def line_width(stream: TextIO | None = None) -> int | None:
    """How wide a line on `stream` (default stdout) may be, in cells; None: as wide as it likes, since nobody looks directly."""
    target: TextIO = stream or sys.stdout
    wished = os.environ.get("REPARTO_COLUMNS", "")
    if wished.isdecimal() and int(wished) > 0:
        return max(int(wished), _LEAST_WIDTH)
    if not target.isatty():
        return None
    return max(shutil.get_terminal_size().columns, _LEAST_WIDTH)


def table(columns: Sequence[Column], rows: Sequence[Row], *, width: int | None, style: Style | None = None) -> str:
    """The rows under their titles, each line at most `width` cells wide (None: any), ending in a newline.

    `style(column, text)` gives the click style of a cell, used on a coloured terminal only. Control characters become spaces.
    """
    cells = [[_one_line(cell) for cell in row.cells] for row in rows]
    widths = [
        max([text_width(line[index]) for line in cells] + [len(column.title)], default=0) for index, column in enumerate(columns)
    ]
    if width is not None:
        widths = _narrowed(columns, widths, width)
    look = style if coloured() else None
    lines = [_line(columns, widths, [column.title.upper() for column in columns], None)]
    for row, texts in zip(rows, cells, strict=True):
        line = _line(columns, widths, texts, look)
        tail = _one_line(row.tail)
        if not tail:
            lines.append(line)
        elif width is None or _plain_width(columns, widths, texts) + 1 + text_width(tail) <= width:
            lines.append(f"{line} {tail}")
        else:
            lines += [line, *wrapped(tail, width, INDENT)]
    return "\n".join(lines) + "\n"


def wrapped(text: str, width: int | None, indent: str = "", hanging: str | None = None) -> list[str]:
    """`text` in lines of at most `width` cells, broken at spaces; words longer than a line are broken anywhere.

    The first line begins with `indent`, the others with `hanging` (default: the same).
    """
    words = _one_line(text).split(" ")
    lead, lines, line = indent, list[str](), ""
    for word in words:
        candidate = f"{line} {word}" if line else word
        if width is None or text_width(lead) + text_width(candidate) <= width:
            line = candidate
            continue
        if line:
            lines.append(lead + line)
            lead = indent if hanging is None else hanging
        line = word
        while text_width(lead) + text_width(line) > width:
            head = _taken(line, width - text_width(lead))
            lines.append(lead + head)
            line, lead = line[len(head) :], indent if hanging is None else hanging
    return [*lines, lead + line]


def cut(text: str, width: int, *, end: bool = False) -> str:
    """`text` in at most `width` cells: where it is longer, its middle becomes an ellipsis, or with `end` its end."""
    if text_width(text) <= width:
        return text
    if width < 3:
        return _taken(text, width)
    room = width - 1
    if end:
        return _taken(text, room) + _ELLIPSIS
    last = room // 2
    return _taken(text, room - last) + _ELLIPSIS + _taken(text[::-1], last)[::-1]


def text_width(text: str) -> int:
    """How many terminal cells `text` takes."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def _taken(text: str, width: int) -> str:
    """The longest beginning of `text` that takes at most `width` cells; at least one character."""
    if text.isascii():
        return text[: max(width, 1)]
    length = 1
    while length < len(text) and text_width(text[: length + 1]) <= width:
        length += 1
    return text[:length]


def _narrowed(columns: Sequence[Column], widths: Sequence[int], width: int) -> list[int]:
    """Column widths that add up to `width`, if that can be: what is spare gives first, then the widest columns."""
    found = list(widths)
    excess = sum(found) + len(GAP) * (len(found) - 1) - width
    wished = [column.least for column in columns]
    # What is spare gives first; where the wished-for widths are too much, everything gives.
    for least in (
        [column.least if column.spare else None for column in columns],
        wished,
        [None if floor is None else _LEAST_COLUMN for floor in wished],
    ):
        while excess > 0:
            able = [index for index, limit in enumerate(least) if limit is not None and found[index] > limit]
            if not able:
                break
            found[max(able, key=lambda index: found[index])] -= 1
            excess -= 1
    return found


def _line(columns: Sequence[Column], widths: Sequence[int], cells: Sequence[str], style: Style | None) -> str:
    parts: list[str] = []
    for index, (column, room, cell) in enumerate(zip(columns, widths, cells, strict=True)):
        taken = text_width(cell)
        text = cell
        if taken > room and column.least is not None:
            text = cut(cell, room, end=column.spare)
            taken = text_width(text)
        padding = " " * (room - taken)
        look = style(index, cell) if style and cell else {}
        shown = click.style(text, **look) if look else text
        last = index == len(columns) - 1
        parts.append(padding + shown if column.align == "right" else shown if last else shown + padding)
    return GAP.join(parts).rstrip()


def _plain_width(columns: Sequence[Column], widths: Sequence[int], cells: Sequence[str]) -> int:
    last = text_width(cells[-1])
    room = widths[-1] if columns[-1].align == "right" else min(last, widths[-1]) if columns[-1].least is not None else last
    return sum(widths[:-1]) + len(GAP) * (len(columns) - 1) + room


def _one_line(text: str) -> str:
    """Without control characters, line breaks and doubled spaces; most text has none, and tables have many cells."""
    if text.isprintable() and "  " not in text and text.strip(" ") == text:
        return text
    return " ".join(printable(text).split())
