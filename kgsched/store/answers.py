"""Answers that are kept for clients which send a request again under the same key."""

from __future__ import annotations

from typing import Any

from kgsched.store.client import Client


class Answers:
    """Methods are the statements of the same name under cypher/idempotency/."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def take(self, key: str, print_: str, holder: str, keep_ms: int, patience_ms: int) -> dict[str, Any]:
        """Row {mine, print, status, body, kind, etag}."""
        rows = await self._client.run(
            "idempotency/take", key=key, print=print_, holder=holder, keep_ms=keep_ms, patience_ms=patience_ms
        )
        return rows[0]

    async def keep(self, key: str, holder: str, status: int, body: str, kind: str, etag: str | None) -> None:
        await self._client.run(
            "idempotency/keep", key=key, holder=holder, status=status, body=body, kind=kind, etag=etag
        )

    async def drop(self, key: str, holder: str) -> None:
        await self._client.run("idempotency/drop", key=key, holder=holder)

    async def forget(self, n: int = 1000) -> int:
        return int((await self._client.run("idempotency/forget", n=n))[0]["forgotten"])
