"""Loading a data centre: 5,000 nodes × 8 GPUs × 26 devices with counters, from one List of compact JSON, validation included.

What is measured is `reparto.model.load` in a process of its own, the way every command reads its input: objects come out typed,
defaulted, validated and ready for the allocator, and all of them are held at the end.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import fleets
from benchmarks.timing import Row, process

GIB = 2**30

LOAD = "import sys; from reparto import model; objects = model.load(*sys.argv[1:])"
# Resident memory before and after, when the text is gone; Linux says it in pages.
HELD = """
import gc, os, sys
from pathlib import Path
from reparto import model
def resident():
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
model.load(sys.argv[1])
before = resident()
objects = model.load(sys.argv[2])
print(resident() - before)
"""


def measure(quick: bool = False) -> list[Row]:
    """Wall seconds and peak memory of loading, its speed, and what a device takes in memory."""
    nodes, rounds = (100, 1) if quick else (5000, 2)
    devices = nodes * fleets.GPUS * fleets.DEVICES
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fleet.json"
        with path.open("wb") as file:
            fleets.write(file, nodes)
        small = Path(folder) / "small.json"
        with small.open("wb") as file:
            fleets.write(file, 1)
        size = path.stat().st_size
        seconds, peak = process((sys.executable, "-c", LOAD, path), rounds)
        what = f"load {devices:,} devices, {nodes:,} nodes, {size / 1e6:,.0f} MB of JSON"
        rows = [
            Row(what, seconds, "s", bound=25),
            Row("its peak memory", peak / GIB, "GiB", bound=4),
            Row("devices a second", devices / seconds, "/s"),
        ]
        if sys.platform == "linux":
            held = subprocess.run([sys.executable, "-c", HELD, small, path], stdout=subprocess.PIPE, text=True, check=True)
            rows.append(Row("what a loaded device takes", int(held.stdout) / devices, "bytes"))
    return rows
