"""The audit: who did what, as nodes in the order of their uids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kgsched.store.client import Client
from kgsched.store.uids import new_uid


class Audit:
    """Methods are the statements of the same name under cypher/audit/."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def record(self, entries: Sequence[Mapping[str, Any]]) -> None:
        """Keep entries {space, who, token, door, action, target, outcome, detail}."""
        await self._client.run("audit/record", rows=[{**entry, "uid": new_uid()} for entry in entries])

    async def list_entries(
        self,
        *,
        space: str | None = None,
        door: str | None = None,
        who: str | None = None,
        action: str | None = None,
        since: int | None = None,
        before: str = "~",
        n: int = 50,
    ) -> list[dict[str, Any]]:
        """A page, newest first."""
        rows = await self._client.run(
            "audit/list", space=space, door=door, who=who, action=action, since=since, before=before, n=n
        )
        return [row["entry"] for row in rows]

    async def forget(self, keep_ms: int, most: int, n: int = 1000) -> int:
        """Delete up to n of the oldest entries: those older than keep_ms, and those beyond `most`."""
        rows = await self._client.run("audit/forget", keep_ms=keep_ms, most=most, n=n)
        return int(rows[0]["forgotten"])
