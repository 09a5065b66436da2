"""Enqueue: four statements, chosen by what the rows need, all safe to repeat with the same uids."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from kgsched.core.lanes import BEST_EFFORT
from kgsched.core.states import Status
from kgsched.core.task import Answer, Enqueued, NewTask, OnConflict
from kgsched.errors import Conflict, NotFound, StorageConflict, StorageConnectionError
from kgsched.ports import Transaction
from kgsched.store.client import Client, UniqueViolation
from kgsched.store.enqueue_answers import (
    created,
    distinct,
    key_answer,
    made,
    recognise,
    refuse,
    refuse_best_effort,
)
from kgsched.store.enqueue_rows import Kinds, batches, parents_of, renamed, row_of, sought, text_of_edges
from kgsched.store.gates import Gates, shard

_TRIES = 8
_Run = Callable[..., Awaitable[list[dict[str, Any]]]]


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
        one_each, twins = distinct(tasks, no_twin_keys=tx is not None)
        refuse_best_effort(one_each)
        done = await (self._enqueue_all(one_each) if tx is None else _enqueue_in(tx, one_each))
        done |= {uid: replace(done[first], answer=Answer.EXISTING) for uid, first in twins.items()}
        return [done[task.uid] for task in tasks]

    async def _enqueue_all(self, tasks: Sequence[NewTask]) -> dict[str, Enqueued]:
        done = _nobody()
        for batch in batches(tasks):
            try:
                done |= await self._repeat([renamed(task, done) for task in batch])
            except (Conflict, NotFound) as error:
                so_far = f"the {len(done)} tasks before its batch were" if done else "nothing was"
                raise type(error)(f"{error}; {so_far} enqueued") from None
            await self._gates.admit((task.space, task.gate) for task in batch if task.gate)
        return done

    async def _repeat(self, batch: list[NewTask]) -> dict[str, Enqueued]:
        """A lost answer is asked again with the same uids: what was written the first time is found."""
        for attempt in range(3):
            try:
                return await self._enqueue(batch)
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
                return done | await self._write(Kinds.of(left))
            except UniqueViolation:
                known = await self._existing(left)
                done |= known
                left = [renamed(task, known) for task in left if task.uid not in known]
        raise StorageConflict(f"enqueue of {len(left)} tasks: their ids keep coming and going; try again")

    async def _write(self, kinds: Kinds) -> dict[str, Enqueued]:
        """All rows or none: one statement where one does it, else a transaction."""
        if kinds.one_statement:
            done, freed = await _Writer(self._client.run).write(kinds)
        else:
            done, freed = await self._client.atomically("enqueue", lambda tx: _Writer(tx.named).write(kinds))
        await self._gates.admit(freed)
        return done

    async def _existing(self, batch: list[NewTask]) -> dict[str, Enqueued]:
        rows = await self._client.run("tasks/find_existing", rows=[sought(task) for task in batch])
        return recognise(batch, rows)


class _Writer:
    """Writes the rows of one transaction, in the order of locks: keys by name, then tasks."""

    def __init__(self, run: _Run) -> None:
        self._run = run
        self._freed: list[Sequence[str]] = []

    async def write(self, kinds: Kinds) -> tuple[dict[str, Enqueued], list[Sequence[str]]]:
        """Who stands for each task, and the gates [space, key] where replacing made room. Raises Conflict, NotFound."""
        done = _nobody()
        if kinds.lasting:
            rows = await self._run("tasks/enqueue_unique", rows=[row_of(task) for task in kinds.lasting])
            done |= await self._settle_keys({task.uid: task for task in kinds.lasting}, rows)
        if kinds.keyed:
            done |= await self._write_keyed(kinds.keyed)
        if kinds.plain:
            rows = await self._run("tasks/enqueue", rows=[row_of(task) for task in kinds.plain])
            done |= made(kinds.plain, rows)
        if kinds.edged:
            done |= await self._write_edged([renamed(task, done) for task in kinds.edged])
        return done, self._freed

    async def _write_keyed(self, tasks: Sequence[NewTask]) -> dict[str, Enqueued]:
        left, done = {task.uid: task for task in tasks}, _nobody()
        for _ in range(_TRIES):
            rows = await self._run("tasks/enqueue_keyed", rows=[row_of(task) for task in left.values()])
            settled = [row for row in rows if row["answer"] != "retry"]
            done |= await self._settle_keys(left, settled)
            for row in settled:
                del left[row["asked"]]
            if not left:
                return done
        raise StorageConflict(f"enqueue of {len(left)} tasks: the tasks that hold their keys keep ending; try again")

    async def _settle_keys(self, tasks: dict[str, NewTask], rows: Sequence[dict[str, Any]]) -> dict[str, Enqueued]:
        """What each row came to, as its on_conflict wants it. Raises Conflict."""
        done = {}
        for row in rows:
            task = tasks[row["asked"]]
            replaces = task.on_conflict is OnConflict.REPLACE and row["answer"] not in (Answer.CREATED, "gone")
            done[task.uid] = await self._replace(task, row) if replaces else key_answer(task, row)
        return done

    async def _replace(self, task: NewTask, row: dict[str, Any]) -> Enqueued:
        rows = await self._run("tasks/replace", rows=[row_of(task) | {"uid": row["uid"]}])
        if not rows:
            raise Conflict(
                f"key {task.key!r}: task {row['id']!r} was claimed, waits for others, or has another type; "
                "only what was never claimed can be replaced"
            )
        if rows[0]["freed"]:
            self._freed.append(rows[0]["freed"])
        return Enqueued(rows[0]["uid"], rows[0]["id"], Answer.REPLACED, Status(rows[0]["status"]))

    async def _write_edged(self, tasks: list[NewTask]) -> dict[str, Enqueued]:
        own = {task.uid for task in tasks}
        rows = await self._run(
            "tasks/enqueue_with_edges",
            rows=[row_of(task) for task in tasks],
            parents=sorted({uid for task in tasks for uid in parents_of(task)} - own),
            best_effort=sorted(BEST_EFFORT),
            shard=shard(),
        )
        refuse(rows[0])
        statuses = {uid: Status(status) for uid, status, _ in rows[0]["tasks"]}
        return {task.uid: created(task, statuses.get(task.uid)) for task in tasks}


async def _enqueue_in(tx: Transaction, tasks: Sequence[NewTask]) -> dict[str, Enqueued]:
    """Enqueue in a transaction of the user's: edges are made after its commit. Raises Conflict, NotFound."""
    done = _nobody()
    for batch in batches(tasks):
        done |= await _enqueue_batch_in(tx, [renamed(task, done) for task in batch])
    return done


async def _enqueue_batch_in(tx: Transaction, batch: list[NewTask]) -> dict[str, Enqueued]:
    done = recognise(batch, await tx.named("tasks/find_existing", rows=[sought(task) for task in batch]))
    tx.owe((task.space, task.gate) for task in batch if task.gate)
    kinds = Kinds.of([renamed(task, done) for task in batch if task.uid not in done])
    if kinds.lasting:
        rows = await tx.named("tasks/enqueue_unique", rows=[row_of(task) for task in kinds.lasting])
        lasting = {task.uid: task for task in kinds.lasting}
        done |= {row["asked"]: key_answer(lasting[row["asked"]], row) for row in rows}
    if free := [*kinds.plain, *kinds.keyed]:
        done |= made(free, await tx.named("tasks/enqueue", rows=[row_of(task) for task in free]))
    if kinds.edged:
        edged = [renamed(task, done) for task in kinds.edged]
        rows = [row_of(task) | {"after": text_of_edges(task)} for task in edged]
        refuse((await tx.named("tasks/enqueue_unsettled", rows=rows, best_effort=sorted(BEST_EFFORT)))[0])
        done |= {task.uid: created(task) for task in edged}
    return done
