"""Rows of the database as what every surface shows: stable keys, times in ISO 8601 UTC, JSON text read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from kgsched.core.priority import NAMES
from kgsched.core.times import show_instant

Record = dict[str, Any]

_TASK_TIMES = (
    "eta",
    "due_at",
    "slot",
    "enqueued_at",
    "started_at",
    "finished_at",
    "lease_expires_at",
    "cancel_requested_at",
)
TASK_KEYS = (
    "id",
    "uid",
    "space",
    "type",
    "lane",
    "status",
    "priority",
    "prio_bucket",
    "weight",
    "attempts",
    "max_attempts",
    "claims",
    "eta",
    "due_at",
    "enqueued_at",
    "started_at",
    "finished_at",
    "worker_id",
    "lease_expires_at",
    "last_error",
    "schedule",
    "slot",
    "source",
    "key",
    "cancelled_because",
    "cancel_requested_at",
    "deps_left",
    "gate_waiting",
)


def read_json(text: str | None) -> Any:
    """The value of stored JSON text; text that is none stays as it is."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except ValueError:
        return text


def with_times(row: Mapping[str, Any], names: tuple[str, ...]) -> Record:
    """The row with the instants of these names as text."""
    return {name: show_instant(value) if name in names else value for name, value in row.items()}


def priority_name(bucket: int | None) -> str | None:
    return None if bucket is None else NAMES[bucket]


def task_record(row: Mapping[str, Any]) -> Record:
    """A task as lists show it; every key of TASK_KEYS is there."""
    named = {**row, "priority": priority_name(row.get("prio_bucket"))}
    return with_times({key: named.get(key) for key in TASK_KEYS}, _TASK_TIMES)


def attempt_record(row: Mapping[str, Any]) -> Record:
    """A run that did not complete at the first claim, one that reported too late, a cancel that was undone, a retry."""
    keys = ("number", "worker", "started_at", "ended_at", "outcome", "late", "kind", "message", "traceback", "log")
    shown = {key: row.get(key) for key in keys} | {"result": read_json(row.get("result"))}
    return with_times(shown, ("started_at", "ended_at"))


def result_record(row: Mapping[str, Any]) -> Record:
    """Where a task stands, for those who wait for it."""
    keys = ("id", "uid", "status", "attempts", "last_error")
    shown = {key: row.get(key) for key in keys}
    return shown | {"result": read_json(row.get("result")), "progress": read_json(row.get("progress"))}
