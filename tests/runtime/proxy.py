"""A TCP proxy that can cut connections, refuse new ones, and lose the answers to what it passed on."""

from __future__ import annotations

import asyncio
import contextlib
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

QUIET = 0.2
COMMIT = b"\x00\x02\xb0\x12\x00\x00"


class Proxy:
    """Stands between a client and the database. All sockets are real.

    While `losing` is set, what clients send reaches the server, and the connection is cut once the server has answered.
    While `deaf` is set, it keeps its connections and drops what the server says.
    With `losing_after` set, that befalls connections that send these bytes: COMMIT, or a part of a statement.
    """

    def __init__(self, uri: str) -> None:
        parts = urlsplit(uri)
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 7687
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.open = True
        self.losing = False
        self.deaf = False
        self.losing_after: bytes | None = None
        self.lost = 0

    @property
    def uri(self) -> str:
        assert self._server is not None
        return f"bolt://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def cut(self) -> None:
        """Close all connections and refuse new ones until `mend`."""
        self.open = False
        self._close_all()

    def mend(self) -> None:
        self.open, self.losing, self.losing_after = True, False, None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        self._close_all()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._server.wait_closed()

    def _close_all(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self.open:
            writer.transport.abort()
            return
        server_reader, server_writer = await asyncio.open_connection(self._host, self._port)
        doom = asyncio.Event()
        pair = {writer, server_writer}
        self._writers |= pair
        ways = (
            asyncio.create_task(self._pass_on(reader, server_writer, doom, answers=False)),
            asyncio.create_task(self._pass_on(server_reader, writer, doom, answers=True)),
        )
        self._tasks |= set(ways)
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for one in pair:
            one.transport.abort()
        await asyncio.wait(ways)
        self._tasks -= set(ways)
        self._writers -= pair

    async def _pass_on(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, doom: asyncio.Event, *, answers: bool
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65_536):
                if not answers and self.losing_after is not None and self.losing_after in data:
                    doom.set()
                if answers and (self.losing or doom.is_set()):
                    await _swallow(reader)
                    self.lost += 1
                    return
                if answers and self.deaf:
                    continue
                writer.write(data)
                await writer.drain()


async def _swallow(reader: asyncio.StreamReader) -> None:
    """Let the server say all that it has to say."""
    with contextlib.suppress(TimeoutError):
        while True:
            async with asyncio.timeout(QUIET):
                if not await reader.read(65_536):
                    return
