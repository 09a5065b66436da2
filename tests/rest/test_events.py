"""`/v1/events`: each thing that happens to a task of the space, and taking the stream up again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from kgsched import Kgsched
from kgsched.core.task import AckOutcome
from kgsched.operations.new_task import EnqueueRequest
from tests.rest.running import problem, serving, token_for
from tests.store.worlds import World
from tests.surfaces.rules import RULES


class Reader:
    """Reads events until there are enough."""

    def __init__(self, lines: AsyncIterator[str]) -> None:
        self._lines = lines
        self.events: list[dict[str, Any]] = []

    async def until(self, event: str, id_: str) -> dict[str, Any]:
        async with asyncio.timeout(60):
            while True:
                for one in self.events:
                    if (one["event"], one["id"]) == (event, id_):
                        return one
                await self._next()

    async def _next(self) -> None:
        fields: dict[str, str] = {}
        async for line in self._lines:
            if not line:
                break
            name, _, value = line.partition(": ")
            fields[name] = value
        else:
            raise EOFError("the stream ended")
        if "data" in fields:
            self.events.append({**json.loads(fields["data"]), "event": fields["event"], "event_id": fields["id"]})


@asynccontextmanager
async def following(url: str, **headers: str) -> AsyncIterator[Reader]:
    async with (
        httpx.AsyncClient(timeout=60) as web,
        web.stream("GET", f"{url}/v1/events", headers=headers) as answer,
    ):
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield Reader(answer.aiter_lines())


async def test_what_happens_is_told_and_can_be_taken_up_again(app: Kgsched, world: World) -> None:
    with serving(app) as server:
        async with following(server.url) as reader:
            await app.enqueue("read", id="one")
            await reader.until("task.enqueued", "one")
            claim = await world.claim_one(RULES)
            started = await reader.until("task.started", "one")
            await world.finish(claim, AckOutcome.FAILED)
            await reader.until("task.failed", "one")
        await app.enqueue("read", id="two")
        await app.cancel("two")
        async with following(server.url, **{"Last-Event-ID": started["event_id"]}) as reader:
            await reader.until("task.cancelled", "two")
            told = {(one["event"], one["id"]) for one in reader.events}
    assert {("task.failed", "one"), ("task.enqueued", "two"), ("task.cancelled", "two")} <= told
    assert all(one["event_id"] != started["event_id"] for one in reader.events)


async def test_events_of_another_space_are_not_told(app: Kgsched) -> None:
    token = await token_for(app, "read:task", space="theirs")
    with serving(app) as server:
        async with following(server.url, Authorization=f"Bearer {token}") as reader:
            ours = app.operations_of(None).tasks
            await ours.enqueue(EnqueueRequest("read", id="ours"))
            await ours.enqueue(EnqueueRequest("read", id="theirs"), space="theirs")
            await reader.until("task.enqueued", "theirs")
    assert [one["id"] for one in reader.events] == ["theirs"]


async def test_the_stream_ends_when_the_server_stops(app: Kgsched) -> None:
    with serving(app) as server:
        async with following(server.url) as reader:
            await app.enqueue("read", id="one")
            await reader.until("task.enqueued", "one")
            server.begin_to_close()
            await asyncio.to_thread(server.closed)
            with pytest.raises(EOFError):
                await reader.until("task.started", "one")


async def test_an_id_that_no_event_has_is_refused(web: httpx.AsyncClient) -> None:
    for id_ in ("nonsense", "1-2-3;", "9" * 30):
        problem(await web.get("/v1/events?seconds=0", headers={"Last-Event-ID": id_}), 422)
