"""What can be done with tasks: enqueue, look, wait, and the changes that people make."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from kgsched.config import Settings
from kgsched.core.limits import MAX_BATCH_ROWS, check_text
from kgsched.core.priority import parse_priority, parse_weight
from kgsched.core.states import RETRYABLE, TERMINAL, Status
from kgsched.core.task import Enqueued
from kgsched.core.task_filter import TaskFilter
from kgsched.core.times import parse_duration
from kgsched.errors import InvalidValue, UnknownName
from kgsched.operations import cursor
from kgsched.operations.enqueue import Enqueuer
from kgsched.operations.ids import missing_task, resolve
from kgsched.operations.new_task import EnqueueRequest
from kgsched.operations.records import Record, result_record, task_record
from kgsched.operations.timeline import full_record
from kgsched.ports import Store, Transaction
from kgsched.registry import Registry

MAX_PAGE = 500
CHUNK = 200
FIRST_POLL, LAST_POLL = 0.1, 1.0
_CASCADE_TRIES = 20
_REFUSALS = {
    "not_dead": "it is {status}; only failed, dead-lettered and cancelled tasks are retried",
    "cascading": "what depends on it is still being cancelled; ask again in a moment",
    "parent_dead": "it waits for {because}, which ended badly; retry that one, this comes back with it",
    "key_taken": "its key now belongs to the live task {because}; cancel that one first",
}


@dataclass(frozen=True, slots=True)
class Page:
    """Records, and the cursor of the next page (None: no more)."""

    items: tuple[Record, ...]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Changed:
    """What a change came to for one task: `refused` says why nothing happened, None when it did."""

    id: str
    uid: str
    answer: str
    status: str | None
    refused: str | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Waited:
    """Where the tasks stand; done: all of them are over."""

    tasks: tuple[Record, ...]
    done: bool


class TaskOperations:
    """Tasks of one space, by id or uid."""

    def __init__(self, store: Store, registry: Registry, settings: Settings) -> None:
        self._store, self._registry, self._space = store, registry, settings.space
        self._enqueuer = Enqueuer(store, registry, settings)

    async def enqueue(
        self,
        request: EnqueueRequest,
        *,
        tx: Transaction | None = None,
        space: str | None = None,
        mark: str | None = None,
    ) -> Enqueued:
        """Enqueue one task; see Enqueuer.enqueue for the errors, and for the mark."""
        return (await self.enqueue_many([request], tx=tx, space=space, mark=mark))[0]

    async def enqueue_many(
        self,
        requests: Sequence[EnqueueRequest],
        *,
        tx: Transaction | None = None,
        space: str | None = None,
        mark: str | None = None,
    ) -> list[Enqueued]:
        return await self._enqueuer.enqueue(requests, tx=tx, space=space, mark=mark)

    async def show(self, id_: str) -> Record:
        """One task in full, with its timeline. Raises NotFound."""
        row = await self._store.reads.show(self._space, check_text("id", id_))
        if row is None:
            raise missing_task(id_)
        return full_record(row)

    async def list_tasks(self, chosen: TaskFilter, limit: int = 50, after: str | None = None) -> Page:
        """A page, newest first; `after` is the cursor of the page before."""
        if not 1 <= limit <= MAX_PAGE:
            raise InvalidValue(f"limit {limit} is not between 1 and {MAX_PAGE}")
        before = cursor.decode(after) if after else "~"
        rows = await self._store.reads.list_tasks(self._space, chosen, limit + 1, before)
        more = len(rows) > limit
        items = tuple(task_record(row) for row in rows[:limit])
        return Page(items, cursor.encode(rows[limit - 1]["uid"]) if more else None)

    async def check_types(self, names: Sequence[str]) -> None:
        """Raises UnknownName for a type that nobody has ever handled and that no task has."""
        unknown = [name for name in names if name not in self._registry.names()]
        if not unknown:
            return
        known = {*self._registry.names(), *(row["name"] for row in await self._store.cluster.list_types())}
        for name in unknown:
            if name not in known:
                some = TaskFilter(types=(name,))
                if not await self._store.reads.list_tasks(self._space, some, 1, "~"):
                    raise UnknownName("task type", name, known)

    async def select(self, chosen: TaskFilter, most: int = 100_000) -> list[Record]:
        """All tasks that a filter finds now, newest first. Raises InvalidValue when they are more than `most`."""
        found: list[Record] = []
        before = "~"
        while rows := await self._store.reads.list_tasks(self._space, chosen, MAX_BATCH_ROWS, before):
            found.extend(task_record(row) for row in rows)
            before = rows[-1]["uid"]
            if len(found) > most:
                raise InvalidValue(f"the filter finds more than {most} tasks; narrow it")
            if len(rows) < MAX_BATCH_ROWS:
                break
        return found

    async def wait(
        self, ids: Sequence[str], timeout: float | None = None, seen: Callable[[Record], None] | None = None
    ) -> Waited:
        """Wait until all are over or `timeout` seconds have passed; `seen` is told each change of status.

        Raises NotFound, also when a task is purged meanwhile, InvalidValue for a timeout that is none.
        """
        timeout = None if timeout is None else parse_duration(timeout, "timeout") / 1000
        uids = [row["uid"] for row in await resolve(self._store.reads, self._space, ids)]
        until = None if timeout is None else time.monotonic() + timeout
        last: dict[str, Any] = {}
        pause = FIRST_POLL
        while True:
            rows = await self._store.reads.read_results(uids)
            for uid in uids:
                if uid not in rows:
                    raise missing_task(uid, "it is gone while it was waited for; ")
                if last.get(uid) != rows[uid]["status"]:
                    last[uid], pause = rows[uid]["status"], FIRST_POLL
                    if seen is not None:
                        seen(result_record(rows[uid]))
            done = all(rows[uid]["status"] in TERMINAL for uid in uids)
            left = None if until is None else until - time.monotonic()
            if done or (left is not None and left <= 0):
                return Waited(tuple(result_record(rows[uid]) for uid in uids), done)
            await asyncio.sleep(pause if left is None else min(pause, left))
            pause = min(pause * 1.5, LAST_POLL)

    async def cancel(self, ids: Sequence[str], *, skip_missing: bool = False) -> list[Changed]:
        """Cancel what does not run, ask what runs to stop. Raises NotFound before anything is changed."""
        rows = await resolve(self._store.reads, self._space, ids, skip_missing=skip_missing)
        changed: list[Changed] = []
        for start in range(0, len(rows), CHUNK):
            chunk = rows[start : start + CHUNK]
            answers = await self._store.tasks.cancel([row["uid"] for row in chunk])
            changed += [_cancelled(row, answers) for row in chunk]
        return changed

    async def retry(
        self,
        ids: Sequence[str],
        by: str,
        *,
        skip_missing: bool = False,
        of: Collection[Status] = RETRYABLE,
        mark: str | None = None,
    ) -> list[Changed]:
        """Bring back tasks that are in one of the states, and what was cancelled because of each.

        Under the same mark each comes back once. Raises NotFound before anything is changed.
        """
        rows = await resolve(self._store.reads, self._space, ids, skip_missing=skip_missing)
        came_back: dict[str, tuple[str, str]] = {}  # by uid: the id of the task with which it came, and its status then
        changed: list[Changed] = []
        for row in sorted(rows, key=lambda row: str(row["uid"])):
            own = None if mark is None else f"{mark}:{row['uid']}"
            changed.append(await self._retry(row, by, of, own, came_back))
        return changed

    async def prioritize(
        self, ids: Sequence[str], priority: str | int, weight: int | None = None, *, skip_missing: bool = False
    ) -> list[Changed]:
        """Change the priority of tasks that are not over. Raises InvalidValue or NotFound; nothing is changed then."""
        bucket = parse_priority(priority)
        weight = None if weight is None else parse_weight(weight)
        rows = await resolve(self._store.reads, self._space, ids, skip_missing=skip_missing)
        changed: set[str] = set()
        for start in range(0, len(rows), CHUNK):
            uids = [row["uid"] for row in rows[start : start + CHUNK]]
            changed.update(await self._store.tasks.prioritize(uids, bucket, weight))
        return [
            Changed(row["id"], row["uid"], "prioritized", row["status"])
            if row["uid"] in changed
            else Changed(row["id"], row["uid"], "over", row["status"], "it is over; its priority no longer matters")
            for row in rows
        ]

    async def _retry(
        self, row: Record, by: str, of: Collection[Status], mark: str | None, came_back: dict[str, tuple[str, str]]
    ) -> Changed:
        if row["uid"] in came_back:
            id_, status = came_back[row["uid"]]
            return Changed(row["id"], row["uid"], "retried", status, detail=f"came back with {id_}")
        answer = await self._store.tasks.retry(row["uid"], by, of=of, mark=mark)
        for _ in range(_CASCADE_TRIES):
            if answer is None or answer["answer"] != "cascading":
                break
            await self._store.sweeps.cascade_step()
            answer = await self._store.tasks.retry(row["uid"], by, of=of, mark=mark)
        if answer is None:
            return Changed(row["id"], row["uid"], "gone", None, "it was purged meanwhile")
        status = dict(answer["tasks"]).get(row["uid"], answer["status"])
        refusal = _REFUSALS.get(answer["answer"])
        if refusal is not None:
            why = refusal.format(status=answer["status"], because=answer["because"])
            return Changed(row["id"], row["uid"], answer["answer"], answer["status"], why)
        came_back |= {uid: (row["id"], now) for uid, now in answer["tasks"] if uid != row["uid"] and now != "cancelled"}
        others = len(answer["tasks"]) - 1
        return Changed(
            row["id"],
            row["uid"],
            "retried",
            status,
            detail=f"came back with it: {others} that ended because of it" if others else None,
        )


def _cancelled(row: Record, answers: dict[str, Any]) -> Changed:
    if row["uid"] not in answers:
        return Changed(row["id"], row["uid"], "gone", None, "it was purged meanwhile")
    answer, status = answers[row["uid"]]
    refused = f"it is over already ({status.value})" if answer == "over" else None
    detail = "it runs; its worker stops it at the next beat" if answer == "requested" else None
    return Changed(row["id"], row["uid"], answer, status.value, refused, detail)
