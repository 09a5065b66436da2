"""How many requests a caller may send: a bucket a caller, filled steadily."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

MOST_CALLERS = 10_000


class RateLimit:
    """`rate` requests a second of each caller, bursts of `burst`. A rate of 0 lets all through."""

    def __init__(self, rate: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str) -> float:
        """0 when the request may go on, else after how many seconds there is room."""
        if not self._rate:
            return 0.0
        now = self._clock()
        left, before = self._buckets.pop(caller, (self._burst, now))
        left = min(self._burst, left + (now - before) * self._rate)
        wait = 0.0 if left >= 1 else (1 - left) / self._rate
        self._buckets[caller] = (left if wait else left - 1, now)
        if len(self._buckets) > MOST_CALLERS:
            self._buckets.popitem(last=False)
        return wait
