"""A progress bar for reading: on stderr, on a terminal only, and only once reading has taken longer than a second.

Silent in pipes and CI, silent for everything quick, so that it never becomes part of what a command says.
"""

import sys
import time
from types import TracebackType

import click

DELAY = 1.0  # seconds before the bar appears (design.md section 3)
EVERY = 0.1  # seconds between redraws
WIDTH = 30


class Progress:
    """`with Progress("reading") as progress:` then `progress(done, total)` in bytes, as often as convenient."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._start = time.monotonic()
        self._drawn = 0.0
        self._visible = False
        self._enabled = sys.stderr.isatty()

    def __call__(self, done: int, total: int) -> None:
        if not self._due():
            return
        share = min(1.0, done / total) if total else 0.0
        bar = "#" * int(share * WIDTH)
        click.echo(f"\r{self._label} [{bar:<{WIDTH}}] {share:4.0%} of {total / 1e6:.0f} MB", nl=False, err=True)

    def count(self, done: int, what: str) -> None:
        """`done` of an unknown total, for example objects that a server is still sending."""
        if self._due():
            click.echo(f"\r{self._label}: {done:,} {what}", nl=False, err=True)

    def _due(self) -> bool:
        """Whether to draw now; who asks then draws."""
        now = time.monotonic()
        if not self._enabled or now - self._start < DELAY or now - self._drawn < EVERY:
            return False
        self._drawn, self._visible = now, True
        return True

    def clear(self) -> None:
        """Wipe the bar, so that what is printed next stands on a clean line."""
        if self._visible:
            click.echo("\r\x1b[K", nl=False, err=True)
            self._visible = False

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.clear()
