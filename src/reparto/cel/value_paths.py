"""Where a value comes from, as the estimator of costs follows it: down from a variable, by field, key or position."""

from __future__ import annotations


class ValuePath:
    """Where a value sits within the variables: `device`, `attributes`, `@values`, `model`.

    Works like a Go slice under `append`: where the buffer has room, the new element is written into it, and whoever shares the
    buffer at that length sees it. So `.all(k, v, …)` over a map whose path has three parts gives `k` the path, and thereby the
    size, of `v`.
    """

    __slots__ = ("_buffer", "_length")

    def __init__(self, buffer: list[str], length: int) -> None:
        self._buffer = buffer
        self._length = length

    def append(self, part: str) -> ValuePath:
        buffer, length = self._buffer, self._length
        if length == len(buffer):
            buffer = buffer + [""] * max(length, 1)
        buffer[length] = part
        return ValuePath(buffer, length + 1)

    def with_items(self) -> ValuePath:
        """The path of an element, in memory of its own."""
        return ValuePath([*self.parts(), "@items"], self._length + 1)

    def parts(self) -> list[str]:
        return self._buffer[: self._length]


NO_PATH = ValuePath([], 0)
