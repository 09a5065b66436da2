"""Enqueue within a transaction of the user's."""

from __future__ import annotations

from collections.abc import Sequence

from kgsched.core.task import Enqueued, NewTask, Unique
from kgsched.errors import NotFound
from kgsched.ports import Transaction
from kgsched.store.enqueue_answers import created, key_answer, made, recognise
from kgsched.store.enqueue_rows import batches, edges_of, needs_edges, renamed, row_of, sought


async def enqueue_in(tx: Transaction, tasks: Sequence[NewTask]) -> dict[str, Enqueued]:
    """Enqueue in a transaction of the user's: edges are made after its commit. Raises Conflict, NotFound."""
    done = dict[str, Enqueued]()
    for batch in batches(tasks):
        done |= await _enqueue_batch(tx, [renamed(task, done) for task in batch])
    return done


async def _enqueue_batch(tx: Transaction, batch: list[NewTask]) -> dict[str, Enqueued]:
    rows = await tx.named("tasks/find_existing", rows=[sought(task) for task in batch])
    done = recognise(batch, rows)
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
