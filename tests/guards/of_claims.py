"""Guards of those who hold a claim, or held it once."""

from __future__ import annotations

from dataclasses import replace

from kgsched.core.claiming import TypeRule
from kgsched.core.task import Ack, AckOutcome, Claim, Verdict
from tests.guards.guard import Guard
from tests.store.worlds import World
from tests.store.worlds.making import LANE

LONG = 3_600_000


async def _taken_over(world: World, max_attempts: int = 3) -> tuple[Claim, Claim]:
    """One task that was claimed, reaped and claimed by another: the old claim and the new one."""
    await world.enqueue_one(max_attempts=max_attempts)
    old = await world.claim_one()
    await world.crash(old)
    return old, await world.claim_one()


async def a_stale_worker_cannot_finish(world: World) -> bool:
    old, new = await _taken_over(world)
    answer = await world.finish(old)
    return answer.verdict is Verdict.REFUSED and (await world.task(new))["claim_token"] == new.token


async def a_stale_worker_cannot_give_back(world: World) -> bool:
    old, new = await _taken_over(world)
    await world.finish(old, AckOutcome.RELEASE)
    return (await world.task(new)).get("claim_token") == new.token


async def a_stale_worker_cannot_beat(world: World) -> bool:
    old, new = await _taken_over(world)
    before = (await world.task(new))["lease_expires_at"]
    report = await world.store.tasks.beat(
        [replace(old, lease_ms=LONG * 1000)], session="s", lanes=[], known=[], stranger_age_ms=LONG
    )
    return report.lost == {old.uid} and (await world.task(new))["lease_expires_at"] == before


async def a_stale_worker_cannot_lengthen_a_lease(world: World) -> bool:
    old, _ = await _taken_over(world)
    return not await world.store.tasks.extend(old, LONG)


async def a_stale_worker_cannot_report_progress(world: World) -> bool:
    old, new = await _taken_over(world)
    await world.store.tasks.report_progress(old, '"mine"')
    return "progress" not in await world.task(new)


async def a_late_completion_does_not_overrule_the_next_holder(world: World) -> bool:
    old, new = await _taken_over(world)
    await world.cypher("MATCH (t:Task) SET t.last_token = $token, t.last_outcome = 'reaped'", token=old.token)
    await world.finish(old)
    return await world.status(new) == "running"


async def a_late_failure_is_refused(world: World) -> bool:
    await world.enqueue_one()
    old = await world.claim_one()
    await world.crash(old)
    await world.finish(old, AckOutcome.FAILED)
    return await world.status(old) == "pending"


async def a_run_that_was_given_back_is_not_completed_late(world: World) -> bool:
    await world.enqueue_one()
    old = await world.claim_one()
    await world.finish(old, AckOutcome.RELEASE)
    await world.finish(old)
    return await world.status(old) == "pending"


async def a_repeated_report_is_recognised(world: World) -> bool:
    await world.enqueue_one()
    claim = await world.claim_one()
    await world.finish(claim)
    return (await world.finish(claim)).verdict is Verdict.REPEATED


async def a_repeated_release_is_recognised(world: World) -> bool:
    await world.enqueue_one()
    claim = await world.claim_one()
    await world.finish(claim, AckOutcome.RELEASE)
    return (await world.finish(claim, AckOutcome.RELEASE)).verdict is Verdict.REPEATED


async def a_refused_report_leaves_a_record(world: World) -> bool:
    old, _ = await _taken_over(world)
    ack = Ack(old.uid, old.token, AckOutcome.COMPLETED, '"the work"', claims=old.claims, worker="w")
    await world.store.tasks.finish([ack])
    late = [one for one in await world.attempts(old) if one["outcome"] == "refused"]
    return [(one["number"], one["worker"], one["result"]) for one in late] == [(1, "w", '"the work"')]


