"""Runs the benchmarks that are named, or all of them. Exit status 1 when a promise is broken."""

from __future__ import annotations

import argparse
import importlib
import sys

from benchmarks.timing import Row, machine, table

NAMES = (
    "startup",
    "cel_selector",
    "columns",
    "allocation",
    "hard",
    "throughput",
    "loading",
    "fleet_loading",
    "fleet_requests",
    "events",
    "planning",
    "mig_mixes",
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; all when none is given")
    parser.add_argument("--quick", action="store_true", help="a tenth of the size: whether they run, not what they take")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.names if name not in NAMES]
    if unknown:
        parser.error(f"no such benchmark: {', '.join(unknown)}")
    print(machine(), flush=True)
    broken: list[Row] = []
    for name in arguments.names or NAMES:
        rows: list[Row] = importlib.import_module(f"benchmarks.{name}").measure(quick=arguments.quick)
        print(f"\n{name}\n{table(rows)}", flush=True)
        broken += [row for row in rows if row.kept is False]
    return 1 if broken and not arguments.quick else 0


if __name__ == "__main__":
    sys.exit(main())
