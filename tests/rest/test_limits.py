"""What is too large, too deep, no JSON, of the wrong kind, or too often."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from kgsched import Kgsched
from kgsched.surfaces.rest.app import HttpApp
from kgsched.surfaces.rest.gate import MAX_BODY, Rules
from kgsched.surfaces.rest.limits import RateLimit
from tests.rest.running import client, problem, running
from tests.store.worlds import World

JSON = {"Content-Type": "application/json"}


async def test_a_body_over_the_limit_is_413(web: httpx.AsyncClient) -> None:
    problem(await web.post("/v1/tasks", content=b" " * (MAX_BODY + 1), headers=JSON), 413)
    problem(await web.post("/mcp", content=b" " * (MAX_BODY + 1), headers=JSON), 413)


async def test_a_body_that_does_not_say_its_size_is_413_too(web: httpx.AsyncClient) -> None:
    async def endless() -> AsyncIterator[bytes]:
        for _ in range(MAX_BODY // 65536 + 2):
            yield b" " * 65536

    problem(await web.post("/v1/tasks", content=endless(), headers=JSON), 413)


async def test_a_payload_over_its_limit_is_422(web: httpx.AsyncClient) -> None:
    problem(await web.post("/v1/tasks", json={"type": "read", "payload": "x" * (1024 * 1024 + 1)}), 422)


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/xml", "multipart/form-data; boundary=x", "application/jsonx"]
)
async def test_what_does_not_call_itself_json_is_415(web: httpx.AsyncClient, kind: str) -> None:
    problem(await web.post("/v1/tasks", content='{"type":"read"}', headers={"Content-Type": kind}), 415)


@pytest.mark.parametrize("kind", ["application/json", "application/vnd.api+json; charset=utf-8", "APPLICATION/JSON"])
async def test_what_calls_itself_json_is_read(web: httpx.AsyncClient, kind: str) -> None:
    sent = await web.post("/v1/tasks", content='{"type":"read"}', headers={"Content-Type": kind})
    assert sent.status_code == 201


NO_JSON = [
    b"",
    b"{",
    b"nonsense",
    b"{'type': 'read'}",
    b'{"type": "read",}',
    b'{"type": "read", "type": "ask"}',
    b'{"type": "read", "payload": {"a": 1, "a": 2}}',
    b'{"type": "read", "payload": NaN}',
    b'{"type": "read", "payload": Infinity}',
    b'{"type": "read", "payload": -Infinity}',
    b"[" * 10_000 + b"]" * 10_000,
    b'{"type": "read", "payload": ' + b'{"a":' * 10_000 + b"1" + b"}" * 10_000 + b"}",
    b'{"type": "read", "payload": ' + b"[" * 100 + b"]" * 100 + b"}",
    b'{"type": "\xff"}',
    '{"type": "read"}'.encode("utf-16"),
    b'{"type": "read", "payload": ' + b"9" * 5000 + b"}",
]


@pytest.mark.parametrize("body", NO_JSON, ids=range(len(NO_JSON)))
async def test_what_is_no_json_is_told(web: httpx.AsyncClient, world: World, body: bytes) -> None:
    answer = await web.post("/v1/tasks", content=body, headers=JSON)
    problem(answer, 422 if body == b"" else 400)
    assert await world.cypher("MATCH (t:Task) RETURN t") == []


ODD: list[Any] = [
    {"type": 1},
    {"type": ""},
    {"type": "x" * 129},
    {"type": "a\x00b"},
    {"type": "read", "id": "\ud800"},
    {"type": "read", "id": "sched:x:1"},
    {"type": "read", "weight": 401},
    {"type": "read", "weight": 2**63},
    {"type": "read", "weight": "5"},
    {"type": "read", "weight": True},
    {"type": "read", "max_attempts": 0},
    {"type": "read", "max_attempts": 2**63},
    {"type": "read", "priority": "urgent"},
    {"type": "read", "priority": 4},
    {"type": "read", "eta": "tomorrow"},
    {"type": "read", "eta": "0001-01-01T00:00:00Z"},
    {"type": "read", "eta": 2**63},
    {"type": "read", "delay": -1},
    {"type": "read", "delay": 10**400},
    {"type": "read", "eta": "2030-01-01T00:00:00Z", "delay": 1},
    {"type": "read", "unique_for": "1h"},
    {"type": "read", "on_conflict": "explode"},
    {"type": "read", "after": "t"},
    {"type": "read", "after": [1]},
    {"type": "read", "nonsense": 1},
    {"type": "read", "space": "other"},
    {"type": "read", "payload": "\udfff"},
    {"type": "read", "payload": {"\ud800": 1}},
    {"type": "read", "gate": "s:mine"},
    [],
    None,
    "text",
]


async def test_values_of_the_wrong_kind_are_422_and_nothing_is_written(web: httpx.AsyncClient, world: World) -> None:
    for body in ODD:
        answer = await web.post("/v1/tasks", content=json.dumps(body), headers=JSON)
        assert answer.status_code == 422, (body, answer.text)
        problem(answer, 422)
    assert await world.cypher("MATCH (t:Task) RETURN t") == []


STORED: list[Any] = [
    2**63,
    -(2**70),
    1e308,
    "\x00",
    "\u2028",
    "é" * 1000,
    {"": None},
    [[[[[]]]]],
    "NaN",
    "\u202e\x1b[31m",
]


async def test_odd_but_valid_payloads_come_back_as_they_were(web: httpx.AsyncClient) -> None:
    for value in STORED:
        made = await web.post("/v1/tasks", json={"type": "read", "payload": value})
        assert made.status_code == 201, made.text
        assert (await web.get(f"/v1/tasks/{made.json()['id']}")).json()["payload"] == value


PARAMS: list[Any] = [2**63, -(2**63) - 1, [2**64], {"a": {"b": 2**63}}, "\ud800", {"\udc00": 1}]


async def test_values_that_the_driver_cannot_send_are_422(web: httpx.AsyncClient) -> None:
    for value in PARAMS:
        body = json.dumps({"query": "RETURN $x AS x", "params": {"x": value}})
        problem(await web.post("/graph/query", content=body, headers=JSON), 422)
    body = {"query": "RETURN $x AS x", "params": {"x": 2**63 - 1}}
    assert (await web.post("/graph/query", json=body)).json()["rows"] == [{"x": 2**63 - 1}]


async def test_too_many_requests_are_429_and_say_when_to_come_back(app: Kgsched) -> None:
    async with running(HttpApp(app, rules=Rules(rate=1.0))) as http, client(http) as web:
        answers = [await web.get("/v1/tasks") for _ in range(5)]
        limited = [one for one in answers if one.status_code == 429]
        assert limited
        assert int(problem_header(limited[0])) >= 1
        assert (await web.get("/healthz")).status_code == 200


def problem_header(answer: httpx.Response) -> str:
    problem(answer, 429)
    return answer.headers["retry-after"]


async def test_guessing_tokens_is_slowed_down(app: Kgsched) -> None:
    async with running(HttpApp(app, rules=Rules(failures=1.0))) as http, client(http, "nonsense") as web:
        statuses = [(await web.get("/v1/tasks")).status_code for _ in range(15)]
        assert statuses[0] == 401
        assert 429 in statuses


def test_a_bucket_fills_as_time_passes_and_is_each_callers_own() -> None:
    now = [0.0]
    limit = RateLimit(2.0, 2.0, clock=lambda: now[0])
    assert [limit.take("a") for _ in range(3)] == [0.0, 0.0, 0.5]
    assert limit.take("b") == 0.0
    now[0] = 0.5
    assert limit.take("a") == 0.0


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE"])
async def test_a_method_that_is_not_for_a_path_is_405_and_names_those_that_are(
    web: httpx.AsyncClient, method: str
) -> None:
    answer = await web.request(method, "/graph/schedules")
    assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
    if method not in ("GET", "HEAD"):
        assert (await web.request(method, "/v1/tasks")).headers["allow"] == "GET, POST"


async def test_nothing_changes_by_get(web: httpx.AsyncClient, http: HttpApp) -> None:
    for path, methods in http.api.openapi()["paths"].items():
        verbs = ("cancel", "retry", "prioritize", "run-now", "pause", "resume", "batch")
        assert "get" not in methods or not path.endswith(verbs), path
