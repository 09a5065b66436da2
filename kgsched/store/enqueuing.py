"""Enqueue: four statements, chosen by what the rows need, all safe to repeat with the same uids or under one mark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kgsched.core.states import Status
from kgsched.core.task import Answer, Enqueued, NewTask
from kgsched.errors import Conflict, NotFound, StorageConflict, StorageConnectionError
from kgsched.ports import Transaction
from kgsched.store.answers import Mark, once
from kgsched.store.client import Client
from kgsched.store.driver_errors import UniqueViolation
from kgsched.store.enqueue_answers import Misplaced, distinct, refuse_best_effort
from kgsched.store.enqueue_rows import Kinds, batches, needs_mark, renamed, renumbered
from kgsched.store.enqueue_writers import Joiner, Writer, existing, own
from kgsched.store.gates import Gates
from kgsched.store.open_transaction import OpenTransaction

_TRIES = 8
_ASK_AGAIN = 3
_KEEP_OWN_MS = 3_600_000


def _nobody() -> dict[str, Enqueued]:
    return {}


def _kept(one: Enqueued) -> list[str | None]:
    id_ = None if one.id == one.uid else one.id
    return [one.uid, id_, one.answer.value, one.status.value if one.status else None]


def _told(kept: Sequence[Any]) -> Enqueued:
    uid, id_, answer, status = kept
    return Enqueued(uid, id_ or uid, Answer(answer), Status(status) if status else None)


class Enqueuing:
    """Enqueues tasks. A batch is one transaction; several batches are not."""

    def __init__(self, client: Client, gates: Gates) -> None:
        self._client, self._gates = client, gates

    async def enqueue(
        self, tasks: Sequence[NewTask], *, tx: Transaction | None = None, mark: str | None = None
    ) -> list[Enqueued]:
        """Enqueue tasks and say, in the same order, which task stands for each.

        An id or live key that exists with the same type and payload counts as enqueued; what was enqueued before under
        the same mark is told again. Raises Conflict when it is another task, NotFound when a task waited for does not
        exist. In a transaction of the user's no lock is taken.
        """
        one_each, twins = distinct(tasks, no_twin_keys=tx is not None)
        refuse_best_effort(one_each)
        done = await (self._enqueue_all(one_each, mark) if tx is None else _enqueue_in(tx, one_each))
        done |= {uid: replace(done[first], answer=Answer.EXISTING) for uid, first in twins.items()}
        return [done[task.uid] for task in tasks]

    async def _enqueue_all(self, tasks: Sequence[NewTask], mark: str | None) -> dict[str, Enqueued]:
        done = _nobody()
        for place, batch in enumerate(batches(tasks)):
            its = None if mark is None else Mark(f"{mark}:{place}")
            if its is None and needs_mark(batch):
                its = Mark(f"batch:{batch[0].uid}", _KEEP_OWN_MS)
            try:
                done |= await self._repeat([renamed(task, done) for task in batch], its)
            except (Conflict, NotFound) as error:
                so_far = f"the {len(done)} tasks before its batch were" if done else "nothing was"
                raise type(error)(f"{error}; {so_far} enqueued") from None
            await self._gates.admit((task.space, task.gate) for task in batch if task.gate)
        return done

    async def _repeat(self, batch: list[NewTask], mark: Mark | None) -> dict[str, Enqueued]:
        """A lost answer is asked again with the same uids and mark: what was written the first time is found."""
        asked = [task.uid for task in batch]
        lost = moved = 0
        while True:
            try:
                done = await self._enqueue(batch, mark, again=lost > 0)
                return {uid: done[task.uid] for uid, task in zip(asked, batch, strict=True)}
            except StorageConnectionError:
                lost += 1
                if lost == _ASK_AGAIN:
                    raise
            except Misplaced as error:  # a task that was there before stands for one waited for, and has a later uid
                moved += 1
                if moved == _TRIES:
                    raise
                batch = renumbered(batch, error.waited_for)

    async def _enqueue(self, batch: list[NewTask], mark: Mark | None, *, again: bool) -> dict[str, Enqueued]:
        done = await own(self._client.run, batch) if again and mark is None else _nobody()
        left = [task for task in batch if task.uid not in done]
        for _ in range(_TRIES):
            if not left and mark is None:
                return done
            try:
                if mark is None:
                    return done | await self._write(Kinds.of(left))
                return await self._write_once(mark, batch, left, done)
            except (UniqueViolation, Misplaced) as error:
                known = await existing(self._client.run, left)
                if not known and isinstance(error, Misplaced):
                    raise
                done |= known
                left = [renamed(task, known) for task in left if task.uid not in known]
        raise StorageConflict(f"enqueue of {len(left)} tasks: their ids keep coming and going; try again")

    async def _write(self, kinds: Kinds) -> dict[str, Enqueued]:
        """All rows or none: one statement where one does it, else a transaction."""
        if kinds.one_statement:
            done, freed = await Writer(self._client.run).write(kinds)
        else:
            done, freed = await self._client.atomically("enqueue", lambda tx: Writer(tx.named).write(kinds))
        await self._gates.admit(freed)
        return done

    async def _write_once(
        self, mark: Mark, batch: list[NewTask], left: list[NewTask], known: dict[str, Enqueued]
    ) -> dict[str, Enqueued]:
        """Write what is left of a batch, and what came of the whole batch, in one transaction."""

        async def write(tx: OpenTransaction) -> dict[str, Any]:
            done, freed = await Writer(tx.named).write(Kinds.of(left))
            done |= known
            return {"tasks": [_kept(done[task.uid]) for task in batch], "freed": freed}

        outcome = await self._client.atomically("enqueue", lambda tx: once(tx, mark, lambda: write(tx)))
        await self._gates.admit(outcome["freed"])
        return {task.uid: _told(kept) for task, kept in zip(batch, outcome["tasks"], strict=True)}


async def _enqueue_in(tx: Transaction, tasks: Sequence[NewTask]) -> dict[str, Enqueued]:
    """Enqueue in a transaction of the user's. Where a part was written before a refusal, it refuses its commit."""
    joiner = Joiner(tx)
    try:
        for batch in batches(tasks):
            await joiner.write([renamed(task, joiner.done) for task in batch])
    except UniqueViolation as error:
        why = "another transaction has just taken the same id or key, which undid this one: do its block again"
        raise Conflict(f"cannot enqueue: {why}") from error
    except (Conflict, NotFound) as error:
        if not joiner.wrote:
            raise type(error)(f"{error}; nothing was enqueued") from None
        tx.spoil(f"an enqueue in it was refused after a part of it was written; do all of it again ({error})")
        raise type(error)(f"{error}; a part was written, so this transaction will be rolled back: leave it") from None
    return joiner.done
