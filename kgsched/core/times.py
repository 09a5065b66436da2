"""Instants and durations as text. Instants are integer epoch milliseconds everywhere else."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from kgsched.errors import InvalidValue

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST = -62_135_596_800_000  # the year 1
_MILLISECOND = timedelta(milliseconds=1)
_DURATION = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)(ms|s|m|h|d|w)")
_HOUR_24 = re.compile(r"[T ]24")
_UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
MAX_DURATION = 100 * 365 * 86_400_000  # what is due then can still be written down
MAX_INSTANT = (datetime(9999, 12, 31, 23, 59, 59, 999000, tzinfo=UTC) - _EPOCH) // _MILLISECOND


def to_millis(moment: datetime) -> int:
    """Epoch milliseconds of an aware datetime; a naive one is read as UTC."""
    aware = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MILLISECOND


def to_datetime(millis: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=millis)


def show_instant(millis: int | None) -> str | None:
    """ISO 8601 in UTC with milliseconds, `2026-11-30T21:19:00.000Z`; None stays None, what no year holds is cut."""
    if millis is None:
        return None
    return to_datetime(max(_FIRST, min(millis, MAX_INSTANT))).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_instant(text: str) -> tuple[int, bool]:
    """Epoch milliseconds of an ISO 8601 instant, and whether it came without an offset and was read as UTC.

    Raises InvalidValue for what is not an instant of the years 1970 to 9999.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
        if "T" not in text and " " not in text.strip():
            raise ValueError("a date without a time")
        if _HOUR_24.search(text):
            raise ValueError("the hour must be 0 to 23")  # newer Pythons read it as the next day
        millis = to_millis(moment)
    except (ValueError, OverflowError) as error:
        raise InvalidValue(f"{text!r} is not an instant like 2026-11-30T21:00:00Z ({error})") from None
    if not 0 <= millis <= MAX_INSTANT:
        raise InvalidValue(f"{text!r} is outside the years 1970 to 9999")
    return millis, moment.tzinfo is None


def parse_duration(value: str | int | float, what: str = "") -> int:
    """Milliseconds of `90`, `90s`, `1.5h`, `1h30m`, `2d`; a bare number is seconds.

    Raises InvalidValue that says `what` it was to be.
    """
    named = f"{what} {value!r}".lstrip()
    if isinstance(value, bool):
        raise InvalidValue(f"{named} is not a duration like 30s, 15m, 1h30m or 2d")
    text = str(value).strip().lower()
    if re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", text):
        text += "s"
    parts = _DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise InvalidValue(f"{named} is not a duration like 30s, 15m, 1h30m or 2d")
    millis = round(sum(float(number) * _UNITS[unit] for number, unit in parts))
    if millis > MAX_DURATION:
        raise InvalidValue(f"{what or 'duration'} {value!r} is longer than 100 years")
    return millis


def show_duration(millis: int) -> str:
    """The shortest exact text of a duration, `1h30m`."""
    if millis == 0:
        return "0s"
    left, parts = millis, []
    for unit in ("d", "h", "m", "s", "ms"):
        count, left = divmod(left, _UNITS[unit])
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts)
