"""Turns to ask arXiv, on a clock of the test's own."""

from __future__ import annotations

import pytest

from kgsched.errors import Retry
from kgsched.research.throttle import Throttle, is_loopback

ARXIV = "https://export.arxiv.org/pdf/2609.00004"


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_turns_are_three_seconds_apart_and_one_at_a_time() -> None:
    clock = Clock()
    throttle = Throttle(3.0, clock)
    assert throttle.take() == 0.0
    clock.now += 3.0
    assert throttle.take() > 0.0, "the first turn is still held"
    throttle.give_back()
    assert throttle.take() == 0.0
    throttle.give_back()
    clock.now += 1.0
    assert throttle.take() == pytest.approx(2.0)


def test_a_pause_that_arxiv_asks_for_is_kept_and_told() -> None:
    clock = Clock()
    throttle = Throttle(3.0, clock)
    throttle.hold_off(ARXIV, 60.0)
    throttle.hold_off(ARXIV, 5.0)
    clock.now += 20.0
    with pytest.raises(Retry) as pause:
        throttle.take()
    assert pause.value.after == pytest.approx(40.0)
    clock.now += 40.0
    assert throttle.take() == 0.0


async def test_loopback_is_not_limited() -> None:
    throttle = Throttle(3.0, Clock())
    throttle.hold_off("http://127.0.0.1:1/rss", 60.0)
    async with throttle.turn("http://127.0.0.1:1/rss"), throttle.turn("http://localhost/"):
        assert throttle.take() == 0.0


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.9.0.1/", True),
        ("http://[::1]:80/", True),
        ("http://localhost/", True),
        (ARXIV, False),
        ("x", False),
    ],
)
def test_loopback_is_told_by_its_host(url: str, expected: bool) -> None:
    assert is_loopback(url) is expected
    assert not is_loopback("http://127.0.0.1.example.org/")
