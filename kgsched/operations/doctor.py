"""What could be wrong with the database and the processes around it, and what to do about it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from kgsched.core.states import LIVE, Status
from kgsched.operations.cluster import ClusterOperations
from kgsched.operations.records import Record
from kgsched.ports import Store

WAITING = LIVE - {Status.RUNNING}
STALE_LOOP = 180.0
SILENT = 35.0
SKEW = 5.0


class Level(StrEnum):
    """How bad a finding is."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: what was found, and what to do when it is not ok."""

    check: str
    level: Level
    found: str
    remedy: str | None = None


class Doctor:
    """Checks that need the database. Each returns findings; what cannot be read raises a StoreError."""

    def __init__(self, store: Store, cluster: ClusterOperations, space: str) -> None:
        self._store, self._cluster, self._space = store, cluster, space

    async def examine(self) -> list[Finding]:
        """Server, schema, clock, leader, workers, types and loops."""
        version, edition = await self._store.verify()
        findings = [Finding("version", Level.OK, f"Neo4j {version} ({edition})")]
        has, knows = await self._store.schema_version()
        findings.append(check_schema(has, knows))
        sent = time.time()
        pulse = await self._store.cluster.pulse()
        status = await self._cluster.status()
        workers = await self._cluster.workers()
        loops = await self._store.cluster.list_loops()
        findings.append(check_clock(pulse.now / 1000 - (sent + time.time()) / 2, _newest(loops) - pulse.now / 1000))
        findings += check_leader(status, workers)
        findings += check_types(await self._store.cluster.count_tasks(self._space), workers)
        findings += check_paused(await self._cluster.lanes(), await self._cluster.types())
        findings += check_loops(status["loops"], bool(status["leader"]["worker"]))
        return findings


def check_schema(has: int, knows: int) -> Finding:
    """The database's newest migration against ours."""
    if has > knows:
        return Finding("schema", Level.FAIL, f"migration {has}, written by a newer kgsched", "upgrade this kgsched")
    if has < knows:
        return Finding("schema", Level.WARN, f"migration {has} of {knows}", "start `kgsched daemon`; it migrates")
    return Finding("schema", Level.OK, f"migration {has}")


def check_clock(skew: float, ahead: float) -> Finding:
    """skew: server against this machine, seconds; ahead: the newest mark in the graph against the server."""
    if ahead > SKEW:
        return Finding(
            "clock",
            Level.FAIL,
            f"the server's clock was set back by {ahead:.0f} s: the graph holds later marks",
            "let it catch up, or restart the daemons; until then due work is late",
        )
    if abs(skew) > SKEW:
        way = "ahead of" if skew > 0 else "behind"
        return Finding(
            "clock",
            Level.WARN,
            f"the server is {abs(skew):.0f} s {way} this machine",
            "run NTP on both; the server's clock alone decides what is due",
        )
    return Finding("clock", Level.OK, f"within {abs(skew):.1f} s of this machine")


def check_leader(status: Mapping[str, Any], workers: Sequence[Record]) -> list[Finding]:
    """Whether somebody runs the sweeps and the schedules, and somebody runs tasks."""
    start = "start one with `kgsched daemon`"
    holder = status["leader"]["worker"]
    leader = (
        Finding("leader", Level.OK, str(holder))
        if holder
        else Finding("leader", Level.FAIL, "nobody fires schedules and sweeps", start)
    )
    if not workers:
        return [leader, Finding("workers", Level.FAIL, "nobody runs tasks", start)]
    silent = [one for one in workers if one.get("silent_for", 0) > SILENT]
    slots = sum(one["slots"] or 0 for one in workers if one not in silent)
    level = Level.OK if slots else Level.FAIL
    return [
        leader,
        Finding("workers", level, f"{len(workers) - len(silent)} with {slots} slots", None if slots else start),
        *(
            Finding(
                "workers",
                Level.WARN,
                f"{one['id']} says nothing for {one['silent_for']:.0f} s; it may be dead",
                "nothing: others get its tasks when their lease and grace are over",
            )
            for one in silent
        ),
    ]


def check_types(cells: Iterable[Mapping[str, Any]], workers: Sequence[Record]) -> list[Finding]:
    """Live tasks whose type no worker handles: they stay pending."""
    if not workers:
        return []
    handled = {type_ for worker in workers for type_ in worker["types"]}
    left: dict[str, int] = {}
    for cell in cells:
        if cell["status"] in WAITING and cell["type"] not in handled:
            left[cell["type"]] = left.get(cell["type"], 0) + cell["n"]
    if not left:
        return [Finding("types", Level.OK, f"{len(handled)} handled; every waiting task has a handler")]
    return [
        Finding(
            "types",
            Level.WARN,
            f"type {name!r} has {count} that wait, and no worker handles it",
            "start a worker with `kgsched worker --import <module>`, or cancel them: "
            f"`kgsched tasks cancel --type {name}`",
        )
        for name, count in sorted(left.items())
    ]


def check_paused(lanes: Sequence[Record], types: Sequence[Record]) -> list[Finding]:
    """Lanes and types that somebody paused: forgotten pauses look like a stuck queue."""
    return [
        Finding(
            "paused",
            Level.WARN,
            f"{kind} {one['name']!r} is paused by {one['paused_by']} since {one['paused_at']}"
            + (f": {one['paused_why']}" if one["paused_why"] else ""),
            f"`kgsched lanes resume {one['name']}{' --type' if kind == 'type' else ''}`",
        )
        for kind, rows in (("lane", lanes), ("type", types))
        for one in rows
        if one["paused"]
    ]


def check_loops(loops: Sequence[Record], led: bool) -> list[Finding]:
    """Loops that have not done their work for minutes although there is a leader."""
    if not led:
        return []
    stale = [loop for loop in loops if loop["age"] > STALE_LOOP]
    if not stale:
        return [Finding("loops", Level.OK, f"{len(loops)} pass regularly")]
    return [
        Finding(
            "loops",
            Level.WARN,
            f"{loop['name']} last passed {loop['age']:.0f} s ago",
            f"see the log of {loop['worker']}; `kgsched jobs run` runs a sweep by hand",
        )
        for loop in stale
    ]


def _newest(loops: Iterable[Mapping[str, Any]]) -> float:
    return max((loop["last_pass_at"] / 1000 for loop in loops), default=0.0)
