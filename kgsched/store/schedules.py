"""Schedules: firing, ticks by hand, and changes under a version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import structlog

from kgsched.core.lanes import LANES
from kgsched.core.schedule import DEFAULT_BACKOFF_BASE_MS, FirePlan, Overlap, ScheduleState, plan_fire
from kgsched.core.task import Swept
from kgsched.errors import KgschedError, StorageConnectionError
from kgsched.store.answers import done_once
from kgsched.store.client import Client
from kgsched.store.gates import Gates
from kgsched.store.tasks import Tasks
from kgsched.store.uids import new_uid

log = structlog.get_logger(__name__)


class Schedules:
    """The schedules of one database."""

    def __init__(self, client: Client, gates: Gates, tasks: Tasks) -> None:
        self._client, self._gates, self._tasks = client, gates, tasks

    async def fire_due(self, n: int = 100) -> Swept:
        """Fire what is due. A schedule that cannot be fired is paused with the reason; the others go on."""
        rows = await self._client.run("schedules/due", n=n)
        fired = 0
        for row in rows:
            properties, now = row["schedule"], row["now"]
            try:
                fired += await self._fire(properties, now)
            except StorageConnectionError:
                raise
            except (KgschedError, ValueError, KeyError) as error:
                await self._set_aside(properties, str(error))
        return Swept("tick", fired, more=len(rows) >= n)

    async def _fire(self, properties: Mapping[str, Any], now: int) -> int:
        state = ScheduleState.of(properties)
        plan = plan_fire(state, now)
        if not plan.due:
            return 0
        row = await self.fire(state, plan)
        if row is None:
            return 0
        if state.overlap is Overlap.CANCEL_OTHER and row["fired"]:
            await self._cancel_others(state, [uid for _, uid, _ in row["fired"]])
        return sum(1 for _, _, created in row["fired"] if created)

    async def fire(self, state: ScheduleState, plan: FirePlan) -> dict[str, Any] | None:
        """Write a plan; None when another process fired it or it was changed meanwhile."""
        rows = await self._client.run(
            "schedules/fire",
            space=state.space,
            name=state.name,
            next_run=state.next_run,
            version=state.version,
            ticks=[{"slot": tick.slot, "uid": new_uid(), "eta": tick.eta} for tick in plan.ticks],
            new_next_run=plan.next_run,
            missed=plan.missed,
        )
        if not rows:
            return None
        await self._gates.admit(rows[0]["gates"])
        return rows[0]

    async def _cancel_others(self, state: ScheduleState, but: list[str]) -> None:
        rows = await self._client.run(
            "schedules/other_ticks", space=state.space, name=state.name, lanes=sorted(LANES), but=but
        )
        if rows and rows[0]["uids"]:
            await self._tasks.cancel(rows[0]["uids"])

    async def _set_aside(self, properties: Mapping[str, Any], reason: str) -> None:
        log.error("schedule paused: it cannot be fired", schedule=properties["name"], reason=reason)
        fields = {"enabled": False, "next_run": None, "paused_why": reason[:1000]}
        await self.change(
            properties["space"], properties["name"], properties["version"], fields, "kgsched", reason[:1000]
        )

    async def run_now(
        self,
        space: str,
        name: str,
        payload: str | None = None,
        prio_bucket: int | None = None,
        *,
        mark: str | None = None,
    ) -> dict[str, Any] | None:
        """Row {answer, uid, id}; None when there is no such schedule. Under the same mark it is one tick."""
        params = {"space": space, "name": name, "uid": new_uid(), "payload": payload, "prio_bucket": prio_bucket}
        rows = await done_once(
            self._client, "schedules/run_now", params, mark, lambda row: row["answer"] != "other_payload"
        )
        if not rows:
            return None
        await self._gates.admit(rows[0]["gates"])
        return rows[0]

    async def read(self, space: str, names: Sequence[str] | None = None) -> list[dict[str, Any]]:
        """Rows {schedule (properties), now, waiting}, by name."""
        return await self._client.run("schedules/read", space=space, names=list(names) if names is not None else None)

    async def revisions(self, space: str, name: str, n: int = 10) -> list[dict[str, Any]]:
        """The last n changes, newest first."""
        rows = await self._client.run("schedules/revisions", space=space, name=name, n=n)
        return [row["revision"] for row in rows]

    async def create(self, space: str, name: str, fields: Mapping[str, Any], by: str, note: str) -> int | None:
        """Version of the new schedule; None when it exists."""
        rows = await self._client.run("schedules/create", space=space, name=name, fields=dict(fields), by=by, note=note)
        return rows[0]["version"] if rows else None

    async def change(
        self, space: str, name: str, version: int, fields: Mapping[str, Any], by: str, note: str
    ) -> int | None:
        """The new version; None when the schedule was changed meanwhile, or is gone."""
        rows = await self._client.run(
            "schedules/change", space=space, name=name, version=version, fields=dict(fields), by=by, note=note
        )
        return rows[0]["version"] if rows else None

    async def record_run(self, space: str, name: str, tick_uid: str, ok: bool, reason: str | None) -> None:
        """Count how a tick ended, once a tick."""
        rows = await self._client.run(
            "schedules/record_run",
            space=space,
            name=name,
            tick=tick_uid,
            ok=ok,
            reason=reason,
            base_ms=DEFAULT_BACKOFF_BASE_MS,
        )
        if rows and not rows[0]["enabled"] and not ok:
            log.warning("schedule paused after failures", schedule=name, failures=rows[0]["consecutive_failures"])
