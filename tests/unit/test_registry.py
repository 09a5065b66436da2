"""What a task type may be declared as: nonsense is refused there, and names type and setting."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from kgsched import Kgsched
from kgsched.errors import InvalidValue
from kgsched.registry import TaskType, millis

ODD: list[tuple[str, Any]] = [
    ("max_share", "half"),
    ("max_share", float("nan")),
    ("max_share", 0),
    ("max_share", -1),
    ("max_share", 2),
    ("memory_mb", -5),
    ("memory_mb", 0),
    ("memory_mb", "x"),
    ("max_attempts", 2.5),
    ("max_attempts", True),
    ("max_attempts", 0),
    ("max_attempts", 10_000),
    ("permanent", "ValueError"),
    ("permanent", [ValueError, 5]),
    ("transient", int),
    ("rate", 5),
    ("rate", (5,)),
    ("backoff", 30),
    ("concurrency", 0),
]
NO_DURATION = [0, -1, 0.0001, float("inf"), float("nan"), 10**16, "5m", True, timedelta(0), timedelta(days=400)]


def handler(ctx: object) -> None: ...


@pytest.mark.parametrize(("name", "value"), ODD)
def test_an_odd_setting_is_refused_and_named(name: str, value: Any) -> None:
    app = Kgsched()
    with pytest.raises(InvalidValue) as caught:
        app.task(handler, executor="thread", **{name: value})
    assert name in str(caught.value) or name == "concurrency"
    assert app.registry.names() == () or "handler" not in app.registry.names()


@pytest.mark.parametrize("name", ["timeout", "deadline", "lease", "grace", "beat"])
@pytest.mark.parametrize("value", NO_DURATION, ids=str)
def test_what_is_no_duration_is_refused(name: str, value: Any) -> None:
    with pytest.raises(InvalidValue, match="1 ms to 366 days"):
        Kgsched().task(handler, **{name: value})


def test_durations_are_seconds_or_timedeltas() -> None:
    assert [millis(one) for one in (None, 1, 0.001, timedelta(minutes=2))] == [None, 1_000, 1, 120_000]
    one = TaskType("plain", handler, max_attempts=1000, memory_mb=16, max_share=0.5, permanent=(KeyError,))
    assert (one.max_attempts, one.memory_mb, one.max_share, one.permanent) == (1000, 16, 0.5, (KeyError,))
