"""Gates: concurrency keys. Only admission makes a gated task ready."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import structlog

from kgsched.core.task import Gate
from kgsched.errors import StoreError
from kgsched.store.client import Client

log = structlog.get_logger(__name__)


class Gates:
    """Opens gates and lets waiting tasks through."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def open(self, gates: Iterable[Gate]) -> None:
        """Make gates, or change their limits."""
        await self._client.run("gates/open", gates=[_row(gate) for gate in gates])

    async def ensure(self, gates: Iterable[Gate]) -> None:
        """Make gates that are missing; those of a type get the type's limits as they are now."""
        rows = [_row(gate) for gate in gates]
        if rows:
            await self._client.run("gates/ensure", gates=rows)

    async def read(self, space: str) -> list[dict[str, Any]]:
        """Rows {key, limit, rate, period_ms, held, waiting}."""
        return await self._client.run("gates/read", space=space)

    async def reserve(self, space: str, key: str, rate: int, period_ms: int) -> int:
        """Milliseconds until the start that is now the caller's; at most `rate` starts in any period, everywhere."""
        rows = await self._client.run("gates/reserve", space=space, key=key, rate=rate, period_ms=period_ms)
        return int(rows[0]["wait_ms"])

    async def admit(self, gates: Iterable[Sequence[str] | None]) -> int:
        """Let the next tasks through; return how many. What fails here is owed by the admission sweep."""
        pairs = sorted({(gate[0], gate[1]) for gate in gates if gate})
        if not pairs:
            return 0
        try:
            rows = await self._client.run("gates/admit", gates=[list(pair) for pair in pairs])
        except StoreError as error:
            log.warning("admission is left to the sweep", gates=len(pairs), error=str(error))
            return 0
        return sum(len(row["admitted"]) for row in rows)

    async def due(self) -> list[Any]:
        """Gates with room and somebody waiting."""
        rows = await self._client.run("gates/due")
        return list(rows[0]["gates"]) if rows else []


def _row(gate: Gate) -> dict[str, Any]:
    return {"space": gate.space, "key": gate.key, "typed": gate.typed, **asdict(gate.limits)}


def shard() -> str:
    """One of the sixteen counters of a cell, so that those who count seldom wait for one another."""
    return f"{random.randrange(16):x}"
