"""Pieces of which the races are made: task 1 in its states, what another transaction can do to it, parameters."""

from __future__ import annotations

from typing import Any

from tests.store.worlds.making import LANE

BASE = {
    "space": "default",
    "type": "a",
    "lane": LANE,
    "prio_bucket": 2,
    "weight": 0,
    "rank": 400 * 10**16 + 5,
    "payload": "{}",
    "attempts": 0,
    "claims": 0,
    "max_attempts": 3,
    "enqueued_at": 1,
}
HELD = {"lease_expires_at": 1, "running_lane": LANE, "session": "s", "worker_id": "w", "started_at": 1, "grace_ms": 0}
RULES = {"a": {"lane": LANE, "lease_ms": 9999, "grace_ms": 0}}
CLAIM = {"rules": RULES, "n": 5, "token": "new", "worker": "w", "session": "s"}


def task(uid: str, status: str, **fields: Any) -> dict[str, Any]:
    """A task with the properties that its status asks for."""
    states: dict[str, dict[str, Any]] = {
        "pending": {"ready": 2},
        "scheduled": {"due_at": 1},
        "blocked": {"deps_left": 1},
        "running": {**HELD, "claim_token": "mine", "attempts": 1, "claims": 1},
        "completed": {"finished_at": 1},
        "failed": {"finished_at": 1, "failed_at": 1},
        "cancelled": {"finished_at": 1},
    }
    return {**BASE, "uid": uid, "id": uid, "status": status, **states[status], **fields}


PENDING = task("1", "pending")
RUNNING = task("1", "running")
FAILED = task("1", "failed")
BLOCKED = task("1", "blocked")


def change(what: str, uid: str = "1") -> str:
    """The other transaction's write to one task."""
    return f"MATCH (t:Task {{uid: '{uid}'}}) SET {what}"


CLAIMED = "t.status = 'running', t.ready = NULL, t.tick_of = NULL, t.claim_token = 'other', t.claims = 1"
CANCELLED = "t.status = 'cancelled', t.finished_at = 1, t.ready = NULL, t.due_at = NULL, t.deps_left = NULL"
NOT_HELD = "t.claim_token = NULL, t.lease_expires_at = NULL, t.running_lane = NULL, t.last_token = 'mine'"
REAPED = f"t.status = 'pending', t.ready = 2, t.last_outcome = 'reaped', {NOT_HELD}"
FINISHED = f"t.status = 'completed', t.finished_at = 7, t.last_outcome = 'completed', {NOT_HELD}"
RECLAIMED = "t.claim_token = 'other', t.claims = 2"
CANCEL_ASKED = "t.cancel_requested_at = 1"


def acks(outcome: str, uid: str = "1", token: str = "mine") -> dict[str, Any]:
    """Parameters of finish and reschedule for one acknowledgement."""
    error = None if outcome == "completed" else {"kind": "E", "message": "m", "traceback": None}
    ack = {"uid": uid, "token": token, "outcome": outcome, "result": "r", "error": error, "delay_ms": 0, "log": None}
    ack |= {"claims": 1, "worker": "w"}
    return {"acks": [ack], "shard": "0"}


def row(uid: str, *after: tuple[str, str], **fields: Any) -> dict[str, Any]:
    """A row to enqueue."""
    values: dict[str, Any] = dict.fromkeys(("eta", "source", "key", "gate", "trace", "spawned_by"))
    values |= {"uid": uid, "id": None, "space": "default", "type": "a", "lane": LANE, "payload": "{}"}
    values |= {"prio_bucket": 2, "weight": 0, "max_attempts": 3}
    values["after"] = [{"uid": parent, "on_failure": rule} for parent, rule in after]
    return values | fields
