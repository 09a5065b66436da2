"""How a file's wishes meet what was changed live."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kgsched.core.desired import DesiredSchedule, LiveSchedule, MergePlan, merge, plan_apply, set_interval
from kgsched.errors import InvalidValue

FEED = DesiredSchedule("feed", trigger="every 30m", type="scheduled_job", payload='{"job":"feed"}', prio_bucket=2)
DAILY = DesiredSchedule("daily", trigger="cron 0 6 * * *", type="report", timezone="Europe/Paris", dst_gap="run_after",
                        dst_fold="first")  # fmt: skip


def live(entry: DesiredSchedule, **changed: object) -> dict[str, object]:
    return {**entry.values(), "name": entry.name, "next_run": 5, **changed}


def test_new_entry_is_created_with_all_its_values() -> None:
    plan = merge(None, FEED, None)
    assert plan == MergePlan("feed", FEED.values(), created=True, base=FEED.values())


def test_applying_the_same_file_twice_changes_nothing() -> None:
    plan = merge(FEED.values(), FEED, live(FEED))
    assert (dict(plan.changes), plan.notes, plan.created) == ({}, (), False)


def test_what_was_changed_live_stays_while_the_file_says_the_same() -> None:
    plan = merge(FEED.values(), FEED, live(FEED, trigger="every 15m", prio_bucket=0, enabled=False))
    assert plan.changes == {}
    assert plan.notes == (
        "feed: 'every 15m' was set live and stays; the file says 'every 30m'",
        "feed: priority critical was set live and stays; the file says priority normal",
        "feed: enabled false was set live and stays; the file says enabled true",
    )
    assert plan.base == FEED.values()


def test_file_that_changes_the_same_field_wins_and_says_so() -> None:
    plan = merge(FEED.values(), replace(FEED, prio_bucket=1, trigger="every 1h"), live(FEED, prio_bucket=0))
    assert plan.changes == {"prio_bucket": 1, "trigger": "every 1h"}
    assert plan.notes == ("feed: priority critical was set live; the file changed to priority high and wins",)


def test_change_of_one_field_in_the_file_leaves_other_live_changes_alone() -> None:
    plan = merge(FEED.values(), replace(FEED, jitter_ms=5_000), live(FEED, enabled=False))
    assert plan.changes == {"jitter_ms": 5_000}
    assert plan.notes == ("feed: enabled false was set live and stays; the file says enabled true",)


def test_file_that_comes_round_to_the_live_value_changes_nothing() -> None:
    plan = merge(FEED.values(), replace(FEED, prio_bucket=0), live(FEED, prio_bucket=0))
    assert (plan.changes, plan.notes) == ({}, ())
    assert plan.base is not None
    assert plan.base["prio_bucket"] == 0


def test_expression_and_zone_are_merged_as_one() -> None:
    abroad = live(DAILY, trigger="cron 0 22 * * *", timezone="America/New_York")
    plan = merge(DAILY.values(), replace(DAILY, trigger="cron 0 7 * * *"), abroad)
    assert plan.changes == {"trigger": "cron 0 7 * * *", "timezone": "Europe/Paris"}
    assert plan.notes == (
        "daily: 'cron 0 22 * * * America/New_York' was set live; "
        "the file changed to 'cron 0 7 * * * Europe/Paris' and wins",
    )


def test_interval_set_on_a_cron_schedule_stays_until_the_file_changes_its_time() -> None:
    change = set_interval("daily", live(DAILY), 900_000)
    assert change.changes["trigger"] == "every 15m"
    assert change.notes == ("daily: was 'cron 0 6 * * *' in Europe/Paris; it is 'every 15m' now",)
    now = live(DAILY, **change.changes)
    assert merge(DAILY.values(), DAILY, now).changes == {}
    changed = merge(DAILY.values(), replace(DAILY, trigger="cron 0 7 * * *"), now).changes
    assert changed == {
        "trigger": "cron 0 7 * * *",
        "timezone": "Europe/Paris",
        "dst_gap": "run_after",
        "dst_fold": "first",
    }


def test_interval_of_an_interval_schedule_is_just_changed() -> None:
    assert set_interval("feed", live(FEED), 900_000) == MergePlan("feed", {"trigger": "every 15m"})
    assert set_interval("feed", live(FEED), 1_800_000) == MergePlan("feed", {}, ("feed: is 'every 30m' already",))
    with pytest.raises(InvalidValue, match="schedule 'feed': interval 500ms"):
        set_interval("feed", live(FEED), 500)


def test_field_that_an_older_file_did_not_know_is_the_files() -> None:
    base = {key: value for key, value in FEED.values().items() if key != "jitter_ms"}
    plan = merge(base, replace(FEED, jitter_ms=7), live(FEED))
    assert (plan.changes, plan.notes) == ({"jitter_ms": 7}, ())


def test_schedule_made_by_hand_is_taken_over_when_the_file_names_it() -> None:
    plan = merge(None, FEED, live(FEED, prio_bucket=0))
    assert plan.changes == {"prio_bucket": 2}
    assert plan.notes == ("feed: existed already; the file takes it over",)


def test_renamed_entry_is_made_and_the_old_one_disabled_while_others_stay() -> None:
    graph = {
        "a": LiveSchedule(live(replace(FEED, name="a")), replace(FEED, name="a").values()),
        "b": LiveSchedule(live(replace(FEED, name="b")), replace(FEED, name="b").values()),
        "by_hand": LiveSchedule(live(replace(FEED, name="by_hand"))),
    }
    plans = {plan.name: plan for plan in plan_apply([replace(FEED, name="a2"), replace(FEED, name="b")], graph)}
    assert set(plans) == {"a2", "b", "a"}
    assert plans["a2"].created
    assert plans["b"].changes == {}
    assert plans["a"] == MergePlan("a", {"enabled": False}, ("a: no longer in the file; disabled",), base=None)


def test_a_file_touches_nothing_of_another_file_but_what_it_names_too() -> None:
    other = LiveSchedule(live(FEED, prio_bucket=0), FEED.values(), "/srv/a.yml")
    assert plan_apply([], {"feed": other}, "/srv/b.yml") == []
    (plan,) = plan_apply([FEED], {"feed": other}, "/srv/b.yml")
    assert plan.changes == {"prio_bucket": 2}
    assert plan.notes == ("feed: was made by /srv/a.yml; this file takes it over",)


def test_entry_that_comes_back_starts_from_the_file_alone() -> None:
    removed = LiveSchedule(live(FEED, enabled=False, prio_bucket=0, payload='{"old":1}'))
    assert plan_apply([], {"feed": removed}) == []
    (plan,) = plan_apply([FEED], {"feed": removed})
    assert plan.changes == {"enabled": True, "prio_bucket": 2, "payload": FEED.payload}
    assert plan.base == FEED.values()


def test_removed_entry_that_was_off_only_loses_its_base() -> None:
    (plan,) = plan_apply([], {"feed": LiveSchedule(live(FEED, enabled=False), FEED.values())})
    assert plan == MergePlan("feed", {}, ("feed: no longer in the file; it was disabled already",))
