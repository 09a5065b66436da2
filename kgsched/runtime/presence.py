"""This process in the cluster: its registration, the types it publishes, and what it may claim."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import structlog

from kgsched.core.claiming import TypeRule
from kgsched.core.lanes import LANES
from kgsched.ports import Store
from kgsched.registry import Registry
from kgsched.runtime.loop import Loop
from kgsched.runtime.side_loop import StoreSource

log = structlog.get_logger(__name__)

REFRESH = 10.0
KEEP_MS = 60_000


@dataclass(frozen=True, slots=True)
class Identity:
    """Names of this process: `worker` for people, `session` for one life of it."""

    worker: str
    session: str


class Presence:
    """Registers the worker, publishes its types, and reads the cluster's type table every ten seconds."""

    def __init__(
        self,
        source: StoreSource,
        registry: Registry,
        identity: Identity,
        *,
        lease_ms: int,
        grace_ms: int,
        info: Mapping[str, Any],
        running: Callable[[], int],
    ) -> None:
        self._source = source
        self._registry = registry
        self._identity = identity
        self._lease_ms = lease_ms
        self._grace_ms = grace_ms
        self._info = info
        self._running = running
        self._registered = False
        self._table: dict[str, str] | None = None
        self.loop = Loop("presence", self._pass, interval=REFRESH)

    def rules(self) -> dict[str, TypeRule] | None:
        """What this process may claim: its types, each in the lane that the cluster says; None: not known yet."""
        if self._table is None:
            return None
        rules = {}
        for task_type in self._registry:
            rule = task_type.rule(self._lease_ms, self._grace_ms)
            lane = self._table.get(task_type.name, rule.lane)
            rules[task_type.name] = replace(rule, lane=lane)
        return rules

    async def leave(self) -> None:
        if self._registered:
            self._registered = False
            store = await self._source.get()
            await store.cluster.leave_worker(self._identity.worker)

    async def _pass(self) -> None:
        store = await self._source.get()
        if not self._registered:
            await self._register(store)
        self._table = await store.cluster.read_types()
        known = await store.cluster.beat_worker(self._identity.worker, self._running(), KEEP_MS)
        if not known:
            self._registered = False
            self.loop.wake()

    async def _register(self, store: Store) -> None:
        caps = {lane.name: lane.cap for lane in LANES.values() if lane.cap is not None}
        await store.cluster.ensure_lanes(caps)
        limits = {one.name: one.limits for one in self._registry if one.limits is not None}
        attempts = {one.name: one.max_attempts for one in self._registry if one.max_attempts is not None}
        await store.cluster.publish_types({one.name: one.lane for one in self._registry}, limits, attempts)
        await store.cluster.register_worker(self._identity.worker, self._info, KEEP_MS)
        self._registered = True
        log.info("worker_registered", worker=self._identity.worker, types=len(self._registry.names()))
