"""Room on Python's stack for deeply nested expressions.

The reference accepts 250 nested levels, each of which takes several Python frames, and the interpreter's default limit is 1,000
frames for everything. Since Python 3.11 such frames live on the heap, so a higher limit is safe. It is raised only when an
expression needs it, and never lowered: lowering under a running deep call is an error.
"""

from __future__ import annotations

import sys

MAX_NESTING = 250
"""Levels that the reference takes: `expression recursion limit exceeded: 250`."""

FRAMES_PER_LEVEL = 8
"""Python frames that a level of nesting takes, at most, in any of the walks over an expression."""
ALWAYS_FITS = 40
"""Levels that fit into the interpreter's own limit."""
_RESERVE = 400  # frames of the caller (a test runner, a command) that are already there


def ensure_room(frames: int) -> None:
    """Make sure that `frames` more nested calls are possible."""
    needed = frames + _RESERVE
    if sys.getrecursionlimit() < needed:
        sys.setrecursionlimit(needed)
