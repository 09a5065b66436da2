"""`/v1/tasks`: enqueue, list, show, wait, and the changes that people make."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import httpx
import pytest

from kgsched.core.task import AckOutcome
from tests.rest.running import problem
from tests.store.worlds import World
from tests.surfaces.rules import RULES

ROUNDS = int(os.environ.get("KGSCHED_TEST_ROUNDS", "25"))


async def enqueue(web: httpx.AsyncClient, **fields: Any) -> dict[str, Any]:
    answer = await web.post("/v1/tasks", json={"type": "read", **fields})
    assert answer.status_code in (200, 201), answer.text
    record: dict[str, Any] = answer.json()
    return record


async def test_a_task_is_enqueued_shown_and_listed(web: httpx.AsyncClient) -> None:
    made = await web.post("/v1/tasks", json={"type": "read", "payload": {"a": 1}, "priority": "high", "id": "mine"})
    assert made.status_code == 201
    shown = (await web.get("/v1/tasks/mine")).json()
    assert (shown["payload"], shown["priority"], shown["status"]) == ({"a": 1}, "high", "pending")
    assert shown["timeline"][0]["event"] == "enqueued"
    assert [one["id"] for one in (await web.get("/v1/tasks")).json()["items"]] == ["mine"]


async def test_the_same_id_again_is_not_new_and_another_payload_is_a_conflict(web: httpx.AsyncClient) -> None:
    await enqueue(web, id="one")
    again = await web.post("/v1/tasks", json={"type": "read", "id": "one"})
    assert (again.status_code, again.json()["answer"]) == (200, "existing")
    problem(await web.post("/v1/tasks", json={"type": "read", "id": "one", "payload": {"b": 2}}), 409)


async def test_many_are_enqueued_at_once_and_may_wait_for_each_other(web: httpx.AsyncClient) -> None:
    tasks = [{"type": "read", "id": "first"}, {"type": "ask", "id": "then", "after": ["first"]}]
    made = await web.post("/v1/tasks/batch", json={"tasks": tasks})
    assert [one["answer"] for one in made.json()["tasks"]] == ["created", "created"]
    assert (await web.get("/v1/tasks/then")).json()["waits_for"][0]["id"] == "first"


async def test_an_id_may_hold_slashes_and_anything_else(web: httpx.AsyncClient) -> None:
    name = "https://example.org/a?b=c#d/ü 🧪"
    await enqueue(web, id=name)
    path = "/v1/tasks/" + "".join(f"%{byte:02X}" for byte in name.encode())
    assert (await web.get(path)).json()["id"] == name
    assert (await web.post(f"{path}/cancel")).json()["answer"] == "cancelled"


async def test_pages_neither_repeat_nor_skip_while_the_list_grows(web: httpx.AsyncClient) -> None:
    """AP01."""
    tasks = [{"type": "read", "id": f"t{n}"} for n in range(7)]
    await web.post("/v1/tasks/batch", json={"tasks": tasks})
    seen, cursor = [], None
    while True:
        page = (await web.get("/v1/tasks", params={"limit": 3, **({"cursor": cursor} if cursor else {})})).json()
        seen += [one["id"] for one in page["items"]]
        await enqueue(web)
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert seen == [f"t{n}" for n in reversed(range(7))]


ODD = ["limit=0", "limit=-1", "limit=abc", "limit=1000000000", "limit=9999999999999999999", "limit=1.5", "limit=0x10"]
ODD += ["cursor=garbage", "cursor=%00", "cursor=8J%2BYgA", "cursor=..", "offset=3", "sort=id%20DESC", "limit=1&nope=2"]
ODD += ["status=nonsense", "type=%00", "kind=%00", "lane=nope", "since=yesterday", "schedule=A%20B", "source=%00"]
BLANK = ["limit=", "cursor=", "status=", "type=", "limit=1&limit=2", "limit=%D9%A3"]


@pytest.mark.parametrize("path", ["/v1/tasks", "/v1/work-items"])
async def test_odd_paging_and_filters_are_told(web: httpx.AsyncClient, path: str) -> None:
    """AP01."""
    for query in ODD:
        problem(await web.get(f"{path}?{query}"), 422)
    for query in BLANK:
        assert (await web.get(f"{path}?{query}")).status_code in (200, 422), query


async def test_filters_choose(web: httpx.AsyncClient, world: World) -> None:
    await enqueue(web, id="a", source="https://example.org")
    await enqueue(web, id="b", type="ask")
    await web.post("/v1/tasks/b/cancel")

    async def ids(query: str) -> list[str]:
        return [one["id"] for one in (await web.get(f"/v1/tasks?{query}")).json()["items"]]

    assert await ids("status=cancelled&status=failed") == ["b"]
    assert await ids("type=read") == ["a"]
    assert await ids("source=https://example.org") == ["a"]
    assert await ids("lane=queries") == ["b"]
    assert await ids("since=1h") == ["b", "a"]


async def test_changes_tell_what_came_of_them(web: httpx.AsyncClient, world: World) -> None:
    await enqueue(web, id="t")
    changed = await web.post("/v1/tasks/t/prioritize", json={"priority": "critical", "weight": 5})
    assert changed.json()["answer"] == "prioritized"
    assert (await web.get("/v1/tasks/t")).json()["prio_bucket"] == 0
    problem(await web.post("/v1/tasks/t/retry"), 409)
    await world.finish(await world.claim_one(RULES), AckOutcome.FAILED)
    problem(await web.post("/v1/tasks/t/cancel"), 409)
    assert (await web.post("/v1/tasks/t/retry")).json() == {
        "id": "t",
        "uid": (await web.get("/v1/tasks/t")).json()["uid"],
        "answer": "retried",
        "status": "pending",
        "refused": None,
        "detail": None,
    }


async def test_waiting_ends_with_the_task_or_with_its_time(web: httpx.AsyncClient, world: World) -> None:
    await enqueue(web, id="t")
    assert (await web.get("/v1/tasks/t/wait?timeout=0")).json()["done"] is False
    waiting = asyncio.create_task(web.get("/v1/tasks/t/wait?timeout=30"))
    await world.finish(await world.claim_one(RULES), result='{"n": 1}')
    answer = (await waiting).json()
    assert (answer["done"], answer["tasks"][0]["result"]) == (True, {"n": 1})


@pytest.mark.parametrize("verb", ["", "/cancel", "/retry", "/prioritize", "/wait"])
async def test_what_does_not_exist_is_404(web: httpx.AsyncClient, verb: str) -> None:
    if verb in ("", "/wait"):
        answer = await web.get(f"/v1/tasks/nothing{verb}")
    else:
        answer = await web.post(f"/v1/tasks/nothing{verb}", json={"priority": 1} if verb == "/prioritize" else None)
    problem(answer, 404)


async def test_an_unknown_type_names_those_that_are_near(web: httpx.AsyncClient) -> None:
    assert problem(await web.post("/v1/tasks", json={"type": "reed"}), 404)["near"] == ["read"]


async def test_a_cancel_that_races_with_claims_says_what_is_true(web: httpx.AsyncClient, world: World) -> None:
    """AP06: the answer matches the end; what was cancelled never runs."""
    for n in range(ROUNDS):
        made = await enqueue(web, id=f"c{n}")
        cancelled, claims = await asyncio.gather(web.post(f"/v1/tasks/c{n}/cancel"), world.claim(1, RULES))
        task = await world.task(made["uid"])
        if claims:
            assert cancelled.json()["answer"] == "requested"
            assert (task["status"], task["cancel_requested_at"] is not None) == ("running", True)
            await world.finish(claims[0], AckOutcome.RETRY)
            assert (await world.task(made["uid"]))["status"] == "cancelled"
        else:
            assert cancelled.json()["answer"] == "cancelled"
            assert task["status"] == "cancelled"


async def test_a_cancel_that_races_with_the_end_says_what_is_true(web: httpx.AsyncClient, world: World) -> None:
    """AP06."""
    for n in range(ROUNDS):
        made = await enqueue(web, id=f"e{n}")
        claim = await world.claim_one(RULES)
        answer, _ = await asyncio.gather(web.post(f"/v1/tasks/e{n}/cancel"), world.finish(claim))
        assert (await world.task(made["uid"]))["status"] == "completed"
        assert answer.status_code == 409 or answer.json()["answer"] == "requested"
