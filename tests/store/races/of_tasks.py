"""Races of the transitions of tasks."""

from __future__ import annotations

from typing import Any

from tests.store.races.parts import (
    BLOCKED,
    CANCEL_ASKED,
    CANCELLED,
    CLAIM,
    CLAIMED,
    FAILED,
    FINISHED,
    PENDING,
    REAPED,
    RECLAIMED,
    RUNNING,
    acks,
    change,
    row,
    task,
)
from tests.store.races.race import Race
from tests.store.worlds.making import LANE

CAPPED = {**CLAIM, "lane": LANE}
ONE_SLOT = f"CREATE (:Lane {{name: '{LANE}', cap: 1}})"
TAKE_SLOT = f"MATCH (l:Lane) SET l.lock_v = 0 CREATE (:Task {{uid: '7', running_lane: '{LANE}', session: 'z'}})"
PARENT = task("0", "running", claim_token="parents")
OF_PARENT = acks("completed", "0", "parents")
BEAT: dict[str, Any] = {
    "claims": [{"uid": "1", "token": "mine", "lease_ms": 60_000}],
    "session": "s",
    "lanes": [LANE],
    "known": ["1"],
    "stranger_age_ms": 5,
}
UNDO = {"uid": "1", "n": 500, "shard": "0", "by": "me"}
HOLDER = "CREATE (:Task {uid: '8', live_key: 'u:default:k', status: 'pending'})"
DEAD_CHILD = (task("0", "running"), task("1", "cancelled", cancelled_because=None))
KEYED = {"key": "k", "live_key": "u:default:k"}
NEW_CHILD = """MATCH (p:Task {uid: '0'}) SET p.lock_v = 0
  CREATE (c:Task {uid: '5', status: 'blocked', deps_left: 1, prio_bucket: 2})
  CREATE (c)-[:DEPENDS_ON {on_failure: 'cancel', met: false}]->(p)"""


def _enqueue(rule: str) -> dict[str, Any]:
    return {"rows": [row("5", ("1", rule))], "parents": ["1"], "best_effort": ["maint"], "shard": "0"}


