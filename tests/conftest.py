"""What all tests share: reproducible randomness, the real sample files, and where failing cases go.

Other test code is imported as `from conformance.oracle import allocation` (pyproject puts `tests` on the path).
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import pytest

from conformance import figures

# No test may reach the cluster of whoever runs it; those that read one name it.
os.environ["KUBECONFIG"] = os.devnull

ROOT = Path(__file__).resolve().parents[1]
IN_CI = os.environ.get("CI") == "true"
#: Seed of the random conformance tests; REPARTO_SEED chooses another one.
SEED = os.environ.get("REPARTO_SEED", "1")
FAILURES = ROOT / "build" / "failures"

# In CI the same examples every time: a submission must not fail by chance for what another one wrote.
hypothesis.settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
hypothesis.settings.register_profile("here", deadline=None)
hypothesis.settings.load_profile("ci" if IN_CI else "here")


def pytest_report_header() -> str:
    return f"REPARTO_SEED={SEED} (random conformance tests), failing cases are written to {FAILURES.relative_to(ROOT)}/"


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What the comparisons with Kubernetes came to, if any ran."""
    counts = figures.of_reports(report for reports in terminalreporter.stats.values() for report in reports)
    if counts:
        path = ROOT / "build" / "conformance.json"
        figures.write(counts, path, SEED)
        terminalreporter.section(f"compared with Kubernetes, REPARTO_SEED={SEED}, also in {path.relative_to(ROOT)}")
        for line in figures.lines(counts):
            terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def seed() -> str:
    """The seed of random conformance tests. A test derives its own from it and says in its failure how to repeat it."""
    return SEED


@pytest.fixture(scope="session")
def samples() -> Path:
    """The published files of real clusters that lie beside the checkout, never in it. In CI they must be there."""
    folder = ROOT.parent / "shared" / "data" / "samples"
    if not folder.is_dir():
        if IN_CI:
            pytest.fail(f"the sample files are required in CI: {folder}", pytrace=False)
        pytest.skip("the sample files do not lie beside this checkout")
    return folder


@pytest.fixture
def write_failure(request: pytest.FixtureRequest) -> Callable[[Any], Path]:
    """Writes a failing case as JSON, named after the test, so that it can be repeated without the seed."""
    written = 0

    def write(case: Any) -> Path:
        nonlocal written
        written += 1
        FAILURES.mkdir(parents=True, exist_ok=True)
        name = re.sub(r"[^A-Za-z0-9]+", "-", request.node.name).strip("-")
        path = FAILURES / f"{name}-{written}.json"
        path.write_text(json.dumps(case, indent=2, ensure_ascii=False, default=str) + "\n")
        return path

    return write
