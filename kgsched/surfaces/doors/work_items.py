"""Tasks in the words of work items, for clients that know that vocabulary."""

from __future__ import annotations

from typing import Any

from kgsched.core.access import Scope
from kgsched.core.priority import BACKGROUND, NORMAL
from kgsched.core.states import Status
from kgsched.core.task_filter import TaskFilter
from kgsched.errors import Conflict, NotFound
from kgsched.operations.records import Record
from kgsched.surfaces.doors import answers, arguments
from kgsched.surfaces.doors.action import Action, Desk

PREFIX = "work_item:"
STATUSES = {
    "runnable": (Status.PENDING, Status.SCHEDULED, Status.BLOCKED),
    "running": (Status.RUNNING,),
    "done": (Status.COMPLETED,),
    "failed": (Status.FAILED, Status.DEAD_LETTER),
    "cancelled": (Status.CANCELLED,),
}
_WORDS = {status: word for word, statuses in STATUSES.items() for status in statuses}
FAILED = frozenset(STATUSES["failed"])


def work_item(task: Record) -> Record:
    """A task record as a work item."""
    bucket, weight = task["prio_bucket"], task["weight"] or 0
    return {
        "id": PREFIX + task["uid"],
        "kind": task["type"],
        "status": _WORDS[Status(task["status"])],
        "priority": (BACKGROUND - (NORMAL if bucket is None else bucket)) * 1000 + weight,
        "attempts": task["attempts"] or 0,
        "worker_id": task["worker_id"],
        "lease_expires_at": task["lease_expires_at"],
        "run_after": task["eta"],
        "last_error": task["last_error"],
        "reason": task["status"] if task["status"] in FAILED else None,
    }


async def _list(desk: Desk, given: arguments.ListWorkItems) -> dict[str, Any]:
    chosen = TaskFilter(
        statuses=None if given.status is None else tuple(one.value for one in STATUSES[given.status]),
        types=None if given.kind is None else (given.kind,),
    )
    page = await desk.operations.tasks.list_tasks(chosen, given.limit, given.cursor)
    return {"items": [work_item(task) for task in page.items], "next_cursor": page.next_cursor}


async def _show(desk: Desk, given: arguments.OneWorkItem) -> dict[str, Any]:
    return work_item(await _find(desk, given.id))


async def _retry(desk: Desk, given: arguments.OneWorkItem) -> dict[str, Any]:
    task = await _find(desk, given.id)
    done = (await desk.operations.tasks.retry([task["uid"]], by=desk.caller.by, of=FAILED, mark=desk.mark))[0]
    if done.answer == "not_dead" and done.status is not None:
        raise Conflict(
            f"work item {given.id!r} is {_WORDS[Status(done.status)]} ({done.status}); "
            "only failed and dead-lettered ones are retried"
        )
    if done.refused is not None:
        raise Conflict(f"work item {given.id!r} was not retried: {done.refused}")
    more = f"; {done.detail}" if done.detail else ""
    return {
        "id": PREFIX + done.uid,
        "status": _WORDS[Status(done.status)] if done.status else "runnable",
        "queued": True,
        "message": f"queued again, not done yet; ask for the work item to see how it ends{more}",
    }


async def _find(desk: Desk, id_: str) -> Record:
    uid = id_.removeprefix(PREFIX)
    try:
        return await desk.operations.tasks.show(uid)
    except NotFound:
        raise NotFound(f"no work item {id_!r}: it does not exist, or was purged") from None


LIST = Action(
    "list",
    "work items, newest first, a page at a time",
    arguments.ListWorkItems,
    answers.WorkItems,
    Scope.READ_WORK_ITEM,
    _list,
    reads=True,
    repeatable=True,
)
SHOW = Action(
    "show",
    "one work item",
    arguments.OneWorkItem,
    answers.WorkItem,
    Scope.READ_WORK_ITEM,
    _show,
    reads=True,
    repeatable=True,
)
RETRY = Action(
    "retry",
    "queue a failed or dead-lettered work item again",
    arguments.OneWorkItem,
    answers.WorkItemQueued,
    Scope.WRITE_WORK_ITEM,
    _retry,
)
