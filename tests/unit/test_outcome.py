"""Which write records which outcome."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kgsched.core.backoff import Backoff
from kgsched.core.outcome import (
    MAX_RELEASES,
    MAX_RETRY_AFTER_MS,
    MAX_SNOOZES,
    Cancelled,
    Completed,
    Failed,
    Outcome,
    Released,
    Snoozed,
    decide,
)
from kgsched.core.task import Ack, AckOutcome, Claim, ErrorInfo

BACKOFF = Backoff(1_000, 60_000)
CLAIM = Claim("u", "i", "default", "a", "ingestion", "token", 1, 3, 1, 2, 0, 0, 300_000)
ERROR = ErrorInfo("TestError", "it went wrong")


def ack(outcome: Outcome, claim: Claim = CLAIM, jitter: float = 1.0) -> Ack:
    return decide(claim, outcome, BACKOFF, jitter)


def test_a_completion_carries_its_result() -> None:
    assert ack(Completed('{"n":1}')) == Ack("u", "token", AckOutcome.COMPLETED, '{"n":1}', claims=1)


def test_a_transient_error_is_tried_again_after_the_backoff() -> None:
    first, second = ack(Failed(ERROR)), ack(Failed(ERROR), replace(CLAIM, attempt=2))
    assert (first.outcome, first.delay_ms) == (AckOutcome.RETRY, 1_000)
    assert (second.outcome, second.delay_ms) == (AckOutcome.RETRY, 2_000)
    assert first.error == ERROR


def test_the_wait_that_was_asked_for_replaces_the_backoff_and_is_bounded() -> None:
    assert ack(Failed(ERROR, after_ms=7_000)).delay_ms == 7_000
    assert ack(Failed(ERROR, after_ms=0)).delay_ms == 0
    assert ack(Failed(ERROR, after_ms=10**12)).delay_ms == MAX_RETRY_AFTER_MS


def test_the_last_attempt_ends_in_the_dead_letters() -> None:
    assert ack(Failed(ERROR), replace(CLAIM, attempt=3)).outcome is AckOutcome.DEAD_LETTER


def test_a_permanent_error_ends_the_task_at_once() -> None:
    assert ack(Failed(ERROR, transient=False)).outcome is AckOutcome.FAILED


def test_a_failed_tick_is_not_tried_again() -> None:
    assert ack(Failed(ERROR), replace(CLAIM, schedule="feed")).outcome is AckOutcome.FAILED


def test_a_snooze_waits_and_is_bounded() -> None:
    snoozed = ack(Snoozed(5_000, "too early"))
    assert (snoozed.outcome, snoozed.delay_ms) == (AckOutcome.SNOOZE, 5_000)
    ended = ack(Snoozed(5_000, "too early"), replace(CLAIM, snoozes=MAX_SNOOZES))
    assert ended.outcome is AckOutcome.FAILED
    assert ended.error is not None
    assert "too early" in ended.error.message


def test_a_release_gives_back_and_is_bounded() -> None:
    assert ack(Released("drain")).outcome is AckOutcome.RELEASE
    assert ack(Released("drain"), replace(CLAIM, releases=MAX_RELEASES)).outcome is AckOutcome.RETRY
    last = replace(CLAIM, releases=MAX_RELEASES, attempt=3)
    assert ack(Released("drain"), last).outcome is AckOutcome.DEAD_LETTER


def test_a_released_last_attempt_is_no_failure() -> None:
    assert ack(Released("drain"), replace(CLAIM, attempt=3)).outcome is AckOutcome.RELEASE


def test_a_cancelled_body_ends_as_cancelled() -> None:
    assert ack(Cancelled("pointless")).outcome is AckOutcome.CANCELLED


@pytest.mark.parametrize("outcome", list(AckOutcome))
def test_what_gives_a_task_back_does_not_end_it(outcome: AckOutcome) -> None:
    assert outcome.ends is (outcome.value not in {"retry", "snooze", "release"})
