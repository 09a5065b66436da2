"""Who gets what, and in which order."""

from __future__ import annotations

import asyncio

import pytest

from kgsched.core.claiming import TypeRule
from kgsched.core.states import Status
from tests.store.worlds import EVERYTHING, World, new_task
from tests.store.worlds.making import LANE
from tests.store.worlds.world import uids

FAR = 4_000_000_000_000


async def test_order_is_bucket_then_weight_then_arrival(world: World) -> None:
    tasks = {
        name: new_task(prio_bucket=bucket, weight=weight)
        for name, bucket, weight in (
            ("late in bucket 2", 2, 0),
            ("critical", 0, -400),
            ("light", 1, -5),
            ("heavy", 1, 400),
            ("plain", 1, 0),
            ("background", 3, 400),
        )
    }
    await world.enqueue(*tasks.values())
    names = {task.uid: name for name, task in tasks.items()}
    order = [names[claim.uid] for claim in await world.claim()]
    assert order == ["critical", "heavy", "plain", "light", "late in bucket 2", "background"]


async def test_the_order_runs_across_types(world: World) -> None:
    tasks = [new_task("abc"[number % 3], weight=number % 2) for number in range(12)]
    for task in tasks:
        await world.enqueue(task)
    expected = [task.uid for task in tasks if task.weight == 1] + [task.uid for task in tasks if task.weight == 0]
    claimed = [claim.uid for _ in range(12) for claim in await world.claim(1)]
    assert claimed == expected


async def test_a_bulk_enqueue_is_claimed_in_its_order(world: World) -> None:
    """PF03: 500 in one millisecond, one with a higher priority in between."""
    tasks = [new_task() for _ in range(500)]
    await world.enqueue(*tasks)
    first = await world.claim(250)
    urgent = await world.enqueue_one(prio_bucket=1)
    rest = await world.claim(500)
    assert uids(first) + uids(rest[1:]) == uids(tasks)
    assert rest[0].uid == urgent.uid


async def test_what_became_due_takes_its_place_by_priority(world: World) -> None:
    """PF01: promoted tasks go neither to the front nor last in, first out."""
    plain = [new_task(prio_bucket=2) for _ in range(100)]
    low = [new_task(prio_bucket=3, eta=FAR) for _ in range(10)]
    high = [new_task(prio_bucket=1, eta=FAR) for _ in range(10)]
    await world.enqueue(*plain, *low, *high)
    await world.make_due()
    assert (await world.store.sweeps.promotion_sweep()).count == 20
    assert uids(await world.claim(200)) == uids([*high, *plain, *low])


async def test_a_claim_is_a_running_task_with_a_lease_and_a_token(world: World) -> None:
    task = await world.enqueue_one(max_attempts=7)
    (claim,) = await world.claim(1, {"a": TypeRule(LANE, lease_ms=50_000, grace_ms=70)}, token="t", session="se")
    kept = await world.task(task)
    now = await world.now()
    assert (kept["status"], kept["claim_token"], kept["session"], kept["worker_id"]) == ("running", "t", "se", "w")
    assert (kept["attempts"], kept["claims"], kept["running_lane"], kept["grace_ms"]) == (1, 1, LANE, 70)
    assert "ready" not in kept
    assert now < kept["lease_expires_at"] <= now + 50_000
    assert (claim.attempt, claim.max_attempts, claim.claims, claim.token) == (1, 7, 1, "t")
    assert (claim.lease_ms, claim.lane, claim.releases, claim.snoozes) == (50_000, LANE, 0, 0)
    assert await world.broken() == []


async def test_a_worker_gets_only_its_types_and_foreign_ones_do_not_starve_it(world: World) -> None:
    await world.enqueue(*(new_task("foreign", prio_bucket=0) for _ in range(2000)))
    mine = await world.enqueue_one("a", prio_bucket=3)
    assert uids(await world.claim(10)) == [mine.uid]


async def test_the_lane_is_the_one_that_the_type_has_at_the_claim(world: World) -> None:
    task = await world.enqueue_one(lane="ingestion")
    (claim,) = await world.claim(1, {"a": TypeRule("research")})
    await world.finish(claim)
    assert (await world.task(task))["lane"] == "research"
    assert await world.broken() == []


@pytest.mark.parametrize("what", ["type", "lane"])
async def test_a_pause_holds_back_and_lets_go(world: World, what: str) -> None:
    cluster = world.store.cluster
    pause, name = (cluster.pause_type, "a") if what == "type" else (cluster.pause_lane, "research")
    rules = {"a": TypeRule("research"), "b": TypeRule(LANE)}
    held, free = await world.enqueue_one("a", lane="research"), await world.enqueue_one("b")
    await pause(name, True, "me", "because")
    ready, _ = await world.store.tasks.look(rules, [], 5)
    assert [candidate.type for candidate in ready] == ["b"]
    assert uids(await world.claim(5, rules)) == [free.uid]
    await pause(name, False, "me", None)
    assert uids(await world.claim(5, rules)) == [held.uid]


