"""Handlers in processes of their own."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from kgsched.errors import InvalidValue
from kgsched.registry import Handler
from kgsched.runtime.context import TaskContext
from kgsched.runtime.process_job import reference
from tests.runtime import process_handlers as handlers
from tests.runtime.bench import Bench, until
from tests.runtime.daemons import alive


async def run(bench: Bench, handler: Handler, payload: object = None, **rules: Any) -> dict[str, Any]:
    """Properties of a task that `handler` ran in a process, at its end."""
    bench.on("task", handler, executor="process", **rules)
    task = await bench.enqueue("task", payload, max_attempts=1)
    async with bench.worker():
        (done,) = await bench.ended(task)
    history = await bench.world.attempts(task)
    return {**done, "history": history}


async def test_json_goes_in_and_comes_out(bench: Bench) -> None:
    done = await run(bench, handlers.add, {"left": 2, "right": 3})
    result = json.loads(done["result"])
    assert (done["status"], result["sum"], result["attempt"]) == ("completed", 5, 1)
    assert result["pid"] != os.getpid()
    assert done["progress"] == '{"done":1}'


async def test_a_coroutine_runs_in_a_process_too(bench: Bench) -> None:
    assert (await run(bench, handlers.add_async, {"left": 2, "right": 3}))["result"] == "5"


@pytest.mark.parametrize(
    ("handler", "kind", "words"),
    [
        (handlers.raise_unpicklable, "Unpicklable", "needed"),
        (handlers.die, "process_died", "SIGKILL"),
        (handlers.leave, "SystemExit", "3"),
        (handlers.use_the_graph, "AttributeError", "no ctx.graph"),
    ],
)
async def test_a_process_that_ends_badly_fails_its_task_only(
    bench: Bench, handler: Handler, kind: str, words: str
) -> None:
    last = (await run(bench, handler))["history"][0]
    assert last["kind"] == kind
    assert words in last["message"]


async def test_a_process_that_dies_is_noticed_though_a_child_of_it_lives(bench: Bench) -> None:
    last = (await run(bench, handlers.leave_a_child_and_die))["history"][0]
    assert last["kind"] == "process_died"
    assert last["log"][0].endswith("forked line=1")


async def test_a_class_of_the_types_own_list_is_recognised_in_the_process(bench: Bench) -> None:
    done = await run(bench, handlers.raise_unpicklable, permanent=(handlers.Unpicklable,))
    assert done["status"] == "failed"


async def test_memory_is_limited(bench: Bench) -> None:
    assert (await run(bench, handlers.eat_memory, memory_mb=512))["history"][0]["kind"] == "MemoryError"


async def test_arguments_that_do_not_fit_fail_at_once(bench: Bench) -> None:
    done = await run(bench, handlers.add, {"left": 2})
    assert done["status"] == "failed"
    assert "'right'" in done["last_error"]


async def test_a_deaf_process_is_killed_with_its_children(bench: Bench, tmp_path: Path) -> None:
    done = await run(bench, handlers.start_a_child_and_hang, {"folder": str(tmp_path)}, timeout_ms=3_000)
    assert done["history"][0]["kind"] == "timeout"
    pids = [int((tmp_path / name).read_text()) for name in ("self", "child")]
    await until(lambda: not any(alive(pid) for pid in pids))


async def test_a_handler_that_no_process_can_import_is_refused_at_the_start(bench: Bench) -> None:
    async def inside(ctx: TaskContext) -> None: ...

    bench.on("inside", inside, executor="process")
    with pytest.raises(InvalidValue, match="move it to the top of a module"):
        async with bench.worker():
            pass
    assert reference(handlers.add) == "tests.runtime.process_handlers:add"
