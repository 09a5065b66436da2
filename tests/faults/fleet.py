"""Worker processes that scenarios kill, stop, drain and cut off."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgsched.localdb import ServerAddress
from tests.faults.proxy import FaultyProxy
from tests.runtime.waiting import until

ROOT = Path(__file__).parents[2]
SETTINGS: Mapping[str, Any] = {
    "slots": 8,
    "poll": 0.1,
    "lease": 3.0,
    "grace": 0.2,
    "beat": 0.4,
    "drain": 0.3,
    "backoff_base": 0.05,
    "backoff_cap": 0.2,
    "log_level": "error",
}


@dataclass(slots=True)
class Fleet:
    """A number of daemons with services. With `proxied` each has a proxy of its own between itself and the database."""

    address: ServerAddress
    folder: Path
    settings: Mapping[str, Any]
    proxies: list[FaultyProxy] = field(default_factory=list)
    processes: list[Process] = field(default_factory=list)
    every: list[Process] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.processes)

    async def replace(self, place: int) -> None:
        """Another process in the place of one that has ended."""
        self.processes[place] = await self._start(place)

    async def kill(self, place: int) -> None:
        """SIGKILL one process and start another."""
        self.processes[place].kill()
        await self.processes[place].wait()
        await self.replace(place)

    async def drain(self, place: int) -> int:
        """SIGTERM one process; its exit code."""
        self.processes[place].terminate()
        async with asyncio.timeout(60):
            return await self.processes[place].wait()

    async def freeze(self, place: int, seconds: float) -> None:
        """SIGSTOP one process for a time."""
        self.processes[place].send_signal(signal.SIGSTOP)
        await asyncio.sleep(seconds)
        self.processes[place].send_signal(signal.SIGCONT)

    async def end(self) -> None:
        """Kill what runs, also those whose start was given up halfway."""
        for process in self.every:
            if process.returncode is None:
                process.kill()
            await process.wait()

    async def _start(self, place: int) -> Process:
        name = f"{place}-{len(self.every) + 1}"
        uri = self.proxies[place].uri if self.proxies else self.address.uri
        login = {
            "KGSCHED_TEST_NEO4J_URI": uri,
            "KGSCHED_TEST_NEO4J_USER": self.address.user,
            "KGSCHED_TEST_NEO4J_PASSWORD": self.address.password,
        }
        words = ("-m", "tests.faults.worker", str(self.folder), name, json.dumps(dict(self.settings)))
        with (self.folder / "log").open("ab") as said:
            process = await asyncio.create_subprocess_exec(
                sys.executable, *words, env=os.environ | login, cwd=ROOT, stdout=said, stderr=said
            )
        self.every.append(process)
        up = self.folder / f"{name}.up"
        await until(lambda: up.exists() or process.returncode is not None, 120)
        return process


@asynccontextmanager
async def fleet_of(
    count: int, address: ServerAddress, folder: Path, *, proxied: bool = False, **settings: Any
) -> AsyncIterator[Fleet]:
    """`count` daemons, all up; what still runs at the end is killed."""
    async with AsyncExitStack() as stack:
        fleet = Fleet(address, folder, {**SETTINGS, **settings})
        for _ in range(count if proxied else 0):
            fleet.proxies.append(await stack.enter_async_context(FaultyProxy(address.uri)))
        stack.push_async_callback(fleet.end)
        fleet.processes.extend(await asyncio.gather(*(fleet._start(place) for place in range(count))))
        yield fleet
