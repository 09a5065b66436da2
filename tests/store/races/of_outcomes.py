"""Races of how claims end."""

from __future__ import annotations

from tests.store.races.parts import (
    BLOCKED,
    CANCEL_ASKED,
    CANCELLED,
    FINISHED,
    REAPED,
    RECLAIMED,
    RUNNING,
    acks,
    change,
    task,
)
from tests.store.races.race import Race

PARENT = task("0", "running", claim_token="parents")
OF_PARENT = acks("completed", "0", "parents")
NEW_CHILD = """MATCH (p:Task {uid: '0'}) SET p.lock_v = 0
  CREATE (c:Task {uid: '5', status: 'blocked', deps_left: 1, prio_bucket: 2})
  CREATE (c)-[:DEPENDS_ON {on_failure: 'cancel', met: false}]->(p)"""


RACES = [
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
