"""Races of claims and leases."""

from __future__ import annotations

from typing import Any

from tests.store.races.parts import (
    CANCEL_ASKED,
    CANCELLED,
    CLAIM,
    CLAIMED,
    PENDING,
    REAPED,
    RECLAIMED,
    RUNNING,
    change,
)
from tests.store.races.race import Race
from tests.store.worlds.making import LANE

CAPPED = {**CLAIM, "lane": LANE}
ONE_SLOT = f"CREATE (:Lane {{name: '{LANE}', cap: 1}})"
TAKE_SLOT = f"MATCH (l:Lane) SET l.lock_v = 0 CREATE (:Task {{uid: '7', running_lane: '{LANE}', session: 'z'}})"
BEAT: dict[str, Any] = {
    "claims": [{"uid": "1", "token": "mine", "lease_ms": 60_000}],
    "session": "s",
    "lanes": [LANE],
    "known": ["1"],
    "stranger_age_ms": 5,
}

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
RACES = [*CLAIMS, *LEASES]
