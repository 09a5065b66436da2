"""Keys that outlive their task, and what an enqueue does when a key is taken."""

from __future__ import annotations

import asyncio

import pytest

from kgsched.core.states import Status
from kgsched.core.task import Answer, Enqueued, Gate, Limits, OnConflict, Unique
from kgsched.errors import Conflict
from tests.store.worlds import World, new_task

EVER = 4_000_000_000_000


async def test_a_key_for_ever_stays_taken_after_the_task_ended(world: World) -> None:
    first = await world.enqueue_one(key="k", unique=Unique.EVER)
    await world.run_one()
    (again,) = await world.enqueue(new_task(key="k", unique=Unique.EVER))
    assert (again.uid, again.answer, again.status) == (first.uid, Answer.EXISTING, Status.COMPLETED)
    assert await world.broken() == []


async def test_a_key_for_a_period_is_free_when_it_is_over(world: World) -> None:
    first = await world.enqueue_one(key="k", unique=Unique.PERIOD, unique_ms=60_000)
    await world.run_one()
    later = new_task(key="k", unique=Unique.PERIOD, unique_ms=60_000)
    assert (await world.enqueue(later))[0].uid == first.uid
    await world.cypher("MATCH (k:UniqueKey) SET k.until = 1")
    assert (await world.enqueue(later))[0].uid == later.uid
    assert await world.broken() == []


async def test_a_key_whose_task_was_purged_is_still_taken(world: World) -> None:
    await world.enqueue_one(key="k", unique=Unique.EVER)
    await world.run_one()
    await world.store.sweeps.purge(EVER)
    with pytest.raises(Conflict, match="purged"):
        await world.enqueue(new_task(key="k", unique=Unique.EVER))


async def test_keys_whose_period_is_over_are_forgotten(world: World) -> None:
    await world.enqueue(
        new_task(key="short", unique=Unique.PERIOD, unique_ms=1),
        new_task(key="long", unique=Unique.PERIOD, unique_ms=10**9),
        new_task(key="ever", unique=Unique.EVER),
    )
    await world.cypher("MATCH (k:UniqueKey {key: 'short'}) SET k.until = 1")
    assert (await world.store.sweeps.forget_keys()).count == 1
    assert await world.count("MATCH (k:UniqueKey)") == 2


async def test_eight_requests_for_one_lasting_key_make_one_task(world: World) -> None:
    answers = await asyncio.gather(*(world.enqueue(new_task(key="k", unique=Unique.EVER)) for _ in range(8)))
    assert len({one.uid for (one,) in answers}) == 1
    assert await world.count("MATCH (t:Task)") == 1


@pytest.mark.parametrize("unique", [Unique.LIVE, Unique.EVER])
async def test_a_taken_key_can_be_refused(world: World, unique: Unique) -> None:
    await world.enqueue_one(key="k", unique=unique)
    with pytest.raises(Conflict, match="taken"):
        await world.enqueue(new_task(key="k", unique=unique, on_conflict=OnConflict.REFUSE))
    assert await world.count("MATCH (t:Task)") == 1


@pytest.mark.parametrize("eta", [None, EVER])
async def test_what_never_ran_can_be_replaced(world: World, eta: int | None) -> None:
    first = await world.enqueue_one(key="k", payload='{"a":1}', eta=eta)
    new = new_task(key="k", payload='{"a":2}', prio_bucket=0, weight=5, on_conflict=OnConflict.REPLACE)
    (answer,) = await world.enqueue(new)
    assert (answer.uid, answer.answer, answer.status) == (first.uid, Answer.REPLACED, Status.PENDING)
    kept = await world.task(first)
    assert (kept["payload"], kept["prio_bucket"], kept["weight"], kept["ready"]) == ('{"a":2}', 0, 5, 0)
    assert await world.broken() == []
    (claim,) = await world.claim()
    assert (await world.store.tasks.read_payloads([claim]))[first.uid] == '{"a":2}'


async def test_replacing_moves_it_to_the_gate_that_is_named_and_passes_its_place_on(world: World) -> None:
    await world.store.gates.open([Gate("default", key, Limits(1)) for key in ("old", "new")])
    first = await world.enqueue_one(key="k", gate="old")
    waits = await world.enqueue_one(gate="old")
    (answer,) = await world.enqueue(new_task(key="k", gate="new", payload="[1]", on_conflict=OnConflict.REPLACE))
    assert answer.answer is Answer.REPLACED
    assert [(await world.task(one)).get("gate_held") for one in (first, waits)] == ["new", "old"]
    await world.enqueue(new_task(key="k", gate="new", on_conflict=OnConflict.REPLACE, eta=EVER))
    assert await world.statuses(first, waits) == ["scheduled", "pending"]
    await world.enqueue(new_task(key="k", on_conflict=OnConflict.REPLACE))
    assert (await world.task(first))["ready"] is not None
    assert await world.broken() == []


