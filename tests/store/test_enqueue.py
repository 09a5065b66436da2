"""Enqueue without edges: ids, keys, batches, what a repeated request comes to."""

from __future__ import annotations

import asyncio

import pytest

from kgsched.core.limits import MAX_BATCH_BYTES, MAX_BATCH_ROWS
from kgsched.core.states import Status
from kgsched.core.task import Answer, Enqueued
from kgsched.errors import Conflict
from kgsched.store.enqueue_rows import batches
from tests.store.worlds import World, new_task

FAR = 4_000_000_000_000


async def test_a_new_task_is_pending_and_all_that_was_said_is_kept(world: World) -> None:
    task = new_task(
        id="mine",
        prio_bucket=1,
        weight=7,
        source="https://x.org/1",
        key="k",
        trace="t",
        max_attempts=5,
        payload='{"a":1}',
    )
    assert await world.enqueue(task) == [Enqueued(task.uid, "mine", Answer.CREATED, Status.PENDING)]
    kept = await world.task(task)
    expected = {
        "id": "mine",
        "space": "default",
        "type": "a",
        "lane": "ingestion",
        "status": "pending",
        "prio_bucket": 1,
    }
    expected |= {"weight": 7, "source": "https://x.org/1", "key": "k", "trace": "t", "max_attempts": 5}
    expected |= {"payload": '{"a":1}', "attempts": 0, "claims": 0, "ready": 1, "live_key": "u:default:k"}
    assert {name: kept[name] for name in expected} == expected
    assert abs(kept["enqueued_at"] - await world.now()) < 60_000
    assert await world.broken() == []


async def test_without_an_id_the_uid_is_the_id(world: World) -> None:
    task = await world.enqueue_one()
    assert (await world.task(task))["id"] == task.uid


async def test_a_repeated_request_makes_no_second_task(world: World) -> None:
    tasks = [new_task(), new_task(key="k"), new_task(id="i")]
    await world.enqueue(*tasks)
    again = await world.enqueue(*tasks)
    assert [(one.uid, one.answer) for one in again] == [
        (tasks[0].uid, Answer.CREATED),
        (tasks[1].uid, Answer.CREATED),
        (tasks[2].uid, Answer.CREATED),
    ]
    assert await world.count("MATCH (t:Task)") == 3


async def test_an_id_that_exists_with_the_same_content_stands_for_the_request(world: World) -> None:
    first = await world.enqueue_one(id="i", payload='{"a":1}')
    (second,) = await world.enqueue(new_task(id="i", payload='{"a":1}'))
    assert (second.uid, second.answer) == (first.uid, Answer.EXISTING)


async def test_an_id_stays_taken_after_the_task_is_over(world: World) -> None:
    first = await world.enqueue_one(id="i")
    await world.run_one()
    (second,) = await world.enqueue(new_task(id="i"))
    assert (second.uid, second.answer, second.status) == (first.uid, Answer.EXISTING, Status.COMPLETED)


@pytest.mark.parametrize("other", [{"payload": '{"b":2}'}, {"type_": "b"}])
@pytest.mark.parametrize("by", ["id", "key"])
async def test_an_id_or_key_of_another_task_is_a_conflict(world: World, other: dict[str, str], by: str) -> None:
    first = await world.enqueue_one(id="holder", key="k")
    same = {"id": "holder"} if by == "id" else {"key": "k"}
    with pytest.raises(Conflict, match=f"{by} .*holder"):
        await world.enqueue(new_task(**other, **same))
    assert await world.count("MATCH (t:Task)") == 1
    assert await world.status(first) is Status.PENDING


async def test_the_same_id_is_free_in_another_space(world: World) -> None:
    await world.enqueue(new_task(id="i"), new_task(id="i", space="other", payload='{"x":1}'))
    assert await world.count("MATCH (t:Task {id: 'i'})") == 2


async def test_a_key_is_free_again_when_its_task_is_over(world: World) -> None:
    first = await world.enqueue_one(key="k")
    (same,) = await world.enqueue(new_task(key="k"))
    assert (same.uid, same.answer) == (first.uid, Answer.EXISTING)
    await world.run_one()
    (second,) = await world.enqueue(new_task(key="k"))
    assert second.answer is Answer.CREATED
    assert await world.broken() == []


async def test_of_one_key_twice_in_a_batch_one_task_is_made(world: World) -> None:
    one, two = new_task(key="k"), new_task(key="k")
    answers = await world.enqueue(one, two)
    assert {answer.uid for answer in answers} == {one.uid}
    assert [answer.answer for answer in answers] == [Answer.CREATED, Answer.EXISTING]


async def test_of_one_id_twice_in_a_batch_one_task_is_made(world: World) -> None:
    one, two = new_task(id="i"), new_task(id="i")
    answers = await world.enqueue(one, two, one)
    assert [(answer.uid, answer.answer) for answer in answers] == [
        (one.uid, "created"),
        (one.uid, "existing"),
        (one.uid, "created"),
    ]
    with pytest.raises(Conflict, match="id 'j'"):
        await world.enqueue(new_task(id="j"), new_task(id="j", payload='{"x":1}'))
    async with world.store.graph.transaction() as tx:
        twice = await world.store.tasks.enqueue([new_task(id="t"), new_task(id="t")], tx=tx)
    assert len({answer.uid for answer in twice}) == 1
    assert await world.count("MATCH (t:Task)") == 2


async def test_a_batch_may_mix_everything_and_answers_in_its_order(world: World) -> None:
    known = await world.enqueue_one(key="known")
    parent = new_task(id="parent")
    tasks = [new_task(after=[parent]), parent, new_task(key="known"), new_task(eta=FAR), new_task("b", key="new")]
    answers = await world.enqueue(*tasks)
    assert [one.uid for one in answers] == [tasks[0].uid, parent.uid, known.uid, tasks[3].uid, tasks[4].uid]
    assert await world.statuses(*answers) == ["blocked", "pending", "pending", "scheduled", "pending"]
    assert await world.broken() == []


async def test_an_eta_ahead_waits_and_one_that_is_over_does_not(world: World) -> None:
    ahead, over = await world.enqueue_one(eta=FAR), await world.enqueue_one(eta=1)
    assert await world.statuses(ahead, over) == ["scheduled", "pending"]
    kept = await world.task(ahead)
    assert (kept["eta"], kept["due_at"]) == (FAR, FAR)


async def test_eight_requests_for_one_key_at_once_make_one_task(world: World) -> None:
    answers = await asyncio.gather(*(world.enqueue(new_task(key="k")) for _ in range(8)))
    assert len({one.uid for (one,) in answers}) == 1
    assert sorted(one.answer for (one,) in answers) == ["created", *["existing"] * 7]
    assert await world.count("MATCH (t:Task)") == 1


def test_batches_are_bounded_in_rows_and_bytes() -> None:
    many = [new_task() for _ in range(MAX_BATCH_ROWS + 1)]
    assert [len(batch) for batch in batches(many)] == [MAX_BATCH_ROWS, 1]
    heavy = [new_task(payload='"' + "x" * (MAX_BATCH_BYTES // 3) + '"') for _ in range(5)]
    assert [len(batch) for batch in batches(heavy)] == [2, 2, 1]
    assert list(batches([])) == []


async def test_more_than_one_batch_goes_in_order(world: World) -> None:
    tasks = [new_task() for _ in range(MAX_BATCH_ROWS + 20)]
    await world.enqueue(*tasks)
    claims = await world.claim(MAX_BATCH_ROWS + 20)
    assert [claim.uid for claim in claims] == [task.uid for task in tasks]
