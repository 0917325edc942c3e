"""How long to wait before asking again; clock, sleep and randomness are the test's."""

import asyncio
from datetime import UTC, datetime

from reparto.kube.retries import Backoff

NOW = datetime(2026, 11, 30, 20, 0, tzinfo=UTC)


def backoff(fraction: float = 0.0) -> Backoff:
    return Backoff(first=0.5, longest=10, fraction=lambda: fraction, now=lambda: NOW)


def test_the_wait_doubles_up_to_its_limit():
    assert [backoff().delay(failures) for failures in (1, 2, 3, 4, 5, 6, 7)] == [0.5, 1, 2, 4, 8, 10, 10]


def test_chance_cuts_the_wait_by_up_to_half():
    assert backoff(fraction=1.0).delay(2) == 0.5
    assert backoff(fraction=0.5).delay(2) == 0.75


def test_what_the_server_asks_for_is_the_least_wait_and_nobody_comes_back_at_the_same_moment():
    assert backoff(fraction=0.0).delay(1, retry_after=7) == 7.25
    assert backoff(fraction=1.0).delay(1, retry_after=7) == 7.125


def test_a_server_cannot_make_us_wait_for_ever():
    assert backoff().delay(1, retry_after=86400) == 60


def test_retry_after_is_a_number_or_a_date():
    assert backoff().retry_after("3") == 3
    assert backoff().retry_after("Mon, 30 Nov 2026 20:00:09 GMT") == 9
    assert backoff().retry_after("Mon, 30 Nov 2026 19:00:00 GMT") == 0
    assert backoff().retry_after("soon") is None
    assert backoff().retry_after(None) is None


def test_waiting_sleeps_once():
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    asyncio.run(Backoff(first=0.5, sleep=sleep, fraction=lambda: 0.0).wait(2))
    assert slept == [1.0]
