"""Heartbeats: extend leases, learn of lost and cancelled claims, find strangers, and see leases end unrenewed.

Runs on a thread, an event loop and a connection of its own: no handler and no full pool costs a lease.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence

import structlog

from kgsched.core.backoff import Backoff
from kgsched.core.lanes import LANES
from kgsched.core.task import Ack, AckOutcome, BeatReport, Claim, ErrorInfo
from kgsched.errors import StorageConnectionError
from kgsched.ports import Store
from kgsched.runtime.leases import Leases
from kgsched.runtime.loop import Loop
from kgsched.runtime.side_loop import SideLoop

log = structlog.get_logger(__name__)

CHUNK = 100
CANCELS_S = 1.0
CANCELS_LIMIT = 5.0
MAX_STRANGER_AGE = 30.0
MIN_TIMEOUT = 5.0
ABREAST = 8

Lost = Callable[[Claim, str], None]
Cancelled = Callable[[Claim], None]


class Beats:
    """Beats all that `leases` holds. `on_lost` and `on_cancel` are called on the beats' thread."""

    def __init__(
        self, side: SideLoop, leases: Leases, *, session: str, interval: float, on_lost: Lost, on_cancel: Cancelled
    ) -> None:
        self._side = side
        self._leases = leases
        self._session = session
        self._interval = interval
        self._on_lost = on_lost
        self._on_cancel = on_cancel
        self._loops: tuple[Loop, ...] = ()
        leases.listen(self.changed)

    async def start(self) -> None:
        await self._side.run(self._start())

    async def stop(self) -> None:
        if self._side.alive:
            await self._side.run(self._stop())

    def changed(self) -> None:
        """The leases changed; from any thread."""
        self._side.call(self._wake)

    def loops(self) -> tuple[Loop, ...]:
        return self._loops

    async def _start(self) -> None:
        beat = Loop("beat", self._beat, interval=self._interval, backoff=Backoff(100, 1_000))
        watch = Loop("lease_watch", self._watch, interval=self._interval)
        cancels = Loop("cancels", self._look_for_cancels, interval=CANCELS_S)
        self._loops = (beat, watch, cancels)
        for loop in self._loops:
            loop.start()

    async def _stop(self) -> None:
        for loop in self._loops:
            await loop.stop(timeout=1.0)

    def _wake(self) -> None:
        now = time.monotonic()
        instants = (self._leases.next_beat(), self._leases.next_stop())
        for loop, instant in zip(self._loops[:2], instants, strict=False):
            if instant is not None:
                loop.wake(max(0.0, instant - now))

    async def _beat(self) -> float | None:
        store = await self._side.source.get()
        claims = sorted(self._leases.due(time.monotonic()), key=lambda claim: claim.uid)
        failures: list[Exception] = []
        for number, chunk in enumerate(_chunks(claims)):
            try:
                await self._beat_chunk(store, chunk, look_for_strangers=number == 0)
            except Exception as error:  # noqa: BLE001 - one chunk never stops the others; the loop reports the first
                failures.append(error)
                if len(chunk) > 1 and not isinstance(error, StorageConnectionError):
                    await self._beat_singly(store, chunk)
        if failures:
            raise failures[0]
        following = self._leases.next_beat()
        return None if following is None else min(self._interval, max(0.0, following - time.monotonic()))

    async def _beat_chunk(self, store: Store, chunk: Sequence[Claim], *, look_for_strangers: bool) -> None:
        lease = _shortest(chunk, self._interval)
        sent_at = time.monotonic()
        async with asyncio.timeout(_patience(chunk, self._interval)):
            report = await store.tasks.beat(
                chunk,
                session=self._session,
                lanes=sorted(LANES) if look_for_strangers else (),
                known=self._leases.known(),
                stranger_age_ms=round(min(MAX_STRANGER_AGE, lease / 2) * 1000),
            )
        self._leases.renewed([claim for claim in chunk if claim.uid not in report.lost], sent_at)
        self._tell(chunk, report)
        await self._release_strangers(store, report)

    async def _beat_singly(self, store: Store, chunk: Sequence[Claim]) -> None:
        """Somebody may hold one of these tasks locked: that is no reason to lose the others."""
        few = asyncio.Semaphore(ABREAST)

        async def beat(claim: Claim) -> None:
            async with few:
                await self._beat_chunk(store, [claim], look_for_strangers=False)

        beats = [asyncio.ensure_future(beat(claim)) for claim in chunk]
        _, late = await asyncio.wait(beats, timeout=_patience(chunk, self._interval))
        for one in late:
            one.cancel()
        await asyncio.gather(*beats, return_exceptions=True)

    def _tell(self, chunk: Sequence[Claim], report: BeatReport) -> None:
        for claim in chunk:
            if claim.uid in report.lost and self._leases.give_up(claim, time.monotonic()):
                self._on_lost(claim, "another holder or the reaper has it")
            elif claim.uid in report.cancel_requested:
                self._on_cancel(claim)

    async def _release_strangers(self, store: Store, report: BeatReport) -> None:
        """Give back what a claim with a lost answer took after all."""
        strangers = [one for one in report.strangers if self._leases.is_stranger(*one)]
        if strangers:
            error = ErrorInfo("released", "claimed, but the answer was lost; never started")
            await store.tasks.reschedule([Ack(uid, token, AckOutcome.RELEASE, error=error) for uid, token in strangers])
            log.info("strangers_released", tasks=[uid for uid, _ in strangers])

    async def _look_for_cancels(self) -> None:
        if not len(self._leases):
            return
        store = await self._side.source.get()
        async with asyncio.timeout(CANCELS_LIMIT):
            asked = await store.tasks.cancels(self._session, sorted(LANES))
        for uid, token in asked:
            claim = self._leases.find(uid, token)
            if claim is not None:
                self._on_cancel(claim)

    async def _watch(self) -> float | None:
        now = time.monotonic()
        for claim in self._leases.expiring(now):
            if self._leases.give_up(claim, now):
                self._on_lost(claim, "no beat was answered before the lease ends")
        following = self._leases.next_stop()
        return None if following is None else max(0.0, following - time.monotonic())


def _shortest(chunk: Sequence[Claim], interval: float) -> float:
    """The shortest lease of these, in seconds."""
    return min((claim.lease_ms / 1000 for claim in chunk), default=interval * 3)


def _patience(chunk: Sequence[Claim], interval: float) -> float:
    """Seconds to wait for an answer: so short that another beat can follow before the first lease is over."""
    return max(MIN_TIMEOUT, _shortest(chunk, interval) / 4)


def _chunks(claims: Sequence[Claim]) -> Iterator[Sequence[Claim]]:
    """Chunks of claims; one empty chunk when there are none, to look for strangers."""
    for start in range(0, max(1, len(claims)), CHUNK):
        yield claims[start : start + CHUNK]
