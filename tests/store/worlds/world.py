"""One graph under test: shorthands around the store, and time that moves in the data."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kgsched.core.claiming import TypeRule
from kgsched.core.states import Status
from kgsched.core.task import Ack, AckAnswer, AckOutcome, Claim, Enqueued, ErrorInfo, NewTask
from kgsched.store import Neo4jStore
from tests.store.worlds.invariants import broken
from tests.store.worlds.making import EVERYTHING, Parent, new_task

_tokens = itertools.count(1)
_ERROR = ErrorInfo("TestError", "it went wrong")


class World:
    """A store and what tests do with it. All uids may be given as tasks, claims or text."""

    def __init__(self, store: Neo4jStore) -> None:
        self.store = store

    async def cypher(self, text: str, **params: Any) -> list[dict[str, Any]]:
        """Rows of any statement, in a transaction of its own."""
        async with self.store.graph.transaction() as tx:
            return await tx.run(text, **params)

    async def wipe(self) -> None:
        """Delete everything but the record of migrations."""
        text = "MATCH (n) WHERE NOT n:Migration WITH n LIMIT 5000 DETACH DELETE n RETURN count(*) AS n"
        while (await self.cypher(text))[0]["n"]:
            pass

    async def now(self) -> int:
        return int((await self.store.graph.query("RETURN timestamp() AS now"))[0]["now"])

    async def enqueue(self, *tasks: NewTask) -> list[Enqueued]:
        return await self.store.tasks.enqueue(tasks)

    async def enqueue_one(self, type_: str = "a", *, after: Iterable[Parent] = (), **fields: Any) -> NewTask:
        task = new_task(type_, after=after, **fields)
        await self.enqueue(task)
        return task

    async def claim(
        self, n: int = 10, rules: Mapping[str, TypeRule] = EVERYTHING, *, token: str | None = None, session: str = "s"
    ) -> list[Claim]:
        token = token or f"token-{next(_tokens)}"
        return await self.store.tasks.claim(rules, n, token=token, worker="w", session=session)

    async def claim_one(self, rules: Mapping[str, TypeRule] = EVERYTHING) -> Claim:
        claims = await self.claim(1, rules)
        assert claims, "nothing to claim"
        return claims[0]

    async def run_one(self, outcome: AckOutcome | str = AckOutcome.COMPLETED) -> Claim:
        """Claim the next task and finish it."""
        claim = await self.claim_one()
        await self.finish(claim, outcome)
        return claim

    async def finish(
        self, claim: Claim, outcome: AckOutcome | str = AckOutcome.COMPLETED, *, delay_ms: int = 0, result: str = "{}"
    ) -> AckAnswer:
        """Report one outcome of any kind; errors get one that says so."""
        outcome = AckOutcome(outcome)
        error = None if outcome is AckOutcome.COMPLETED else _ERROR
        ack = Ack(claim.uid, claim.token, outcome, result, error, delay_ms, claims=claim.claims, worker="w")
        send = self.store.tasks.finish if outcome.ends else self.store.tasks.reschedule
        return (await send([ack])).answers[claim.uid]

    async def task(self, which: NewTask | Claim | Enqueued | str) -> dict[str, Any]:
        """All properties of a task."""
        rows = await self.cypher("MATCH (t:Task {uid: $uid}) RETURN t {.*} AS t", uid=_uid(which))
        assert rows, f"no task {_uid(which)}"
        properties: dict[str, Any] = rows[0]["t"]
        return properties

    async def status(self, which: NewTask | Claim | Enqueued | str) -> Status:
        return Status((await self.task(which))["status"])

    async def statuses(self, *which: NewTask | Claim | Enqueued | str) -> list[str]:
        return [(await self.task(one))["status"] for one in which]

    async def count(self, pattern: str, **params: Any) -> int:
        """Rows of a pattern like `MATCH (t:Task) WHERE …`."""
        return int((await self.cypher(f"{pattern} RETURN count(*) AS n", **params))[0]["n"])

    async def expire_leases(self, *which: NewTask | Claim | str) -> None:
        """Leases and grace of what runs (of these, or of all) are over."""
        await self.cypher(
            "MATCH (t:Task {status: 'running'}) WHERE $uids = [] OR t.uid IN $uids SET t.lease_expires_at = 1",
            uids=[_uid(one) for one in which],
        )

    async def make_due(self, *which: NewTask | Claim | str) -> None:
        """What is scheduled (of these, or all) is due."""
        await self.cypher(
            "MATCH (t:Task {status: 'scheduled'}) WHERE $uids = [] OR t.uid IN $uids SET t.due_at = 1",
            uids=[_uid(one) for one in which],
        )

    async def reap(self) -> list[tuple[str, Status]]:
        _, reaped = await self.store.sweeps.reaper(0)
        return [(one.uid, one.status) for one in reaped]

    async def crash(self, claim: Claim) -> None:
        """The worker of this claim died, and the reaper saw it."""
        await self.expire_leases(claim)
        await self.reap()

    async def sweep(self) -> None:
        """All that the sweeps owe, to the end. Leases and due times are left alone."""
        sweeps = self.store.sweeps
        for _ in range(10_000):
            passes = [
                await sweeps.settle(),
                await sweeps.cascade_step(),
                await sweeps.release_step(),
                await sweeps.revive_step(),
                await sweeps.admission(),
            ]
            if not any(one.more or one.count for one in passes):
                return
        raise AssertionError("the sweeps do not come to an end")

    async def attempts(self, which: NewTask | Claim | str) -> list[dict[str, Any]]:
        """The history of a task, oldest first."""
        rows = await self.cypher(
            "MATCH (:Task {uid: $uid})-[:ATTEMPT]->(a) RETURN a {.*} AS a ORDER BY a.number, a.ended_at",
            uid=_uid(which),
        )
        return [row["a"] for row in rows]

    async def counters(self) -> dict[str, int]:
        """Terminal tasks as the counters say, by status."""
        rows = await self.cypher("MATCH (c:Stat) RETURN c.status AS status, sum(c.n) AS n")
        return {row["status"]: row["n"] for row in rows if row["n"]}

    async def broken(self, *, swept: bool = True) -> list[str]:
        return await broken(self.store, swept=swept)


def _uid(which: NewTask | Claim | Enqueued | str) -> str:
    return which if isinstance(which, str) else which.uid


def uids(things: Sequence[NewTask | Claim | Enqueued]) -> list[str]:
    return [thing.uid for thing in things]