async def test_what_was_claimed_or_waits_for_others_is_not_replaced(world: World) -> None:
    await world.enqueue_one(key="claimed")
    await world.claim_one()
    parent = await world.enqueue_one("b")
    await world.enqueue_one(key="blocked", after=[parent])
    for key in ("claimed", "blocked"):
        with pytest.raises(Conflict, match="replaced"):
            await world.enqueue(new_task(key=key, payload='{"x":1}', on_conflict=OnConflict.REPLACE))
    assert await world.count("MATCH (t:Task) WHERE t.payload = '{}'") == 3


async def test_a_delay_counts_on_the_database_s_clock(world: World) -> None:
    """CT21: what the caller's clock shows does not matter."""
    before = await world.now()
    tasks = [new_task(delay_ms=60_000), new_task(delay_ms=60_000, key="k")]
    await world.enqueue(*tasks)
    after = await world.now()
    for one in tasks:
        kept = await world.task(one)
        assert kept["status"] == "scheduled"
        assert before <= kept["due_at"] - 60_000 <= after


async def test_a_task_with_edges_is_refused_too_when_its_key_is_taken(world: World) -> None:
    parent, holder = new_task(), new_task(key="k")
    await world.enqueue(parent, holder)
    late = new_task(key="k", after=[parent], on_conflict=OnConflict.REFUSE)
    with pytest.raises(Conflict, match="key 'k' is taken by task"):
        await world.enqueue(late)
    assert await world.count("MATCH (t:Task)") == 2


@pytest.mark.parametrize("unique", list(Unique))
async def test_a_key_holds_in_a_transaction_of_the_users_too(world: World, unique: Unique) -> None:
    fields = {"key": "k", "unique": unique, "unique_ms": 60_000 if unique is Unique.PERIOD else None}
    await world.enqueue_one(key="k", unique=Unique.EVER if unique is Unique.LIVE else Unique.LIVE)
    first, second = new_task(**fields), new_task(**fields)
    async with world.store.graph.transaction() as tx:
        (made,) = await world.store.tasks.enqueue([first], tx=tx)
    async with world.store.graph.transaction() as tx:
        (found,) = await world.store.tasks.enqueue([second], tx=tx)
    assert (made.uid, made.answer) == (first.uid, Answer.CREATED)
    assert (found.uid, found.answer) == (first.uid, Answer.EXISTING)
    with pytest.raises(Conflict, match="is taken"):
        async with world.store.graph.transaction() as tx:
            await world.store.tasks.enqueue([new_task(**fields, on_conflict=OnConflict.REFUSE)], tx=tx)
    assert await world.broken() == []


async def test_a_lasting_key_in_a_transaction_comes_and_goes_with_it(world: World) -> None:
    async def rolled_back() -> None:
        async with world.store.graph.transaction() as tx:
            await world.store.tasks.enqueue([new_task(key="k", unique=Unique.EVER)], tx=tx)
            raise RuntimeError("not after all")

    with pytest.raises(RuntimeError, match="after all"):
        await rolled_back()
    (made,) = await world.enqueue(new_task(key="k", unique=Unique.EVER))
    assert made.answer is Answer.CREATED


@pytest.mark.parametrize("in_transaction", [False, True])
async def test_an_id_that_is_taken_is_a_conflict_or_the_same_task_under_a_lasting_key_too(
    world: World, in_transaction: bool
) -> None:
    first = await world.enqueue_one(id="i")

    async def enqueue(**fields: object) -> Enqueued:
        task = new_task(id="i", key="k", unique=Unique.EVER, **fields)
        if not in_transaction:
            return (await world.enqueue(task))[0]
        async with world.store.graph.transaction() as tx:
            return (await world.store.tasks.enqueue([task], tx=tx))[0]

    assert ((await enqueue()).uid, await world.count("MATCH (t:Task)")) == (first.uid, 1)
    with pytest.raises(Conflict, match="id 'i'"):
        await enqueue(payload='{"other":1}')
