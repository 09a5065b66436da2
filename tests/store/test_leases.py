"""Beats, strangers, and what becomes of claims whose worker is gone."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from kgsched.core.claiming import TypeRule
from kgsched.core.states import Status
from kgsched.core.task import BeatReport, Claim
from tests.store.worlds import World, new_task
from tests.store.worlds.making import LANE


async def beat(world: World, claims: Iterable[Claim], known: Iterable[Claim] | None = None) -> BeatReport:
    claims = list(claims)
    uids = [claim.uid for claim in (claims if known is None else known)]
    return await world.store.tasks.beat(claims, session="s", lanes=[LANE], known=uids, stranger_age_ms=-1)


async def test_a_beat_extends_each_lease_by_its_own_length(world: World) -> None:
    await world.enqueue(new_task("a"), new_task("b"))
    claims = await world.claim(2, {"a": TypeRule(LANE, lease_ms=60_000), "b": TypeRule(LANE, lease_ms=600_000)})
    await world.cypher("MATCH (t:Task) SET t.lease_expires_at = 1")
    assert await beat(world, claims) == BeatReport()
    now = await world.now()
    left = [(await world.task(claim))["lease_expires_at"] - now for claim in claims]
    assert 0 < left[0] <= 60_000 < left[1] <= 600_000


async def test_more_claims_than_one_statement_takes_are_all_beaten(world: World) -> None:
    await world.enqueue(*(new_task() for _ in range(250)))
    claims = await world.claim(250)
    await world.cypher("MATCH (t:Task) SET t.lease_expires_at = 1")
    assert await beat(world, claims) == BeatReport()
    assert await world.count("MATCH (t:Task) WHERE t.lease_expires_at > timestamp()") == 250


async def test_a_beat_tells_what_is_lost_and_what_to_stop(world: World) -> None:
    await world.enqueue(*(new_task() for _ in range(4)))
    kept, reaped, finished, stop = await world.claim(4)
    await world.crash(reaped)
    await world.finish(finished)
    await world.store.tasks.cancel([stop.uid])
    report = await beat(world, [kept, reaped, finished, stop])
    assert report.lost == {reaped.uid, finished.uid}
    assert report.cancel_requested == {stop.uid}
    assert report.strangers == ()


async def test_what_runs_under_the_session_unknown_to_it_is_a_stranger(world: World) -> None:
    await world.enqueue(*(new_task() for _ in range(3)))
    known, unknown = await world.claim(2)
    await world.claim(1, session="another")
    report = await beat(world, [known])
    assert report.strangers == ((unknown.uid, unknown.token),)
    assert (await beat(world, [])).strangers != ()


async def test_a_claim_under_way_is_no_stranger_yet(world: World) -> None:
    await world.enqueue_one()
    await world.claim(1)
    report = await world.store.tasks.beat([], session="s", lanes=[LANE], known=[], stranger_age_ms=60_000)
    assert report.strangers == ()


async def test_one_lease_can_be_lengthened_by_its_holder_only(world: World) -> None:
    await world.enqueue_one()
    claim = await world.claim_one()
    assert await world.store.tasks.extend(claim, 9_000_000)
    assert (await world.task(claim))["lease_expires_at"] > await world.now() + 8_000_000
    await world.crash(claim)
    assert not await world.store.tasks.extend(claim, 9_000_000)
    assert await world.store.tasks.report_progress(claim, "{}") is False


async def test_progress_is_kept(world: World) -> None:
    await world.enqueue_one()
    claim = await world.claim_one()
    assert await world.store.tasks.report_progress(claim, '{"done":3}')
    rows = await world.store.reads.read_results([claim.uid])
    assert rows[claim.uid]["progress"] == '{"done":3}'


async def test_a_lease_is_not_over_before_its_grace(world: World) -> None:
    await world.enqueue(new_task("a"), new_task("b"))
    claims = await world.claim(2, {"a": TypeRule(LANE, grace_ms=3_600_000), "b": TypeRule(LANE, grace_ms=0)})
    await world.cypher("MATCH (t:Task) SET t.lease_expires_at = timestamp() - 1000")
    assert await world.reap() == [(claims[1].uid, Status.PENDING)]


async def test_a_lost_claim_is_pending_again_with_the_attempt_counted(world: World) -> None:
    await world.enqueue_one(key="k")
    claim = await world.claim_one()
    await world.expire_leases()
    swept, (reaped,) = await world.store.sweeps.reaper(0)
    assert (reaped.uid, reaped.status, reaped.worker_id, reaped.token) == (claim.uid, Status.PENDING, "w", claim.token)
    assert (swept.count, swept.more) == (1, False)
    kept = await world.task(claim)
    assert (kept["attempts"], kept["claims"], kept["crashes"], kept["last_outcome"]) == (1, 1, 1, "reaped")
    assert kept["live_key"] == "u:default:k"
    assert [(one["outcome"], one["kind"]) for one in await world.attempts(claim)] == [("pending", "worker_lost")]
    assert await world.broken() == []


@pytest.mark.parametrize("max_attempts", [1, 3])
async def test_a_task_that_kills_its_worker_runs_max_attempts_times(world: World, max_attempts: int) -> None:
    """CL01."""
    task = await world.enqueue_one(max_attempts=max_attempts)
    child = await world.enqueue_one(after=[task])
    runs = 0
    while claims := await world.claim(1):
        runs += 1
        await world.crash(claims[0])
    await world.sweep()
    kept = await world.task(task)
    assert (runs, kept["status"], kept["last_error"]) == (max_attempts, "dead_letter", "worker lost")
    assert (await world.attempts(task))[-1]["kind"] == "worker_lost"
    assert await world.status(child) is Status.CANCELLED
    assert await world.counters() == {"dead_letter": 1, "cancelled": 1}
    assert await world.broken() == []


async def test_a_reaped_task_whose_cancel_was_asked_for_is_cancelled(world: World) -> None:
    await world.enqueue_one()
    claim = await world.claim_one()
    assert (await world.store.tasks.cancel([claim.uid]))[claim.uid] == ("requested", Status.RUNNING)
    await world.expire_leases()
    assert await world.reap() == [(claim.uid, Status.CANCELLED)]
    assert await world.counters() == {"cancelled": 1}
    assert await world.broken() == []


async def test_many_long_leases_do_not_hide_those_that_are_over(world: World) -> None:
    """CL08: a batch of ten, twelve healthy ones that are older."""
    await world.enqueue(*(new_task() for _ in range(17)))
    claims = await world.claim(17, {"a": TypeRule(LANE, lease_ms=10**9)})
    dead = claims[12:]
    await world.cypher("MATCH (t:Task) WHERE t.uid IN $old SET t.started_at = 1", old=[one.uid for one in claims[:12]])
    await world.expire_leases(*dead)
    _, reaped = await world.store.sweeps.reaper(0, 10)
    assert {one.uid for one in reaped} == {one.uid for one in dead}


async def test_leases_with_a_long_grace_do_not_hide_those_that_are_over(world: World) -> None:
    """CL08: their leases ran out first, so they head the index, and still are not to be ended."""
    await world.enqueue(*(new_task("a") for _ in range(12)), *(new_task("b") for _ in range(5)))
    await world.claim(17, {"a": TypeRule(LANE, grace_ms=3_600_000), "b": TypeRule(LANE, grace_ms=0)})
    await world.cypher("MATCH (t:Task {type: 'a'}) SET t.lease_expires_at = timestamp() - 60000")
    await world.cypher("MATCH (t:Task {type: 'b'}) SET t.lease_expires_at = timestamp() - 30000")
    _, reaped = await world.store.sweeps.reaper(0, 10)
    assert len(reaped) == 5


async def test_a_reap_in_batches_says_that_there_is_more(world: World) -> None:
    await world.enqueue(*(new_task() for _ in range(7)))
    await world.claim(7)
    await world.expire_leases()
    swept, _ = await world.store.sweeps.reaper(0, 5)
    assert (swept.count, swept.more) == (5, True)
    assert len(await world.reap()) == 2


async def test_promotion_in_batches_says_that_there_is_more(world: World) -> None:
    await world.enqueue(*(new_task(eta=4_000_000_000_000) for _ in range(7)))
    await world.make_due()
    swept = await world.store.sweeps.promotion_sweep(5)
    assert (swept.count, swept.more) == (5, True)
    assert (await world.store.sweeps.promotion_sweep(5)).more is False
    assert await world.count("MATCH (t:Task {status: 'pending'})") == 7
    assert await world.broken() == []
