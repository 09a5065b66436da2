"""The worker: claims tasks into its slots, keeps their leases, and drains."""

from __future__ import annotations

import asyncio
import os
import socket
import uuid

import structlog

from kgsched.config import Settings
from kgsched.core.task import Claim
from kgsched.errors import InvalidValue
from kgsched.ports import OpenStore, Store
from kgsched.registry import Registry
from kgsched.runtime.acks import Outbox
from kgsched.runtime.beats import Beats
from kgsched.runtime.claims import Claimer
from kgsched.runtime.context import Spawn, Surroundings
from kgsched.runtime.leases import Leases
from kgsched.runtime.loop import AT_ONCE, Loop
from kgsched.runtime.presence import Identity, Presence
from kgsched.runtime.process_job import reference
from kgsched.runtime.run import StopReason
from kgsched.runtime.runner import Runner
from kgsched.runtime.side_loop import SideLoop, StoreSource
from kgsched.runtime.ticks import TickKeeper
from kgsched.version import __version__

log = structlog.get_logger(__name__)

STOP_GRACE = 5.0
ACK_WAIT = 3.0
LEAVE_WAIT = 2.0
HURRY = 0.2
HURRY_ACK = 3.0
MIN_LEASE_MS = 1_000
WARM_S = 60.0


def new_identity() -> Identity:
    session = uuid.uuid4().hex
    return Identity(f"{socket.gethostname()[:60]}:{os.getpid()}:{session[:6]}", session)


def check_types(registry: Registry, settings: Settings) -> None:
    """Raise InvalidValue for a type that this worker could not run as it is declared."""
    for one in registry:
        lease = one.rule(round(settings.lease * 1000)).lease_ms
        if one.beat_ms is not None and one.beat_ms * 3 >= lease:
            raise InvalidValue(
                f"beat of task type {one.name!r} is {one.beat_ms} ms; it must be below a third of its lease, {lease} ms"
            )
        if one.executor == "process":
            for thing in (one.handler, *one.permanent, *one.transient):
                reference(thing)
        elif one.memory_mb is not None:
            raise InvalidValue(f"memory_mb of task type {one.name!r} needs executor='process'")
        if one.lease_ms is not None and one.lease_ms < MIN_LEASE_MS:
            raise InvalidValue(f"lease of task type {one.name!r} is {one.lease_ms} ms; the least is {MIN_LEASE_MS}")


