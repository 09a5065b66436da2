"""`/v1/tasks`."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from pydantic import Field

from kgsched.errors import Conflict, NotFound
from kgsched.surfaces.doors import answers, arguments
from kgsched.surfaces.doors import tasks as actions
from kgsched.surfaces.doors.action import Action
from kgsched.surfaces.doors.fields import Arguments, Name, Priority, StatusName, Weight
from kgsched.surfaces.rest.routes.common import AtDesk, RepeatKey, TaskId, about

router = APIRouter(prefix="/v1/tasks", tags=["tasks"])


class Filter(arguments.ListTasks, strict=False):
    """Which tasks to list."""

    status: Annotated[list[StatusName] | None, Field(max_length=8)] = None
    type: Annotated[list[Name] | None, Field(max_length=50)] = None
    limit: Annotated[int, Field(ge=1, le=500, description="Items of a page.")] = 50


class NewPriority(Arguments):
    """The new priority of a task."""

    priority: Priority
    weight: Weight | None = None


class Waiting(Arguments, strict=False):
    """How long to wait."""

    timeout: Annotated[float, Field(ge=0, le=60, description="Seconds.")] = 20


def _about_one(action: Action) -> dict[str, Any]:
    return about(action, 404, 409) | {"response_model": answers.ChangedTask}


@router.get("", **about(actions.PAGE))
async def list_tasks(desk: AtDesk, chosen: Annotated[Filter, Query()]) -> Any:
    return await actions.PAGE(desk, chosen)


@router.post("", status_code=201, **about(actions.ENQUEUE, 404, 409, summary="Enqueue a task"))
async def enqueue_task(desk: AtDesk, task: arguments.NewTask, response: Response, repeat: RepeatKey = None) -> Any:
    """201 for a new task, 200 for one that was there already."""
    answer = await actions.ENQUEUE(desk, task)
    if getattr(answer, "answer", "") != "created":
        response.status_code = 200
    return answer


@router.post("/batch", status_code=201, **about(actions.ENQUEUE_MANY, 404, 409, summary="Enqueue up to 500 tasks"))
async def enqueue_tasks(desk: AtDesk, batch: arguments.NewTasks, repeat: RepeatKey = None) -> Any:
    """All or none, as far as 4 MB of them reach. With an Idempotency-Key a second try makes no second task."""
    return await actions.ENQUEUE_MANY(desk, batch)


@router.get("/{id:path}/wait", **about(actions.WAIT, 404))
async def wait_for_task(desk: AtDesk, id_: TaskId, waiting: Annotated[Waiting, Query()]) -> Any:
    return await actions.WAIT(desk, arguments.WaitForTasks(ids=[id_], timeout=waiting.timeout))


@router.post("/{id:path}/cancel", **_about_one(actions.CANCEL))
async def cancel_task(desk: AtDesk, id_: TaskId, repeat: RepeatKey = None) -> Any:
    return _one(await actions.CANCEL(desk, arguments.SomeTasks(ids=[id_])))


@router.post("/{id:path}/retry", **_about_one(actions.RETRY))
async def retry_task(desk: AtDesk, id_: TaskId, repeat: RepeatKey = None) -> Any:
    return _one(await actions.RETRY(desk, arguments.SomeTasks(ids=[id_])))


@router.post("/{id:path}/prioritize", **_about_one(actions.PRIORITIZE))
async def prioritize_task(desk: AtDesk, id_: TaskId, wanted: NewPriority, repeat: RepeatKey = None) -> Any:
    given = arguments.PrioritizeTasks(ids=[id_], priority=wanted.priority, weight=wanted.weight)
    return _one(await actions.PRIORITIZE(desk, given))


@router.get("/{id:path}", **about(actions.SHOW, 404))
async def show_task(desk: AtDesk, id_: TaskId) -> Any:
    return await actions.SHOW(desk, arguments.OneTask(id=id_))


def _one(answer: object) -> answers.ChangedTask:
    """The answer for one task. Raises Conflict, or NotFound, when nothing was changed."""
    assert isinstance(answer, answers.ChangedTasks)
    changed = answer.tasks[0]
    if changed.refused is not None:
        kind = NotFound if changed.answer == "gone" else Conflict
        raise kind(f"task {changed.id!r}: {changed.refused}")
    return changed
