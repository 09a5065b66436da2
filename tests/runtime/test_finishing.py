"""A handler's writes and its completion in one transaction: both or neither."""

from __future__ import annotations

import asyncio
import threading

import pytest
from structlog.testing import CapturingLogger

from kgsched.core.task import Gate, Limits
from kgsched.errors import KgschedError
from kgsched.runtime import runner
from kgsched.runtime.context import TaskContext
from tests.runtime.bench import Bench, new_task, until

TAKEN = "MATCH (t:Task {uid: $uid}) SET t.claim_token = 'another', t.session = 'another'"
MADE = "MATCH (n:Made)"


async def test_writes_and_completion_are_there_together(bench: Bench) -> None:
    stopped: list[bool] = []

    async def make(ctx: TaskContext) -> str:
        result: dict[str, int] = {}
        async with ctx.finishing(result=result) as tx:
            await tx.run("CREATE (:Made {by: $uid})", uid=ctx.uid)
            result["made"] = 1
            ctx.log("made")
        await asyncio.sleep(1.5)
        stopped.append(bool(ctx.cancelled))
        return "a later return changes nothing"

    bench.on("make", make)
    task = await bench.enqueue("make")
    child = await bench.enqueue("make", after=[task])
    async with bench.worker(slots=1):
        done, _ = await bench.ended(task, child)
        await until(lambda: stopped == [False, False])
    assert (done["status"], done["result"], done["claims"]) == ("completed", '{"made":1}', 1)
    assert await bench.world.count(MADE) == 2
    assert await bench.world.broken() == []


async def test_a_plain_function_has_the_same(bench: Bench) -> None:
    def make(ctx: TaskContext) -> None:
        with ctx.sync.finishing(result="made") as tx:
            assert tx.run("CREATE (n:Made) RETURN count(n) AS n") == [{"n": 1}]

    bench.on("make", make, executor="thread")
    task = await bench.enqueue("make")
    async with bench.worker():
        (done,) = await bench.ended(task)
    assert (done["status"], done["result"]) == ("completed", '"made"')
    assert await bench.world.count(MADE) == 1


@pytest.mark.parametrize("executor", ["async", "thread"])
async def test_an_error_in_the_block_leaves_neither(bench: Bench, executor: str) -> None:
    async def make(ctx: TaskContext) -> None:
        async with ctx.finishing() as tx:
            await tx.run("CREATE (:Made)")
            raise ValueError("on second thoughts")

    def make_in_thread(ctx: TaskContext) -> None:
        with ctx.sync.finishing() as tx:
            tx.run("CREATE (:Made)")
            raise ValueError("on second thoughts")

    bench.on("make", make if executor == "async" else make_in_thread, executor=executor)
    task = await bench.enqueue("make")
    async with bench.worker():
        (done,) = await bench.ended(task)
    assert (done["status"], done["last_error"]) == ("failed", "on second thoughts")
    assert await bench.world.count(MADE) == 0


async def test_a_claim_lost_before_the_commit_leaves_neither(bench: Bench) -> None:
    inside, go = threading.Event(), threading.Event()

    async def make(ctx: TaskContext) -> None:
        async with ctx.finishing() as tx:
            await tx.run("CREATE (:Made)")
            inside.set()
            await asyncio.to_thread(go.wait)

    bench.on("make", make)
    task = await bench.enqueue("make")
    async with bench.worker() as worker:
        await until(inside.is_set)
        await bench.world.cypher(TAKEN, uid=task.uid)
        go.set()
        await until(lambda: worker.running == 0 and sum(worker.counts.values()) > 1)
    assert await bench.world.count(MADE) == 0
    assert (await bench.world.task(task))["status"] == "running"


async def test_a_claim_lost_before_the_block_opens_no_transaction(bench: Bench) -> None:
    async def make(ctx: TaskContext) -> None:
        await ctx.graph.named("tasks/extend", uid=ctx.uid, token="none", lease_ms=1)
        async with ctx.store.graph.transaction() as tx:
            await tx.run(TAKEN, uid=ctx.uid)
        async with ctx.finishing() as tx:
            await tx.run("CREATE (:Made)")

    bench.on("make", make)
    await bench.enqueue("make")
    async with bench.worker() as worker:
        await until(lambda: worker.running == 0 and sum(worker.counts.values()) > 1)
    assert await bench.world.count(MADE) == 0


