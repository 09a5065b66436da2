"""Lists, one task in full, waiting, and the changes that people make."""

from __future__ import annotations

import asyncio

import pytest

from kgsched.core.task import AckOutcome
from kgsched.core.task_filter import TaskFilter
from kgsched.errors import Conflict, InvalidValue, NotFound, UnknownName
from kgsched.operations.bulk import carry_out, select_for
from kgsched.operations.facade import Operations
from kgsched.operations.filters import read_filter
from kgsched.operations.new_task import EnqueueRequest
from kgsched.operations.records import TASK_KEYS
from kgsched.operations.timeline import timeline
from tests.store.worlds import World, broken
from tests.surfaces.rules import RULES


async def test_pages_hold_every_task_once_newest_first(operations: Operations) -> None:
    made = await operations.tasks.enqueue_many([EnqueueRequest("read") for _ in range(7)])
    seen, cursor = [], None
    while True:
        page = await operations.tasks.list_tasks(TaskFilter(), 3, cursor)
        seen += [task["uid"] for task in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert seen == [one.uid for one in reversed(made)]
    assert set((await operations.tasks.list_tasks(TaskFilter())).items[0]) == set(TASK_KEYS)


@pytest.mark.parametrize("cursor", ["?", "AAAA", "ä", "bm90IGEgdWlk", "=" * 9])
async def test_a_cursor_that_no_list_gave_is_refused(operations: Operations, cursor: str) -> None:
    with pytest.raises(InvalidValue, match="cursor"):
        await operations.tasks.list_tasks(TaskFilter(), 3, cursor)


@pytest.mark.parametrize("limit", [0, -1, 501])
async def test_a_page_is_bounded(operations: Operations, limit: int) -> None:
    with pytest.raises(InvalidValue, match="between 1 and 500"):
        await operations.tasks.list_tasks(TaskFilter(), limit)


async def test_filters_combine(operations: Operations, world: World) -> None:
    await operations.tasks.enqueue_many(
        [EnqueueRequest("read", source="u1"), EnqueueRequest("ask", source="u1"), EnqueueRequest("ask", delay=60)]
    )
    now = await world.now()
    for words, count in (
        ({"types": ["ask"]}, 2),
        ({"types": ["ask", "read"]}, 3),
        ({"source": "u1"}, 2),
        ({"source": "u1", "types": ["ask"]}, 1),
        ({"statuses": ["scheduled"]}, 1),
        ({"statuses": ["PENDING", "dead-letter"]}, 2),
        ({"statuses": ["pending,dead-letter,"]}, 2),
        ({"lane": "queries"}, 2),
        ({"schedule": "none"}, 0),
        ({"since": "1h"}, 3),
        ({"since": now + 60_000}, 0),
        ({"since": "2020-01-01T00:00:00Z"}, 3),
    ):
        chosen, _ = read_filter(now=now, **words)
        assert len((await operations.tasks.list_tasks(chosen)).items) == count, words


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"lane": "reserch"}, "did you mean 'research'"),
        ({"statuses": ["complete"]}, "did you mean 'completed'"),
        ({"since": "yesterday"}, "duration"),
        ({"since": "2026-13-01T00:00:00Z"}, "since"),
        ({"types": [""]}, "task type"),
        ({"source": "s" * 513}, "limit is 512"),
    ],
)
def test_a_filter_with_a_mistake_names_it(words: dict[str, object], message: str) -> None:
    with pytest.raises((UnknownName, InvalidValue)) as caught:
        read_filter(now=0, **words)  # type: ignore[arg-type]
    assert message in str(caught.value)


def test_since_without_an_offset_is_read_as_utc_and_said_so() -> None:
    chosen, notes = read_filter(since="1970-01-01T00:00:01")
    assert chosen.since == 1000
    assert "read as UTC" in notes[0]


async def test_one_task_tells_all_that_happened_in_order(operations: Operations, world: World) -> None:
    done = await operations.tasks.enqueue(EnqueueRequest("read", {"n": 1}, id="story", max_attempts=1))
    await world.finish(await world.claim_one(RULES), AckOutcome.FAILED)
    await operations.tasks.retry(["story"], "ada")
    await world.finish(await world.claim_one(RULES), result='{"ok":true}')
    record = await operations.tasks.show("story")
    assert [event["event"] for event in record["timeline"]] == [
        "enqueued",
        "started",
        "run ended: failed",
        "retried",
        "started",
        "run ended: completed",
    ]
    assert record["timeline"][3]["detail"] == "by ada"
    assert (record["uid"], record["payload"], record["result"]) == (done.uid, {"n": 1}, {"ok": True})
    assert record["attempt_history"][0]["message"] == "it went wrong"


