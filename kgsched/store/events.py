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
        """Row {now, enqueued, started, ended}: of each the next n behind its place, an instant (epoch ms) and a uid."""
        behind: dict[str, Any] = {kind: {"at": at, "uid": uid} for kind, (at, uid) in places.items()}
        return (await self._client.run("events/read", space=space, n=n, **behind))[0]
