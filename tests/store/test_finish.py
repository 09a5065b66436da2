"""How claims end: by whom, once, and with what left behind."""

from __future__ import annotations

import asyncio

import pytest

from kgsched.core.states import Status
from kgsched.core.task import Ack, AckAnswer, AckOutcome, ErrorInfo, Verdict
from tests.store.worlds import World, new_task

WON, LATE, REPEATED, REFUSED = Verdict.WON, Verdict.LATE, Verdict.REPEATED, Verdict.REFUSED


async def test_a_completed_task_keeps_its_result_and_loses_its_claim(world: World) -> None:
    await world.enqueue_one(key="k")
    claim = await world.claim_one()
    assert await world.finish(claim, result='{"n":1}') == AckAnswer(WON, Status.COMPLETED)
    kept = await world.task(claim)
    assert (kept["status"], kept["result"], kept["key"]) == ("completed", '{"n":1}', "k")
    assert {"claim_token", "lease_expires_at", "running_lane", "live_key", "ready"}.isdisjoint(kept)
    assert await world.attempts(claim) == [], "a run that completed at the first claim needs no history"
    assert await world.counters() == {"completed": 1}
    assert await world.broken() == []


@pytest.mark.parametrize("outcome", ["failed", "dead_letter", "cancelled"])
async def test_a_bad_end_keeps_the_error_and_the_history(world: World, outcome: str) -> None:
    await world.enqueue_one()
    claim = await world.claim_one()
    error = ErrorInfo("ValueError", "no such page", "Traceback …")
    ack = Ack(claim.uid, claim.token, AckOutcome(outcome), None, error, log=("one", "two"))
    assert (await world.store.tasks.finish([ack])).answers[claim.uid] == AckAnswer(WON, Status(outcome))
    kept = await world.task(claim)
    assert kept["last_error"] == "no such page"
    assert ("failed_at" in kept) is (outcome != "cancelled")
    (attempt,) = await world.attempts(claim)
    assert (attempt["number"], attempt["outcome"], attempt["worker"]) == (1, outcome, "w")
    assert (attempt["kind"], attempt["message"], attempt["traceback"]) == ("ValueError", "no such page", "Traceback …")
    assert attempt["log"] == ["one", "two"]
    assert attempt["started_at"] <= attempt["ended_at"]
    assert await world.counters() == {outcome: 1}
    assert await world.broken() == []


async def test_the_same_finish_twice_counts_once(world: World) -> None:
    await world.enqueue_one()
    claim = await world.claim_one()
    await world.finish(claim, "failed")
    assert await world.finish(claim, "failed") == AckAnswer(REPEATED, Status.FAILED)
    assert await world.counters() == {"failed": 1}
    assert len(await world.attempts(claim)) == 1


async def test_a_repeated_finish_is_recognised_after_a_retry_by_a_person_too(world: World) -> None:
    """The task lives again, so the old holder is a stranger: refused, and nothing changes."""
    await world.enqueue_one()
    claim = await world.claim_one()
    await world.finish(claim, "failed")
    await world.store.tasks.retry(claim.uid, "me")
    assert (await world.finish(claim, "failed")).verdict is REFUSED
    assert await world.status(claim) is Status.PENDING
    assert await world.broken() == []


async def test_a_stale_worker_cannot_finish(world: World) -> None:
    await world.enqueue_one()
    old = await world.claim_one()
    await world.crash(old)
    new = await world.claim_one()
    assert await world.finish(old) == AckAnswer(REFUSED, Status.RUNNING)
    assert (await world.task(new))["late_finishes"] == 1
    assert await world.finish(new) == AckAnswer(WON, Status.COMPLETED)


async def test_a_late_completion_is_accepted_while_nobody_else_has_the_task(world: World) -> None:
    parent = await world.enqueue_one()
    child = await world.enqueue_one(after=[parent])
    claim = await world.claim_one()
    await world.crash(claim)
    assert await world.finish(claim) == AckAnswer(LATE, Status.COMPLETED)
    assert await world.status(child) is Status.PENDING
    assert [(one["outcome"], one.get("late")) for one in await world.attempts(claim)] == [
        ("pending", None),
        ("completed", True),
    ]
    assert await world.broken() == []


@pytest.mark.parametrize("outcome", ["failed", "dead_letter", "cancelled"])
async def test_a_late_bad_end_is_refused(world: World, outcome: str) -> None:
    await world.enqueue_one()
    claim = await world.claim_one()
    await world.crash(claim)
    assert await world.finish(claim, outcome) == AckAnswer(REFUSED, Status.PENDING)
    assert await world.broken() == []


async def test_what_its_own_worker_gave_back_is_not_completed_late(world: World) -> None:
    await world.enqueue_one()
    claim = await world.claim_one()
    await world.finish(claim, "release")
    assert await world.finish(claim) == AckAnswer(REFUSED, Status.PENDING)


async def test_what_a_person_cancelled_is_not_completed_late(world: World) -> None:
    await world.enqueue_one()
    claim = await world.claim_one()
    await world.crash(claim)
    await world.store.tasks.cancel([claim.uid])
    assert await world.finish(claim) == AckAnswer(REFUSED, Status.CANCELLED)


