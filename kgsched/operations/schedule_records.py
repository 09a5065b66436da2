"""Schedules as surfaces show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from kgsched.core.desired import BUILT_IN_TYPE
from kgsched.core.schedule import ScheduleState
from kgsched.core.times import show_duration, show_instant
from kgsched.core.triggers import describe
from kgsched.errors import UsageError
from kgsched.operations.records import Record, priority_name, read_json

PREVIEW = 5


def schedule_record(row: Mapping[str, Any]) -> Record:
    """One line of the list."""
    node = row["schedule"]
    payload = read_json(node.get("payload"))
    job = payload.get("job") if node.get("type") == BUILT_IN_TYPE and isinstance(payload, dict) else None
    return {
        "name": node["name"],
        "enabled": bool(node.get("enabled")),
        "trigger": node.get("trigger"),
        "timezone": node.get("timezone"),
        "when": _words(node),
        "type": node.get("type"),
        "job": job,
        "lane": node.get("lane"),
        "priority": priority_name(node.get("prio_bucket")),
        "prio_bucket": node.get("prio_bucket"),
        "next_run": show_instant(node.get("next_run")),
        "last_run": show_instant(node.get("last_run")),
        "last_outcome": node.get("last_outcome"),
        "consecutive_failures": node.get("consecutive_failures") or 0,
        "backoff_until": show_instant(node.get("backoff_until")),
        "paused_why": node.get("paused_why"),
        "waiting": row.get("waiting"),
        "version": node.get("version"),
    }


def full_schedule_record(row: Mapping[str, Any], revisions: Sequence[Mapping[str, Any]]) -> Record:
    """A schedule with its options, its next runs and its last changes."""
    node = row["schedule"]
    return {
        **schedule_record(row),
        "space": node["space"],
        "payload": read_json(node.get("payload")),
        "description": node.get("description"),
        "overlap": node.get("overlap"),
        "catch_up": node.get("catch_up"),
        "catch_up_window": _duration(node.get("catch_up_window_ms")),
        "jitter": _duration(node.get("jitter_ms")),
        "start": show_instant(node.get("start")),
        "end": show_instant(node.get("end")),
        "pause_after_failures": node.get("pause_after_failures"),
        "last_slot": show_instant(node.get("last_slot")),
        "last_reason": node.get("last_reason"),
        "missed": node.get("missed") or 0,
        "from_file": node.get("desired") is not None,
        "created_at": show_instant(node.get("created_at")),
        "changed_at": show_instant(node.get("changed_at")),
        "next_runs": next_runs(node, row["now"]),
        "revisions": [
            {**{key: one.get(key) for key in ("number", "by", "note", "trigger", "enabled")}}
            | {"at": show_instant(one.get("at")), "priority": priority_name(one.get("prio_bucket"))}
            for one in revisions
        ],
    }


def _words(node: Mapping[str, Any]) -> str:
    try:
        return describe(_state(node).trigger)
    except (UsageError, ValueError, KeyError) as error:
        return f"broken: {error}"


def next_runs(node: Mapping[str, Any], now: int, count: int = PREVIEW) -> list[str | None]:
    """The slots that follow if it is enabled; its wait after failures is not taken into account."""
    try:
        state = _state(node)
    except (UsageError, ValueError, KeyError):
        return []
    after = max(now, (state.start or 0) - 1, state.last_slot or 0)
    slots = islice(state.trigger.upcoming(after), count)
    return [show_instant(slot) for slot in slots if state.end is None or slot <= state.end]


def _state(node: Mapping[str, Any]) -> ScheduleState:
    return ScheduleState.of(node)


def _duration(millis: int | None) -> str | None:
    return None if millis is None else show_duration(millis)
