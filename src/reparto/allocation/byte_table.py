"""One byte per device number: what is remembered of a million devices under dozens of selectors has to be small.

Numbers are handed out once and never again, so a long-lived scheduler ends with large numbers and holes. The bytes lie in pages,
and a page on which nothing is remembered is given back.
"""

from collections.abc import Iterable
from typing import Final

BITS: Final = 12  # 4,096 devices a page: some tens of nodes
_PAGE: Final = 1 << BITS
WITHIN: Final = _PAGE - 1


class ByteTable:
    """Bytes by number, 0 where none was set. Readers and writers need no lock among themselves; `clear` needs to be alone.

    `pages` is for those who ask so often that a call is too much: the byte of `number` is at `number & WITHIN` of the page
    `number >> BITS`, if there is one.
    """

    __slots__ = ("pages",)

    def __init__(self) -> None:
        self.pages: dict[int, bytearray] = {}

    def __getitem__(self, number: int) -> int:
        page = self.pages.get(number >> BITS)
        return 0 if page is None else page[number & WITHIN]

    def __setitem__(self, number: int, byte: int) -> None:
        # Of two threads that start the same page, one page wins, whole.
        page = self.pages.get(number >> BITS) or self.pages.setdefault(number >> BITS, bytearray(_PAGE))
        page[number & WITHIN] = byte

    def of(self, numbers: list[int]) -> bytearray:
        """The bytes of several numbers, in their order."""
        if not numbers:
            return bytearray()
        within = _within_a_page(numbers)
        if within is None:
            return bytearray(map(self.__getitem__, numbers))
        page = self.pages.get(numbers[0] >> BITS)
        if page is None:
            return bytearray(len(numbers))
        return page[within] if isinstance(within, slice) else bytearray([page[number & WITHIN] for number in numbers])

    def put(self, numbers: list[int], values: bytearray) -> None:
        """Set the bytes of several numbers."""
        within = _within_a_page(numbers) if numbers else None
        if isinstance(within, slice):
            self[numbers[0]] = values[0]  # so that there is a page
            self.pages[numbers[0] >> BITS][within] = values
            return
        for number, byte in zip(numbers, values, strict=True):
            self[number] = byte

    def clear(self, runs: Iterable[tuple[int, int]]) -> None:
        """Set the bytes of these half-open ranges of numbers to 0, and give back pages that are all 0."""
        for start, stop in runs:
            while start < stop:
                place, within = start >> BITS, start & WITHIN
                length = min(stop - start, _PAGE - within)
                page = self.pages.get(place)
                if page is not None:
                    page[within : within + length] = bytes(length)
                    if page.count(0) == _PAGE:
                        del self.pages[place]
                start += length

    @property
    def size(self) -> int:
        """Bytes in use."""
        return len(self.pages) * _PAGE


def _within_a_page(numbers: list[int]) -> slice | bool | None:
    """Where they lie in a page: a stretch of it if they follow on each other, as those of a ResourceSlice do; else True.

    None if they lie on several pages.
    """
    first, last, count = numbers[0], numbers[-1], len(numbers)
    place = first >> BITS
    if last - first == count - 1 and last >> BITS == place and numbers == list(range(first, last + 1)):
        return slice(first & WITHIN, (first & WITHIN) + count)
    return True if min(numbers) >> BITS == place == max(numbers) >> BITS else None


def runs_of(numbers: Iterable[int]) -> list[tuple[int, int]]:
    """Numbers as half-open ranges, in order."""
    runs: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if runs and number <= runs[-1][1]:
            runs[-1] = (runs[-1][0], max(runs[-1][1], number + 1))
        else:
            runs.append((number, number + 1))
    return runs
