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
LATE_MS = 5_000  # how long after its instant a change may be committed
LOOKS_TO_ONE_BACK = 5
MOST = 500
PAGES = 200
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
        known = await self._start(last_id)
        first = known if last_id is None else known - LATE_MS  # nothing of before
        sent: dict[str, int] = {} if last_id is None else {last_id: known}
        looks = 0
        while True:
            back = 2 * LATE_MS if looks % LOOKS_TO_ONE_BACK == 0 else 0
            looks += 1
            now, whole_to, pages = 0, 0, 0
            async for found, horizon, asked in self._pages(max(known - back, first, 0)):
                now, whole_to, pages = now or asked, horizon, pages + 1
                fresh = [one for one in found if one["id"] not in sent]
                sent |= {one["id"]: one["ms"] for one in fresh}
                yield [{key: value for key, value in one.items() if key != "ms"} for one in fresh]
                if pages == PAGES:
                    break
            known = max(known, min(now, whole_to))
            sent = {id_: ms for id_, ms in sent.items() if ms > known - 3 * LATE_MS}
            if pages < PAGES:
                await asyncio.sleep(LOOK_S)

    async def _pages(self, since: int) -> AsyncIterator[tuple[list[Record], int, int]]:
        """What happened from an instant on, page by page: events in order, up to when they are all, and the time."""
        places = dict.fromkeys(_KINDS, (since, ""))
        held: list[Record] = []
        whole = False
        while not whole:
            row = await self._store.events.read(self._space, places, MOST)
            horizon = row["now"]
            for source, kind in _KINDS.items():
                tasks = row[source]
                held += [_event(one, kind or one["status"]) for one in tasks if kind or one["status"] in TERMINAL]
                if tasks:
                    places[source] = (tasks[-1]["at"], tasks[-1]["uid"])
                if len(tasks) >= MOST:
                    horizon = min(horizon, tasks[-1]["at"])
            whole = all(len(row[source]) < MOST for source in _KINDS)
            ready = sorted((one for one in held if one["ms"] <= horizon), key=lambda one: (one["ms"], one["id"]))
            held = [one for one in held if one["ms"] > horizon]
            yield ready, horizon, row["now"]

    async def _start(self, last_id: str | None) -> int:
        if last_id is None:
            return (await self._store.cluster.pulse()).now
        found = _ID.fullmatch(last_id)
        if found is None or int(found[1]) > MAX_INSTANT:
            raise InvalidValue(f"Last-Event-ID {last_id[:60]!r} is the id of no event")
        return int(found[1])


def _event(task: dict[str, Any], kind: str) -> Record:
    keys = ("uid", "type", "lane", "schedule", "status")
    return {
        "id": f"{task['at']}-{task['uid']}-{kind.replace('_', '-')}",
        "event": f"task.{kind}",
        "at": show_instant(task["at"]),
        "task": {"id": task["id"], **{key: task.get(key) for key in keys}},
        "ms": task["at"],
    }
