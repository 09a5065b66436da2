"""A worker from claim to verdict."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from kgsched.errors import Cancel, Permanent, Retry, Snooze
from kgsched.runtime.context import TaskContext
from tests.runtime.bench import Bench, new_task, until


async def test_a_task_runs_with_its_arguments_and_its_result_is_kept(bench: Bench) -> None:
    async def summarize(ctx: TaskContext, paper: str, pages: int = 3) -> dict[str, Any]:
        return {"paper": paper, "pages": pages, "attempt": ctx.attempt, "fence": ctx.fence}

    bench.on("summarize", summarize)
    task = await bench.enqueue("summarize", {"paper": "p1"})
    async with bench.worker():
        (done,) = await bench.ended(task)
    assert done["status"] == "completed"
    assert json.loads(done["result"]) == {"paper": "p1", "pages": 3, "attempt": 1, "fence": 1}
    assert await bench.world.broken() == []


async def test_many_tasks_each_run_once(bench: Bench) -> None:
    ran: list[str] = []

    async def count(ctx: TaskContext) -> None:
        ran.append(ctx.uid)

    bench.on("count", count)
    tasks = [await bench.enqueue("count") for _ in range(60)]
    async with bench.worker():
        await bench.ended(*tasks)
    assert sorted(ran) == sorted(task.uid for task in tasks)
    assert await bench.world.broken() == []


async def test_one_slot_takes_the_most_urgent_first(bench: Bench) -> None:
    order: list[str] = []

    async def note(ctx: TaskContext, name: str) -> None:
        order.append(name)

    bench.on("note", note)
    tasks = [
        await bench.enqueue("note", {"name": name}, prio_bucket=bucket, weight=weight)
        for name, bucket, weight in (("low", 3, 0), ("first", 2, 0), ("second", 2, 0), ("heavy", 2, 9), ("now", 0, 0))
    ]
    async with bench.worker(slots=1):
        await bench.ended(*tasks)
    assert order == ["now", "heavy", "first", "second", "low"]


async def test_a_transient_error_is_tried_again_and_leaves_its_history(bench: Bench) -> None:
    async def flaky(ctx: TaskContext) -> int:
        ctx.log("trying", attempt=ctx.attempt)
        if ctx.attempt < 3:
            raise ConnectionResetError(f"attempt {ctx.attempt}")
        return ctx.attempt

    bench.on("flaky", flaky)
    task = await bench.enqueue("flaky")
    async with bench.daemon():
        (done,) = await bench.ended(task)
    assert (done["status"], done["attempts"], done["result"]) == ("completed", 3, "3")
    history = await bench.world.attempts(task)
    assert [(one["outcome"], one["kind"]) for one in history[:2]] == [("retry", "ConnectionResetError")] * 2
    assert history[0]["log"][0].endswith("trying attempt=1")
    assert "raise ConnectionResetError" in history[0]["traceback"]


async def test_the_last_failed_attempt_goes_to_the_dead_letters(bench: Bench) -> None:
    async def broken(ctx: TaskContext) -> None:
        raise OSError("still broken")

    bench.on("broken", broken)
    task = await bench.enqueue("broken", max_attempts=2)
    async with bench.daemon():
        (done,) = await bench.ended(task)
    assert (done["status"], done["attempts"], done["last_error"]) == ("dead_letter", 2, "still broken")


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (Permanent("never"), "failed"),
        (ValueError("bad"), "failed"),
        (Cancel("pointless"), "cancelled"),
    ],
)
async def test_what_needs_no_second_attempt_gets_none(bench: Bench, error: Exception, status: str) -> None:
    async def fails(ctx: TaskContext) -> None:
        raise error

    bench.on("fails", fails)
    task = await bench.enqueue("fails")
    async with bench.worker():
        (done,) = await bench.ended(task)
    assert (done["status"], done["attempts"]) == (status, 1)


async def test_a_snooze_and_a_wished_retry_come_back(bench: Bench) -> None:
    async def patient(ctx: TaskContext) -> list[int]:
        if ctx.fence == 1:
            raise Snooze(0.01, "too early")
        if ctx.attempt == 1:
            raise Retry("once more", after=0.01)
        return [ctx.fence, ctx.attempt]

    bench.on("patient", patient)
    task = await bench.enqueue("patient")
    async with bench.daemon():
        (done,) = await bench.ended(task)
    assert json.loads(done["result"]) == [3, 2]
    assert (done["attempts"], done["snoozes"]) == (2, 1)


@pytest.mark.parametrize("payload", [{}, {"paper": 1, "papr": 2}])
async def test_arguments_that_do_not_fit_fail_at_once_and_are_named(bench: Bench, payload: dict[str, int]) -> None:
    async def summarize(ctx: TaskContext, paper: str) -> None: ...

    bench.on("summarize", summarize)
    task = await bench.enqueue("summarize", payload)
    async with bench.worker():
        (done,) = await bench.ended(task)
    assert done["status"] == "failed"
    assert "pap" in done["last_error"]


@pytest.mark.parametrize("executor", ["async", "thread"])
async def test_whatever_a_handler_raises_is_recorded_and_the_next_task_runs(bench: Bench, executor: str) -> None:
    """RT03, RT06: what cannot be pickled or leaves the loop ends its task only."""

    class Unpicklable(Exception):
        def __init__(self, needed: str, *, lock: object) -> None:
            super().__init__(f"\x00\ud800{needed}" + "x" * 1_000_000)
            self.lock = lock

    class Delegating(Exception):
        def __getattr__(self, name: str) -> object:
            raise KeyError(name)

    class OddHeaders(Exception):
        headers = dict

    class Wordless(Exception):
        def __str__(self) -> str:
            raise SystemExit(4)

    def errors() -> list[BaseException]:
        odd = [Unpicklable("y", lock=object()), Delegating(), OddHeaders(), Wordless()]
        return [SystemExit(3), KeyboardInterrupt(), MemoryError(), GeneratorExit(), *odd]

    async def raises(ctx: TaskContext, number: int) -> None:
        raise errors()[number]

    def raises_in_thread(ctx: TaskContext, number: int) -> None:
        raise errors()[number]

    bench.on("raises", raises if executor == "async" else raises_in_thread, executor=executor)
    tasks = [await bench.enqueue("raises", {"number": number}, max_attempts=1) for number in range(len(errors()))]
    async with bench.worker(slots=1):
        done = await bench.ended(*tasks)
    assert [one["status"] for one in done] == ["dead_letter"] * len(tasks)
    history = [(await bench.world.attempts(task))[0]["kind"] for task in tasks]
    assert history == [type(error).__name__ for error in errors()]


async def test_a_result_that_is_too_large_fails_the_task(bench: Bench) -> None:
    async def large(ctx: TaskContext) -> str:
        return "x" * 2_000_000

    bench.on("large", large)
    task = await bench.enqueue("large")
    async with bench.worker():
        (done,) = await bench.ended(task)
    assert done["status"] == "failed"
    assert "the limit is" in done["last_error"]


async def test_a_child_is_tied_to_its_parent_and_runs(bench: Bench) -> None:
    async def parent(ctx: TaskContext) -> None:
        await ctx.enqueue("child", n=7)

    def child(ctx: TaskContext, n: int) -> int:
        ctx.sync.progress({"half": True})
        return n

    bench.on("parent", parent)
    bench.on("child", child, executor="thread")
    await bench.ended_all_after(await bench.enqueue("parent"), 2)
    rows = await bench.world.cypher(
        "MATCH (:Task {type: 'parent'})-[:SPAWNED]->(t:Task) RETURN t.result AS result, t.progress AS progress"
    )
    assert rows == [{"result": "7", "progress": '{"half":true}'}]


async def test_types_without_a_handler_are_left_alone(bench: Bench) -> None:
    async def known(ctx: TaskContext) -> None: ...

    bench.on("known", known)
    foreign = [await bench.enqueue("foreign", prio_bucket=0) for _ in range(20)]
    task = await bench.enqueue("known", prio_bucket=3)
    async with bench.worker():
        await bench.ended(task)
    assert await bench.world.statuses(*foreign) == ["pending"] * 20


async def test_a_released_dependent_runs_without_waiting_for_the_next_poll(bench: Bench) -> None:
    async def step(ctx: TaskContext) -> None: ...

    bench.on("step", step)
    chain = [await bench.enqueue("step")]
    for _ in range(5):
        chain.append(await bench.enqueue("step", after=[chain[-1]]))
    async with bench.worker(poll=3600.0) as worker:
        await bench.until_ready(worker)
        worker.wake()
        await bench.ended(*chain)
    assert await bench.world.broken() == []


async def test_nothing_is_left_of_what_has_run(bench: Bench) -> None:
    async def fails_half(ctx: TaskContext, number: int) -> None:
        if number % 2:
            raise ValueError("odd")

    bench.on("half", fails_half)
    async with bench.worker(slots=8) as worker:
        await bench.until_ready(worker)
        before = len(asyncio.all_tasks())
        tasks = [new_task("half", payload=json.dumps({"number": number})) for number in range(200)]
        await bench.world.enqueue(*tasks)
        await bench.ended(*tasks)
        await until(lambda: worker.running == 0 and len(asyncio.all_tasks()) <= before)
        assert worker.held == 0
        assert worker.counts == {"started": 200, "completed": 100, "failed": 100}
