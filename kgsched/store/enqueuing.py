"""Enqueue: four statements, chosen by what the rows need, all safe to repeat with the same uids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kgsched.core.lanes import BEST_EFFORT
from kgsched.core.states import Status
from kgsched.core.task import Answer, Enqueued, NewTask, OnConflict, Unique
from kgsched.errors import Conflict, NotFound, StorageConflict, StorageConnectionError
from kgsched.ports import Transaction
from kgsched.store.client import Client, UniqueViolation
from kgsched.store.enqueue_answers import created, distinct, key_answer, made, recognise, refuse
from kgsched.store.enqueue_rows import batches, edges_of, needs_edges, parents_of, renamed, row_of, sought
from kgsched.store.gates import Gates, shard

_TRIES = 8


def _nobody() -> dict[str, Enqueued]:
    return {}


class Enqueuing:
    """Enqueues tasks. A batch is one transaction; several batches are not."""

    def __init__(self, client: Client, gates: Gates) -> None:
        self._client, self._gates = client, gates

    async def enqueue(self, tasks: Sequence[NewTask], *, tx: Transaction | None = None) -> list[Enqueued]:
        """Enqueue tasks and say, in the same order, which task stands for each.

        An id or live key that exists with the same type and payload counts as enqueued. Raises Conflict when it is
        another task, NotFound when a task waited for does not exist. In a transaction of the user's no lock is taken.
        """
        one_each, twins = distinct(tasks)
        done = await (self._enqueue_all(one_each) if tx is None else _enqueue_in(tx, one_each))
        done |= {uid: replace(done[first], answer=Answer.EXISTING) for uid, first in twins.items()}
        return [done[task.uid] for task in tasks]

    async def _enqueue_all(self, tasks: Sequence[NewTask]) -> dict[str, Enqueued]:
        done = _nobody()
        gated = [task for task in tasks if task.gate is not None]
        plain = [task for task in tasks if not needs_edges(task) and task.key is None]
        lasting = [task for task in tasks if task.key is not None and task.unique is not Unique.LIVE]
        keyed = [task for task in tasks if not needs_edges(task) and task.key and task.unique is Unique.LIVE]
        edged = sorted((task for task in tasks if needs_edges(task)), key=lambda task: task.uid)
        for batch in batches(plain):
            done |= await self._repeat(self._enqueue, batch)
        for batch in batches(keyed):
            done |= await self._repeat(self._enqueue_keyed, batch)
        for batch in batches(lasting):
            done |= await self._repeat(self._enqueue_unique, batch)
        for batch in batches(edged):
            done |= await self._repeat(self._enqueue_with_edges, [renamed(task, done) for task in batch])
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
                rows = await self._client.run("tasks/enqueue", rows=[row_of(task) for task in left])
            except UniqueViolation:
                known = await self._existing(left)
                done |= known
                left = [task for task in left if task.uid not in known]
            else:
                return done | made(left, rows)
        raise StorageConflict(f"enqueue of {len(left)} tasks: their ids keep coming and going; try again")

    async def _enqueue_keyed(self, batch: list[NewTask]) -> dict[str, Enqueued]:
        left, done = {task.uid: task for task in batch}, _nobody()
        for _ in range(_TRIES):
            try:
                rows = await self._client.run("tasks/enqueue_keyed", rows=[row_of(task) for task in left.values()])
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
        left, done = batch, _nobody()
        for _ in range(_TRIES):
            if not left:
                return done
            try:
                rows = await self._client.run("tasks/enqueue_unique", rows=[row_of(task) for task in left])
            except UniqueViolation:
                known = await self._existing(left)
                done |= known
                left = [task for task in left if task.uid not in known]
            else:
                return done | await self._settle_keys({task.uid: task for task in left}, rows)
        raise StorageConflict(f"enqueue of {len(left)} tasks: their ids keep coming and going; try again")

    async def _settle_keys(self, tasks: dict[str, NewTask], rows: Sequence[dict[str, Any]]) -> dict[str, Enqueued]:
        """What each row came to, as its on_conflict wants it. Raises Conflict."""
        done = {}
        for row in rows:
            task = tasks[row["asked"]]
            replaces = task.on_conflict is OnConflict.REPLACE and row["answer"] not in (Answer.CREATED, "gone")
            done[task.uid] = await self._replace(task, row) if replaces else key_answer(task, row)
        return done

    async def _replace(self, task: NewTask, row: dict[str, Any]) -> Enqueued:
        rows = await self._client.run("tasks/replace", rows=[row_of(task) | {"uid": row["uid"]}])
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
            parents = sorted({uid for task in left for uid in parents_of(task)} - own)
            try:
                rows = await self._client.run(
                    "tasks/enqueue_with_edges",
                    rows=[row_of(task) for task in left],
                    parents=parents,
                    best_effort=sorted(BEST_EFFORT),
                    shard=shard(),
                )
            except UniqueViolation:
                known = await self._existing(left)
                done |= known
                left = [renamed(task, known) for task in left if task.uid not in known]
                continue
            row = rows[0]
            refuse(row, left)
            await self._gates.admit(row["gates"])
            statuses = {uid: Status(status) for uid, status, _ in row["tasks"]}
            return done | {task.uid: created(task, statuses.get(task.uid)) for task in left}
        raise StorageConflict(f"enqueue of {len(left)} tasks: their ids keep coming and going; try again")

    async def _existing(self, batch: list[NewTask]) -> dict[str, Enqueued]:
        rows = await self._client.run("tasks/find_existing", rows=[sought(task) for task in batch])
        return recognise(batch, rows)


async def _enqueue_in(tx: Transaction, tasks: Sequence[NewTask]) -> dict[str, Enqueued]:
    """Enqueue in a transaction of the user's: edges are made after its commit. Raises Conflict, NotFound."""
    done = dict[str, Enqueued]()
    for batch in batches(tasks):
        done |= await _enqueue_batch_in(tx, [renamed(task, done) for task in batch])
    return done


async def _enqueue_batch_in(tx: Transaction, batch: list[NewTask]) -> dict[str, Enqueued]:
    rows = await tx.named("tasks/find_existing", rows=[sought(task) for task in batch])
    done = recognise(batch, rows)
    tx.owe((task.space, task.gate) for task in batch if task.gate)
    left = [renamed(task, done) for task in batch if task.uid not in done]
    lasting = {task.uid: task for task in left if task.unique is not Unique.LIVE}
    if lasting:
        rows = await tx.named("tasks/enqueue_unique", rows=[row_of(task) for task in lasting.values()])
        done |= {row["asked"]: key_answer(lasting[row["asked"]], row) for row in rows}
        left = [task for task in left if task.uid not in lasting]
    plain = [task for task in left if not needs_edges(task)]
    if plain:
        done |= made(plain, await tx.named("tasks/enqueue", rows=[row_of(task) for task in plain]))
    edged = [
        row_of(task) | {"after": [f"{uid} {rule.value}" for uid, rule in edges_of(task).items()]}
        for task in sorted(left, key=lambda task: task.uid)
        if needs_edges(task)
    ]
    if edged:
        missing = (await tx.named("tasks/enqueue_unsettled", rows=edged))[0]["missing"]
        own = {task.uid for task in batch}
        if gone := [uid for uid in missing if uid not in own]:
            raise NotFound(f"cannot enqueue: it waits for tasks that do not exist: {', '.join(gone)}")
    return {task.uid: created(task) for task in left} | done
