"""What happens to tasks, as a stream that can be taken up again where it broke off.

Events are read from the tasks themselves, at least once each: what a late commit brings in behind the newest instant
is found too, because each look goes back a little. Their ids let a reader drop what comes twice.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any

from kgsched.core.states import TERMINAL
from kgsched.core.times import MAX_INSTANT, show_instant
from kgsched.errors import InvalidValue
from kgsched.operations.records import Record
from kgsched.ports import Store

LOOK_S = 1.0
BACK_MS = 5_000
SKEW_MS = 120_000
MOST = 500
_ID = re.compile(r"([0-9]{1,15})(?:-[a-z0-9-]+)?")
_KINDS = {"enqueued": "enqueued", "started": "started", "ended": None}


class TaskEvents:
    """The events of one space."""

    def __init__(self, store: Store, space: str) -> None:
        self._store, self._space = store, space

    async def follow(self, last_id: str | None) -> AsyncIterator[list[Record]]:
        """Batches {id, event, at, task…}, oldest first, empty ones when nothing happened. Starts behind `last_id`.

        Raises InvalidValue for an id that no event has.
        """
        after = await self._start(last_id)
        sent: dict[str, int] = {} if last_id is None else {last_id: after}
        while True:
            row = await self._store.events.read(self._space, max(after - BACK_MS, 0), SKEW_MS, MOST)
            found, horizon = _events(row)
            fresh = [one for one in found if one["id"] not in sent and one["ms"] <= horizon]
            sent |= {one["id"]: one["ms"] for one in fresh}
            after = max(after, horizon)
            sent = {id_: ms for id_, ms in sent.items() if ms > after - 2 * BACK_MS}
            yield [{key: value for key, value in one.items() if key != "ms"} for one in fresh]
            if horizon >= row["now"]:
                await asyncio.sleep(LOOK_S)

    async def _start(self, last_id: str | None) -> int:
        if last_id is None:
            return (await self._store.cluster.pulse()).now + BACK_MS  # nothing of before
        found = _ID.fullmatch(last_id)
        if found is None or int(found[1]) > MAX_INSTANT:
            raise InvalidValue(f"Last-Event-ID {last_id[:60]!r} is the id of no event")
        return int(found[1])


def _events(row: dict[str, Any]) -> tuple[list[Record], int]:
    """Events in order, and up to which instant they are complete."""
    found: list[Record] = []
    horizon = row["now"]
    for source, kind in _KINDS.items():
        tasks = row[source]
        if len(tasks) >= MOST:
            horizon = min(horizon, max(one["at"] for one in tasks))
        found += [_event(one, kind or one["status"]) for one in tasks if kind or one["status"] in TERMINAL]
    return sorted(found, key=lambda one: (one["ms"], one["id"])), horizon


def _event(task: dict[str, Any], kind: str) -> Record:
    keys = ("uid", "type", "lane", "schedule", "status")
    return {
        "id": f"{task['at']}-{task['uid']}-{kind.replace('_', '-')}",
        "event": f"task.{kind}",
        "at": show_instant(task["at"]),
        "task": {"id": task["id"], **{key: task.get(key) for key in keys}},
        "ms": task["at"],
    }
