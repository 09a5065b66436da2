"""What is written to a `:Schedule` besides the fields that somebody changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kgsched.core.schedule import ScheduleState, reschedule
from kgsched.core.triggers import Every
from kgsched.errors import UsageError

_FRESH = {"consecutive_failures": 0, "backoff_until": None, "paused_why": None}


def new_fields(space: str, name: str, fields: Mapping[str, Any], now: int) -> dict[str, Any]:
    """All properties of a schedule made now: the given ones, its phase and its first run."""
    anchored = {**fields, "anchor": now}
    return anchored | _due(None, ScheduleState.of({**anchored, "space": space, "name": name}), now)


def changed_fields(live: Mapping[str, Any], changes: Mapping[str, Any], now: int) -> dict[str, Any]:
    """The properties that a change writes; next_run only moves with the timing, and then to a later slot.

    Enabling clears failures and the reason of a pause. Raises InvalidValue or UnknownName for a bad trigger.
    """
    after = ScheduleState.of({**live, **changes})
    before = _readable(live)
    enables = after.enabled and not live.get("enabled", True)
    return {**changes, **(_FRESH if enables else {}), **_due(before, after, now)}


def _due(before: ScheduleState | None, after: ScheduleState, now: int) -> dict[str, Any]:
    interval = after.trigger.interval_ms if isinstance(after.trigger, Every) else None
    return {"next_run": reschedule(before, after, now), "every_ms": interval}


def _readable(live: Mapping[str, Any]) -> ScheduleState | None:
    """The state before; None when it is broken, which the change is then about to mend."""
    try:
        return ScheduleState.of(live)
    except (UsageError, ValueError):
        return None
