"""Task types and jobs that this process handles."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from inspect import iscoroutinefunction
from typing import Any, Literal

from kgsched.core.backoff import Backoff
from kgsched.core.claiming import TypeRule
from kgsched.core.lanes import DEFAULT_LANE, LANES
from kgsched.core.limits import check_text
from kgsched.core.task import Limits
from kgsched.errors import InvalidValue, UnknownName

Executor = Literal["async", "thread", "process"]
Handler = Callable[..., Any]
SCHEDULED_JOB = "scheduled_job"


@dataclass(frozen=True, slots=True)
class TaskType:
    """A type: its handler and its rules. Durations are milliseconds; None takes the process's default."""

    name: str
    handler: Handler
    lane: str = DEFAULT_LANE
    executor: Executor | None = None
    max_attempts: int | None = None
    timeout_ms: int | None = None
    deadline_ms: int | None = None
    lease_ms: int | None = None
    grace_ms: int | None = None
    beat_ms: int | None = None
    max_share: float = 1.0
    backoff: Backoff | None = None
    permanent: tuple[type[BaseException], ...] = ()
    transient: tuple[type[BaseException], ...] = ()
    memory_mb: int | None = None
    limits: Limits | None = None

    def __post_init__(self) -> None:
        check_text("task type", self.name)
        if self.lane not in LANES:
            raise UnknownName("lane", self.lane, LANES)
        object.__setattr__(self, "executor", self._checked_executor())
        if self.max_attempts is not None and self.max_attempts < 1:
            raise InvalidValue(f"max_attempts of type {self.name!r} must be at least 1, not {self.max_attempts!r}")

    def _checked_executor(self) -> Executor:
        """A coroutine function runs on the handlers' event loop, a plain one in a thread, unless said otherwise."""
        coroutine = iscoroutinefunction(self.handler) or iscoroutinefunction(type(self.handler).__call__)
        if self.executor is None:
            return "async" if coroutine else "thread"
        if self.executor not in ("async", "thread", "process"):
            raise InvalidValue(
                f"executor of type {self.name!r} must be async, thread or process, not {self.executor!r}"
            )
        if self.executor == "async" and not coroutine:
            raise InvalidValue(
                f"task type {self.name!r}: a plain function with executor='async' would block all others; "
                "make it a coroutine function, or leave executor out: it then runs in a thread"
            )
        return self.executor

    def rule(self, default_lease_ms: int, default_grace_ms: int = 60_000) -> TypeRule:
        """What claiming needs; a longer deadline lengthens the lease."""
        lease = max(self.lease_ms or default_lease_ms, self.deadline_ms or 0)
        grace = default_grace_ms if self.grace_ms is None else self.grace_ms
        return TypeRule(self.lane, lease, self.max_share, grace)


JobBody = Callable[[Any], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Job:
    """Recurring work that runs by name, inside a tick or by `kgsched jobs run`. The body takes a context."""

    name: str
    body: JobBody
    description: str = ""


@dataclass(slots=True)
class Registry:
    """Types and jobs by name. Adding a name twice is an error unless it is the same handler."""

    _types: dict[str, TaskType] = field(default_factory=dict)
    _jobs: dict[str, Job] = field(default_factory=dict)
    _limiters: dict[str, Limits] = field(default_factory=dict)

    def add(self, task_type: TaskType) -> None:
        known = self._types.get(task_type.name)
        if known is not None and known.handler is not task_type.handler:
            raise InvalidValue(f"task type {task_type.name!r} is registered twice; give one of the two another name")
        self._types[task_type.name] = task_type

    def add_job(self, job: Job) -> None:
        self._jobs[job.name] = job

    def add_limiter(self, key: str, limits: Limits) -> None:
        """Declare what `ctx.limit(key)` waits for; the newest declaration stands."""
        self._limiters[check_text("limiter", key)] = limits

    def limiter(self, key: str) -> Limits:
        try:
            return self._limiters[key]
        except KeyError:
            raise UnknownName("limiter", key, self._limiters) from None

    def get(self, name: str) -> TaskType:
        try:
            return self._types[name]
        except KeyError:
            raise UnknownName("task type", name, self._types) from None

    def find(self, name: str) -> TaskType | None:
        return self._types.get(name)

    def job(self, name: str) -> Job:
        try:
            return self._jobs[name]
        except KeyError:
            raise UnknownName("job", name, self._jobs) from None

    def names(self) -> tuple[str, ...]:
        return tuple(sorted(self._types))

    def jobs(self) -> tuple[Job, ...]:
        return tuple(self._jobs[name] for name in sorted(self._jobs))

    def __iter__(self) -> Iterator[TaskType]:
        return iter(self._types[name] for name in sorted(self._types))

    def handler_of(self, handler: Handler) -> TaskType:
        """The type that a handler was registered under."""
        for task_type in self._types.values():
            if task_type.handler is handler:
                return task_type
        raise UnknownName("task type", getattr(handler, "__qualname__", repr(handler)), self._types)


def millis(value: timedelta | float | None) -> int | None:
    """Milliseconds of a timedelta or of seconds."""
    if value is None:
        return None
    seconds = value.total_seconds() if isinstance(value, timedelta) else float(value)
    if not seconds > 0:
        raise InvalidValue(f"a duration must be positive, not {value!r}")
    return round(seconds * 1000)


def classes(value: Iterable[type[BaseException]] | type[BaseException]) -> tuple[type[BaseException], ...]:
    return (value,) if isinstance(value, type) else tuple(value)
