"""Delay before the next attempt."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kgsched.errors import InvalidValue


@dataclass(frozen=True, slots=True)
class Backoff:
    """Exponential backoff with full jitter: uniform in [0, min(cap, base * 2^(attempt-1))] milliseconds.

    Source: Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
    """

    base_ms: int = 30_000
    cap_ms: int = 3_600_000

    def __post_init__(self) -> None:
        for name, value in (("base", self.base_ms), ("cap", self.cap_ms)):
            if not math.isfinite(value) or value <= 0:
                raise InvalidValue(f"backoff {name} must be a positive number of milliseconds, not {value!r}")

    def ceiling(self, attempt: int) -> int:
        """Greatest delay after the given attempt (1 is the first), in milliseconds; never overflows."""
        doublings = min(max(attempt - 1, 0), 64)
        return min(self.cap_ms, self.base_ms << doublings)

    def delay(self, attempt: int, jitter: float) -> int:
        """Delay in milliseconds for a `jitter` of 0.0 to 1.0."""
        return round(self.ceiling(attempt) * min(max(jitter, 0.0), 1.0))
