"""Bringing back what is dead."""

from __future__ import annotations

import pytest

from kgsched.core.states import Status
from kgsched.core.task import AckOutcome, Unique
from tests.store.worlds import World, new_task
from tests.store.worlds.world import uids


async def retry(world: World, uid: str, n: int = 500) -> tuple[str, str | None]:
    row = await world.store.tasks.retry(uid, "me", n)
    assert row is not None
    return row["answer"], row["because"]


@pytest.mark.parametrize("outcome", ["failed", "dead_letter", "cancelled"])
async def test_a_dead_task_starts_over_with_its_history(world: World, outcome: str) -> None:
    task = await world.enqueue_one(key="k", max_attempts=1)
    await world.run_one(outcome)
    assert await retry(world, task.uid) == ("retried", None)
    kept = await world.task(task)
    assert (kept["status"], kept["attempts"], kept["claims"], kept["live_key"]) == ("pending", 0, 1, "u:default:k")
    assert {"last_error", "failed_at", "finished_at", "result", "cancel_requested_at"}.isdisjoint(kept)
    history = await world.attempts(task)
    assert [(one["outcome"], one.get("message")) for one in history] == [(outcome, "it went wrong"), ("retried", "me")]
    assert await world.counters() == {}
    assert (await world.run_one()).claims == 2
    assert await world.broken() == []


async def test_a_retried_task_waits_for_its_eta_again(world: World) -> None:
    task = await world.enqueue_one(eta=4_000_000_000_000)
    await world.store.tasks.cancel([task.uid])
    await retry(world, task.uid)
    assert await world.status(task) is Status.SCHEDULED
    assert await world.broken() == []


async def test_what_a_person_cancelled_stays_cancelled(world: World) -> None:
    root = await world.enqueue_one()
    cascaded, by_hand = await world.enqueue_one(after=[root]), await world.enqueue_one(after=[root])
    await world.store.tasks.cancel([by_hand.uid])
    await world.run_one("failed")
    await world.sweep()
    await retry(world, root.uid)
    assert await world.statuses(cascaded, by_hand) == ["blocked", "cancelled"]
    assert await world.broken() == []


async def test_it_is_refused_with_the_reason(world: World) -> None:
    alive = await world.enqueue_one()
    assert (await retry(world, alive.uid))[0] == "not_dead"
    await world.run_one()
    assert (await retry(world, alive.uid))[0] == "not_dead"
    assert await world.store.tasks.retry("nope", "me") is None

    parent = await world.enqueue_one()
    child = await world.enqueue_one(after=[parent])
    await world.run_one("failed")
    assert (await retry(world, parent.uid))[0] == "cascading"
    await world.sweep()
    assert await retry(world, child.uid) == ("parent_dead", parent.uid)

    keyed = await world.enqueue_one(key="k")
    await world.run_one("failed")
    holder = await world.enqueue_one(key="k")
    assert await retry(world, keyed.uid) == ("key_taken", holder.uid)
    assert await world.status(keyed) is Status.FAILED
    assert await world.broken() == []


@pytest.mark.parametrize("unique", [Unique.PERIOD, Unique.EVER])
async def test_a_key_that_lasts_is_still_the_retried_tasks_own(world: World, unique: Unique) -> None:
    """And a live key of the same text is another key."""
    lasting = {"key": "k", "unique": unique, "unique_ms": 60_000 if unique is Unique.PERIOD else None}
    first = await world.enqueue_one(**lasting)
    await world.run_one("failed")
    live = await world.enqueue_one(key="k")
    assert await retry(world, first.uid) == ("retried", None)
    assert (await world.enqueue(new_task(**lasting)))[0].uid == first.uid
    assert await world.statuses(first, live) == ["pending", "pending"]
    assert await world.broken() == []


async def test_a_key_for_a_period_that_another_has_now_refuses_the_retry(world: World) -> None:
    first = await world.enqueue_one(key="k", unique=Unique.PERIOD, unique_ms=60_000)
    await world.run_one("failed")
    await world.cypher("MATCH (k:UniqueKey) SET k.until = 1")
    second = await world.enqueue_one(key="k", unique=Unique.PERIOD, unique_ms=60_000)
    assert await retry(world, first.uid) == ("key_taken", second.uid)
    await world.cypher("MATCH (k:UniqueKey) SET k.until = 1")
    assert await retry(world, first.uid) == ("retried", None)
    assert await world.broken() == []