async def test_a_lost_run_is_told_as_such(operations: Operations, world: World) -> None:
    await operations.tasks.enqueue(EnqueueRequest("read", id="lost"))
    await world.crash(await world.claim_one(RULES))
    last = (await operations.tasks.show("lost"))["timeline"][-1]
    assert (last["event"], last["detail"]) == ("run ended: reaped", "lease and grace were over: the worker was lost")


def test_runs_that_are_not_shown_are_told() -> None:
    runs = [{"number": n, "started_at": n, "ended_at": n, "outcome": "snooze"} for n in range(141, 41, -1)]
    events = timeline({"enqueued_at": 1, "claims": 141, "started_at": 141}, runs)
    assert (events[1]["event"], events[1]["detail"]) == ("earlier runs", "those before run 42 are not shown")
    assert len(events) == 2 + 200


async def test_an_unknown_id_is_named(operations: Operations) -> None:
    for ask in (
        operations.tasks.show("nobody"),
        operations.tasks.cancel(["nobody"]),
        operations.tasks.retry(["nobody"], "ada"),
        operations.tasks.prioritize(["nobody"], "high"),
        operations.tasks.wait(["nobody"]),
    ):
        with pytest.raises(NotFound, match="'nobody'"):
            await ask


async def test_unknown_ids_among_many_are_named(operations: Operations) -> None:
    known = await operations.tasks.enqueue(EnqueueRequest("read"))
    with pytest.raises(NotFound, match=r"no tasks 'a', 'b', 'c' and 2 more: they do not exist"):
        await operations.tasks.cancel(["a", known.id, "b", "c", "d", "e"])
    assert (await operations.tasks.show(known.id))["status"] == "pending"


async def test_a_type_that_nobody_knows_is_refused_in_a_filter(operations: Operations) -> None:
    await operations.tasks.enqueue(EnqueueRequest("own", allow_unknown_type=True))
    await operations.tasks.check_types(["read", "own"])
    with pytest.raises(UnknownName, match="did you mean 'read'"):
        await operations.tasks.check_types(["reed"])


async def test_a_text_that_is_the_uid_of_one_and_the_id_of_another_is_refused(
    operations: Operations, world: World
) -> None:
    first = await operations.tasks.enqueue(EnqueueRequest("read", id="one"))
    with pytest.raises(InvalidValue, match="has the form of a uid"):
        await operations.tasks.enqueue(EnqueueRequest("ask", id=first.uid))
    await operations.tasks.enqueue(EnqueueRequest("ask", id="two"))
    await world.cypher("MATCH (t:Task {id: 'two'}) SET t.id = $uid", uid=first.uid)
    with pytest.raises(Conflict, match="uid of one task and the id of another"):
        await operations.tasks.cancel([first.uid])
    assert (await world.task(first.uid))["status"] == "pending"


async def test_cancel_says_what_became_of_each(operations: Operations, world: World) -> None:
    await operations.tasks.enqueue(EnqueueRequest("read", id="over"))
    await world.finish(await world.claim_one(RULES))
    await operations.tasks.enqueue(EnqueueRequest("read", id="running"))
    await world.claim_one(RULES)
    await operations.tasks.enqueue(EnqueueRequest("read", id="waiting", delay=60))
    answers = {one.id: one for one in await operations.tasks.cancel(["over", "running", "waiting"])}
    assert {name: one.answer for name, one in answers.items()} == {
        "over": "over",
        "running": "requested",
        "waiting": "cancelled",
    }
    assert answers["over"].refused is not None
    assert answers["running"].refused is None
    assert await broken(world.store) == []


async def test_retry_brings_back_what_was_cancelled_because_of_it(operations: Operations, world: World) -> None:
    await operations.tasks.enqueue(EnqueueRequest("read", id="root"))
    await operations.tasks.enqueue(EnqueueRequest("read", id="child", after=["root"]))
    await world.finish(await world.claim_one(RULES), AckOutcome.FAILED)
    answer = (await operations.tasks.retry(["root"], "ada"))[0]
    assert (answer.answer, answer.status, answer.refused) == ("retried", "pending", None)
    assert answer.detail == "came back with it: 1 that ended because of it"
    assert (await operations.tasks.show("child"))["status"] == "blocked"
    assert await broken(world.store) == []


