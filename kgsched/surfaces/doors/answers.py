"""What callers get, action by action. Instants are ISO 8601 texts in UTC."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from kgsched.surfaces.doors.fields import Answer


class ShortTask(Answer):
    """A task on one line."""

    id: str
    type: str
    status: str
    priority: str | None
    attempts: int | None
    enqueued_at: str | None
    last_error: str | None


class TaskItem(ShortTask):
    """A task as lists show it."""

    uid: str
    space: str
    lane: str | None
    prio_bucket: int | None
    weight: int | None
    max_attempts: int | None
    claims: int | None
    eta: str | None
    due_at: str | None
    started_at: str | None
    finished_at: str | None
    worker_id: str | None
    lease_expires_at: str | None
    schedule: str | None
    slot: str | None
    source: str | None
    key: str | None
    cancelled_because: str | None
    cancel_requested_at: str | None
    deps_left: int | None
    gate_waiting: str | None


class TaskRun(Answer):
    """One run of a task that did not complete at the first claim, a cancel that was undone, or a retry by a person."""

    number: int | None
    worker: str | None
    started_at: str | None
    ended_at: str | None
    outcome: str | None
    kind: str | None
    message: str | None
    traceback: str | None
    log: list[str] | None


class TimelineEvent(Answer):
    """Something that happened to a task."""

    at: str | None
    event: str
    detail: str | None


class TaskDetails(TaskItem):
    """A task with its payload, result, runs, neighbours and timeline."""

    payload: Any
    result: Any
    progress: Any
    trace: str | None
    releases: int
    snoozes: int
    crashes: int
    waits_for: list[dict[str, Any]]
    dependents: int
    spawned: list[str]
    produced: list[dict[str, Any]]
    attempt_history: list[TaskRun]
    timeline: list[TimelineEvent]


class TaskPage(Answer):
    """Tasks, newest first."""

    items: list[TaskItem]
    next_cursor: str | None


class ShortTaskPage(Answer):
    """Tasks on one line each, newest first."""

    items: list[ShortTask]
    next_cursor: str | None = Field(description="Pass it as cursor for the next page; null: that is all.")


class EnqueuedTask(Answer):
    """The task that stands for a request; `answer` says whether it is new."""

    id: str
    uid: str
    answer: str
    status: str | None
    notes: list[str]


class EnqueuedTasks(Answer):
    """In the order of the requests."""

    tasks: list[EnqueuedTask]


class ChangedTask(Answer):
    """What a change came to for one task; refused says why nothing happened."""

    id: str
    uid: str
    answer: str
    status: str | None
    refused: str | None
    detail: str | None


class ChangedTasks(Answer):
    """In the order of the ids."""

    tasks: list[ChangedTask]


class TaskOutcome(Answer):
    """Where a task stands."""

    id: str
    uid: str
    status: str
    attempts: int | None
    last_error: str | None
    result: Any
    progress: Any


class WaitedTasks(Answer):
    """done: all of them are over."""

    tasks: list[TaskOutcome]
    done: bool


class ScheduleItem(Answer):
    """A schedule as lists show it."""

    name: str
    enabled: bool
    trigger: str | None
    timezone: str | None
    when: str
    type: str | None
    job: str | None
    lane: str | None
    priority: str | None
    prio_bucket: int | None
    next_run: str | None
    last_run: str | None
    last_outcome: str | None
    consecutive_failures: int
    backoff_until: str | None
    paused_why: str | None
    waiting: str | None
    version: int | None


class ScheduleDetails(ScheduleItem):
    """A schedule with its options, next runs and last changes."""

    space: str
    payload: Any
    description: str | None
    overlap: str | None
    catch_up: str | None
    catch_up_window: str | None
    jitter: str | None
    start: str | None
    end: str | None
    pause_after_failures: int | None
    last_slot: str | None
    last_reason: str | None
    missed: int
    from_file: bool
    created_at: str | None
    changed_at: str | None
    next_runs: list[str]
    revisions: list[dict[str, Any]]


class Schedules(Answer):
    """By name."""

    schedules: list[ScheduleItem]


class ScheduleShown(Answer):
    """One schedule in full."""

    schedule: ScheduleDetails


class ScheduleChanged(Answer):
    """A schedule after a change, and what one should know about it."""

    schedule: ScheduleItem
    notes: list[str]


class TickMade(Answer):
    """The tick that stands for a run-now. It is queued, not done; coalesced: one that had not run yet was taken."""

    schedule: str
    id: str
    uid: str
    coalesced: bool


class NextRuns(Answer):
    """Slots, if the schedule is enabled until then."""

    name: str
    next_runs: list[str]


class WorkItem(Answer):
    """A task in the words of work items. priority: higher first. reason: of failed ones, how they ended."""

    id: str
    kind: str
    status: str
    priority: int
    attempts: int
    worker_id: str | None
    lease_expires_at: str | None
    run_after: str | None
    last_error: str | None
    reason: str | None


class WorkItems(Answer):
    """Newest first."""

    items: list[WorkItem]
    next_cursor: str | None


class WorkItemQueued(Answer):
    """A work item that was brought back. It is queued, not done."""

    id: str
    status: str
    queued: bool
    message: str
