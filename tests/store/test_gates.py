"""Concurrency keys and rates: who is let through, and that none is left behind."""

from __future__ import annotations

import asyncio

import pytest

from kgsched.core.claiming import TypeRule
from kgsched.core.states import Status
from kgsched.core.task import AckOutcome, Gate, Limits
from tests.store.worlds import World, new_task
from tests.store.worlds.world import uids


async def gate(world: World, limit: int | None = 1, rate: int | None = None, period_ms: int | None = None) -> None:
    await world.store.gates.open([Gate("default", "g", Limits(limit, rate, period_ms))])


async def test_no_more_than_the_limit_is_claimable(world: World) -> None:
    await gate(world, 2)
    tasks = [new_task(gate="g") for _ in range(5)]
    await world.enqueue(*tasks)
    assert uids(await world.claim()) == uids(tasks[:2])
    assert await world.claim() == []
    assert await world.broken() == []


async def test_those_that_wait_do_not_stand_in_the_way_of_others(world: World) -> None:
    await gate(world)
    await world.enqueue(*(new_task(gate="g", prio_bucket=0) for _ in range(300)))
    free = await world.enqueue_one(prio_bucket=3)
    assert uids(await world.claim(5))[1:] == [free.uid]


@pytest.mark.parametrize("how", [*AckOutcome, "crash", "cancel"])
async def test_whatever_frees_the_gate_lets_the_next_one_through(world: World, how: str) -> None:
    await gate(world)
    first, second = new_task(gate="g"), new_task(gate="g")
    await world.enqueue(first, second)
    if how == "cancel":
        await world.store.tasks.cancel([first.uid])
    else:
        claim = await world.claim_one()
        assert claim.uid == first.uid
        await (world.crash(claim) if how == "crash" else world.finish(claim, how, delay_ms=0))
    again = how in ("retry", "snooze", "release", "crash")
    assert uids(await world.claim()) == [first.uid if again else second.uid]
    assert await world.broken() == []


async def test_the_next_one_is_the_most_urgent(world: World) -> None:
    await gate(world)
    first = await world.enqueue_one(gate="g")
    low, high = new_task(gate="g", prio_bucket=3), new_task(gate="g", prio_bucket=1)
    await world.enqueue(low, high)
    for expected in (first, high, low):
        assert (await world.run_one()).uid == expected.uid


async def test_a_task_that_comes_to_the_gate_later_is_let_through(world: World) -> None:
    """By promotion, by release, by settling, by retry."""
    await gate(world, 4)
    parent = await world.enqueue_one()
    scheduled, blocked = new_task(gate="g", eta=4_000_000_000_000), new_task(after=[parent], gate="g")
    await world.enqueue(scheduled, blocked)
    settled = new_task(after=[parent], gate="g")
    async with world.store.graph.transaction() as tx:
        await world.store.tasks.enqueue([settled], tx=tx)
    await world.run_one()
    await world.sweep()
    await world.make_due()
    await world.store.sweeps.promotion_sweep()
    assert sorted(uids(await world.claim())) == sorted(uids([scheduled, blocked, settled]))
    assert await world.broken() == []


async def test_an_admission_lost_in_a_crash_is_made_up_for(world: World) -> None:
    await gate(world)
    waiting = await world.enqueue_one(gate="g")
    await world.cypher("MATCH (t:Task) SET t.ready = NULL, t.gate_held = NULL, t.gate_waiting = 'g'")
    assert await world.claim() == []
    assert (await world.store.sweeps.admission()).count == 1
    assert uids(await world.claim()) == [waiting.uid]
    assert (await world.store.sweeps.admission()).count == 0


async def test_many_admissions_at_once_never_pass_the_limit(world: World) -> None:
    await gate(world, 3)
    await world.enqueue(*(new_task(gate="g") for _ in range(30)))
    done = 0
    while claims := await world.claim():
        assert len(claims) <= 3
        await asyncio.gather(*(world.finish(claim) for claim in claims), world.store.sweeps.admission())
        assert await world.count("MATCH (t:Task {gate_held: 'g'})") <= 3
        done += len(claims)
    assert done == 30
    assert await world.broken() == []


async def test_a_lower_limit_admits_nobody_until_it_is_kept(world: World) -> None:
    await gate(world, 3)
    await world.enqueue(*(new_task(gate="g") for _ in range(5)))
    claims = await world.claim()
    await gate(world, 1)
    for claim in claims[:2]:
        await world.finish(claim)
        assert await world.claim() == []
    await world.finish(claims[2])
    assert len(await world.claim()) == 1


