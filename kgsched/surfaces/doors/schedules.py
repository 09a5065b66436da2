"""Schedules: list, show, preview, run now, and changes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any

from kgsched.core.access import Scope
from kgsched.operations.schedules import ScheduleChange
from kgsched.surfaces.doors import answers, arguments
from kgsched.surfaces.doors.action import Action, Desk
from kgsched.surfaces.doors.fields import Answer, Arguments


async def _list(desk: Desk, _: arguments.Nothing) -> dict[str, Any]:
    return {"schedules": await desk.operations.schedules.list_schedules()}


async def _show(desk: Desk, given: arguments.OneSchedule) -> dict[str, Any]:
    return {"schedule": await desk.operations.schedules.show(given.name)}


async def _preview(desk: Desk, given: arguments.Preview) -> dict[str, Any]:
    return {"name": given.name, "next_runs": await desk.operations.schedules.preview(given.name, given.count)}


async def _enable(desk: Desk, given: arguments.OneSchedule) -> dict[str, Any]:
    return changed(await desk.operations.schedules.enable(given.name, desk.caller.by))


async def _disable(desk: Desk, given: arguments.OneSchedule) -> dict[str, Any]:
    return changed(await desk.operations.schedules.disable(given.name, desk.caller.by))


async def _prioritize(desk: Desk, given: arguments.PrioritizeSchedule) -> dict[str, Any]:
    return changed(await desk.operations.schedules.prioritize(given.name, given.priority, desk.caller.by))


async def _set_interval(desk: Desk, given: arguments.SetInterval) -> dict[str, Any]:
    return changed(await desk.operations.schedules.set_interval(given.name, given.interval_s, desk.caller.by))


async def _run_now(desk: Desk, given: arguments.RunNow) -> dict[str, Any]:
    done = await desk.operations.schedules.run_now(
        given.name, priority=given.priority, payload=given.payload, mark=desk.mark
    )
    return asdict(done)


def changed(change: ScheduleChange) -> dict[str, Any]:
    """A change as callers see it."""
    return {"schedule": change.schedule, "notes": list(change.notes)}


def _reading(
    name: str,
    summary: str,
    takes: type[Arguments],
    gives: type[Answer],
    run: Callable[..., Awaitable[Any]],
) -> Action:
    return Action(name, summary, takes, gives, Scope.READ_SCHEDULE, run, reads=True, repeatable=True)


def _change(
    name: str,
    summary: str,
    takes: type[Arguments],
    run: Callable[..., Awaitable[Any]],
    destroys: bool = False,
) -> Action:
    scope = Scope.WRITE_SCHEDULE
    return Action(name, summary, takes, answers.ScheduleChanged, scope, run, destroys=destroys, repeatable=True)


LIST = _reading("list", "all schedules", arguments.Nothing, answers.Schedules, _list)
SHOW = _reading("show", "one with its options and last changes", arguments.OneSchedule, answers.ScheduleShown, _show)
PREVIEW = _reading("preview", "its next runs", arguments.Preview, answers.NextRuns, _preview)
ENABLE = _change("enable", "let it run again; failures are forgotten", arguments.OneSchedule, _enable)
DISABLE = _change("disable", "stop it from running by itself", arguments.OneSchedule, _disable, destroys=True)
PRIORITIZE = _change("prioritize", "the priority of its later ticks", arguments.PrioritizeSchedule, _prioritize)
SET_INTERVAL = _change(
    "set_interval", "a new interval; a cron schedule becomes one", arguments.SetInterval, _set_interval, destroys=True
)
RUN_NOW = Action(
    "run_now",
    "run it once, now; the answer is the id of the queued task, its end is told by get_task or wait",
    arguments.RunNow,
    answers.TickMade,
    Scope.WRITE_SCHEDULE,
    _run_now,
)
