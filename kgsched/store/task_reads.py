"""Reading the queue: for lists, for those who wait, for one task in full."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kgsched.core.states import Status
from kgsched.core.task_filter import TaskFilter
from kgsched.errors import Conflict
from kgsched.store.client import Client

LAST_UID = "~"
FAILED = frozenset({Status.FAILED.value, Status.DEAD_LETTER.value})
__all__ = ["LAST_UID", "TaskFilter", "TaskReads"]


class TaskReads:
    """Reads of tasks."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def resolve(self, space: str, ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        """Row {uid, id, status, type, schedule} by id or uid as asked; what does not exist is absent.

        Raises Conflict when a text is the id of one task and the uid of another.
        """
        found: dict[str, dict[str, Any]] = {}
        for row in await self._client.run("tasks/resolve", space=space, ids=list(ids)):
            other = found.setdefault(row["asked"], row)
            if other["uid"] != row["uid"]:
                raise Conflict(
                    f"{row['asked']!r} is the uid of one task and the id of another; "
                    f"name one of them by its uid: {other['uid']} or {row['uid']}"
                )
        return found

    async def read_results(self, uids: Sequence[str]) -> dict[str, dict[str, Any]]:
        rows = await self._client.run("tasks/read_results", uids=list(uids))
        return {row["uid"]: row for row in rows}

    async def show(self, space: str, id_: str) -> dict[str, Any] | None:
        rows = await self._client.run("tasks/show", space=space, id=id_)
        return rows[0] if rows else None

    async def list_tasks(
        self, space: str, chosen: TaskFilter, n: int = 50, before: str = LAST_UID
    ) -> list[dict[str, Any]]:
        """A page, newest first; `before` is the uid of the last row of the page before."""
        params: dict[str, Any] = {
            "space": space,
            "statuses": list(chosen.statuses) if chosen.statuses else None,
            "types": list(chosen.types) if chosen.types else None,
            "schedule": chosen.schedule,
            "lane": chosen.lane,
            "since": chosen.since,
            "before": before,
            "n": n,
        }
        if chosen.statuses and set(chosen.statuses) <= FAILED:
            rows = await self._client.run("tasks/list_failed", source=chosen.source, **params)
        elif chosen.source is not None:
            rows = await self._client.run("tasks/list_by_source", source=chosen.source, **params)
        else:
            rows = await self._client.run("tasks/list", **params)
        return [row["task"] for row in rows]
