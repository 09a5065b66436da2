"""The daemon: a worker and the services in one process, and how it comes to an end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable

import structlog

from kgsched.config import Settings
from kgsched.ports import OpenStore
from kgsched.registry import Registry
from kgsched.runtime.context import Spawn
from kgsched.runtime.loop import Loop
from kgsched.runtime.scheduled_job import add_scheduled_job
from kgsched.runtime.services import Services
from kgsched.runtime.side_loop import StoreSource
from kgsched.runtime.worker import STOP_GRACE, Worker, new_identity

log = structlog.get_logger(__name__)

CLOSE_WAIT = 2.0
SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Daemon:
    """A worker, and the services unless `services` is False. Belongs to the event loop that makes it."""

    def __init__(
        self,
        settings: Settings,
        registry: Registry,
        open_store: OpenStore,
        spawn: Spawn,
        *,
        services: bool = True,
        stop_grace: float = STOP_GRACE,
    ) -> None:
        add_scheduled_job(registry)
        self.identity = new_identity()
        self._source = StoreSource(open_store)
        self.worker = Worker(
            settings,
            registry,
            open_store,
            spawn,
            self._source,
            identity=self.identity,
            stop_grace=stop_grace,
        )
        longest = max([settings.lease, *(one.lease_ms / 1000 for one in registry if one.lease_ms)])
        self.services = (
            Services(settings, self._source, self.identity, self.worker.ticks, self.worker.wake, longest)
            if services
            else None
        )

    async def start(self) -> None:
        """Start everything; a database that is away is waited for by the loops themselves."""
        await self.worker.start()
        if self.services is not None:
            self.services.start()
        log.info("daemon_started", worker=self.identity.worker, services=self.services is not None)

    def wake(self) -> None:
        """Look for work at once; from any thread."""
        self.worker.wake()

    def loops(self) -> tuple[Loop, ...]:
        return (*self.worker.loops(), *(self.services.loops() if self.services is not None else ()))

    async def drain(self) -> int:
        """Let short bodies finish, give the rest back, leave. Returns outcomes that could not be recorded."""
        log.info("daemon_drains", running=self.worker.running)
        self.worker.stop_claiming()
        await self._stop_services()
        left = await self.worker.drain()
        await self._close()
        log.info("daemon_stopped", unrecorded=left, **self.worker.counts)
        return left

    async def kill(self) -> None:
        """Stop now; what runs is given to others when its lease ends."""
        log.warning("daemon_stops_now", running=self.worker.running)
        if self.services is not None:
            await self.services.stop(timeout=0.1)
        await self.worker.kill()
        await self._close()

    async def _stop_services(self) -> None:
        if self.services is None:
            return
        await self.services.stop()
        try:
            async with asyncio.timeout(CLOSE_WAIT):
                await self.services.leader.resign()
        except Exception as error:  # noqa: BLE001 - the leader's lease ends by itself
            log.warning("leader_not_resigned", error=str(error))

    async def _close(self) -> None:
        try:
            async with asyncio.timeout(CLOSE_WAIT):
                await self._source.close()
        except Exception as error:  # noqa: BLE001 - the process is leaving
            log.warning("store_close_failed", error=str(error))


async def run_daemon(
    settings: Settings,
    registry: Registry,
    open_store: OpenStore,
    spawn: Spawn,
    *,
    services: bool = True,
    stop: asyncio.Event | None = None,
    on_start: Callable[[Daemon], None] | None = None,
    on_drain: Callable[[], None] | None = None,
    stop_grace: float = STOP_GRACE,
) -> int:
    """Run until SIGTERM, SIGINT or `stop`, then drain; a second signal stops at once.

    Returns the exit code: 0 after a drain, 1 when outcomes could not be recorded, 128 + signal after a second one.
    """
    control = asyncio.get_running_loop()
    received: asyncio.Queue[int] = asyncio.Queue()
    for number in SIGNALS:
        control.add_signal_handler(number, received.put_nowait, number)
    try:
        daemon = Daemon(settings, registry, open_store, spawn, services=services, stop_grace=stop_grace)
        await daemon.start()
        if on_start is not None:
            on_start(daemon)
        await _first(received, stop)
        if on_drain is not None:
            on_drain()
        return await _end(daemon, received)
    finally:
        for number in SIGNALS:
            control.remove_signal_handler(number)


async def _first(received: asyncio.Queue[int], stop: asyncio.Event | None) -> None:
    waits: list[asyncio.Task[object]] = [asyncio.create_task(received.get())]
    if stop is not None:
        waits.append(asyncio.create_task(stop.wait()))
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for wait in waits:
        wait.cancel()


async def _end(daemon: Daemon, received: asyncio.Queue[int]) -> int:
    draining = asyncio.create_task(daemon.drain())
    again = asyncio.create_task(received.get())
    either: set[asyncio.Task[int]] = {draining, again}
    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
    if not draining.done():
        draining.cancel()
        await asyncio.wait({draining})
        await daemon.kill()
        return 128 + again.result()
    again.cancel()
    return 1 if draining.result() else 0
