"""What callers may send, action by action."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AliasChoices, Field, JsonValue, model_validator

from kgsched.surfaces.doors.fields import (
    Arguments,
    Count,
    Cursor,
    Duration,
    Id,
    Ids,
    Key,
    LaneName,
    Name,
    Payload,
    Priority,
    ScheduleName,
    StatusName,
    Weight,
)

SHORT_PAGE = 20


class Nothing(Arguments):
    """No arguments."""


class ListTasks(Arguments):
    """Which tasks to list, newest first."""

    status: list[StatusName] | None = Field(default=None, min_length=1, description="Only these states.")
    type: list[Name] | None = Field(default=None, min_length=1, max_length=50, description="Only these types.")
    schedule: ScheduleName | None = None
    source: Key | None = Field(default=None, description="Only tasks about this source.")
    lane: LaneName | None = None
    since: Annotated[str, Field(max_length=60)] | None = Field(
        None, description="Enqueued since: an instant, or a duration back from now, like 2h."
    )
    limit: Count = SHORT_PAGE
    cursor: Cursor | None = None


class OneTask(Arguments):
    """Which task."""

    id: Id


class NewTask(Arguments):
    """A task to enqueue."""

    type: Name = Field(description="The task type: the name of its handler.", examples=["summarize"])
    payload: Payload = Field(default=None, examples=[{"paper": "arxiv:2601.00001"}])
    id: Id | None = Field(default=None, description="Unique in the space. Enqueuing it again is not an error.")
    priority: Priority | None = None
    weight: Weight = 0
    eta: Annotated[str, Field(max_length=60)] | None = Field(default=None, description="Not before this instant.")
    delay: Duration | None = None
    max_attempts: int | None = Field(default=None, ge=1, le=1000)
    source: Key | None = Field(default=None, description="What the task is about, a URL mostly.")
    key: Key | None = Field(default=None, description="Unique among the live tasks of the space.")
    unique_for: Duration | None = Field(default=None, description="How long the key stays taken; `ever` for ever.")
    on_conflict: Annotated[str, Field(pattern="^(existing|refuse|replace)$")] = "existing"
    gate: Name | None = Field(default=None, description="Concurrency key; its gate says how many run at once.")
    trace: Key | None = None
    after: list[Id] | None = Field(default=None, max_length=1000, description="Ids of tasks that must complete first.")
    on_failure: Annotated[str, Field(pattern="^(cancel|hold|ignore)$")] = Field(
        "cancel", description="What happens when one of `after` ends badly."
    )
    allow_unknown_type: bool = Field(False, description="Also a type that no worker has yet.")

    def request(self) -> dict[str, Any]:
        """Keywords of an EnqueueRequest."""
        return self.model_dump(include=set(NewTask.model_fields) - {"after"}) | {"after": tuple(self.after or ())}


class NewTasks(Arguments):
    """Tasks to enqueue; one may wait for the id of an earlier one."""

    tasks: list[NewTask] = Field(min_length=1, max_length=500)


class SomeTasks(Arguments):
    """Tasks by id."""

    ids: Ids


class PrioritizeTasks(Arguments):
    """Tasks by id, and their new priority."""

    ids: Ids
    priority: Priority
    weight: Weight | None = None


class WaitForTasks(Arguments):
    """Tasks to wait for."""

    ids: Ids
    timeout: Annotated[int, Field(ge=0, le=60)] | Annotated[float, Field(ge=0, le=60)] = Field(
        20, description="Seconds, 60 at most; ask again to wait longer."
    )


class OneSchedule(Arguments):
    """Which schedule."""

    name: ScheduleName


class PrioritizeSchedule(Arguments):
    """A schedule, and the priority of its later ticks."""

    name: ScheduleName
    priority: Priority


class SetInterval(Arguments):
    """A schedule, and its new interval."""

    name: ScheduleName
    interval_s: Duration = Field(
        validation_alias=AliasChoices("interval_s", "interval"),
        description="Seconds (at least 1), or a text like 15m, 2d.",
    )


class RunNow(Arguments):
    """A schedule to run once, now."""

    name: ScheduleName
    priority: Priority | None = None
    payload: Payload = Field(default=None, description="Instead of the schedule's own payload.")


class Preview(Arguments):
    """A schedule, and how many of its next runs to tell."""

    name: ScheduleName
    count: int = Field(5, ge=1, le=100)


class ChangeSchedule(Arguments):
    """What to change of a schedule; all or nothing."""

    enabled: bool | None = None
    priority: Priority | None = None
    interval: Duration | None = Field(default=None, description="Every so often; a cron schedule becomes an interval.")

    @model_validator(mode="after")
    def _something(self) -> ChangeSchedule:
        if self.enabled is None and self.priority is None and self.interval is None:
            raise ValueError("name at least one of enabled, priority, interval")
        return self


class Tick(Arguments):
    """How to run a schedule now."""

    priority: Priority | None = None
    payload: Payload = Field(default=None, description="Instead of the schedule's own payload.")


class Query(Arguments):
    """One Cypher statement that only reads."""

    query: str = Field(
        min_length=1,
        max_length=20_000,
        validation_alias=AliasChoices("query", "cypher", "statement"),
        examples=["MATCH (t:Task {status: 'failed'}) RETURN t.id, t.last_error LIMIT 10"],
    )
    params: dict[str, JsonValue] | None = Field(default=None, description="Values of its $parameters.")
    limit: int = Field(50, ge=1, le=1000, description="Rows at most.")


class OneJob(Arguments):
    """Which job."""

    name: Name = Field(examples=["promotion_sweep"])


class ListWorkItems(Arguments):
    """Which work items to list, newest first."""

    status: Annotated[str, Field(pattern="^(runnable|running|done|failed|cancelled)$")] | None = None
    kind: Name | None = Field(default=None, description="Only this kind (task type).")
    limit: Count = SHORT_PAGE
    cursor: Cursor | None = None


class OneWorkItem(Arguments):
    """Which work item."""

    id: Annotated[str, Field(min_length=1, max_length=140)] = Field(
        validation_alias=AliasChoices("id", "work_item_id"),
        description="Its id, `work_item:<uid>`.",
        examples=["work_item:0193a5d2-7c1e-7000-8000-000000000000"],
    )


class Pause(Arguments):
    """Why it is held back."""

    why: Annotated[str, Field(max_length=500)] | None = None
