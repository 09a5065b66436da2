"""A daemon as a process: `python -m tests.faults.worker FOLDER NAME SETTINGS`, the server in the environment.

Each handler appends a line of fixed length to FOLDER/journal as its first step: that file judges executions.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

from kgsched.config import load_settings
from kgsched.ports import Store
from kgsched.registry import Registry, TaskType
from kgsched.runtime.context import TaskContext
from kgsched.runtime.daemon import Daemon, run_daemon
from kgsched.store import Neo4jStore
from tests.faults.journal import Journal
from tests.runtime.spawning import spawn

FOLDER, NAME = Path(sys.argv[1]), sys.argv[2]
journal = Journal(FOLDER)


async def quick(ctx: TaskContext, seconds: float = 0.0) -> None:
    journal.began(ctx.uid, ctx.fence)
    await asyncio.sleep(seconds)


async def fact(ctx: TaskContext) -> None:
    """Writes one node in the transaction that also completes the task."""
    journal.began(ctx.uid, ctx.fence)
    async with ctx.finishing() as tx:
        await tx.run("CREATE (:Fact {uid: $uid, fence: $fence})", uid=ctx.uid, fence=ctx.fence)


async def shaky(ctx: TaskContext) -> None:
    """Fails at every odd run."""
    journal.began(ctx.uid, ctx.fence)
    if ctx.attempt % 2:
        raise ConnectionError("this run fails")


async def held(ctx: TaskContext) -> None:
    """Ends when the file `go` is there."""
    journal.began(ctx.uid, ctx.fence)
    while not (FOLDER / "go").exists():  # noqa: ASYNC110 - another process makes it
        await asyncio.sleep(0.05)


def kills(ctx: TaskContext) -> None:
    """Takes its worker with it."""
    journal.began(ctx.uid, ctx.fence)
    os.kill(os.getpid(), signal.SIGKILL)


def kills_once(ctx: TaskContext) -> None:
    """Takes its worker with it at the first run."""
    journal.began(ctx.uid, ctx.fence)
    if ctx.fence == 1:
        os.kill(os.getpid(), signal.SIGKILL)


def registry() -> Registry:
    one = Registry()
    for name, handler in (("quick", quick), ("fact", fact), ("shaky", shaky), ("held", held)):
        one.add(TaskType(name, handler))
    for name, function in (("kills", kills), ("kills_once", kills_once)):
        one.add(TaskType(name, function, executor="thread"))
    return one


async def open_store() -> Store:
    names = ("KGSCHED_TEST_NEO4J_URI", "KGSCHED_TEST_NEO4J_USER", "KGSCHED_TEST_NEO4J_PASSWORD")
    return Neo4jStore(*(os.environ[name] for name in names), pool=8)


def started(daemon: Daemon) -> None:
    (FOLDER / f"{NAME}.up").write_text(daemon.identity.worker)


if __name__ == "__main__":
    settings = load_settings(**json.loads(sys.argv[3]))
    sys.exit(asyncio.run(run_daemon(settings, registry(), open_store, spawn, on_start=started, stop_grace=0.5)))
