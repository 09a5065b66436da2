"""Daemons as processes, which tests signal and kill."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from kgsched.localdb import ServerAddress
from tests.runtime.bench import FAST
from tests.runtime.waiting import until

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class RunningDaemon:
    """A daemon's process and the folder that its handlers write to."""

    process: Process
    folder: Path

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    async def ended(self, timeout: float = 60.0) -> int:
        async with asyncio.timeout(timeout):
            return await self.process.wait()

    def lines(self, name: str) -> list[str]:
        file = self.folder / name
        return file.read_text().split("\n")[:-1] if file.exists() else []

    async def has(self, name: str, count: int) -> list[str]:
        """Lines of a file, once there are `count`."""
        await until(lambda: len(self.lines(name)) >= count)
        return self.lines(name)


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _clean(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    for name in ("started", "draining"):
        (folder / name).unlink(missing_ok=True)


@asynccontextmanager
async def running_daemon(address: ServerAddress, folder: Path, **settings: Any) -> AsyncIterator[RunningDaemon]:
    """A daemon that is killed at the end of the block if it still runs."""
    _clean(folder)
    environment = {
        **os.environ,
        "KGSCHED_TEST_NEO4J_URI": address.uri,
        "KGSCHED_TEST_NEO4J_USER": address.user,
        "KGSCHED_TEST_NEO4J_PASSWORD": address.password,
    }
    words = ("-m", "tests.runtime.daemon_process", str(folder), json.dumps({**FAST, **settings}))
    process = await asyncio.create_subprocess_exec(sys.executable, *words, env=environment, cwd=ROOT)
    daemon = RunningDaemon(process, folder)
    try:
        await until(lambda: (folder / "started").exists() or process.returncode is not None)
        assert process.returncode is None
        yield daemon
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
