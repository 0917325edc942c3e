"""Programs and their evaluations may be used from several threads at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from reparto import cel
from reparto.cel.values import BudgetExceeded
from reparto.cel.work import WORK_LIMIT, spend, start_work


def elsewhere(call: Callable[[], None]) -> None:
    """Call in a thread of its own, and raise what it raises."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(call).result()


def test_each_thread_counts_its_own_work() -> None:
    start_work()
    spend(WORK_LIMIT)
    elsewhere(lambda: spend(WORK_LIMIT))
    elsewhere(start_work)
    with pytest.raises(BudgetExceeded):
        spend(1)


def test_threads_that_share_a_program_and_a_device_agree() -> None:
    text = 'device.attributes["a"].x == 1 && [3, 1, 2].map(n, n + device.attributes["a"].x).sum() == 9'
    devices = [cel.Device("a", {"x": {"int": number % 2}}) for number in range(200)]
    together = Barrier(8)

    def judge() -> list[bool]:
        together.wait()
        program = cel.compile(
            text, cel.Options(cost_limit=123_456)
        )  # not in the cache before: all compile, all swap in the fast form
        return [program.matches(device) and program.evaluate(device).value is True for device in devices]

    with ThreadPoolExecutor(8) as pool:
        answers = [task.result() for task in [pool.submit(judge) for _ in range(8)]]
    assert answers == [[number % 2 == 1 for number in range(200)]] * 8
