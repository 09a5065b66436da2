"""Time zones: which wall-clock times exist, once, twice or never. Seconds since the epoch throughout.

A wall time is written as the seconds that its date and time would have in UTC.
"""

from __future__ import annotations

import zoneinfo
from datetime import UTC, datetime
from functools import lru_cache

from kgsched.errors import InvalidValue, UnknownName

_HOUR = 3600
_MACHINE_ZONES = frozenset({"localtime", "Factory"})  # files that mean another zone on another machine


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    """All IANA names that this Python knows."""
    return frozenset(zoneinfo.available_timezones()) - _MACHINE_ZONES


@lru_cache(maxsize=256)
def find_zone(name: str) -> zoneinfo.ZoneInfo:
    """The zone of an IANA name, letter case included. Raises UnknownName, or InvalidValue for what is not text."""
    if not isinstance(name, str) or not name:
        raise InvalidValue(f"time zone must be an IANA name like Europe/Paris or UTC, not {name!r}")
    if name not in zone_names():
        raise UnknownName("time zone", name, zone_names(), "(IANA names, like Europe/Paris or UTC)")
    return zoneinfo.ZoneInfo(name)


def offset_at(zone: zoneinfo.ZoneInfo, instant: int) -> int:
    """Seconds that the wall clock is ahead of UTC at a real instant."""
    offset = datetime.fromtimestamp(instant, zone).utcoffset()
    return 0 if offset is None else int(offset.total_seconds())


def steady_offset(zone: zoneinfo.ZoneInfo, midnight: int) -> int | None:
    """The one offset that holds during the whole local day which starts at wall time `midnight`, or None.

    Offsets lie between -12 h and +14 h (once +15:13): every instant of the day is inside the three looks taken.
    """
    offset = offset_at(zone, midnight - 16 * _HOUR)
    if offset == offset_at(zone, midnight + 10 * _HOUR) == offset_at(zone, midnight + 38 * _HOUR):
        return offset
    return None


def instants_of(zone: zoneinfo.ZoneInfo, wall: int) -> tuple[int, ...]:
    """The real instants at which the clock shows this wall time: none in a gap, two in a repeated hour."""
    before, after = _offsets(zone, wall)
    found = {wall - offset for offset in (before, after) if offset_at(zone, wall - offset) == offset}
    return tuple(sorted(found))


def gap_end(zone: zoneinfo.ZoneInfo, wall: int) -> int:
    """The instant at which the clock jumped over this wall time, which does not exist."""
    before, after = _offsets(zone, wall)
    low, high = wall - after, wall - before
    while high - low > 1:
        middle = (low + high) // 2
        if offset_at(zone, middle) == before:
            low = middle
        else:
            high = middle
    return high


def _offsets(zone: zoneinfo.ZoneInfo, wall: int) -> tuple[int, int]:
    """Offsets before and after the change next to this wall time; the same one twice on a steady clock (PEP 495)."""
    naive = datetime.fromtimestamp(wall, UTC).replace(tzinfo=None)
    pair = [naive.replace(tzinfo=zone, fold=fold).utcoffset() for fold in (0, 1)]
    before, after = (0 if offset is None else int(offset.total_seconds()) for offset in pair)
    return before, after
