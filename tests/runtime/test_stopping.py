"""Bodies that are told to stop: by a person, by their time bounds, or because their lease is lost."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time

import pytest

from kgsched.ports import Store
from kgsched.runtime.context import TaskContext
from kgsched.store import Neo4jStore
from tests.runtime.bench import Bench, until


class Signs:
    """What a handler in another thread tells the test, and the other way round."""

    def __init__(self) -> None:
        self.began = threading.Event()
        self.stopped = threading.Event()
        self.go = threading.Event()


@pytest.fixture
def signs() -> Signs:
    return Signs()


async def test_a_running_body_is_cancelled_when_a_person_asks(bench: Bench, signs: Signs) -> None:
    async def long(ctx: TaskContext) -> None:
        signs.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            signs.stopped.set()

    bench.on("long", long)
    task = await bench.enqueue("long")
    async with bench.worker():
        await until(signs.began.is_set)
        await bench.world.store.tasks.cancel([task.uid])
        (done,) = await bench.ended(task)
    assert done["status"] == "cancelled"
    assert signs.stopped.is_set()
    assert await bench.world.broken() == []


async def test_a_cancel_does_not_wait_for_the_next_beat(bench: Bench, signs: Signs) -> None:
    async def long(ctx: TaskContext) -> None:
        signs.began.set()
        await asyncio.Event().wait()

    bench.on("long", long)
    task = await bench.enqueue("long")
    async with bench.worker(beat=300.0, lease=1_000.0):
        await until(signs.began.is_set)
        await bench.world.store.tasks.cancel([task.uid])
        (done,) = await bench.ended(task)
    assert done["status"] == "cancelled"


async def test_a_function_in_a_thread_sees_that_it_is_cancelled(bench: Bench, signs: Signs) -> None:
    def long(ctx: TaskContext) -> None:
        signs.began.set()
        ctx.cancelled.wait()
        raise RuntimeError(f"stopping: {ctx.cancelled.reason}")

    bench.on("long", long, executor="thread")
    task = await bench.enqueue("long")
    async with bench.worker():
        await until(signs.began.is_set)
        await bench.world.store.tasks.cancel([task.uid])
        (done,) = await bench.ended(task)
    assert done["status"] == "cancelled"


async def test_a_body_that_completes_all_the_same_stays_completed(bench: Bench, signs: Signs) -> None:
    async def stubborn(ctx: TaskContext) -> str:
        signs.began.set()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return "done"

    bench.on("stubborn", stubborn)
    task = await bench.enqueue("stubborn")
    async with bench.worker():
        await until(signs.began.is_set)
        await bench.world.store.tasks.cancel([task.uid])
        (done,) = await bench.ended(task)
    assert done["status"] == "completed"


async def test_a_timeout_stops_the_body_and_is_transient(bench: Bench) -> None:
    async def slow(ctx: TaskContext) -> str:
        if ctx.attempt == 1:
            await asyncio.Event().wait()
        return "second time"

    bench.on("slow", slow, timeout_ms=100)
    task = await bench.enqueue("slow")
    async with bench.daemon():
        (done,) = await bench.ended(task)
    assert (done["status"], done["attempts"]) == ("completed", 2)
    first = (await bench.world.attempts(task))[0]
    assert (first["kind"], first["message"]) == ("timeout", "stopped after 100ms, its timeout")


async def test_a_timeout_stands_even_if_the_body_swallows_it(bench: Bench) -> None:
    async def swallows(ctx: TaskContext) -> str:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return "half of it"

    bench.on("swallows", swallows, timeout_ms=50)
    task = await bench.enqueue("swallows", max_attempts=1)
    async with bench.worker():
        (done,) = await bench.ended(task)
    assert done["status"] == "dead_letter"


async def test_the_deadline_ends_a_task_with_attempts_left(bench: Bench) -> None:
    async def slow(ctx: TaskContext) -> None:
        await asyncio.Event().wait()

    bench.on("slow", slow, deadline_ms=50, timeout_ms=60_000)
    task = await bench.enqueue("slow")
    async with bench.worker():
        (done,) = await bench.ended(task)
    assert (done["status"], done["attempts"], done["last_error"]) == ("failed", 1, "stopped after 50ms, its deadline")


async def test_a_body_that_ignores_its_stop_is_bounded_and_fills_its_slot_until_it_ends(
    bench: Bench, signs: Signs
) -> None:
    async def deaf(ctx: TaskContext) -> None:
        signs.began.set()
        while not signs.go.is_set():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)

    async def quick(ctx: TaskContext) -> None: ...

    bench.on("deaf", deaf, timeout_ms=50)
    bench.on("quick", quick)
    task = await bench.enqueue("deaf", max_attempts=1)
    async with bench.worker(slots=1, stop_grace=0.1) as worker:
        await until(signs.began.is_set)
        other = await bench.enqueue("quick")
        (done,) = await bench.ended(task)
        assert done["status"] == "dead_letter"
        assert worker.running == 1
        assert await bench.world.status(other) == "pending"
        signs.go.set()
        await bench.ended(other)


async def test_a_blocked_event_loop_costs_no_lease(bench: Bench) -> None:
    async def blocks(ctx: TaskContext) -> int:
        time.sleep(4.0)  # noqa: ASYNC251 - the point of this test
        return ctx.fence

    bench.on("blocks", blocks, lease_ms=1_500)
    tasks = [await bench.enqueue("blocks") for _ in range(2)]
    async with bench.daemon(grace=0.0, lease=2.0):
        done = await bench.ended(*tasks)
    assert [(one["status"], one["claims"]) for one in done] == [("completed", 1)] * 2


async def test_a_blocked_event_loop_does_not_keep_others_from_being_claimed(bench: Bench, signs: Signs) -> None:
    async def blocks(ctx: TaskContext) -> None:
        signs.began.set()
        signs.go.wait()

    def other(ctx: TaskContext) -> None:
        signs.go.set()

    bench.on("blocks", blocks)
    bench.on("other", other, executor="thread")
    first = await bench.enqueue("blocks")
    async with bench.worker(slots=2):
        await until(signs.began.is_set)
        done = await bench.ended(first, await bench.enqueue("other"))
    assert [one["status"] for one in done] == ["completed"] * 2


async def test_a_task_that_somebody_holds_locked_does_not_cost_the_others_their_leases(bench: Bench) -> None:
    go = threading.Event()

    async def waits(ctx: TaskContext) -> None:
        await asyncio.to_thread(go.wait)

    bench.on("waits", waits)
    tasks = [await bench.enqueue("waits") for _ in range(4)]
    async with bench.worker(lease=24.0, beat=1.0):
        for task in tasks:
            await bench.reached(task, "running")
        async with bench.world.store.graph.transaction(timeout=60.0) as tx:
            await tx.run("MATCH (t:Task {uid: $uid}) SET t.mine = true", uid=tasks[0].uid)
            opened = await bench.world.now()
            await until(lambda: later_than(bench, opened + 14_000))
            rows = [await bench.world.task(task) for task in tasks[1:]]
            assert min(row["lease_expires_at"] for row in rows) > opened + 30_000
        go.set()
        done = await bench.ended(*tasks[1:])
        assert [row["claims"] for row in done] == [1] * 3


async def later_than(bench: Bench, instant: int) -> bool:
    return await bench.world.now() > instant


async def test_a_lost_claim_stops_its_body_and_reports_nothing(bench: Bench, signs: Signs) -> None:
    async def long(ctx: TaskContext) -> None:
        signs.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            signs.stopped.set()

    bench.on("long", long)
    task = await bench.enqueue("long")
    async with bench.worker() as worker:
        await until(signs.began.is_set)
        await bench.world.cypher(
            "MATCH (t:Task {uid: $uid}) SET t.claim_token = 'another', t.session = 'another'", uid=task.uid
        )
        await until(signs.stopped.is_set)
        await until(lambda: worker.counts.get("lost") == 1)
        assert (await bench.world.task(task))["claim_token"] == "another"
        assert worker.running == 0


async def expire_and_reap(bench: Bench) -> bool:
    """End all leases; True once the reaper came before the next beat."""
    await bench.world.expire_leases()
    return bool(await bench.world.reap())


async def test_a_reaped_body_that_completes_is_accepted_late(bench: Bench, signs: Signs) -> None:
    def deaf(ctx: TaskContext) -> str:
        signs.began.set()
        signs.go.wait()
        return "late"

    bench.on("deaf", deaf, executor="thread")
    task = await bench.enqueue("deaf")
    async with bench.worker(slots=1, stop_grace=0.05):
        await until(signs.began.is_set)
        await until(lambda: expire_and_reap(bench))
        assert await bench.world.status(task) == "pending"
        signs.go.set()
        (done,) = await bench.ended(task)
    assert (done["status"], done["result"], done["claims"]) == ("completed", '"late"', 1)


async def test_bodies_that_hold_every_connection_cost_no_lease(bench: Bench) -> None:
    everyone = threading.Barrier(3)

    async def holds(ctx: TaskContext) -> int:
        async with ctx.graph.transaction() as tx:
            await tx.run("RETURN 1")
            await asyncio.to_thread(everyone.wait)
            await asyncio.sleep(3.0)
        return ctx.fence

    async def small_pool() -> Store:
        one = bench.address
        return Neo4jStore(one.uri, one.user, one.password, one.database, pool=3)

    bench.on("holds", holds, lease_ms=1_500)
    tasks = [await bench.enqueue("holds") for _ in range(3)]
    async with bench.daemon(open_store=small_pool, grace=0.0, lease=2.0):
        done = await bench.ended(*tasks)
    assert [(one["status"], one["claims"]) for one in done] == [("completed", 1)] * 3


async def test_a_task_that_its_own_worker_claims_again_stops_its_older_body(bench: Bench, signs: Signs) -> None:
    async def once(ctx: TaskContext) -> int:
        if ctx.fence == 1:
            signs.began.set()
            try:
                await asyncio.Event().wait()
            finally:
                signs.stopped.set()
        return ctx.fence

    bench.on("once", once)
    task = await bench.enqueue("once")
    async with bench.worker(beat=9.0, slots=2):
        await until(signs.began.is_set)
        await bench.world.expire_leases()
        await bench.world.reap()
        (done,) = await bench.ended(task)
        await until(signs.stopped.is_set)
    assert (done["status"], done["result"]) == ("completed", "2")
