"""Schedules fire each slot at most once, whatever happens."""

from __future__ import annotations

import asyncio

import pytest

from kgsched.core.states import Status
from tests.store.worlds import World
from tests.store.worlds.plans import HOUR, make_schedule, move_next_run, schedule, ticks
from tests.store.worlds.world import uids


async def fire(world: World) -> int:
    return (await world.store.schedules.fire_due()).count


async def test_a_due_slot_makes_a_tick_and_the_schedule_advances(world: World) -> None:
    slot = await make_schedule(world, payload='{"job":"x"}', prio_bucket=1)
    assert await fire(world) == 1
    (tick,) = await ticks(world)
    assert (tick["id"], tick["slot"], tick["status"]) == (f"sched:n:{slot}", slot, "pending")
    assert (tick["type"], tick["payload"], tick["prio_bucket"]) == ("a", '{"job":"x"}', 1)
    kept = await schedule(world)
    assert (kept["last_slot"], kept["next_run"]) == (slot, slot + HOUR)
    assert await fire(world) == 0
    (claim,) = await world.claim()
    assert (claim.schedule, claim.slot) == ("n", slot)
    assert await world.broken() == []


@pytest.mark.parametrize("purged", [False, True])
async def test_a_slot_does_not_fire_again_when_the_clock_goes_back(world: World, purged: bool) -> None:
    slot = await make_schedule(world)
    await fire(world)
    await world.run_one()
    if purged:
        await world.store.sweeps.purge(4_000_000_000_000)
    for back in (0, 1, 5):
        await move_next_run(world, slot - back * HOUR)
        assert await fire(world) == 0
    assert len(await ticks(world)) == (0 if purged else 1)
    assert (await schedule(world))["next_run"] == slot + HOUR


async def test_a_slot_whose_tick_exists_is_not_made_twice(world: World) -> None:
    slot = await make_schedule(world, overlap="allow")
    await fire(world)
    await world.cypher("MATCH (s:Schedule) SET s.last_slot = NULL, s.next_run = $slot", slot=slot)
    assert await fire(world) == 0
    assert len(await ticks(world)) == 1
    assert (await schedule(world))["next_run"] == slot + HOUR


async def test_five_tickers_at_once_make_one_tick(world: World) -> None:
    await make_schedule(world)
    counts = await asyncio.gather(*(fire(world) for _ in range(5)))
    assert sorted(counts) == [0, 0, 0, 0, 1]
    assert len(await ticks(world)) == 1


async def test_of_missed_slots_the_latest_fires_and_the_others_are_counted(world: World) -> None:
    slot = await make_schedule(world)
    await move_next_run(world, slot - 3 * HOUR)
    assert await fire(world) == 1
    assert [tick["slot"] for tick in await ticks(world)] == [slot]
    assert (await schedule(world))["missed"] == 3


async def test_catch_up_all_fires_every_slot_in_bounded_passes(world: World) -> None:
    slot = await make_schedule(world, catch_up="all", overlap="allow")
    await move_next_run(world, slot - 149 * HOUR)
    fired = [await fire(world) for _ in range(3)]
    assert fired == [100, 50, 0]
    assert [tick["slot"] for tick in await ticks(world)] == [slot - n * HOUR for n in range(149, -1, -1)]
    assert await world.broken() == []


async def test_a_tick_that_waits_coalesces_the_next_slot(world: World) -> None:
    slot = await make_schedule(world)
    await move_next_run(world, slot - HOUR)
    await world.cypher("MATCH (s:Schedule) SET s.next_run = $slot", slot=slot)
    await fire(world)
    await world.cypher("MATCH (t:Task) SET t.slot = t.slot - $h, t.id = 'old'", h=HOUR)
    await world.cypher("MATCH (s:Schedule) SET s.last_slot = $slot - $h, s.next_run = $slot", slot=slot, h=HOUR)
    assert await fire(world) == 0
    assert len(await ticks(world)) == 1
    assert (await schedule(world))["last_slot"] == slot


async def test_a_tick_that_runs_lets_the_next_one_wait_but_not_run(world: World) -> None:
    slot = await make_schedule(world, next_run=1)
    await world.cypher("MATCH (s:Schedule) SET s.next_run = $slot", slot=slot - HOUR)
    await world.store.schedules.run_now("default", "n")
    first = await world.claim_one()
    assert await fire(world) == 1
    assert await world.claim() == []
    assert [tick["status"] for tick in await ticks(world)] == ["pending", "running"]
    await world.finish(first)
    assert len(await world.claim()) == 1
    assert await world.broken() == []


