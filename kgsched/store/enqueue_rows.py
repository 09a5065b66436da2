"""What an enqueue sends: rows, their edges, and batches of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

from kgsched.core.limits import MAX_BATCH_BYTES, MAX_BATCH_ROWS
from kgsched.core.task import Answer, Enqueued, NewTask, OnConflict, OnFailure, Unique
from kgsched.store.uids import new_uid

_STRICTNESS = (OnFailure.CANCEL, OnFailure.HOLD, OnFailure.IGNORE)


@dataclass(frozen=True, slots=True)
class Kinds:
    """A batch by the statement that enqueues each task; what has edges comes in the order of uids."""

    plain: tuple[NewTask, ...]
    keyed: tuple[NewTask, ...]
    lasting: tuple[NewTask, ...]
    edged: tuple[NewTask, ...]

    @classmethod
    def of(cls, batch: Sequence[NewTask]) -> Self:
        live = [task for task in batch if task.key is None or task.unique is Unique.LIVE]
        free = [task for task in live if not needs_edges(task)]
        return cls(
            plain=tuple(task for task in free if task.key is None),
            keyed=tuple(task for task in free if task.key is not None),
            lasting=tuple(task for task in batch if task.key is not None and task.unique is not Unique.LIVE),
            edged=tuple(sorted((task for task in live if needs_edges(task)), key=lambda task: task.uid)),
        )

    @property
    def one_statement(self) -> bool:
        """Whether a single statement writes all or none: those with keys write what they can."""
        n = len(self.plain) + len(self.keyed) + len(self.lasting) + len(self.edged)
        return n in (1, len(self.plain), len(self.edged))


def needs_mark(batch: Sequence[NewTask]) -> bool:
    """Whether uids do not tell what came of a batch: it may replace, or tasks that are there may stand for some."""
    return any(replaces(task) for task in batch) or (len(batch) > 1 and any(map(_may_be_there, batch)))


def _may_be_there(task: NewTask) -> bool:
    return task.key is not None or task.id is not None


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


def row_of(task: NewTask) -> dict[str, Any]:
    row = asdict(task)
    row["after"] = [{"uid": uid, "on_failure": rule.value} for uid, rule in edges_of(task).items()]
    return row


def sought(task: NewTask) -> dict[str, Any]:
    """By what an earlier task may stand for this one; lasting keys and replacing are their own statements' matter."""
    key = task.key if task.unique is Unique.LIVE and not replaces(task) else None
    return {"uid": task.uid, "id": task.id, "space": task.space, "key": key}


def edges_of(task: NewTask) -> dict[str, OnFailure]:
    """One edge a task waited for; of two rules the stricter one."""
    edges: dict[str, OnFailure] = {}
    for one in task.after:
        edges[one.uid] = min(one.on_failure, edges.get(one.uid, one.on_failure), key=_STRICTNESS.index)
    return edges


def text_of_edges(task: NewTask) -> list[str]:
    return [f"{uid} {rule.value}" for uid, rule in edges_of(task).items()]


def replaces(task: NewTask) -> bool:
    """Whether it may put its payload into a task that is there."""
    return task.on_conflict is OnConflict.REPLACE and task.key is not None and not needs_edges(task)


def needs_edges(task: NewTask) -> bool:
    return bool(task.after) or task.spawned_by is not None


def parents_of(task: NewTask) -> set[str]:
    uids = {one.uid for one in task.after}
    return uids | {task.spawned_by} if task.spawned_by else uids


def renamed(task: NewTask, known: dict[str, Enqueued]) -> NewTask:
    """The task, waiting for those that stand for what it named."""
    after = tuple(replace(one, uid=known[one.uid].uid) if one.uid in known else one for one in task.after)
    return task if after == task.after else replace(task, after=after)


def out_of_order(tasks: Sequence[NewTask]) -> list[str]:
    """Uids that are waited for by tasks whose own does not come after them."""
    return [uid for task in tasks if any(one.uid >= task.uid for one in task.after) for uid in edges_of(task)]


def renumbered(tasks: Sequence[NewTask], waited_for: Sequence[str]) -> list[NewTask]:
    """The tasks, where those that have edges have new uids which come after those waited for."""
    edged = sorted((task for task in tasks if needs_edges(task)), key=lambda task: task.uid)
    moved = {task.uid: new_uid(waited_for) for task in edged}
    known = {old: Enqueued(new, new, Answer.CREATED) for old, new in moved.items()}
    return [renamed(replace(task, uid=moved.get(task.uid, task.uid)), known) for task in tasks]
