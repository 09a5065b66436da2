"""Tasks: list, show, enqueue, cancel, retry, prioritize, wait."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from kgsched.core.access import Scope
from kgsched.operations.enqueue import enqueued_record
from kgsched.operations.filters import read_filter
from kgsched.operations.new_task import EnqueueRequest
from kgsched.surfaces.doors import answers, arguments
from kgsched.surfaces.doors.action import Action, Desk

MESSAGE = 200


async def page_of_tasks(desk: Desk, given: arguments.ListTasks) -> dict[str, Any]:
    """Items in full, and the cursor of the next page."""
    now = (await desk.app.store.cluster.pulse()).now if given.since else None
    chosen, _ = read_filter(
        statuses=given.status or (),
        types=given.type or (),
        schedule=given.schedule,
        source=given.source,
        lane=given.lane,
        since=given.since,
        now=now,
    )
    page = await desk.operations.tasks.list_tasks(chosen, given.limit, given.cursor)
    return {"items": page.items, "next_cursor": page.next_cursor}


async def _short_page(desk: Desk, given: arguments.ListTasks) -> dict[str, Any]:
    page = await page_of_tasks(desk, given)
    items = [item | {"last_error": _cut(item["last_error"])} for item in page["items"]]
    return {"items": items, "next_cursor": page["next_cursor"]}


async def _show(desk: Desk, given: arguments.OneTask) -> dict[str, Any]:
    return await desk.operations.tasks.show(given.id)


async def _enqueue(desk: Desk, given: arguments.NewTask) -> Any:
    return enqueued_record(await desk.operations.tasks.enqueue(EnqueueRequest(**given.request()), mark=desk.mark))


async def _enqueue_many(desk: Desk, given: arguments.NewTasks) -> dict[str, Any]:
    requests = [EnqueueRequest(**one.request()) for one in given.tasks]
    done = await desk.operations.tasks.enqueue_many(requests, mark=desk.mark)
    return {"tasks": [enqueued_record(one) for one in done]}


async def _cancel(desk: Desk, given: arguments.SomeTasks) -> dict[str, Any]:
    return {"tasks": [asdict(one) for one in await desk.operations.tasks.cancel(given.ids)]}


async def _retry(desk: Desk, given: arguments.SomeTasks) -> dict[str, Any]:
    changed = await desk.operations.tasks.retry(given.ids, by=desk.caller.by, mark=desk.mark)
    return {"tasks": [asdict(one) for one in changed]}


async def _prioritize(desk: Desk, given: arguments.PrioritizeTasks) -> dict[str, Any]:
    changed = await desk.operations.tasks.prioritize(given.ids, given.priority, given.weight)
    return {"tasks": [asdict(one) for one in changed]}


async def _wait(desk: Desk, given: arguments.WaitForTasks) -> dict[str, Any]:
    waited = await desk.operations.tasks.wait(given.ids, timeout=given.timeout)
    return {"tasks": list(waited.tasks), "done": waited.done}


def _cut(text: str | None) -> str | None:
    return text if text is None or len(text) <= MESSAGE else f"{text[:MESSAGE]}…"


LIST = Action(
    "list",
    "tasks on one line each, newest first, a page at a time",
    arguments.ListTasks,
    answers.ShortTaskPage,
    Scope.READ_TASK,
    _short_page,
    reads=True,
    repeatable=True,
)
PAGE = Action(
    "page",
    "tasks, newest first, a page at a time",
    arguments.ListTasks,
    answers.TaskPage,
    Scope.READ_TASK,
    page_of_tasks,
    reads=True,
    repeatable=True,
)
SHOW = Action(
    "show",
    "one task with its payload, result, runs and timeline",
    arguments.OneTask,
    answers.TaskDetails,
    Scope.READ_TASK,
    _show,
    reads=True,
    repeatable=True,
)
ENQUEUE = Action(
    "enqueue",
    "a new task; the answer is its id at once, `wait` tells how it ends",
    arguments.NewTask,
    answers.EnqueuedTask,
    Scope.WRITE_TASK,
    _enqueue,
)
ENQUEUE_MANY = Action(
    "enqueue_many",
    "up to 500 new tasks",
    arguments.NewTasks,
    answers.EnqueuedTasks,
    Scope.WRITE_TASK,
    _enqueue_many,
)
CANCEL = Action(
    "cancel",
    "end what has not run, ask what runs to stop",
    arguments.SomeTasks,
    answers.ChangedTasks,
    Scope.WRITE_TASK,
    _cancel,
    destroys=True,
    repeatable=True,
)
RETRY = Action(
    "retry",
    "bring back failed, dead-lettered or cancelled tasks, and what was cancelled because of them",
    arguments.SomeTasks,
    answers.ChangedTasks,
    Scope.WRITE_TASK,
    _retry,
)
PRIORITIZE = Action(
    "prioritize",
    "a new priority for tasks that are not over",
    arguments.PrioritizeTasks,
    answers.ChangedTasks,
    Scope.WRITE_TASK,
    _prioritize,
    repeatable=True,
)
WAIT = Action(
    "wait",
    "wait until tasks are over, up to a minute",
    arguments.WaitForTasks,
    answers.WaitedTasks,
    Scope.READ_TASK,
    _wait,
    reads=True,
    repeatable=True,
)