class Worker:
    """Claims and runs tasks. Belongs to the event loop that makes it; bodies and beats have threads of their own.

    `source` is the store of this event loop; who made it closes it. `stop_grace` (seconds) bounds a body that was told
    to stop. Raises InvalidValue for a type that cannot be run.
    """

    def __init__(
        self,
        settings: Settings,
        registry: Registry,
        open_store: OpenStore,
        spawn: Spawn,
        source: StoreSource,
        *,
        identity: Identity | None = None,
        stop_grace: float = STOP_GRACE,
    ) -> None:
        check_types(registry, settings)
        self.identity = identity or new_identity()
        self._settings = settings
        self._registry = registry
        self._control = asyncio.get_running_loop()
        self._source = source
        self._bodies = SideLoop("bodies", open_store)
        self._beats_side = SideLoop("beats", open_store)
        self._leases = Leases(settings.beat, {one.name: one.beat_ms / 1000 for one in registry if one.beat_ms})
        self._beats = Beats(
            self._beats_side,
            self._leases,
            session=self.identity.session,
            interval=settings.beat,
            on_lost=self._lost,
            on_cancel=self._cancel_requested,
        )
        self._claimer = Claimer(self._leases, self.identity, settings.slots, self._hold)
        self._outbox = Outbox(self._source)
        self._ticks = TickKeeper(self._source)
        around = Surroundings(
            self._bodies, self._leases, spawn, self.wake, self.identity.worker, settings.grace, registry.limiter
        )
        self._runner = Runner(
            settings, registry, around, self._outbox, self._ticks, stop_grace=stop_grace, on_free=self.wake
        )
        self._presence = self._make_presence()
        self._unread: dict[str, Claim] = {}
        self._draining = False
        self.loop = Loop("claim", self._pass, interval=settings.poll)
        self._warm_loop = Loop("warm", self._warm, interval=WARM_S)

    @property
    def counts(self) -> dict[str, int]:
        """What became of tasks since the start, by outcome."""
        return dict(self._runner.counts)

    @property
    def running(self) -> int:
        return len(self._runner.types()) + len(self._unread)

    @property
    def held(self) -> int:
        """Claims that are beaten."""
        return len(self._leases)

    @property
    def ticks(self) -> TickKeeper:
        return self._ticks

    def loops(self) -> tuple[Loop, ...]:
        """All loops of the worker, for status."""
        mine = (self.loop, self._presence.loop, self._outbox.loop, self._ticks.loop, self._warm_loop)
        return (*mine, *self._beats.loops())

    def wake(self) -> None:
        """Look for work at once; from any thread."""
        try:
            self._control.call_soon_threadsafe(self.loop.wake)
        except RuntimeError:
            log.debug("worker_is_gone", worker=self.identity.worker)

    async def start(self) -> None:
        self._bodies.start()
        self._beats_side.start()
        await self._beats.start()
        for loop in (self._presence.loop, self._outbox.loop, self._ticks.loop, self.loop, self._warm_loop):
            loop.start()

    def stop_claiming(self) -> None:
        """From now on begin nothing: what a claim that is under way brings is given back by the drain."""
        self._draining = True
        self._claimer.stop()

    async def drain(self) -> int:
        """Claim nothing more, let short bodies finish, release the rest. Returns outcomes that went unrecorded."""
        self.stop_claiming()
        await self._warm_loop.stop(timeout=0.1)
        await self.loop.stop(timeout=LEAVE_WAIT)
        await self._adopt_last()
        for claim in self._unread.values():
            self._runner.give_back(claim, "drain")
        self._unread.clear()
        await self._runner.drain(self._settings.drain)
        left = await self._outbox.stop(ACK_WAIT)
        if left:
            log.error("outcomes_unrecorded", count=left, remedy="their leases end; the reaper gives them to others")
        await self._runner.close()
        await self._leave(answering=not left)
        await self._stop_threads()
        return left

    async def kill(self) -> None:
        """Stop now: kill bodies, give back what the database takes in time; other leases end by themselves."""
        self.stop_claiming()
        await self._runner.hurry(HURRY)
        await self._outbox.stop(HURRY_ACK)
        for loop in (self.loop, self._presence.loop, self._ticks.loop, self._warm_loop):
            await loop.stop(timeout=0.1)
        await self._runner.close()
        await self._stop_threads(timeout=0.4)

    async def _pass(self) -> float | None:
        rules = self._presence.rules()
        if rules is None:
            return None
        store = await self._source.get()
        if self._draining:
            return None
        await self._bodies.open()
        await self._claimer.adopt(store, rules)
        await self._begin(store)
        claimed = await self._claimer.claim(store, rules, self._runner.types())
        await self._begin(store)
        return AT_ONCE if claimed and len(self._runner.types()) < self._settings.slots else None

    async def _warm(self) -> None:
        await (await self._source.get()).tasks.warm()

    async def _adopt_last(self) -> None:
        """Find out what a claim that was under way when the drain began has taken, to give it back."""
        if not self._claimer.unsure:
            return
        try:
            async with asyncio.timeout(LEAVE_WAIT):
                await self._claimer.adopt(await self._source.get(), self._presence.rules() or {})
        except Exception as error:  # noqa: BLE001 - then the lease ends by itself
            log.warning("claim_outcome_unknown", worker=self.identity.worker, error=str(error))

    def _hold(self, claim: Claim) -> None:
        self._unread[claim.uid] = claim
        self._runner.stop_older(claim)

    async def _begin(self, store: Store) -> None:
        """Read the payloads of what was claimed, a bounded part at a time, and start it."""
        while self._unread and not self._draining:
            wanted = sorted(self._unread.values(), key=lambda claim: (claim.prio_bucket, claim.rank))
            payloads = await store.tasks.read_payloads(wanted)
            if not payloads:
                self._gone(wanted)
            for claim in wanted if not self._draining else ():
                if claim.uid in payloads and self._unread.pop(claim.uid, None) is claim:
                    self._runner.start(claim, payloads[claim.uid])

    def _gone(self, claims: list[Claim]) -> None:
        for claim in claims:
            self._unread.pop(claim.uid, None)
            self._leases.drop(claim)
            log.error("claimed_task_is_gone", task=claim.id, type=claim.type)

    def _lost(self, claim: Claim, why: str) -> None:
        self._control.call_soon_threadsafe(self._stop_lost, claim, why)

    def _stop_lost(self, claim: Claim, why: str) -> None:
        held = self._unread.get(claim.uid)
        if held is not None and held.token == claim.token:
            del self._unread[claim.uid]
        if held is not None or self._runner.unreported(claim):  # else its report is on the way, and crossed the beat
            log.warning("lease_lost", task=claim.id, type=claim.type, why=why)
        self._runner.stop(claim, StopReason.LOST, why)

    def _cancel_requested(self, claim: Claim) -> None:
        self._control.call_soon_threadsafe(self._runner.stop, claim, StopReason.CANCEL)

    async def _leave(self, *, answering: bool) -> None:
        if answering:
            await self._ticks.flush(LEAVE_WAIT)
        await self._ticks.loop.stop(timeout=0.1)
        await self._presence.loop.stop(timeout=0.5)
        if not answering:
            return
        try:
            async with asyncio.timeout(LEAVE_WAIT):
                await self._presence.leave()
        except Exception as error:  # noqa: BLE001 - the process leaves; its row expires by itself
            log.warning("worker_not_deregistered", worker=self.identity.worker, error=str(error))

    async def _stop_threads(self, timeout: float = 3.0) -> None:
        await self._beats.stop()
        await self._beats_side.stop(timeout)
        await self._bodies.stop(timeout)

    def _make_presence(self) -> Presence:
        settings = self._settings
        info = {
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "version": __version__,
            "slots": settings.slots,
            "types": list(self._registry.names()),
            "session": self.identity.session,
        }
        return Presence(
            self._source,
            self._registry,
            self.identity,
            lease_ms=round(settings.lease * 1000),
            grace_ms=round(settings.grace * 1000),
            info=info,
            running=lambda: self.running,
        )
