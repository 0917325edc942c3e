"""The documentation tells the truth: its commands print what it shows, its Python runs, and what it points to exists."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from reparto.cli.main import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]

FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE_PATH = re.compile(r"`((?:src|tests|docs|examples|reference|scripts|benchmarks)/[\w./-]*)`")


def transcripts() -> list[tuple[str, str, str]]:
    """(page, command, expected output) of every `console` block that shows a `reparto` command without a pipe."""
    found: list[tuple[str, str, str]] = []
    for name in NAMES:
        page = ROOT / name
        if not page.exists():
            continue
        for language, text in FENCED.findall(page.read_text()):
            if language != "console":
                continue
            for part in re.split(r"^(?=\$ )", text, flags=re.MULTILINE):
                command, _, output = part.partition("\n")
                if command.startswith("$ reparto ") and "|" not in command:
                    found.append((name, command.removeprefix("$ reparto "), output))
    return found


@pytest.mark.parametrize(("page", "command", "output"), transcripts())
def test_a_command_prints_what_its_transcript_shows(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, page: str, command: str, output: str
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")  # as scripts/transcripts.py has it, for help
    monkeypatch.setenv("REPARTO_COLUMNS", "100")
    with pytest.raises(SystemExit):
        main(shlex.split(command))
    printed = capsys.readouterr()
    shown = output.strip("\n").splitlines()
    # On a terminal stdout and stderr are one; which lines come first is not promised.
    now = (printed.out + printed.err).strip("\n").splitlines()
    assert sorted(shown) == sorted(now), f"{page}: if the new output is right, run scripts/transcripts.py"


def test_the_readme_shows_both_commands() -> None:
    commands = [command for page, command, _ in transcripts() if page == "README.md"]
    assert any(command.startswith("plan ") for command in commands)
    assert any(command.startswith("validate ") for command in commands)


def test_the_readme_shows_what_the_demo_prints(tmp_path: Path) -> None:
    program = tmp_path / "reparto"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m reparto.cli.main "$@"\n')
    program.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "REPARTO_COLUMNS")}
    environment |= {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "src"), "NO_COLOR": "1"}
    demo = subprocess.run(["sh", "scripts/demo.sh"], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
    (output,) = (
        output for page, command, output in transcripts() if page == "README.md" and command == "plan -f examples/a100-efa"
    )
    assert f"$ reparto plan -f examples/a100-efa\n{output}" in demo.stdout


def test_the_python_examples_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    results = doctest.testfile(str(ROOT / "docs" / "python-api.md"), module_relative=False, optionflags=flags)
    assert results.attempted > 20
    assert results.failed == 0


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("name", NAMES)
def test_links_and_paths_lead_somewhere(name: str) -> None:
    page = ROOT / name
    text = FENCED.sub("", page.read_text())
    broken: list[str] = []
    for target in LINK.findall(text):
        if re.match(r"https?:", target):
            continue
        file, _, anchor = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        if not path.exists() or (anchor and path.suffix == ".md" and anchor not in anchors(path)):
            broken.append(target)
    broken += [path for path in CODE_PATH.findall(text) if not (ROOT / path).exists()]
    assert broken == []


def test_every_page_is_reachable_from_the_readme() -> None:
    reached: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached or page.suffix != ".md":
            continue
        reached.add(page)
        targets = LINK.findall(page.read_text())
        waiting += [
            (page.parent / target.partition("#")[0]).resolve() for target in targets if not target.startswith(("http", "#"))
        ]
    assert set(PAGES) - reached == set()