async def test_retry_of_a_task_and_of_what_comes_back_with_it_refuses_nothing(
    operations: Operations, world: World
) -> None:
    await operations.tasks.enqueue(EnqueueRequest("read", id="root"))
    await operations.tasks.enqueue(EnqueueRequest("read", id="child", after=["root"]))
    await world.finish(await world.claim_one(RULES), AckOutcome.FAILED)
    while (await operations.tasks.show("child"))["status"] != "cancelled":
        await world.store.sweeps.cascade_step()
    assert (await operations.tasks.show("child"))["cancelled_because"] == "root"
    answers = {one.id: one for one in await operations.tasks.retry(["child", "root"], "ada")}
    assert (answers["child"].refused, answers["child"].detail) == (None, "came back with root")


async def test_retry_refuses_with_the_reason(operations: Operations, world: World) -> None:
    await operations.tasks.enqueue(EnqueueRequest("read", id="live"))
    await operations.tasks.enqueue(EnqueueRequest("read", id="dead", key="k", priority="critical"))
    await world.finish(await world.claim_one(RULES), AckOutcome.FAILED)
    await operations.tasks.enqueue(EnqueueRequest("read", id="heir", key="k"))
    reasons = {one.id: one.refused for one in await operations.tasks.retry(["live", "dead"], "ada")}
    assert "it is pending" in str(reasons["live"])
    assert "key now belongs" in str(reasons["dead"])


async def test_prioritize_moves_what_waits_to_the_front(operations: Operations, world: World) -> None:
    await operations.tasks.enqueue_many([EnqueueRequest("read", id=name) for name in ("a", "b", "c")])
    await operations.tasks.prioritize(["c"], "critical")
    await operations.tasks.prioritize(["b"], 2, weight=5)
    assert [claim.id for claim in await world.claim(3, RULES)] == ["c", "b", "a"]
    with pytest.raises(InvalidValue, match="priority 9"):
        await operations.tasks.prioritize(["a"], 9)


async def test_wait_ends_with_the_result(operations: Operations, world: World) -> None:
    await operations.tasks.enqueue(EnqueueRequest("read", id="t"))
    seen: list[str] = []
    waiting = asyncio.create_task(operations.tasks.wait(["t"], 30, lambda task: seen.append(task["status"])))
    claim = await world.claim_one(RULES)
    await world.finish(claim, result='{"n":3}')
    waited = await waiting
    assert waited.done
    assert (waited.tasks[0]["result"], seen[-1]) == ({"n": 3}, "completed")


async def test_wait_gives_up_at_its_timeout(operations: Operations) -> None:
    await operations.tasks.enqueue(EnqueueRequest("read", id="t"))
    waited = await operations.tasks.wait(["t"], 0)
    assert (waited.done, waited.tasks[0]["status"]) == (False, "pending")


async def test_wait_tells_when_a_task_is_purged_meanwhile(operations: Operations, world: World) -> None:
    await operations.tasks.enqueue(EnqueueRequest("read", id="t"))
    waiting = asyncio.create_task(operations.tasks.wait(["t"], 30))
    await world.cypher("MATCH (t:Task {id: 't'}) DETACH DELETE t")
    with pytest.raises(NotFound):
        await waiting


async def test_bulk_changes_what_the_action_can_change(operations: Operations, world: World) -> None:
    await operations.tasks.enqueue_many([EnqueueRequest("read", source="u") for _ in range(5)])
    await world.finish(await world.claim_one(RULES), AckOutcome.FAILED)
    chosen, _ = read_filter(source="u")
    live = await select_for(operations.tasks, "cancel", chosen)
    dead = await select_for(operations.tasks, "retry", chosen)
    assert (live.by_status, dead.by_status) == ({"pending": 4}, {"failed": 1})
    report = await carry_out(live.ids, operations.tasks.cancel, chunk=3)
    assert (report.matched, report.answers, report.refused) == (4, {"cancelled": 4}, ())


async def test_bulk_goes_on_over_what_was_purged_meanwhile(operations: Operations, world: World) -> None:
    await operations.tasks.enqueue_many([EnqueueRequest("read") for _ in range(3)])
    selection = await select_for(operations.tasks, "cancel", TaskFilter(types=("read",)))
    await world.cypher("MATCH (t:Task {uid: $uid}) DETACH DELETE t", uid=selection.ids[1])
    report = await carry_out(selection.ids, lambda ids: operations.tasks.cancel(ids, skip_missing=True))
    assert report.answers == {"cancelled": 2}


async def test_bulk_without_a_filter_is_refused(operations: Operations) -> None:
    with pytest.raises(InvalidValue, match="name tasks by id"):
        await select_for(operations.tasks, "cancel", TaskFilter())
