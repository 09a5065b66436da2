"""The whole graph, for handlers: reads, transactions, and statements by name."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from kgsched.store.client import Client
from kgsched.store.gates import Gates
from kgsched.store.open_transaction import OpenTransaction


class Graph:
    def __init__(self, client: Client, gates: Gates) -> None:
        self._client, self._gates = client, gates

    async def query(self, cypher: str, /, **params: Any) -> list[dict[str, Any]]:
        """Rows of a read statement; the server refuses writes, which belong into a transaction."""
        return await self._client.read(cypher, params, timeout=60.0)

    async def named(self, name: str, /, **params: Any) -> list[dict[str, Any]]:
        """Rows of a statement under cypher/, as one auto-commit transaction."""
        return await self._client.run(name, **params)

    @asynccontextmanager
    async def transaction(self, timeout: float = 30.0) -> AsyncIterator[OpenTransaction]:
        """A transaction that commits at the end of the block; `timeout` in seconds."""
        async with self._client.transaction(timeout) as tx:
            yield tx
        await self._gates.admit(tx.gates)
