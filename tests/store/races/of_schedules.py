"""Races of schedules and of the leader's lease."""

from __future__ import annotations

from typing import Any

from tests.store.races.parts import CLAIMED, change, task
from tests.store.races.race import Race

FIRE: dict[str, Any] = {
    "space": "default",
    "name": "n",
    "next_run": 100,
    "version": 1,
    "ticks": [{"slot": 100, "uid": "9", "eta": None}],
    "new_next_run": 200,
    "missed": 0,
}
RUN_NOW = {"space": "default", "name": "n", "uid": "9", "payload": None, "prio_bucket": None}
COLLAPSE = {"n": 9, "shard": "0"}
FIRED = """MATCH (s:Schedule) SET s.lock_v = 0, s.next_run = 200, s.last_slot = 100
  CREATE (:Task {space: 'default', id: 'sched:n:100', uid: '8'})"""
TICK_MADE = """MATCH (s:Schedule) SET s.lock_v = 0
  CREATE (:Task {uid: '8', id: 'sched:n:100', space: 'default', tick_of: 'n', status: 'pending', payload: '{}',
    prio_bucket: 2, ready: 2})"""


def schedule(overlap: str) -> str:
    return f"""CREATE (:Schedule {{space: 'default', name: 'n', enabled: true, version: 1, next_run: 100,
      catch_up: 'latest', trigger: 'every 1s', overlap: '{overlap}', type: 'a', lane: 'ingestion', prio_bucket: 2,
      payload: '{{}}'}})"""


def tick(uid: str, slot: int) -> dict[str, Any]:
    return task(uid, "pending", schedule="n", tick_of="n", slot=slot)


RACES = [
    Race(
        "fired by another",
        "schedules/fire",
        FIRE,
        FIRED,
        lambda seen: seen.rows == [] and "9" not in seen.tasks,
        more=schedule("allow"),
        breaks=True,
    ),
    Race(
        "changed by a person",
        "schedules/fire",
        FIRE,
        "MATCH (s:Schedule) SET s.version = 2",
        lambda seen: seen.rows == [],
        more=schedule("allow"),
        breaks=True,
    ),
    Race(
        "disabled",
        "schedules/fire",
        FIRE,
        "MATCH (s:Schedule) SET s.enabled = false",
        lambda seen: seen.rows == [],
        more=schedule("allow"),
        breaks=True,
    ),
    Race(
        "the tick that waits is claimed: it no longer coalesces",
        "schedules/fire",
        FIRE,
        change(CLAIMED),
        lambda seen: seen.row["coalesced"] is None and [one[::2] for one in seen.row["fired"]] == [[100, True]],
        [tick("1", 50)],
        more=schedule("coalesce"),
        breaks=True,
    ),
    Race(
        "the tick that waits is moved: it coalesces",
        "schedules/fire",
        FIRE,
        change("t.prio_bucket = 0, t.ready = 0"),
        lambda seen: seen.row["fired"] == [] and seen.row["coalesced"] == "1",
        [tick("1", 50)],
        more=schedule("coalesce"),
    ),
    Race(
        "it fires",
        "schedules/run_now",
        {**RUN_NOW, "prio_bucket": 0},
        TICK_MADE,
        lambda seen: (seen.row["answer"], seen.row["uid"], seen.tasks["8"]["ready"]) == ("coalesced", "8", 0),
        more=schedule("coalesce"),
        breaks=True,
    ),
    Race(
        "the tick that waits is claimed",
        "schedules/run_now",
        RUN_NOW,
        change(CLAIMED),
        lambda seen: seen.row["answer"] == "created",
        [tick("1", 50)],
        more=schedule("coalesce"),
        breaks=True,
    ),
    Race(
        "the older tick is claimed",
        "jobs/collapse_stale_ticks",
        COLLAPSE,
        change(CLAIMED),
        lambda seen: seen.row["cancelled"] == [] and seen.one["status"] == "running",
        [tick("1", 50), tick("2", 60)],
        more=schedule("coalesce"),
        breaks=True,
    ),
    Race(
        "changed by another",
        "schedules/change",
        {"space": "default", "name": "n", "version": 1, "fields": {"enabled": False}, "by": "me", "note": "n"},
        "MATCH (s:Schedule) SET s.version = 2",
        lambda seen: seen.rows == [],
        more=schedule("allow"),
        breaks=True,
    ),
    Race(
        "this tick was counted",
        "schedules/record_run",
        {"space": "default", "name": "n", "tick": "8", "ok": False, "reason": "r", "base_ms": 1000},
        "MATCH (s:Schedule) SET s.lock_v = 0, s.last_tick = '8', s.consecutive_failures = 1",
        lambda seen: seen.rows == [],
        more=schedule("allow"),
        breaks=True,
    ),
    Race(
        "another takes the lease",
        "cluster/acquire",
        {"name": "l", "holder": "b", "ms": 1000},
        "MATCH (l:Lease) SET l.holder = 'a', l.term = 4, l.expires_at = timestamp() + 99999",
        lambda seen: seen.row["mine"] is False and seen.row["term"] == 4,
        more="CREATE (:Lease {name: 'l', holder: 'x', term: 3, expires_at: 0})",
        breaks=True,
    ),
]
