"""`/v1/events`: each thing that happens to a task of the space, and taking the stream up again."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx
import pytest

from kgsched import Kgsched
from kgsched.core.task import AckOutcome
from kgsched.operations import events as operation
from kgsched.operations.new_task import EnqueueRequest
from kgsched.surfaces.rest.routes import events
from tests.rest.running import problem, serving, token_for
from tests.store.worlds import World, new_task
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
            self.events.append({**json.loads(fields["data"]), "event": fields["event"], "mark": fields["id"]})


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
        async with following(server.url, **{"Last-Event-ID": started["mark"]}) as reader:
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


async def test_a_flood_is_told_whole_and_what_comes_after_it_too(app: Kgsched, world: World) -> None:
    """More events than a page holds, all at one instant."""
    flood = 2 * operation.MOST + 100
    with serving(app) as server:
        async with following(server.url) as reader:
            await world.enqueue(*(new_task("read") for _ in range(flood)))
            await app.enqueue("read", id="after")
            await reader.until("task.enqueued", "after")
        told = [one["event_id"] for one in reader.events]
        async with following(server.url, **{"Last-Event-ID": reader.events[0]["mark"]}) as reader:
            await reader.until("task.enqueued", "after")
    assert len(told) == len(set(told)) == flood + 1
    assert len(reader.events) >= flood


async def test_who_is_let_in_no_more_hears_no_more(app: Kgsched, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "STILL_S", 0.1)
    token = await token_for(app, "read:task", "write:task")
    with serving(app) as server:
        async with following(server.url, Authorization=f"Bearer {token}") as reader:
            await app.enqueue("read", id="one")
            await reader.until("task.enqueued", "one")
            listed = await app.operations.tokens.list_tokens()
            await app.operations.tokens.revoke(listed[0]["id"], "test")
            with pytest.raises(EOFError):
                await reader.until("task.enqueued", "two")


async def test_streams_are_counted_before_they_are_read(app: Kgsched) -> None:
    with serving(app) as server:
        async with httpx.AsyncClient(base_url=server.url, timeout=60) as web, AsyncExitStack() as stack:
            streams = [web.stream("GET", "/v1/events") for _ in range(events.MOST_OF_ONE + 3)]
            answers = await asyncio.gather(*(stack.enter_async_context(one) for one in streams))
            statuses = sorted(one.status_code for one in answers)
            assert statuses == [200] * events.MOST_OF_ONE + [429] * 3
        async with following(server.url):
            pass


async def test_what_is_committed_long_after_its_instant_is_told_live_and_to_who_comes_back(
    app: Kgsched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The look behind the newest instant goes back as far as the oldest open transaction, not a number of seconds."""
    monkeypatch.setattr(operation, "LATE_MS", 200)
    with serving(app) as server:
        async with following(server.url) as live:
            async with app.transaction() as tx:
                await app.enqueue("read", id="late", tx=tx)
                await asyncio.sleep(1)
                await app.enqueue("read", id="early")
                early = await live.until("task.enqueued", "early")
                await asyncio.sleep(2)
            await live.until("task.enqueued", "late")
        async with following(server.url, **{"Last-Event-ID": early["mark"]}) as back:
            await back.until("task.enqueued", "late")


async def test_every_start_and_end_is_told_however_short_it_was(app: Kgsched, world: World) -> None:
    with serving(app) as server:
        async with following(server.url) as reader:
            one = await world.enqueue_one("read", max_attempts=9)
            for outcome in ("retry", "snooze", "release"):
                await world.finish(await world.claim_one(RULES), outcome)
            await world.crash(await world.claim_one(RULES))
            await world.finish(await world.claim_one(RULES), AckOutcome.FAILED)
            await app.retry(one.uid)
            await world.finish(await world.claim_one(RULES), AckOutcome.COMPLETED)
            await reader.until("task.completed", one.uid)
    told = [event["event"].removeprefix("task.") for event in reader.events]
    assert told.count("started") == 6
    assert [kind for kind in told if kind != "started"] == [
        *("enqueued", "retrying", "snoozed", "released", "reaped", "failed", "retried", "completed")
    ]
    assert len({event["event_id"] for event in reader.events}) == len(told)


async def test_a_cancel_that_was_undone_before_anybody_looked_is_told(app: Kgsched, world: World) -> None:
    with serving(app) as server:
        async with following(server.url) as reader:
            await app.enqueue("read", id="one")
            enqueued = await reader.until("task.enqueued", "one")
        for _ in range(2):
            await app.cancel("one")
            await app.retry("one")
        await world.finish(await world.claim_one(RULES), AckOutcome.COMPLETED)
        async with following(server.url, **{"Last-Event-ID": enqueued["mark"]}) as reader:
            await reader.until("task.completed", "one")
    told = [one["event"].removeprefix("task.") for one in reader.events]
    assert told == ["cancelled", "retried", "cancelled", "retried", "started", "completed"]
    record = await app.operations.tasks.show("one")
    assert [one["event"] for one in record["timeline"]] == ["enqueued", *told]


async def test_a_cascade_that_came_and_went_is_told_to_who_comes_late(app: Kgsched, world: World) -> None:
    """Its many runs and cancels are read within the memory that a transaction of the server has."""
    with serving(app) as server:
        async with following(server.url) as reader:
            root = await app.enqueue("read", id="root")
            enqueued = await reader.until("task.enqueued", "root")
        await world.enqueue(*(new_task("read", after=[root.uid]) for _ in range(700)))
        for _ in range(2):
            await app.cancel("root")
            await world.sweep()
            await app.retry("root")
            await world.sweep()
        await app.enqueue("read", id="last")
        async with following(server.url, **{"Last-Event-ID": enqueued["mark"]}) as reader:
            await reader.until("task.enqueued", "last")
    told = Counter(one["event"] for one in reader.events)
    assert told == {"task.enqueued": 700 + 1, "task.cancelled": 2 * 701, "task.retried": 2}


async def test_an_id_from_the_future_does_not_silence_the_stream(app: Kgsched) -> None:
    with serving(app) as server:
        async with following(server.url, **{"Last-Event-ID": "253402300799999-x-enqueued"}) as reader:
            await app.enqueue("read", id="one")
            await reader.until("task.enqueued", "one")
