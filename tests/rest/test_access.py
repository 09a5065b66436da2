"""Who is let in: tokens by every route and method, the local user, hosts, origins, and spaces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from kgsched import Kgsched
from kgsched.core.access import CLUSTER_WIDE, Scope
from kgsched.core.task import AckOutcome
from kgsched.errors import InvalidValue, UnknownName
from kgsched.surfaces.rest.app import HttpApp
from kgsched.surfaces.rest.gate import PUBLIC, Rules
from tests.rest.running import client, problem, running, token_for
from tests.store.worlds import World
from tests.surfaces.rules import RULES

STRANGER = "kgs_" + "A" * 43
BODIES: dict[str, Any] = {
    "/graph/schedules": {"action": "list"},
    "/graph/query": {"query": "RETURN 1"},
    "/graph/jobs": {"action": "list"},
    "/graph/tasks": {"action": "list"},
    "/v1/tasks": {"type": "read"},
    "/v1/tasks/batch": {"tasks": [{"type": "read"}]},
    "/v1/tasks/{id}/prioritize": {"priority": 1},
    "/v1/schedules/{name}": {"enabled": True},
}


def routes(http: HttpApp) -> Iterator[tuple[str, str, str, list[str]]]:
    """Method, template and path of each route that is not for all, and the scopes that the document names."""
    for template, methods in http.api.openapi()["paths"].items():
        for method, one in methods.items():
            if template not in PUBLIC:
                scopes = [scope for needed in one["security"] for scope in needed["token"]]
                yield method.upper(), template, re.sub(r"\{\w+\}", "x", template), scopes
    yield "POST", "/mcp", "/mcp", []
    yield "POST", "/mcp/full", "/mcp/full", []


async def ask(web: httpx.AsyncClient, method: str, template: str, path: str) -> httpx.Response:
    body = BODIES.get(template) if method != "GET" else None
    query = "?seconds=0" if path.endswith("/events") else ""
    return await web.request(method, path + query, json=body)


async def test_no_route_lets_a_wrong_token_in(app: Kgsched) -> None:
    expired, revoked = await token_for(app, "read:task", ttl="1h"), await token_for(app, "read:task")
    for token in await app.operations.tokens.list_tokens():
        await app.operations.tokens.revoke(token["id"], "a test")
    async with running(HttpApp(app, rules=Rules(failures=0))) as http:
        for token in (None, "", "nonsense", STRANGER, expired, revoked, revoked.lower(), revoked + "x"):
            headers = {} if token is None else {"Authorization": f"Bearer {token}"}
            async with client(http, **headers) as web:
                for method, template, path, _ in routes(http):
                    answer = await ask(web, method, template, path)
                    assert answer.status_code == 401, (method, path, token)
                    wanted = 'Bearer realm="kgsched"' + ("" if token is None else ', error="invalid_token"')
                    assert answer.headers["www-authenticate"] == wanted


async def test_an_expired_token_is_refused(http: HttpApp, app: Kgsched, world: World) -> None:
    token = await token_for(app, "read:task")
    async with client(http, token) as web:
        assert (await web.get("/v1/tasks")).status_code == 200
        await world.cypher("MATCH (t:Token) SET t.expires_at = timestamp() - 1")
        problem(await web.get("/v1/tasks"), 401)


async def test_every_route_needs_the_scope_that_the_document_names(http: HttpApp, app: Kgsched) -> None:
    """With all other scopes: 403 that names it; with it alone: no 401 or 403."""
    for method, template, path, scopes in routes(http):
        if not scopes:
            continue
        without = [one.value for one in Scope if one.value not in scopes]
        async with client(http, await token_for(app, *without, space="*")) as web:
            answer = await ask(web, method, template, path)
            problem(answer, 403)
            assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]
            assert any(f'scope="{scope}"' in answer.headers["www-authenticate"] for scope in scopes), path
        async with client(http, await token_for(app, *scopes, space="*")) as web:
            assert (await ask(web, method, template, path)).status_code not in (401, 403), path


async def test_the_local_user_needs_no_token_until_there_is_one(http: HttpApp, app: Kgsched) -> None:
    async with client(http) as web:
        assert (await web.get("/v1/tasks")).status_code == 200
        token = await token_for(app, "read:task")
        problem(await web.get("/v1/tasks"), 401)
        assert (await web.get("/v1/tasks", headers={"Authorization": f"bearer {token}"})).status_code == 200
        for one in await app.operations.tokens.list_tokens():
            await app.operations.tokens.revoke(one["id"], "a test")
        problem(await web.get("/v1/tasks"), 401)  # revoking all does not open it again


async def test_require_token_closes_it_from_the_start(app: Kgsched) -> None:
    async with running(HttpApp(app, require_token=True)) as http, client(http) as web:
        problem(await web.get("/v1/tasks"), 401)
        assert (await web.get("/healthz")).status_code == 200


async def test_from_another_machine_nobody_is_the_local_user(http: HttpApp) -> None:
    async with client(http, address="192.0.2.7") as web:
        problem(await web.get("/v1/tasks"), 401)


FORWARDING = ["Forwarded", "X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Server", "X-Real-IP", "Via", "CF-Ray"]


@pytest.mark.parametrize("header", FORWARDING)
async def test_what_came_through_a_proxy_is_not_the_local_user(web: httpx.AsyncClient, header: str) -> None:
    problem(await web.get("/v1/tasks", headers={header: "192.0.2.7"}), 401)


@pytest.mark.parametrize(
    "host",
    ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "localhost@evil.example", "[::1", "", "a b"],
)
async def test_a_host_that_is_not_ours_is_refused(web: httpx.AsyncClient, host: str) -> None:
    problem(await web.get("/v1/tasks", headers={"Host": host}), 421)
    problem(await web.get("/healthz", headers={"Host": host}), 421)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "[::1]:8080"])
async def test_loopback_by_any_of_its_names_is_ours(web: httpx.AsyncClient, host: str) -> None:
    assert (await web.get("/v1/tasks", headers={"Host": host})).status_code == 200


ORIGINS = ["http://evil.example", "null", "https://localhost:8080.evil.example", "http://localhost:9999", "file://", ""]


@pytest.mark.parametrize("origin", ORIGINS)
@pytest.mark.parametrize("kind", ["application/json", "text/plain", "application/x-www-form-urlencoded"])
async def test_an_origin_that_is_not_ours_is_refused(http: HttpApp, app: Kgsched, origin: str, kind: str) -> None:
    headers = {"Origin": origin, "Content-Type": kind}
    for token in (None, await token_for(app, "read:schedule")):
        async with client(http, token) as web:
            problem(await web.post("/graph/schedules", content='{"action":"list"}', headers=headers), 403)
            problem(await web.post("/mcp", content="{}", headers=headers), 403)


async def test_a_browser_is_never_the_local_user(web: httpx.AsyncClient) -> None:
    for headers in ({"Origin": "http://localhost:8080"}, {"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Mode": "cors"}):
        problem(await web.get("/v1/tasks", headers=headers), 401)


async def test_a_browser_sends_json_and_says_so(http: HttpApp, app: Kgsched) -> None:
    async with client(http, await token_for(app, "read:schedule"), Origin="http://localhost:8080") as web:
        text = '{"action":"list"}'
        assert (await web.post("/graph/schedules", json={"action": "list"})).status_code == 200
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            problem(await web.post("/graph/schedules", content=text, headers={"Content-Type": kind}), 415)


async def test_several_authorizations_are_refused(http: HttpApp, app: Kgsched) -> None:
    token = await token_for(app, "read:task")
    async with client(http) as web:
        twice = [("Authorization", f"Bearer {token}"), ("Authorization", f"Bearer {token}")]
        problem(await web.get("/v1/tasks", headers=twice), 401)
        problem(await web.get("/v1/tasks", headers={"Authorization": f"Basic {token}"}), 401)
        problem(await web.get(f"/v1/tasks?access_token={token}"), 401)


async def test_uses_of_a_token_are_counted_and_its_text_is_kept_nowhere(
    http: HttpApp, app: Kgsched, world: World, capfd: pytest.CaptureFixture[str]
) -> None:
    token = await token_for(app, "read:task")
    async with client(http, token) as web:
        for _ in range(3):
            await web.get("/v1/tasks")
    await http.graph.doorkeeper.note_uses()
    listed = (await app.operations.tokens.list_tokens())[0]
    assert (listed["uses"], listed["state"], listed["last_used_at"] is not None) == (3, "live", True)
    graph = str(await world.cypher("MATCH (n) RETURN n {.*} AS n"))
    assert token not in graph
    assert token[4:] not in graph
    assert token not in "".join(capfd.readouterr())


async def test_spaces_never_cross(http: HttpApp, app: Kgsched, world: World) -> None:
    scopes = ["read:task", "write:task", "read:work_item", "write:work_item", "read:schedule", "write:schedule"]
    ours = await token_for(app, *scopes, "read:worker", space="ours")
    theirs = await token_for(app, *scopes, "read:worker", space="theirs")
    async with client(http, ours) as mine, client(http, theirs) as other:
        made = (await mine.post("/v1/tasks", json={"type": "read", "id": "t", "key": "k"})).json()
        same = await other.post("/v1/tasks", json={"type": "read", "id": "t", "key": "k", "payload": {"other": 1}})
        assert same.json()["answer"] == "created"  # ids and keys are each space's own
        uid = made["uid"]
        problem(await other.get(f"/v1/tasks/{uid}"), 404)
        for verb in ("cancel", "retry", "prioritize"):
            body = {"priority": 0} if verb == "prioritize" else None
            problem(await other.post(f"/v1/tasks/{uid}/{verb}", json=body), 404)
        problem(await other.get(f"/v1/tasks/{uid}/wait?timeout=0"), 404)
        problem(await other.get(f"/v1/work-items/work_item:{uid}"), 404)
        problem(await other.post("/v1/tasks", json={"type": "read", "after": [uid]}), 404)
        await world.finish(await world.claim_one(RULES), AckOutcome.FAILED)
        problem(await other.post(f"/v1/work-items/work_item:{uid}/retry"), 404)
        assert [one["uid"] for one in (await mine.get("/v1/tasks")).json()["items"]] == [uid]
        lanes = {one["name"]: one["tasks"] for one in (await other.get("/v1/lanes")).json()["lanes"]}
        assert lanes["ingestion"] == {"pending": 1}
        assert (await other.post(f"/v1/tasks/{same.json()['uid']}/cancel")).status_code == 200
        problem(await other.get("/v1/tasks", headers={"Kgsched-Space": "ours"}), 403)


async def test_no_route_tells_a_token_of_another_space_that_something_exists(
    http: HttpApp, app: Kgsched, tmp_path: Path
) -> None:
    file = tmp_path / "schedules.yml"
    file.write_text("schedules:\n  ours:\n    type: read\n    every: 1h\n")
    await app.operations.schedules.apply(file, by="a test")
    uid = (await app.enqueue("read", id="ours")).uid
    theirs = await token_for(app, *(one for one in Scope if one not in CLUSTER_WIDE), space="theirs")
    asked = 0
    async with client(http, theirs) as web:
        for method, template, _, _ in routes(http):
            if "{" not in template or "/lanes/" in template or "/types/" in template:
                continue
            for id_ in ("ours", uid):
                path = template.replace("{id}", id_).replace("{name}", "ours")
                problem(await ask(web, method, template, path), 404)
                asked += 1
        for tool in ("schedules", "tasks"):
            action = {"action": "show", "name": "ours"} if tool == "schedules" else {"action": "show", "id": uid}
            problem(await web.post(f"/graph/{tool}", json=action), 404)
        assert (await web.get("/v1/schedules")).json() == {"schedules": []}
        assert (await web.get("/v1/tasks")).json()["items"] == []
    assert asked > 20


async def test_an_answer_about_what_others_have_is_the_same_as_about_nothing(http: HttpApp, app: Kgsched) -> None:
    ours, theirs = [await token_for(app, "read:task", "write:task", space=space) for space in ("ours", "theirs")]
    async with client(http, ours) as mine, client(http, theirs) as other:
        uid = (await mine.post("/v1/tasks", json={"type": "read"})).json()["uid"]
        nothing = uid[:-4] + "0000"
        there, not_there = [(await other.get(f"/v1/tasks/{one}")).text.replace(one, "…") for one in (uid, nothing)]
        assert there == not_there


async def test_the_local_user_chooses_a_space_too(web: httpx.AsyncClient, world: World) -> None:
    made = await web.post("/v1/tasks", json={"type": "read"}, headers={"Kgsched-Space": "other"})
    assert (await world.task(made.json()["uid"]))["space"] == "other"


async def test_a_token_of_all_spaces_chooses_one(http: HttpApp, app: Kgsched) -> None:
    async with client(http, await token_for(app, "read:task", "write:task", space="*")) as web:
        await web.post("/v1/tasks", json={"type": "read", "id": "t"}, headers={"Kgsched-Space": "ours"})
        assert (await web.get("/v1/tasks/t", headers={"Kgsched-Space": "ours"})).json()["space"] == "ours"
        problem(await web.get("/v1/tasks/t"), 404)
        problem(await web.get("/v1/tasks/t", headers={"Kgsched-Space": "Not a space"}), 422)


@pytest.mark.parametrize("scope", sorted(CLUSTER_WIDE))
async def test_what_reaches_beyond_a_space_is_only_given_for_all(app: Kgsched, scope: str) -> None:
    with pytest.raises(InvalidValue, match="need all spaces"):
        await token_for(app, scope, space="ours")


async def test_there_is_no_scope_that_writes_to_the_graph(app: Kgsched) -> None:
    with pytest.raises(UnknownName, match="write:graph"):
        await token_for(app, "write:graph", space="*")


async def test_strict_headers_and_a_request_id_are_on_every_answer(web: httpx.AsyncClient) -> None:
    for path in ("/healthz", "/v1/tasks", "/nothing", "/openapi.json"):
        headers = (await web.get(path, headers={"X-Request-Id": "mine-1"})).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == "no-store"
        assert headers["x-request-id"] == "mine-1"
        assert "access-control-allow-origin" not in headers
    odd = (await web.get("/healthz", headers={"X-Request-Id": "a b"})).headers["x-request-id"]
    assert re.fullmatch("[0-9a-f]{32}", odd)
