"""The one loop that every service runs on: an interval, a wake-up, backoff after errors, and a signal for tests."""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from kgsched.core.backoff import Backoff
from kgsched.errors import StorageConnectionError

log = structlog.get_logger(__name__)

Pass = Callable[[], Awaitable[float | None]]
AT_ONCE = 0.0
PASS_LIMIT = 90.0


@dataclass(slots=True)
class LoopStatus:
    """What a loop has done. `last_pass` is on the monotonic clock; `failing` counts errors since the last good pass."""

    passes: int = 0
    errors: int = 0
    failing: int = 0
    away: bool = False
    last_pass: float | None = None
    last_error: str | None = None


class Loop:
    """Calls `run_pass` again and again until it is stopped; an error ends a pass, never the loop.

    A pass returns the seconds until the next one, None for the interval; after `limit` seconds it is cancelled, for a
    network that goes silent says nothing. `wake` brings the next pass forward, except while errors hold it back. Bound
    to the event loop that calls `start`.
    """

    def __init__(
        self,
        name: str,
        run_pass: Pass,
        *,
        interval: float,
        limit: float = PASS_LIMIT,
        backoff: Backoff | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.name = name
        self.status = LoopStatus()
        self._run_pass = run_pass
        self._interval = interval
        self._limit = limit
        self._backoff = backoff or Backoff(200, 5_000)
        self._jitter = jitter
        self._bell = asyncio.Event()
        self._due = float("inf")
        self._stopping = False
        self._begun = 0
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name=f"loop:{self.name}")

    def wake(self, delay: float = AT_ONCE) -> None:
        """Have the next pass in `delay` seconds at the latest. Call it on the loop's own event loop."""
        self._due = min(self._due, time.monotonic() + delay)
        self._bell.set()

    def finish(self) -> None:
        """Begin no further pass."""
        self._stopping = True
        self._bell.set()

    async def stop(self, timeout: float = 5.0) -> None:
        """Let the pass that is under way end, for `timeout` seconds at most, then cancel it."""
        self.finish()
        if self._task is not None:
            _, running = await asyncio.wait({self._task}, timeout=timeout)
            for task in running:
                task.cancel()
                await asyncio.wait({task})
        self._release_waiters(self._begun)

    async def after_pass(self) -> None:
        """Return when a pass that begins from now on has ended well, or when the loop stops."""
        done = asyncio.get_running_loop().create_future()
        self._waiters.append((self._begun + 1, done))
        await done

    async def _run(self) -> None:
        while not self._stopping:
            delay = await self._one_pass()
            await self._rest(delay)

    async def _one_pass(self) -> float:
        self._due = float("inf")
        self._begun += 1
        number = self._begun
        try:
            async with asyncio.timeout(self._limit):
                delay = await self._run_pass()
        except Exception as error:  # noqa: BLE001 - one place where every error of a service ends, logged and counted
            return self._failed(error)
        self._recovered()
        self.status.passes += 1
        self.status.last_pass = time.monotonic()
        self._release_waiters(number)
        return self._interval if delay is None else delay

    def _failed(self, error: Exception) -> float:
        status = self.status
        status.errors += 1
        status.failing += 1
        status.away = isinstance(error, (StorageConnectionError, TimeoutError))
        status.last_error = f"{type(error).__name__}: {error}"[:500]
        if status.failing & (status.failing - 1) == 0:
            trace = None if status.away else error
            log.warning("loop_failed", loop=self.name, failing=status.failing, error=status.last_error, exc_info=trace)
        half = self._backoff.ceiling(status.failing) / 2
        return (half + half * self._jitter()) / 1000

    def _recovered(self) -> None:
        if self.status.failing:
            log.info("loop_recovered", loop=self.name, failed=self.status.failing)
        self.status.failing = 0
        self.status.away = False

    async def _rest(self, delay: float) -> None:
        until = time.monotonic() + delay
        await asyncio.sleep(0)
        while not self._stopping:
            due = until if self.status.failing else min(until, self._due)
            left = due - time.monotonic()
            if left <= 0:
                return
            self._bell.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(left):
                    await self._bell.wait()

    def _release_waiters(self, number: int) -> None:
        for needed, done in self._waiters:
            if (needed <= number or self._stopping) and not done.done():
                done.set_result(None)
        self._waiters = [one for one in self._waiters if not one[1].done()]
