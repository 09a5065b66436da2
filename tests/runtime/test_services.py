"""The services of a daemon: what becomes due is done, and ticks are told to their schedules."""

from __future__ import annotations

from typing import Any

import pytest

from kgsched.core.task import NewTask, Swept
from kgsched.errors import StorageConflict
from kgsched.ports import Store
from kgsched.registry import SCHEDULED_JOB, Job
from kgsched.runtime.context import TaskContext
from kgsched.runtime.leader import Leader
from kgsched.runtime.scheduled_job import add_scheduled_job
from kgsched.runtime.services import UNFIT_AFTER
from kgsched.runtime.side_loop import StoreSource
from tests.runtime.bench import Bench, until


async def nothing(ctx: TaskContext) -> None: ...


async def tick_of(bench: Bench, payload: str = '{"job":"drum"}') -> NewTask:
    """The tick of a schedule `drum` that is due now."""
    fields = {
        "enabled": True,
        "trigger": "every 1h",
        "every_ms": 3_600_000,
        "type": SCHEDULED_JOB,
        "lane": "maint",
        "payload": payload,
        "prio_bucket": 2,
        "overlap": "coalesce",
        "catch_up": "latest",
        "next_run": await bench.world.now() - 1_000,
    }
    await bench.world.store.schedules.create("default", "drum", fields, "test", "made")
    await until(lambda: bench.world.count("MATCH (t:Task {schedule: 'drum'})"))
    row = (await bench.world.cypher("MATCH (t:Task {schedule: 'drum'}) RETURN t.uid AS uid"))[0]
    return NewTask(row["uid"], SCHEDULED_JOB, "maint", payload)


async def schedule(bench: Bench) -> dict[str, Any]:
    rows = await bench.world.cypher("MATCH (s:Schedule {name: 'drum'}) RETURN s {.*} AS s")
    found: dict[str, Any] = rows[0]["s"]
    return found


async def test_what_is_scheduled_runs_when_it_is_due(bench: Bench) -> None:
    bench.on("later", nothing)
    eta = await bench.world.now() + 1_500
    task = await bench.enqueue("later", eta=eta)
    async with bench.daemon():
        (done,) = await bench.ended(task)
    assert done["started_at"] >= eta


async def test_a_dead_workers_task_is_reaped_and_run(bench: Bench) -> None:
    bench.on("a", nothing)
    task = await bench.enqueue("a")
    await bench.world.claim_one()
    await bench.world.expire_leases()
    async with bench.daemon(lease=1.6, grace=0.0):
        (done,) = await bench.ended(task)
    assert (done["claims"], done["crashes"]) == (2, 1)


async def test_nobody_is_reaped_before_one_lease_has_passed_since_the_first_contact(bench: Bench) -> None:
    task = await bench.enqueue("a")
    await bench.world.claim_one()
    await bench.world.expire_leases()
    async with bench.daemon(lease=600.0, grace=0.0) as daemon:
        assert daemon.services is not None
        await until(lambda: daemon.services is not None and daemon.services.leader.leading)
        daemon.services.loop("reaper").wake()
        await daemon.services.loop("reaper").after_pass()
        assert await bench.world.status(task) == "running"


async def test_what_waited_for_a_failed_task_is_cancelled_level_by_level(bench: Bench) -> None:
    async def fails(ctx: TaskContext) -> None:
        raise ValueError("no")

    bench.on("fails", fails)
    chain = [await bench.enqueue("fails")]
    for _ in range(4):
        chain.append(await bench.enqueue("fails", after=[chain[-1]]))
    async with bench.daemon():
        done = await bench.ended(*chain)
    assert [one["status"] for one in done] == ["failed"] + ["cancelled"] * 4
    assert await bench.world.broken() == []


