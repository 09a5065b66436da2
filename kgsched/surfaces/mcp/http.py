"""MCP over streamable HTTP, for the HTTP application to mount."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import Receive, Scope, Send

from kgsched.app import Kgsched
from kgsched.core.access import Caller
from kgsched.surfaces.doors.action import Desk
from kgsched.surfaces.mcp.server import make_server


class HasApp(Protocol):
    """What holds the application that requests are answered with."""

    @property
    def app(self) -> Kgsched: ...


class McpDoor:
    """An ASGI application without sessions: each request stands for itself, whoever answers it."""

    def __init__(self, graph: HasApp) -> None:
        self._graph = graph
        self._manager: StreamableHTTPSessionManager | None = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer requests as long as the block lasts."""
        server = make_server(self)
        self._manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
        async with self._manager.run():
            yield
        self._manager = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._manager is not None
        await self._manager.handle_request(scope, receive, send)

    async def caller(self, request: Any) -> Caller:
        """Whom the gate has let in."""
        found: Caller = request.state.caller
        return found

    async def desk(self, request: Any) -> Desk:
        return Desk(self._graph.app, await self.caller(request))
