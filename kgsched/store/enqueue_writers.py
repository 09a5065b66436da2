"""How rows of an enqueue are written: in a transaction of kgsched's own, or in one of the user's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from kgsched.core.lanes import BEST_EFFORT
from kgsched.core.states import Status
from kgsched.core.task import Answer, Enqueued, NewTask, OnConflict
from kgsched.errors import Conflict, StorageConflict
from kgsched.ports import Transaction
from kgsched.store.enqueue_answers import created, key_answer, made, recognise, refuse
from kgsched.store.enqueue_rows import (
    Kinds,
    out_of_order,
    parents_of,
    renamed,
    renumbered,
    row_of,
    sought,
    text_of_edges,
)
from kgsched.store.gates import shard

_TRIES = 8
_Run = Callable[..., Awaitable[list[dict[str, Any]]]]


async def existing(run: _Run, tasks: Sequence[NewTask]) -> dict[str, Enqueued]:
    """Those that are known by uid, id or live key already. Raises Conflict."""
    return await _find(run, tasks, [sought(task) for task in tasks])


async def own(run: _Run, tasks: Sequence[NewTask]) -> dict[str, Enqueued]:
    """Those that were written under their own uids before."""
    return await _find(run, tasks, [{"uid": one.uid, "id": None, "space": one.space, "key": None} for one in tasks])


async def _find(run: _Run, tasks: Sequence[NewTask], rows: list[dict[str, Any]]) -> dict[str, Enqueued]:
    return recognise(tasks, await run("tasks/find_existing", rows=rows))


async def _enqueue_plain(run: _Run, tasks: Sequence[NewTask]) -> dict[str, Enqueued]:
    return made(tasks, await run("tasks/enqueue", rows=[row_of(task) for task in tasks]))


async def _take_keys(run: _Run, tasks: Sequence[NewTask]) -> list[dict[str, Any]]:
    return await run("tasks/enqueue_unique", rows=[row_of(task) for task in tasks])


class Writer:
    """Writes the rows of one transaction, in the order of locks: keys by name, then tasks."""

    def __init__(self, run: _Run) -> None:
        self._run = run
        self._freed: list[Sequence[str]] = []

    async def write(self, kinds: Kinds) -> tuple[dict[str, Enqueued], list[Sequence[str]]]:
        """Who stands for each task, and the gates [space, key] where replacing made room. Raises Conflict, NotFound."""
        done: dict[str, Enqueued] = {}
        if kinds.lasting:
            rows = await _take_keys(self._run, kinds.lasting)
            done |= await self._settle_keys({task.uid: task for task in kinds.lasting}, rows)
        if kinds.keyed:
            done |= await self._write_keyed(kinds.keyed)
        if kinds.plain:
            done |= await _enqueue_plain(self._run, kinds.plain)
        if kinds.edged:
            done |= await self._write_edged([renamed(task, done) for task in kinds.edged])
        return done, self._freed

    async def _write_keyed(self, tasks: Sequence[NewTask]) -> dict[str, Enqueued]:
        left = {task.uid: task for task in tasks}
        done: dict[str, Enqueued] = {}
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
            takes_over = task.on_conflict is OnConflict.REPLACE and row["answer"] not in (Answer.CREATED, "gone")
            done[task.uid] = await self._replace(task, row) if takes_over else key_answer(task, row, tasks)
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
        refuse(rows[0], tasks)
        statuses = {uid: Status(status) for uid, status, _ in rows[0]["tasks"]}
        return {task.uid: created(task, statuses.get(task.uid)) for task in tasks}


class Joiner:
    """Writes into a transaction of the user's: no lock is taken on what exists, edges are made after its commit.

    done: who stands for each task so far. wrote: whether anything was written.
    """

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self.done: dict[str, Enqueued] = {}
        self.wrote = False

    async def write(self, batch: list[NewTask]) -> None:
        """Raises Conflict, NotFound."""
        tx, done = self._tx, self.done
        done |= await existing(tx.named, batch)
        tx.owe((task.space, task.gate) for task in batch if task.gate)
        kinds = Kinds.of([renamed(task, done) for task in batch if task.uid not in done])
        if kinds.lasting:
            rows = await _take_keys(tx.named, kinds.lasting)
            self.wrote |= any(row["answer"] == Answer.CREATED for row in rows)
            lasting = {task.uid: task for task in kinds.lasting}
            done |= {row["asked"]: key_answer(lasting[row["asked"]], row, lasting) for row in rows}
        if free := [*kinds.plain, *kinds.keyed]:
            done |= await _enqueue_plain(tx.named, free)
            self.wrote = True
        if kinds.edged:
            await self._write_edged([renamed(task, done) for task in kinds.edged])

    async def _write_edged(self, asked: list[NewTask]) -> None:
        waited_for = out_of_order(asked)
        tasks = renumbered(asked, waited_for) if waited_for else asked
        rows = [row_of(task) | {"after": text_of_edges(task)} for task in tasks]
        answer = (await self._tx.named("tasks/enqueue_unsettled", rows=rows, best_effort=sorted(BEST_EFFORT)))[0]
        refuse(answer, tasks)
        self.wrote = True
        self.done |= {one.uid: created(task) for one, task in zip(asked, tasks, strict=True)}
