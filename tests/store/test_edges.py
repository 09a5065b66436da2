"""Enqueue with edges: every rule against every state of what is waited for, and what is refused."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from kgsched.core.states import Status
from kgsched.core.task import AckOutcome, Answer, Dependency, NewTask
from kgsched.errors import Conflict, NotFound
from tests.store.worlds import World, new_task
from tests.store.worlds.making import EVERYTHING

RULES = ("cancel", "hold", "ignore")


async def ended(world: World, outcome: str) -> str:
    """A task that ended as asked."""
    task = await world.enqueue_one()
    if outcome == "cancelled":
        await world.store.tasks.cancel([task.uid])
    else:
        await world.run_one(outcome)
    return task.uid


@pytest.mark.parametrize("rule", RULES)
async def test_a_child_waits_for_a_parent_that_is_not_over(world: World, rule: str) -> None:
    waiting = await world.enqueue_one()
    child = await world.enqueue_one(after=[(waiting, rule)])
    kept = await world.task(child)
    assert (kept["status"], kept["deps_left"]) == ("blocked", 1)
    assert await world.claim(10) != []
    later = await world.enqueue_one(after=[(waiting, rule)])
    assert await world.status(later) is Status.BLOCKED
    assert await world.broken() == []


@pytest.mark.parametrize("outcome", ["completed", "failed", "dead_letter", "cancelled"])
@pytest.mark.parametrize("rule", RULES)
async def test_a_rule_is_applied_at_once_when_the_parent_is_over(world: World, rule: str, outcome: str) -> None:
    parent = await ended(world, outcome)
    child = await world.enqueue_one(after=[(parent, rule)])
    bad = {"cancel": "cancelled", "hold": "blocked", "ignore": "pending"}[rule]
    kept = await world.task(child)
    assert kept["status"] == ("pending" if outcome == "completed" else bad)
    assert kept.get("cancelled_because") == (parent if kept["status"] == "cancelled" else None)
    assert await world.broken() == []


async def test_parents_that_are_done_leave_nothing_to_wait_for(world: World) -> None:
    """DP01, first half."""
    parents = [await ended(world, "completed") for _ in range(3)]
    child = await world.enqueue_one(after=parents)
    assert await world.status(child) is Status.PENDING


async def test_parents_that_finish_during_the_enqueue_never_strand_the_child(world: World) -> None:
    """DP01: whatever the order of commits, the child is ready after one sweep at most."""
    for _ in range(40):
        parents = [new_task() for _ in range(3)]
        await world.enqueue(*parents)
        claims = await world.claim(3)
        child = new_task(after=parents)
        await asyncio.gather(world.enqueue(child), *(world.finish(claim) for claim in claims))
        await world.sweep()
        assert await world.status(child) is Status.PENDING
        await world.run_one()
    assert await world.broken() == []


async def test_an_eta_counts_from_when_nothing_is_waited_for(world: World) -> None:
    parent = await world.enqueue_one()
    child = await world.enqueue_one(after=[parent], eta=4_000_000_000_000)
    await world.run_one()
    assert await world.status(child) is Status.SCHEDULED


async def test_no_parents_is_a_plain_task(world: World) -> None:
    """DP07."""
    tasks = [new_task(after=[]), new_task(), new_task(after=[])]
    await world.enqueue(*tasks)
    assert await world.statuses(*tasks) == ["pending"] * 3
    assert len(await world.claim()) == 3


@pytest.mark.parametrize("unknown", ["nope", "", "01900000-0000-7000-8000-000000000000"])
async def test_a_parent_that_does_not_exist_refuses_the_whole_batch(world: World, unknown: str) -> None:
    """DP06."""
    known = await world.enqueue_one()
    good = new_task(after=[known])
    bad = new_task(uid="ffffffff-ffff-7fff-bfff-ffffffffffff")
    with pytest.raises(NotFound, match="do not exist"):
        await world.store.tasks.enqueue([good, _after(bad, unknown)])
    assert await world.count("MATCH (t:Task)") == 1


def _after(task: NewTask, uid: str) -> NewTask:
    return replace(task, after=(Dependency(uid),))


async def test_a_parent_named_twice_counts_once(world: World) -> None:
    """DP06: otherwise the count would never come to zero."""
    parent = await world.enqueue_one()
    child = await world.enqueue_one(after=[parent, parent])
    assert (await world.task(child))["deps_left"] == 1
    assert await world.broken() == []
    await world.run_one()
    assert await world.status(child) is Status.PENDING


@pytest.mark.parametrize("own", [True, False])
async def test_a_child_whose_uid_does_not_follow_its_parents_gets_another(world: World, own: bool) -> None:
    """Uids are the order of locks."""
    child, grandchild = new_task(id="child"), new_task()
    parent = await world.enqueue_one()
    tasks = [_after(child, parent.uid), _after(grandchild, child.uid)]
    if own:
        answers = await world.store.tasks.enqueue(tasks)
    else:
        async with world.store.graph.transaction() as tx:
            answers = await world.store.tasks.enqueue(tasks, tx=tx)
        await world.sweep()
    assert parent.uid < answers[0].uid < answers[1].uid
    assert await world.statuses(*answers) == ["blocked", "blocked"]
    await world.run_one()
    assert await world.statuses(*answers) == ["pending", "blocked"]
    assert await world.broken() == []


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("again", ["the key", "the id", "all of it"])
async def test_a_chain_whose_first_task_is_there_with_a_later_uid_is_joined_to_it(
    world: World, again: str, own: bool
) -> None:
    def chain() -> list[NewTask]:
        first = new_task(id="a", key="k") if again != "the key" else new_task(key="k")
        return [first, new_task(id="b", after=[first]) if again == "all of it" else new_task(after=[first])]

    early, late = chain(), chain()
    known = await world.enqueue(*late)
    if own:
        answers = await world.enqueue(*early)
    else:
        async with world.store.graph.transaction() as tx:
            answers = await world.store.tasks.enqueue(early, tx=tx)
        await world.sweep()
    assert [one.uid == other.uid for one, other in zip(answers, known, strict=True)] == [True, again == "all of it"]
    assert await world.count("MATCH (:Task {uid: $a})<-[:DEPENDS_ON]-(:Task)", a=known[0].uid) == 2 - (
        again == "all of it"
    )
    assert await world.broken() == []


async def test_nothing_may_wait_for_a_best_effort_lane(world: World) -> None:
    parent = await world.enqueue_one("job", lane="maint")
    with pytest.raises(Conflict, match="best-effort"):
        await world.enqueue_one(after=[parent])
    assert await world.count("MATCH (t:Task)") == 1


async def test_a_task_may_be_spawned_by_one_in_any_lane(world: World) -> None:
    spawner = await world.enqueue_one("job", lane="maint")
    child = await world.enqueue_one(spawned_by=spawner.uid)
    assert await world.status(child) is Status.PENDING
    assert await world.count("MATCH (:Task {uid: $p})-[:SPAWNED]->(:Task {uid: $c})", p=spawner.uid, c=child.uid) == 1


async def test_a_chain_in_one_batch_is_made_at_once(world: World) -> None:
    first = new_task()
    second = new_task(after=[first])
    third = new_task(after=[first, (second, "ignore")])
    await world.enqueue(third, first, second)
    assert await world.statuses(first, second, third) == ["pending", "blocked", "blocked"]
    for expected in (first, second, third):
        assert (await world.run_one()).uid == expected.uid
    assert await world.broken() == []


async def test_a_child_of_a_task_that_exists_under_its_id_waits_for_that_one(world: World) -> None:
    existing = await world.enqueue_one(id="parent")
    renamed = new_task(id="parent")
    child = new_task(after=[renamed])
    answers = await world.enqueue(renamed, child)
    assert answers[0].uid == existing.uid
    assert await world.status(child) is Status.BLOCKED
    assert (
        await world.count("MATCH (:Task {uid: $c})-[:DEPENDS_ON]->(:Task {uid: $p})", c=child.uid, p=existing.uid) == 1
    )


async def test_a_keyed_task_with_edges_is_made_once(world: World) -> None:
    parent = await world.enqueue_one()
    first = await world.enqueue_one(after=[parent], key="k")
    (second,) = await world.enqueue(new_task(after=[parent], key="k"))
    assert (second.uid, second.answer) == (first.uid, Answer.EXISTING)
    assert await world.broken() == []


async def test_a_parent_that_only_waits_for_its_retry_releases_nothing(world: World) -> None:
    """DP10."""
    parent = await world.enqueue_one()
    child = await world.enqueue_one(after=[parent])
    await world.finish(await world.claim_one(), AckOutcome.RETRY, delay_ms=60_000)
    await world.sweep()
    assert await world.statuses(parent, child) == ["scheduled", "blocked"]
    await world.make_due()
    await world.store.sweeps.promotion_sweep()
    again = await world.run_one()
    assert (again.uid, again.attempt) == (parent.uid, 2)
    assert (await world.run_one()).uid == child.uid
    assert await world.claim(10, EVERYTHING) == []


async def test_a_diamond_runs_its_end_once(world: World) -> None:
    top = new_task()
    left, right = new_task(after=[top]), new_task(after=[top])
    end = new_task(after=[left, right])
    await world.enqueue(top, left, right, end)
    await world.run_one()
    await asyncio.gather(*(world.finish(claim) for claim in await world.claim(2)))
    await world.sweep()
    assert (await world.run_one()).uid == end.uid
    assert await world.broken() == []


async def test_the_same_key_twice_in_a_batch_with_edges_makes_one_task(world: World) -> None:
    parent = await world.enqueue_one()
    one, two = new_task(after=[parent], key="k"), new_task(after=[parent], key="k")
    below = new_task(after=[two])
    answers = await world.enqueue(one, two, below)
    assert [(answer.uid, answer.answer) for answer in answers[:2]] == [(one.uid, "created"), (one.uid, "existing")]
    assert await world.count("MATCH (:Task {uid: $c})-[:DEPENDS_ON]->(:Task {uid: $p})", c=below.uid, p=one.uid) == 1
    assert await world.broken() == []
