"""`/v1/events`: what happens to tasks, as server-sent events."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import StreamingResponse
from pydantic import Field
from starlette.types import Receive, Send
from starlette.types import Scope as AsgiScope

from kgsched.core.access import Scope
from kgsched.errors import SecurityError, StoreError
from kgsched.operations.events import TaskEvents
from kgsched.operations.records import Record
from kgsched.surfaces.doors.fields import Arguments
from kgsched.surfaces.rest.problems import problem
from kgsched.surfaces.rest.routes.common import AtDesk, needs

router = APIRouter(prefix="/v1", tags=["events"])
QUIET_S = 15.0
MOST_STREAMS = 50
MOST_OF_ONE = 10
STILL_S = 5.0
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
    """task.enqueued and task.started; how a run ended: task.completed, failed, dead_letter, cancelled, or, to be
    run again, task.retrying, snoozed, released, reaped; task.retried by a person. Each is told at least once:
    `event_id` in the data names it. With the id of the last one in Last-Event-ID the stream goes on there."""
    desk.caller.need(Scope.READ_TASK)
    streams: Streams = request.app.state.streams
    mark = streams.open(desk.caller.token or desk.caller.name)
    if mark is None:
        words = f"{MOST_STREAMS} streams, or {MOST_OF_ONE} of one caller, are open already"
        return problem(429, "too-many", words, {"Retry-After": "30"})
    try:
        batches = TaskEvents(desk.app.store, desk.caller.space).follow(last or None)
        text = _stream(await anext(batches), batches, how.seconds, request)
    except BaseException:
        streams.close(mark)
        raise
    return _Counted(text, streams, mark)


class Streams:
    """The streams that are open, and whose they are."""

    def __init__(self) -> None:
        self._open: dict[object, str] = {}

    def open(self, caller: str) -> object | None:
        """A mark to close it with; None when there are enough."""
        if len(self._open) >= MOST_STREAMS or sum(one == caller for one in self._open.values()) >= MOST_OF_ONE:
            return None
        mark = object()
        self._open[mark] = caller
        return mark

    def close(self, mark: object) -> None:
        self._open.pop(mark, None)


class _Counted(StreamingResponse):
    """A stream that is counted until it is over, also if nobody ever reads it."""

    def __init__(self, text: AsyncIterator[str], streams: Streams, mark: object) -> None:
        super().__init__(text, media_type=MEDIA)
        self._streams, self._mark = streams, mark

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._streams.close(self._mark)


async def _stream(
    first: list[Record], batches: AsyncIterator[list[Record]], seconds: float, request: Request
) -> AsyncIterator[str]:
    stopping: asyncio.Event = request.app.state.stopping
    still_allowed: Callable[[], Awaitable[Any]] = request.state.still_allowed
    began = spoke = asked = time.monotonic()
    batch = first
    try:
        while not stopping.is_set():
            if time.monotonic() - asked > STILL_S:
                asked = time.monotonic()
                await still_allowed()
            if batch:
                yield "".join(_text(one) for one in batch)
                spoke = time.monotonic()
            elif time.monotonic() - spoke > QUIET_S:
                yield ": still here\n\n"
                spoke = time.monotonic()
            if time.monotonic() >= began + seconds:
                return
            batch = await anext(batches)
    except StoreError:
        yield "retry: 5000\n\n"  # the reader comes back with its last id
    except SecurityError:
        yield ": this caller is let in no more\n\n"


def _text(event: Record) -> str:
    data = json.dumps({"event_id": event["id"], "at": event["at"], **event["task"]}, ensure_ascii=False)
    return f"id: {event['mark']}\nevent: {event['event']}\ndata: {data}\n\n"
