"""The HTTP application, in the test's own event loop or behind a real socket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx

from kgsched import Kgsched
from kgsched.surfaces.rest.address import Address
from kgsched.surfaces.rest.app import HttpApp
from kgsched.surfaces.rest.server import HttpServer

LOCAL = "http://localhost:8080"


@asynccontextmanager
async def running(http: HttpApp) -> AsyncIterator[HttpApp]:
    """Its background work, entered and left by one task."""
    ready, over = asyncio.Event(), asyncio.Event()

    async def live() -> None:
        async with http.api.router.lifespan_context(http.api):
            ready.set()
            await over.wait()

    task = asyncio.create_task(live())
    started = asyncio.create_task(ready.wait())
    await asyncio.wait({task, started}, return_when=asyncio.FIRST_COMPLETED)
    assert ready.is_set(), task.exception()
    try:
        yield http
    finally:
        over.set()
        await task


def client(http: HttpApp, token: str | None = None, *, address: str = "127.0.0.1", **headers: str) -> httpx.AsyncClient:
    """A client that comes from `address`."""
    given = {**headers, **({} if token is None else {"Authorization": f"Bearer {token}"})}
    transport = httpx.ASGITransport(http, client=(address, 50_000), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url=LOCAL, headers=given, timeout=30)


@contextmanager
def serving(app: Kgsched, *, require_token: bool = False, said: list[str] | None = None) -> Iterator[HttpServer]:
    """A server on a free port of loopback, in a thread of its own."""
    lines: list[str] = [] if said is None else said
    server = HttpServer(Address("127.0.0.1", 0, True), require_token=require_token, say=lines.append)
    server.open(app)
    try:
        yield server
    finally:
        server.begin_to_close()
        server.closed()


async def token_for(app: Kgsched, *scopes: str, space: str = "default", ttl: str = "1h") -> str:
    """The text of a new token."""
    made = await app.operations.tokens.create("ada", space=space, scopes=scopes, by="a test", ttl=ttl)
    return made.text


def problem(answer: httpx.Response, status: int) -> dict[str, Any]:
    """The problem document of an answer."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = answer.json()
    assert document["status"] == status
    assert document["detail"]
    return document
