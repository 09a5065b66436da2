"""graph_query through the doors: what is good passes, what is hostile is refused, and nothing changes anywhere."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client

from kgsched import Kgsched
from tests.rest.running import serving, token_for
from tests.store.worlds import World
from tests.surfaces.test_query_guard import GOOD, HOSTILE

SAMPLE = HOSTILE[::6]


@pytest.fixture
def listener() -> Iterator[tuple[int, list[bytes]]]:
    """A port of loopback, and what was sent to it."""
    heard: list[bytes] = []
    server = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with connection:
                heard.append(connection.recv(1000))

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    yield server.getsockname()[1], heard
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join(5)


def names_in(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


async def state(world: World) -> Any:
    """Counts of all there is, and all properties, but for the uses of tokens."""
    nodes = await world.cypher(
        "MATCH (n) RETURN labels(n) AS l, n {.*, uses: 0, last_used_at: 0} AS p ORDER BY elementId(n)"
    )
    edges = await world.cypher("MATCH ()-[r]->() RETURN count(r) AS n")
    schema = await world.cypher("SHOW INDEXES YIELD name RETURN collect(name) AS names")
    return nodes, edges, schema


async def test_good_statements_pass_and_hostile_ones_are_refused_and_nothing_changes(
    web: httpx.AsyncClient, world: World, listener: tuple[int, list[bytes]], tmp_path: Path
) -> None:
    assert min(len(GOOD), len(HOSTILE)) >= 30
    port, heard = listener
    await web.post("/v1/tasks", json={"type": "read"})
    before = await state(world)
    files = names_in(tmp_path)
    for text in GOOD:
        answer = await web.post("/graph/query", json={"query": text})
        assert answer.status_code == 200, (text, answer.text)
    for text in HOSTILE:
        answer = await web.post("/graph/query", json={"query": text.replace("{port}", str(port))})
        assert answer.status_code in (403, 422), (text, answer.text)
    assert await state(world) == before
    assert heard == []
    assert names_in(tmp_path) == files


async def test_hostile_statements_are_refused_by_mcp_as_well(
    app: Kgsched, world: World, listener: tuple[int, list[bytes]]
) -> None:
    port, heard = listener
    before = await state(world)
    with serving(app) as server:
        async with Client(f"{server.url}/mcp") as client:
            for text in SAMPLE:
                answer = await client.call_tool("graph_query", {"query": text.replace("{port}", str(port))})
                assert answer.is_error, text
            assert not (await client.call_tool("graph_query", {"query": GOOD[0]})).is_error
    assert await state(world) == before
    assert heard == []


async def test_what_is_cut_says_so(web: httpx.AsyncClient) -> None:
    answer = (await web.post("/graph/query", json={"query": "UNWIND range(1, 100) AS x RETURN x", "limit": 7})).json()
    assert (answer["count"], answer["cut"]) == (7, "rows")


async def test_nothing_that_would_let_anybody_in_can_be_read(web: httpx.AsyncClient, app: Kgsched) -> None:
    """What the graph holds of a token is no hash of it: it cannot be checked without the key, which lies outside."""
    import hashlib

    text = await token_for(app, "read:graph", space="*")
    headers = {"Authorization": f"Bearer {text}"}
    query = {"query": "MATCH (n) RETURN n", "limit": 1000}
    seen = (await web.post("/graph/query", json=query, headers=headers)).text
    for form in (text, text.removeprefix("kgs_")):
        assert form not in seen
        for algorithm in ("md5", "sha1", "sha256", "sha512", "blake2b"):
            assert hashlib.new(algorithm, form.encode()).hexdigest() not in seen
    assert (app.settings.home / "token.key").read_text() not in seen
    assert (app.settings.home / "token.key").stat().st_mode & 0o077 == 0
