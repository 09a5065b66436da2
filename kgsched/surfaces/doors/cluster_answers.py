"""What callers get about what all share: lanes, types, workers, jobs, rows of queries."""

from __future__ import annotations

from typing import Any

from kgsched.surfaces.doors.fields import Answer


class QueryRows(Answer):
    """Rows of a query. cut: why there may be more (rows, bytes, time), null when that is all."""

    columns: list[str]
    rows: list[dict[str, Any]]
    count: int
    cut: str | None


class JobItem(Answer):
    """A job that can be run by name."""

    name: str
    description: str | None


class Jobs(Answer):
    """By name."""

    jobs: list[JobItem]


class JobReport(Answer):
    """What a job counted."""

    report: dict[str, Any]


class LaneItem(Answer):
    """A lane with its rules, its tasks by state, and who paused it."""

    name: str
    cap: int | None
    floor: int
    max_share: float
    reserved_share: float
    hot_spare: bool
    timeout: float | None
    paused: bool
    paused_at: str | None
    paused_by: str | None
    paused_why: str | None
    tasks: dict[str, int]


class TypeItem(Answer):
    """A task type that some worker has published."""

    name: str
    lane: str | None
    paused: bool
    paused_at: str | None
    paused_by: str | None
    paused_why: str | None


class Lanes(Answer):
    """Lanes and types."""

    lanes: list[LaneItem]
    types: list[TypeItem]


class Paused(Answer):
    """Whether claims of it are held back now."""

    name: str
    paused: bool


class WorkerItem(Answer):
    """A worker that counts as alive."""

    id: str
    host: str | None
    pid: int | None
    version: str | None
    mode: str | None
    slots: int | None
    running: int | None
    types: list[str]
    started_at: str | None
    seen_at: str | None
    silent_for: float


class Workers(Answer):
    """Those that count as alive."""

    workers: list[WorkerItem]
