"""Task types and jobs that this process handles."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from inspect import iscoroutinefunction
from typing import Any, Literal, TypeVar

from kgsched.core.backoff import Backoff
from kgsched.core.claiming import TypeRule
from kgsched.core.lanes import DEFAULT_LANE, LANES
from kgsched.core.limits import check_text
from kgsched.core.task import Limits
from kgsched.errors import InvalidValue, UnknownName

Executor = Literal["async", "thread", "process"]
Handler = Callable[..., Any]
SCHEDULED_JOB = "scheduled_job"
MOST_ATTEMPTS = 1000
LEAST_MEMORY_MB = 16
LONGEST_MS = 366 * 86_400_000
A = TypeVar("A")
B = TypeVar("B")


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
        attempts, memory = _is_whole(self.max_attempts, 1, MOST_ATTEMPTS), _is_whole(self.memory_mb, LEAST_MEMORY_MB)
        self._check("max_attempts", attempts, f"a whole number, 1 to {MOST_ATTEMPTS}")
        self._check("memory_mb", memory, f"whole megabytes, at least {LEAST_MEMORY_MB}")
        self._check("max_share", _is_share(self.max_share), "above 0 and at most 1")
        for name in ("permanent", "transient"):
            errors = all(isinstance(one, type) and issubclass(one, BaseException) for one in getattr(self, name))
            self._check(name, errors, "an exception class, or several")
        for name in ("timeout_ms", "deadline_ms", "lease_ms", "grace_ms", "beat_ms"):
            self._check(name, _is_whole(getattr(self, name), name != "grace_ms", LONGEST_MS), "1 ms to 366 days")

    def _check(self, name: str, good: bool, must: str) -> None:
        if not good:
            raise InvalidValue(f"{name} of task type {self.name!r} must be {must}, not {getattr(self, name)!r}")

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


def _is_whole(value: object, least: int, most: float = math.inf) -> bool:
    return value is None or (isinstance(value, int) and not isinstance(value, bool) and least <= value <= most)


def _is_share(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value <= 1


def millis(value: timedelta | float | None) -> int | None:
    """Milliseconds of a timedelta or of seconds."""
    if value is None:
        return None
    if isinstance(value, timedelta):
        value = value.total_seconds()
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.001 <= value <= LONGEST_MS / 1000:
        raise InvalidValue(f"a duration must be a timedelta or seconds, 1 ms to 366 days, not {value!r}")
    return round(value * 1000)


def pair(name: str, value: tuple[A, B]) -> tuple[A, B]:
    """A setting of two parts. Raises InvalidValue for anything else."""
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise InvalidValue(f"{name} must be two values, such as (30, 60), not {value!r}")
    return value[0], value[1]


def classes(value: Iterable[type[BaseException]] | type[BaseException]) -> tuple[type[BaseException], ...]:
    return (value,) if isinstance(value, type | str) or not isinstance(value, Iterable) else tuple(value)
