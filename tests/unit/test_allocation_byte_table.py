"""One byte per number, in pages that come and go."""

from __future__ import annotations

from random import Random

import pytest

from reparto.allocation.byte_table import ByteTable, runs_of


def table(bytes_: dict[int, int]) -> ByteTable:
    made = ByteTable()
    for number, byte in bytes_.items():
        made[number] = byte
    return made


def test_a_number_that_was_never_set_has_0() -> None:
    held = table({5: 7})
    assert [held[number] for number in (0, 5, 6, 5 + 4096, 10**12)] == [0, 7, 0, 0, 0]


@pytest.mark.parametrize(
    "numbers",
    [[], [5], [4, 5, 6], [6, 5, 4], [5, 5], [4095, 4096], list(range(4090, 4100)), [10**9, 5], [8000, 8001]],
    ids=str,
)
def test_several_at_once_are_as_one_by_one(numbers: list[int]) -> None:
    held = table({4: 1, 5: 2, 4095: 3, 4096: 4, 4097: 5})
    assert list(held.of(numbers)) == [held[number] for number in numbers]


def test_what_was_read_does_not_change_later() -> None:
    held = table({4: 1, 5: 2})
    read = held.of([4, 5])
    held[4] = 9
    assert list(read) == [1, 2]


def test_cleared_numbers_have_0_and_others_keep_theirs() -> None:
    random = Random(1)
    numbers = random.sample(range(20_000), 3000)
    held = table({number: 1 + number % 255 for number in numbers})
    gone = {number for number in numbers if random.random() < 0.5} | {50_000, 50_001}
    held.clear(runs_of(gone))
    assert all(held[number] == (0 if number in gone else 1 + number % 255) for number in numbers)


def test_an_empty_page_is_given_back() -> None:
    held = table(dict.fromkeys(range(3 * 4096), 1))
    assert held.size == 3 * 4096
    held.clear([(4096, 2 * 4096)])
    assert held.size == 2 * 4096
    held.clear([(0, 3 * 4096)])
    assert held.size == 0


def test_runs_are_what_follows_on_each_other() -> None:
    assert runs_of([]) == []
    assert runs_of([3, 1, 2, 7, 8, 2, 10]) == [(1, 4), (7, 9), (10, 11)]
