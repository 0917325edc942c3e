"""Measuring, and a table of what was measured."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """One thing that was measured, in `unit`; `bound` is the most (or with `at_least` the least) that we promise.

    `times` is how many times the reference's figure ours must be, where that is the promise. `unfinished` says that the reference
    was stopped: it takes longer than `theirs`.
    """

    what: str
    ours: float
    unit: str
    theirs: float | None = None
    bound: float | None = None
    at_least: bool = False
    times: float | None = None
    unfinished: bool = False

    @property
    def kept(self) -> bool | None:
        """Whether the promise holds; None where there is none."""
        if self.times is not None and self.theirs:
            return self.ours >= self.times * self.theirs
        if self.bound is None:
            return None
        return self.ours >= self.bound if self.at_least else self.ours <= self.bound

    @property
    def promise(self) -> str:
        """What is promised, in words; empty where nothing is."""
        if self.times is not None:
            return f"≥ {figure(self.times)} ×"
        return "" if self.bound is None else f"{'≥' if self.at_least else '≤'} {figure(self.bound)} {self.unit}"


def best_of(rounds: int, call: Callable[[], object]) -> float:
    """Seconds of the fastest of several calls."""
    best = float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def per_call(call: Callable[[], object], seconds: float = 0.5) -> float:
    """Seconds of one call of something short: the best round of many calls, in about so many seconds."""

    def calls(count: int) -> float:
        start = time.perf_counter()
        for _ in range(count):
            call()
        return time.perf_counter() - start

    count = 1
    while calls(count) < seconds / 20:
        count *= 2
    return min(calls(count) for _ in range(10)) / count


# Runs a command and says what it took. A program of its own, and a small one: the peak that Linux counts for a child begins with
# the memory of whoever started it, and a benchmark may hold a million devices.
_WATCH = """
import os, subprocess, sys, time
start = time.perf_counter()
child = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(child.pid, 0)
print(time.perf_counter() - start, usage.ru_maxrss, os.waitstatus_to_exitcode(status))
"""


def process(command: Sequence[str | Path], rounds: int = 1, **environment: str) -> tuple[float, int]:
    """Wall seconds (the best of several runs) and peak resident bytes of a command that must not fail for want of input."""
    best, peak = float("inf"), 0
    for _ in range(rounds):
        watched = subprocess.run(
            [sys.executable, "-S", "-c", _WATCH, *(str(word) for word in command)],
            capture_output=True,
            text=True,
            check=True,
            env=os.environ | environment,
        )
        seconds, resident, code = watched.stdout.split()
        if code not in ("0", "1"):
            raise RuntimeError(f"{command}: exit status {code}: {watched.stderr[-500:]}")
        best = min(best, float(seconds))
        # Linux counts KiB, macOS bytes.
        peak = max(peak, int(resident) * (1 if sys.platform == "darwin" else 1024))
    return best, peak


def machine() -> str:
    """What it was measured on, in one line."""
    model = platform.processor() or platform.machine()
    description = Path("/proc/cpuinfo")
    if description.exists():
        names = [line.partition(":")[2].strip() for line in description.read_text().splitlines() if line.startswith("model name")]
        model = names[0] if names else model
    return f"{model}, {os.cpu_count()} CPUs, {platform.system()}, {platform.python_implementation()} {platform.python_version()}"


def figure(value: float) -> str:
    """Three significant digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def table(rows: Sequence[Row]) -> str:
    """The rows for people, columns aligned."""
    cells = [("what", "reparto", "reference", "ratio", "promise")]
    for row in rows:
        theirs = f"{'> ' * row.unfinished}{figure(row.theirs)} {row.unit}" if row.theirs is not None else ""
        ratio = f"{'< ' * row.unfinished}{figure(row.ours / row.theirs)} ×" if row.theirs else ""
        promise = f"{row.promise}{'  BROKEN' if row.kept is False else ''}"
        cells.append((row.what, f"{figure(row.ours)} {row.unit}", theirs, ratio, promise))
    widths = [max(len(line[column]) for line in cells) for column in range(5)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells)
    return "\n".join(lines)
