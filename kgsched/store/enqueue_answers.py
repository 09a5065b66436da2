"""What came of an enqueue: who stands for each task, and what is refused."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from kgsched.core.lanes import BEST_EFFORT
from kgsched.core.states import Status
from kgsched.core.task import Answer, Enqueued, NewTask, OnConflict, Unique
from kgsched.errors import Conflict, NotFound
from kgsched.store.enqueue_rows import needs_edges, out_of_order, renamed


class Misplaced(Conflict):
    """A task has a smaller uid than one it waits for: uids are the order of locks."""

    def __init__(self, message: str, waited_for: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.waited_for = waited_for


def distinct(tasks: Sequence[NewTask], *, no_twin_keys: bool) -> tuple[list[NewTask], dict[str, str]]:
    """Tasks that repeat no id or live key of another, and the uid of that other for each that does.

    Where neither waits for anything, the statement sees to a live key that comes twice, unless `no_twin_keys`.
    """
    first: dict[tuple[str, str, str], NewTask] = {}
    kept: list[NewTask] = []
    twins: dict[str, str] = {}
    for task in {task.uid: task for task in tasks}.values():
        names = [("id", task.space, task.id or task.uid)]
        if task.key is not None and task.unique is Unique.LIVE:
            names.append(("key", task.space, task.key))
        others = [(name[0], first[name]) for name in names if name in first]
        if not no_twin_keys:
            others = [(by, one) for by, one in others if by == "id" or needs_edges(one) or needs_edges(task)]
        by, other = next(iter(others), ("", None))
        if other is None:
            first = dict.fromkeys(names, task) | first
            kept.append(task)
            continue
        if task.on_conflict is OnConflict.REFUSE or (other.type, other.payload) != (task.type, task.payload):
            raise Conflict(f"{twice(by, task)}; nothing was enqueued")
        twins[task.uid] = other.uid
    known = {uid: Enqueued(other, other, Answer.EXISTING) for uid, other in twins.items()}
    return [renamed(task, known) for task in kept], twins


def recognise(batch: Iterable[NewTask], rows: Iterable[dict[str, Any]]) -> dict[str, Enqueued]:
    """Who stands for each task: itself, where it was written before, whoever has its key now. Raises Conflict."""
    tasks = {task.uid: task for task in batch}
    known: dict[str, Enqueued] = {}
    for row in sorted(rows, key=lambda row: row["uid"] != row["asked"]):
        task = tasks[row["asked"]]
        own = row["uid"] == task.uid
        before = known.get(task.uid)
        if before is not None and before.answer is Answer.CREATED:
            continue
        if not own and row["by"] == "key" and task.on_conflict is OnConflict.REFUSE and row["id"] != task.id:
            raise Conflict(f"key {task.key!r} is taken by task {row['id']!r}")
        if not own and (row["type"] != task.type or row["payload"] != task.payload):
            raise conflict(row["by"], task, row["id"])
        answer = Answer.CREATED if own else Answer.EXISTING
        known[task.uid] = before or Enqueued(row["uid"], row["id"], answer, Status(row["status"]))
    return known


def key_answer(task: NewTask, row: Mapping[str, Any], among: Container[str]) -> Enqueued:
    """What a row of enqueue_keyed or enqueue_unique says, unless it is to replace; `among`: uids of this enqueue.

    Raises Conflict.
    """
    if row["answer"] == Answer.CREATED:
        return Enqueued(row["uid"], row["id"], Answer.CREATED, Status(row["status"]))
    refuses = task.on_conflict is OnConflict.REFUSE and row["id"] != task.id
    if row["uid"] in among and (refuses or row["answer"] == "conflict"):
        raise twice("key", task)
    if refuses or row["answer"] == "gone":
        raise Conflict(f"key {task.key!r} is taken by task {row['id'] or '(purged)'!r}")
    if row["answer"] == "conflict":
        raise conflict("key", task, row["id"])
    return Enqueued(row["uid"], row["id"], Answer.EXISTING, Status(row["status"]))


def made(tasks: Iterable[NewTask], rows: Sequence[Mapping[str, Any]]) -> dict[str, Enqueued]:
    later = set(rows[0]["scheduled"])
    return {task.uid: created(task, Status.SCHEDULED if task.uid in later else Status.PENDING) for task in tasks}


def created(task: NewTask, status: Status | None = None) -> Enqueued:
    return Enqueued(task.uid, task.id or task.uid, Answer.CREATED, status)


def conflict(by: str, task: NewTask, holder: str) -> Conflict:
    what = f"key {task.key!r}" if by == "key" else f"id {task.id or task.uid!r}"
    remedy = "use another key, or cancel that task first" if by == "key" else "use another id"
    return Conflict(f"{what} belongs to task {holder!r}, which has another type or payload; {remedy}")


def twice(by: str, task: NewTask) -> Conflict:
    """Two tasks of one enqueue that name the same id or key, and are not the same."""
    what = f"key {task.key!r}" if by == "key" else f"id {task.id or task.uid!r}"
    return Conflict(f"{what} comes twice in this enqueue, and not for the same task")


def refuse(row: Mapping[str, Any], tasks: Sequence[NewTask]) -> None:
    """Raises NotFound, Conflict or Misplaced for what a statement with edges did not write."""
    if row["missing"]:
        raise NotFound(f"cannot enqueue: it waits for tasks that do not exist: {', '.join(row['missing'])}")
    if row["best_effort"]:
        raise _best_effort(row["best_effort"])
    if row["misplaced"]:
        raise Misplaced(
            f"the uids of {', '.join(row['misplaced'])} do not come after those that they wait for", out_of_order(tasks)
        )


def refuse_best_effort(tasks: Sequence[NewTask]) -> None:
    """The same for tasks that wait for one another; statements see those that exist."""
    capped = {task.uid: task.id or task.uid for task in tasks if task.lane in BEST_EFFORT}
    if waited := sorted({capped[one.uid] for task in tasks for one in task.after if one.uid in capped}):
        raise _best_effort(waited)


def _best_effort(ids: Iterable[str]) -> Conflict:
    return Conflict(
        f"cannot wait for {', '.join(ids)}: nothing may wait for a task in a best-effort lane "
        f"({', '.join(sorted(BEST_EFFORT))})"
    )
