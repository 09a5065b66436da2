"""What scenarios share: a graph, a journal, a stream of tasks, and how much of everything there is to be."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgsched.core.task import NewTask
from kgsched.errors import StoreError
from kgsched.localdb import ServerAddress
from kgsched.store import Neo4jStore
from tests.faults.fleet import Fleet, fleet_of
from tests.faults.journal import Journal
from tests.faults.judge import Verdict, judge
from tests.runtime.waiting import until
from tests.store.worlds import World, new_task

BATCH = 50


@dataclass(frozen=True, slots=True)
class Scale:
    """`tasks` at least; `faults` at least, `pause` seconds apart; `ahead` tasks may wait before the stream pauses."""

    tasks: int
    faults: int
    pause: float
    workers: int = 2
    slots: int = 8
    ahead: int = 100
    hold: float = 1.0
    patience: float = 170.0


Inject = Callable[[int], Awaitable[None]]
Kinds = Sequence[tuple[str, dict[str, Any]]]
PLAIN: Kinds = (("quick", {}), ("quick", {"seconds": 0.02}), ("fact", {}), ("shaky", {}))


@dataclass(slots=True)
class Stage:
    """One scenario's graph and journal."""

    address: ServerAddress
    world: World
    folder: Path
    scale: Scale
    acknowledged: list[str] = field(default_factory=list)
    faults: int = 0
    begun: float = field(default_factory=time.monotonic)
    journal: Journal = field(init=False)

    def __post_init__(self) -> None:
        self.journal = Journal(self.folder)

    @asynccontextmanager
    async def fleet(self, count: int | None = None, **settings: Any) -> AsyncIterator[Fleet]:
        chosen = {"slots": self.scale.slots, **settings}
        async with fleet_of(count or self.scale.workers, self.address, self.folder, **chosen) as fleet:
            yield fleet

    async def under_load(
        self, inject: Inject, *, kinds: Kinds = PLAIN, store: Neo4jStore | None = None, max_attempts: int = 60
    ) -> None:
        """Inject faults while tasks stream in and run, until there were enough of both, and all tasks are over."""
        enough = asyncio.Event()
        stream = asyncio.create_task(self._stream(enough, kinds, store or self.world.store, max_attempts))
        try:
            await until(lambda: len(self.journal) > 0, self.scale.patience)
            while self.faults < self.scale.faults or len(self.acknowledged) < self.scale.tasks:
                await asyncio.sleep(self.scale.pause)
                await inject(self.faults)
                self.faults += 1
                if stream.done():
                    break
        finally:
            enough.set()
            await stream
        await self.all_over()

    async def all_over(self) -> None:
        """Return when every task is over."""
        await until(self._none_left, self.scale.patience)

    async def verdict(self, scenario: str) -> Verdict:
        seconds = time.monotonic() - self.begun
        self.journal.close()
        journal = Journal(self.folder)
        return await judge(self.world, journal, self.acknowledged, scenario, seconds, self.faults)

    async def _none_left(self) -> bool:
        try:
            return not await self.world.count("MATCH (t:Task) WHERE t.finished_at IS NULL")
        except StoreError:
            return False

    async def _stream(self, enough: asyncio.Event, kinds: Kinds, store: Neo4jStore, max_attempts: int) -> None:
        """Enqueue batches until it is enough; a batch that was not acknowledged is sent again as it is."""
        which = itertools.cycle(kinds)
        while not enough.is_set() or len(self.acknowledged) < self.scale.tasks:
            await self._acknowledge([_task(*next(which), max_attempts) for _ in range(BATCH)], store)
            await self._room()

    async def _acknowledge(self, batch: list[NewTask], store: Neo4jStore) -> None:
        async with asyncio.timeout(self.scale.patience):
            while True:
                try:
                    await store.tasks.enqueue(batch)
                except StoreError:
                    await asyncio.sleep(0.2)
                else:
                    self.acknowledged.extend(task.uid for task in batch)
                    return

    async def _room(self) -> None:
        async with asyncio.timeout(self.scale.patience):
            while len(self.acknowledged) - len(self.journal) > self.scale.ahead:  # noqa: ASYNC110 - other processes write it
                await asyncio.sleep(0.05)


def _task(type_: str, payload: dict[str, Any], max_attempts: int) -> NewTask:
    return new_task(type_, payload=json.dumps(payload), max_attempts=max_attempts)
