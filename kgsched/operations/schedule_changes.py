"""Writing schedules: each change only while the version is what was read, else it is decided anew."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kgsched.core.desired import (
    BUILT_IN_TYPE,
    DEFAULT_ORIGIN,
    DesiredSchedule,
    LiveSchedule,
    MergePlan,
    plan_apply,
)
from kgsched.core.lanes import DEFAULT_LANE, MAINT
from kgsched.core.limits import check_text
from kgsched.core.schedule_change import changed_fields, new_fields
from kgsched.errors import Stale, StorageConflict, UnknownName
from kgsched.operations.records import read_json
from kgsched.ports import Store
from kgsched.registry import Registry

TRIES = 8
Row = Mapping[str, Any]
Live = dict[str, tuple[Row, LiveSchedule]]


@dataclass(frozen=True, slots=True)
class Applied:
    """What applying a file did, by schedule name, and what a person should know."""

    created: tuple[str, ...]
    changed: tuple[str, ...]
    disabled: tuple[str, ...]
    unchanged: tuple[str, ...]
    notes: tuple[str, ...]


class ScheduleWriter:
    """Creates and changes the schedules of one space."""

    def __init__(self, store: Store, registry: Registry, space: str) -> None:
        self._store, self._registry, self._space = store, registry, space

    async def find(self, name: str) -> Row:
        """Row {schedule, now, waiting}. Raises UnknownName with near names."""
        rows = await self._store.schedules.read(self._space, [check_text("schedule", name)])
        if rows:
            return rows[0]
        known = [row["schedule"]["name"] for row in await self._store.schedules.read(self._space)]
        remedy = "" if known else "(there are no schedules yet: no daemon has loaded the schedules file)"
        raise UnknownName("schedule", name, known, remedy)

    async def change(
        self, name: str, by: str, decide: Callable[[Row], MergePlan], version: int | None = None
    ) -> MergePlan:
        """Carry out what `decide` makes of the live properties; nothing is written when it changes nothing.

        Raises Stale when it is not the `version` that the caller saw.
        """
        for _ in range(TRIES):
            row = await self.find(name)
            if version is not None and row["schedule"]["version"] != version:
                raise Stale(f"schedule {name!r} has version {row['schedule']['version']} now; read it and decide anew")
            plan = decide(row["schedule"])
            if not plan.changes or await self._write(row, plan, by):
                return plan
        raise StorageConflict(f"schedule {name!r} is being changed by others again and again; try once more")

    async def apply(self, desired: list[DesiredSchedule], origin: str, by: str, *, dry_run: bool = False) -> Applied:
        """Merge a whole file into what is there; safe when several processes apply it at once."""
        live = await self._live()
        done: dict[str, list[str]] = {"created": [], "changed": [], "disabled": [], "unchanged": []}
        notes = await self._unhandled(desired)
        named = {entry.name for entry in desired}
        for plan in plan_apply(desired, {name: found for name, (_, found) in live.items()}, origin):
            entry = [one for one in desired if one.name == plan.name]
            kind, final = _kind(plan, live, origin), plan
            if not dry_run:
                kind, final = await self._apply_one(entry[0] if entry else None, plan, live, origin, by)
            done["disabled" if kind == "changed" and plan.name not in named else kind].append(plan.name)
            notes += final.notes
        return Applied(
            created=tuple(done["created"]),
            changed=tuple(done["changed"]),
            disabled=tuple(done["disabled"]),
            unchanged=tuple(done["unchanged"]),
            notes=tuple(notes),
        )

    async def _apply_one(
        self, entry: DesiredSchedule | None, plan: MergePlan, live: Live, origin: str, by: str
    ) -> tuple[str, MergePlan]:
        for _ in range(TRIES):
            match kind := _kind(plan, live, origin):
                case "unchanged":
                    return kind, plan
                case "created" if await self._create(plan, origin, by):
                    return kind, plan
                case "changed" if await self._write(live[plan.name][0], plan, by, origin):
                    return kind, plan
            live = await self._live()  # somebody was faster
            again = {name: one for name, (_, one) in live.items() if name == plan.name}
            plans = plan_apply([entry] if entry else [], again, origin)
            if not plans:
                return "unchanged", plan
            plan = plans[0]
        raise StorageConflict(f"schedule {plan.name!r} is being changed by others again and again; apply once more")

    async def _unhandled(self, desired: list[DesiredSchedule]) -> list[str]:
        """A note on each entry whose type no handler has, here or at any worker."""
        known = {BUILT_IN_TYPE, *self._registry.names(), *await self._store.cluster.read_types()}
        notes = []
        for entry in desired:
            if entry.type not in known:
                near = UnknownName("task type", entry.type, known).near
                hint = f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""
                notes.append(f"{entry.name}: no handler has type {entry.type!r}{hint}; its ticks wait until one does")
        return notes

    async def _live(self) -> Live:
        rows = await self._store.schedules.read(self._space)
        return {row["schedule"]["name"]: (row, _live_schedule(row["schedule"])) for row in rows}

    async def _create(self, plan: MergePlan, origin: str, by: str) -> bool:
        now = (await self._store.cluster.pulse()).now
        fields = new_fields(self._space, plan.name, plan.changes, now) | {
            "lane": await self._lane(plan.changes["type"]),
            "desired": _text(plan.base),
            "origin": origin,
        }
        return await self._store.schedules.create(self._space, plan.name, fields, by, "created") is not None

    async def _write(self, row: Row, plan: MergePlan, by: str, origin: str | None = None) -> bool:
        """False when it was changed meanwhile. origin: of the file that says so, which the next one is merged with."""
        live = row["schedule"]
        fields = changed_fields(live, plan.changes, row["now"]) if plan.changes else {}
        if "type" in plan.changes:
            fields["lane"] = await self._lane(plan.changes["type"])
        if origin is not None:
            fields |= {"desired": _text(plan.base), "origin": origin}
        note = "; ".join(plan.notes) or f"{', '.join(sorted(plan.changes)) or 'the file'} changed"
        version = await self._store.schedules.change(self._space, plan.name, live["version"], fields, by, note[:1000])
        return version is not None

    async def _lane(self, type_: str) -> str:
        known = self._registry.find(type_)
        if known is not None:
            return known.lane
        if type_ == BUILT_IN_TYPE:
            return MAINT.name
        return (await self._store.cluster.read_types()).get(type_, DEFAULT_LANE)


def _kind(plan: MergePlan, live: Live, origin: str) -> str:
    """What a plan comes to: created, changed or unchanged."""
    if plan.created or plan.name not in live:
        return "created"
    found = live[plan.name][1]
    return "unchanged" if not plan.changes and plan.base == found.base and found.origin == origin else "changed"


def _live_schedule(node: Row) -> LiveSchedule:
    return LiveSchedule(node, read_json(node.get("desired")), node.get("origin") or DEFAULT_ORIGIN)


def _text(base: Mapping[str, Any] | None) -> str | None:
    return None if base is None else json.dumps(dict(base), sort_keys=True)
