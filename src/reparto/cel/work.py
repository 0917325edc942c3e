"""Work that the cost model is blind to, counted so that every evaluation ends.

Concatenating lists costs 1 however long they are, comparing nested lists a tenth of the outer length. The reference is lazy about
the first and hangs over the second; here both end. Each thread has a count of its own, of the evaluation that it is at.
"""

from __future__ import annotations

from threading import local
from typing import Final

from reparto.cel.values import BudgetExceeded

WORK_LIMIT: Final = 200_000_000
"""A few seconds of copying or comparing elements."""


class _Work(local):
    """What the current evaluation of a thread has done beyond what it was charged for."""

    done = 0


_work: Final = _Work()


def spend(units: int) -> None:
    """Count work, of which a unit is about one element copied. Raises BudgetExceeded."""
    _work.done += units
    if _work.done > WORK_LIMIT:
        _work.done = 0
        raise BudgetExceeded


def start_work() -> None:
    """A new exact evaluation starts in this thread.

    Generated functions do not start one, so their work adds up; when it passes the limit, the exact evaluation that then decides
    starts anew.
    """
    _work.done = 0
