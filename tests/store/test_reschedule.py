"""Claims that are given back: retry, snooze, release."""

from __future__ import annotations

import pytest

from kgsched.core.states import Status
from kgsched.core.task import AckAnswer, Verdict
from tests.store.worlds import World


@pytest.mark.parametrize(("outcome", "attempts"), [("retry", 1), ("snooze", 0), ("release", 0)])
@pytest.mark.parametrize("delay_ms", [0, 60_000])
async def test_a_task_given_back_waits_its_delay(world: World, outcome: str, attempts: int, delay_ms: int) -> None:
    await world.enqueue_one(weight=3)
    claim = await world.claim_one()
    expected = Status.SCHEDULED if delay_ms else Status.PENDING
    assert await world.finish(claim, outcome, delay_ms=delay_ms) == AckAnswer(Verdict.WON, expected)
    kept, now = await world.task(claim), await world.now()
    assert kept["attempts"] == attempts
    assert kept["claims"] == 1
    assert (kept.get("releases", 0), kept.get("snoozes", 0)) == (int(outcome == "release"), int(outcome == "snooze"))
    assert kept["rank"] == claim.rank, "it keeps its place"
    if delay_ms:
        assert now < kept["due_at"] <= now + delay_ms
    assert [(one["number"], one["outcome"]) for one in await world.attempts(claim)] == [(1, outcome)]
    assert await world.counters() == {}
    assert await world.broken() == []


async def test_the_next_claim_is_another_attempt_of_the_same_task(world: World) -> None:
    await world.enqueue_one()
    first = await world.claim_one()
    await world.finish(first, "retry")
    second = await world.claim_one()
    assert (second.uid, second.attempt, second.claims) == (first.uid, 2, 2)
    assert await world.finish(first, "retry") == AckAnswer(Verdict.REPEATED, Status.RUNNING)
    assert (await world.finish(first, "release")).verdict is Verdict.REFUSED
    await world.finish(second, "snooze")
    third = await world.claim_one()
    assert (third.attempt, third.claims, third.snoozes) == (2, 3, 1)


async def test_the_same_report_twice_counts_once(world: World) -> None:
    await world.enqueue_one()
    claim = await world.claim_one()
    await world.finish(claim, "release")
    assert await world.finish(claim, "release") == AckAnswer(Verdict.REPEATED, Status.PENDING)
    assert (await world.task(claim))["releases"] == 1


@pytest.mark.parametrize("outcome", ["retry", "snooze", "release"])
async def test_a_cancel_that_was_asked_for_ends_it(world: World, outcome: str) -> None:
    parent = await world.enqueue_one()
    child = await world.enqueue_one(after=[parent])
    claim = await world.claim_one()
    await world.store.tasks.cancel([parent.uid])
    assert await world.finish(claim, outcome) == AckAnswer(Verdict.WON, Status.CANCELLED)
    await world.sweep()
    assert await world.status(child) is Status.CANCELLED
    assert await world.counters() == {"cancelled": 2}
    assert await world.broken() == []


async def test_a_reaped_claim_cannot_be_given_back(world: World) -> None:
    await world.enqueue_one()
    claim = await world.claim_one()
    await world.crash(claim)
    assert await world.finish(claim, "release") == AckAnswer(Verdict.REFUSED, Status.PENDING)
    assert await world.broken() == []
