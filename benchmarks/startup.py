"""What a command costs before it does anything: `--help`, and the plan of one small folder, over an empty Python."""

from __future__ import annotations

import sys
from pathlib import Path

from benchmarks.timing import Row, process

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "a100-efa"
REPARTO = "from reparto.cli.main import main; main()"


def measure(quick: bool = False) -> list[Row]:
    """Milliseconds over `python -c pass`, each the best of several runs."""
    rounds = 3 if quick else 10
    # Installed packages have their bytecode; a checkout has it from the second run on, unless that is turned off.
    bytecode = {"PYTHONDONTWRITEBYTECODE": ""}
    empty, _ = process((sys.executable, "-c", "pass"), rounds, **bytecode)

    def over_empty(*arguments: str | Path) -> float:
        return (process((sys.executable, "-c", REPARTO, *arguments), rounds, **bytecode)[0] - empty) * 1e3

    return [
        Row("python -c pass", empty * 1e3, "ms"),
        Row("reparto --help, more than that", over_empty("--help"), "ms", bound=150),
        Row(
            f"reparto plan -f {EXAMPLE.parent.name}/{EXAMPLE.name}, more than that",
            over_empty("plan", "-f", EXAMPLE),
            "ms",
            bound=400,
        ),
    ]
