"""Kinds of devices: alike in all that some expressions can see of them.

A cluster has millions of devices and few kinds, whatever one looks at (except at what names a device). Which kind a device is of
is found out once for all expressions that look at the same parts, and is one byte: the second question about MIG profiles does not
read a single device again.
"""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Final, Protocol

from reparto import cel
from reparto.allocation.byte_table import ByteTable
from reparto.cel.dependencies import Dependency
from reparto.cel.projection import Key, Projection, Soundness
from reparto.model.v1 import Device

MANY: Final = 254
"""There are too many kinds to number: the device has to be looked at itself."""
BROKEN: Final = 255
"""Every expression fails on the device, so it is like no other."""
_LAST: Final = 253


class Numbered(Protocol):
    """A device that answers are kept for: a number for its identity, its driver, and what it publishes.

    Numbers are not negative, and best near each other for devices that are asked about together. One may stand for another device,
    or for the same one with other contents, only after it was forgotten.
    """

    @property
    def number(self) -> int: ...
    @property
    def id(self) -> tuple[str, str, str]: ...
    @property
    def device(self) -> Device: ...


class Soundnesses:
    """Which devices expressions get to see at all, looked at once per device."""

    def __init__(self) -> None:
        self.known = ByteTable()
        self._soundness = Soundness()

    def holds(self, record: Numbered) -> bool:
        """False for a device that every expression fails on."""
        known = self.known[record.number]
        if not known:
            known = self.known[record.number] = 1 if self._soundness.holds(record.device) else 2
        return known == 1


class Kinds:
    """The kind of each device with regard to some parts of it: a number from 1 up, MANY or BROKEN.

    May be shared between threads. Kinds that no device is of any more keep their number: once all are given away, devices of new
    kinds are MANY, which is slower and not wrong.
    """

    __slots__ = ("_making", "_number_of", "_projection", "_sound", "known")

    def __init__(self, dependencies: Sequence[Dependency], sound: Callable[[Numbered], bool]) -> None:
        self._projection = Projection(dependencies)
        self._sound = sound
        self._number_of: dict[Key, int] = {}
        self._making = Lock()
        self.known = ByteTable()

    def key(self, record: Numbered) -> Key:
        """What the device holds in those parts."""
        return self._projection.key_of[record.id[0]](record.device)

    def view(self, record: Numbered) -> cel.Device:
        """The device without any other part."""
        return self._projection.view(record.id[0], record.device)

    def find(self, record: Numbered) -> int:
        """The kind of a device that is not known yet. Cost: its attributes, once for all kinds, and the parts."""
        kind = BROKEN
        if self._sound(record):
            key = self.key(record)
            kind = self._number_of.get(key) or self._numbered(key)
        self.known[record.number] = kind
        return kind

    def _numbered(self, key: Key) -> int:
        if len(self._number_of) == _LAST:
            return MANY
        with self._making:
            if len(self._number_of) == _LAST:
                return self._number_of.get(key, MANY)
            return self._number_of.setdefault(key, len(self._number_of) + 1)

    def of(self, records: Sequence[Numbered], numbers: list[int]) -> bytearray:
        """The kinds of several devices; `numbers` are theirs."""
        kinds = self.known.of(numbers)
        at = kinds.find(0)
        while at >= 0:
            kinds[at] = self.find(records[at])
            at = kinds.find(0, at + 1)
        return kinds
