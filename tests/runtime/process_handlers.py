"""Handlers that tests run in processes of their own."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any


class Unpicklable(Exception):
    def __init__(self, needed: str, *, handle: object) -> None:
        super().__init__(needed)
        self.handle = handle


def add(ctx: Any, left: int, right: int) -> dict[str, Any]:
    print("a handler's own output")
    ctx.log("adding", left=left)
    ctx.progress({"done": 1})
    return {"sum": left + right, "pid": os.getpid(), "attempt": ctx.attempt}


async def add_async(ctx: Any, left: int, right: int) -> int:
    await asyncio.sleep(0)
    return left + right


def raise_unpicklable(ctx: Any) -> None:
    raise Unpicklable("needed", handle=sys.stderr)


def die(ctx: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def leave_a_child_and_die(ctx: Any) -> None:
    """The child has a session of its own, and keeps open what it inherited."""
    if os.fork() == 0:
        os.setsid()
        time.sleep(20)
        os._exit(0)
    ctx.log("forked", line=1)
    os.kill(os.getpid(), signal.SIGKILL)


def leave(ctx: Any) -> None:
    sys.exit(3)


def eat_memory(ctx: Any) -> int:
    return len(bytearray(1024 * 1024 * 1024))


def use_the_graph(ctx: Any) -> None:
    ctx.graph.query("RETURN 1")


def start_a_child_and_hang(ctx: Any, folder: str) -> None:
    """Deaf to SIGTERM, as is its child; their process ids are in files."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    child = subprocess.Popen([sys.executable, "-c", code])
    Path(folder, "child").write_text(f"{child.pid}\n")
    Path(folder, "self").write_text(f"{os.getpid()}\n")
    time.sleep(600)
