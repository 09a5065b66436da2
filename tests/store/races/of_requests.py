"""Races of what people and programs ask for: enqueue, cancel, retry, prioritize."""

from __future__ import annotations

from typing import Any

from tests.store.races.parts import BLOCKED, CLAIMED, FAILED, FINISHED, PENDING, RUNNING, change, row, task
from tests.store.races.race import Race

UNDO = {"uid": "1", "n": 500, "shard": "0", "by": "me", "of": ["failed", "dead_letter", "cancelled"]}
HOLDER = "CREATE (:Task {uid: '8', live_key: 'u:default:k', status: 'pending'})"
DEAD_CHILD = (task("0", "running"), task("1", "cancelled", cancelled_because=None))
KEYED = {"key": "k", "live_key": "u:default:k"}


def _enqueue(rule: str) -> dict[str, Any]:
    return {"rows": [row("5", ("1", rule))], "parents": ["1"], "best_effort": ["maint"], "shard": "0"}


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
RACES = [*BY_A_PERSON, *ENQUEUES, *LATER]
