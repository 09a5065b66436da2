"""What a worker holds it keeps, whatever its handlers do; and what it lost is told."""

from __future__ import annotations

import asyncio
import threading
import time

import psutil
import pytest

from kgsched.core.claiming import TypeRule
from kgsched.errors import InvalidValue
from kgsched.runtime.context import TaskContext
from tests.runtime import slow_module
from tests.runtime.bench import Bench, new_task, until

INGESTION = TypeRule("ingestion")


async def test_a_handler_whose_import_outlasts_the_lease_is_run_once(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """CL04: beats begin at the claim, not when the handler is ready."""
    monkeypatch.setenv("KGSCHED_TEST_SLOW_IMPORT", "kgsched.runtime.process_child")
    bench.on("slow", slow_module.answer, executor="process", lease_ms=9_000, grace_ms=1)
    task = await bench.enqueue("slow")
    async with bench.daemon(lease=9.0, grace=0.0):
        (done,) = await bench.ended(task)
    assert (done["status"], done["claims"], done["result"]) == ("completed", 1, "1")


async def test_a_completion_that_comes_too_late_is_kept_with_its_worker_and_result(bench: Bench) -> None:
    """CL05: refused, but visible: the run, the worker, the time and what it had to say."""
    began, go = threading.Event(), threading.Event()

    def deaf(ctx: TaskContext) -> str:
        began.set()
        go.wait()
        return "hours of work"

    bench.on("deaf", deaf, executor="thread")
    task = await bench.enqueue("deaf")
    async with bench.worker(slots=1, stop_grace=0.05) as worker:
        await until(began.is_set)
        await until(lambda: _expire_and_reap(bench))
        (other,) = await bench.world.claim(1, {"deaf": INGESTION})
        go.set()
        await until(lambda: worker.counts.get("refused"))
        name = worker.identity.worker
    await bench.world.finish(other)
    (late,) = [one for one in await bench.world.attempts(task) if one["outcome"] == "refused"]
    assert (late["number"], late["worker"], late["result"]) == (1, name, '"hours of work"')
    assert "reported completed, but the task was running" in late["message"]
    assert late["ended_at"] > 0
    assert (await bench.world.task(task))["late_finishes"] == 1


async def test_types_with_long_and_short_leases_share_a_worker_that_is_blocked_and_burns(bench: Bench) -> None:
    """CL06: neither a blocked event loop nor a burning thread makes the same worker pick its own task again."""

    async def blocks(ctx: TaskContext) -> None:
        for _ in range(3):
            time.sleep(1.5)  # noqa: ASYNC251 - the point of this test
            await asyncio.sleep(0)

    def burns(ctx: TaskContext) -> None:
        end = time.monotonic() + 4.5
        while time.monotonic() < end:
            sum(range(2000))

    bench.on("long_lease", blocks, lease_ms=60_000)
    bench.on("short_lease", blocks, lease_ms=2_000, grace_ms=1)
    bench.on("burning", burns, executor="thread", lease_ms=2_000, grace_ms=1)
    tasks = [await bench.enqueue(name) for name in ("long_lease", "short_lease", "burning")]
    async with bench.daemon(lease=2.0, grace=0.0):
        done = await bench.ended(*tasks)
    assert [(one["status"], one["claims"]) for one in done] == [("completed", 1)] * 3


async def test_a_beat_that_is_not_below_a_third_of_the_lease_is_refused_at_the_start(bench: Bench) -> None:
    async def nothing(ctx: TaskContext) -> None: ...

    bench.on("odd", nothing, lease_ms=3_000, beat_ms=1_000)
    with pytest.raises(InvalidValue, match=r"beat of task type 'odd' is 1000 ms.*3000 ms"):
        async with bench.worker():
            raise AssertionError("it started")
    with pytest.raises(InvalidValue, match="KGSCHED_BEAT"):
        bench.settings(beat=10.0, lease=30.0)


async def test_lease_grace_and_beat_are_those_of_the_type(bench: Bench) -> None:
    began, go = threading.Event(), threading.Event()

    def waits(ctx: TaskContext) -> None:
        began.set()
        go.wait()

    bench.on("waits", waits, executor="thread", lease_ms=8_000, grace_ms=123, beat_ms=50)
    task = await bench.enqueue("waits")
    async with bench.worker(beat=9.0):
        await until(began.is_set)
        first = await bench.world.task(task)
        assert first["grace_ms"] == 123
        assert first["lease_expires_at"] <= await bench.world.now() + 8_000

        async def beaten() -> bool:
            return bool((await bench.world.task(task))["lease_expires_at"] > first["lease_expires_at"])

        await until(beaten)  # long before the general beat
        go.set()
        await bench.ended(task)


@pytest.mark.parametrize("timeout_ms", [20_000, None])
async def test_a_healthy_run_may_last_many_leases(bench: Bench, timeout_ms: int | None) -> None:
    """CL10: beats keep a run; only its own timeout ends it."""

    async def long(ctx: TaskContext) -> int:
        await asyncio.sleep(3.5)
        return ctx.fence

    bench.on("long", long, lease_ms=1_000, timeout_ms=timeout_ms, grace_ms=1)
    task = await bench.enqueue("long")
    async with bench.daemon(lease=2.0, grace=0.0):
        (done,) = await bench.ended(task)
    assert (done["status"], done["claims"]) == ("completed", 1)


async def test_a_drain_burns_not_even_the_last_attempt(bench: Bench) -> None:
    """RT05: the third of three attempts, given back by a drain, completes in the next worker."""
    began = threading.Event()

    async def waits_once(ctx: TaskContext) -> int:
        if ctx.fence == 3:
            began.set()
            await asyncio.Event().wait()
        return ctx.attempt

    bench.on("waits_once", waits_once)
    task = await bench.enqueue("waits_once", max_attempts=3)
    rules = {"waits_once": INGESTION}
    for _ in range(2):
        (claim,) = await bench.world.claim(1, rules)
        await bench.world.crash(claim)
    async with bench.worker(drain=0.05):
        await until(began.is_set)
    given_back = await bench.world.task(task)
    assert (given_back["status"], given_back["attempts"], given_back["releases"]) == ("pending", 2, 1)
    async with bench.worker():
        (done,) = await bench.ended(task)
    assert (done["status"], done["result"], done["claims"]) == ("completed", "3", 4)


async def test_questions_are_claimed_while_ten_thousand_background_tasks_wait(bench: Bench) -> None:
    """One slot stays free for them, so that they wait for nobody."""
    answered, go = threading.Event(), threading.Event()

    async def ask(ctx: TaskContext) -> None:
        answered.set()

    async def backfill(ctx: TaskContext) -> None:
        while not go.is_set():  # noqa: ASYNC110 - set in another thread
            await asyncio.sleep(0.05)

    bench.on("ask", ask, lane="queries")
    bench.on("backfill", backfill, lane="enrichment")
    await bench.world.enqueue(*(new_task("backfill", lane="enrichment", prio_bucket=3) for _ in range(10_000)))
    async with bench.worker(slots=4, drain=0.1) as worker:
        await until(lambda: worker.running == 3)
        question = await bench.enqueue("ask", lane="queries", prio_bucket=3)
        (done,) = await bench.ended(question)
        assert worker.running == 3
        assert done["status"] == "completed"
        assert await bench.world.count("MATCH (t:Task {type: 'backfill', status: 'completed'})") == 0


async def test_threads_and_files_do_not_grow_with_what_has_run(bench: Bench) -> None:
    """LK01: neither tasks that complete nor tasks that fail leave anything behind in the process."""

    async def fails_half(ctx: TaskContext, number: int) -> None:
        if number % 2:
            raise ValueError("odd")

    def in_a_thread(ctx: TaskContext, number: int) -> None:
        if number % 2:
            raise ValueError("odd")

    bench.on("half", fails_half)
    bench.on("threaded", in_a_thread, executor="thread")

    async def round_of(n: int) -> tuple[int, int]:
        for place in range(n):
            await bench.enqueue(("half", "threaded")[place % 2], {"number": place // 2})
        await until(lambda: _all_over(bench))
        await until(lambda: not [one for one in threading.enumerate() if one.name.startswith("kgsched-body")])
        return threading.active_count(), psutil.Process().num_fds()

    async with bench.worker(slots=8):
        before = await round_of(40)
        after = await round_of(200)
    assert after[0] <= before[0]
    assert after[1] <= before[1] + 4


async def _all_over(bench: Bench) -> bool:
    return not await bench.world.count("MATCH (t:Task) WHERE t.finished_at IS NULL")


async def _expire_and_reap(bench: Bench) -> bool:
    await bench.world.expire_leases()
    return bool(await bench.world.reap())
