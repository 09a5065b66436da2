"""The services that keep the queue going: one pulse a second wakes each when the head of its work is due."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import structlog

from kgsched.config import Settings
from kgsched.core.task import Pulse, Swept
from kgsched.errors import StorageConnectionError
from kgsched.ports import Store
from kgsched.runtime.clock_guard import ClockGuard
from kgsched.runtime.leader import Leader
from kgsched.runtime.loop import AT_ONCE, Loop
from kgsched.runtime.presence import Identity
from kgsched.runtime.side_loop import StoreSource
from kgsched.runtime.ticks import TickEnd, TickKeeper

log = structlog.get_logger(__name__)

PULSE_S = 1.0
NOTE_S = 5.0
UNFIT_AFTER = 5

Head = Callable[[Pulse], int | None]
Sweep = Callable[[Store], Awaitable[Swept]]


@dataclass(frozen=True, slots=True)
class Service:
    """A sweep, the instant at which its first work is due (epoch ms of the server), and its longest pause."""

    name: str
    head: Head
    sweep: Sweep
    interval: float


class Services:
    """Pulse, leadership and the sweeps of one process. `wake` is called when a sweep may have made tasks ready.

    longest_lease: seconds for which nobody is reaped after an outage or a jump of the clock.
    """

    def __init__(
        self,
        settings: Settings,
        source: StoreSource,
        identity: Identity,
        ticks: TickKeeper,
        wake: Callable[[], None],
        longest_lease: float,
    ) -> None:
        self._source = source
        self._identity = identity
        self._ticks = ticks
        self._wake = wake
        self._grace_ms = round(settings.grace * 1000)
        self._guard = ClockGuard(longest_lease)
        self._noted: dict[str, float] = {}
        self._pulse_loop = Loop("pulse", self._beat, interval=PULSE_S)
        self.leader = Leader(source, identity.worker, on_lead=self._wake_all, unfit=self._unfit)
        self._services = self._all()
        self._loops = {one.name: self._loop_of(one) for one in self._services}

    def loops(self) -> tuple[Loop, ...]:
        return (self._pulse_loop, self.leader.loop, *self._loops.values())

    def loop(self, name: str) -> Loop:
        """The loop of the service `name`: promotion, reaper, tick, settle, cascade, release, revive …"""
        return self._loops[name]

    def start(self) -> None:
        for loop in self.loops():
            loop.start()

    async def stop(self, timeout: float = 2.0) -> None:
        for loop in self.loops():
            loop.finish()
        for loop in self.loops():
            await loop.stop(timeout)

    def _all(self) -> tuple[Service, ...]:
        return (
            Service("promotion", lambda pulse: pulse.due_at, lambda store: store.sweeps.promotion_sweep(), 60.0),
            Service("reaper", self._reap_at, self._reap, 10.0),
            Service("tick", lambda pulse: pulse.next_run, lambda store: store.schedules.fire_due(), 1.0),
            Service("settle", lambda pulse: pulse.unsettled, lambda store: store.sweeps.settle(), 60.0),
            Service("cascade", lambda pulse: pulse.cascade_pending, lambda store: store.sweeps.cascade_step(), 60.0),
            Service("release", lambda pulse: pulse.release_pending, lambda store: store.sweeps.release_step(), 60.0),
            Service("revive", lambda pulse: pulse.revive_pending, lambda store: store.sweeps.revive_step(), 60.0),
            Service("admission", lambda pulse: pulse.gate_at, lambda store: store.sweeps.admission(), 5.0),
            Service("collapse", lambda pulse: None, lambda store: store.sweeps.collapse_stale_ticks(), 60.0),
        )

    def _loop_of(self, service: Service) -> Loop:
        async def run_pass() -> float | None:
            return await self._sweep(service)

        return Loop(service.name, run_pass, interval=service.interval)

    async def _sweep(self, service: Service) -> float | None:
        if not self.leader.leading:
            return None
        store = await self._source.get()
        swept = await service.sweep(store)
        if swept.count:
            log.info("swept", job=swept.job, count=swept.count)
            self._wake()
        await self._note(store, service.name, swept)
        return AT_ONCE if swept.more else None

    async def _note(self, store: Store, name: str, swept: Swept) -> None:
        now = time.monotonic()
        if swept.count or now >= self._noted.get(name, 0.0) + NOTE_S:
            self._noted[name] = now
            await store.cluster.note_loop(name, self._identity.worker, f"{swept.count}")

    async def _beat(self) -> None:
        sent = time.monotonic()
        try:
            store = await self._source.get()
            pulse = await store.cluster.pulse()
        except StorageConnectionError:
            self._guard.failed()
            raise
        reason = self._guard.contact(pulse.now, sent, time.monotonic())
        if reason is not None:
            log.info("reaper_waits_a_lease", reason=reason)
        if not self.leader.leading and (pulse.lease_until is None or pulse.lease_until <= pulse.now):
            self.leader.loop.wake()
        for service in self._services:
            head = service.head(pulse)
            if head is not None and head <= pulse.now + PULSE_S * 1000:
                self._loops[service.name].wake(max(0, head - pulse.now) / 1000)

    def _reap_at(self, pulse: Pulse) -> int | None:
        return None if pulse.lease_expires_at is None else pulse.lease_expires_at + self._grace_ms

    async def _reap(self, store: Store) -> Swept:
        if not self._guard.may_reap(time.monotonic()):
            return Swept("reaper", 0)
        swept, reaped = await store.sweeps.reaper(self._grace_ms)
        for one in reaped:
            log.warning("reaped", task=one.uid, worker=one.worker_id, now=one.status)
            if one.schedule is not None and one.status.terminal:
                self._ticks.record(TickEnd(one.space, one.schedule, one.uid, one.status, "worker lost"))
        return swept

    def _wake_all(self) -> None:
        for loop in self._loops.values():
            loop.wake()

    def _unfit(self) -> str | None:
        for name, loop in self._loops.items():
            if loop.status.failing >= UNFIT_AFTER and not loop.status.away:
                return f"{name}: {loop.status.last_error}"
        return None
