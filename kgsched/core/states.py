"""States of a task, and which are final."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """State of a task, as stored in `Task.status`."""

    PENDING = "pending"
    RUNNING = "running"
    SCHEDULED = "scheduled"
    BLOCKED = "blocked"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    DEAD_LETTER = "dead_letter"

    @property
    def terminal(self) -> bool:
        return self in TERMINAL


TERMINAL = frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED, Status.DEAD_LETTER})
LIVE = frozenset(Status) - TERMINAL
RETRYABLE = frozenset({Status.FAILED, Status.DEAD_LETTER, Status.CANCELLED})
