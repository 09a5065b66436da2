"""What happened to a task, in order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kgsched.core.states import Status
from kgsched.core.times import show_instant
from kgsched.operations.records import Record, attempt_record, read_json, task_record

MOST_RUNS = 100  # as tasks/show returns them


def full_record(row: Mapping[str, Any]) -> Record:
    """One task with its payload, result, attempts, neighbours and timeline."""
    task = {**row["task"], "cancelled_because": row["because"] or row["task"].get("cancelled_because")}
    return {
        **task_record(task),
        "payload": read_json(task.get("payload")),
        "result": read_json(task.get("result")),
        "progress": read_json(task.get("progress")),
        "trace": task.get("trace"),
        "releases": task.get("releases") or 0,
        "snoozes": task.get("snoozes") or 0,
        "crashes": task.get("crashes") or 0,
        "late_finishes": task.get("late_finishes") or 0,
        "archived_at": show_instant(task.get("archived_at")),
        "waits_for": list(row["waits_for"]),
        "dependents": row["dependents"],
        "spawned": list(row["spawned"]),
        "produced": list(row["produced"]),
        "attempt_history": [attempt_record(one) for one in reversed(row["attempts"])],
        "timeline": timeline(task, row["attempts"]),
    }


def timeline(task: Mapping[str, Any], attempts: list[Mapping[str, Any]]) -> list[Record]:
    """Events {at, event, detail}, oldest first."""
    events: list[tuple[int, str, str | None]] = [(task.get("enqueued_at") or 0, "enqueued", _wish(task))]
    ended_runs: set[int] = set()
    for one in attempts:
        if one.get("outcome") == "retried":
            events.append((one.get("ended_at") or 0, "retried", f"by {one.get('message') or 'a person'}"))
            continue
        if one.get("outcome") == "refused":
            events.append((one.get("ended_at") or 0, "late finish refused", _late(one)))
            continue
        if not one.get("started_at"):  # it did not run
            events.append((one.get("ended_at") or 0, str(one.get("outcome")), one.get("message")))
            continue
        ended_runs.add(int(one.get("number") or 0))
        events.append((one["started_at"], "started", f"run {one.get('number')} on {one.get('worker')}"))
        late = "late finish accepted" if one.get("late") else "run ended"
        outcome = "reaped" if one.get("outcome") == Status.PENDING else one.get("outcome")
        events.append((one.get("ended_at") or 0, f"{late}: {outcome}", _error(one)))
    if len(attempts) >= MOST_RUNS and min(ended_runs, default=1) > 1:
        events.append((events[0][0], "earlier runs", f"those before run {min(ended_runs)} are not shown"))
    if task.get("started_at") and task.get("claims") not in ended_runs:
        events.append((task["started_at"], "started", f"run {task.get('claims')} on {task.get('worker_id')}"))
    if task.get("cancel_requested_at"):
        events.append((task["cancel_requested_at"], "cancel asked for", None))
    ends = {one.get("ended_at") for one in attempts if one.get("outcome") == task.get("status")}
    if task.get("finished_at") and task["finished_at"] not in ends:
        because = task.get("cancelled_because")
        events.append((task["finished_at"], str(task["status"]), f"because of {because}" if because else None))
    order = sorted(enumerate(events), key=lambda pair: (pair[1][0], pair[0]))
    return [{"at": show_instant(at), "event": event, "detail": detail} for _, (at, event, detail) in order]


def _wish(task: Mapping[str, Any]) -> str | None:
    return f"not before {show_instant(task['eta'])}" if task.get("eta") else None


def _late(attempt: Mapping[str, Any]) -> str:
    return f"run {attempt.get('number')} on {attempt.get('worker')} {attempt.get('message')}"


def _error(attempt: Mapping[str, Any]) -> str | None:
    parts = [str(attempt[name]) for name in ("kind", "message") if attempt.get(name)]
    if attempt.get("kind") == "worker_lost":
        return "lease and grace were over: the worker was lost"
    return ": ".join(dict.fromkeys(parts)) or None
