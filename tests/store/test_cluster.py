"""What processes share: leader, workers, types, loops, and the pulse that shows what is due."""

from __future__ import annotations

import asyncio

from kgsched.core.task import Pulse
from tests.store.worlds import World, new_task
from tests.store.worlds.plans import make_schedule

EVER = 4_000_000_000_000


async def term(world: World) -> int | None:
    return (await world.store.cluster.pulse()).term


async def test_one_of_many_becomes_leader_and_stays(world: World) -> None:
    cluster = world.store.cluster
    won = await asyncio.gather(*(cluster.acquire(f"p{number}", 60_000) for number in range(8)))
    assert sum(won) == 1
    holder = f"p{won.index(True)}"
    pulse = await cluster.pulse()
    assert (pulse.holder, pulse.term) == (holder, 1)
    assert await cluster.acquire(holder, 60_000)
    assert await term(world) == 1
    assert not await cluster.acquire("another", 60_000)


async def test_a_lease_that_ran_out_changes_hands_and_term(world: World) -> None:
    cluster = world.store.cluster
    await cluster.acquire("one", 60_000)
    await world.cypher("MATCH (l:Lease) SET l.expires_at = 1")
    assert await cluster.acquire("two", 60_000)
    assert not await cluster.acquire("one", 60_000)
    assert await term(world) == 2


async def test_who_resigns_makes_room_at_once_and_only_the_holder_can(world: World) -> None:
    cluster = world.store.cluster
    await cluster.acquire("one", 60_000)
    await cluster.resign("two")
    assert not await cluster.acquire("two", 60_000)
    await cluster.resign("one")
    assert await cluster.acquire("two", 60_000)


async def test_the_pulse_shows_the_heads_of_all_that_is_due(world: World) -> None:
    empty = await world.store.cluster.pulse()
    assert empty == Pulse(now=empty.now)
    slot = await make_schedule(world)
    parent = await world.enqueue_one()
    await world.enqueue(new_task(eta=EVER), new_task(eta=EVER + 5))
    async with world.store.graph.transaction() as tx:
        await world.store.tasks.enqueue([new_task(after=[parent])], tx=tx)
    claim = await world.claim_one()
    pulse = await world.store.cluster.pulse()
    assert (pulse.due_at, pulse.next_run) == (EVER, slot)
    assert pulse.lease_expires_at == claim.lease_expires_at
    assert pulse.unsettled is not None
    await world.sweep()
    await world.finish(claim, "failed")
    pulse = await world.store.cluster.pulse()
    assert pulse.cascade_pending is not None
    assert (pulse.unsettled, pulse.lease_expires_at) == (None, None)


async def test_workers_come_beat_and_leave(world: World) -> None:
    cluster = world.store.cluster
    await cluster.register_worker("w1", {"host": "h", "pid": 1, "types": ["a"]}, 60_000)
    await cluster.register_worker("w2", {"host": "h", "pid": 2, "types": []}, 60_000)
    assert await cluster.beat_worker("w1", 3, 60_000)
    rows = {row["worker"]["id"]: row["worker"] for row in await cluster.list_workers()}
    assert (rows["w1"]["running"], rows["w1"]["types"], rows["w2"]["running"]) == (3, ["a"], 0)
    await cluster.leave_worker("w1")
    assert [row["worker"]["id"] for row in await cluster.list_workers()] == ["w2"]


async def test_silent_workers_are_forgotten_and_told_so(world: World) -> None:
    cluster = world.store.cluster
    await cluster.register_worker("silent", {}, 60_000)
    await cluster.register_worker("alive", {}, 60_000)
    await world.cypher("MATCH (w:Worker {id: 'silent'}) SET w.expires_at = 1")
    assert (await world.store.sweeps.forget_workers()).count == 1
    assert not await cluster.beat_worker("silent", 0, 60_000)
    assert await cluster.beat_worker("alive", 0, 60_000)


async def test_the_type_table_holds_the_newest_lane_and_keeps_a_pause(world: World) -> None:
    cluster = world.store.cluster
    await cluster.publish_types({"a": "ingestion", "b": "research"})
    await cluster.pause_type("a", True, "me", "why")
    await cluster.publish_types({"a": "extraction"})
    assert await cluster.read_types() == {"a": "extraction", "b": "research"}
    (row,) = [row for row in await cluster.list_types() if row["name"] == "a"]
    assert (row["paused_by"], row["paused_why"], row["paused_at"] is not None) == ("me", "why", True)


async def test_lanes_show_what_runs_in_them(world: World) -> None:
    await world.store.cluster.ensure_lanes({"ingestion": None, "maint": 1})
    await world.enqueue(new_task(), new_task())
    await world.claim(2)
    rows = {row["name"]: (row["cap"], row["running"]) for row in await world.store.cluster.list_lanes()}
    assert rows == {"ingestion": (None, 2), "maint": (1, 0)}


async def test_loops_say_when_they_last_worked(world: World) -> None:
    await world.store.cluster.note_loop("reaper", "w", None)
    await world.store.cluster.note_loop("reaper", "w2", "2 reaped")
    (row,) = await world.store.cluster.list_loops()
    assert (row["name"], row["worker"], row["detail"]) == ("reaper", "w2", "2 reaped")
    assert abs(row["last_pass_at"] - await world.now()) < 60_000