async def a_cancel_that_was_asked_for_outlives_a_failure(world: World) -> bool:
    await world.enqueue_one()
    claim = await world.claim_one()
    await world.store.tasks.cancel([claim.uid])
    await world.finish(claim, AckOutcome.FAILED)
    return await world.status(claim) == "cancelled"


async def a_cancel_that_was_asked_for_outlives_a_retry(world: World) -> bool:
    await world.enqueue_one()
    claim = await world.claim_one()
    await world.store.tasks.cancel([claim.uid])
    await world.finish(claim, AckOutcome.RETRY)
    return await world.status(claim) == "cancelled"


async def a_cancel_that_was_asked_for_outlives_the_worker(world: World) -> bool:
    await world.enqueue_one()
    claim = await world.claim_one()
    await world.store.tasks.cancel([claim.uid])
    await world.crash(claim)
    return await world.status(claim) == "cancelled"


async def a_lease_is_left_alone_for_its_grace(world: World) -> bool:
    await world.enqueue_one()
    claim = await world.claim_one({"a": TypeRule(LANE, grace_ms=LONG)})
    await world.cypher("MATCH (t:Task) SET t.lease_expires_at = timestamp() - 1000")
    await world.reap()
    return await world.status(claim) == "running"


async def a_task_has_no_more_attempts_than_allowed(world: World) -> bool:
    await world.enqueue_one(max_attempts=1)
    claim = await world.claim_one()
    await world.crash(claim)
    return await world.status(claim) == "dead_letter"


MINE = " AND t.claim_token = $given.token"
HELD = "t.status = 'running' AND t.claim_token = ack.token"
ASKED = "t.cancel_requested_at IS NOT NULL"
OVER = "t.lease_expires_at + coalesce(t.grace_ms, $given.grace_ms) < timestamp()"
REPEATED = "WHEN t.last_token = ack.token AND t.last_outcome IN [ack.outcome, 'cancelled'] THEN 'repeated'"
GUARDS = [
    Guard(a_stale_worker_cannot_finish, "tasks/finish", HELD, "t.status = 'running'"),
    Guard(a_stale_worker_cannot_give_back, "tasks/reschedule", HELD, "t.status = 'running'"),
    Guard(a_stale_worker_cannot_beat, "tasks/beat", " AND t.claim_token = claim.token"),
    Guard(a_stale_worker_cannot_lengthen_a_lease, "tasks/extend", MINE),
    Guard(a_stale_worker_cannot_report_progress, "tasks/report_progress", MINE),
    Guard(a_late_completion_does_not_overrule_the_next_holder, "tasks/finish", " AND t.status = 'pending'"),
    Guard(a_late_failure_is_refused, "tasks/finish", "AND ack.outcome = 'completed' THEN 'late'", "THEN 'late'"),
    Guard(a_run_that_was_given_back_is_not_completed_late, "tasks/finish", " AND t.last_outcome = 'reaped'"),
    Guard(a_repeated_report_is_recognised, "tasks/finish", REPEATED),
    Guard(a_repeated_release_is_recognised, "tasks/reschedule", REPEATED),
    Guard(a_refused_report_leaves_a_record, "tasks/finish", "WHERE row.answer = 'refused'", "WHERE false"),
    Guard(a_cancel_that_was_asked_for_outlives_a_failure, "tasks/finish", f" AND {ASKED}", " AND false"),
    Guard(a_cancel_that_was_asked_for_outlives_a_retry, "tasks/reschedule", f"WHEN {ASKED}", "WHEN false"),
    Guard(a_cancel_that_was_asked_for_outlives_the_worker, "jobs/reaper", f"WHEN {ASKED}", "WHEN false"),
    Guard(a_lease_is_left_alone_for_its_grace, "jobs/reaper", OVER, "t.lease_expires_at < timestamp()"),
    Guard(a_task_has_no_more_attempts_than_allowed, "jobs/reaper", "t.attempts >= t.max_attempts", "false"),
]
