"""Cron against a minute-by-minute walk of the real clock, and against two independent libraries."""

from __future__ import annotations

from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import islice, takewhile
from zoneinfo import ZoneInfo

import pytest
from croniter import croniter
from cronsim import CronSim
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from kgsched.core.cron import Dst, Fold, Gap, parse_cron
from kgsched.core.cron_fields import CronFields, parse_fields
from kgsched.core.times import to_datetime, to_millis

CHANGES = [
    ("America/New_York", datetime(2026, 3, 8)),
    ("America/New_York", datetime(2026, 11, 1)),
    ("Australia/Lord_Howe", datetime(2026, 10, 4)),
    ("Australia/Lord_Howe", datetime(2026, 4, 5)),
    ("America/Sao_Paulo", datetime(2018, 11, 4)),  # midnight does not exist
    ("America/Sao_Paulo", datetime(2018, 2, 18)),  # the hour before midnight comes twice
    ("America/St_Johns", datetime(2010, 11, 7)),  # back over midnight, at 00:01
    ("Pacific/Apia", datetime(2011, 12, 30)),  # the day does not exist
    ("Antarctica/Troll", datetime(2026, 3, 29)),  # two hours
    ("Antarctica/Troll", datetime(2026, 10, 25)),
    ("Africa/Casablanca", datetime(2026, 2, 15)),
    ("Africa/Monrovia", datetime(1972, 1, 7)),  # seconds in the offset
]
EXPRESSIONS = [
    "*/7 * * * *", "30 */2 * * *", "0 0 * * *", "15,45 0,1,2,3,23 * * *", "0-58 1-2 * * *", "0 12 * * *", "30 2 * * 0",
    "1 0 8,30 * 6",
]  # fmt: skip
STEP = 30
POLICIES = [Dst(gap, fold) for gap in Gap for fold in Fold]


@lru_cache(maxsize=32)
def clock(zone: str, middle: datetime) -> tuple[list[int], list[datetime]]:
    """Real instants around a change, each half minute, and what the clock on the wall shows at each."""
    tz = ZoneInfo(zone)
    start = to_millis(middle - timedelta(hours=26)) // 1000
    seconds = range(start, start + 52 * 3600, STEP)
    return [second * 1000 for second in seconds], [datetime.fromtimestamp(s, tz).replace(tzinfo=None) for s in seconds]


def shows(fields: CronFields, wall: datetime) -> bool:
    return (
        wall.second == 0 and wall.minute in fields.minutes and wall.hour in fields.hours and fields.matches(wall.date())
    )


def walk(fields: CronFields, dst: Dst, instants: list[int], walls: list[datetime]) -> list[int]:
    """What a daemon that looks at the wall clock all the time would fire."""
    fired, furthest = [], walls[0] - timedelta(seconds=STEP)
    for instant, wall in zip(instants, walls, strict=True):
        ahead = wall - furthest
        takes_all = fields.every_instant or dst.fold is Fold.BOTH
        if shows(fields, wall) and (takes_all or ahead > timedelta()):
            fired.append(instant)
        elif ahead > timedelta(seconds=STEP) and not fields.every_instant and dst.gap is Gap.RUN_AFTER:
            jumped = range(STEP, int(ahead.total_seconds()), STEP)
            if any(shows(fields, furthest + timedelta(seconds=seconds)) for seconds in jumped):
                fired.append(instant)
        furthest = max(furthest, wall)
    return fired


@pytest.mark.parametrize(("zone", "middle"), CHANGES)
def test_fires_as_a_watcher_of_the_wall_clock_would(zone: str, middle: datetime) -> None:
    instants, walls = clock(zone, middle)
    for expression in EXPRESSIONS:
        for dst in POLICIES:
            fields = parse_fields(expression)
            cron = parse_cron(expression, zone, dst)
            expected = walk(fields, dst, instants, walls)
            got = list(takewhile(lambda slot: slot <= instants[-1], cron.upcoming(instants[0] - 1)))
            assert got == expected, (expression, dst)


@pytest.mark.parametrize(("zone", "middle"), CHANGES)
def test_next_and_latest_agree_with_the_whole_sequence_from_any_instant(zone: str, middle: datetime) -> None:
    instants, _ = clock(zone, middle)
    for expression in ("15,45 0,1,2,3,23 * * *", "30 */2 * * *"):
        for dst in POLICIES:
            cron = parse_cron(expression, zone, dst)
            slots = list(takewhile(lambda slot: slot <= instants[-1], cron.upcoming(instants[0] - 1)))
            for instant in instants[:: max(len(instants) // 60, 1)]:
                place = bisect_right(slots, instant)
                if place < len(slots):
                    assert cron.next_after(instant) == slots[place], (expression, dst, instant)
                if place:
                    assert cron.latest_upto(instant) == slots[place - 1], (expression, dst, instant)


def field(low: int, high: int) -> st.SearchStrategy[str]:
    number = st.integers(low, high)
    span = st.tuples(number, number).map(lambda pair: f"{min(pair)}-{max(pair)}")
    step = st.integers(1, max(high // 2, 1)).map(lambda n: f"*/{n}")
    return st.one_of(st.just("*"), number.map(str), span, step, st.lists(number, min_size=2, max_size=3).map(
        lambda numbers: ",".join(map(str, sorted(set(numbers))))
    ))  # fmt: skip


@given(
    parts=st.tuples(field(0, 59), field(0, 23), field(1, 28), field(1, 12), field(0, 6)),
    instant=st.integers(to_millis(datetime(2020, 1, 1)), to_millis(datetime(2035, 1, 1))),
)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_agrees_with_two_libraries_where_they_agree(parts: tuple[str, ...], instant: int) -> None:
    expression, start = " ".join(parts), to_datetime(instant)
    theirs = [moment.replace(tzinfo=UTC) for moment in islice(CronSim(expression, start), 3)]
    other = croniter(expression, start, ret_type=datetime)
    assume(theirs == [other.get_next() for _ in range(3)])
    slots = list(islice(parse_cron(expression).upcoming(instant), 3))
    assert slots == [to_millis(moment) for moment in theirs]
    assert parse_cron(expression).latest_upto(slots[2] - 1) == slots[1]


@given(
    zone=st.sampled_from(["Europe/Paris", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"]),
    parts=st.tuples(st.integers(0, 59), st.integers(4, 22)),
    instant=st.integers(to_millis(datetime(2020, 1, 1)), to_millis(datetime(2035, 1, 1))),
)
@settings(max_examples=60, deadline=None, derandomize=True)
def test_agrees_with_cronsim_outside_the_changed_hours(zone: str, parts: tuple[int, int], instant: int) -> None:
    expression = f"{parts[0]} {parts[1]} * * *"
    theirs = islice(CronSim(expression, to_datetime(instant).astimezone(ZoneInfo(zone))), 3)
    assert list(islice(parse_cron(expression, zone).upcoming(instant), 3)) == [to_millis(m) for m in theirs]
