"""Names that a cluster would draw at random, derived from what they are for: the same input must give the same plan."""

from collections.abc import Collection
from typing import Final
from zlib import crc32

_LENGTH: Final = 5
_ALPHABET: Final = "bcdfghjklmnpqrstvwxz2456789"  # what the API server draws generated names from


def drawn_name(base: str, seed: str, taken: Collection[str] = ()) -> str:
    """`base` and five characters that follow from `seed`, such that the name is not in `taken`."""
    attempt = 0
    while (name := base + _characters(f"{seed}/{attempt}")) in taken:
        attempt += 1
    return name


def _characters(text: str) -> str:
    number, characters = crc32(text.encode()), ""
    for _ in range(_LENGTH):
        number, digit = divmod(number, len(_ALPHABET))
        characters += _ALPHABET[digit]
    return characters