async def test_a_look_shows_the_heads_and_takes_nothing(world: World) -> None:
    await world.enqueue(*(new_task("ab"[number % 2], prio_bucket=number % 2) for number in range(8)))
    ready, free = await world.store.tasks.look(EVERYTHING, [], 3)
    assert sorted((one.type, one.bucket) for one in ready) == [("a", 0)] * 3 + [("b", 1)] * 3
    assert free == {}
    assert await world.count("MATCH (t:Task {status: 'pending'})") == 8


async def test_a_cap_is_exact_whoever_asks_at_once(world: World) -> None:
    await world.store.cluster.ensure_lanes({"maint": 3})
    await world.enqueue(*(new_task("job", lane="maint") for _ in range(20)))
    rules = {"job": TypeRule("maint")}

    async def ask(number: int) -> int:
        token = f"token-{number}"
        return len(await world.store.tasks.claim_capped("maint", rules, 2, token=token, worker="w", session="s"))

    assert sum(await asyncio.gather(*(ask(number) for number in range(8)))) == 3
    assert (await world.store.tasks.look(rules, ["maint"], 1))[1] == {"maint": 0}
    (row,) = await world.cypher("MATCH (t:Task {status: 'running'}) RETURN t.claim_token AS token LIMIT 1")
    dead = (await world.store.tasks.read_claims(rules, token=row["token"], session="s"))[0]
    await world.crash(dead)
    assert (await world.store.tasks.look(rules, ["maint"], 1))[1] == {"maint": 1}
    assert await ask(99) == 1
    assert await world.broken() == []


async def test_a_paused_lane_with_a_cap_gives_nothing(world: World) -> None:
    await world.store.cluster.ensure_lanes({"maint": 3})
    await world.enqueue_one("job", lane="maint")
    await world.store.cluster.pause_lane("maint", True, "me", None)
    rules = {"job": TypeRule("maint")}
    assert await world.store.tasks.claim_capped("maint", rules, 2, token="t", worker="w", session="s") == []


async def test_a_cap_that_is_there_stays_when_lanes_are_made_again(world: World) -> None:
    await world.store.cluster.ensure_lanes({"maint": 3})
    await world.store.cluster.ensure_lanes({"maint": 1, "research": None})
    assert {row["name"]: row["cap"] for row in await world.store.cluster.list_lanes()} == {"maint": 3, "research": None}


async def test_sixteen_claims_at_once_share_out_without_overlap(world: World) -> None:
    tasks = [new_task() for _ in range(200)]
    await world.enqueue(*tasks)
    shares = await asyncio.gather(*(world.claim(20) for _ in range(16)))
    claimed = [claim.uid for share in shares for claim in share]
    assert len(claimed) == len(set(claimed))
    while more := await world.claim(50):
        claimed += uids(more)
    assert sorted(claimed) == sorted(uids(tasks))


@pytest.mark.parametrize("eta", [4_000_000_000_000, 253_402_300_799_000])
async def test_a_far_eta_is_neither_claimed_nor_swept(world: World, eta: int) -> None:
    """CT19: 30 days, or the last second of the year 9999."""
    task = await world.enqueue_one(eta=eta)
    for _ in range(3):
        assert await world.claim() == []
        assert (await world.store.sweeps.promotion_sweep()).count == 0
        assert await world.reap() == []
        await world.sweep()
    kept = await world.task(task)
    assert (kept["status"], kept["attempts"], kept["claims"]) == ("scheduled", 0, 0)
    assert "lease_expires_at" not in kept
    assert (await world.store.cluster.pulse()).due_at == eta


async def test_an_eta_within_the_second_is_not_early(world: World) -> None:
    """CT20: no instant is cut to seconds."""
    now = await world.now()
    second = now // 1000 * 1000
    task = await world.enqueue_one(eta=second + 60_750)
    await world.cypher("MATCH (t:Task) SET t.due_at = timestamp() + 900")
    assert (await world.store.sweeps.promotion_sweep()).count == 0
    assert (await world.task(task))["eta"] == second + 60_750
    await world.cypher("MATCH (t:Task) SET t.due_at = timestamp()")
    assert (await world.store.sweeps.promotion_sweep()).count == 1
    assert await world.status(task) is Status.PENDING


async def test_payloads_come_in_pieces_that_fit(world: World) -> None:
    heavy = '"' + "x" * 300_000 + '"'
    await world.enqueue(*(new_task(payload=heavy) for _ in range(20)))
    claims = await world.claim(20)
    left, rounds = list(claims), 0
    while left:
        got = await world.store.tasks.read_payloads(left)
        assert got
        assert set(got.values()) == {heavy}
        left, rounds = [claim for claim in left if claim.uid not in got], rounds + 1
    assert rounds > 1


async def test_what_runs_under_a_token_is_found_after_a_lost_answer(world: World) -> None:
    await world.enqueue(*(new_task() for _ in range(5)))
    claims = await world.claim(3, token="lost")
    await world.claim(1, token="other")
    found = await world.store.tasks.read_claims(EVERYTHING, token="lost", session="s")
    assert found == claims
    assert await world.store.tasks.read_claims(EVERYTHING, token="lost", session="another") == []
