"""How ticks ended, told to their schedules after the acknowledgement."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass

import structlog

from kgsched.core.states import Status
from kgsched.errors import StorageConflict, StorageConnectionError
from kgsched.runtime.loop import Loop
from kgsched.runtime.side_loop import StoreSource

log = structlog.get_logger(__name__)

IDLE = 60.0


@dataclass(frozen=True, slots=True)
class TickEnd:
    """A tick of a schedule that is over."""

    space: str
    schedule: str
    uid: str
    status: Status
    reason: str | None


class TickKeeper:
    """Records runs one after another, each until it is recorded; what the store refuses is logged and left."""

    def __init__(self, source: StoreSource) -> None:
        self._source = source
        self._queue: deque[TickEnd] = deque()
        self.loop = Loop("tick_results", self._pass, interval=IDLE)

    def record(self, end: TickEnd) -> None:
        """A cancelled tick is neither a success nor a failure of its schedule."""
        if end.status is not Status.CANCELLED:
            self._queue.append(end)
            self.loop.wake()

    @property
    def waiting(self) -> int:
        return len(self._queue)

    async def flush(self, timeout: float) -> None:
        """Wait until all is recorded, for `timeout` seconds at most."""
        if self._queue:
            self.loop.wake()
            try:
                async with asyncio.timeout(timeout):
                    await self.loop.after_pass()
            except TimeoutError:
                log.error("tick_results_unrecorded", count=len(self._queue))

    async def _pass(self) -> None:
        store = await self._source.get()
        while self._queue:
            end = self._queue[0]
            ok = end.status is Status.COMPLETED
            try:
                await store.schedules.record_run(end.space, end.schedule, end.uid, ok, None if ok else end.reason)
            except (StorageConnectionError, StorageConflict):
                raise
            except Exception as error:  # noqa: BLE001 - one schedule never stops the others
                log.error("tick_result_dropped", schedule=end.schedule, task=end.uid, error=str(error))
            self._queue.popleft()
