"""MCP on standard input and output: nothing but the protocol goes out, whatever is logged."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import Any

from mcp.server.stdio import stdio_server

from kgsched.app import Kgsched
from kgsched.app.built_in import add_built_in
from kgsched.config import Settings
from kgsched.core.access import Caller, Door
from kgsched.operations.token_key import token_key
from kgsched.operations.tokens import Doorkeeper, local_caller
from kgsched.surfaces.doors.action import Desk
from kgsched.surfaces.mcp.server import make_server


class LocalReception:
    """Connects when it is first needed, and again while it has not worked. `token`: whose rights hold, None for all."""

    def __init__(self, app: Kgsched, token: str | None, name: str) -> None:
        self._app, self._token, self._name = app, token, name
        self._stack = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._doorkeeper: Doorkeeper | None = None

    async def caller(self, _: Any) -> Caller:
        if self._token is None:
            return local_caller(Door.MCP, self._app.settings.space, self._name)
        await self._open()
        settings = self._app.settings
        if self._doorkeeper is None:
            key = token_key(settings)
            self._doorkeeper = Doorkeeper(self._app.store, key, default_space=settings.space, require_token=True)
        return await self._doorkeeper.admit(self._token, Door.MCP, trusted=False)

    async def desk(self, request: Any) -> Desk:
        await self._open()
        return Desk(self._app, await self.caller(request))

    async def close(self) -> None:
        if self._doorkeeper is not None:
            await self._doorkeeper.note_uses()
        await self._app.close()
        await self._stack.aclose()

    async def _open(self) -> None:
        async with self._opening:
            if self._app.connected:
                return
            await self._stack.enter_async_context(self._app.connection.held())
            await self._app.open()


async def serve(settings: Settings, token: str | None, name: str, *, read_only: bool) -> None:
    """Answer until standard input ends."""
    app = Kgsched(settings)
    add_built_in(app.registry, app.settings)
    reception = LocalReception(app, token, name)
    server = make_server(reception, read_only=read_only)
    try:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
    finally:
        await reception.close()
