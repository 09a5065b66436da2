"""Cron in a time zone: the real instants at which a schedule fires.

Every local day gives its matching wall times, each wall time gives no, one or two real instants. What a gap or a
repeated hour does to a fixed time is the schedule's choice; a wildcard job takes every instant that exists. A day's
instants are made at once, so a search costs days looked at, never minutes.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from typing import ClassVar
from zoneinfo import ZoneInfo

from kgsched.core.cron_fields import CronFields, parse_fields
from kgsched.core.times import MAX_INSTANT
from kgsched.core.zones import find_zone, gap_end, instants_of, steady_offset
from kgsched.errors import InvalidValue

_UNIX_DAY = date(1970, 1, 1).toordinal()
_ONE_DAY = timedelta(days=1)
_HORIZON_YEARS = 100  # 29 February on one given weekday can be 40 years away
_LATER = 4_102_444_800_000  # 2100-01-01: today's rules for clock changes hold from here on


class Gap(StrEnum):
    """What a fixed time does on the day when the clock jumps over it."""

    RUN_AFTER = "run_after"
    SKIP = "skip"


class Fold(StrEnum):
    """What a fixed time does on the day when the clock shows it twice."""

    FIRST = "first"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Dst:
    """Rules for the days on which the clock changes; wildcard minute or hour jobs need none."""

    gap: Gap = Gap.RUN_AFTER
    fold: Fold = Fold.FIRST


DEFAULT_DST = Dst()


@dataclass(frozen=True, slots=True)
class Cron:
    """A 5-field expression in an IANA zone. Instants are epoch milliseconds."""

    kind: ClassVar[str] = "cron"
    fields: CronFields
    zone: ZoneInfo
    dst: Dst = DEFAULT_DST

    @property
    def text(self) -> str:
        return f"cron {self.fields.text}"

    @property
    def timezone(self) -> str:
        return self.zone.key

    def next_after(self, instant: int) -> int | None:
        """The first instant strictly after this one; None when the next 100 years have none."""
        return next(self.upcoming(instant), None)

    def upcoming(self, after: int) -> Iterator[int]:
        """All instants strictly after this one, strictly increasing. Ends when 100 years bring none."""
        last = max(after, -1)
        if last >= MAX_INSTANT:
            return
        start = self._local_day(last)
        # A day's last instants can lie after the next day's first ones, where a clock is set back over midnight:
        # they are held until the next matching day is known. After a steady day nothing can come earlier.
        held: list[int] = []
        last_day = start
        for day in self.fields.matching_days(start - _ONE_DAY):
            offset = self._steady_offset(day)
            fires = self._fires_on(day, offset, last)
            if fires:
                last_day = day
            elif day.year - last_day.year > _HORIZON_YEARS:
                break
            if held and (not fires or held[-1] < fires[0]):
                yield from held
                last, held = held[-1], []
            held = sorted({*held, *fires}) if held else fires
            if held and offset is not None:
                yield from held
                last, held = held[-1], []
        yield from held

    def latest_upto(self, instant: int) -> int | None:
        """The newest instant not after this one, None when there is none since 1970."""
        if instant < 0:
            return None
        best, best_day = None, date.max
        for day in self.fields.matching_days(self._local_day(min(instant, MAX_INSTANT)) + _ONE_DAY, backwards=True):
            if best is not None and best_day - day > _ONE_DAY:
                break
            fires = self._fires_on(day, self._steady_offset(day), -1)
            count = bisect_right(fires, instant)
            if count:
                best_day = day if best is None else best_day
                best = max(fires[count - 1], best or 0)
        return best

    def _local_day(self, instant: int) -> date:
        """The local date of an instant, kept two days away from the end of datetime's years."""
        return datetime.fromtimestamp(min(instant, MAX_INSTANT - 2 * 86_400_000) // 1000, self.zone).date()

    def _steady_offset(self, day: date) -> int | None:
        return steady_offset(self.zone, _midnight(day))

    def _fires_on(self, day: date, offset: int | None, after: int) -> list[int]:
        """The instants of a local day that lie after `after`, in order; `offset` is the day's steady one."""
        minutes = self.fields.minutes_of_day
        if offset is not None:
            start = (_midnight(day) - offset) * 1000
            return [start + minute * 60_000 for minute in minutes[bisect_right(minutes, (after - start) / 60_000) :]]
        found = {instant * 1000 for minute in minutes for instant in self._instants(_midnight(day) + minute * 60)}
        return sorted(instant for instant in found if instant > after)

    def _instants(self, wall: int) -> tuple[int, ...]:
        found = instants_of(self.zone, wall)
        if self.fields.every_instant:
            return found
        if not found:
            return (gap_end(self.zone, wall),) if self.dst.gap is Gap.RUN_AFTER else ()
        return found if self.dst.fold is Fold.BOTH else found[:1]


def _midnight(day: date) -> int:
    return (day.toordinal() - _UNIX_DAY) * 86_400


@lru_cache(maxsize=1024)
def parse_cron(text: str, timezone: str = "UTC", dst: Dst = DEFAULT_DST) -> Cron:
    """The cron of an expression, an IANA zone and rules for clock changes.

    Raises InvalidValue for a bad expression or one that never fires, UnknownName for a zone that does not exist.
    """
    cron = Cron(parse_fields(text), find_zone(timezone), dst)
    if cron.next_after(_LATER) is None:
        raise InvalidValue(f"cron {text!r} in {timezone} never fires with gap {dst.gap.value!r}")
    return cron
