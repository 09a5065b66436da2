"""What the processes of one database share: the leader, workers, types, lanes, loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from kgsched.core.task import Limits, Pulse
from kgsched.store.client import Client

LEADER = "leader"
_PULSE_FIELDS = tuple(Pulse.__dataclass_fields__)


class Cluster:
    """Methods are the statements of the same name under cypher/cluster/."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def pulse(self) -> Pulse:
        row = (await self._client.run("cluster/pulse", lease=LEADER))[0]
        return Pulse(**{name: row[name] for name in _PULSE_FIELDS})

    async def acquire(self, holder: str, ms: int) -> bool:
        """Take or keep the leader's lease."""
        row = (await self._client.run("cluster/acquire", name=LEADER, holder=holder, ms=ms))[0]
        return bool(row["mine"])

    async def resign(self, holder: str) -> None:
        await self._client.run("cluster/resign", name=LEADER, holder=holder)

    async def publish_types(
        self,
        lanes: Mapping[str, str],
        limits: Mapping[str, Limits] | None = None,
        max_attempts: Mapping[str, int] | None = None,
    ) -> None:
        """Write lane, limits and attempts of types into the type table; the newest deployment stands."""
        bounds, attempts = limits or {}, max_attempts or {}
        rows = [
            {"name": name, "lane": lane, "max_attempts": attempts.get(name), **asdict(bounds.get(name) or Limits())}
            for name, lane in lanes.items()
        ]
        await self._client.run("cluster/publish_types", types=rows)

    async def read_types(self) -> dict[str, str]:
        """Lane of each type in the type table."""
        return {row["name"]: row["lane"] for row in await self.list_types() if row["lane"]}

    async def list_types(self) -> list[dict[str, Any]]:
        return await self._client.run("cluster/read_types")

    async def ensure_lanes(self, caps: Mapping[str, int | None]) -> None:
        rows = [{"name": name, "cap": cap} for name, cap in caps.items()]
        await self._client.run("cluster/ensure_lanes", lanes=rows)

    async def pause_type(self, name: str, paused: bool, by: str, why: str | None) -> None:
        await self._client.run("cluster/pause_type", name=name, paused=paused, by=by, why=why)

    async def pause_lane(self, name: str, paused: bool, by: str, why: str | None) -> None:
        await self._client.run("cluster/pause_lane", name=name, paused=paused, by=by, why=why)

    async def register_worker(self, worker: str, info: Mapping[str, Any], keep_ms: int) -> None:
        await self._client.run("cluster/register_worker", worker=worker, info=dict(info), keep_ms=keep_ms)

    async def beat_worker(self, worker: str, running: int, keep_ms: int) -> bool:
        """False when the worker was forgotten meanwhile and has to register again."""
        rows = await self._client.run("cluster/beat_worker", worker=worker, running=running, keep_ms=keep_ms)
        return bool(rows)

    async def leave_worker(self, worker: str) -> None:
        await self._client.run("cluster/leave_worker", worker=worker, timeout=5.0)

    async def list_workers(self) -> list[dict[str, Any]]:
        return await self._client.run("cluster/list_workers")

    async def note_loop(self, loop: str, worker: str, detail: str | None) -> None:
        await self._client.run("cluster/note_loop", name=loop, worker=worker, detail=detail)

    async def list_loops(self) -> list[dict[str, Any]]:
        return await self._client.run("cluster/list_loops")

    async def list_lanes(self) -> list[dict[str, Any]]:
        return await self._client.run("cluster/list_lanes")

    async def count_tasks(self, space: str) -> list[dict[str, Any]]:
        return await self._client.run("cluster/count_tasks", space=space)