CLAIMS = [
    Race(
        "claimed by another",
        "tasks/claim",
        CLAIM,
        change(CLAIMED),
        lambda seen: not seen.rows and seen.one["claim_token"] == "other",
        [PENDING],
        breaks=True,
    ),
    Race(
        "cancelled",
        "tasks/claim",
        CLAIM,
        change(CANCELLED),
        lambda seen: not seen.rows and seen.one["status"] == "cancelled",
        [PENDING],
        breaks=True,
    ),
    Race(
        "moved to another bucket",
        "tasks/claim",
        CLAIM,
        change("t.prio_bucket = 3, t.ready = 3"),
        lambda seen: len(seen.rows) == 1 and seen.row["prio_bucket"] == 3 and seen.one["status"] == "running",
        [PENDING],
    ),
    Race(
        "the last slot of the lane is taken",
        "tasks/claim_capped",
        CAPPED,
        TAKE_SLOT,
        lambda seen: not seen.rows and seen.one["status"] == "pending",
        [PENDING],
        more=ONE_SLOT,
        breaks=True,
    ),
    Race(
        "claimed by another",
        "tasks/claim_capped",
        CAPPED,
        change(CLAIMED),
        lambda seen: not seen.rows and seen.one["claim_token"] == "other",
        [PENDING],
        more=ONE_SLOT,
        breaks=True,
    ),
]
OUTCOMES = [
    Race(
        "reaped: a late completion is accepted",
        "tasks/finish",
        acks("completed"),
        change(REAPED),
        lambda seen: seen.answer == "late" and seen.one["status"] == "completed" and "ready" not in seen.one,
        [RUNNING],
        breaks=True,
    ),
    Race(
        "reaped: a late failure is refused",
        "tasks/finish",
        acks("failed"),
        change(REAPED),
        lambda seen: seen.answer == "refused" and seen.one["status"] == "pending" and seen.one["late_finishes"] == 1,
        [RUNNING],
        breaks=True,
    ),
    Race(
        "claimed again by another",
        "tasks/finish",
        acks("completed"),
        change(RECLAIMED),
        lambda seen: seen.answer == "refused" and seen.one["claim_token"] == "other",
        [RUNNING],
        breaks=True,
    ),
    Race(
        "the same finish arrived before",
        "tasks/finish",
        acks("completed"),
        change(FINISHED),
        lambda seen: seen.answer == "repeated" and seen.one["finished_at"] == 7,
        [RUNNING],
        breaks=True,
    ),
    Race(
        "a cancel was asked for: a failure ends as cancelled",
        "tasks/finish",
        acks("failed"),
        change(CANCEL_ASKED),
        lambda seen: seen.answer == "won" and seen.one["status"] == "cancelled" and "failed_at" not in seen.one,
        [RUNNING],
        breaks=True,
    ),
    Race(
        "a cancel was asked for: what completed stays completed",
        "tasks/finish",
        acks("completed"),
        change(CANCEL_ASKED),
        lambda seen: seen.answer == "won" and seen.one["status"] == "completed",
        [RUNNING],
    ),
    Race(
        "the dependent is cancelled",
        "tasks/finish",
        OF_PARENT,
        change(CANCELLED),
        lambda seen: seen.answer == "won" and seen.one["status"] == "cancelled" and seen.row["released"] == 0,
        [PARENT, BLOCKED],
        [("1", "0", "cancel")],
        breaks=True,
    ),
    Race(
        "another parent completes: the last one releases",
        "tasks/finish",
        OF_PARENT,
        change("t.deps_left = 1"),
        lambda seen: seen.one["status"] == "pending" and seen.one["ready"] == 2 and "deps_left" not in seen.one,
        [PARENT, task("1", "blocked", deps_left=2)],
        [("1", "0", "cancel")],
        breaks=True,
    ),
    Race(
        "a dependent is being added: it is owed a release",
        "tasks/finish",
        OF_PARENT,
        NEW_CHILD,
        lambda seen: seen.one["status"] == "pending" and "release_pending" in seen.tasks["0"],
        [PARENT, BLOCKED],
        [("1", "0", "cancel")],
    ),
    Race(
        "a dependent is being added to what fails: it is owed a cascade",
        "tasks/finish",
        acks("failed", "0", "parents"),
        NEW_CHILD,
        lambda seen: "cascade_pending" in seen.tasks["0"],
        [PARENT],
    ),
    Race(
        "reaped",
        "tasks/reschedule",
        acks("retry"),
        change(REAPED),
        lambda seen: seen.answer == "refused" and seen.one["status"] == "pending",
        [RUNNING],
        breaks=True,
    ),
    Race(
        "the same report arrived before",
        "tasks/reschedule",
        acks("retry"),
        change(
            "t.status = 'scheduled', t.due_at = 9, t.claim_token = NULL, t.last_token = 'mine', "
            "t.last_outcome = 'retry'"
        ),
        lambda seen: seen.answer == "repeated" and seen.one["due_at"] == 9,
        [RUNNING],
        breaks=True,
    ),
    Race(
        "a cancel was asked for: the snooze ends it",
        "tasks/reschedule",
        acks("snooze"),
        change(CANCEL_ASKED),
        lambda seen: seen.one["status"] == "cancelled" and "ready" not in seen.one,
        [RUNNING],
        breaks=True,
    ),
    Race(
        "a commit is under way",
        "tasks/read_outcome",
        {"uid": "1", "token": "mine"},
        change(FINISHED),
        lambda seen: seen.row == {"status": "completed", "mine": False, "outcome": "completed"},
        [RUNNING],
        breaks=True,
    ),
]
LEASES = [
    Race(
        "reaped",
        "tasks/beat",
        BEAT,
        change(REAPED),
        lambda seen: seen.row["lost"] == ["1"] and "lease_expires_at" not in seen.one,
        [RUNNING],
        breaks=True,
    ),
    Race(
        "a cancel is asked for",
        "tasks/beat",
        {**BEAT, "known": []},
        change(CANCEL_ASKED),
        lambda seen: seen.row == {"lost": [], "cancel_requested": ["1"], "strangers": [["1", "mine"]]},
        [RUNNING],
    ),
    Race(
        "reaped",
        "tasks/extend",
        {"uid": "1", "token": "mine", "lease_ms": 9},
        change(REAPED),
        lambda seen: not seen.rows and "lease_expires_at" not in seen.one,
        [RUNNING],
        breaks=True,
    ),
    Race(
        "claimed again by another",
        "tasks/report_progress",
        {"uid": "1", "token": "mine", "progress": "{}"},
        change(RECLAIMED),
        lambda seen: not seen.rows and "progress" not in seen.one,
        [RUNNING],
        breaks=True,
    ),
]
BY_A_PERSON = [
    Race(
        "claimed: it is asked to stop",
        "tasks/cancel",
        {"uids": ["1"], "shard": "0"},
        change(CLAIMED),
        lambda seen: seen.answer == "requested" and seen.one["status"] == "running",
        [PENDING],
        breaks=True,
    ),
    Race(
        "finished: it is over",
        "tasks/cancel",
        {"uids": ["1"], "shard": "0"},
        change(FINISHED),
        lambda seen: seen.answer == "over" and "cancel_requested_at" not in seen.one,
        [RUNNING],
        breaks=True,
    ),
    Race(
        "released by what it waited for",
        "tasks/cancel",
        {"uids": ["1"], "shard": "0"},
        change("t.status = 'pending', t.deps_left = NULL, t.ready = 2"),
        lambda seen: seen.one["status"] == "cancelled" and "ready" not in seen.one,
        [BLOCKED],
    ),
    Race(
        "retried by another",
        "tasks/retry",
        UNDO,
        change("t.status = 'pending', t.ready = 2, t.failed_at = NULL, t.finished_at = NULL"),
        lambda seen: seen.row["answer"] == "not_dead" and seen.one["ready"] == 2,
        [FAILED],
        breaks=True,
    ),
    Race(
        "its cascade is marked",
        "tasks/retry",
        UNDO,
        change("t.cascade_pending = 5"),
        lambda seen: seen.row["answer"] == "cascading" and seen.one["status"] == "failed",
        [FAILED],
        breaks=True,
    ),
    Race(
        "what it waits for fails",
        "tasks/retry",
        UNDO,
        change("t.status = 'failed', t.failed_at = 1", "0"),
        lambda seen: seen.row["answer"] == "parent_dead" and seen.one["status"] == "cancelled",
        DEAD_CHILD,
        [("1", "0", "cancel")],
        breaks=True,
    ),
    Race(
        "what it waits for completes",
        "tasks/retry",
        UNDO,
        change("t.status = 'completed'", "0"),
        lambda seen: seen.row["answer"] == "retried" and seen.one["status"] == "pending" and seen.one["ready"] == 2,
        DEAD_CHILD,
        [("1", "0", "cancel")],
        breaks=True,
    ),
    Race(
        "its key is taken",
        "tasks/retry",
        UNDO,
        HOLDER,
        lambda seen: seen.row["answer"] == "key_taken" and seen.one["status"] == "failed",
        [task("1", "failed", key="k")],
    ),
    Race(
        "claimed",
        "tasks/prioritize",
        {"rows": [{"uid": "1", "prio_bucket": 0, "weight": 5}]},
        change(CLAIMED),
        lambda seen: "ready" not in seen.one and seen.one["prio_bucket"] == 0,
        [PENDING],
        breaks=True,
    ),
]
ENQUEUES = [
    Race(
        "what it waits for completes",
        "tasks/enqueue_with_edges",
        _enqueue("cancel"),
        change(FINISHED),
        lambda seen: seen.row["tasks"][0][1] == "pending" and seen.tasks["5"]["ready"] == 2,
        [RUNNING],
        breaks=True,
    ),
    Race(
        "what it waits for fails, cancel",
        "tasks/enqueue_with_edges",
        _enqueue("cancel"),
        change("t.status = 'failed', t.failed_at = 1"),
        lambda seen: seen.row["tasks"][0][1:] == ["cancelled", "1"],
        [RUNNING],
        breaks=True,
    ),
    Race(
        "what it waits for fails, ignore",
        "tasks/enqueue_with_edges",
        _enqueue("ignore"),
        change("t.status = 'failed', t.failed_at = 1"),
        lambda seen: seen.row["tasks"][0][1] == "pending",
        [RUNNING],
        breaks=True,
    ),
    Race(
        "what it waits for fails, hold",
        "tasks/enqueue_with_edges",
        _enqueue("hold"),
        change("t.status = 'failed', t.failed_at = 1"),
        lambda seen: seen.row["tasks"][0][1] == "blocked" and seen.tasks["5"]["deps_left"] == 1,
        [RUNNING],
    ),
    Race(
        "the holder of the key finishes",
        "tasks/enqueue_keyed",
        {"rows": [row("5", key="k")]},
        change(f"t.live_key = NULL, {FINISHED}"),
        lambda seen: seen.row["answer"] in ("retry", "created"),
        [task("1", "running", **KEYED)],
    ),
    Race(
        "the holder of the key is claimed",
        "tasks/enqueue_keyed",
        {"rows": [row("5", key="k")]},
        change(CLAIMED),
        lambda seen: (seen.row["answer"], seen.row["uid"], seen.row["status"]) == ("existing", "1", "running"),
        [task("1", "pending", **KEYED)],
        breaks=True,
    ),
]
LATER = [
    Race(
        "another takes the key",
        "tasks/enqueue_unique",
        {"rows": [row("5", key="k", unique_ms=None)]},
        "MATCH (k:UniqueKey) SET k.lock_v = 0, k.uid = '1', k.until = null",
        lambda seen: (seen.row["answer"], seen.row["uid"]) == ("existing", "1") and "5" not in seen.tasks,
        [task("1", "completed")],
        more="CREATE (:UniqueKey {space: 'default', key: 'k', uid: '0', until: 1})",
        breaks=True,
    ),
    Race(
        "claimed",
        "tasks/replace",
        {"rows": [row("1", payload='{"new":1}')]},
        change(CLAIMED),
        lambda seen: not seen.rows and seen.one["payload"] == "{}" and "ready" not in seen.one,
        [PENDING],
        breaks=True,
    ),
]
RACES = [*LATER, *CLAIMS, *OUTCOMES, *LEASES, *BY_A_PERSON, *ENQUEUES]
