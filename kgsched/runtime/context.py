"""What a handler is given: its task, and what it may do besides returning."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from kgsched.core.limits import to_json
from kgsched.core.task import Claim, Enqueued, Limits
from kgsched.errors import LeaseConflict
from kgsched.ports import Graph, Store, Transaction
from kgsched.registry import Handler
from kgsched.runtime.cancelled import CancelSign
from kgsched.runtime.finishing import Finisher
from kgsched.runtime.leases import Leases
from kgsched.runtime.run_log import RunLog
from kgsched.runtime.side_loop import SideLoop
from kgsched.runtime.sync_context import SyncContext

MAX_PROGRESS_BYTES = 16 * 1024

Spawn = Callable[[Store, Claim, str | Handler, Mapping[str, Any], Transaction | None], Awaitable[Enqueued]]
"""Enqueues a child of a claimed task: store, parent, type or handler, the keywords of enqueue, transaction."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What all contexts of a process share."""

    bodies: SideLoop
    leases: Leases
    spawn: Spawn
    wake: Callable[[], None]
    worker: str
    grace: float
    limiter: Callable[[str], Limits]


class TaskContext:
    """One run of one task. Its coroutines belong to the handlers' event loop; a plain function uses `ctx.sync`.

    payload: what was enqueued. log: call it with a line and values, `ctx.log("read", rows=3)`; the last 100 lines of
    a run are kept. cancelled: true as soon as the run is to stop, for handlers that look by themselves.
    """

    def __init__(self, claim: Claim, payload: Any, around: Surroundings) -> None:
        self._claim = claim
        self._around = around
        self.payload = payload
        self.cancelled = CancelSign(around.bodies)
        self.log = RunLog()

    def __repr__(self) -> str:
        return f"<TaskContext {self.type} {self.id} attempt {self.attempt} of {self.max_attempts}>"

    @property
    def id(self) -> str:
        return self._claim.id

    @property
    def uid(self) -> str:
        return self._claim.uid

    @property
    def space(self) -> str:
        return self._claim.space

    @property
    def type(self) -> str:
        return self._claim.type

    @property
    def lane(self) -> str:
        return self._claim.lane

    @property
    def attempt(self) -> int:
        """1 at the first run; runs that were given back do not count."""
        return self._claim.attempt

    @property
    def max_attempts(self) -> int:
        return self._claim.max_attempts

    @property
    def fence(self) -> int:
        """Grows with every claim of this task: present it to systems that can refuse an older holder."""
        return self._claim.claims

    @property
    def schedule(self) -> str | None:
        return self._claim.schedule

    @property
    def slot(self) -> int | None:
        """The instant that the schedule fired for, in epoch milliseconds; None for a run-now."""
        return self._claim.slot

    @property
    def worker(self) -> str:
        return self._around.worker

    @property
    def graph(self) -> Graph:
        """Reads and transactions on the graph, on the handlers' own connections."""
        return self.store.graph

    @property
    def store(self) -> Store:
        """The handlers' store, for jobs of kgsched itself."""
        return self._around.bodies.source.opened

    @cached_property
    def sync(self) -> SyncContext:
        """The same methods for a handler that is a plain function."""
        return SyncContext(self, self._around.bodies)

    @cached_property
    def _finisher(self) -> Finisher:
        return Finisher(self._claim, self.store, self._around.leases, self._around.grace, self.log)

    @property
    def finisher(self) -> Finisher | None:
        """The finisher, if this run has used it."""
        return self.__dict__.get("_finisher")

    async def enqueue(self, what: str | Handler, /, *, tx: Transaction | None = None, **keywords: Any) -> Enqueued:
        """Enqueue a child of this task: `what` is a type or its handler, the keywords are those of the app's enqueue.

        With `tx` the child exists if and only if that transaction commits.
        """
        done = await self._around.spawn(self.store, self._claim, what, keywords, tx)
        self._around.wake()
        return done

    async def progress(self, value: Any) -> None:
        """Say how far the run is: any JSON of up to 16 KiB. Raises LeaseConflict when the claim is lost."""
        text = to_json(f"progress of task {self.id}", value, MAX_PROGRESS_BYTES)
        if not await self.store.tasks.report_progress(self._claim, text):
            raise LeaseConflict(f"task {self.id} is no longer ours; its progress was not recorded")

    async def limit(self, key: str) -> None:
        """Wait for the next start that the limiter `key` allows, shared by all processes of the cluster.

        Raises UnknownName for a key that `app.limiter(key, rate)` did not declare.
        """
        limits = self._around.limiter(key)
        wait = await self.store.gates.reserve(self.space, key, limits.rate or 1, limits.period_ms or 1)
        await asyncio.sleep(wait / 1000)

    def finishing(self, *, result: Any = None, timeout: float = 30.0) -> AbstractAsyncContextManager[Transaction]:
        """A transaction that commits the handler's writes and the task's completion together.

        `async with ctx.finishing(result={"n": 3}) as tx: await tx.run("CREATE …")`. The task's completion is the last
        statement before the commit; `result` may be a function, called then. After the block the task is completed.
        `timeout` (seconds) bounds the transaction. Raises LeaseConflict when the claim is lost: nothing is written.
        """
        return self._finisher.transaction(result, timeout)
