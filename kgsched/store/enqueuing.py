"""Enqueue: four statements, chosen by what the rows need, all safe to repeat with the same uids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from kgsched.core.lanes import BEST_EFFORT
from kgsched.core.limits import MAX_BATCH_BYTES, MAX_BATCH_ROWS
from kgsched.core.states import Status
from kgsched.core.task import Answer, Enqueued, NewTask, OnConflict, OnFailure, Unique
from kgsched.errors import Conflict, NotFound, StorageConflict, StorageConnectionError
from kgsched.ports import Transaction
from kgsched.store.client import Client, UniqueViolation
from kgsched.store.gates import Gates, shard

_TRIES = 8
_STRICTNESS = (OnFailure.CANCEL, OnFailure.HOLD, OnFailure.IGNORE)


def batches(tasks: Sequence[NewTask]) -> Iterator[list[NewTask]]:
    """Batches bounded in rows and in bytes, in order."""
    batch: list[NewTask] = []
    size = 0
    for task in tasks:
        weight = len(task.payload.encode("utf-8")) + 1024
        if batch and (len(batch) >= MAX_BATCH_ROWS or size + weight > MAX_BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(task)
        size += weight
    if batch:
        yield batch


def _row(task: NewTask) -> dict[str, Any]:
    row = asdict(task)
    row["after"] = [{"uid": uid, "on_failure": rule.value} for uid, rule in _edges(task).items()]
    return row


def _edges(task: NewTask) -> dict[str, OnFailure]:
    """One edge a task waited for; of two rules the stricter one."""
    edges: dict[str, OnFailure] = {}
    for one in task.after:
        edges[one.uid] = min(one.on_failure, edges.get(one.uid, one.on_failure), key=_STRICTNESS.index)
    return edges


def _nobody() -> dict[str, Enqueued]:
    return {}


def _needs_edges(task: NewTask) -> bool:
    return bool(task.after) or task.spawned_by is not None


class Enqueuing:
    """Enqueues tasks. A batch is one transaction; several batches are not."""

    def __init__(self, client: Client, gates: Gates) -> None:
        self._client, self._gates = client, gates

    async def enqueue(self, tasks: Sequence[NewTask], *, tx: Transaction | None = None) -> list[Enqueued]:
        """Enqueue tasks and say, in the same order, which task stands for each.

        An id or live key that exists with the same type and payload counts as enqueued. Raises Conflict when it is
        another task, NotFound when a task waited for does not exist. In a transaction of the user's no lock is taken.
        """
        distinct, twins = _distinct(tasks)
        done = await (self._enqueue_all(distinct) if tx is None else self._enqueue_all_in(tx, distinct))
        done |= {uid: replace(done[first], answer=Answer.EXISTING) for uid, first in twins.items()}
        return [done[task.uid] for task in tasks]

    async def _enqueue_all_in(self, tx: Transaction, tasks: Sequence[NewTask]) -> dict[str, Enqueued]:
        done = _nobody()
        for batch in batches(tasks):
            done |= await self._enqueue_in(tx, [_renamed(task, done) for task in batch])
        return done

    async def _enqueue_all(self, tasks: Sequence[NewTask]) -> dict[str, Enqueued]:
        done = _nobody()
        gated = [task for task in tasks if task.gate is not None]
        plain = [task for task in tasks if not _needs_edges(task) and task.key is None]
        lasting = [task for task in tasks if task.key is not None and task.unique is not Unique.LIVE]
        keyed = [task for task in tasks if not _needs_edges(task) and task.key and task.unique is Unique.LIVE]
        edged = sorted((task for task in tasks if _needs_edges(task)), key=lambda task: task.uid)
        for batch in batches(plain):
            done |= await self._repeat(self._enqueue, batch)
        for batch in batches(keyed):
            done |= await self._repeat(self._enqueue_keyed, batch)
        for batch in batches(lasting):
            done |= await self._repeat(self._enqueue_unique, batch)
        for batch in batches(edged):
            done |= await self._repeat(self._enqueue_with_edges, [_renamed(task, done) for task in batch])
        await self._gates.admit((task.space, task.gate) for task in gated if task.gate)
        return done

    async def _repeat(self, send: Any, batch: list[NewTask]) -> dict[str, Enqueued]:
        """A lost answer is asked again with the same uids: what was written the first time is found."""
        for attempt in range(3):
            try:
                result: dict[str, Enqueued] = await send(batch)
                return result
            except StorageConnectionError:
                if attempt == 2:
                    raise
        raise AssertionError("unreachable")

    async def _enqueue(self, batch: list[NewTask]) -> dict[str, Enqueued]:
        left, done = batch, _nobody()
        for _ in range(_TRIES):
            if not left:
                return done
            try:
                rows = await self._client.run("tasks/enqueue", rows=[_row(task) for task in left])
            except UniqueViolation:
                known = await self._existing(left)
                done |= known
                left = [task for task in left if task.uid not in known]
            else:
                return done | _made(left, rows)
        raise StorageConflict(f"enqueue of {len(left)} tasks: their ids keep coming and going; try again")

    async def _enqueue_keyed(self, batch: list[NewTask]) -> dict[str, Enqueued]:
        left, done = {task.uid: task for task in batch}, _nobody()
        for _ in range(_TRIES):
            try:
                rows = await self._client.run("tasks/enqueue_keyed", rows=[_row(task) for task in left.values()])
            except UniqueViolation:
                known = await self._existing(list(left.values()))
                done |= known
                left = {uid: task for uid, task in left.items() if uid not in known}
                rows = []
            settled = [row for row in rows if row["answer"] != "retry"]
            done |= await self._settle_keys(left, settled)
            for row in settled:
                del left[row["asked"]]
            if not left:
                return done
        raise StorageConflict(f"enqueue of {len(left)} tasks: the tasks that hold their keys keep ending; try again")

    async def _enqueue_unique(self, batch: list[NewTask]) -> dict[str, Enqueued]:
        rows = await self._client.run("tasks/enqueue_unique", rows=[_row(task) for task in batch])
        return await self._settle_keys({task.uid: task for task in batch}, rows)

    async def _settle_keys(self, tasks: dict[str, NewTask], rows: Sequence[dict[str, Any]]) -> dict[str, Enqueued]:
        """What each row came to, as its on_conflict wants it. Raises Conflict."""
        done = {}
        for row in rows:
            task = tasks[row["asked"]]
            if row["answer"] == Answer.CREATED:
                done[task.uid] = Enqueued(row["uid"], row["id"], Answer.CREATED, Status(row["status"]))
            elif task.on_conflict is OnConflict.REFUSE or row["answer"] == "gone":
                raise Conflict(f"key {task.key!r} is taken by task {row['id'] or '(purged)'!r}; nothing was enqueued")
            elif task.on_conflict is OnConflict.REPLACE:
                done[task.uid] = await self._replace(task, row)
            elif row["answer"] == "conflict":
                raise _conflict("key", task, row["id"])
            else:
                done[task.uid] = Enqueued(row["uid"], row["id"], Answer.EXISTING, Status(row["status"]))
        return done

    async def _replace(self, task: NewTask, row: dict[str, Any]) -> Enqueued:
        rows = await self._client.run("tasks/replace", rows=[_row(task) | {"uid": row["uid"]}])
        if not rows:
            raise Conflict(
                f"key {task.key!r}: task {row['id']!r} was claimed, waits for others, or has another type; "
                "only what was never claimed can be replaced"
            )
        return Enqueued(rows[0]["uid"], rows[0]["id"], Answer.REPLACED, Status(rows[0]["status"]))

    async def _enqueue_with_edges(self, batch: list[NewTask]) -> dict[str, Enqueued]:
        left, done = batch, _nobody()
        for _ in range(_TRIES):
            if not left:
                return done
            own = {task.uid for task in left}
            parents = sorted({uid for task in left for uid in _parents(task)} - own)
            try:
                rows = await self._client.run(
                    "tasks/enqueue_with_edges",
                    rows=[_row(task) for task in left],
                    parents=parents,
                    best_effort=sorted(BEST_EFFORT),
                    shard=shard(),
                )
            except UniqueViolation:
                known = await self._existing(left)
                done |= known
                left = [_renamed(task, known) for task in left if task.uid not in known]
                continue
            row = rows[0]
            _refuse(row, left)
            await self._gates.admit(row["gates"])
            statuses = {uid: Status(status) for uid, status, _ in row["tasks"]}
            return done | {task.uid: _created(task, statuses.get(task.uid)) for task in left}
        raise StorageConflict(f"enqueue of {len(left)} tasks: their ids keep coming and going; try again")

    async def _enqueue_in(self, tx: Transaction, batch: list[NewTask]) -> dict[str, Enqueued]:
        rows = await tx.named("tasks/find_existing", rows=[_row(task) for task in batch])
        done = _recognise(batch, rows)
        left = [_renamed(task, done) for task in batch if task.uid not in done]
        plain = [task for task in left if not _needs_edges(task)]
        if plain:
            done |= _made(plain, await tx.named("tasks/enqueue", rows=[_row(task) for task in plain]))
        edged = [
            _row(task) | {"after": [f"{uid} {rule.value}" for uid, rule in _edges(task).items()]}
            for task in sorted(left, key=lambda task: task.uid)
            if _needs_edges(task)
        ]
        if edged:
            missing = (await tx.named("tasks/enqueue_unsettled", rows=edged))[0]["missing"]
            own = {task.uid for task in batch}
            if gone := [uid for uid in missing if uid not in own]:
                raise NotFound(f"cannot enqueue: it waits for tasks that do not exist: {', '.join(gone)}")
        return {task.uid: _created(task) for task in left} | done

    async def _existing(self, batch: list[NewTask]) -> dict[str, Enqueued]:
        rows = await self._client.run("tasks/find_existing", rows=[_row(task) for task in batch])
        return _recognise(batch, rows)


def _distinct(tasks: Sequence[NewTask]) -> tuple[list[NewTask], dict[str, str]]:
    """Tasks that repeat no id (with edges: nor live key) of another, and the uid of that other for each that does."""
    first: dict[tuple[str, str, str], NewTask] = {}
    distinct: list[NewTask] = []
    twins: dict[str, str] = {}
    for task in {task.uid: task for task in tasks}.values():
        names = [("id", task.space, task.id or task.uid)]
        if task.key is not None and _needs_edges(task) and task.unique is Unique.LIVE:
            names.append(("key", task.space, task.key))
        by, other = next(((name[0], first[name]) for name in names if name in first), ("", None))
        if other is None:
            first |= dict.fromkeys(names, task)
            distinct.append(task)
            continue
        if task.on_conflict is OnConflict.REFUSE or (other.type, other.payload) != (task.type, task.payload):
            raise _conflict(by, task, other.id or other.uid)
        twins[task.uid] = other.uid
    known = {uid: Enqueued(other, other, Answer.EXISTING) for uid, other in twins.items()}
    return [_renamed(task, known) for task in distinct], twins


def _recognise(batch: Iterable[NewTask], rows: Iterable[dict[str, Any]]) -> dict[str, Enqueued]:
    tasks = {task.uid: task for task in batch}
    known: dict[str, Enqueued] = {}
    for row in rows:
        task = tasks[row["asked"]]
        own = row["uid"] == task.uid
        if not own and row["by"] == "key" and task.on_conflict is OnConflict.REFUSE:
            raise Conflict(f"key {task.key!r} is taken by task {row['id']!r}; nothing was enqueued")
        if not own and (row["type"] != task.type or row["payload"] != task.payload):
            raise _conflict(row["by"], task, row["id"])
        if own or task.uid not in known:
            answer = Answer.CREATED if own else Answer.EXISTING
            known[task.uid] = Enqueued(row["uid"], row["id"], answer, Status(row["status"]))
    return known


def _conflict(by: str, task: NewTask, holder: str) -> Conflict:
    what = f"key {task.key!r}" if by == "key" else f"id {task.id or task.uid!r}"
    return Conflict(
        f"{what} belongs to task {holder!r}, which has another type or payload; "
        f"use another {by}, or cancel that task first"
    )


def _renamed(task: NewTask, known: dict[str, Enqueued]) -> NewTask:
    """The task, waiting for those that stand for what it named."""
    after = tuple(replace(one, uid=known[one.uid].uid) if one.uid in known else one for one in task.after)
    return task if after == task.after else replace(task, after=after)


def _parents(task: NewTask) -> set[str]:
    uids = {one.uid for one in task.after}
    return uids | {task.spawned_by} if task.spawned_by else uids


def _created(task: NewTask, status: Status | None = None) -> Enqueued:
    return Enqueued(task.uid, task.id or task.uid, Answer.CREATED, status)


def _made(tasks: Iterable[NewTask], rows: Sequence[Mapping[str, Any]]) -> dict[str, Enqueued]:
    later = set(rows[0]["scheduled"])
    return {task.uid: _created(task, Status.SCHEDULED if task.uid in later else Status.PENDING) for task in tasks}


def _refuse(row: dict[str, Any], batch: list[NewTask]) -> None:
    if row["missing"]:
        raise NotFound(f"cannot enqueue: it waits for tasks that do not exist: {', '.join(row['missing'])}")
    if row["best_effort"]:
        raise Conflict(
            f"cannot wait for {', '.join(row['best_effort'])}: nothing may wait for a task in a best-effort lane "
            f"({', '.join(sorted(BEST_EFFORT))})"
        )
    if row["misplaced"]:
        raise Conflict(
            f"the uids of {', '.join(row['misplaced'])} do not come after those that they wait for: "
            f"make uids with the parents at hand ({len(batch)} rows, nothing was written)"
        )
