"""Answers for all nodes at once: one byte a node, 1 for yes.

A cluster is a few kilobytes then, which Python combines, counts and searches at the speed of memory; a loop over nodes would cost a
hundred times as much, for every pod.
"""

from collections.abc import Iterator, Sequence
from itertools import compress

Lanes = bytes | bytearray


def all_of(lanes: Sequence[Lanes]) -> Lanes:
    """Yes where all say yes; `lanes` are at least one, and of one length."""
    if len(lanes) == 1:
        return lanes[0]
    answer = int.from_bytes(lanes[0], "little")
    for each in lanes[1:]:
        answer &= int.from_bytes(each, "little")
    return answer.to_bytes(len(lanes[0]), "little")


def rotated(lanes: Lanes, start: int) -> bytearray:
    """The same answers, beginning with that for position `start`; a copy."""
    return bytearray(lanes[start:] + lanes[:start])


def positions(lanes: Lanes) -> Iterator[int]:
    """Where the answer is yes, in order."""
    return compress(range(len(lanes)), lanes)
