"""A schedule, and the pure decision which of its slots to fire and when it is due next. Instants are epoch ms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Any

from kgsched.core.cron import Dst, Fold, Gap
from kgsched.core.triggers import Every, Trigger, anchored, jitter_offset, parse_trigger

MAX_TICKS = 100  # slots fired in one pass
MAX_COUNTED = 10_000  # missed slots are counted up to here
TOLERANCE_MS = 60_000  # a slot this late is not a missed one for `catch_up: none`
DEFAULT_BACKOFF_BASE_MS = 300_000


class Overlap(StrEnum):
    """What a slot does while an earlier tick waits or runs."""

    COALESCE = "coalesce"
    ALLOW = "allow"
    CANCEL_OTHER = "cancel_other"


class CatchUp(StrEnum):
    """Which of the slots that passed unfired are still fired."""

    LATEST = "latest"
    NONE = "none"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class ScheduleState:
    """What planning needs of a `:Schedule`. `trigger` has its phase; next_run None: not due any more."""

    space: str
    name: str
    trigger: Trigger
    enabled: bool = True
    next_run: int | None = None
    version: int = 0
    last_slot: int | None = None
    start: int | None = None
    end: int | None = None
    jitter_ms: int = 0
    overlap: Overlap = Overlap.COALESCE
    catch_up: CatchUp = CatchUp.LATEST
    catch_up_window_ms: int | None = None
    backoff_until: int | None = None

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> ScheduleState:
        """The state in a node's properties. Raises InvalidValue or UnknownName when its trigger is broken.

        Besides the fields: trigger (text), timezone, dst_gap, dst_fold, anchor (of an interval, else created_at).
        """
        get = properties.get
        dst = Dst(Gap(get("dst_gap") or Gap.RUN_AFTER), Fold(get("dst_fold") or Fold.FIRST))
        trigger = parse_trigger(properties["trigger"], get("timezone") or "UTC", dst)
        return cls(
            space=properties["space"],
            name=properties["name"],
            trigger=anchored(trigger, get("anchor") or get("created_at") or 0, get("start")),
            enabled=bool(get("enabled", True)),
            next_run=get("next_run"),
            version=get("version") or 0,
            last_slot=get("last_slot"),
            start=get("start"),
            end=get("end"),
            jitter_ms=get("jitter_ms") or 0,
            overlap=Overlap(get("overlap") or Overlap.COALESCE),
            catch_up=CatchUp(get("catch_up") or CatchUp.LATEST),
            catch_up_window_ms=get("catch_up_window_ms"),
            backoff_until=get("backoff_until"),
        )

    @property
    def backoff_base_ms(self) -> int:
        return self.trigger.interval_ms if isinstance(self.trigger, Every) else DEFAULT_BACKOFF_BASE_MS


@dataclass(frozen=True, slots=True)
class PlannedTick:
    """A slot to fire, and the instant before which its task must not run."""

    slot: int
    eta: int


@dataclass(frozen=True, slots=True)
class FirePlan:
    """What to write. due False: nothing to do, and next_run is the one that was read.

    missed: slots that passed and are not fired, counted up to MAX_COUNTED.
    """

    due: bool
    ticks: tuple[PlannedTick, ...] = ()
    next_run: int | None = None
    missed: int = 0


def plan_fire(state: ScheduleState, now: int) -> FirePlan:
    """Slots of a schedule from its next_run up to now that are to be fired, and its next run.

    With `catch_up: all` at most MAX_TICKS at a time: next_run then stays on the first slot that is left.
    """
    next_run = state.next_run
    if not state.enabled or next_run is None or next_run > now or (state.backoff_until or 0) > now:
        return FirePlan(due=False, next_run=next_run)
    last = now if state.end is None else min(now, state.end)
    first: int | None = next_run
    if state.last_slot is not None and next_run <= state.last_slot:
        first = state.trigger.next_after(state.last_slot)
    if first is None or first > last:
        return FirePlan(due=True, next_run=_following(state, now))
    if state.catch_up is CatchUp.ALL:
        return _plan_all(state, first, last, now)
    newest = max(state.trigger.latest_upto(last) or first, first)
    missed = _count(state.trigger, first, newest)
    if state.catch_up is CatchUp.NONE and now - newest > TOLERANCE_MS:
        return FirePlan(due=True, next_run=_following(state, now), missed=missed + 1)
    return FirePlan(due=True, ticks=(_tick(state, newest, now),), next_run=_following(state, now), missed=missed)


def first_run(trigger: Trigger, now: int, *, start: int | None = None, end: int | None = None) -> int | None:
    """The first slot strictly after now, within start and end (both included); None when there is none."""
    slot = trigger.next_after(now if start is None else max(now, start - 1))
    return None if slot is None or (end is not None and slot > end) else slot


def reschedule(before: ScheduleState | None, after: ScheduleState, now: int) -> int | None:
    """next_run once a schedule was made, enabled, disabled or edited. It never fires at once.

    What does not touch the timing (priority, payload, an identical write) leaves next_run, a due one too.
    """
    if not after.enabled:
        return None
    if before is not None and before.enabled and _timing(before) == _timing(after):
        return before.next_run
    return _following(after, now)


def backoff_delay(consecutive_failures: int, base_ms: int) -> int:
    """Milliseconds that a schedule waits after its n-th failure in a row: base, doubled up to 16 times base."""
    if consecutive_failures < 1:
        return 0
    return int(base_ms * 2 ** min(consecutive_failures - 1, 4))


def _plan_all(state: ScheduleState, first: int, last: int, now: int) -> FirePlan:
    window = state.catch_up_window_ms
    oldest = first if window is None else max(first, now - window)
    # `first` is a slot even when the trigger was changed since: it is taken as it stands.
    later = state.trigger.upcoming(max(first, oldest - 1))
    slots = [first] if first >= oldest else []
    slots += islice((slot for slot in later), MAX_TICKS + 1 - len(slots))
    due = [slot for slot in slots if slot <= last]
    left = due[MAX_TICKS:]
    return FirePlan(
        due=True,
        ticks=tuple(_tick(state, slot, now) for slot in due[:MAX_TICKS]),
        next_run=left[0] if left else _following(state, now),
        missed=0 if first >= oldest else _count(state.trigger, first, oldest),
    )


def _following(state: ScheduleState, now: int) -> int | None:
    passed = now if state.last_slot is None else max(now, state.last_slot)
    return first_run(state.trigger, passed, start=state.start, end=state.end)


def _tick(state: ScheduleState, slot: int, now: int) -> PlannedTick:
    """A slot's jitter delays its task; slots later than all of their jitter are spread again, from now on."""
    offset = jitter_offset(state.space, state.name, slot, state.jitter_ms)
    since = now if state.jitter_ms and slot + state.jitter_ms < now else slot
    return PlannedTick(slot, since + offset)


def _count(trigger: Trigger, first: int, before: int) -> int:
    """How many slots there are from `first`, which counts, up to but without `before`; at most MAX_COUNTED."""
    if before <= first:
        return 0
    if isinstance(trigger, Every):
        return int(
            min(
                1
                + (before - 1 - trigger.anchor_ms) // trigger.interval_ms
                - (first - trigger.anchor_ms) // trigger.interval_ms,
                MAX_COUNTED,
            )
        )
    count = 1
    for slot in trigger.upcoming(first):
        if slot >= before or count >= MAX_COUNTED:
            break
        count += 1
    return count


def _timing(state: ScheduleState) -> tuple[object, ...]:
    return state.trigger, state.start, state.end
