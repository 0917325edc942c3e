"""`reparto plan` on a real (pseudo) terminal: as wide as the terminal, coloured unless NO_COLOR says otherwise."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COLOUR = re.compile(r"\x1b\[[0-9;]*m")
PENDING = str(ROOT / "examples" / "a100-efa")


def on_a_terminal(*arguments: str, columns: int = 80, **variables: str) -> str:
    """What the terminal received."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key not in ("COLUMNS", "REPARTO_COLUMNS", "NO_COLOR")}
    environment |= {"PYTHONPATH": str(ROOT / "src"), "TERM": "xterm", **variables}
    command = [sys.executable, "-m", "reparto.cli.main", *arguments]
    with subprocess.Popen(command, stdin=slave, stdout=slave, stderr=slave, env=environment) as process:
        os.close(slave)
        received = b""
        while True:
            try:
                part = os.read(master, 65536)
            except OSError:  # Linux's way to say that the other side is closed
                break
            if not part:
                break
            received += part
        process.wait(60)
    os.close(master)
    return received.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("columns", [80, 132])
@pytest.mark.parametrize(
    "options",
    [(), ("-o", "wide"), ("--reasons",), ("--summary",), ("--show", "devices"), ("--show", "nodes"), ("--show", "claims")],
)
def test_no_line_is_wider_than_the_terminal(options: tuple[str, ...], columns: int):
    lines = COLOUR.sub("", on_a_terminal("plan", "-f", PENDING, *options, columns=columns)).splitlines()
    assert len(lines) > 3
    assert max(map(len, lines)) <= columns


def test_verdicts_are_coloured_on_a_terminal():
    text = on_a_terminal("plan", "-f", PENDING)
    assert "\x1b[32mplaced\x1b[0m" in text
    assert "\x1b[31mpending\x1b[0m" in text


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colour_can_be_turned_off(variables: dict[str, str]):
    assert "\x1b" not in on_a_terminal("plan", "-f", PENDING, **variables)


def test_json_is_neither_coloured_nor_cut_on_a_terminal():
    text = on_a_terminal("plan", "-f", PENDING, "-o", "json")
    assert "\x1b" not in text and "…" not in text
