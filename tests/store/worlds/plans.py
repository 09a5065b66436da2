"""Schedules in a graph under test: made due by moving their next run."""

from __future__ import annotations

from typing import Any

from tests.store.worlds.making import LANE
from tests.store.worlds.world import World

HOUR = 3_600_000


async def make_schedule(world: World, name: str = "n", **fields: Any) -> int:
    """An hourly schedule of type `a`, whose last slot that passed is due; returns that slot."""
    slot = await world.now() // HOUR * HOUR
    values = {"enabled": True, "trigger": "every 1h", "every_ms": HOUR, "type": "a", "lane": LANE, "payload": "{}"}
    values |= {"prio_bucket": 2, "overlap": "coalesce", "catch_up": "latest", "next_run": slot, **fields}
    assert await world.store.schedules.create("default", name, values, "test", "made") is not None
    await world.cypher("MATCH (s:Schedule {name: $name}) SET s.created_at = 0", name=name)  # anchors the interval
    return slot


async def move_next_run(world: World, slot: int | None, name: str = "n") -> None:
    """As after a clock that went back, or a daemon that was away."""
    await world.cypher("MATCH (s:Schedule {name: $name}) SET s.next_run = $slot", name=name, slot=slot)


async def schedule(world: World, name: str = "n") -> dict[str, Any]:
    rows = await world.cypher("MATCH (s:Schedule {name: $name}) RETURN s {.*} AS s", name=name)
    properties: dict[str, Any] = rows[0]["s"]
    return properties


async def ticks(world: World, name: str = "n") -> list[dict[str, Any]]:
    """All ticks of a schedule, oldest first."""
    rows = await world.cypher("MATCH (t:Task {schedule: $name}) RETURN t {.*} AS t ORDER BY t.slot, t.uid", name=name)
    return [row["t"] for row in rows]
