"""`kgsched mcp`: a process whose standard output is the protocol and nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from kgsched import Kgsched
from kgsched.localdb import ServerAddress
from tests.acceptance.commands import environment
from tests.rest.running import token_for
from tests.store.worlds import World

START = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "0"}},
}
STARTED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def call(id_: int, tool: str, arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}


@pytest.fixture
def env(neo4j_server: ServerAddress, world: World, tmp_path: Path) -> dict[str, str]:
    return environment(neo4j_server, KGSCHED_HOME=str(tmp_path), HOME=str(tmp_path))


def talk(
    env: dict[str, str], lines: Sequence[object], *words: str, python: Sequence[str] = ()
) -> tuple[list[Any], str]:
    """What the process answers to these lines: each line of its output, as JSON."""
    text = "".join((one if isinstance(one, str) else json.dumps(one)) + "\n" for one in (START, STARTED, *lines))
    command = [sys.executable, *python, "-m", "kgsched", "mcp", *words]
    process = subprocess.Popen(
        command, env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    wanted = sum(isinstance(one, dict) and "id" in one for one in (START, *lines))
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(text)
    process.stdin.flush()
    answers = []
    while sum("id" in one and one["id"] is not None for one in answers) < wanted:
        line = process.stdout.readline()
        if not line:
            break
        answers.append(json.loads(line))
    rest, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    return answers + [json.loads(line) for line in rest.splitlines()], errors


def by_id(answers: Sequence[Any]) -> dict[int, Any]:
    return {one["id"]: one for one in answers if one.get("id") is not None}


async def test_the_official_client_works_over_standard_input_and_output(env: dict[str, str]) -> None:
    server = StdioServerParameters(command=sys.executable, args=["-m", "kgsched", "mcp"], env=env)
    async with Client(stdio_client(server)) as agent:
        assert len((await agent.list_tools()).tools) == 13
        made = await agent.call_tool("enqueue_task", {"type": "scheduled_job", "payload": {"job": "heal"}})
        assert made.structured_content["answer"] == "created"
        shown = await agent.call_tool("get_task", {"id": made.structured_content["id"]})
        assert shown.structured_content["status"] == "pending"


def test_every_line_of_output_is_protocol_whatever_is_logged(env: dict[str, str]) -> None:
    """AP03."""
    lines = [
        call(1, "graph_query", {"query": "MATCH (n) RETURN n.nothing, id(n)"}),
        call(2, "lanes", {}),
        "this is no JSON",
        "{}",
        call(3, "get_task", {"id": "nothing"}),
        call(4, "graph_jobs", {"action": "run", "name": "heal"}),
    ]
    env |= {"KGSCHED_LOG_LEVEL": "debug", "NEO4J_DEBUG": "1", "PYTHONWARNINGS": "always"}
    answers, _ = talk(env, lines, python=["-W", "always"])
    found = by_id(answers)
    assert found[2]["result"]["structuredContent"]["lanes"]
    assert found[3]["result"]["isError"] is True
    assert found[4]["result"]["structuredContent"]["report"]["job"] == "heal"


def test_without_a_database_it_answers_and_says_so(env: dict[str, str]) -> None:
    """AP03."""
    env |= {"KGSCHED_NEO4J_URI": "bolt://127.0.0.1:1"}
    answers, _ = talk(env, [{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, call(2, "lanes", {})])
    found = by_id(answers)
    assert len(found[1]["result"]["tools"]) == 13
    assert found[2]["result"]["isError"] is True
    assert "does not answer" in found[2]["result"]["content"][0]["text"]


def test_read_only_leaves_out_what_changes_something(env: dict[str, str]) -> None:
    lines = [{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, call(2, "cancel_task", {"ids": ["t"]})]
    found = by_id(talk(env, lines, "--read-only")[0])
    names = {tool["name"] for tool in found[1]["result"]["tools"]}
    assert names == {"graph_query", "list_tasks", "get_task", "list_work_items", "lanes"}
    assert found[2]["result"]["isError"] is True


async def test_a_token_in_the_environment_sets_its_rights(env: dict[str, str], app: Kgsched) -> None:
    token = await token_for(app, "read:task", space="ours")
    lines = [{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, call(2, "enqueue_task", {"type": "scheduled_job"})]
    found = by_id(talk(env | {"KGSCHED_TOKEN": token}, lines)[0])
    assert {tool["name"] for tool in found[1]["result"]["tools"]} == {"graph_tasks", "list_tasks", "get_task"}
    assert "write:task" in found[2]["result"]["content"][0]["text"]
    refused = by_id(talk(env | {"KGSCHED_TOKEN": "kgs_" + "A" * 43}, lines)[0])
    assert "unknown" in refused[2]["result"]["content"][0]["text"]
