"""The tools as an official client sees them over HTTP."""

from __future__ import annotations

import asyncio
import json

import jsonschema
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from kgsched import Kgsched
from kgsched.surfaces.doors.tools import TOOLS
from kgsched.surfaces.mcp.server import described, input_schema
from kgsched.surfaces.rest.app import HttpApp
from tests.rest.running import client as http_client
from tests.rest.running import serving, token_for
from tests.store.worlds import World

NAMES = [
    "graph_schedules",
    "graph_query",
    "graph_jobs",
    "graph_tasks",
    "list_tasks",
    "get_task",
    "enqueue_task",
    "cancel_task",
    "retry_task",
    "prioritize_task",
    "list_work_items",
    "retry_work_item",
    "lanes",
]
READING = {"graph_query", "list_tasks", "get_task", "list_work_items", "lanes"}
DESTROYING = {"graph_schedules", "graph_tasks", "cancel_task"}


def test_the_tools_are_those_and_their_hints_are_honest() -> None:
    tools = {tool.name: described(tool) for tool in TOOLS}
    assert list(tools) == NAMES
    hints = {name: tool.annotations for name, tool in tools.items()}
    assert {name for name, one in hints.items() if one and one.read_only_hint} == READING
    assert {name for name, one in hints.items() if one and one.destructive_hint} == DESTROYING
    for tool in tools.values():
        assert tool.annotations is not None
        assert None not in (tool.annotations.idempotent_hint, tool.annotations.open_world_hint)
        assert tool.input_schema["type"] == "object"
        assert "oneOf" not in tool.input_schema
        assert tool.output_schema is not None
        assert tool.output_schema["type"] == "object"
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)


def test_the_flat_schema_lets_through_what_the_models_take() -> None:
    tool = next(one for one in TOOLS if one.name == "graph_schedules")
    given = {"action": "set_interval", "name": "hourly", "interval_s": 900}
    jsonschema.validate(given, input_schema(tool))
    assert tool.adapter.validate_python(given).name == "hourly"


@pytest.mark.parametrize("path", ["/mcp", "/mcp/full"])
async def test_a_client_lists_calls_and_reads(app: Kgsched, path: str) -> None:
    with serving(app) as server:
        async with Client(f"{server.url}{path}") as agent:
            assert [tool.name for tool in (await agent.list_tools()).tools] == NAMES
            made = await agent.call_tool("enqueue_task", {"type": "read", "id": "t", "payload": {"a": 1}})
            assert made.structured_content["answer"] == "created"
            shown = await agent.call_tool("get_task", {"id": "t"})
            assert shown.structured_content["payload"] == {"a": 1}
            assert json.loads(shown.content[0].text) == shown.structured_content
            page = await agent.read_resource("kgsched://graph/schema")
            assert page.contents[0].text.startswith("# What you may rely on in the graph")


async def test_every_answer_is_as_its_schema_says(app: Kgsched) -> None:
    await app.enqueue("read", id="t")
    calls = {
        "graph_schedules": {"action": "list"},
        "graph_query": {"query": "MATCH (t:Task) RETURN t"},
        "graph_jobs": {"action": "run", "name": "heal"},
        "graph_tasks": {"action": "wait", "ids": ["t"], "timeout": 0},
        "list_tasks": {},
        "get_task": {"id": "t"},
        "prioritize_task": {"ids": ["t"], "priority": "high"},
        "cancel_task": {"ids": ["t"]},
        "retry_task": {"ids": ["t"]},
        "list_work_items": {},
        "lanes": {},
    }
    schemas = {tool.name: described(tool).output_schema for tool in TOOLS}
    with serving(app) as server:
        async with Client(f"{server.url}/mcp") as agent:
            for name, arguments in calls.items():
                answer = await agent.call_tool(name, arguments)
                assert not answer.is_error, (name, answer.content)
                jsonschema.validate(answer.structured_content, schemas[name])


