"""The five fields of a cron expression: parsing, and which days they match."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import lru_cache

from kgsched.errors import InvalidValue

MAX_TEXT = 512
_FIRST, _LAST = date(1970, 1, 1), date(9999, 12, 28)  # a margin, so that no offset leads out of datetime's years
_NUMBER = re.compile(r"[0-9]{1,4}")
_DAY = timedelta(days=1)
ALIASES = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAY_NAMES = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_MONTHS = {name: number for number, name in enumerate(MONTH_NAMES, start=1)}
_WEEKDAYS = {name: number for number, name in enumerate(WEEKDAY_NAMES)}


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    low: int
    high: int
    names: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_weekday(self) -> bool:
        return self.high == 7


_MINUTE = _Field("minute", 0, 59)
_HOUR = _Field("hour", 0, 23)
_DAY_OF_MONTH = _Field("day of month", 1, 31)
_MONTH = _Field("month", 1, 12, _MONTHS)
_DAY_OF_WEEK = _Field("day of week", 0, 7, _WEEKDAYS)
_FIELDS = (_MINUTE, _HOUR, _DAY_OF_MONTH, _MONTH, _DAY_OF_WEEK)


@dataclass(frozen=True, slots=True)
class CronFields:
    """A parsed expression.

    text: canonical, five fields in lower case. minutes_of_day: sorted, 0 to 1439. weekdays: 0 is Sunday.
    every_instant: minute or hour is a wildcard, so the job fires at every real instant that the clock shows
    as a matching time. both_days: day of month and day of week must both match (one of them starts with `*`),
    else one of them is enough.
    """

    text: str
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]
    every_instant: bool
    both_days: bool
    minutes_of_day: tuple[int, ...]

    def matches(self, day: date) -> bool:
        in_days, in_weekdays = day.day in self.days, day.isoweekday() % 7 in self.weekdays
        fits = in_days and in_weekdays if self.both_days else in_days or in_weekdays
        return fits and day.month in self.months

    def matching_days(self, start: date, *, backwards: bool = False) -> Iterator[date]:
        """Matching days from `start` on, for as far as the calendar of this module goes."""
        day = min(max(start, _FIRST), _LAST)
        while _FIRST <= day <= _LAST:
            if day.month not in self.months:
                day = _before_month(day) if backwards else _next_month(day)
                continue
            if self.matches(day):
                yield day
            day = day - _DAY if backwards else day + _DAY


@lru_cache(maxsize=1024)
def parse_fields(text: str) -> CronFields:
    """Parse five fields, or an alias like `@daily`. Raises InvalidValue with the field and the reason."""
    parts = _split(text)
    try:
        sets = [frozenset(_parse_field(kind, part)) for kind, part in zip(_FIELDS, parts, strict=True)]
        both_days = parts[2].startswith("*") or parts[4].startswith("*")
        if both_days:
            _check_possible(sets[2], sets[3])
    except InvalidValue as error:
        raise InvalidValue(f"cron {text!r}: {error}") from None
    minutes, hours = tuple(sorted(sets[0])), tuple(sorted(sets[1]))
    return CronFields(
        text=" ".join(parts),
        minutes=minutes,
        hours=hours,
        days=sets[2],
        months=sets[3],
        weekdays=frozenset(day % 7 for day in sets[4]),
        every_instant=_is_wildcard(parts[0], minutes, 60) or _is_wildcard(parts[1], hours, 24),
        both_days=both_days,
        minutes_of_day=tuple(hour * 60 + minute for hour in hours for minute in minutes),
    )


def _split(text: str) -> list[str]:
    if not isinstance(text, str) or len(text) > MAX_TEXT:
        raise InvalidValue(f"cron must be text of at most {MAX_TEXT} characters, not {str(text)[:40]!r}")
    lowered = text.strip().lower()
    if lowered.startswith("@"):
        if lowered not in ALIASES:
            raise InvalidValue(f"cron {text!r} is not one of {', '.join(ALIASES)}")
        lowered = ALIASES[lowered]
    parts = lowered.split()
    if len(parts) != 5:
        hint = "; there is no field for seconds or years" if len(parts) in (6, 7) else ""
        raise InvalidValue(
            f"cron {text!r} has {len(parts)} fields, not 5: minute, hour, day of month, month, day of week{hint}"
        )
    return parts


def _parse_field(kind: _Field, text: str) -> Iterator[int]:
    for item in text.split(","):
        span, slash, step_text = item.partition("/")
        step = 1
        if slash:
            step = _step(kind, step_text)
        low, high = _span(kind, span, open_ended=bool(slash))
        yield from range(low, high + 1, step)


def _step(kind: _Field, text: str) -> int:
    size = kind.high - kind.low + (0 if kind.is_weekday else 1)
    step = int(text) if _NUMBER.fullmatch(text) else 0
    if 1 <= step <= size:
        return step
    hint = f"; to run every {step} minutes use an interval, 'every {step}m'" if kind is _MINUTE and step else ""
    raise InvalidValue(f"{kind.name} step {text!r} is not 1 to {size}{hint}")


def _span(kind: _Field, text: str, *, open_ended: bool) -> tuple[int, int]:
    if text == "*":
        return kind.low, 6 if kind.is_weekday else kind.high
    first, dash, last = text.partition("-")
    low = _value(kind, first)
    if not dash:
        return low, kind.high if open_ended else low
    high = _value(kind, last)
    if kind.is_weekday and high == 0 and low > 0:
        high = 7  # sat-sun, 6-0
    if high < low:
        two = _two_spans(kind, low, high)
        raise InvalidValue(f"{kind.name} range {text!r} runs backwards; write it as two, like {two}")
    return low, high


def _two_spans(kind: _Field, low: int, high: int) -> str:
    last = 6 if kind.is_weekday else kind.high
    return ",".join(f"{a}-{b}" if a < b else str(a) for a, b in ((low, last), (kind.low, high)))


def _value(kind: _Field, text: str) -> int:
    if text in kind.names:
        return kind.names[text]
    if not _NUMBER.fullmatch(text) or not kind.low <= int(text) <= kind.high:
        names = f" or {'/'.join(kind.names)}" if kind.names else ""
        raise InvalidValue(f"{kind.name} {text!r} is not {kind.low} to {kind.high}{names}")
    return int(text)


def _is_wildcard(text: str, values: tuple[int, ...], size: int) -> bool:
    return text.startswith("*") or len(values) == size


def _check_possible(days: frozenset[int], months: frozenset[int]) -> None:
    longest = max(monthrange(2000, month)[1] for month in months)  # 2000 is a leap year
    if min(days) > longest:
        raise InvalidValue(f"day of month {min(days)} does not exist in any of the months given")


def _next_month(day: date) -> date:
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1)


def _before_month(day: date) -> date:
    return day.replace(day=1) - _DAY
