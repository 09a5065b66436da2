"""What can be done with schedules."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgsched.config import Settings
from kgsched.core.desired import MergePlan, set_interval
from kgsched.core.limits import to_json
from kgsched.core.priority import NAMES, parse_priority
from kgsched.core.times import parse_duration
from kgsched.errors import Conflict, InvalidValue
from kgsched.operations import schedules_file
from kgsched.operations.records import Record
from kgsched.operations.schedule_changes import Applied, ScheduleWriter
from kgsched.operations.schedule_records import full_schedule_record, next_runs, schedule_record
from kgsched.ports import Store
from kgsched.registry import SCHEDULED_JOB, Registry

MAX_PREVIEW = 100


@dataclass(frozen=True, slots=True)
class RunNow:
    """The tick that stands for a run-now; coalesced: one that had not run yet was taken."""

    schedule: str
    id: str
    uid: str
    coalesced: bool


@dataclass(frozen=True, slots=True)
class ScheduleChange:
    """A schedule after a change, and what a person should know about it."""

    schedule: Record
    notes: tuple[str, ...]


class ScheduleOperations:
    """Schedules of one space. A change raises UnknownName for a name that does not exist."""

    def __init__(self, store: Store, registry: Registry, settings: Settings) -> None:
        self._store, self._registry, self._settings = store, registry, settings
        self._writer = ScheduleWriter(store, registry, settings.space)

    async def list_schedules(self) -> list[Record]:
        return [schedule_record(row) for row in await self._store.schedules.read(self._settings.space)]

    async def show(self, name: str) -> Record:
        """One schedule with its next runs and its last changes."""
        row = await self._writer.find(name)
        return full_schedule_record(row, await self._store.schedules.revisions(self._settings.space, name))

    async def check_name(self, name: str | None) -> None:
        """Raises UnknownName for a name that no schedule has; None is any."""
        if name is not None:
            await self._writer.find(name)

    async def run_now(
        self, name: str, *, priority: str | int | None = None, payload: Any = None, mark: str | None = None
    ) -> RunNow:
        """Enqueue a tick at once; the phase stays. Works on disabled and backed-off schedules.

        Where a tick has not run yet there is no second one: it is taken, its priority raised if asked. Under the same
        mark it is one tick. Raises UnknownName, or Conflict when that tick has another payload.
        """
        bucket = None if priority is None else parse_priority(priority)
        text = None if payload is None else to_json("payload", payload)
        if text is not None and (await self._writer.find(name))["schedule"].get("type") == SCHEDULED_JOB:
            raise InvalidValue(f"schedule {name!r} runs a built-in job, which takes no payload")
        row = await self._store.schedules.run_now(self._settings.space, name, text, bucket, mark=mark)
        if row is None:
            await self._writer.find(name)
            raise Conflict(f"schedule {name!r} was changed at this very moment; try again")
        if row["answer"] == "other_payload":
            raise Conflict(
                f"schedule {name!r} has a tick that has not run yet, {row['id']}, with another payload; "
                "wait for it or cancel it"
            )
        return RunNow(name, row["id"], row["uid"], row["answer"] == "coalesced")

    async def enable(self, name: str, by: str) -> ScheduleChange:
        """Let it run again, at its next slot; its failures are forgotten."""
        return await self._set(name, by, {"enabled": True})

    async def disable(self, name: str, by: str) -> ScheduleChange:
        return await self._set(name, by, {"enabled": False})

    async def prioritize(self, name: str, priority: str | int, by: str) -> ScheduleChange:
        """The priority of its later ticks; one that waits already keeps its own."""
        return await self._set(name, by, {"prio_bucket": parse_priority(priority)})

    async def set_interval(self, name: str, interval: str | float, by: str) -> ScheduleChange:
        """A new interval (a bare number is seconds); a cron schedule becomes an interval, and a note says so."""
        millis = parse_duration(interval, "interval")
        return await self._change(name, by, lambda live: set_interval(name, live, millis))

    async def change(
        self,
        name: str,
        by: str,
        *,
        enabled: bool | None = None,
        priority: str | int | None = None,
        interval: str | float | None = None,
        version: int | None = None,
    ) -> ScheduleChange:
        """Several changes at once, as the methods above; all or none.

        version: the one that the caller saw. Raises Stale when it is another one by now.
        """
        bucket = None if priority is None else parse_priority(priority)
        millis = None if interval is None else parse_duration(interval, "interval")

        def decide(live: Mapping[str, Any]) -> MergePlan:
            timing = MergePlan(name, {}) if millis is None else set_interval(name, live, millis)
            wanted = {"enabled": enabled, "prio_bucket": bucket}
            more = {key: value for key, value in wanted.items() if value is not None and live.get(key) != value}
            return MergePlan(name, {**timing.changes, **more}, timing.notes)

        return await self._change(name, by, decide, version)

    async def preview(self, name: str, count: int = 5) -> list[str | None]:
        """The next slots, if it is enabled until then."""
        if not 1 <= count <= MAX_PREVIEW:
            raise InvalidValue(f"count {count} is not between 1 and {MAX_PREVIEW}")
        row = await self._writer.find(name)
        return next_runs(row["schedule"], row["now"], count)

    async def apply(
        self, path: Path | None, by: str, environ: Mapping[str, str] | None = None, *, dry_run: bool = False
    ) -> Applied:
        """Apply the file at `path`, else the one that KGSCHED_SCHEDULES names, else ./deploy, else the packaged one.

        Schedules that this same file made and no longer names are disabled; what another file made, or a person,
        stays. dry_run: only tell what would be done. Raises InvalidFile with all mistakes; nothing is applied then.
        """
        environ = os.environ if environ is None else environ
        named = path or self._settings.schedules
        found = schedules_file.find(named, environ)
        jobs = {job.name for job in self._registry.jobs()}
        desired = schedules_file.load(found, environ, jobs or None)
        return await self._writer.apply(desired, schedules_file.origin(named, environ), by, dry_run=dry_run)

    async def _set(self, name: str, by: str, values: Mapping[str, Any]) -> ScheduleChange:
        def decide(live: Mapping[str, Any]) -> MergePlan:
            changes = {key: value for key, value in values.items() if live.get(key) != value}
            return MergePlan(name, changes, () if changes else (f"{name}: {_said(values)} already",))

        return await self._change(name, by, decide)

    async def _change(self, name: str, by: str, decide: Any, version: int | None = None) -> ScheduleChange:
        plan = await self._writer.change(name, by, decide, version)
        return ScheduleChange(schedule_record(await self._writer.find(name)), plan.notes)


def _said(values: Mapping[str, Any]) -> str:
    if "prio_bucket" in values:
        return f"its priority is {NAMES[values['prio_bucket']]}"
    return "is enabled" if values["enabled"] else "is disabled"
