"""Writes the transcripts of README.md and docs/ anew: what each `$ reparto …` of a `console` block prints today.

Run it after changing what a command prints, and read the difference: tests/scenario/test_docs.py holds the pages to it.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COLUMNS = "100"  # as wide as a page shows without a scroll bar
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def printed(command: str) -> str:
    """What a command line prints on a terminal without colour; stdout and stderr as they come."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "NO_COLOR": "1", "COLUMNS": COLUMNS, "REPARTO_COLUMNS": COLUMNS}
    done = subprocess.run(
        [sys.executable, "-m", "reparto.cli.main", *shlex.split(command)[1:]],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return done.stdout


def renewed(block: re.Match[str]) -> str:
    """The block with the output of its `reparto` commands replaced; commands with a pipe, and others', are left alone."""
    parts: list[str] = []
    for part in re.split(r"^(?=\$ )", block[1], flags=re.MULTILINE):
        command = part.partition("\n")[0]
        ours = command.startswith("$ reparto ") and "|" not in command
        parts.append(f"{command}\n{printed(command[2:])}".rstrip("\n") + "\n" if ours else part)
    return "```console\n" + "\n".join(filter(None, parts)) + "```"


def main() -> None:
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        before = page.read_text()
        after = BLOCK.sub(renewed, before)
        if after != before:
            page.write_text(after)
            print(f"renewed {page.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
