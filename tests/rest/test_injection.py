"""Text that wants to be Cypher, sent in every field that takes text, by every door: stored as it is, or refused."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from mcp import Client

from kgsched import Kgsched
from tests.rest.running import serving
from tests.store.worlds import World

TEXTS = [
    "x`) DETACH DELETE n //",
    "a' OR 1=1 //",
    "it's",
    "id DESC; MATCH (n) DETACH DELETE n",
    "$param",
    "name}) SET n:Admin //",
    "\\u0027 OR true //",
    "'; DROP CONSTRAINT task_uid; //",
]


async def graph(world: World) -> Any:
    rows = await world.cypher(
        "MATCH (n) WHERE NOT n:Audit AND NOT n:Answer UNWIND labels(n) AS l RETURN l, count(*) AS n ORDER BY l"
    )
    schema = await world.cypher("SHOW CONSTRAINTS YIELD name RETURN count(*) AS n")
    return rows, schema


@pytest.mark.parametrize("text", TEXTS)
async def test_text_in_every_field_of_rest(web: httpx.AsyncClient, world: World, text: str) -> None:
    """AP07."""
    made = await web.post(
        "/v1/tasks",
        json={
            "type": text,
            "allow_unknown_type": True,
            "id": text,
            "key": text,
            "source": text,
            "trace": text,
            "payload": {text: text},
            "gate": text,
        },
    )
    assert made.status_code == 201, made.text
    shown = (await web.post("/graph/tasks", json={"action": "show", "id": text})).json()
    stored = {shown[name] for name in ("type", "id", "key", "source", "trace")}
    assert (stored, shown["payload"]) == ({text}, {text: text})
    before = await graph(world)
    q = {"q": text}
    for path in ("/v1/tasks?type={q}", "/v1/tasks?source={q}", "/v1/tasks?cursor={q}", "/v1/work-items?kind={q}"):
        answer = await web.get(path.replace("{q}", str(httpx.QueryParams(q)).removeprefix("q=")))
        assert answer.status_code in (200, 422)
    for name in ("schedule", "lane", "status", "since", "sort", text):
        assert (await web.get("/v1/tasks", params={name: text})).status_code == 422
    for path in ("/v1/lanes/{q}/pause", "/v1/types/{q}/pause", "/v1/schedules/{q}/run-now", "/v1/work-items/{q}/retry"):
        quoted = "".join(f"%{byte:02X}" for byte in text.encode())
        answer = await web.post(path.replace("{q}", quoted), json={})
        assert answer.status_code in (404, 409, 422), (path, answer.text)
    assert (await web.post("/graph/jobs", json={"action": "run", "name": text})).status_code == 404
    asked = await web.post("/graph/query", json={"query": "RETURN $p AS p", "params": {"p": text}})
    assert asked.json()["rows"] == [{"p": text}]
    assert await graph(world) == before


async def test_text_in_every_field_of_mcp(app: Kgsched, world: World) -> None:
    """AP07."""
    before = await graph(world)
    with serving(app) as server:
        async with Client(f"{server.url}/mcp") as client:
            for text in TEXTS:
                for tool, arguments in {
                    "get_task": {"id": text},
                    "retry_work_item": {"id": text},
                    "list_tasks": {"source": text, "type": [text]},
                    "graph_schedules": {"action": "show", "name": text},
                    "graph_jobs": {"action": "run", "name": text},
                    "cancel_task": {"ids": [text]},
                    text[:60]: {text: text},
                }.items():
                    answer = await client.call_tool(tool, arguments)
                    assert answer.is_error is (tool != "list_tasks"), (tool, text)
    assert await graph(world) == before
