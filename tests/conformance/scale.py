"""How many problems the random tests ask.

Each test has its own number for CI. `REPARTO_SCALE=10` means ten times as many of everything; `make conformance` sets it.
`REPARTO_PROBLEMS=n` means n problems of each random test that runs, whatever the scale: for one test, chosen with `-k`.
"""

from __future__ import annotations

import os

SCALE = float(os.environ.get("REPARTO_SCALE") or 1)


def amount(in_ci: int) -> int:
    """How many problems to ask where CI asks `in_ci`."""
    return int(os.environ.get("REPARTO_PROBLEMS") or max(1, round(in_ci * SCALE)))


def parts(problems: int, size: int) -> list[range]:
    """The numbers of the problems, in parts that several processes can share; a failure in one does not hide the rest."""
    return [range(start, min(start + size, problems)) for start in range(0, problems, size)]


def part_name(numbers: range) -> str:
    """What a part is called in the name of its test."""
    return f"{numbers.start}-{numbers.stop - 1}"
