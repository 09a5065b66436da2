"""Idempotency-Key: a request sent again gets its first answer again, and nothing happens twice."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from kgsched import Kgsched
from kgsched.core.access import Door
from kgsched.core.task import AckOutcome
from kgsched.operations.tokens import local_caller
from kgsched.surfaces.rest.app import HttpApp
from kgsched.surfaces.rest.repeats import key_of
from tests.rest.running import client, problem, token_for
from tests.store.races.race import BLOCKED
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


async def cut_off(world: World) -> None:
    """The daemon died between the deed and keeping the answer, two minutes ago."""
    await world.cypher("MATCH (a:Answer) WHERE a.holder IS NOT NULL SET a.status = NULL, a.taken_until = 0")


async def _end_all(world: World, outcome: AckOutcome = AckOutcome.COMPLETED) -> None:
    for claim in await world.claim(9, {"read": RULES["read"]}):
        await world.finish(claim, outcome)


HELD = {"type": "read", "key": "held"}
CUT_OFF = {
    "plain": {"type": "read"},
    "a delay": {"type": "read", "delay": "1h"},
    "a key": {"type": "read", "key": "k"},
    "a key, to refuse": {"type": "read", "key": "k", "on_conflict": "refuse"},
    "a key for an hour": {"type": "read", "key": "k", "unique_for": "1h"},
    "a key that is held": HELD,
    "replacing": {**HELD, "payload": {"v": 2}, "on_conflict": "replace"},
    "replacing nothing": {"type": "read", "key": "k", "on_conflict": "replace"},
    "replacing nothing, for an hour": {"type": "read", "key": "k", "on_conflict": "replace", "unique_for": "1h"},
}


@pytest.mark.parametrize("path", ["/v1/tasks", "/v1/tasks/batch", "/graph/tasks"])
@pytest.mark.parametrize("task", CUT_OFF.values(), ids=CUT_OFF)
async def test_an_enqueue_whose_record_was_lost_is_told_as_it_was_though_the_task_is_over(
    web: httpx.AsyncClient, world: World, app: Kgsched, path: str, task: dict[str, object]
) -> None:
    await app.enqueue("read", key="held")
    twin = {"type": "read"} if task.get("on_conflict") == "refuse" else task
    body: dict[str, object] = {"tasks": [task, twin, {"type": "read", "id": "p"}, {"type": "read", "after": ["p"]}]}
    if path != "/v1/tasks/batch":
        body = {**task, "action": "enqueue"} if path == "/graph/tasks" else task
    first = await web.post(path, json=body, headers=KEY)
    tasks = await world.count("MATCH (t:Task)")
    for _ in range(2):
        await cut_off(world)
        again = await web.post(path, json=body, headers=KEY)
        assert (again.status_code, again.json()) == (first.status_code, first.json())
        await _end_all(world)
    assert await world.count("MATCH (t:Task)") == tasks
    assert await world.broken(swept=False) == []


@pytest.mark.parametrize("how", ["/v1/schedules/hourly/run-now", "/graph/schedules"])
async def test_a_run_now_whose_record_was_lost_is_one_run(
    web: httpx.AsyncClient, world: World, app: Kgsched, tmp_path: Path, how: str
) -> None:
    (tmp_path / "schedules.yml").write_text("schedules:\n  hourly:\n    type: read\n    every: 1h\n")
    await app.operations.schedules.apply(tmp_path / "schedules.yml", by="test")
    body = {"action": "run_now", "name": "hourly"} if how.startswith("/graph") else {}
    first = await web.post(how, json=body, headers=KEY)
    await _end_all(world)
    await cut_off(world)
    again = await web.post(how, json=body, headers=KEY)
    assert (again.status_code, again.json()) == (first.status_code, first.json())
    assert await world.count("MATCH (t:Task)") == 1
    other = await web.post(how, json=body, headers={"Idempotency-Key": "another"})
    assert other.json()["uid"] != first.json()["uid"]


@pytest.mark.parametrize("how", ["/v1/tasks/dead/retry", "/v1/work-items/dead/retry", "/graph/tasks"])
async def test_a_retry_whose_record_was_lost_is_one_retry(
    web: httpx.AsyncClient, world: World, app: Kgsched, how: str
) -> None:
    await app.enqueue("read", id="dead")
    await _end_all(world, AckOutcome.FAILED)
    body = {"action": "retry", "ids": ["dead"]} if how.startswith("/graph") else None
    first = await web.post(how, json=body, headers=KEY)
    assert first.status_code in (200, 202), first.text
    for _ in range(2):  # while it waits, and after it failed again
        await cut_off(world)
        again = await web.post(how, json=body, headers=KEY)
        assert (again.status_code, again.json()) == (first.status_code, first.json())
        await _end_all(world, AckOutcome.FAILED)
    assert await world.count("MATCH (:Attempt {outcome: 'retried'})") == 1
    await web.post(how, json=body, headers={"Idempotency-Key": "another"})
    assert await world.count("MATCH (:Attempt {outcome: 'retried'})") == 2


async def test_what_came_back_with_another_is_not_retried_when_it_is_sent_again(
    web: httpx.AsyncClient, world: World, app: Kgsched
) -> None:
    root = await app.enqueue("read", id="root")
    await app.enqueue("read", id="child", after=[root.uid])
    await _end_all(world, AckOutcome.FAILED)
    await world.sweep()
    body = {"action": "retry", "ids": ["root", "child"]}
    first = await web.post("/graph/tasks", json=body, headers=KEY)
    assert [one["answer"] for one in first.json()["tasks"]] == ["retried", "retried"]
    await _end_all(world)
    await _end_all(world, AckOutcome.FAILED)
    await cut_off(world)
    again = await web.post("/graph/tasks", json=body, headers=KEY)
    assert again.json() == first.json()
    assert await world.count("MATCH (:Task {id: 'child', status: 'failed'})") == 1


async def test_a_key_is_for_one_request_though_nobody_knows_what_came_of_it(
    web: httpx.AsyncClient, world: World
) -> None:
    first = await web.post("/v1/tasks", json={"type": "read"}, headers=KEY)
    await cut_off(world)
    problem(await web.post("/v1/tasks", json={"type": "ask"}, headers=KEY), 422)
    again = await web.post("/v1/tasks", json={"type": "read"}, headers=KEY)
    assert (again.status_code, again.json()) == (201, first.json())


async def test_a_refusal_of_what_is_sent_again_gives_the_key_to_no_other_request(
    web: httpx.AsyncClient, world: World, app: Kgsched
) -> None:
    await app.enqueue("read", id="p")
    assert (await web.post("/v1/tasks/p/cancel", headers=KEY)).status_code == 200
    await cut_off(world)
    problem(await web.post("/v1/tasks/p/cancel", headers=KEY), 409)  # it is cancelled
    problem(await web.post("/v1/tasks", json={"type": "ask"}, headers=KEY), 422)


async def test_a_key_that_is_taken_while_old_ones_are_forgotten_is_kept(
    web: httpx.AsyncClient, app: Kgsched, world: World
) -> None:
    await web.post("/v1/tasks", json={"type": "read"}, headers=KEY)
    await world.cypher("MATCH (a:Answer) SET a.until = 1")
    ((key,),) = [one.values() for one in await world.cypher("MATCH (a:Answer) WHERE a.holder IS NOT NULL RETURN a.key")]
    taken = {"key": key, "print": "p", "holder": "h", "keep_ms": 60_000, "patience_ms": 60_000}
    async with app.store.graph.transaction() as tx:
        await tx.named("idempotency/take", **taken)
        forgetting = asyncio.ensure_future(app.store.answers.forget())
        while not (await world.cypher(BLOCKED))[0]["n"]:  # noqa: ASYNC110 - the server knows it
            await asyncio.sleep(0.02)
    assert (await forgetting).count == 1  # the mark of the deed
    assert await world.count("MATCH (a:Answer {holder: 'h'})") == 1


async def test_a_key_is_free_again_after_a_day(web: httpx.AsyncClient, world: World) -> None:
    """What was done under it before is not told any more."""
    first = await web.post("/v1/tasks", json={"type": "read"}, headers=KEY)
    await world.cypher("MATCH (a:Answer) WHERE a.holder IS NOT NULL SET a.until = 1")
    second = await web.post("/v1/tasks", json={"type": "read"}, headers=KEY)
    await world.cypher("MATCH (a:Answer) WHERE a.holder IS NOT NULL SET a.until = 1")
    other = await web.post("/v1/tasks", json={"type": "ask"}, headers=KEY)
    assert (second.status_code, other.status_code) == (201, 201)
    assert len({one.json()["uid"] for one in (first, second, other)}) == 3


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
    problem(await web.post("/v1/tasks", json={"type": "nobody's"}, headers=KEY), 404)
    await web.post("/v1/tasks", json={"type": "read", "id": "late"})
    assert (await web.post("/v1/tasks/late/cancel", headers=KEY)).json()["answer"] == "cancelled"


async def test_many_at_once_whose_first_is_refused_are_refused_alike(web: httpx.AsyncClient) -> None:
    for key in range(4):
        sent = (web.post("/v1/tasks/nobody/cancel", headers={"Idempotency-Key": str(key)}) for _ in range(32))
        assert {one.status_code for one in await asyncio.gather(*sent)} <= {404, 409}


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


async def test_two_keys_of_one_request_are_refused(web: httpx.AsyncClient, world: World) -> None:
    answer = await web.post("/v1/tasks", json={"type": "read"}, headers=[("Idempotency-Key", key) for key in "ab"])
    assert "one header" in problem(answer, 422)["detail"]
    assert await world.count("MATCH (t:Task)") == 0


async def test_old_answers_are_forgotten(web: httpx.AsyncClient, app: Kgsched, world: World) -> None:
    await web.post("/v1/tasks", json={"type": "read"}, headers=KEY)
    assert (await app.store.answers.forget()).count == 0
    await world.cypher("MATCH (a:Answer) SET a.until = 1")
    report = await app.operations.jobs.run("purge")
    assert report["answers"] == 2  # the answer, and the mark of the deed
