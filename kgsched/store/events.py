"""What happened to tasks lately, read from the tasks themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kgsched.store.client import Client


class Events:
    """Reads of what happened."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def read(self, space: str, places: Mapping[str, tuple[int, str]], n: int) -> dict[str, Any]:
        """{now, enqueued, started, ended, runs}: of each the next n behind its place, epoch ms and a name."""
        behind: dict[str, Any] = {kind: {"at": at, "name": name} for kind, (at, name) in places.items()}
        rows = await self._client.run("events/read", space=space, n=n, **behind)
        return {"now": rows[0]["now"]} | {row["source"]: row["found"] for row in rows}

    async def oldest_open(self) -> int:
        """Since when (epoch ms) the oldest open transaction of the server is open: what was before it is committed."""
        return int((await self._client.run("events/oldest_open"))[0]["since"])
