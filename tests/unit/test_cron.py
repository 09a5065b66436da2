"""Pinned instants of cron expressions: changes of the clock, leap days, day rules, and texts that are refused."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import islice, pairwise

import pytest

from kgsched.core.cron import Dst, Fold, Gap, parse_cron
from kgsched.core.times import MAX_INSTANT, parse_instant, show_instant
from kgsched.errors import InvalidValue, UnknownName

SKIP, BOTH = Dst(gap=Gap.SKIP), Dst(fold=Fold.BOTH)


def ms(text: str) -> int:
    return parse_instant(text)[0]


def fires(expression: str, zone: str, after: str, count: int, dst: Dst | None = None) -> list[str]:
    cron = parse_cron(expression, zone, dst or Dst())
    slots = list(islice(cron.upcoming(ms(after)), count))
    assert all(earlier < later for earlier, later in pairwise([ms(after), *slots]))
    assert [cron.next_after(before) for before in [ms(after), *slots[:-1]]] == slots
    assert [cron.latest_upto(slot) for slot in slots] == slots
    return [str(show_instant(slot)).removesuffix(":00.000Z") for slot in slots]


@pytest.mark.parametrize(
    ("expression", "zone", "after", "expected"),
    [
        # a daily time stays on its wall clock over both changes
        ("4 16 * * *", "America/New_York", "2025-03-08T21:04Z",
         ["2025-03-09T20:04", "2025-03-10T20:04", "2025-03-11T20:04"]),
        ("0 20 * * *", "Europe/Paris", "2022-10-29T22:00Z",
         ["2022-10-30T19:00", "2022-10-31T19:00", "2022-11-01T19:00"]),
        ("0 12 * * 1", "Europe/Amsterdam", "2013-10-21T10:00Z", ["2013-10-28T11:00", "2013-11-04T11:00"]),
        ("0 7,9 * * *", "America/Los_Angeles", "2020-03-07T17:00Z",
         ["2020-03-08T14:00", "2020-03-08T16:00", "2020-03-09T14:00"]),
        ("0 7-8 * * *", "America/Los_Angeles", "2020-03-07T16:00Z",
         ["2020-03-08T14:00", "2020-03-08T15:00", "2020-03-09T14:00"]),
        # hourly: one per real hour, also when an hour comes twice
        ("0 * * * *", "US/Pacific", "2026-11-01T07:00Z",
         ["2026-11-01T08:00", "2026-11-01T09:00", "2026-11-01T10:00", "2026-11-01T11:00"]),
        ("0 0-23 * * *", "US/Pacific", "2026-11-01T07:00Z",
         ["2026-11-01T08:00", "2026-11-01T09:00", "2026-11-01T10:00"]),
        # a time that does not exist runs once, when the clock has jumped
        ("0 2 * * *", "US/Eastern", "2013-03-09T07:00Z", ["2013-03-10T07:00", "2013-03-11T06:00"]),
        ("30 2 * * *", "Europe/Berlin", "2016-03-26T01:30Z", ["2016-03-27T01:00", "2016-03-28T00:30"]),
        ("15 2 * * *", "Australia/Lord_Howe", "2026-10-02T15:45Z", ["2026-10-03T15:30", "2026-10-04T15:15"]),
        ("10,20,30 2 * * *", "America/New_York", "2026-03-07T12:00Z",
         ["2026-03-08T07:00", "2026-03-09T06:10", "2026-03-09T06:20"]),
        ("0 12 * * *", "Pacific/Apia", "2011-12-29T12:00Z",  # a whole day that does not exist
         ["2011-12-29T22:00", "2011-12-30T10:00", "2011-12-30T22:00"]),
        # a wildcard minute takes the instants that exist, no others
        ("*/30 2 * * *", "America/New_York", "2026-03-07T12:00Z", ["2026-03-09T06:00", "2026-03-09T06:30"]),
        ("*/30 1 * * *", "America/New_York", "2026-11-01T05:00Z",
         ["2026-11-01T05:30", "2026-11-01T06:00", "2026-11-01T06:30", "2026-11-02T06:00"]),
        # a time that comes twice runs the first time only, asked between the two as well
        ("30 1 * * *", "America/New_York", "2026-11-01T05:00Z", ["2026-11-01T05:30", "2026-11-02T06:30"]),
        ("30 1 * * *", "America/New_York", "2026-11-01T05:45Z", ["2026-11-02T06:30"]),
        ("30 1 * * *", "America/New_York", "2026-11-01T06:30Z", ["2026-11-02T06:30"]),
        # 29 February, over a year 2100 that has none
        ("0 9 29 2 *", "UTC", "2016-02-29T09:00Z", ["2020-02-29T09:00", "2024-02-29T09:00", "2028-02-29T09:00"]),
        ("0 9 29 2 *", "UTC", "2096-02-29T09:00Z", ["2104-02-29T09:00"]),
        ("0 0 29 2 */7", "UTC", "2088-02-29T00:00Z", ["2128-02-29T00:00"]),
        # day of month and day of week: either when both are restricted, both when one starts with a star
        ("0 11 1-7 * FRI", "UTC", "2024-10-11T00:00Z",
         ["2024-10-11T11:00", "2024-10-18T11:00", "2024-10-25T11:00", "2024-11-01T11:00"]),
        ("0 0 1-31 * 4", "UTC", "2024-12-01T00:00Z",
         ["2024-12-02T00:00", "2024-12-03T00:00", "2024-12-04T00:00", "2024-12-05T00:00"]),
        ("0 5 15 * 0,1,2,3,4,5,6", "UTC", "2026-01-01T05:00Z", ["2026-01-02T05:00", "2026-01-03T05:00"]),
        ("0 0 */2 * 1", "UTC", "2026-01-01T00:00Z", ["2026-01-05T00:00", "2026-01-19T00:00", "2026-02-09T00:00"]),
        # Sunday is 0 and 7, in ranges too
        ("0 0 * * 5-7", "UTC", "2026-01-01T00:00Z",
         ["2026-01-02T00:00", "2026-01-03T00:00", "2026-01-04T00:00", "2026-01-09T00:00"]),
        ("0 0 * * 7", "UTC", "2026-01-01T00:00Z", ["2026-01-04T00:00", "2026-01-11T00:00"]),
        ("0 0 * * 0-7", "UTC", "2026-01-01T00:00Z", ["2026-01-02T00:00", "2026-01-03T00:00", "2026-01-04T00:00"]),
        ("0 0 * * mon-sun", "UTC", "2026-01-01T00:00Z", ["2026-01-02T00:00", "2026-01-03T00:00", "2026-01-04T00:00"]),
        ("0 0 * * sat-sun", "UTC", "2026-01-01T00:00Z", ["2026-01-03T00:00", "2026-01-04T00:00", "2026-01-10T00:00"]),
        ("0 0 * * 6-0", "UTC", "2026-01-01T00:00Z", ["2026-01-03T00:00", "2026-01-04T00:00", "2026-01-10T00:00"]),
        # to the millisecond
        ("0 * * * *", "UTC", "2026-01-01T14:59:59.923Z", ["2026-01-01T15:00", "2026-01-01T16:00"]),
        ("0 * * * *", "UTC", "2026-01-01T15:00:00.928Z", ["2026-01-01T16:00"]),
        ("* * * * *", "UTC", "2026-01-01T00:00:59.999Z", ["2026-01-01T00:01", "2026-01-01T00:02"]),
    ],
)  # fmt: skip
def test_fires_at_the_stated_wall_clock_time(expression: str, zone: str, after: str, expected: list[str]) -> None:
    assert fires(expression, zone, after, len(expected)) == expected


def test_gap_skip_leaves_out_a_time_that_does_not_exist() -> None:
    assert fires("0 2 * * *", "US/Eastern", "2013-03-09T07:00Z", 1, SKIP) == ["2013-03-11T06:00"]


def test_fold_both_fires_in_both_passes_of_a_repeated_hour() -> None:
    expected = ["2026-11-01T05:30", "2026-11-01T06:30", "2026-11-02T06:30"]
    assert fires("30 1 * * *", "America/New_York", "2026-11-01T05:00Z", 3, BOTH) == expected


def test_repeated_time_on_both_sides_of_midnight_stays_in_order() -> None:
    # 2010-11-07 00:01 went back to 23:01 of the day before
    expected = ["2010-11-07T02:00", "2010-11-07T02:30", "2010-11-07T03:00", "2010-11-07T03:30"]
    assert fires("0,30 0,23 6,7 11 *", "America/St_Johns", "2010-11-07T01:30Z", 4, BOTH)[:2] == expected[:2]
    assert fires("*/30 * * * *", "America/St_Johns", "2010-11-07T01:30Z", 4) == expected


def test_end_of_time_is_none_and_not_an_error() -> None:
    cron = parse_cron("* * * * *")
    assert cron.next_after(MAX_INSTANT) is None
    assert cron.next_after(MAX_INSTANT - 1) is None
    assert cron.latest_upto(MAX_INSTANT) is not None
    assert parse_cron("0 0 1 1 *", "Pacific/Kiritimati").next_after(-(10**15)) is not None
    assert cron.latest_upto(-1) is None


def test_result_does_not_depend_on_the_zone_of_the_process() -> None:
    code = (
        "from kgsched.core.cron import parse_cron; c = parse_cron('30 2 * * *', 'Europe/Berlin');"
        "print(c.next_after(1458955800000), c.latest_upto(1459000000000))"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "TZ": zone}, capture_output=True, text=True, check=True
        ).stdout
        for zone in ("Asia/Tokyo", "America/New_York", "UTC")
    }
    assert answers == {f"{ms('2016-03-27T01:00Z')} {ms('2016-03-26T01:30Z')}\n"}


@pytest.mark.parametrize(
    ("alias", "expression"),
    [("@hourly", "0 * * * *"), (" @Daily ", "0 0 * * *"), ("@weekly", "0 0 * * 0"), ("@monthly", "0 0 1 * *")],
)
def test_alias_is_stored_as_its_five_fields(alias: str, expression: str) -> None:
    assert parse_cron(alias) == parse_cron(expression)
    assert parse_cron(alias).text == f"cron {expression}"


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("61 * * * *", "minute '61' is not 0 to 59"),
        ("* 24 * * *", "hour '24' is not 0 to 23"),
        ("0 0 0 * *", "day of month '0'"),
        ("0 0 * 13 *", "month '13'"),
        ("0 0 * foo *", "month 'foo'"),
        ("0 0 * * 8", "day of week '8'"),
        ("* * * *", "has 4 fields, not 5"),
        ("0 0 0 1 1 *", "no field for seconds"),
        ("", "has 0 fields"),
        ("0 0 30 2 *", "day of month 30 does not exist"),
        ("0 0 31 4,6,9,11 *", "day of month 31 does not exist"),
        ("*/90 * * * *", "use an interval, 'every 90m'"),
        ("*/0 * * * *", "step '0'"),
        ("1/ * * * *", "step ''"),
        ("0 22-2 * * *", "write it as two, like 22-23,0-2"),
        ("0 0 * * fri-mon", "runs backwards"),
        ("1,,2 * * * *", "minute ''"),
        ("-1 * * * *", "minute ''"),
        ("\u0663 * * * *", "minute '\u0663'"),
        ("0 0 L * *", "day of month 'l'"),
        ("@reboot", "is not one of @yearly"),
        ("* " * 300, "at most 512 characters"),
    ],
)
def test_bad_expression_is_refused_with_the_reason(expression: str, reason: str) -> None:
    with pytest.raises(InvalidValue, match="cron") as refused:
        parse_cron(expression)
    assert reason in str(refused.value)


def test_day_that_only_the_week_can_save_is_accepted() -> None:
    assert fires("0 0 30 2 1", "UTC", "2026-02-01T00:00Z", 2) == ["2026-02-02T00:00", "2026-02-09T00:00"]


def test_expression_that_never_fires_in_its_zone_is_refused() -> None:
    with pytest.raises(InvalidValue, match="never fires"):
        parse_cron("30 2 8-14 3 */7", "America/New_York", SKIP)


@pytest.mark.parametrize("name", ["utc", "Europe/Pariss", "../etc/passwd", "/etc/passwd", "", "localtime", "right/UTC"])
def test_unknown_zone_is_refused(name: str) -> None:
    with pytest.raises((UnknownName, InvalidValue), match="time zone"):
        parse_cron("0 0 * * *", name)


@pytest.mark.parametrize("name", ["EST5EDT", "UTC", "America/Argentina/Buenos_Aires"])
def test_every_zone_that_the_database_of_zones_knows_is_accepted(name: str) -> None:
    assert parse_cron("0 0 * * *", name).timezone == name
