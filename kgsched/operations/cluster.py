"""The state of the whole: counts, leader, loops, lanes, workers, types."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from kgsched.core.lanes import LANES
from kgsched.core.limits import check_text
from kgsched.core.priority import NAMES
from kgsched.core.states import LIVE, Status
from kgsched.core.times import show_instant
from kgsched.errors import UnknownName
from kgsched.operations.records import Record
from kgsched.ports import Store
from kgsched.registry import Registry


class ClusterOperations:
    """What all processes of one database share, as one space sees it."""

    def __init__(self, store: Store, registry: Registry, space: str) -> None:
        self._store, self._registry, self._space = store, registry, space

    async def status(self) -> Record:
        """Counts by state and lane, age of the oldest ready task (of each priority too), leader, workers,
        ages of the loops' last passes.

        Ages are in seconds.
        """
        cells = await self._store.cluster.count_tasks(self._space)
        pulse = await self._store.cluster.pulse()
        oldest = min((cell["oldest"] for cell in cells if cell["oldest"] is not None), default=None)
        leads = pulse.holder is not None and (pulse.lease_until or 0) > pulse.now
        return {
            "now": show_instant(pulse.now),
            "space": self._space,
            "tasks": _sums(cells, "status", [one.value for one in Status]),
            "lanes": {
                lane: _sums([cell for cell in cells if cell["lane"] == lane], "status")
                for lane in sorted({str(cell["lane"]) for cell in cells})
            },
            "oldest_ready_age": None if oldest is None else _age(pulse.now - int(oldest)),
            "oldest_ready_by_priority": _oldest(cells, pulse.now),
            "waiting_at_gates": sum(cell["n"] for cell in cells if cell["waiting"]),
            "leader": {
                "worker": pulse.holder if leads else None,
                "term": pulse.term,
                "lease_until": show_instant(pulse.lease_until) if leads else None,
            },
            "workers": len(await self.workers()),
            "next_schedule_run": show_instant(pulse.next_run),
            "loops": [
                {
                    "name": loop["name"],
                    "worker": loop["worker"],
                    "last_pass_at": show_instant(loop["last_pass_at"]),
                    "age": _age(pulse.now - loop["last_pass_at"]),
                    "detail": loop["detail"],
                }
                for loop in await self._store.cluster.list_loops()
            ],
        }

    async def lanes(self) -> list[Record]:
        """Each lane with its rules, its tasks by state, and who paused it."""
        cells = await self._store.cluster.count_tasks(self._space)
        rows = {row["name"]: row for row in await self._store.cluster.list_lanes()}
        return [_lane(name, rows.get(name, {}), cells) for name in sorted({*LANES, *rows})]

    async def types(self) -> list[Record]:
        """The types that some worker has published, with their lanes, and who paused them."""
        return [
            {
                "name": row["name"],
                "lane": row["lane"],
                "paused": row["paused_at"] is not None,
                "paused_at": show_instant(row["paused_at"]),
                "paused_by": row["paused_by"],
                "paused_why": row["paused_why"],
            }
            for row in await self._store.cluster.list_types()
        ]

    async def unhandled(self) -> list[Record]:
        """Types with live tasks that no live worker handles: {type, tasks}. Such tasks stay where they are."""
        workers = await self.workers()
        handled = {type_ for worker in workers for type_ in worker["types"]}
        cells = await self._store.cluster.count_tasks(self._space)
        waiting = [cell for cell in cells if cell["status"] in LIVE and cell["type"] not in handled]
        return [{"type": name, "tasks": n} for name, n in sorted(_sums(waiting, "type").items())]

    async def workers(self) -> list[Record]:
        """The workers that count as alive."""
        return [
            _worker(row["worker"], row["now"])
            for row in await self._store.cluster.list_workers()
            if row["worker"].get("expires_at", 0) > row["now"]
        ]

    async def pause_lane(self, name: str, paused: bool, by: str, why: str | None = None) -> None:
        """Hold back, or let go on, the claims of a lane. Raises UnknownName."""
        if name not in LANES:
            raise UnknownName("lane", name, LANES)
        await self._store.cluster.pause_lane(name, paused, by, why)

    async def pause_type(self, name: str, paused: bool, by: str, why: str | None = None) -> None:
        """Hold back, or let go on, the claims of a type. Raises UnknownName."""
        known = {*self._registry.names(), *(row["name"] for row in await self._store.cluster.list_types())}
        if check_text("task type", name) not in known:
            raise UnknownName("task type", name, known)
        await self._store.cluster.pause_type(name, paused, by, why)


def _lane(name: str, row: Mapping[str, Any], cells: Iterable[Mapping[str, Any]]) -> Record:
    rules = LANES.get(name)
    return {
        "name": name,
        "cap": row.get("cap") if row else (rules.cap if rules else None),
        "floor": rules.floor if rules else 0,
        "max_share": rules.max_share if rules else 1.0,
        "reserved_share": rules.reserved_share if rules else 0.0,
        "hot_spare": rules.hot_spare if rules else False,
        "timeout": rules.timeout_ms / 1000 if rules else None,
        "paused": row.get("paused_at") is not None,
        "paused_at": show_instant(row.get("paused_at")),
        "paused_by": row.get("paused_by"),
        "paused_why": row.get("paused_why"),
        "tasks": _sums([cell for cell in cells if cell["lane"] == name], "status"),
    }


def _worker(node: Mapping[str, Any], now: int) -> Record:
    keys = ("host", "pid", "version", "mode", "slots", "running", "session")
    return {
        "id": node["id"],
        **{key: node.get(key) for key in keys},
        "types": sorted(node.get("types") or []),
        "started_at": show_instant(node.get("started_at")),
        "seen_at": show_instant(node.get("seen_at")),
        "silent_for": _age(now - node.get("seen_at", now)),
    }


def _oldest(cells: Iterable[Mapping[str, Any]], now: int) -> dict[str, float]:
    """Age in seconds of the oldest ready task of each priority that has one: strict priorities can starve the lower."""
    arrivals: dict[int, int] = {}
    for cell in cells:
        if cell["oldest"] is not None:
            bucket = cell["bucket"]
            arrivals[bucket] = min(arrivals.get(bucket, cell["oldest"]), cell["oldest"])
    return {NAMES[bucket]: _age(now - arrivals[bucket]) for bucket in sorted(arrivals)}


def _sums(cells: Iterable[Mapping[str, Any]], key: str, always: Iterable[str] = ()) -> dict[str, int]:
    sums: dict[str, int] = defaultdict(int, dict.fromkeys(always, 0))
    for cell in cells:
        sums[str(cell[key])] += cell["n"]
    return dict(sums)


def _age(millis: int) -> float:
    """Seconds; what another transaction wrote after this one's now is no age below zero."""
    return round(max(millis, 0) / 1000, 1)
