"""Sweeps: each method is one statement of the same name under cypher/jobs/, bounded and safe when several run."""

from __future__ import annotations

from typing import Any

from kgsched.core.states import Status
from kgsched.core.task import Reaped, Swept
from kgsched.store.client import Client
from kgsched.store.gates import Gates, shard

EDGES = 500
PARENTS = 20
PAGE = 1000


class Jobs:
    """Maintenance of one database."""

    def __init__(self, client: Client, gates: Gates) -> None:
        self._client, self._gates = client, gates

    async def promotion_sweep(self, n: int = 500) -> Swept:
        """Make pending what is due."""
        row = (await self._client.run("jobs/promotion_sweep", n=n))[0]
        await self._gates.admit(row["gates"])
        return Swept("promotion_sweep", row["n"], more=row["n"] >= n)

    async def reaper(self, grace_ms: int, n: int = 500) -> tuple[Swept, list[Reaped]]:
        """End claims whose lease and grace are over."""
        row = (await self._client.run("jobs/reaper", grace_ms=grace_ms, n=n, shard=shard()))[0]
        await self._gates.admit(row["gates"])
        reaped = [
            Reaped(uid, Status(status), worker, token, space, schedule)
            for uid, status, worker, token, space, schedule in row["reaped"]
        ]
        return Swept("reaper", len(reaped), more=len(reaped) >= n), reaped

    async def settle(self, n: int = 100) -> Swept:
        """Give tasks that were enqueued in a user's transaction their edges and status."""
        row = (await self._client.run("jobs/settle", n=n, shard=shard()))[0]
        await self._gates.admit(row["gates"])
        return Swept("settle", len(row["settled"]), more=len(row["settled"]) >= n)

    async def cascade_step(self) -> Swept:
        row = (await self._client.run("jobs/cascade_step", n=EDGES, parents=PARENTS, shard=shard()))[0]
        await self._gates.admit(row["gates"])
        details = {"cancelled": len(row["cancelled"]), "released": row["released"]}
        return Swept("cascade_step", len(row["cancelled"]), more=row["parents"] > 0, details=details)

    async def release_step(self) -> Swept:
        row = (await self._client.run("jobs/release_step", n=EDGES, parents=PARENTS))[0]
        await self._gates.admit(row["gates"])
        return Swept("release_step", row["released"], more=row["parents"] > 0)

    async def revive_step(self) -> Swept:
        rows = await self._client.run("jobs/revive_step", n=EDGES, shard=shard())
        if not rows:
            return Swept("revive_step", 0)
        await self._gates.admit(rows[0]["gates"])
        return Swept("revive_step", len(rows[0]["tasks"]), more=True)

    async def admission(self) -> Swept:
        """Let through what a crash left waiting at gates that have room."""
        count = await self._gates.admit(await self._gates.due())
        return Swept("admission", count, more=count > 0)

    async def collapse_stale_ticks(self) -> Swept:
        row = (await self._client.run("jobs/collapse_stale_ticks", n=PARENTS, shard=shard()))[0]
        return Swept("collapse_stale_ticks", len(row["cancelled"]), more=len(row["cancelled"]) > 0)

    async def blocked_sweep(self) -> Swept:
        row = (await self._client.run("jobs/blocked_sweep", n=EDGES))[0]
        await self._gates.admit(row["gates"])
        return Swept("blocked_sweep", len(row["healed"]), more=len(row["healed"]) >= EDGES)

    async def heal_ready(self, types: list[str]) -> Swept:
        """Heal the heads of the claim index of these types."""
        rows = await self._client.run("jobs/heal_ready", types=types, n=100)
        healed = len(rows[0]["healed"]) if rows else 0
        return Swept("heal_ready", healed, more=healed > 0)

    async def heal_lost(self) -> Swept:
        """Walk all tasks and make claimable again what is pending and neither ready nor waiting at a gate."""
        after, healed = "", 0
        while True:
            row = (await self._client.run("jobs/heal_lost", after=after, n=PAGE))[0]
            healed += len(row["healed"])
            if row["last"] is None:
                return Swept("heal_lost", healed)
            after = row["last"]

    async def purge(self, before: int, n: int = PAGE) -> Swept:
        """Delete tasks that ended before an instant."""
        count = (await self._client.run("jobs/purge", before=before, n=n, shard=shard()))[0]["n"]
        return Swept("purge", count, more=count >= n)

    async def archive(self, before: int, n: int = PAGE) -> Swept:
        """Drop payload, result, log and traceback of completed tasks that ended before an instant."""
        count = (await self._client.run("jobs/archive", before=before, n=n))[0]["n"]
        return Swept("archive", count, more=count >= n)

    async def forget_workers(self) -> Swept:
        count = (await self._client.run("jobs/forget_workers", n=PAGE))[0]["n"]
        return Swept("forget_workers", count, more=count >= PAGE)

    async def forget_keys(self) -> Swept:
        """Delete unique keys whose period is over."""
        count = (await self._client.run("jobs/forget_keys", n=PAGE))[0]["n"]
        return Swept("forget_keys", count, more=count >= PAGE)

    async def forget_gates(self) -> Swept:
        """Delete gates that nobody needs any more."""
        count = (await self._client.run("jobs/forget_gates", n=PAGE))[0]["n"]
        return Swept("forget_gates", count, more=count >= PAGE)

    async def count_check(self) -> list[dict[str, Any]]:
        """Cells whose counter differs from the tasks that are there."""
        return await self._client.run("jobs/count_check", timeout=300.0)