async def test_a_retry_forgets_how_often_the_task_was_given_back(world: World) -> None:
    task = await world.enqueue_one()
    await world.cypher("MATCH (t:Task) SET t.snoozes = 100, t.releases = 20")
    await world.run_one("failed")
    await retry(world, task.uid)
    row = await world.task(task)
    assert (row.get("snoozes"), row.get("releases")) == (None, None)


async def test_a_child_whose_key_was_taken_meanwhile_does_not_come_back(world: World) -> None:
    root = await world.enqueue_one()
    child = await world.enqueue_one(after=[root], key="k")
    await world.run_one("failed")
    await world.sweep()
    holder = await world.enqueue_one(key="k")
    await retry(world, root.uid)
    kept = await world.task(child)
    assert (kept["status"], kept["cancelled_because"]) == ("cancelled", holder.uid)
    assert await world.broken() == []


async def test_of_two_children_with_one_key_the_first_comes_back(world: World) -> None:
    root = await world.enqueue_one()
    first = await world.enqueue_one(after=[root], key="k")
    await world.run_one(AckOutcome.FAILED)
    await world.sweep()
    second = await world.enqueue_one(after=[root], key="k")
    assert await world.statuses(root, first, second) == ["failed", "cancelled", "cancelled"]
    answer = await world.store.tasks.retry(root.uid, "me")
    assert answer is not None
    assert answer["answer"] == "retried"
    assert await world.statuses(root, first, second) == ["pending", "blocked", "cancelled"]
    assert (await world.task(second))["cancelled_because"] == first.uid
    assert await world.broken() == []


async def test_a_tree_greater_than_one_step_comes_back_by_sweeps(world: World) -> None:
    root = new_task()
    left, right = new_task(after=[root]), new_task(after=[root])
    leaves = [new_task(after=[left, right]) for _ in range(6)]
    await world.enqueue(root, left, right, *leaves)
    await world.run_one("failed")
    await world.sweep()
    await retry(world, root.uid, n=2)
    assert await world.statuses(left, right, leaves[-1]) == ["blocked", "blocked", "cancelled"]
    assert (await world.store.cluster.pulse()).revive_pending is not None
    await world.sweep()
    assert set(await world.statuses(*leaves)) == {"blocked"}
    for one in (left, leaves[-1]):  # brought back at once, and by the sweep
        assert [(run["outcome"], run["message"]) for run in await world.attempts(one)] == [
            ("cancelled", f"because of {root.uid}")
        ]
    while claims := await world.claim():
        for claim in claims:
            await world.finish(claim)
    assert await world.counters() == {"completed": 9}
    assert await world.broken() == []


async def test_a_root_that_dies_again_brings_nothing_more_back(world: World) -> None:
    root = await world.enqueue_one()
    children = [await world.enqueue_one(after=[root]) for _ in range(4)]
    await world.run_one("failed")
    await world.sweep()
    await retry(world, root.uid, n=1)
    await world.run_one("failed")
    await world.sweep()
    assert set(await world.statuses(*children)) == {"cancelled"}
    assert await world.counters() == {"failed": 1, "cancelled": 4}
    assert await world.broken() == []


async def test_an_end_that_was_ignored_counts_as_met_after_the_retry_too(world: World) -> None:
    ignored, root = await world.enqueue_one(), await world.enqueue_one(prio_bucket=3)
    child = await world.enqueue_one(after=[(ignored, "ignore"), root])
    await world.run_one("failed")
    await world.run_one("failed")
    await world.sweep()
    await retry(world, root.uid)
    await world.run_one()
    assert await world.status(child) is Status.PENDING
    assert await world.broken() == []


async def test_priority_moves_what_waits_and_keeps_the_place_among_equals(world: World) -> None:
    tasks = [await world.enqueue_one() for _ in range(4)]
    assert await world.store.tasks.prioritize(uids(tasks[2:]), 1, 5) == uids(tasks[2:])
    assert await world.store.tasks.prioritize([tasks[1].uid], 2) == [tasks[1].uid]
    assert await world.broken() == []
    assert uids(await world.claim()) == uids([tasks[2], tasks[3], tasks[0], tasks[1]])


async def test_priority_of_what_is_over_is_left_alone(world: World) -> None:
    task = await world.enqueue_one()
    scheduled = await world.enqueue_one(eta=4_000_000_000_000)
    await world.run_one()
    assert await world.store.tasks.prioritize([task.uid, scheduled.uid, "nope"], 0) == [scheduled.uid]
    await world.make_due()
    await world.store.sweeps.promotion_sweep()
    assert (await world.claim_one()).prio_bucket == 0
