"""Workers and daemons in the test's own process, on the real server."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from kgsched.config import Settings, load_settings
from kgsched.core.task import NewTask
from kgsched.localdb import ServerAddress
from kgsched.ports import OpenStore, Store
from kgsched.registry import Handler, Registry, TaskType
from kgsched.runtime.daemon import Daemon
from kgsched.runtime.side_loop import StoreSource
from kgsched.runtime.worker import Worker
from kgsched.store import Neo4jStore
from tests.runtime.spawning import spawn
from tests.runtime.waiting import until
from tests.store.worlds import World, new_task

FAST = {"slots": 4, "poll": 0.05, "beat": 0.5, "lease": 30.0, "grace": 1.0, "drain": 5.0, "backoff_base": 0.01}


class Bench:
    """A registry, settings that make things quick, and shorthands."""

    def __init__(self, world: World, address: ServerAddress) -> None:
        self.world = world
        self.address = address
        self.registry = Registry()

    def on(self, name: str, handler: Handler, **rules: Any) -> None:
        """Have `handler` run tasks of type `name`."""
        self.registry.add(TaskType(name, handler, **rules))

    def settings(self, **more: Any) -> Settings:
        return load_settings(**{**FAST, **more})

    async def open_store(self) -> Store:
        one = self.address
        return Neo4jStore(one.uri, one.user, one.password, one.database, pool=8)

    @asynccontextmanager
    async def worker(
        self, *, stop_grace: float = 0.5, open_store: OpenStore | None = None, **settings: Any
    ) -> AsyncIterator[Worker]:
        """A worker that runs until the end of the block, and is drained then."""
        opener = open_store or self.open_store
        source = StoreSource(opener)
        worker = Worker(self.settings(**settings), self.registry, opener, spawn, source, stop_grace=stop_grace)
        await worker.start()
        try:
            yield worker
        finally:
            await worker.drain()
            await source.close()

    @asynccontextmanager
    async def daemon(
        self, *, stop_grace: float = 0.5, open_store: OpenStore | None = None, **settings: Any
    ) -> AsyncIterator[Daemon]:
        opener = open_store or self.open_store
        daemon = Daemon(self.settings(**settings), self.registry, opener, spawn, stop_grace=stop_grace)
        await daemon.start()
        try:
            yield daemon
        finally:
            await daemon.drain()

    async def enqueue(self, type_: str, payload: object = None, **fields: Any) -> NewTask:
        text = json.dumps({} if payload is None else payload)
        return await self.world.enqueue_one(type_, payload=text, **fields)

    async def ended(self, *tasks: NewTask, timeout: float = 60.0) -> list[dict[str, Any]]:
        """Properties of tasks once they are over."""
        await until(lambda: self._ended(tasks), timeout)
        return [await self.world.task(task) for task in tasks]

    async def ended_all_after(self, first: NewTask, count: int) -> None:
        """Run a worker until `first` and all that comes of it, `count` tasks together, are over."""
        async with self.worker():
            await self.ended(first)
            await until(lambda: self._over(count))

    async def until_ready(self, worker: Worker) -> None:
        """Return when the worker may claim."""
        presence = next(loop for loop in worker.loops() if loop.name == "presence")
        await until(lambda: presence.status.passes)

    async def _over(self, count: int) -> bool:
        return await self.world.count("MATCH (t:Task) WHERE t.finished_at IS NOT NULL") == count

    async def reached(self, task: NewTask, status: str, timeout: float = 60.0) -> dict[str, Any]:
        async def there() -> bool:
            return (await self.world.status(task)) == status

        await until(there, timeout)
        return await self.world.task(task)

    async def _ended(self, tasks: tuple[NewTask, ...]) -> bool:
        rows = await self.world.store.graph.query(
            "MATCH (t:Task) WHERE t.uid IN $uids AND t.finished_at IS NOT NULL RETURN count(t) AS n",
            uids=[task.uid for task in tasks],
        )
        return int(rows[0]["n"]) == len(tasks)


__all__ = ["Bench", "new_task", "until"]
