"""Races of the sweeps and of gates."""

from __future__ import annotations

from tests.store.races.parts import (
    BLOCKED,
    CANCEL_ASKED,
    CANCELLED,
    CLAIMED,
    FAILED,
    FINISHED,
    PENDING,
    RUNNING,
    change,
    task,
)
from tests.store.races.race import Race

REAPER = {"n": 9, "grace_ms": 0, "shard": "0"}
STEP = {"n": 500, "parents": 20}
CASCADE = {**STEP, "shard": "0"}
PURGE = {"before": 9, "n": 5, "shard": "0"}
GATE = "CREATE (:Gate {space: 'default', key: 'g', limit: 1})"
UNUSED_GATE = "CREATE (:Gate {space: 'default', key: 'g', limit: 1, used_at: 5})"
WAITING = task("1", "pending", ready=None, gate="g", gate_waiting="g")
RELEASED = "t.status = 'pending', t.ready = 2, t.deps_left = NULL"
UNSETTLED = task("1", "blocked", deps_left=None, unsettled=1, after=["0 cancel"])
SCHEDULED = task("1", "scheduled")
REVIVED = (task("0", "running", revive_pending=1), task("1", "cancelled", cancelled_because="0"))
MARKED = task("0", "failed", cascade_pending=1)

SWEEPS = [
    Race(
        "cancelled",
        "jobs/promotion_sweep",
        {"n": 9},
        change(CANCELLED),
        lambda seen: seen.row["n"] == 0 and "ready" not in seen.one,
        [SCHEDULED],
        breaks=True,
    ),
    Race(
        "promoted and claimed",
        "jobs/promotion_sweep",
        {"n": 9},
        change("t.status = 'running', t.due_at = NULL"),
        lambda seen: seen.row["n"] == 0 and seen.one["status"] == "running",
        [SCHEDULED],
        breaks=True,
    ),
    Race(
        "put off further",
        "jobs/promotion_sweep",
        {"n": 9},
        change("t.due_at = timestamp() + 99999"),
        lambda seen: seen.row["n"] == 0 and seen.one["status"] == "scheduled",
        [SCHEDULED],
        breaks=True,
    ),
    Race(
        "a beat arrives",
        "jobs/reaper",
        REAPER,
        change("t.lease_expires_at = timestamp() + 60000"),
        lambda seen: seen.row["reaped"] == [] and seen.one["status"] == "running",
        [RUNNING],
        breaks=True,
    ),
    Race(
        "it finishes",
        "jobs/reaper",
        REAPER,
        change(FINISHED),
        lambda seen: seen.row["reaped"] == [] and seen.one["status"] == "completed",
        [RUNNING],
        breaks=True,
    ),
    Race(
        "a cancel is asked for",
        "jobs/reaper",
        REAPER,
        change(CANCEL_ASKED),
        lambda seen: seen.one["status"] == "cancelled" and seen.one["last_token"] == "mine",
        [RUNNING],
        breaks=True,
    ),
    Race(
        "its attempts are used up",
        "jobs/reaper",
        REAPER,
        change("t.attempts = 3"),
        lambda seen: seen.one["status"] == "dead_letter" and "failed_at" in seen.one,
        [RUNNING],
        breaks=True,
    ),
    Race(
        "retried by a person",
        "jobs/purge",
        PURGE,
        change("t.status = 'pending', t.ready = 2, t.failed_at = NULL, t.finished_at = NULL"),
        lambda seen: seen.row["n"] == 0 and seen.one["status"] == "pending",
        [FAILED],
        breaks=True,
    ),
    Race(
        "something comes to wait for it",
        "jobs/purge",
        PURGE,
        """MATCH (t:Task {uid: '1'}) SET t.lock_v = 0
           CREATE (c:Task {uid: '5', status: 'blocked', deps_left: 1})
           CREATE (c)-[:DEPENDS_ON {on_failure: 'hold', met: false}]->(t)""",
        lambda seen: seen.row["n"] == 0 and seen.one["status"] == "failed",
        [FAILED],
    ),
    Race(
        "retried by a person",
        "jobs/archive",
        {"before": 9, "n": 5},
        change("t.status = 'pending', t.ready = 2, t.finished_at = NULL"),
        lambda seen: seen.row["n"] == 0 and seen.one["payload"] == "{}",
        [task("1", "completed")],
        breaks=True,
    ),
    Race(
        "what it waits for completes",
        "jobs/settle",
        {"n": 9, "shard": "0"},
        change("t.status = 'completed'", "0"),
        lambda seen: seen.one["status"] == "pending" and seen.one["ready"] == 2 and "unsettled" not in seen.one,
        [task("0", "running"), UNSETTLED],
        breaks=True,
    ),
    Race(
        "settled by another",
        "jobs/settle",
        {"n": 9, "shard": "0"},
        change("t.unsettled = NULL, t.deps_left = 1"),
        lambda seen: seen.row["settled"] == [] and seen.one["status"] == "blocked",
        [task("0", "running"), UNSETTLED],
        breaks=True,
    ),
    Race(
        "the dependent is released by hand",
        "jobs/cascade_step",
        CASCADE,
        change(RELEASED),
        lambda seen: seen.row["cancelled"] == [] and seen.one["status"] == "pending",
        [MARKED, BLOCKED],
        [("1", "0", "cancel")],
        breaks=True,
    ),
    Race(
        "a person cancels the dependent",
        "jobs/cascade_step",
        CASCADE,
        change(CANCELLED),
        lambda seen: seen.row["cancelled"] == [] and "cancelled_because" not in seen.one,
        [MARKED, BLOCKED],
        [("1", "0", "cancel")],
        breaks=True,
    ),
    Race(
        "another took this step",
        "jobs/cascade_step",
        CASCADE,
        f"""MATCH (t:Task {{uid: '1'}})-[edge:DEPENDS_ON]->(p)
            SET p.lock_v = 0, t.lock_v = 0, edge.met = true, {RELEASED}, p.cascade_pending = NULL""",
        lambda seen: seen.row["released"] == 0 and seen.one["status"] == "pending",
        [MARKED, BLOCKED],
        [("1", "0", "ignore")],
    ),
    Race(
        "another took this step",
        "jobs/release_step",
        STEP,
        """MATCH (t:Task {uid: '1'})-[edge:DEPENDS_ON]->(p)
           SET p.lock_v = 0, t.lock_v = 0, edge.met = true, t.deps_left = 1, p.release_pending = NULL""",
        lambda seen: seen.row["released"] == 0 and seen.one["deps_left"] == 1,
        [task("0", "completed", release_pending=1), task("1", "blocked", deps_left=2)],
        [("1", "0", "cancel")],
        breaks=True,
    ),
    Race(
        "the root fails again",
        "jobs/revive_step",
        {"n": 9, "shard": "0"},
        change("t.status = 'failed'", "0"),
        lambda seen: seen.row["tasks"] == [] and seen.one["status"] == "cancelled",
        REVIVED,
        [("1", "0", "cancel")],
        breaks=True,
    ),
    Race(
        "the root completes",
        "jobs/revive_step",
        {"n": 9, "shard": "0"},
        change("t.status = 'completed'", "0"),
        lambda seen: seen.one["status"] == "pending" and seen.one["ready"] == 2,
        REVIVED,
        [("1", "0", "cancel")],
        breaks=True,
    ),
    Race(
        "released and claimed",
        "jobs/blocked_sweep",
        {"n": 9},
        change("t.status = 'running', t.deps_left = NULL"),
        lambda seen: seen.row["healed"] == [] and seen.one["status"] == "running",
        [BLOCKED],
        breaks=True,
    ),
    Race(
        "claimed",
        "jobs/heal_ready",
        {"types": ["a"], "n": 9},
        change(CLAIMED),
        lambda seen: seen.row["healed"] == [] and "ready" not in seen.one,
        [PENDING],
    ),
    Race(
        "healed and claimed",
        "jobs/heal_lost",
        {"after": "", "n": 9},
        change("t.status = 'running'"),
        lambda seen: seen.row["healed"] == [] and "ready" not in seen.one,
        [task("1", "pending", ready=None)],
        breaks=True,
    ),
]
GATES = [
    Race(
        "another is admitted",
        "gates/admit",
        {"gates": [["default", "g"]]},
        "MATCH (g:Gate) SET g.lock_v = 0 CREATE (:Task {uid: '7', space: 'default', gate_held: 'g'})",
        lambda seen: not any(row["admitted"] for row in seen.rows) and seen.one["gate_waiting"] == "g",
        [WAITING],
        more=GATE,
        breaks=True,
    ),
    Race(
        "cancelled",
        "gates/admit",
        {"gates": [["default", "g"]]},
        change(f"t.gate_waiting = NULL, {CANCELLED}"),
        lambda seen: (
            not any(row["admitted"] for row in seen.rows) and "ready" not in seen.one and "gate_held" not in seen.one
        ),
        [WAITING],
        more=GATE,
        breaks=True,
    ),
    Race(
        "an enqueue needs it",
        "jobs/forget_gates",
        {"n": 9},
        "MATCH (g:Gate) SET g.lock_v = 0, g.used_at = timestamp()",
        lambda seen: seen.row["n"] == 0,
        more=UNUSED_GATE,
        breaks=True,
    ),
    Race(
        "a person sets it",
        "gates/ensure",
        {"gates": [{"space": "default", "key": "g", "limit": 1, "rate": None, "period_ms": None, "typed": False}]},
        "MATCH (g:Gate) SET g.lock_v = 0, g.limit = 7, g.used_at = NULL",
        lambda seen: seen.row["used_at"] is None,
        more=UNUSED_GATE,
        breaks=True,
    ),
]
KEYS = [
    Race(
        "an enqueue says that it needs the gate",
        "jobs/forget_gates",
        {"n": 9},
        "MATCH (g:Gate) SET g.lock_v = 0, g.used_at = timestamp()",
        lambda seen: seen.row["n"] == 0,
        more="CREATE (:Gate {space: 'default', key: 'g', limit: 1, used_at: 1})",
        breaks=True,
    ),
    Race(
        "a person sets the limits",
        "gates/ensure",
        {"gates": [{"space": "default", "key": "g", "limit": 1, "rate": None, "period_ms": None, "typed": False}]},
        "MATCH (g:Gate) SET g.lock_v = 0, g.limit = 7, g.used_at = NULL",
        lambda seen: seen.row["used_at"] is None,
        more="CREATE (:Gate {space: 'default', key: 'g', limit: 1, used_at: 1})",
        breaks=True,
    ),
    Race(
        "the key changes hands",
        "jobs/forget_keys",
        {"n": 9},
        "MATCH (k:UniqueKey) SET k.lock_v = 0, k.until = timestamp() + 99999",
        lambda seen: seen.row["n"] == 0,
        more="CREATE (:UniqueKey {space: 'default', key: 'k', uid: '0', until: 1})",
        breaks=True,
    ),
    Race(
        "another takes the start",
        "gates/reserve",
        {"space": "default", "key": "r", "rate": 1, "period_ms": 60_000},
        "MATCH (l:Limiter) SET l.lock_v = 0, l.starts = [timestamp()]",
        lambda seen: seen.row["wait_ms"] > 30_000,
        more="CREATE (:Limiter {space: 'default', key: 'r'})",
        breaks=True,
    ),
]
RACES = [*KEYS, *SWEEPS, *GATES]
