"""A worker from claim to verdict."""

from __future__ import annotations

import json
from typing import Any

from kgsched.runtime.context import TaskContext
from tests.runtime.bench import Bench


async def test_a_task_runs_with_its_arguments_and_its_result_is_kept(bench: Bench) -> None:
    async def summarize(ctx: TaskContext, paper: str, pages: int = 3) -> dict[str, Any]:
        ctx.log("reading", paper=paper)
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
