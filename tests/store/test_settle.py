"""Tasks that were enqueued inside a user's transaction."""

from __future__ import annotations

import asyncio

import pytest

from kgsched.core.states import Status
from kgsched.core.task import Answer
from kgsched.errors import InvalidValue, NotFound
from tests.store.worlds import World, new_task


async def test_nothing_is_there_before_the_commit_and_all_after_it(world: World) -> None:
    task = new_task()
    async with world.store.graph.transaction() as tx:
        await world.store.tasks.enqueue([task], tx=tx)
        assert await world.claim() == []
    assert [claim.uid for claim in await world.claim()] == [task.uid]


async def test_a_rolled_back_transaction_leaves_no_task(world: World) -> None:
    async def enqueue_and_fail() -> None:
        async with world.store.graph.transaction() as tx:
            await world.store.tasks.enqueue([new_task()], tx=tx)
            raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        await enqueue_and_fail()
    assert await world.count("MATCH (t:Task)") == 0


async def test_edges_are_made_after_the_commit(world: World) -> None:
    parent = await world.enqueue_one()
    child = new_task(after=[parent, (parent, "ignore")], spawned_by=parent.uid)
    async with world.store.graph.transaction() as tx:
        await world.store.tasks.enqueue([child], tx=tx)
    kept = await world.task(child)
    assert kept["status"] == "blocked"
    assert "deps_left" not in kept
    assert (await world.store.cluster.pulse()).unsettled is not None
    assert (await world.store.sweeps.settle()).count == 1
    kept = await world.task(child)
    assert (kept["status"], kept["deps_left"]) == ("blocked", 1)
    assert {"unsettled", "after", "spawned_by"}.isdisjoint(kept)
    assert await world.count("MATCH (:Task {uid: $p})-[:SPAWNED]->()", p=parent.uid) == 1
    await world.run_one()
    assert await world.status(child) is Status.PENDING
    assert await world.broken() == []


@pytest.mark.parametrize(
    ("outcome", "rule", "expected"),
    [
        ("completed", "cancel", "pending"),
        ("failed", "cancel", "cancelled"),
        ("failed", "hold", "blocked"),
        ("failed", "ignore", "pending"),
    ],
)
async def test_rules_are_applied_when_it_settles(world: World, outcome: str, rule: str, expected: str) -> None:
    parent = await world.enqueue_one()
    child = new_task(after=[(parent, rule)])
    async with world.store.graph.transaction() as tx:
        await world.store.tasks.enqueue([child], tx=tx)
    await world.run_one(outcome)
    await world.sweep()
    kept = await world.task(child)
    assert kept["status"] == expected
    assert kept.get("cancelled_because") == (parent.uid if expected == "cancelled" else None)
    assert await world.broken() == []


async def test_a_parent_deleted_before_the_edges_are_made_cancels_and_says_so(world: World) -> None:
    parent = await world.enqueue_one()
    child = new_task(after=[parent])
    async with world.store.graph.transaction() as tx:
        await world.store.tasks.enqueue([child], tx=tx)
    await world.run_one()
    await world.store.sweeps.purge(4_000_000_000_000)
    await world.sweep()
    kept = await world.task(child)
    assert kept["status"] == "cancelled"
    assert "deleted" in kept["last_error"]
    assert await world.broken() == []


async def test_a_chain_in_one_transaction_is_allowed(world: World) -> None:
    first = new_task()
    second = new_task(after=[first])
    async with world.store.graph.transaction() as tx:
        await world.store.tasks.enqueue([second, first], tx=tx)
    await world.sweep()
    assert await world.statuses(first, second) == ["pending", "blocked"]
    assert await world.broken() == []


async def test_a_parent_that_does_not_exist_is_refused(world: World) -> None:
    async def enqueue() -> None:
        async with world.store.graph.transaction() as tx:
            await world.store.tasks.enqueue([new_task(after=[new_task()])], tx=tx)

    with pytest.raises(NotFound):
        await enqueue()
    assert await world.count("MATCH (t:Task)") == 0


async def test_an_id_that_exists_stands_for_the_request(world: World) -> None:
    first = await world.enqueue_one(id="i")
    async with world.store.graph.transaction() as tx:
        (answer,) = await world.store.tasks.enqueue([new_task(id="i")], tx=tx)
    assert (answer.uid, answer.answer) == (first.uid, Answer.EXISTING)


async def test_an_open_transaction_stalls_neither_beat_nor_finish_of_the_parent(world: World) -> None:
    parent = await world.enqueue_one()
    claim = await world.claim_one()
    child = new_task(after=[parent])
    async with world.store.graph.transaction() as tx:
        await world.store.tasks.enqueue([child], tx=tx)
        async with asyncio.timeout(20):
            assert await world.store.tasks.extend(claim, 60_000)
            await world.finish(claim)
    await world.sweep()
    assert await world.statuses(parent, child) == ["completed", "pending"]
    assert await world.broken() == []


async def test_a_cancelled_child_is_not_settled(world: World) -> None:
    parent = await world.enqueue_one()
    child = new_task(after=[parent])
    async with world.store.graph.transaction() as tx:
        await world.store.tasks.enqueue([child], tx=tx)
    await world.store.tasks.cancel([child.uid])
    await world.sweep()
    assert await world.status(child) is Status.CANCELLED
    assert await world.broken() == []


@pytest.mark.parametrize("timeout", [0, -1.0, float("nan"), float("inf")])
async def test_a_transaction_without_an_end_is_refused(world: World, timeout: float) -> None:
    with pytest.raises(InvalidValue, match="above 0"):
        async with world.store.graph.transaction(timeout):
            pass
