"""Batches of many kinds: all of it or none, in kgsched's own transaction and in a user's."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from typing import Any

import pytest

from kgsched.core.limits import MAX_BATCH_ROWS
from kgsched.core.task import Answer, Enqueued, NewTask, OnConflict, Unique
from kgsched.errors import Conflict, KgschedError, NotFound, StoreError
from tests.store.races.race import BLOCKED
from tests.store.worlds import World, new_task

OTHER = '{"other":1}'


async def _in_transaction(world: World, tasks: Sequence[NewTask]) -> list[Enqueued]:
    async with world.store.graph.transaction() as tx:
        return await world.store.tasks.enqueue(tasks, tx=tx)


REFUSED = {
    "plain and a taken key": [{}, {"key": "taken", "payload": OTHER}],
    "plain and a taken id": [{}, {"id": "taken", "payload": OTHER}],
    "a free key and a taken one": [{"key": "free"}, {"key": "taken", "on_conflict": OnConflict.REFUSE}],
    "a free key and one whose holder runs": [{"key": "free"}, {"key": "runs", "on_conflict": OnConflict.REPLACE}],
    "a lasting key and a taken key": [{"key": "free", "unique": Unique.EVER}, {"key": "taken", "payload": OTHER}],
    "two lasting keys": [
        {"key": "free", "unique": Unique.EVER},
        {"key": "lasts", "unique": Unique.EVER, "on_conflict": OnConflict.REFUSE},
    ],
    "plain and one that waits for nobody": [{}, {"after": [new_task()]}],
}


@pytest.mark.parametrize("fields", REFUSED.values(), ids=REFUSED)
async def test_a_batch_that_is_refused_leaves_nothing(world: World, fields: list[dict[str, object]]) -> None:
    await world.enqueue(new_task(key="runs"))
    await world.claim_one()
    await world.enqueue(new_task(key="taken"), new_task(id="taken"), new_task(key="lasts", unique=Unique.EVER))
    before = await world.count("MATCH (n:Task|UniqueKey)")
    for order in (fields, fields[::-1]):
        with pytest.raises(KgschedError, match="nothing was enqueued"):
            await world.enqueue(*(new_task(**one) for one in order))  # type: ignore[arg-type]
    assert await world.count("MATCH (n:Task|UniqueKey)") == before
    assert await world.broken() == []


@pytest.mark.parametrize("fields", REFUSED.values(), ids=REFUSED)
async def test_no_part_of_a_refused_batch_is_committed_though_its_user_goes_on(
    world: World, fields: list[dict[str, object]]
) -> None:
    await world.enqueue(new_task(key="runs"))
    await world.claim_one()
    await world.enqueue(new_task(key="taken"), new_task(id="taken"), new_task(key="lasts", unique=Unique.EVER))
    before = await world.count("MATCH (n:Task|UniqueKey)")
    for order in (fields, fields[::-1]):
        mine = new_task()
        with contextlib.suppress(KgschedError):  # the transaction may refuse its commit
            async with world.store.graph.transaction() as tx:
                await world.store.tasks.enqueue([mine], tx=tx)
                with pytest.raises(KgschedError):
                    await world.store.tasks.enqueue([new_task(**one) for one in order], tx=tx)  # type: ignore[arg-type]
        before += await world.count("MATCH (t:Task {uid: $uid})", uid=mine.uid)
        assert await world.count("MATCH (n:Task|UniqueKey)") == before


async def test_a_transaction_with_a_part_of_a_refused_batch_says_that_it_is_rolled_back(world: World) -> None:
    await world.enqueue(new_task(key="lasts", unique=Unique.EVER))
    free, taken = (new_task(key=key, unique=Unique.EVER, on_conflict=OnConflict.REFUSE) for key in ("free", "lasts"))

    async def go_on() -> None:
        async with world.store.graph.transaction() as tx:
            with pytest.raises(Conflict, match=r"taken.*will be rolled back"):
                await world.store.tasks.enqueue([free, taken], tx=tx)

    with pytest.raises(Conflict, match="rolled back: an enqueue in it was refused"):
        await go_on()
    assert await world.count("MATCH (n:Task|UniqueKey)") == 2


@pytest.mark.parametrize("how", ["it failed", "it was cancelled"])
async def test_a_transaction_in_which_a_statement_broke_off_is_not_silent_about_it(world: World, how: str) -> None:
    async def go_on() -> None:
        async with world.store.graph.transaction() as tx:
            await tx.run("CREATE (:Mine)")
            if how == "it failed":
                with pytest.raises(KgschedError, match="by zero"):
                    await tx.run("RETURN 1 / 0")
                with pytest.raises(StoreError, match=r"leave its block.*by zero"):
                    await world.store.tasks.enqueue([new_task()], tx=tx)
                return
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.05):
                    await tx.run("UNWIND range(1, 100000000) AS n RETURN max(n)")

    with pytest.raises(StoreError, match="rolled back: a statement in it"):
        await go_on()
    assert await world.count("MATCH (m:Mine)") == 0


async def test_a_transaction_that_is_over_says_so(world: World) -> None:
    async with world.store.graph.transaction() as tx:
        pass
    for late in (tx.run("RETURN 1"), world.store.tasks.enqueue([new_task()], tx=tx)):
        with pytest.raises(Conflict, match="this transaction is over"):
            await late


@pytest.mark.parametrize(
    "named", [{"id": "i"}, {"key": "k", "on_conflict": OnConflict.REFUSE}, {"key": "k", "unique": Unique.EVER}]
)
async def test_two_of_one_enqueue_that_are_not_the_same_are_told_apart(world: World, named: dict[str, Any]) -> None:
    """No task is named that was never there."""
    with pytest.raises(Conflict, match=r"comes twice in this enqueue.*nothing was enqueued"):
        await world.enqueue(new_task(**named), new_task(**named, payload=OTHER))
    with pytest.raises(Conflict, match="comes twice in this enqueue"):
        async with world.store.graph.transaction() as tx:
            await world.store.tasks.enqueue([new_task(**named), new_task(**named, payload=OTHER)], tx=tx)
    assert await world.count("MATCH (t:Task)") == 0


async def test_of_two_transactions_that_take_one_key_at_once_one_is_told_to_begin_anew(world: World) -> None:
    async def go_on() -> None:
        async with world.store.graph.transaction() as second:
            await second.run("CREATE (:Mine)")
            await world.store.tasks.enqueue([new_task(id="i")], tx=second)

    async with world.store.graph.transaction() as first:
        await world.store.tasks.enqueue([new_task(id="i")], tx=first)
        late = asyncio.ensure_future(go_on())
        while not (await world.cypher(BLOCKED))[0]["n"]:  # noqa: ASYNC110 - the server knows it
            await asyncio.sleep(0.02)
    with pytest.raises(Conflict, match="do its block again"):
        await late
    assert await world.count("MATCH (n:Mine|Task)") == 1


async def test_a_transaction_that_its_user_rolled_back_ends_in_peace(world: World) -> None:
    async with world.store.graph.transaction() as tx:
        await tx.run("CREATE (:Mine)")
        await tx.rollback()
    assert await world.count("MATCH (m:Mine)") == 0


async def test_an_enqueue_that_was_refused_as_a_whole_leaves_the_transaction_as_it_was(world: World) -> None:
    await world.enqueue(new_task(key="taken"), new_task(key="lasts", unique=Unique.EVER))
    refused = [
        new_task(key="taken", payload=OTHER),
        new_task(key="lasts", unique=Unique.EVER, on_conflict=OnConflict.REFUSE),
        new_task(after=[new_task()]),
    ]
    async with world.store.graph.transaction() as tx:
        (mine,) = await world.store.tasks.enqueue([new_task()], tx=tx)
        for one in refused:
            with pytest.raises(KgschedError, match="nothing was enqueued"):
                await world.store.tasks.enqueue([one], tx=tx)
    assert await world.statuses(mine) == ["pending"]
    assert await world.count("MATCH (t:Task)") == 3


async def test_what_went_before_a_refused_batch_is_told(world: World) -> None:
    await world.enqueue(new_task(id="taken"))
    tasks = [new_task() for _ in range(MAX_BATCH_ROWS)] + [new_task(), new_task(id="taken", payload=OTHER)]
    with pytest.raises(Conflict, match=f"the {MAX_BATCH_ROWS} tasks before its batch were enqueued"):
        await world.enqueue(*tasks)
    assert await world.count("MATCH (t:Task)") == MAX_BATCH_ROWS + 1


async def test_a_mixed_batch_is_one_transaction_and_can_be_sent_again(world: World) -> None:
    held = await world.enqueue_one(key="held")
    first = new_task(key="new")
    replacing = new_task(key="held", payload=OTHER, on_conflict=OnConflict.REPLACE)
    tasks = [first, new_task(key="lasts", unique=Unique.EVER), replacing, new_task(), new_task(id="named")]
    tasks.append(new_task(after=[first]))
    for _ in range(2):
        answers = await world.enqueue(*tasks)
        assert [one.uid for one in answers] == [first.uid, tasks[1].uid, held.uid, *(one.uid for one in tasks[3:])]
        assert answers[2].answer is Answer.REPLACED
    assert await world.statuses(*answers) == [*["pending"] * 5, "blocked"]
    assert (await world.task(held))["payload"] == OTHER
    assert await world.broken() == []


async def test_mixed_batches_at_once_agree_about_keys_and_are_whole(world: World) -> None:
    """They lock keys and parents of one another in any order: deadlocks are settled by doing all of it again."""
    parents = [await world.enqueue_one(key=f"parent-{n}") for n in range(3)]

    def batch(n: int) -> list[NewTask]:
        turned = parents[n % 3 :] + parents[: n % 3]
        keyed = [new_task(key=one.key) for one in turned]
        return [*keyed, new_task(key=f"shared-{n % 4}"), new_task(after=turned[::-1]), new_task(id=f"own-{n}")]

    answers = await asyncio.gather(*(world.enqueue(*batch(n)) for n in range(16)))
    assert all({one.uid for one in answer[:3]} == {one.uid for one in parents} for answer in answers)
    assert await world.count("MATCH (t:Task)") == 3 + 4 + 16 + 16
    assert await world.broken() == []


@pytest.mark.parametrize("own", [False, True])
async def test_a_live_key_comes_twice_also_where_one_of_them_waits(world: World, own: bool) -> None:
    parent = await world.enqueue_one()
    tasks = [new_task(key="k"), new_task(key="k", after=[parent]), new_task(key="k")]
    answers = await (_in_transaction(world, tasks) if own else world.enqueue(*tasks))
    assert [one.uid for one in answers] == [tasks[0].uid] * 3
    assert [one.answer for one in answers] == [Answer.CREATED, Answer.EXISTING, Answer.EXISTING]
    assert await world.count("MATCH (t:Task)") == 2


async def test_a_chain_of_one_call_in_a_transaction_is_written_whole(world: World) -> None:
    parent = await world.enqueue_one()
    chain = [parent]
    for _ in range(3):
        chain.append(new_task(after=[chain[-1]]))
    answers = await _in_transaction(world, chain[1:])
    assert [one.answer for one in answers] == [Answer.CREATED] * 3
    await world.sweep()
    assert await world.statuses(*chain) == ["pending", "blocked", "blocked", "blocked"]
    assert await world.count("MATCH (:Task)-[d:DEPENDS_ON]->(:Task)") == 3
    assert await world.broken() == []


async def test_in_a_transaction_nothing_waits_for_a_task_of_another_space(world: World) -> None:
    theirs = await world.enqueue_one(space="theirs")
    with pytest.raises(NotFound, match=theirs.uid):
        await _in_transaction(world, [new_task(after=[theirs])])
    assert await world.count("MATCH (t:Task)") == 1


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("together", [False, True])
async def test_nothing_waits_for_a_best_effort_lane_however_it_comes(world: World, own: bool, together: bool) -> None:
    parent = await world.enqueue_one()
    capped = new_task(lane="maint", after=[parent])
    tasks = [capped, new_task(after=[capped])]
    if not together:
        await world.enqueue(tasks.pop(0))
    before = await world.count("MATCH (t:Task)")
    with pytest.raises(Conflict, match="best-effort"):
        await (_in_transaction(world, tasks) if own else world.enqueue(*tasks))
    assert await world.count("MATCH (t:Task)") == before
