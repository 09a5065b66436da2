"""A proxy that also delays, goes silent, and loses the answers of every so many statements of a kind."""

from __future__ import annotations

import asyncio
import contextlib

from tests.runtime.proxy import COMMIT, Proxy

PATIENCE = 5.0
DONE = b"bookmark"
"""The last answer of a transaction that was committed carries one."""

ENDS = {
    "claim": b"t.status = 'running', t.claim_token = $given.token",
    "finish": b"RETURN [row IN rows | [row.ack.uid, row.answer, row.t.status]] AS answers, released",
    "reschedule": b"RETURN [row IN rows | [row.ack.uid, row.answer, row.t.status]] AS answers, gates",
    "enqueue": b"enqueued_at: now",
    "commit": COMMIT,
}
"""What requests of a kind hold."""


class FaultyProxy(Proxy):
    """`delay` (seconds) holds back each piece, `silent` lets nothing through either way and keeps connections open.

    After `swallow(kind, every)` each so-manieth request of that kind reaches the server, which carries it out; its
    answer does not come back: the connection is cut.
    """

    def __init__(self, uri: str) -> None:
        super().__init__(uri)
        self.delay = 0.0
        self._heard = asyncio.Event()
        self._heard.set()
        self._marks: tuple[bytes, ...] = ()
        self._every, self._seen = 0, 0

    @property
    def silent(self) -> bool:
        return not self._heard.is_set()

    @silent.setter
    def silent(self, value: bool) -> None:
        if value:
            self._heard.clear()
        else:
            self._heard.set()

    def swallow(self, *kinds: str, every: int) -> None:
        self._marks, self._every, self._seen = tuple(ENDS[kind] for kind in kinds), every, 0

    def mend(self) -> None:
        super().mend()
        self.delay, self.silent, self._every = 0.0, False, 0

    async def _pass_on(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, doom: asyncio.Event, *, answers: bool
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65_536):
                if not answers and self._chosen(data):
                    doom.set()
                if answers and doom.is_set():
                    await _until_done(reader, data)
                    self.lost += 1
                    return
                if self.delay:
                    await asyncio.sleep(self.delay)
                await self._heard.wait()
                writer.write(data)
                await writer.drain()

    def _chosen(self, data: bytes) -> bool:
        if not self._every or not any(mark in data for mark in self._marks):
            return False
        self._seen += 1
        return self._seen % self._every == 0


async def _until_done(reader: asyncio.StreamReader, data: bytes) -> None:
    """Hear the server out: what it was asked is then committed."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE):
            while DONE not in data and (more := await reader.read(65_536)):
                data = data[-len(DONE) :] + more
