"""A list of what happened, for readers that come by now and then: each remembers how far it has read.

Whoever keeps answers needs to know which of them are stale, and must not be told by those who change things: they do not know who
listens. A journal is bounded. A reader that stayed away for too long is told that anything may have happened.
"""

from collections.abc import Sequence
from typing import Final, Generic, TypeVar

KEPT: Final = 16_384
"""Entries that a slow reader can catch up on at least."""

T = TypeVar("T")


class Journal(Generic[T]):
    """Entries in the order in which they were written."""

    __slots__ = ("_dropped", "_entries")

    def __init__(self) -> None:
        self._entries: list[T] = []
        self._dropped = 0

    @property
    def end(self) -> int:
        """The place behind the last entry: where a reader that knows everything goes on."""
        return self._dropped + len(self._entries)

    def write(self, entry: T) -> None:
        """Add an entry. Cost: none that grows; every so often the older half is dropped."""
        self._entries.append(entry)
        if len(self._entries) >= 2 * KEPT:
            del self._entries[:KEPT]
            self._dropped += KEPT

    def since(self, place: int) -> Sequence[T] | None:
        """The entries from `place` on; None if some of them are gone."""
        return None if place < self._dropped else self._entries[place - self._dropped :]
