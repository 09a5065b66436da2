"""Idempotency-Key: a request sent again gets its first answer again, and nothing happens twice."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from kgsched import Kgsched
from kgsched.core.access import Door
from kgsched.operations.tokens import local_caller
from kgsched.surfaces.rest.app import HttpApp
from kgsched.surfaces.rest.repeats import key_of
from tests.rest.running import client, problem, token_for
from tests.store.worlds import World
from tests.surfaces.rules import RULES

KEY = {"Idempotency-Key": "a key"}


async def test_a_request_sent_again_gets_the_first_answer(web: httpx.AsyncClient, world: World) -> None:
    first = await web.post("/v1/tasks", json={"type": "read"}, headers=KEY)
    again = await web.post("/v1/tasks", json={"type": "read"}, headers=KEY)
    assert again.json() == first.json()
    assert (first.status_code, again.status_code, again.headers["idempotency-replayed"]) == (201, 201, "true")
    assert len(await world.cypher("MATCH (t:Task) RETURN t")) == 1


async def test_another_request_under_the_same_key_is_refused(web: httpx.AsyncClient) -> None:
    await web.post("/v1/tasks", json={"type": "read"}, headers=KEY)
    problem(await web.post("/v1/tasks", json={"type": "ask"}, headers=KEY), 422)


async def test_many_at_once_under_one_key_make_one_task(web: httpx.AsyncClient, world: World) -> None:
    answers = await asyncio.gather(*(web.post("/v1/tasks", json={"type": "read"}, headers=KEY) for _ in range(12)))
    assert {one.status_code for one in answers} <= {201, 409}
    assert len({one.json()["uid"] for one in answers if one.status_code == 201}) == 1
    assert len(await world.cypher("MATCH (t:Task) RETURN t")) == 1


async def test_a_key_whose_first_request_was_cut_off_makes_no_second_task(web: httpx.AsyncClient, world: World) -> None:
    """The process died between the enqueue and keeping the answer: the task's id is made of the key."""
    first = await web.post("/v1/tasks", json={"type": "read"}, headers=KEY)
    await world.cypher("MATCH (a:Answer) SET a.status = NULL, a.taken_until = 0, a.holder = 'gone'")
    again = await web.post("/v1/tasks", json={"type": "read"}, headers=KEY)
    assert (again.status_code, again.json()["uid"]) == (200, first.json()["uid"])


@pytest.mark.parametrize("extra", [{}, {"on_conflict": "refuse"}, {"unique_for": "1h"}])
@pytest.mark.parametrize("path", ["/v1/tasks", "/graph/tasks"])
async def test_a_task_with_a_key_whose_answer_was_lost_is_found_though_it_is_over(
    web: httpx.AsyncClient, world: World, path: str, extra: dict[str, str]
) -> None:
    body = {"type": "read", "key": "k", **extra} | ({"action": "enqueue"} if path == "/graph/tasks" else {})
    first = (await web.post(path, json=body, headers=KEY)).json()
    for _ in range(2):
        await world.cypher("MATCH (a:Answer) DELETE a")
        again = await web.post(path, json=body, headers=KEY)
        assert again.json()["uid"] == first["uid"], again.text
        for claim in await world.claim(1, {"read": RULES["read"]}):
            await world.finish(claim)
    assert len(await world.cypher("MATCH (t:Task) RETURN t")) == 1


async def test_graph_tools_give_the_first_answer_again_too(web: httpx.AsyncClient, world: World) -> None:
    body = {"action": "enqueue", "type": "read"}
    first, again = [await web.post("/graph/tasks", json=body, headers=KEY) for _ in range(2)]
    assert (again.json(), again.headers["idempotency-replayed"]) == (first.json(), "true")


async def test_a_key_under_way_is_told(web: httpx.AsyncClient, app: Kgsched) -> None:
    key = key_of(local_caller(Door.REST, "default"), "a key")
    await app.store.answers.take(key, "print", "somebody", 60_000, 60_000)
    await app.store.answers.take(key, "print", "other", 60_000, 60_000)
    answer = await web.post("/v1/tasks", json={"type": "read"}, headers=KEY)
    problem(answer, 422)  # another request took it


async def test_what_was_refused_is_asked_anew(web: httpx.AsyncClient, world: World) -> None:
    problem(await web.post("/v1/tasks/late/cancel", headers=KEY), 404)
    problem(await web.post("/v1/nothing/here", headers=KEY), 404)
    assert (await world.cypher("MATCH (a:Answer) RETURN count(a) AS n"))[0]["n"] == 0
    await web.post("/v1/tasks", json={"type": "read", "id": "late"})
    assert (await web.post("/v1/tasks/late/cancel", headers=KEY)).json()["answer"] == "cancelled"


async def test_keys_of_others_are_their_own(http: HttpApp, app: Kgsched) -> None:
    one, other = await token_for(app, "write:task"), await token_for(app, "write:task")
    async with client(http, one) as first, client(http, other) as second:
        made = await first.post("/v1/tasks", json={"type": "read"}, headers=KEY)
        unlike = await second.post("/v1/tasks", json={"type": "read"}, headers=KEY)
    assert made.json()["uid"] != unlike.json()["uid"]


@pytest.mark.parametrize("key", ["", "k" * 256, "\t", "ü".encode("latin-1")])
async def test_odd_keys_are_refused(web: httpx.AsyncClient, key: str | bytes) -> None:
    raw = key if isinstance(key, bytes) else key.encode()
    request = web.build_request("POST", "/v1/tasks", json={"type": "read"}, headers=[(b"Idempotency-Key", raw)])
    problem(await web.send(request), 422)


async def test_old_answers_are_forgotten(web: httpx.AsyncClient, app: Kgsched, world: World) -> None:
    await web.post("/v1/tasks", json={"type": "read"}, headers=KEY)
    assert await app.store.answers.forget() == 0
    await world.cypher("MATCH (a:Answer) SET a.until = 1")
    assert await app.store.answers.forget() == 1
