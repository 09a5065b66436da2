"""Intervals, instants, the text of triggers, words for people, jitter."""

from __future__ import annotations

from itertools import islice

import pytest

from kgsched.core.cron import Cron, Dst, Fold
from kgsched.core.times import MAX_INSTANT, parse_instant
from kgsched.core.triggers import (
    At,
    Every,
    Trigger,
    anchored,
    choose_trigger,
    describe,
    jitter_offset,
    parse_trigger,
)
from kgsched.errors import InvalidValue, UnknownName

NOW = parse_instant("2026-03-28T10:20:30.500Z")[0]


def test_first_run_of_an_interval_is_one_interval_after_its_anchor() -> None:
    every = Every(60_000, NOW)
    assert every.next_after(NOW) == NOW + 60_000
    assert every.next_after(0) == NOW + 60_000
    assert every.latest_upto(NOW + 59_999) is None
    assert every.latest_upto(NOW + 60_000) == NOW + 60_000


def test_interval_keeps_its_phase_over_midnight_and_changes_of_the_clock() -> None:
    every = Every(7_000, NOW)
    slots = list(islice(every.upcoming(NOW), 50_000))  # four days, with a change of the clock in Europe
    assert slots == [NOW + 7_000 * n for n in range(1, 50_001)]


def test_late_looks_never_shift_an_interval() -> None:
    every, slot, seen = Every(60_000, NOW), NOW, []
    for n in range(1_000):
        slot = every.next_after(slot + n * 37 % 900) or 0
        seen.append(slot)
    assert seen == [NOW + 60_000 * n for n in range(1, 1_001)]


def test_interval_ends_quietly_at_the_end_of_time() -> None:
    assert Every(60_000, MAX_INSTANT - 1).next_after(MAX_INSTANT) is None
    assert list(Every(60_000, MAX_INSTANT - 120_000).upcoming(MAX_INSTANT - 60_001)) == [
        MAX_INSTANT - 60_000,
        MAX_INSTANT,
    ]


@pytest.mark.parametrize("interval", [999, 0, -1, 10**18])
def test_interval_below_a_second_or_beyond_reason_is_refused(interval: int) -> None:
    with pytest.raises(InvalidValue, match="not between 1s and 100 years"):
        Every(interval)


def test_instant_fires_once_to_the_millisecond() -> None:
    at = At(NOW)
    assert at.next_after(NOW - 1) == NOW
    assert at.next_after(NOW) is None
    assert (at.latest_upto(NOW - 1), at.latest_upto(NOW)) == (None, NOW)
    assert list(at.upcoming(0)) == [NOW]


@pytest.mark.parametrize(
    ("trigger", "text"),
    [
        (choose_trigger(every="90s"), "every 1m30s"),
        (choose_trigger(every=1800), "every 30m"),
        (choose_trigger(every="1500ms"), "every 1s500ms"),
        (
            choose_trigger(cron="0  6 * * MON-fri", timezone="Europe/Paris", dst=Dst(fold=Fold.BOTH)),
            "cron 0 6 * * mon-fri",
        ),
        (choose_trigger(at="2026-11-30T23:19:00+02:00"), "at 2026-11-30T21:19:00.000Z"),
    ],
)
def test_trigger_comes_back_from_its_text(trigger: Trigger, text: str) -> None:
    assert trigger.text == text
    if isinstance(trigger, Cron):
        assert parse_trigger(text, "Europe/Paris", Dst(fold=Fold.BOTH)) == trigger
    else:
        assert parse_trigger(text) == trigger


@pytest.mark.parametrize("text", ["", "hourly", "every", "every x", "at", "at noon", "cron", "cron * * *", "Every 5m"])
def test_text_that_is_no_trigger_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue):
        parse_trigger(text)


def test_exactly_one_way_to_say_when() -> None:
    for given, found in (({}, "none"), ({"every": 5, "cron": "* * * * *"}, "every and cron")):
        with pytest.raises(InvalidValue, match=f"exactly one of every, cron and at, not {found}"):
            choose_trigger(**given)  # type: ignore[arg-type]
    with pytest.raises(InvalidValue, match="timezone only goes with cron, not with every"):
        choose_trigger(every=5, timezone="UTC")
    with pytest.raises(UnknownName, match="did you mean 'Europe/Paris'"):
        choose_trigger(cron="* * * * *", timezone="Europe/Pari")


def test_interval_counts_from_creation_or_fires_first_at_its_start() -> None:
    assert anchored(Every(60_000), NOW, None).next_after(NOW) == NOW + 60_000
    assert anchored(Every(60_000), NOW, NOW + 5_000).next_after(NOW) == NOW + 5_000
    assert anchored(At(NOW), 5, 6) == At(NOW)


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("* * * * *", "every minute"),
        ("*/15 * * * *", "every 15 minutes"),
        ("0 * * * *", "every hour"),
        ("15 * * * *", "at minute 15 of every hour"),
        ("0 */2 * * *", "every 2 hours"),
        ("0 6,18 * * *", "at 06:00 and 18:00"),
        ("*/5 9-17 * * mon-fri", "every 5 minutes in hours 9-17 on mon-fri"),
        ("0 6 * * sat,sun", "at 06:00 on sat and sun"),
        ("0 0 1-7 * fri", "at 00:00 on days 1-7 of the month or on fri"),
        ("0 0 */10 * 1", "at 00:00 on days 1, 11, 21 and 31 of the month if on mon"),
        ("0 9 29 2 *", "at 09:00 on day 29 of the month in feb"),
        ("0 0 1 1-3,6 *", "at 00:00 on day 1 of the month in jan-mar and jun"),
        ("*/7 3 * * *", "at minutes 0, 7, 14, 21, 28, 35, 42, 49 and 56 in hour 3"),
        ("0 0 1-31 * 4", "at 00:00"),
    ],
)
def test_cron_in_plain_words(expression: str, words: str) -> None:
    assert describe(choose_trigger(cron=expression)) == f"{words}, UTC"


def test_other_triggers_in_plain_words() -> None:
    assert describe(Every(1_800_000)) == "every 30m"
    assert describe(At(0)) == "at 1970-01-01T00:00:00.000Z"


def test_jitter_is_the_same_for_a_slot_everywhere_and_spreads_slots_and_schedules() -> None:
    assert jitter_offset("default", "feed", NOW, 60_000) == jitter_offset("default", "feed", NOW, 60_000)
    by_name = {jitter_offset("default", f"s{n}", NOW, 59_999) // 1_000 for n in range(500)}
    by_slot = {jitter_offset("default", "feed", NOW + n, 59_999) // 1_000 for n in range(500)}
    assert by_name == by_slot == set(range(60))
    assert jitter_offset("default", "feed", NOW, 0) == 0
    assert jitter_offset("a", "b-1", NOW, 10**9) != jitter_offset("a-b", "1", NOW, 10**9)
    # pinned: a new version must not move the tasks of a running one
    assert jitter_offset("default", "feed", 1_800_000_000_000, 60_000) == 21_684
