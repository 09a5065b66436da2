"""Who did what, by which door."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from mcp import Client

from kgsched import Kgsched
from kgsched.core.access import Door
from kgsched.errors import UnknownName
from kgsched.localdb import ServerAddress
from kgsched.operations.audit import AuditLog
from kgsched.operations.tokens import local_caller
from kgsched.surfaces.rest.app import HttpApp
from tests.rest.running import client, serving, token_for
from tests.store.worlds import World
from tests.surfaces.commands import Commands


async def entries(app: Kgsched) -> list[tuple[str, str, str, str, str]]:
    found, _ = await app.operations.audit.list_entries(limit=100)
    return [(one["who"], one["door"], one["action"], one["target"], one["outcome"]) for one in reversed(found)]


async def test_changes_are_kept_and_looks_are_not(http: HttpApp, app: Kgsched) -> None:
    async with client(http, await token_for(app, "read:task")) as reader:
        await reader.post("/v1/tasks/t/cancel")
    async with client(http, await token_for(app, "read:task", "write:task")) as web:
        await web.post("/v1/tasks", json={"type": "read", "id": "t", "payload": {"secret": "do not keep"}})
        await web.get("/v1/tasks/t")
        await web.post("/v1/tasks/t/prioritize", json={"priority": "high"})
        await web.post("/v1/tasks/t/cancel")
        await web.post("/v1/tasks/nothing/cancel")
        await web.post("/v1/tasks/t/prioritize", json={"priority": "low"})
    assert await entries(app) == [
        ("ada", "rest", "tasks.cancel", "", "refused"),
        ("ada", "rest", "tasks.enqueue", "t", "done"),
        ("ada", "rest", "tasks.prioritize", "t", "done"),
        ("ada", "rest", "tasks.cancel", "t", "done"),
        ("ada", "rest", "tasks.cancel", "nothing", "refused"),
        ("ada", "rest", "tasks.prioritize", "t", "refused"),
    ]
    assert "do not keep" not in str(await app.store.audit.list_entries(n=100))


async def test_a_door_that_there_is_not_is_named(app: Kgsched, commands: Commands) -> None:
    with pytest.raises(UnknownName, match="no door named 'bogus'"):
        await app.operations.audit.list_entries(door="bogus")
    none = commands.run("audit", "--action", "nope")
    assert (none.code, "nothing was changed" in none.out + none.err) == (0, False)
    assert "no entry" in none.out + none.err


async def test_each_door_is_named(app: Kgsched, world: World, commands: Commands, web: httpx.AsyncClient) -> None:
    await web.post("/v1/tasks", json={"type": "read", "id": "a"})
    with serving(app) as server:
        async with Client(f"{server.url}/mcp") as agent:
            await agent.call_tool("cancel_task", {"ids": ["a"]})
    done = commands.run("tasks", "retry", "a")
    assert done.code == 0, done.err
    listed = commands.run("audit", "--json").json["entries"]
    assert [(one["door"], one["action"], one["target"]) for one in listed] == [
        ("cli", "tasks.retry", "a"),
        ("mcp", "tasks.cancel", "a"),
        ("rest", "tasks.enqueue", "a"),
    ]


async def test_tokens_are_made_listed_and_revoked_from_the_command_line(commands: Commands) -> None:
    made = commands.run("tokens", "create", "--scope", "read:task,write:task", "--space", "ours", "--ttl", "1h")
    assert made.out.strip().startswith("kgs_")
    assert made.out.strip() not in made.err
    listed = commands.run("tokens", "list", "--json").json["tokens"]
    assert [(one["space"], one["scopes"], one["state"]) for one in listed] == [
        ("ours", ["read:task", "write:task"], "live")
    ]
    assert commands.run("tokens", "revoke", listed[0]["id"]).code == 0
    assert commands.run("tokens", "list", "--json").json["tokens"][0]["state"] == "revoked"
    assert commands.run("tokens", "create", "--scope", "read:nothing").code == 2
    assert commands.run("tokens", "revoke", "nothing").code == 1


async def test_the_audit_is_bounded_in_age_and_number(app: Kgsched, world: World) -> None:
    settings = app.settings.model_copy(update={"audit_most": 100})
    audit = AuditLog(app.store, settings, local_caller(Door.CLI, "default"))
    rows = [{"space": "default", "who": str(n), "door": "cli", "action": "a", "target": ""} for n in range(130)]
    await app.store.audit.record(rows)
    await audit.forget()
    kept = await app.store.audit.list_entries(n=500)
    assert [one["who"] for one in kept] == [str(n) for n in reversed(range(30, 130))]
    await world.cypher("MATCH (a:Audit) WHERE toInteger(a.who) < 100 SET a.at = 1")
    await audit.forget()
    assert len(await app.store.audit.list_entries(n=500)) == 30


async def test_pages_of_the_audit(app: Kgsched) -> None:
    rows = [{"space": "default", "who": str(n), "door": "cli", "action": "a", "target": ""} for n in range(5)]
    await app.store.audit.record(rows)
    first, cursor = await app.operations.audit.list_entries(limit=3)
    rest, end = await app.operations.audit.list_entries(limit=3, after=cursor)
    assert [one["who"] for one in (*first, *rest)] == ["4", "3", "2", "1", "0"]
    assert end is None


@pytest.fixture
def commands(world: World, neo4j_server: ServerAddress, tmp_path: Path) -> Commands:
    one = Commands(neo4j_server)
    one.environment["KGSCHED_HOME"] = str(tmp_path)
    return one
