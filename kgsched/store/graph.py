"""The whole graph, for handlers: reads, transactions, and statements by name."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

from kgsched.store.client import Client, OpenTransaction


class Graph:
    def __init__(self, client: Client) -> None:
        self._client = client

    async def query(self, cypher: str, /, **params: Any) -> list[dict[str, Any]]:
        """Rows of a read statement; the server refuses writes, which belong into a transaction."""
        return await self._client.read(cypher, params, timeout=60.0)

    async def named(self, name: str, /, **params: Any) -> list[dict[str, Any]]:
        """Rows of a statement under cypher/, as one auto-commit transaction."""
        return await self._client.run(name, **params)

    def transaction(self, timeout: float = 30.0) -> AbstractAsyncContextManager[OpenTransaction]:
        """A transaction that commits at the end of the block; `timeout` in seconds."""
        return self._client.transaction(timeout)
