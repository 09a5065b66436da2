"""What making, editing and enabling a schedule writes besides the fields given."""

from __future__ import annotations

import pytest

from kgsched.core.schedule import ScheduleState, plan_fire
from kgsched.core.schedule_change import changed_fields, new_fields
from kgsched.errors import InvalidValue

NOW, HOUR = 1_800_000_000_123, 3_600_000
FIELDS = {"trigger": "every 1h", "enabled": True, "type": "t"}


def made(**fields: object) -> dict[str, object]:
    return {"space": "default", "name": "s", **new_fields("default", "s", {**FIELDS, **fields}, NOW)}


def test_new_schedule_has_its_phase_and_first_run_one_interval_on() -> None:
    fields = new_fields("default", "s", FIELDS, NOW)
    assert fields == {**FIELDS, "anchor": NOW, "next_run": NOW + HOUR, "every_ms": HOUR}
    later = {**made(), "created_at": NOW + 40}  # the database's clock, a little after the look at it
    plan = plan_fire(ScheduleState.of(later), NOW + HOUR + 100)
    assert ([tick.slot for tick in plan.ticks], plan.missed) == ([NOW + HOUR], 0)


def test_new_disabled_schedule_is_not_due() -> None:
    assert made(enabled=False)["next_run"] is None


def test_change_of_priority_keeps_next_run_and_one_of_the_interval_keeps_the_phase() -> None:
    assert changed_fields(made(), {"prio_bucket": 0}, NOW + 5)["next_run"] == NOW + HOUR
    faster = changed_fields(made(), {"trigger": "every 15m"}, NOW + HOUR // 2)
    assert faster == {"trigger": "every 15m", "next_run": NOW + 3 * HOUR // 4, "every_ms": HOUR // 4}
    assert changed_fields(made(), {"trigger": "cron 0 0 * * *"}, NOW)["every_ms"] is None


def test_enabling_clears_what_paused_it() -> None:
    off = {**made(enabled=False), "consecutive_failures": 4, "backoff_until": NOW + HOUR, "paused_why": "failed"}
    assert changed_fields(off, {"enabled": True}, NOW + 3 * HOUR) == {
        "enabled": True, "consecutive_failures": 0, "backoff_until": None, "paused_why": None,
        "next_run": NOW + 4 * HOUR, "every_ms": HOUR,
    }  # fmt: skip
    assert changed_fields(made(), {"enabled": False}, NOW) == {"enabled": False, "next_run": None, "every_ms": HOUR}


def test_broken_trigger_can_be_mended_but_not_made() -> None:
    broken = {**made(), "trigger": "cron 1 2 3", "enabled": False}
    assert changed_fields(broken, {"trigger": "every 1h", "enabled": True}, NOW)["next_run"] == NOW + HOUR
    with pytest.raises(InvalidValue, match="cron '1 2 3'"):
        changed_fields(made(), {"trigger": "cron 1 2 3"}, NOW)