async def test_a_task_that_is_gone_is_answered_as_gone(world: World) -> None:
    await world.enqueue_one()
    claim = await world.claim_one()
    await world.wipe()
    assert await world.finish(claim) == AckAnswer(Verdict.GONE, None)
    assert await world.finish(claim, "release") == AckAnswer(Verdict.GONE, None)


async def test_a_batch_may_hold_every_verdict(world: World) -> None:
    await world.enqueue(*(new_task() for _ in range(4)))
    won, late, repeated, refused = await world.claim(4)
    await world.finish(repeated)
    await world.crash(late)
    acks = [Ack(one.uid, one.token, AckOutcome.COMPLETED) for one in (won, late, repeated)]
    acks.append(Ack(refused.uid, "stolen", AckOutcome.COMPLETED))
    answers = (await world.store.tasks.finish(acks)).answers
    assert [answers[one.uid].verdict for one in (won, late, repeated, refused)] == [WON, LATE, REPEATED, REFUSED]
    assert await world.counters() == {"completed": 3}
    assert await world.broken() == []


async def test_completion_releases_dependents_and_says_how_many(world: World) -> None:
    parent = await world.enqueue_one()
    other = await world.enqueue_one(eta=4_000_000_000_000)
    children = [await world.enqueue_one(after=[parent]) for _ in range(3)]
    waits_on = await world.enqueue_one(after=[parent, other])
    claim = await world.claim_one()
    report = await world.store.tasks.finish([Ack(claim.uid, claim.token, AckOutcome.COMPLETED)])
    assert report.released == 3
    assert await world.statuses(*children, waits_on) == ["pending", "pending", "pending", "blocked"]
    assert (await world.task(waits_on))["deps_left"] == 1
    assert await world.broken() == []


async def test_more_dependents_than_one_statement_takes_are_released_by_the_sweep(world: World) -> None:
    parent = await world.enqueue_one()
    await world.enqueue(*(new_task("b", after=[parent]) for _ in range(1200)))
    claim = await world.claim_one()
    report = await world.store.tasks.finish([Ack(claim.uid, claim.token, AckOutcome.COMPLETED)])
    assert report.released == 500
    assert (await world.store.cluster.pulse()).release_pending is not None
    await world.sweep()
    assert await world.count("MATCH (t:Task {type: 'b', status: 'pending'})") == 1200
    assert (await world.store.cluster.pulse()).release_pending is None
    assert await world.broken() == []


async def test_two_parents_that_complete_at_once_release_their_child_once(world: World) -> None:
    for _ in range(15):
        parents = [new_task(), new_task()]
        child = new_task("b", after=parents)
        await world.enqueue(*parents, child)
        claims = await world.claim(2)
        reports = await asyncio.gather(*(world.finish(claim) for claim in claims))
        assert [one.verdict for one in reports] == [WON, WON]
        await world.sweep()
        assert (await world.run_one()).uid == child.uid
    assert await world.broken() == []


async def test_a_handler_s_own_transaction_commits_writes_and_completion_together(world: World) -> None:
    await world.enqueue_one()
    claim = await world.claim_one()
    ack = Ack(claim.uid, claim.token, AckOutcome.COMPLETED, '{"ok":true}')
    async with world.store.graph.transaction() as tx:
        await tx.run("CREATE (:Article {id: 'x'})")
        answer = (await world.store.tasks.finish([ack], tx=tx)).answers[claim.uid]
        assert answer.verdict is WON
    assert await world.count("MATCH (:Article)") == 1
    assert await world.status(claim) is Status.COMPLETED


async def test_a_handler_s_own_transaction_that_is_rolled_back_leaves_nothing(world: World) -> None:
    await world.enqueue_one()
    claim = await world.claim_one()

    async def fail_after_the_finish() -> None:
        async with world.store.graph.transaction() as tx:
            await tx.run("CREATE (:Article {id: 'x'})")
            await world.store.tasks.finish([Ack(claim.uid, claim.token, AckOutcome.COMPLETED)], tx=tx)
            raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        await fail_after_the_finish()
    assert await world.count("MATCH (:Article)") == 0
    assert await world.status(claim) is Status.RUNNING
    assert await world.broken() == []


async def test_the_outcome_of_a_lost_answer_can_be_read(world: World) -> None:
    await world.enqueue(*(new_task() for _ in range(4)))
    runs, done, reaped, retried = await world.claim(4)
    await world.finish(done)
    await world.finish(retried, AckOutcome.RETRY)
    await world.crash(reaped)
    read = world.store.tasks.read_outcome
    assert await read(runs) == AckAnswer(WON, Status.RUNNING)
    assert await read(done) == AckAnswer(REPEATED, Status.COMPLETED)
    assert await read(reaped) == AckAnswer(REFUSED, Status.PENDING)
    assert (await read(retried)).verdict is REFUSED, "what it wrote was not committed"
    await world.wipe()
    assert await read(runs) == AckAnswer(Verdict.GONE, None)