async def test_overlap_allow_runs_ticks_side_by_side(world: World) -> None:
    slot = await make_schedule(world, overlap="allow", catch_up="all")
    await move_next_run(world, slot - 2 * HOUR)
    assert await fire(world) == 3
    assert len(await world.claim()) == 3


async def test_overlap_cancel_other_ends_what_waits_and_stops_what_runs(world: World) -> None:
    slot = await make_schedule(world, overlap="cancel_other")
    await world.store.schedules.run_now("default", "n")
    running = await world.claim_one()
    await move_next_run(world, slot)
    assert await fire(world) == 1
    assert "cancel_requested_at" in await world.task(running)
    (new,) = [tick for tick in await ticks(world) if tick["status"] == "pending"]
    assert new["slot"] == slot


async def test_ticks_that_piled_up_collapse_into_the_newest(world: World) -> None:
    slot = await make_schedule(world)
    await make_schedule(world, "others", overlap="allow", catch_up="all")
    await move_next_run(world, slot - 2 * HOUR, "others")
    await fire(world)
    for back in (1, 2):
        await world.cypher(
            """MATCH (t:Task {schedule: 'n'}) WITH t LIMIT 1
               CREATE (c:Task) SET c = t {.*, uid: $uid, id: $uid, slot: t.slot - $back}""",
            uid=f"0{back}",
            back=back * HOUR,
        )
    swept = await world.store.sweeps.collapse_stale_ticks()
    assert swept.count == 2
    assert [tick["status"] for tick in await ticks(world)] == ["cancelled", "cancelled", "pending"]
    assert {tick["status"] for tick in await ticks(world, "others")} == {"pending"}
    assert await world.counters() == {"cancelled": 2}


async def test_run_now_makes_a_tick_without_moving_the_phase(world: World) -> None:
    slot = await make_schedule(world, next_run=4_000_000_000_000)
    before = await schedule(world)
    row = await world.store.schedules.run_now("default", "n")
    assert row is not None
    assert row["answer"] == "created"
    assert row["id"].startswith("run:n:")
    after = await schedule(world)
    assert (after["next_run"], after.get("last_slot")) == (before["next_run"], before.get("last_slot"))
    assert after["last_run"] >= before["created_at"]
    assert slot not in [tick.get("slot") for tick in await ticks(world)]
    assert len(await world.claim()) == 1
    assert await world.store.schedules.run_now("default", "nope") is None


async def test_run_now_coalesces_with_a_tick_that_waits_and_raises_it(world: World) -> None:
    await make_schedule(world)
    await fire(world)
    (tick,) = await ticks(world)
    row = await world.store.schedules.run_now("default", "n", None, 0)
    assert row is not None
    assert (row["answer"], row["id"]) == ("coalesced", tick["id"])
    assert (await world.claim_one()).prio_bucket == 0
    assert await world.broken() == []


async def test_run_now_with_another_payload_is_refused_while_one_waits(world: World) -> None:
    await make_schedule(world)
    await fire(world)
    row = await world.store.schedules.run_now("default", "n", '{"other":1}')
    assert row is not None
    assert row["answer"] == "other_payload"
    assert len(await ticks(world)) == 1


@pytest.mark.parametrize("change", [{"enabled": False, "next_run": None}, {"backoff_until": 4_000_000_000_000}])
async def test_run_now_works_on_what_does_not_fire_by_itself(world: World, change: dict[str, object]) -> None:
    await make_schedule(world)
    assert await world.store.schedules.change("default", "n", 1, change, "me", "off") == 2
    assert await fire(world) == 0
    row = await world.store.schedules.run_now("default", "n")
    assert row is not None
    assert row["answer"] == "created"


async def test_a_tick_reaped_and_claimed_again_is_a_tick_that_waits_again(world: World) -> None:
    await make_schedule(world)
    await fire(world)
    claim = await world.claim_one()
    await world.crash(claim)
    assert (await ticks(world))[0]["tick_of"] == "n"
    assert await world.broken() == []
    assert (await world.claim_one()).uid == claim.uid


