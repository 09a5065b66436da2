"""Which slots a schedule fires, and when it is due next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise

import pytest

from kgsched.core.cron import Dst, Gap
from kgsched.core.schedule import (
    MAX_COUNTED,
    MAX_TICKS,
    CatchUp,
    FirePlan,
    Overlap,
    ScheduleState,
    backoff_delay,
    first_run,
    plan_fire,
    reschedule,
)
from kgsched.core.times import parse_instant
from kgsched.core.triggers import At, Every, Trigger, choose_trigger
from kgsched.errors import InvalidValue

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


def ms(text: str) -> int:
    return parse_instant(text)[0]


DAWN = ms("2026-01-01T00:00Z")


def schedule(trigger: Trigger | str, next_run: int | None, **fields: object) -> ScheduleState:
    made = choose_trigger(cron=trigger) if isinstance(trigger, str) else trigger
    return replace(ScheduleState("default", "s", made, next_run=next_run), **fields)  # type: ignore[arg-type]


def slots(plan: FirePlan) -> list[int]:
    return [tick.slot for tick in plan.ticks]


def fire(state: ScheduleState, now: int) -> tuple[ScheduleState, list[int]]:
    """The state after a pass, as the statement would write it, and the slots that were fired."""
    plan = plan_fire(state, now)
    if not plan.due:
        return state, []
    fired = slots(plan)
    return replace(state, next_run=plan.next_run, last_slot=fired[-1] if fired else state.last_slot), fired


def run(state: ScheduleState, passes: Iterable[int]) -> list[int]:
    fired: list[int] = []
    for now in passes:
        state, now_fired = fire(state, now)
        fired += now_fired
    return fired


# nothing to do


@pytest.mark.parametrize(
    "state",
    [
        schedule("* * * * *", DAWN + 1),
        schedule("* * * * *", None),
        schedule("* * * * *", DAWN, enabled=False),
        schedule("* * * * *", DAWN, backoff_until=DAWN + 1),
    ],
)
def test_what_is_not_due_gives_an_empty_plan_that_says_so(state: ScheduleState) -> None:
    assert plan_fire(state, DAWN) == FirePlan(due=False, next_run=state.next_run)


# one slot


def test_due_slot_fires_exactly_and_is_followed_by_the_next() -> None:
    plan = plan_fire(schedule("0 * * * *", DAWN), DAWN)
    assert slots(plan) == [DAWN]
    assert plan.ticks[0].eta == DAWN
    assert (plan.next_run, plan.missed) == (DAWN + HOUR, 0)


def test_early_and_late_wake_ups_key_the_slot_once() -> None:
    state = schedule("0 * * * *", ms("2026-01-01T15:00Z"))
    passes = [
        ms(f"2026-01-01T{moment}Z") for moment in ("14:59:59.923", "15:00:00.000", "15:00:00.001", "15:00:00.928")
    ]
    assert run(state, passes) == [ms("2026-01-01T15:00Z")]
    assert fire(state, passes[-1])[0].next_run == ms("2026-01-01T16:00Z")


def test_one_shot_is_not_due_before_its_millisecond_and_never_again_after() -> None:
    state = schedule(At(DAWN + 750), DAWN + 750)
    assert not plan_fire(state, DAWN + 500).due
    plan = plan_fire(state, DAWN + 750)
    assert (slots(plan), plan.next_run) == ([DAWN + 750], None)


def test_two_processes_plan_the_same() -> None:
    state = schedule("* * * * *", DAWN, jitter_ms=30_000, last_slot=DAWN - MINUTE)
    assert plan_fire(state, DAWN + 20) == plan_fire(replace(state), DAWN + 20)
    assert plan_fire(state, DAWN + 20).ticks == plan_fire(state, DAWN + 900).ticks


# missed slots


def test_latest_fires_the_newest_missed_slot_and_counts_the_rest() -> None:
    plan = plan_fire(schedule("*/10 * * * *", DAWN), DAWN + 35 * MINUTE)
    assert (slots(plan), plan.missed, plan.next_run) == ([DAWN + 30 * MINUTE], 3, DAWN + 40 * MINUTE)


def test_none_drops_what_is_later_than_a_minute() -> None:
    state = schedule("*/10 * * * *", DAWN, catch_up=CatchUp.NONE)
    on_time = plan_fire(state, DAWN + MINUTE)
    late = plan_fire(state, DAWN + MINUTE + 1)
    assert (slots(on_time), on_time.missed) == ([DAWN], 0)
    assert (slots(late), late.missed, late.next_run) == ([], 1, DAWN + 10 * MINUTE)
    after_an_hour = plan_fire(state, DAWN + HOUR + 5)
    assert (slots(after_an_hour), after_an_hour.missed) == ([DAWN + HOUR], 6)


def test_all_fires_every_missed_slot_a_hundred_at_a_time() -> None:
    state = schedule("* * * * *", DAWN, catch_up=CatchUp.ALL)
    now, fired, sizes = DAWN + 250 * MINUTE, [], []
    while plan_fire(state, now).due:
        state, some = fire(state, now)
        fired += some
        sizes.append(len(some))
    assert fired == [DAWN + n * MINUTE for n in range(251)]
    assert sizes == [MAX_TICKS, MAX_TICKS, 51]
    assert state.next_run == now + MINUTE


def test_all_leaves_out_what_is_older_than_its_window() -> None:
    state = schedule("* * * * *", DAWN, catch_up=CatchUp.ALL, catch_up_window_ms=3 * MINUTE)
    plan = plan_fire(state, DAWN + 10 * MINUTE)
    assert slots(plan) == [DAWN + n * MINUTE for n in (7, 8, 9, 10)]
    assert (plan.missed, plan.next_run) == (7, DAWN + 11 * MINUTE)


@pytest.mark.parametrize("catch_up", list(CatchUp))
@pytest.mark.parametrize(
    "trigger",
    [Every(1_000), choose_trigger(cron="* * * * *", timezone="Europe/Paris"), choose_trigger(cron="0 9 29 2 *")],
)
def test_years_of_missed_slots_take_bounded_work(trigger: Trigger, catch_up: CatchUp) -> None:
    first = trigger.next_after(ms("1990-01-01T00:00Z"))
    state = schedule(trigger, first, catch_up=catch_up, catch_up_window_ms=HOUR if catch_up is CatchUp.ALL else None)
    plan = plan_fire(state, DAWN + 5)  # a walk over a billion seconds would run into the time limit of the test
    assert plan.due
    assert len(plan.ticks) <= MAX_TICKS
    assert 0 < plan.missed <= MAX_COUNTED or slots(plan) == [first]


@pytest.mark.parametrize("catch_up", [CatchUp.LATEST, CatchUp.ALL])
def test_slow_and_repeated_passes_lose_and_double_nothing(catch_up: CatchUp) -> None:
    state = schedule("* * * * *", DAWN, last_slot=DAWN - MINUTE, catch_up=catch_up)
    passes = [ms(f"2026-01-01T00:{moment}Z") for moment in ("00:00.100", "00:59.900", "02:00.200", "02:30.000")]
    minutes = [(slot - DAWN) // MINUTE for slot in run(state, passes)]
    assert minutes == ([0, 1, 2] if catch_up is CatchUp.ALL else [0, 2])  # latest folds minute 1 into minute 2


def test_lag_of_the_ticker_never_moves_an_interval() -> None:
    state = schedule(Every(MINUTE, DAWN), DAWN + MINUTE)
    fired = run(state, (DAWN + n * MINUTE + n * 97 % 900 for n in range(1, 1_001)))
    assert len(fired) == 1_000
    assert {later - earlier for earlier, later in pairwise(fired)} == {MINUTE}


def test_restarts_more_often_than_the_interval_do_not_starve_it() -> None:
    first = first_run(Every(10 * MINUTE, DAWN), DAWN)
    kept = {"created_at": DAWN, "trigger": "every 10m", "space": "default", "name": "s", "next_run": first}
    fired: list[int] = []
    for now in range(DAWN, DAWN + 2 * HOUR + 1, 2 * MINUTE):  # each pass is a new process that reads the node
        state, some = fire(ScheduleState.of(kept), now)
        kept |= {"next_run": state.next_run, "last_slot": state.last_slot}
        fired += some
    assert fired == [DAWN + n * 10 * MINUTE for n in range(1, 13)]


# a clock or a next_run that went back


def test_slots_up_to_the_last_fired_one_do_not_fire_again() -> None:
    state = schedule("* * * * *", DAWN, last_slot=DAWN + 5 * MINUTE)
    assert plan_fire(state, DAWN + 3 * MINUTE) == FirePlan(due=True, next_run=DAWN + 6 * MINUTE)
    again = plan_fire(replace(state, catch_up=CatchUp.ALL), DAWN + 7 * MINUTE)
    assert slots(again) == [DAWN + 6 * MINUTE, DAWN + 7 * MINUTE]


# bounds


def test_start_and_end_are_inside_and_nothing_else() -> None:
    bounds = {"start": DAWN + 2 * MINUTE, "end": DAWN + 4 * MINUTE}
    trigger = choose_trigger(cron="* * * * *")
    first = first_run(trigger, DAWN, **bounds)
    assert first == DAWN + 2 * MINUTE
    state = schedule(trigger, first, **bounds, catch_up=CatchUp.ALL)
    plan = plan_fire(state, DAWN + HOUR)
    assert (slots(plan), plan.next_run) == ([DAWN + n * MINUTE for n in (2, 3, 4)], None)
    assert plan_fire(replace(state, next_run=DAWN + 5 * MINUTE), DAWN + HOUR) == FirePlan(due=True)
    assert first_run(trigger, DAWN + 4 * MINUTE, **bounds) is None


# jitter


def test_jitter_delays_the_task_and_never_the_slot() -> None:
    etas = []
    for n in range(60):
        plan = plan_fire(schedule("* * * * *", DAWN + n * MINUTE, jitter_ms=30_000), DAWN + n * MINUTE + 5)
        assert slots(plan) == [DAWN + n * MINUTE]
        etas.append(plan.ticks[0].eta - plan.ticks[0].slot)
    assert min(etas) >= 0
    assert max(etas) <= 30_000
    assert len(set(etas)) > 50


def test_many_schedules_due_after_an_outage_are_spread_again() -> None:
    now = DAWN + HOUR + 55_000
    state = schedule(Every(MINUTE, DAWN), DAWN + MINUTE, jitter_ms=50_000)
    plans = [plan_fire(replace(state, name=f"s{n}"), now) for n in range(500)]
    assert {(plan.ticks[0].eta - now) // 1_000 for plan in plans} == set(range(50))
    exact = plan_fire(replace(state, jitter_ms=0), now)
    assert exact.ticks[0].eta == exact.ticks[0].slot


# made, edited, enabled, disabled


def test_edit_to_a_time_that_has_passed_waits_for_the_next_one() -> None:
    before = schedule("20 11 * * *", ms("2026-01-02T11:20Z"), last_slot=ms("2026-01-01T11:20Z"))
    after = replace(before, trigger=choose_trigger(cron="25 11 * * *"))
    assert reschedule(before, after, ms("2026-01-01T11:30Z")) == ms("2026-01-02T11:25Z")


def test_enabling_again_waits_for_the_next_slot() -> None:
    state = schedule("0 * * * *", ms("2026-01-01T01:00Z"), last_slot=DAWN)
    off = replace(state, enabled=False)
    assert reschedule(state, off, ms("2026-01-01T00:55Z")) is None
    assert reschedule(replace(off, next_run=None), state, ms("2026-01-01T01:55Z")) == ms("2026-01-01T02:00Z")


def test_identical_write_and_what_is_no_timing_leave_next_run_even_when_due() -> None:
    due = ms("2026-01-01T12:05Z")
    state = schedule("5 12 * * *", due)
    for moment in ("12:04:59.900", "12:05:00.000", "12:05:00.100"):
        now = ms(f"2026-01-01T{moment}Z")
        assert reschedule(state, replace(state, version=9, overlap=Overlap.ALLOW), now) == due
    assert run(state, [ms("2026-01-01T12:05:00.100Z")]) == [due]


def test_writing_intervals_in_turn_ends_with_the_phase_and_cadence_of_the_last() -> None:
    state = schedule(Every(8_000, DAWN), DAWN + 8_000)
    now = DAWN
    for n in range(21):
        now += 137
        after = replace(state, trigger=Every(8_000 if n % 2 == 0 else 3_000, DAWN))
        state = replace(after, next_run=reschedule(state, after, now))
    assert state.next_run == DAWN + 8_000
    assert run(state, range(now, DAWN + 41_000, 500)) == [DAWN + n * 8_000 for n in range(1, 6)]


def test_change_of_kind_or_zone_moves_next_run_and_fires_nothing() -> None:
    now = ms("2026-01-01T10:00:00.500Z")
    every = schedule(Every(5_000, DAWN), now)
    cron = replace(every, trigger=choose_trigger(cron="0 12 * * *"))
    assert reschedule(every, cron, now) == ms("2026-01-01T12:00Z")
    abroad = replace(cron, trigger=choose_trigger(cron="0 12 * * *", timezone="America/New_York"))
    assert reschedule(replace(cron, next_run=ms("2026-01-01T12:00Z")), abroad, now) == ms("2026-01-01T17:00Z")
    assert reschedule(cron, every, now) == ms("2026-01-01T10:00:05Z")


def test_new_schedule_first_runs_after_now() -> None:
    assert reschedule(None, schedule("0 * * * *", None), DAWN) == DAWN + HOUR
    assert reschedule(None, schedule(At(DAWN), None), DAWN) is None
    assert first_run(Every(MINUTE, DAWN), DAWN, start=DAWN + DAY) == DAWN + DAY


# failures


def test_backoff_doubles_up_to_sixteen_times_the_base() -> None:
    assert [backoff_delay(n, 1_000) for n in range(8)] == [0, 1_000, 2_000, 4_000, 8_000, 16_000, 16_000, 16_000]
    assert backoff_delay(10**9, 300_000) == 16 * 300_000
    assert schedule(Every(MINUTE), None).backoff_base_ms == MINUTE
    assert schedule("* * * * *", None).backoff_base_ms == 300_000


def test_slot_that_passed_during_backoff_is_caught_up() -> None:
    state = schedule("* * * * *", DAWN, backoff_until=DAWN + 5 * MINUTE)
    assert run(state, [DAWN + MINUTE, DAWN + 5 * MINUTE]) == [DAWN + 5 * MINUTE]


# from a node


def test_state_is_read_from_the_properties_of_a_node() -> None:
    properties = {
        "space": "default", "name": "s", "trigger": "cron 30 2 * * *", "timezone": "Europe/Berlin", "dst_gap": "skip",
        "enabled": True, "next_run": DAWN, "version": 3, "jitter_ms": 5, "overlap": "allow", "catch_up": "all",
        "catch_up_window_ms": 9, "created_at": 1, "something_else": 1,
    }  # fmt: skip
    state = ScheduleState.of(properties)
    trigger = choose_trigger(cron="30 2 * * *", timezone="Europe/Berlin", dst=Dst(gap=Gap.SKIP))
    assert state == schedule(trigger, DAWN, version=3, jitter_ms=5, overlap=Overlap.ALLOW, catch_up=CatchUp.ALL,
                             catch_up_window_ms=9)  # fmt: skip


def test_broken_trigger_on_a_node_is_refused_with_its_text() -> None:
    with pytest.raises(InvalidValue, match="cron '1 2 3'"):
        ScheduleState.of({"space": "default", "name": "s", "trigger": "cron 1 2 3"})
