"""A daemon in a process of its own: `python -m tests.runtime.daemon_process FOLDER SETTINGS`.

The server is named by environment variables. Its handlers append what they do to files in FOLDER; the file
`started` there says that it runs.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path

from kgsched.config import load_settings
from kgsched.ports import Store
from kgsched.registry import Job, Registry, TaskType
from kgsched.runtime.context import TaskContext
from kgsched.runtime.daemon import Daemon, run_daemon
from kgsched.store import Neo4jStore
from tests.runtime.process_handlers import start_a_child_and_hang
from tests.runtime.spawning import spawn

FOLDER = Path(sys.argv[1])


def note(name: str, line: str) -> None:
    with (FOLDER / name).open("a") as file:
        file.write(line + "\n")


async def short(ctx: TaskContext, seconds: float = 1.0) -> None:
    note("began", ctx.uid)
    await asyncio.sleep(seconds)
    note("ended", ctx.uid)


async def long(ctx: TaskContext) -> None:
    note("began", ctx.uid)
    await asyncio.Event().wait()


def deaf(ctx: TaskContext) -> None:
    note("began", ctx.uid)
    time.sleep(600)


async def once(ctx: TaskContext) -> None:
    """Hangs at its first claim, ends at the second."""
    note("began", f"{ctx.uid} {ctx.fence}")
    if ctx.fence == 1:
        await asyncio.Event().wait()


async def beat_the_drum(ctx: TaskContext) -> dict[str, int]:
    note("ticks", f"{ctx.slot}")
    return {"slot": ctx.slot or 0}


def registry() -> Registry:
    one = Registry()
    for handler in (short, long, once):
        one.add(TaskType(handler.__name__, handler))
    one.add(TaskType("deaf", deaf, executor="thread"))
    one.add(TaskType("hang", start_a_child_and_hang, executor="process"))
    one.add_job(Job("drum", beat_the_drum))
    return one


async def open_store() -> Store:
    names = ("KGSCHED_TEST_NEO4J_URI", "KGSCHED_TEST_NEO4J_USER", "KGSCHED_TEST_NEO4J_PASSWORD")
    return Neo4jStore(*(os.environ[name] for name in names), pool=8)


def started(daemon: Daemon) -> None:
    (FOLDER / "started").write_text(daemon.identity.worker)


if __name__ == "__main__":
    settings = load_settings(**json.loads(sys.argv[2]))
    daemon = run_daemon(
        settings,
        registry(),
        open_store,
        spawn,
        on_start=started,
        on_drain=(FOLDER / "draining").touch,
        stop_grace=0.5,
    )
    sys.exit(asyncio.run(daemon))
