"""Tasks in the words of work items, on both doors."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from mcp import Client

from kgsched import Kgsched
from kgsched.core.task import AckOutcome
from tests.rest.running import problem, serving
from tests.store.worlds import World
from tests.surfaces.rules import RULES


async def enqueue(web: httpx.AsyncClient, id_: str, **fields: Any) -> str:
    made = await web.post("/v1/tasks", json={"type": "read", "id": id_, **fields})
    return f"work_item:{made.json()['uid']}"


async def test_states_and_priorities_are_told_in_those_words(web: httpx.AsyncClient, world: World) -> None:
    ids = {name: await enqueue(web, name) for name in ("failed", "dead", "done", "runs")}
    for outcome in (AckOutcome.FAILED, AckOutcome.DEAD_LETTER, AckOutcome.COMPLETED):
        await world.finish(await world.claim_one(RULES), outcome)
    await world.claim_one(RULES)
    ids |= {"waits": await enqueue(web, "waits", priority="high", weight=7, eta="2999-01-01T00:00:00Z")}
    found = {name: (await web.get(f"/v1/work-items/{id_}")).json() for name, id_ in ids.items()}
    assert {name: (one["status"], one["reason"]) for name, one in found.items()} == {
        "failed": ("failed", "failed"),
        "dead": ("failed", "dead_letter"),
        "done": ("done", None),
        "runs": ("running", None),
        "waits": ("runnable", None),
    }
    assert (found["waits"]["priority"], found["waits"]["run_after"]) == (2007, "2999-01-01T00:00:00.000Z")
    assert (found["runs"]["kind"], found["runs"]["worker_id"], found["runs"]["attempts"]) == ("read", "w", 1)
    assert found["runs"]["lease_expires_at"]
    assert found["failed"]["last_error"] == "it went wrong"
    listed = (await web.get("/v1/work-items?status=failed")).json()["items"]
    assert [one["id"] for one in listed] == [ids["dead"], ids["failed"]]
    for name in ("done", "runs", "waits"):
        problem(await web.post(f"/v1/work-items/{ids[name]}/retry"), 409)


async def test_retry_clears_and_brings_back_what_hung_on_it(web: httpx.AsyncClient, world: World) -> None:
    id_ = await enqueue(web, "root")
    await enqueue(web, "child", after=["root"])
    await world.finish(await world.claim_one(RULES), AckOutcome.DEAD_LETTER)
    await world.store.sweeps.cascade_step()
    assert (await web.get("/v1/tasks/child")).json()["status"] == "cancelled"
    answer = await web.post(f"/v1/work-items/{id_}/retry")
    assert (answer.status_code, answer.json()["status"], answer.json()["queued"]) == (202, "runnable", True)
    assert "not done" in answer.json()["message"]
    item = (await web.get(f"/v1/work-items/{id_}")).json()
    assert (item["attempts"], item["last_error"], item["lease_expires_at"]) == (0, None, None)
    assert (await web.get("/v1/tasks/child")).json()["status"] == "blocked"


@pytest.mark.parametrize("key", ["id", "work_item_id"])
async def test_a_client_retries_by_mcp(app: Kgsched, world: World, web: httpx.AsyncClient, key: str) -> None:
    id_ = await enqueue(web, "root")
    await world.finish(await world.claim_one(RULES), AckOutcome.FAILED)
    with serving(app) as server:
        async with Client(f"{server.url}/mcp") as client:
            listed = await client.call_tool("list_work_items", {"status": "failed"})
            assert [one["id"] for one in listed.structured_content["items"]] == [id_]
            answer = await client.call_tool("retry_work_item", {key: id_})
            assert (answer.is_error, answer.structured_content["queued"]) == (False, True)
            again = await client.call_tool("retry_work_item", {key: id_})
            assert again.is_error
            assert "only failed" in again.content[0].text
