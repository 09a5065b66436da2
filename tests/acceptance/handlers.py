"""Handlers for worker processes of the tests: they append to the file that NOTES names, which judges executions."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from kgsched import Kgsched, TaskContext

app = Kgsched()


def note(line: str) -> None:
    """Append one line in one write."""
    with Path(os.environ["NOTES"]).open("ab", buffering=0) as notes:
        notes.write(f"{line} {os.getpid()}\n".encode())


@app.task
async def short(ctx: TaskContext) -> str:
    note(f"short {ctx.id}")
    return "done"


@app.task
async def until_told(ctx: TaskContext) -> str:
    """Ends when the file that GO names exists."""
    note(f"began {ctx.id} {ctx.attempt}")
    while not Path(os.environ["GO"]).exists():  # noqa: ASYNC110, ASYNC240 - what it waits for is in the file system
        await asyncio.sleep(0.05)
    note(f"ended {ctx.id} {ctx.attempt}")
    return f"attempt {ctx.attempt}"


@app.task(lane="connectors")
async def ticked(ctx: TaskContext) -> dict[str, Any]:
    note(f"tick {ctx.slot}")
    return {"slot": ctx.slot}
