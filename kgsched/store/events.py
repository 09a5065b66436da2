"""What happened to tasks lately, read from the tasks themselves."""

from __future__ import annotations

from typing import Any

from kgsched.store.client import Client
from kgsched.store.uids import floor_uid


class Events:
    """Reads of what happened."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def read(self, space: str, after: int, slack_ms: int, n: int) -> dict[str, Any]:
        """Row {now, enqueued, started, ended} after an instant (epoch ms).

        slack_ms: how far the clock of whoever made a uid may be behind the database's.
        """
        floor = floor_uid(max(after - slack_ms, 0))
        return (await self._client.run("events/read", space=space, after=after, floor=floor, n=n))[0]
