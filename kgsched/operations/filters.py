"""The filter of lists and bulk commands, from what a person wrote."""

from __future__ import annotations

from collections.abc import Sequence

from kgsched.core.lanes import LANES
from kgsched.core.limits import MAX_KEY, check_text
from kgsched.core.states import Status
from kgsched.core.task_filter import TaskFilter
from kgsched.core.times import parse_duration, parse_instant
from kgsched.errors import InvalidValue, UnknownName


def read_filter(
    *,
    statuses: Sequence[str] = (),
    types: Sequence[str] = (),
    schedule: str | None = None,
    source: str | None = None,
    lane: str | None = None,
    since: str | int | None = None,
    now: int | None = None,
) -> tuple[TaskFilter, tuple[str, ...]]:
    """The filter, and notes on how it was read.

    since: an instant, epoch ms, or a duration back from `now` (epoch ms). Raises UnknownName or InvalidValue.
    """
    if lane is not None and lane not in LANES:
        raise UnknownName("lane", lane, LANES)
    moment, notes = _since(since, now)
    chosen = TaskFilter(
        statuses=tuple(_status(one) for text in statuses for one in _parts(text)) or None,
        types=tuple(check_text("task type", one) for one in types) or None,
        schedule=None if schedule is None else check_text("schedule", schedule),
        source=None if source is None else check_text("source", source, MAX_KEY),
        lane=lane,
        since=moment,
    )
    return chosen, notes


def _parts(text: str) -> list[str]:
    """Names between commas; a comma too many says nothing."""
    return [one for one in text.split(",") if one.strip()] or [text]


def _status(text: str) -> str:
    name = text.strip().lower().replace("-", "_")
    if name not in set(Status):
        raise UnknownName("status", text, [one.value for one in Status])
    return name


def _since(since: str | int | None, now: int | None) -> tuple[int | None, tuple[str, ...]]:
    if since is None or isinstance(since, int):
        return since, ()
    if not since[:1].isdigit() or (since[-1:].isalpha() and "T" not in since.upper()[:-1]):
        try:
            return (now or 0) - parse_duration(since), ()
        except InvalidValue:
            what = "neither an instant like 2026-11-30T21:00:00Z nor a duration back from now like 2h"
            raise InvalidValue(f"since {since!r} is {what}") from None
    try:
        moment, naive = parse_instant(since)
    except InvalidValue as error:
        raise InvalidValue(f"since: {error}; a duration like 2h goes back from now") from None
    return moment, (f"since {since!r} has no offset; it was read as UTC",) if naive else ()
