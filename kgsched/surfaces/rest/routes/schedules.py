"""`/v1/schedules`. The ETag is the schedule's version, which every change raises."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Response
from pydantic import Field

from kgsched.errors import Stale
from kgsched.operations.records import Record
from kgsched.surfaces.doors import answers, arguments
from kgsched.surfaces.doors import schedules as actions
from kgsched.surfaces.doors.fields import Arguments
from kgsched.surfaces.rest.routes.common import AtDesk, RepeatKey, ScheduleName, about

router = APIRouter(prefix="/v1/schedules", tags=["schedules"])
_ETAG = re.compile(r'"v([0-9]{1,15})"')
IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        pattern=r'^(\*|(W/)?"[!#-~]{0,100}")$',
        description="The ETag that was read: change that only.",
    ),
]
_TAGGED = {"headers": {"ETag": {"description": "Its version.", "schema": {"type": "string"}}}}


class HowMany(Arguments, strict=False):
    """How many runs to tell."""

    count: Annotated[int, Field(ge=1, le=100)] = 5


def _about(action: Any, *statuses: int) -> dict[str, Any]:
    keywords = about(action, *statuses)
    keywords["responses"] = {**keywords["responses"], 200: _TAGGED}
    return keywords


@router.get("", **about(actions.LIST))
async def list_schedules(desk: AtDesk) -> Any:
    return await actions.LIST(desk, arguments.Nothing())


@router.get("/{name}", **_about(actions.SHOW, 404))
async def show_schedule(desk: AtDesk, name: ScheduleName, response: Response) -> Any:
    answer = await actions.SHOW(desk, arguments.OneSchedule(name=name))
    assert isinstance(answer, answers.ScheduleShown)
    response.headers["ETag"] = f'"v{answer.schedule.version}"'
    return answer


@router.get("/{name}/preview", **about(actions.PREVIEW, 404))
async def preview_schedule(desk: AtDesk, name: ScheduleName, how: Annotated[HowMany, Query()]) -> Any:
    return await actions.PREVIEW(desk, arguments.Preview(name=name, count=how.count))


@router.patch("/{name}", **_about(actions.PRIORITIZE, 404, 409, 412) | {"summary": "Change a schedule"})
async def change_schedule(
    desk: AtDesk,
    name: ScheduleName,
    wanted: arguments.ChangeSchedule,
    response: Response,
    match: IfMatch = None,
    repeat: RepeatKey = None,
) -> Any:
    """All changes or none; with If-Match only while it is as it was read (412 else)."""
    await desk.need(actions.PRIORITIZE.scope, "schedules.change")
    change = await desk.operations.schedules.change(
        name,
        desk.caller.by,
        enabled=wanted.enabled,
        priority=wanted.priority,
        interval=wanted.interval,
        version=_version(match),
    )
    record: Record = actions.changed(change)
    response.headers["ETag"] = f'"v{change.schedule["version"]}"'
    return record


@router.post("/{name}/run-now", status_code=202, **about(actions.RUN_NOW, 404, 409))
async def run_schedule_now(
    desk: AtDesk, name: ScheduleName, tick: arguments.Tick | None = None, repeat: RepeatKey = None
) -> Any:
    """Queues a run; /v1/tasks/{id}/wait tells how it ends."""
    given = tick or arguments.Tick()
    return await actions.RUN_NOW(desk, arguments.RunNow(name=name, priority=given.priority, payload=given.payload))


def _version(match: str | None) -> int | None:
    if match is None or match == "*":
        return None
    found = _ETAG.fullmatch(match)
    if found is None:
        raise Stale(f"If-Match {match[:60]!r} is not the ETag of this schedule; read it again")
    return int(found[1])
