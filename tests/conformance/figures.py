"""What the comparisons came to: counted in each test, added up over all processes, printed at the end and written to a file.

    def test_something(figures):
        figures.add("allocation problems", asked=625, differences=0)

Numbers under one subject and one name add up. Nothing here decides whether a test passes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

Counts = dict[str, dict[str, int]]

PROPERTY = "conformance"
"""Under this name figures travel with the reports of tests, from the processes that run them."""


class Figures:
    """The figures of one test."""

    def __init__(self) -> None:
        self.counts: Counts = {}

    def add(self, subject: str, /, **numbers: int) -> None:
        """Count `numbers` for `subject`."""
        self.merge({subject: numbers})

    def merge(self, counts: Counts) -> None:
        """Count all of `counts`."""
        for subject, numbers in counts.items():
            own = self.counts.setdefault(subject, {})
            for name, number in numbers.items():
                own[name] = own.get(name, 0) + number


def of_reports(reports: Iterable[Any]) -> Counts:
    """All figures in the reports of tests that ran."""
    total = Figures()
    for report in reports:
        if getattr(report, "when", "") == "call":
            for name, counts in report.user_properties:
                if name == PROPERTY:
                    total.merge(counts)
    return total.counts


def lines(counts: Counts) -> list[str]:
    """The figures for people: what was asked, then how often each rule decided an answer, the rarest first."""
    rules = {subject: numbers for subject, numbers in counts.items() if "decided" in numbers}
    told = []
    for subject, numbers in sorted(counts.items()):
        if subject not in rules:
            rest = ", ".join(
                f"{number:,} {name}" for name, number in sorted(numbers.items()) if name not in ("asked", "differences")
            )
            told.append(
                f"{subject}: {numbers.get('asked', 0):,} asked, {numbers.get('differences', 0):,} differences"
                + (f" ({rest})" if rest else "")
            )
    if rules:
        told += [
            "",
            "problems that a rule of allocation decided (upstream-dra.md section 3), of those looked at until it was enough:",
        ]
        told += [f"{numbers['decided']:6,} of {numbers['tried']:7,}  {subject}" for subject, numbers in sorted(rules.items())]
    return told


def write(counts: Counts, path: Path, seed: str) -> None:
    """The figures for programs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"seed": seed, "figures": counts}, indent=1, sort_keys=True) + "\n")
