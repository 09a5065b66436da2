"""`/v1/events`: what happens to tasks, as server-sent events."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import Field

from kgsched.core.access import Scope
from kgsched.errors import StoreError
from kgsched.operations.events import TaskEvents
from kgsched.operations.records import Record
from kgsched.surfaces.doors.fields import Arguments
from kgsched.surfaces.rest.problems import problem
from kgsched.surfaces.rest.routes.common import AtDesk, needs

router = APIRouter(prefix="/v1", tags=["events"])
QUIET_S = 15.0
MOST_STREAMS = 50
MEDIA = "text/event-stream"


class HowLong(Arguments, strict=False):
    """When the stream ends by itself."""

    seconds: Annotated[float, Field(ge=0, le=3600, description="The stream ends after that; take it up again.")] = 3600


@router.get(
    "/events",
    summary="Follow what happens to tasks",
    response_class=StreamingResponse,
    **needs(Scope.READ_TASK)
    | {"responses": {**needs(Scope.READ_TASK)["responses"], 200: {"content": {MEDIA: {"schema": {"type": "string"}}}}}},
)
async def follow_events(
    request: Request,
    desk: AtDesk,
    how: Annotated[HowLong, Query()],
    last: Annotated[
        str | None, Header(alias="Last-Event-ID", max_length=200, description="Where an earlier stream broke off.")
    ] = None,
) -> Any:
    """task.enqueued, task.started, and task.completed, failed, cancelled, dead_letter. At least once each, by id."""
    desk.caller.need(Scope.READ_TASK)
    streams: set[object] = request.app.state.streams
    if len(streams) >= MOST_STREAMS:
        return problem(429, "too-many", f"{MOST_STREAMS} streams are open already", {"Retry-After": "30"})
    batches = TaskEvents(desk.app.store, desk.caller.space).follow(last or None)
    first = await anext(batches)
    stopping: asyncio.Event = request.app.state.stopping
    return StreamingResponse(_stream(first, batches, how.seconds, stopping, streams), media_type=MEDIA)


async def _stream(
    first: list[Record],
    batches: AsyncIterator[list[Record]],
    seconds: float,
    stopping: asyncio.Event,
    open_: set[object],
) -> AsyncIterator[str]:
    mark = object()
    open_.add(mark)
    until, spoke, batch = time.monotonic() + seconds, 0.0, first
    try:
        while not stopping.is_set():
            if batch:
                yield "".join(_text(one) for one in batch)
                spoke = time.monotonic()
            elif time.monotonic() - spoke > QUIET_S:
                yield ": still here\n\n"
                spoke = time.monotonic()
            if time.monotonic() >= until:
                return
            batch = await anext(batches)
    except StoreError:
        yield "retry: 5000\n\n"  # the reader comes back with its last id
    finally:
        open_.discard(mark)


def _text(event: Record) -> str:
    data = json.dumps({"at": event["at"], **event["task"]}, ensure_ascii=False)
    return f"id: {event['id']}\nevent: {event['event']}\ndata: {data}\n\n"
