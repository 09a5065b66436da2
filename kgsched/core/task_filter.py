"""Which tasks a list or a bulk command is about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """What to list; None is any. `since` is epoch ms of the enqueue."""

    statuses: tuple[str, ...] | None = None
    types: tuple[str, ...] | None = None
    schedule: str | None = None
    source: str | None = None
    lane: str | None = None
    since: int | None = None