async def test_a_tick_runs_its_job_and_its_schedule_hears_of_it(bench: Bench) -> None:
    async def drum(ctx: TaskContext) -> dict[str, Any]:
        return {"slot": ctx.slot, "schedule": ctx.schedule}

    bench.registry.add_job(Job("drum", drum))
    async with bench.daemon():
        (done,) = await bench.ended(await tick_of(bench))
        assert done["status"] == "completed"
        await until(lambda: bench.world.count("MATCH (s:Schedule) WHERE s.last_run IS NOT NULL"))
    assert not (await schedule(bench)).get("consecutive_failures")


async def test_a_failed_tick_ends_at_once_and_holds_its_schedule_back(bench: Bench) -> None:
    async def drum(ctx: TaskContext) -> dict[str, Any]:
        raise ConnectionError("the feed is away")

    bench.registry.add_job(Job("drum", drum))
    async with bench.daemon():
        (done,) = await bench.ended(await tick_of(bench))
        await until(lambda: bench.world.count("MATCH (s:Schedule {consecutive_failures: 1})"))
    assert (done["status"], done["attempts"]) == ("failed", 1)
    assert (await schedule(bench))["backoff_until"] > await bench.world.now()


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        ('{"job":"drun"}', "unknown handler: no job named 'drun'; did you mean 'drum'?"),
        ("{}", "must be"),
        ("[]", "must be"),
    ],
)
async def test_a_tick_without_a_job_fails_and_says_so(bench: Bench, payload: str, words: str) -> None:
    async def drum(ctx: TaskContext) -> dict[str, Any]:
        return {}

    bench.registry.add_job(Job("drum", drum))
    async with bench.daemon() as daemon:
        (done,) = await bench.ended(await tick_of(bench, payload))
        assert done["status"] == "failed"
        assert words in done["last_error"]
        assert daemon.services is not None
        await daemon.services.loop("tick").after_pass()


async def test_the_type_of_ticks_may_be_added_again(bench: Bench) -> None:
    add_scheduled_job(bench.registry)
    add_scheduled_job(bench.registry)
    assert bench.registry.names() == (SCHEDULED_JOB,)


async def test_loops_leave_a_note_for_status(bench: Bench) -> None:
    async with bench.daemon() as daemon:
        await until(lambda: bench.world.count("MATCH (l:Loop {name: 'tick'})"))
        rows = await bench.world.cypher("MATCH (l:Loop {name: 'tick'}) RETURN l.worker AS worker")
        assert rows == [{"worker": daemon.identity.worker}]


@pytest.mark.parametrize("times", [1, UNFIT_AFTER + 1])
async def test_a_service_that_fails_at_first_does_its_duty_all_the_same(bench: Bench, times: int) -> None:
    """CN06: once is tried again, and a leader that goes on failing steps down and is elected anew."""
    left = [times]

    async def opened() -> Store:
        store = await bench.open_store()
        promote = store.sweeps.promotion_sweep

        async def fails_at_first() -> Swept:
            if left[0]:
                left[0] -= 1
                raise StorageConflict("not yet")
            return await promote()

        store.sweeps.promotion_sweep = fails_at_first  # type: ignore[method-assign]
        return store

    bench.on("later", nothing)
    task = await bench.enqueue("later", eta=await bench.world.now() + 1_000)
    async with bench.daemon(open_store=opened):
        (done,) = await bench.ended(task)
    assert (done["status"], left) == ("completed", [0])


async def test_a_leader_whose_services_fail_steps_down_for_another(bench: Bench) -> None:
    broken: list[str] = []

    async def opened() -> Store:
        return bench.world.store

    source = StoreSource(opened)
    one = Leader(source, "one", on_lead=lambda: None, unfit=lambda: broken[0] if broken else None)
    other = Leader(source, "other", on_lead=lambda: None, unfit=lambda: None)
    one.loop.start()
    await until(lambda: one.leading)
    other.loop.start()
    await other.loop.after_pass()
    assert not other.leading
    broken.append("reaper: it fails")
    one.loop.wake()
    await one.loop.after_pass()
    other.loop.wake()
    await until(lambda: other.leading)
    assert not one.leading
    for leader in (one, other):
        await leader.loop.stop()
