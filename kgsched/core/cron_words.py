"""A cron expression in plain words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kgsched.core.cron_fields import MONTH_NAMES, WEEKDAY_NAMES, CronFields

_MAX_TIMES = 4
_HOURS = tuple(str(hour) for hour in range(24))
_DAYS = tuple(str(day) for day in range(1, 32))
_WEEK = (*WEEKDAY_NAMES[1:], WEEKDAY_NAMES[0])  # Monday first, so that the weekend reads as one run


def describe(fields: CronFields) -> str:
    """One short phrase, like `at 06:00 on mon-fri` or `every 15 minutes in hours 9-17`."""
    parts = [_times(fields), _days(fields)]
    if len(fields.months) < 12:
        parts.append(f"in {_runs({MONTH_NAMES[month - 1] for month in fields.months}, MONTH_NAMES)}")
    return " ".join(part for part in parts if part)


def _times(fields: CronFields) -> str:
    minutes, hours = fields.minutes, fields.hours
    if len(minutes) * len(hours) <= _MAX_TIMES:
        return f"at {_join([f'{hour:02}:{minute:02}' for hour in hours for minute in minutes])}"
    hour_step, minute_step = _step(hours, 24), _step(minutes, 60)
    if minutes == (0,) and hour_step:
        return "every hour" if hour_step == 1 else f"every {hour_step} hours"
    if minute_step and len(minutes) > 1:
        phrase = "every minute" if minute_step == 1 else f"every {minute_step} minutes"
        return phrase if hour_step == 1 else f"{phrase} {_in_hours(hours)}"
    phrase = f"at minute{'s' if len(minutes) > 1 else ''} {_join([str(minute) for minute in minutes])}"
    return f"{phrase} of every hour" if hour_step == 1 else f"{phrase} {_in_hours(hours)}"


def _in_hours(hours: Sequence[int]) -> str:
    return f"in hour{'s' if len(hours) > 1 else ''} {_runs({str(hour) for hour in hours}, _HOURS)}"


def _days(fields: CronFields) -> str:
    plural = "s" if len(fields.days) > 1 else ""
    days = f"on day{plural} {_runs({str(day) for day in fields.days}, _DAYS)} of the month"
    weekdays = _runs({WEEKDAY_NAMES[day] for day in fields.weekdays}, _WEEK)
    any_day, any_weekday = len(fields.days) == 31, len(fields.weekdays) == 7
    if fields.both_days:
        phrases = ([] if any_day else [days]) + ([] if any_weekday else [f"on {weekdays}"])
        return " if ".join(phrases)
    return "" if any_day or any_weekday else f"{days} or on {weekdays}"


def _step(values: Sequence[int], size: int) -> int | None:
    """The even step from 0 that makes exactly these values."""
    step = size // len(values)
    return step if tuple(values) == tuple(range(0, size, step)) and size % step == 0 else None


def _runs(chosen: Iterable[str], order: Sequence[str]) -> str:
    """Names in `order`, three or more neighbours as `first-last`."""
    wanted, runs = set(chosen), list[list[str]]()
    for place, name in enumerate(order):
        if name not in wanted:
            continue
        if place and runs and runs[-1][-1] == order[place - 1]:
            runs[-1].append(name)
        else:
            runs.append([name])
    texts = [[f"{run[0]}-{run[-1]}"] if len(run) > 2 else run for run in runs]
    return _join([text for run in texts for text in run])


def _join(texts: Sequence[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
