"""A claimed task of a real queue, with what the feed's handlers ask of their context."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from kgsched.core.claiming import TypeRule
from kgsched.core.task import Ack, AckOutcome, Claim, Enqueued, NewTask, Verdict
from kgsched.errors import LeaseConflict
from kgsched.ports import Graph, Transaction
from kgsched.research.gaps import MISSED_DAY_TYPE
from kgsched.research.runner import FETCH_TYPE
from kgsched.store import Neo4jStore

TICK = "scheduled_job"
RULES = {name: TypeRule("research") for name in (FETCH_TYPE, MISSED_DAY_TYPE, TICK)}


class Desk:
    """One run of one task."""

    def __init__(self, store: Neo4jStore, claim: Claim, payload: Any) -> None:
        self.store, self.claim, self.payload = store, claim, payload
        self.limited: list[str] = []

    @property
    def uid(self) -> str:
        return self.claim.uid

    @property
    def space(self) -> str:
        return self.claim.space

    @property
    def graph(self) -> Graph:
        return self.store.graph

    async def enqueue(
        self, what: str, /, *, tx: Transaction | None = None, payload: Mapping[str, Any], priority: int, **fields: Any
    ) -> Enqueued:
        task = NewTask(
            self.store.new_uid([self.uid]), what, "research", json.dumps(payload, sort_keys=True),
            prio_bucket=priority, spawned_by=self.uid, **fields,
        )  # fmt: skip
        return (await self.store.tasks.enqueue([task], tx=tx))[0]

    async def limit(self, key: str) -> None:
        self.limited.append(key)

    @asynccontextmanager
    async def finishing(self, *, result: Any = None, timeout: float = 30.0) -> AsyncIterator[Transaction]:
        async with self.graph.transaction(timeout) as tx:
            yield tx
            ack = Ack(self.uid, self.claim.token, AckOutcome.COMPLETED, json.dumps(result))
            report = await self.store.tasks.finish([ack], tx=tx)
            if report.answers[self.uid].verdict is not Verdict.WON:
                raise LeaseConflict("the claim is lost")

    async def done(self) -> None:
        """Acknowledge the run as completed."""
        await self.store.tasks.finish([Ack(self.uid, self.claim.token, AckOutcome.COMPLETED, "{}")])


async def sit_down(store: Neo4jStore, payload: Any = None) -> Desk:
    """A tick that runs now."""
    uid = store.new_uid()
    await store.tasks.enqueue([NewTask(uid, TICK, "research", json.dumps(payload or {}))])
    desk = await next_task(store, TICK)
    assert desk is not None
    return desk


async def next_task(store: Neo4jStore, *types: str) -> Desk | None:
    """The task of these types that a worker would run next, claimed; None when there is none."""
    while (await store.sweeps.settle()).more:
        pass
    rules = {name: RULES[name] for name in types or RULES}
    token = store.new_uid()
    claims = await store.tasks.claim(rules, 1, token=token, worker="w", session="s")
    if not claims:
        return None
    payloads = await store.tasks.read_payloads(claims)
    return Desk(store, claims[0], json.loads(payloads[claims[0].uid]))
