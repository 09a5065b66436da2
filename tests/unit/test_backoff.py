"""Delays before the next attempt."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgsched.core.backoff import Backoff
from kgsched.errors import InvalidValue

SECOND, HOUR = 1_000, 3_600_000


def test_ceiling_doubles_up_to_the_cap() -> None:
    backoff = Backoff(SECOND, HOUR)
    assert [backoff.ceiling(attempt) for attempt in (1, 2, 3, 11, 12, 13)] == [
        1_000,
        2_000,
        4_000,
        1_024_000,
        2_048_000,
        HOUR,
    ]


@pytest.mark.parametrize("attempt", [13, 47, 64, 1024, 10**6])
def test_a_late_attempt_waits_for_the_cap_and_never_overflows(attempt: int) -> None:
    """RT01: no power of two is computed that a float or a time cannot hold."""
    assert Backoff(SECOND, HOUR).ceiling(attempt) == HOUR


@given(st.integers(-5, 10**9), st.floats(allow_nan=False))
def test_a_delay_lies_between_zero_and_its_ceiling(attempt: int, jitter: float) -> None:
    backoff = Backoff(SECOND, HOUR)
    assert 0 <= backoff.delay(attempt, jitter) <= backoff.ceiling(attempt) <= HOUR


def test_jitter_spreads_over_the_whole_range() -> None:
    backoff = Backoff(SECOND, HOUR)
    assert [backoff.delay(3, jitter) for jitter in (0.0, 0.5, 1.0)] == [0, 2_000, 4_000]


@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf])
def test_a_base_or_cap_that_is_no_time_is_refused(value: float) -> None:
    with pytest.raises(InvalidValue, match="base"):
        Backoff(value, HOUR)  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="cap"):
        Backoff(SECOND, value)  # type: ignore[arg-type]