async def test_a_block_whose_run_was_ended_meanwhile_says_so(bench: Bench) -> None:
    """The worker has recorded the timeout: what the block wrote is gone, and the handler hears of it."""
    inside, go, heard = threading.Event(), threading.Event(), list[str]()

    def make(ctx: TaskContext) -> None:
        try:
            with ctx.sync.finishing() as tx:
                tx.run("CREATE (:Made)")
                inside.set()
                go.wait()
        except KgschedError as error:
            heard.append(type(error).__name__)
            raise
        heard.append("went on")

    bench.on("make", make, executor="thread", timeout_ms=500)
    task = await bench.enqueue("make", max_attempts=1)
    async with bench.worker() as worker:
        await until(inside.is_set)
        await bench.reached(task, "dead_letter")
        go.set()
        await until(lambda: heard and worker.running == 0)
    assert heard[0] != "went on"
    assert await bench.world.count(MADE) == 0


@pytest.mark.parametrize("timeout", [0, -1000.0, float("nan"), float("inf"), "soon", 10**13])
async def test_a_time_that_is_none_is_refused_before_the_lease_is_touched(bench: Bench, timeout: float) -> None:
    leases: list[int] = []

    async def make(ctx: TaskContext) -> None:
        try:
            async with ctx.finishing(timeout=timeout):
                pass
        finally:
            rows = await ctx.graph.query("MATCH (t:Task {uid: $uid}) RETURN t.lease_expires_at AS at", uid=ctx.uid)
            leases.append(rows[0]["at"])

    bench.on("make", make)
    task = await bench.enqueue("make")
    before = await bench.world.now()
    async with bench.worker():
        (done,) = await bench.ended(task)
    assert (done["status"], leases[0] > before) == ("failed", True)
    assert "timeout of a transaction" in done["last_error"]


async def test_an_error_after_the_block_is_logged_and_changes_nothing(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged = CapturingLogger()
    monkeypatch.setattr(runner, "log", logged)

    async def make(ctx: TaskContext) -> None:
        async with ctx.finishing(result=1):
            pass
        raise ValueError("after the end")

    bench.on("make", make)
    task = await bench.enqueue("make")
    async with bench.worker() as worker:
        (done,) = await bench.ended(task)
        await until(lambda: worker.running == 0)
    assert (done["status"], done["result"]) == ("completed", "1")
    said = [call.kwargs["error"] for call in logged.calls if call.args == ("error_after_finishing",)]
    assert said == ["ValueError: after the end"]


async def test_a_gate_is_passed_on_with_the_commit(bench: Bench) -> None:
    async def make(ctx: TaskContext) -> None:
        async with ctx.finishing():
            pass

    bench.on("make", make)
    await bench.world.store.gates.open([Gate("default", "g", Limits(limit=1))])
    tasks = [await bench.enqueue("make", gate="g") for _ in range(5)]
    async with bench.worker():  # no sweep runs here that would do it instead
        await bench.ended(*tasks)
    async with bench.world.store.graph.transaction() as tx:
        await bench.world.store.tasks.enqueue([task := new_task("make", gate="g")], tx=tx)
    assert (await bench.world.task(task))["ready"] == task.prio_bucket


async def later_than(bench: Bench, instant: int) -> bool:
    return await bench.world.now() > instant


async def test_an_open_transaction_stalls_no_beat_and_outlives_the_lease(bench: Bench) -> None:
    inside, go = threading.Event(), threading.Event()
    runs: list[int] = []  # a slow machine may lose claims before the block

    async def make(ctx: TaskContext) -> None:
        async with ctx.finishing(timeout=20.0) as tx:
            await tx.run("CREATE (:Made)")
            runs.append(ctx.fence)
            inside.set()
            await asyncio.to_thread(go.wait)

    bench.on("make", make, lease_ms=1_000)
    task = await bench.enqueue("make")
    async with bench.daemon(grace=0.5, lease=1.6) as daemon:
        await until(inside.is_set)
        assert daemon.services is not None
        began = await bench.world.now()
        await until(lambda: later_than(bench, began + 3_000))
        daemon.services.loop("reaper").wake()
        await daemon.services.loop("reaper").after_pass()
        go.set()
        (done,) = await bench.ended(task)
    assert (done["status"], [done["claims"]]) == ("completed", runs)
    assert await bench.world.count(MADE) == 1


async def test_a_child_enqueued_in_the_block_is_there_with_it(bench: Bench) -> None:
    async def make(ctx: TaskContext, fail: bool) -> None:
        async with ctx.finishing() as tx:
            await ctx.enqueue("child", tx=tx)
            if fail:
                raise ValueError("no")

    async def child(ctx: TaskContext) -> None: ...

    bench.on("make", make)
    bench.on("child", child)
    tasks = [await bench.enqueue("make", {"fail": fail}) for fail in (True, False)]
    async with bench.daemon():
        await bench.ended(*tasks)
        await until(lambda: bench.world.count("MATCH (t:Task {type: 'child', status: 'completed'})"))
    assert await bench.world.count("MATCH (t:Task {type: 'child'})") == 1
