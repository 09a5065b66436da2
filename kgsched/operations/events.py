"""What happens to tasks, as a stream that can be taken up again where it broke off.

Events are read from the tasks and their runs, at least once each. An instant is that of a statement, which others see
only after its commit: so each look goes back to where the oldest transaction that was open at the last look began.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator
from typing import Any

from kgsched.core.states import TERMINAL
from kgsched.core.times import MAX_INSTANT, show_instant
from kgsched.errors import InvalidValue
from kgsched.operations.records import Record
from kgsched.ports import Store

LOOK_S = 1.0
LATE_MS = 5_000  # what an id without a mark goes back, and what is looked over at each look
WHOLE_S = 5.0  # between two looks at all since then; longer where they take long
WHOLE_SHARE = 0.1
LONGEST_MS = 600_000  # a transaction that is open for longer is waited for no more
MOST = 500
PAGES = 200
_ID = re.compile(r"([0-9]{1,15})(?:-[a-z0-9-]+)?(?:\+([0-9]{1,15}))?")
_SOURCES = ("enqueued", "started", "ended", "runs")
_RUNS = {
    "retry": "retrying",
    "snooze": "snoozed",
    "release": "released",
    "pending": "reaped",
    "retried": "retried",
} | {status.value: status.value for status in TERMINAL}


class TaskEvents:
    """The events of one space."""

    def __init__(self, store: Store, space: str) -> None:
        self._store, self._space = store, space

    async def follow(self, last_id: str | None) -> AsyncIterator[list[Record]]:
        """Batches {id, mark, event, at, task…}, oldest first, empty ones when nothing happened, from `last_id` on.

        `mark` is the id with the instant up to which all was told before: what to start behind later. Raises
        InvalidValue for an id that no event has.
        """
        start = await self._store.events.oldest_open()
        low, sent = await self._before(start) if last_id is None else _behind(last_id, start)
        recent, next_whole = low, 0.0
        while True:
            opened, began = await self._store.events.oldest_open(), time.monotonic()
            whole = began >= next_whole or recent - low < LATE_MS
            upto, now, pages = low, recent, 0
            async for found, horizon, asked in self._pages(low if whole else recent - LATE_MS):
                upto, now, pages = horizon, asked, pages + 1
                fresh = [one for one in found if one["id"] not in sent]
                sent |= {one["id"]: one.pop("ms") for one in fresh}
                yield [{**one, "mark": f"{one['id']}+{low}"} for one in fresh]
                if pages == PAGES:
                    break
            recent = min(now, upto)
            if whole:
                low = max(low, min(max(opened, now - LONGEST_MS), upto))
                ended = time.monotonic()
                next_whole = ended + max(WHOLE_S, (ended - began) / WHOLE_SHARE)
            sent = {id_: ms for id_, ms in sent.items() if ms >= low}
            if pages < PAGES:
                await asyncio.sleep(LOOK_S)

    async def _before(self, start: int) -> tuple[int, dict[str, int]]:
        """Where a new stream starts, and what happened there before it: all that is seen later is new."""
        start = max(start, (await self._store.cluster.pulse()).now - LONGEST_MS)
        sent: dict[str, int] = {}
        async for found, _, _ in self._pages(start):
            sent |= {one["id"]: one["ms"] for one in found}
        return start, sent

    async def _pages(self, since: int) -> AsyncIterator[tuple[list[Record], int, int]]:
        """What happened from an instant on, page by page: events in order, up to when they are all, and the time."""
        places = dict.fromkeys(_SOURCES, (since, ""))
        held: list[Record] = []
        whole = False
        while not whole:
            row = await self._store.events.read(self._space, places, MOST)
            horizon = row["now"]
            for source in _SOURCES:
                rows = row[source]
                held += [event for one in rows for event in _events(source, one, since)]
                if rows:
                    places[source] = (rows[-1]["at"], rows[-1]["name"])
                if len(rows) >= MOST:
                    horizon = min(horizon, rows[-1]["at"])
            whole = all(len(row[source]) < MOST for source in _SOURCES)
            due = {one["id"]: one for one in held if one["ms"] <= horizon}
            held = [one for one in held if one["ms"] > horizon]
            yield sorted(due.values(), key=lambda one: (one["ms"], one["id"])), horizon, row["now"]


def _behind(last_id: str, now: int) -> tuple[int, dict[str, int]]:
    """Where to start, and what was told already. Raises InvalidValue."""
    found = _ID.fullmatch(last_id)
    if found is None or int(found[1]) > MAX_INSTANT:
        raise InvalidValue(f"Last-Event-ID {last_id[:60]!r} is the id of no event")
    at = int(found[1])
    low = at - LATE_MS if found[2] is None else int(found[2])
    return max(0, min(low, at, now)), {last_id.partition("+")[0]: at}


def _events(source: str, one: dict[str, Any], since: int) -> list[Record]:
    """What a row tells: a run that is over also tells its start, if that was not long ago."""
    if source == "runs":
        kind = _RUNS.get(one["outcome"])
        began = one["began"] if kind and one["outcome"] != "retried" else None
        starts = [_event(one, "started", began)] if began is not None and began >= since else []
        return [*starts, _event(one, kind, one["at"])] if kind else []
    kind = one["status"] if source == "ended" else source
    return [_event(one, kind, one["at"])] if source != "ended" or kind in TERMINAL else []


def _event(task: dict[str, Any], kind: str, at: int) -> Record:
    return {
        "id": f"{at}-{task['uid']}-{kind.replace('_', '-')}",
        "event": f"task.{kind}",
        "at": show_instant(at),
        "task": {key: task.get(key) for key in ("id", "uid", "type", "lane", "schedule")},
        "ms": at,
    }