async def test_a_schedule_that_cannot_be_fired_is_set_aside_and_the_others_go_on(world: World) -> None:
    await make_schedule(world, "bad", trigger="cron 99 * * * *")
    await make_schedule(world, "good")
    assert await fire(world) == 1
    bad = await schedule(world, "bad")
    assert (bad["enabled"], "next_run" in bad) == (False, False)
    assert "99" in bad["paused_why"]
    assert len(await ticks(world, "good")) == 1


async def test_failures_in_a_row_wait_longer_and_a_success_clears_them(world: World) -> None:
    await make_schedule(world, every_ms=1000)
    record = world.store.schedules.record_run
    for number, factor in enumerate((1, 2, 4, 8, 16, 16, 16)):
        before = await world.now()
        await record("default", "n", f"tick-{number}", False, "why")
        kept = await schedule(world)
        assert before <= kept["backoff_until"] - factor * 1000 <= await world.now()
        assert kept["consecutive_failures"] == number + 1
    assert await fire(world) == 0
    await record("default", "n", "tick-7", True, None)
    kept = await schedule(world)
    assert (kept["consecutive_failures"], "backoff_until" in kept) == (0, False)
    assert await fire(world) == 1


async def test_a_tick_is_counted_once(world: World) -> None:
    await make_schedule(world)
    for _ in range(3):
        await world.store.schedules.record_run("default", "n", "tick", False, "why")
    assert (await schedule(world))["consecutive_failures"] == 1


async def test_too_many_failures_in_a_row_pause_the_schedule(world: World) -> None:
    await make_schedule(world, pause_after_failures=2)
    for number in range(2):
        await world.store.schedules.record_run("default", "n", f"tick-{number}", False, "why")
    kept = await schedule(world)
    assert (kept["enabled"], "next_run" in kept) == (False, False)
    assert "2 times" in kept["paused_why"]


async def test_a_deleted_schedule_comes_back_fresh_but_fires_no_slot_twice(world: World) -> None:
    slot = await make_schedule(world, every_ms=1000)
    await fire(world)
    await world.run_one()
    version = (await schedule(world))["version"]
    gone = {"deleted_at": 1, "enabled": False, "next_run": None}
    assert await world.store.schedules.change("default", "n", version, gone, "me", "deleted") is not None
    assert await world.store.schedules.read("default") == []
    assert await world.store.schedules.run_now("default", "n") is None
    assert await make_schedule(world) == slot
    assert (await schedule(world))["consecutive_failures"] == 0
    assert await fire(world) == 0
    assert len(await ticks(world)) == 1


async def test_changes_are_kept_and_a_stale_one_is_refused(world: World) -> None:
    await make_schedule(world)
    schedules = world.store.schedules
    assert await schedules.create("default", "n", {}, "me", "again") is None
    assert await schedules.change("default", "n", 1, {"prio_bucket": 0}, "me", "urgent") == 2
    assert await schedules.change("default", "n", 1, {"prio_bucket": 3}, "you", "late") is None
    assert await schedules.change("default", "nope", 1, {}, "me", "x") is None
    revisions = [row.get("revision", row) for row in await schedules.revisions("default", "n")]
    assert [(one["number"], one["by"], one["note"], one["prio_bucket"]) for one in revisions] == [
        (2, "me", "urgent", 0),
        (1, "test", "made", 2),
    ]


async def test_reads_show_what_waits(world: World) -> None:
    await make_schedule(world, "one")
    await make_schedule(world, "two", enabled=False, next_run=None)
    await fire(world)
    rows = await world.store.schedules.read("default")
    assert [(row["schedule"]["name"], row["waiting"] is not None) for row in rows] == [("one", True), ("two", False)]
    assert [row["schedule"]["name"] for row in await world.store.schedules.read("default", ["two"])] == ["two"]
    assert await world.store.schedules.read("other") == []


async def test_a_timer_that_wakes_early_neither_doubles_nor_skips_a_slot(world: World) -> None:
    """CT20: the slot is the schedule's instant, never the moment of the wake-up."""
    slot = await make_schedule(world)
    await move_next_run(world, slot + HOUR)
    assert await fire(world) == 0
    await move_next_run(world, slot)
    assert [await fire(world) for _ in range(4)] == [1, 0, 0, 0]
    assert [tick["slot"] for tick in await ticks(world)] == [slot]
    assert (await schedule(world))["next_run"] == slot + HOUR
    assert uids(await world.claim()) != []
    assert await world.statuses((await ticks(world))[0]["uid"]) == [Status.RUNNING]
