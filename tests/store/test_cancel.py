"""Cancelling, and what follows from a bad end."""

from __future__ import annotations

import pytest

from kgsched.core.states import Status
from kgsched.core.task import AckAnswer, Verdict
from tests.store.worlds import World, new_task
from tests.store.worlds.world import uids

FAR = 4_000_000_000_000


async def test_what_does_not_run_ends_at_once(world: World) -> None:
    pending = await world.enqueue_one(key="k")
    scheduled = await world.enqueue_one(eta=FAR)
    blocked = await world.enqueue_one(after=[scheduled])
    answers = await world.store.tasks.cancel(uids([pending, scheduled, blocked]))
    assert set(answers.values()) == {("cancelled", Status.CANCELLED)}
    assert await world.claim() == []
    assert await world.counters() == {"cancelled": 3}
    await world.sweep()
    assert await world.broken() == []


async def test_what_runs_is_asked_and_may_still_complete(world: World) -> None:
    """The answer says that it was only asked for; a body that was faster stays completed."""
    await world.enqueue(new_task(), new_task())
    stops, completes = await world.claim(2)
    answers = await world.store.tasks.cancel([stops.uid, completes.uid])
    assert set(answers.values()) == {("requested", Status.RUNNING)}
    assert await world.finish(stops, "failed") == AckAnswer(Verdict.WON, Status.CANCELLED)
    assert await world.finish(completes) == AckAnswer(Verdict.WON, Status.COMPLETED)
    assert await world.counters() == {"cancelled": 1, "completed": 1}
    assert await world.broken() == []


async def test_a_cancel_that_was_asked_for_survives_the_death_of_the_worker(world: World) -> None:
    await world.enqueue_one()
    claim = await world.claim_one()
    await world.store.tasks.cancel([claim.uid])
    await world.crash(claim)
    assert await world.status(claim) is Status.CANCELLED
    assert await world.claim() == []


async def test_what_is_over_stays_as_it_is_and_what_is_unknown_is_absent(world: World) -> None:
    task = await world.enqueue_one()
    await world.run_one()
    answers = await world.store.tasks.cancel([task.uid, "nope"])
    assert answers == {task.uid: ("over", Status.COMPLETED)}
    assert await world.counters() == {"completed": 1}


async def test_the_same_uid_twice_in_one_cancel_counts_once(world: World) -> None:
    task = await world.enqueue_one()
    await world.store.tasks.cancel([task.uid, task.uid])
    assert await world.counters() == {"cancelled": 1}


@pytest.mark.parametrize("outcome", ["failed", "dead_letter"])
async def test_a_bad_end_cancels_the_whole_chain_and_names_its_root(world: World, outcome: str) -> None:
    """DP03."""
    root = new_task()
    chain = [root]
    for _ in range(5):
        chain.append(new_task(after=[chain[-1]]))
    await world.enqueue(*chain)
    await world.run_one(outcome)
    await world.sweep()
    for one in chain[1:]:
        kept = await world.task(one)
        assert (kept["status"], kept["cancelled_because"]) == ("cancelled", root.uid)
    assert await world.counters() == {outcome: 1, "cancelled": 5}
    assert await world.broken() == []


async def test_a_retry_of_the_root_brings_the_chain_back(world: World) -> None:
    """DP03, second half."""
    root = new_task()
    chain = [root, new_task(after=[root])]
    chain.append(new_task(after=[chain[1]]))
    await world.enqueue(*chain)
    await world.run_one("failed")
    await world.sweep()
    answer = await world.store.tasks.retry(root.uid, "me")
    assert answer is not None
    assert answer["answer"] == "retried"
    assert await world.statuses(*chain) == ["pending", "blocked", "blocked"]
    for expected in chain:
        assert (await world.run_one()).uid == expected.uid
    assert await world.counters() == {"completed": 3}
    assert await world.broken() == []


@pytest.mark.parametrize("state", ["blocked", "pending", "running"])
async def test_a_child_does_not_run_when_its_parent_is_cancelled(world: World, state: str) -> None:
    """DP09."""
    above = await world.enqueue_one() if state == "blocked" else None
    parent = await world.enqueue_one(after=[above] if above else [])
    child = await world.enqueue_one(after=[parent])
    claim = await world.claim_one() if state == "running" else None
    await world.store.tasks.cancel([parent.uid])
    if claim:
        await world.finish(claim, "cancelled")
    await world.sweep()
    kept = await world.task(child)
    assert (kept["status"], kept["cancelled_because"]) == ("cancelled", parent.uid)
    assert [claim.uid for claim in await world.claim()] == ([above.uid] if above else [])
    assert await world.broken() == []


async def test_a_cancelled_child_is_not_brought_to_life_by_its_parent(world: World) -> None:
    """DP09."""
    parent = await world.enqueue_one()
    child = await world.enqueue_one(after=[parent])
    await world.store.tasks.cancel([child.uid])
    await world.run_one()
    await world.sweep()
    assert await world.status(child) is Status.CANCELLED
    assert await world.claim() == []
    assert await world.broken() == []


async def test_a_mixed_family_goes_by_the_rule_of_each_edge(world: World) -> None:
    parent, other = await world.enqueue_one(), await world.enqueue_one(eta=FAR)
    children = {rule: await world.enqueue_one(after=[(parent, rule)]) for rule in ("cancel", "hold", "ignore")}
    both = await world.enqueue_one(after=[(parent, "ignore"), (other, "cancel")])
    await world.run_one("failed")
    await world.sweep()
    assert await world.statuses(*children.values(), both) == ["cancelled", "blocked", "pending", "blocked"]
    assert (await world.task(both))["deps_left"] == 1
    assert await world.broken() == []


async def test_a_wide_cascade_goes_step_by_step(world: World) -> None:
    parent = await world.enqueue_one()
    await world.enqueue(*(new_task("b", after=[parent]) for _ in range(1100)))
    await world.run_one("failed")
    step = await world.store.sweeps.cascade_step()
    assert (step.count, step.more) == (500, True)
    await world.sweep()
    assert await world.counters() == {"failed": 1, "cancelled": 1100}
    assert await world.broken() == []
