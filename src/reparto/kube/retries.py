"""When to ask again, and how long to wait before: back-off with jitter, bounded by attempts, the server's Retry-After honoured.

Clock and randomness are injected, so that tests neither sleep nor guess.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

# Too many requests; what a server, or the load balancer before it, answers while it starts, stops or is swamped.
RETRIED = frozenset((429, 500, 502, 503, 504))


class Backoff:
    """`attempts` tries in all; waits of `first` seconds, doubled each time up to `longest`, each cut at random by up to half."""

    def __init__(
        self,
        *,
        attempts: int = 6,
        first: float = 0.5,
        longest: float = 10.0,
        patience: float = 60.0,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        fraction: Callable[[], float] = random.random,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.attempts = attempts
        self._first, self._longest, self._patience = first, longest, patience
        self._sleep, self._fraction, self._now = sleep, fraction, now

    async def wait(self, failures: int, retry_after: float | None = None) -> None:
        """Wait after the `failures`-th failure (from 1). `retry_after` is what the server asked for, in seconds."""
        await self._sleep(self.delay(failures, retry_after))

    def delay(self, failures: int, retry_after: float | None = None) -> float:
        own = min(self._longest, self._first * 2 ** (failures - 1))
        own *= 1 - self._fraction() / 2
        # Everybody that was turned away was told the same time: come a little later, not all at once.
        return own if retry_after is None else min(self._patience, retry_after + own / 2)

    def retry_after(self, header: str | None) -> float | None:
        """Seconds from now that a Retry-After header means (a number, or a date); None where it means nothing."""
        if not header:
            return None
        if header.strip().isdigit():
            return float(header)
        try:
            moment = parsedate_to_datetime(header)
        except ValueError:
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return max(0.0, (moment - self._now()).total_seconds())
