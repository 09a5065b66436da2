"""Leadership: one process at a time does the sweeps. It only saves work; every sweep is safe when two run it."""

from __future__ import annotations

import time
from collections.abc import Callable

import structlog

from kgsched.ports import Store
from kgsched.runtime.loop import Loop
from kgsched.runtime.side_loop import StoreSource

log = structlog.get_logger(__name__)

LEASE_S = 15.0
RENEW_S = 5.0
ABSTAIN_S = 30.0


class Leader:
    """Takes and keeps the leader's lease; steps down for a while when this process's services keep failing."""

    def __init__(
        self, source: StoreSource, holder: str, *, on_lead: Callable[[], None], unfit: Callable[[], str | None]
    ) -> None:
        self._source = source
        self._holder = holder
        self._on_lead = on_lead
        self._unfit = unfit
        self._until = 0.0
        self._abstain_until = 0.0
        self.loop = Loop("leader", self._pass, interval=RENEW_S)

    @property
    def leading(self) -> bool:
        return time.monotonic() < self._until

    async def resign(self) -> None:
        if self.leading:
            self._until = 0.0
            store = await self._source.get()
            await store.cluster.resign(self._holder)

    async def _pass(self) -> None:
        store = await self._source.get()
        reason = self._unfit() if self.leading else None
        if reason is not None:
            log.warning("leader_steps_down", worker=self._holder, reason=reason)
            self._abstain_until = time.monotonic() + ABSTAIN_S
            await self.resign()
        if time.monotonic() >= self._abstain_until:
            await self._acquire(store)

    async def _acquire(self, store: Store) -> None:
        before, sent_at = self.leading, time.monotonic()
        won = await store.cluster.acquire(self._holder, round(LEASE_S * 1000))
        self._until = sent_at + LEASE_S if won else 0.0
        if won and not before:
            log.info("leader_elected", worker=self._holder)
            self._on_lead()
        elif before and not won:
            log.info("leader_lost", worker=self._holder)