async def test_lists_are_short_and_go_on_by_cursor(app: Kgsched) -> None:
    for n in range(23):
        await app.enqueue("read", id=f"t{n}")
    with serving(app) as server:
        async with Client(f"{server.url}/mcp") as agent:
            first = (await agent.call_tool("list_tasks", {})).structured_content
            then = (await agent.call_tool("list_tasks", {"cursor": first["next_cursor"]})).structured_content
    assert (len(first["items"]), len(then["items"]), then["next_cursor"]) == (20, 3, None)
    assert set(first["items"][0]) == {"id", "type", "status", "priority", "attempts", "enqueued_at", "last_error"}


WRONG = [
    ("nothing", {}, "no tool named"),
    ("get_task", {}, "id: Field required"),
    ("get_task", {"id": "nothing"}, "list_tasks or graph_schedules list what there is"),
    ("list_tasks", {"limit": "x"}, "limit: Input should be a valid integer"),
    ("list_tasks", {"cursor": "x"}, "Correct the arguments"),
    ("enqueue_task", {"type": "reed"}, "did you mean 'read'"),
    ("enqueue_task", {"type": "read", "payload": "\x00", "id": "\x00"}, "id: "),
    ("graph_schedules", {"action": "explode"}, "actions are list, show, preview"),
    ("graph_query", {"query": "CREATE (n)"}, "refused"),
    ("graph_query", {"query": "RETURN $x", "params": {"x": 2**63}}, "64 bits"),
    ("graph_query", {"query": "MATCH"}, "not usable"),
]


async def test_what_goes_wrong_is_told_so_that_a_model_can_go_on(app: Kgsched) -> None:
    with serving(app) as server:
        async with Client(f"{server.url}/mcp") as agent:
            for tool, arguments, text in WRONG:
                answer = await agent.call_tool(tool, arguments)
                assert answer.is_error, (tool, arguments)
                assert text in answer.content[0].text, answer.content[0].text
            with pytest.raises(MCPError, match="no resource"):
                await agent.read_resource("kgsched://nothing")
            assert not (await agent.call_tool("lanes", {})).is_error


async def test_a_token_shows_only_the_tools_that_it_may_use(app: Kgsched) -> None:
    token = await token_for(app, "read:task", space="ours")
    with serving(app) as server:
        async with (
            httpx2_client(token) as http,
            Client(streamable_http_client(f"{server.url}/mcp", http_client=http)) as agent,
        ):
            assert [tool.name for tool in (await agent.list_tools()).tools] == ["graph_tasks", "list_tasks", "get_task"]
            answer = await agent.call_tool("cancel_task", {"ids": ["t"]})
            assert answer.is_error
            assert "write:task" in answer.content[0].text
            assert "a token with that right" in answer.content[0].text


def httpx2_client(token: str):  # type: ignore[no-untyped-def]  # noqa: ANN201
    import httpx2

    return httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"})


GARBAGE = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'"text"',
    b"[" * 10_000,
    b"\xff\xfe",
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":5,"arguments":[]}}',
    b'{"jsonrpc":"2.0","id":{},"method":"tools/list"}',
    b'{"jsonrpc":"1.0","id":1,"method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":1,"method":"no/such"}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"lanes","arguments":{"\\ud800":1}}}',
]


async def test_no_malformed_message_stops_the_server(http: HttpApp) -> None:
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    listing = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    async with http_client(http) as web:
        for body in GARBAGE:
            answer = await web.post("/mcp", content=body, headers=headers)
            assert answer.status_code < 500, (body, answer.text)
        assert len((await web.post("/mcp", content=listing, headers=headers)).json()["result"]["tools"]) == len(NAMES)


async def test_many_agents_at_once(app: Kgsched, world: World) -> None:
    with serving(app) as server:

        async def visit(n: int) -> str:
            async with Client(f"{server.url}/mcp") as agent:
                made = await agent.call_tool("enqueue_task", {"type": "read", "id": f"t{n}"})
                return str(made.structured_content["id"])

        assert sorted(await asyncio.gather(*(visit(n) for n in range(5)))) == [f"t{n}" for n in range(5)]


async def test_what_no_token_allows_is_not_told_to_need_one(app: Kgsched) -> None:
    with serving(app) as server:
        async with Client(f"{server.url}/mcp") as agent:
            refused = await agent.call_tool("graph_query", {"query": "CREATE (:Evil)"})
    assert refused.is_error
    assert "No token allows this" in str(refused.content)
