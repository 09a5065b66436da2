"""Desired schedules, and how a file's wishes meet what was changed live: a three-way merge, field by field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from kgsched.core.priority import NAMES, NORMAL
from kgsched.core.schedule import CatchUp, Overlap
from kgsched.core.times import show_duration, show_instant
from kgsched.core.triggers import Every
from kgsched.errors import InvalidValue

BUILT_IN_TYPE = "scheduled_job"
DEFAULT_ORIGIN = "default"
_NOT_VALUES = frozenset({"name", "line", "notes"})
_TIMING = ("trigger", "timezone", "dst_gap", "dst_fold")
_TITLES = {"prio_bucket": "priority"}


@dataclass(frozen=True, slots=True)
class DesiredSchedule:
    """One entry of the file. Fields are those of the `:Schedule` node: times in ms, payload as JSON text.

    line: where the entry starts. notes: what a person should know about how it was read.
    """

    name: str
    trigger: str
    type: str
    payload: str = "{}"
    timezone: str | None = None
    dst_gap: str | None = None
    dst_fold: str | None = None
    prio_bucket: int = NORMAL
    enabled: bool = True
    jitter_ms: int = 0
    start: int | None = None
    end: int | None = None
    overlap: str = Overlap.COALESCE.value
    catch_up: str = CatchUp.LATEST.value
    catch_up_window_ms: int | None = None
    pause_after_failures: int | None = None
    description: str | None = None
    line: int | None = None
    notes: tuple[str, ...] = ()

    def values(self) -> dict[str, Any]:
        """The mergeable fields as plain JSON values, to be kept as the last applied ones."""
        return {field.name: getattr(self, field.name) for field in fields(self) if field.name not in _NOT_VALUES}


@dataclass(frozen=True, slots=True)
class LiveSchedule:
    """A schedule in the graph. base: the file's values applied last; None when no file made it or names it now.

    origin: which file that was, its path; "default" for the one that is used when none is named.
    """

    values: Mapping[str, Any]
    base: Mapping[str, Any] | None = None
    origin: str = DEFAULT_ORIGIN


@dataclass(frozen=True, slots=True)
class MergePlan:
    """Fields to write, and what to say. created: there was none. base: the file's values, kept for the next merge."""

    name: str
    changes: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    created: bool = False
    base: Mapping[str, Any] | None = None


def merge(base: Mapping[str, Any] | None, file: DesiredSchedule, live: Mapping[str, Any] | None) -> MergePlan:
    """What applying an entry changes.

    A field changed live stays until the file changes that same field; then the file wins, and a note says so.
    Without a base the whole entry is new to the file, which then wins in every field.
    """
    wanted = file.values()
    if live is None:
        return MergePlan(file.name, wanted, file.notes, created=True, base=wanted)
    changes: dict[str, Any] = {}
    notes = list(file.notes)
    if base is None:
        notes.append(f"{file.name}: existed already; the file takes it over")
    for unit in _units(wanted):
        new, now = _pick(wanted, unit), _pick(live, unit)
        if new == now:
            continue
        was = None if base is None or unit[0] not in base else _pick(base, unit)
        if was == new:
            notes.append(f"{file.name}: {_show(now)} was set live and stays; the file says {_show(new)}")
            continue
        changes |= {name: value for name, value in new.items() if value != now[name]}
        if was is not None and was != now:
            notes.append(f"{file.name}: {_show(now)} was set live; the file changed to {_show(new)} and wins")
    return MergePlan(file.name, changes, tuple(notes), base=wanted)


def plan_apply(
    desired: Iterable[DesiredSchedule], live: Mapping[str, LiveSchedule], origin: str = DEFAULT_ORIGIN
) -> list[MergePlan]:
    """What applying a whole file changes, in the file's order, then what it no longer names.

    Removed entries are disabled, only those that this same file made; their base ends, so that an entry that comes
    back later starts from the file alone. An entry that another file made is taken over.
    """
    plans = []
    names = set()
    for entry in desired:
        names.add(entry.name)
        here = live.get(entry.name)
        plans.append(_taken_over(entry, here) if here and _of_another(here, origin) else _merged(entry, here))
    for name, here in sorted(live.items()):
        if name in names or here.base is None or here.origin != origin:
            continue
        if here.values.get("enabled"):
            plans.append(MergePlan(name, {"enabled": False}, (f"{name}: no longer in the file; disabled",)))
        else:
            plans.append(MergePlan(name, {}, (f"{name}: no longer in the file; it was disabled already",)))
    return plans


def _of_another(here: LiveSchedule, origin: str) -> bool:
    return here.base is not None and here.origin != origin


def _merged(entry: DesiredSchedule, here: LiveSchedule | None) -> MergePlan:
    return merge(here.base, entry, here.values) if here else merge(None, entry, None)


def _taken_over(entry: DesiredSchedule, here: LiveSchedule) -> MergePlan:
    """The whole entry, as if no file had made it, and from which file it is taken."""
    plan = merge(None, entry, here.values)
    source = "the default file" if here.origin == DEFAULT_ORIGIN else here.origin
    note = f"{entry.name}: was made by {source}; this file takes it over"
    return replace(plan, notes=(*entry.notes, note))


def set_interval(name: str, live: Mapping[str, Any], interval_ms: int) -> MergePlan:
    """A live change of the interval; a schedule that was not an interval becomes one, and a note says so.

    Raises InvalidValue below 1 s.
    """
    try:
        text = Every(interval_ms).text
    except InvalidValue as error:
        raise InvalidValue(f"schedule {name!r}: {error}") from None
    was = str(live["trigger"])
    if was == text:
        return MergePlan(name, {}, (f"{name}: is {text!r} already",))
    if was.startswith("every "):
        return MergePlan(name, {"trigger": text})
    zone = f" in {live['timezone']}" if live.get("timezone") else ""
    notes = (f"{name}: was {was!r}{zone}; it is {text!r} now",)
    return MergePlan(name, {"trigger": text, "timezone": None, "dst_gap": None, "dst_fold": None}, notes)


def _units(values: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """What is merged together: an expression without its zone would be another time."""
    return [_TIMING, *((name,) for name in values if name not in _TIMING)]


def _pick(values: Mapping[str, Any], unit: tuple[str, ...]) -> dict[str, Any]:
    return {name: values.get(name) for name in unit}


def _show(unit: Mapping[str, Any]) -> str:
    """The first field of a unit as a person would write it, with its zone."""
    name, value = next(iter(unit.items()))
    title = _TITLES.get(name, name.removesuffix("_ms"))
    if value is None:
        return f"{title} (none)"
    if name == "trigger":
        return repr(f"{value} {unit['timezone']}" if unit["timezone"] else value)
    if name == "prio_bucket":
        value = NAMES[value]
    elif name.endswith("_ms"):
        value = show_duration(value)
    elif name in ("start", "end"):
        value = show_instant(value)
    return f"{title} {str(value).lower() if isinstance(value, bool) else value}"