async def test_a_higher_limit_is_used_by_the_sweep(world: World) -> None:
    await gate(world, 1)
    await world.enqueue(*(new_task(gate="g") for _ in range(5)))
    await gate(world, 4)
    await world.sweep()
    assert len(await world.claim()) == 4
    assert await world.store.gates.read("default") == [
        {"key": "g", "limit": 4, "rate": None, "period_ms": None, "held": 4, "waiting": 1}
    ]


async def test_gates_of_two_spaces_are_two(world: World) -> None:
    await world.store.gates.open([Gate(space, "g", Limits(1)) for space in ("default", "other")])
    await world.enqueue(*(new_task(gate="g", space=space) for space in ("default", "other") for _ in range(2)))
    assert len(await world.claim()) == 2


async def test_priority_of_one_that_waits_does_not_make_it_ready(world: World) -> None:
    await gate(world)
    first, second = new_task(gate="g"), new_task(gate="g")
    await world.enqueue(first, second)
    await world.store.tasks.prioritize([second.uid], 0)
    assert uids(await world.claim()) == [first.uid]
    assert await world.broken() == []


async def test_a_rate_bounds_the_starts_of_a_period(world: World) -> None:
    await gate(world, None, rate=2, period_ms=3_600_000)
    await world.enqueue(*(new_task(gate="g") for _ in range(5)))
    claims = await world.claim()
    assert len(claims) == 2
    for claim in claims:
        await world.finish(claim)
    await world.sweep()
    assert await world.claim() == []
    await world.cypher("MATCH (t:Task) SET t.started_at = 1")
    await world.cypher("MATCH (g:Gate) SET g.next_at = 1")
    await world.sweep()
    assert len(await world.claim()) == 2
    assert await world.broken(swept=False) == []


async def test_a_reserved_start_is_given_once(world: World) -> None:
    async def reserve() -> int:
        return await world.store.gates.reserve("default", "api", 2, 3_600_000)

    waits = sorted(await asyncio.gather(*(reserve() for _ in range(5))))
    assert waits[:2] == [0, 0]
    assert all(3_000_000 < wait <= 3_600_000 for wait in waits[2:4])
    assert 6_600_000 < waits[4] <= 7_200_000


async def test_a_gate_of_a_type_follows_its_declaration_and_another_stays(world: World) -> None:
    typed, free = Gate("default", "t", Limits(1), typed=True), Gate("default", "f", Limits(1))
    await world.store.gates.ensure([typed, free])
    await world.store.gates.ensure([Gate("default", "t", Limits(2), typed=True), Gate("default", "f", Limits(2))])
    assert {row["key"]: row["limit"] for row in await world.store.gates.read("default")} == {"t": 2, "f": 1}


async def test_what_is_cancelled_at_the_gate_leaves_it(world: World) -> None:
    await gate(world)
    first, second, third = (new_task(gate="g") for _ in range(3))
    await world.enqueue(first, second, third)
    await world.store.tasks.cancel([second.uid])
    await world.run_one()
    assert uids(await world.claim()) == [third.uid]
    assert await world.status(second) is Status.CANCELLED
    assert await world.broken() == []


@pytest.mark.parametrize("what", ["type", "lane"])
async def test_what_is_paused_gives_its_place_to_others_and_gets_it_again(world: World, what: str) -> None:
    async def pause(paused: bool) -> None:
        change = world.store.cluster.pause_type if what == "type" else world.store.cluster.pause_lane
        await change("b" if what == "type" else "extraction", paused, "me", None)

    await gate(world)
    rules = {"a": TypeRule("ingestion"), "b": TypeRule("extraction")}
    await world.store.cluster.publish_types({name: rule.lane for name, rule in rules.items()})
    held = await world.enqueue_one("b", lane="extraction", gate="g", prio_bucket=0)
    other = await world.enqueue_one("a", gate="g")
    await pause(True)
    await world.store.sweeps.admission()
    (claim,) = await world.claim(5, rules)
    assert claim.uid == other.uid
    await pause(False)
    await world.store.sweeps.admission()
    assert await world.claim(5, rules) == [], "the other one runs"
    await world.finish(claim)
    await world.store.sweeps.admission()
    assert uids(await world.claim(5, rules)) == [held.uid]
    assert await world.broken() == []
