"""Races against the purge: the task is gone when the lock is there. It must look as if it had never been."""

from __future__ import annotations

from tests.store.races.of_claims import BEAT
from tests.store.races.of_requests import UNDO
from tests.store.races.parts import FAILED, acks, row, task
from tests.store.races.race import Race

GONE = "MATCH (t:Task {uid: '1'}) DETACH DELETE t"
PARENT_GONE = "MATCH (t:Task {uid: '0'}) DETACH DELETE t"
ENQUEUE = {"rows": [row("5", ("1", "cancel"))], "parents": ["1"], "best_effort": [], "shard": "0"}
UNSETTLED = task("1", "blocked", deps_left=None, unsettled=1, after=["0 cancel"])

RACES = [
    Race(
        "purged", "tasks/cancel", {"uids": ["1"], "shard": "0"}, GONE, lambda seen: seen.row["answers"] == [], [FAILED]
    ),
    Race("purged", "tasks/finish", acks("completed"), GONE, lambda seen: seen.row["answers"] == [], [FAILED]),
    Race("purged", "tasks/reschedule", acks("retry"), GONE, lambda seen: seen.row["answers"] == [], [FAILED]),
    Race("purged", "tasks/retry", UNDO, GONE, lambda seen: seen.rows == [] and seen.tasks == {}, [FAILED]),
    Race("purged", "tasks/read_outcome", {"uid": "1", "token": "mine"}, GONE, lambda seen: seen.rows == [], [FAILED]),
    Race("purged", "tasks/beat", BEAT, GONE, lambda seen: seen.row["lost"] == ["1"], [FAILED]),
    Race(
        "purged",
        "tasks/prioritize",
        {"rows": [{"uid": "1", "prio_bucket": 0, "weight": None}]},
        GONE,
        lambda seen: seen.row["uids"] == [] and seen.tasks == {},
        [FAILED],
    ),
    Race(
        "what it waits for is purged",
        "tasks/enqueue_with_edges",
        ENQUEUE,
        GONE,
        lambda seen: seen.row["missing"] == ["1"] and seen.tasks == {},
        [FAILED],
    ),
    Race(
        "what it waits for is purged",
        "jobs/settle",
        {"n": 9, "shard": "0"},
        PARENT_GONE,
        lambda seen: seen.one["status"] == "cancelled" and "deleted" in seen.one["last_error"],
        [task("0", "failed"), UNSETTLED],
    ),
    Race(
        "purged by another",
        "jobs/purge",
        {"before": 9, "n": 5, "shard": "0"},
        GONE,
        lambda seen: seen.row["n"] == 0,
        [FAILED],
    ),
]
