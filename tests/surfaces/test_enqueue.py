"""Enqueue by a caller: what is accepted, how it is read, and that bad input changes nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kgsched.config import load_settings
from kgsched.core.task import Answer
from kgsched.errors import Conflict, InvalidValue, KgschedError, NotFound, UnknownName
from kgsched.operations.facade import Operations, request_of
from kgsched.operations.new_task import EnqueueRequest
from kgsched.registry import Registry, TaskType
from tests.store.worlds import World, broken

SURROGATE = "half \ud800"

BAD: list[tuple[dict[str, Any], type[KgschedError], str]] = [
    ({"type": "reed"}, UnknownName, "did you mean 'read'"),
    ({"type": ""}, InvalidValue, "task type must be text"),
    ({"type": "x" * 129, "allow_unknown_type": True}, InvalidValue, "limit is 128"),
    ({"priority": "urgent"}, InvalidValue, "priority 'urgent' is not one of"),
    ({"priority": 4}, InvalidValue, "priority 4"),
    ({"priority": True}, InvalidValue, "priority True"),
    ({"weight": 401}, InvalidValue, "weight 401"),
    ({"weight": -401}, InvalidValue, "weight -401"),
    ({"payload": {"x": "y" * (1024 * 1024)}}, InvalidValue, "the limit is 1048576"),
    ({"payload": {"x": {1, 2}}}, InvalidValue, "payload is not JSON"),
    ({"payload": float("nan")}, InvalidValue, "payload is not JSON"),
    ({"payload": {"x": SURROGATE}}, InvalidValue, "payload is not JSON"),
    ({"id": ""}, InvalidValue, "id must be text"),
    ({"id": "i" * 129}, InvalidValue, "limit is 128"),
    ({"id": "sched:research_feed:1"}, InvalidValue, "belong to schedules"),
    ({"id": "run:research_feed:1"}, InvalidValue, "belong to schedules"),
    ({"id": SURROGATE}, InvalidValue, "surrogate"),
    ({"key": "k" * 513}, InvalidValue, "limit is 512"),
    ({"key": "k\0"}, InvalidValue, "NUL"),
    ({"source": "s" * 513}, InvalidValue, "limit is 512"),
    ({"gate": "s:research_feed"}, InvalidValue, "belong to schedules"),
    ({"gate": "g" * 129}, InvalidValue, "limit is 128"),
    ({"eta": "0000-01-01T00:00:00Z"}, InvalidValue, "is not an instant"),
    ({"eta": "10000-01-01T00:00:00Z"}, InvalidValue, "is not an instant"),
    ({"eta": "1969-12-31T23:59:59Z"}, InvalidValue, "outside the years"),
    ({"eta": "2026-02-30T00:00:00Z"}, InvalidValue, "is not an instant"),
    ({"eta": "tomorrow"}, InvalidValue, "is not an instant"),
    ({"eta": -1}, InvalidValue, "is not an instant"),
    ({"eta": 2**63}, InvalidValue, "is not an instant"),
    ({"eta": "2030-01-01T00:00:00Z", "delay": 5}, InvalidValue, "eta or delay"),
    ({"delay": "-5s"}, InvalidValue, "duration"),
    ({"delay": "soon"}, InvalidValue, "duration"),
    ({"max_attempts": 0}, InvalidValue, "max_attempts 0"),
    ({"max_attempts": 1001}, InvalidValue, "max_attempts 1001"),
    ({"after": ["nobody"]}, NotFound, "'nobody'"),
    ({"after": "nobody"}, InvalidValue, "must be a list"),
    ({"after": 3}, InvalidValue, "must be a list"),
    ({"on_failure": "x"}, UnknownName, "on_failure rule"),
    ({"gate": 3}, InvalidValue, "concurrency key must be text"),
    ({"delay": "253402300799s"}, InvalidValue, "longer than 100 years"),
    ({"after": [""]}, InvalidValue, "id in after"),
    ({"after": [str(n) for n in range(1001)]}, InvalidValue, "limit is 1000"),
]


@pytest.mark.parametrize(
    ("fields", "error", "message"), BAD, ids=[f"{n}-{'-'.join(fields)}" for n, (fields, _, _) in enumerate(BAD)]
)
async def test_bad_input_is_refused_by_name_and_nothing_is_written(
    operations: Operations, world: World, fields: dict[str, Any], error: type[KgschedError], message: str
) -> None:
    with pytest.raises(error) as caught:
        await operations.tasks.enqueue(EnqueueRequest(**{"type": "read", **fields}))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert (await world.cypher("MATCH (t:Task) RETURN count(t) AS n"))[0]["n"] == 0


async def test_a_payload_that_the_handler_cannot_take_is_refused_at_once(world: World, registry: Registry) -> None:
    async def summarize(ctx: object, paper: str, *, pages: int = 1) -> None: ...

    registry.add(TaskType("summarize", summarize))
    tasks = Operations(world.store, registry, load_settings()).tasks
    for payload, message in (
        ({"papers": "x"}, "missing a required argument: 'paper'"),
        ({"paper": "x", "page": 1}, "unexpected keyword argument 'page'"),
        (["x"], "must be a JSON object"),
    ):
        with pytest.raises(InvalidValue, match=message):
            await tasks.enqueue(EnqueueRequest("summarize", payload))
    assert (await world.cypher("MATCH (t:Task) RETURN count(t) AS n"))[0]["n"] == 0
    await tasks.enqueue(EnqueueRequest("summarize", {"paper": "x", "pages": 2}))


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({}, "pending"),
        ({"eta": 1}, "pending"),
        ({"delay": 60}, "scheduled"),
        ({"eta": "2900-01-01T00:00Z"}, "scheduled"),
    ],
)
async def test_the_answer_says_in_which_state_it_is(
    operations: Operations, fields: dict[str, Any], status: str
) -> None:
    done = await operations.tasks.enqueue(EnqueueRequest("read", **fields))
    assert done.status == status


async def test_one_bad_request_among_many_enqueues_none(operations: Operations, world: World) -> None:
    with pytest.raises(InvalidValue):
        await operations.tasks.enqueue_many([EnqueueRequest("read"), EnqueueRequest("read", weight=1000)])
    assert (await world.cypher("MATCH (t:Task) RETURN count(t) AS n"))[0]["n"] == 0


async def test_of_many_the_one_that_is_wrong_is_named(operations: Operations, world: World) -> None:
    good = EnqueueRequest("read")
    bad: list[tuple[EnqueueRequest, type[Exception], str]] = [
        (EnqueueRequest("read", delay=-5), InvalidValue, "task 1 of this enqueue: delay -5 is not a duration"),
        (
            EnqueueRequest("read", key="k", unique_for="a day"),
            InvalidValue,
            "task 1 of this enqueue: unique_for 'a day'",
        ),
        (EnqueueRequest("read", after=["nobody"]), NotFound, "task 1 of this enqueue: .*'nobody'"),
    ]
    for request, kind, said in bad:
        with pytest.raises(kind, match=said):
            await operations.tasks.enqueue_many([good, request])
    for odd in ([{"type": "read"}], "read", [lambda: None]):
        with pytest.raises(InvalidValue, match="EnqueueRequest"):
            await operations.tasks.enqueue_many(odd)  # type: ignore[arg-type]
    assert await world.count("MATCH (t:Task)") == 0


async def test_all_options_reach_the_task(operations: Operations, world: World) -> None:
    done = await operations.tasks.enqueue(
        EnqueueRequest(
            "ask",
            {"b": 1, "a": "ü"},
            id="mine",
            priority="high",
            weight=7,
            eta="2030-06-01T12:00:00+02:00",
            source="https://example.org/a",
            key="k",
            trace="00-abc",
        )
    )
    assert (done.id, done.answer, done.notes) == ("mine", Answer.CREATED, ())
    task = await world.task(done.uid)
    assert {name: task[name] for name in ("type", "lane", "prio_bucket", "weight", "status", "key", "trace")} == {
        "type": "ask",
        "lane": "queries",
        "prio_bucket": 1,
        "weight": 7,
        "status": "scheduled",
        "key": "k",
        "trace": "00-abc",
    }
    assert task["payload"] == '{"a":"ü","b":1}'
    assert task["eta"] == int(datetime(2030, 6, 1, 10, tzinfo=UTC).timestamp() * 1000)
    assert await broken(world.store) == []


@pytest.mark.parametrize("eta", ["2030-01-01T00:00:00", datetime(2030, 1, 1)])
async def test_a_naive_eta_is_read_as_utc_and_said_so(operations: Operations, world: World, eta: Any) -> None:
    done = await operations.tasks.enqueue(EnqueueRequest("read", eta=eta))
    assert (await world.task(done.uid))["eta"] == int(datetime(2030, 1, 1, tzinfo=UTC).timestamp() * 1000)
    assert "read as UTC" in done.notes[0]


@pytest.mark.parametrize("delay", ["1h", 3600, timedelta(hours=1)])
async def test_a_delay_counts_from_the_servers_now(operations: Operations, world: World, delay: Any) -> None:
    before = await world.now()
    task = await world.task((await operations.tasks.enqueue(EnqueueRequest("read", delay=delay))).uid)
    assert task["status"] == "scheduled"
    assert before + 3_600_000 <= task["due_at"] <= await world.now() + 3_600_000


async def test_attempts_are_the_types_unless_the_caller_says(operations: Operations, world: World) -> None:
    uids = [
        (await operations.tasks.enqueue(EnqueueRequest(type_, max_attempts=n))).uid
        for type_, n in (("read", None), ("read", 2), ("ask", None))
    ]
    assert [(await world.task(uid))["max_attempts"] for uid in uids] == [5, 2, 3]


async def test_an_unknown_type_can_wait_for_its_worker(operations: Operations, world: World) -> None:
    done = await operations.tasks.enqueue(EnqueueRequest("later", allow_unknown_type=True))
    task = await world.task(done.uid)
    assert (task["status"], task["lane"]) == ("pending", "ingestion")


async def test_a_type_that_another_process_published_is_known(operations: Operations, world: World) -> None:
    await world.store.cluster.publish_types({"theirs": "enrichment"})
    done = await operations.tasks.enqueue(EnqueueRequest("theirs"))
    assert (await world.task(done.uid))["lane"] == "enrichment"


async def test_attempts_that_another_process_published_count_here(operations: Operations, world: World) -> None:
    await world.store.cluster.publish_types({"theirs": "enrichment", "plain": "enrichment"}, None, {"theirs": 7})
    uids = [(await operations.tasks.enqueue(EnqueueRequest(type_))).uid for type_ in ("theirs", "plain")]
    assert [(await world.task(uid))["max_attempts"] for uid in uids] == [7, 3]


async def test_it_waits_for_tasks_by_id_and_by_uid(operations: Operations, world: World) -> None:
    first = await operations.tasks.enqueue(EnqueueRequest("read", id="first"))
    second = await operations.tasks.enqueue(EnqueueRequest("read"))
    child = await operations.tasks.enqueue(EnqueueRequest("read", after=["first", second.uid, first.uid, "first"]))
    task = await world.task(child.uid)
    assert (task["status"], task["deps_left"]) == ("blocked", 2)
    assert child.uid > max(first.uid, second.uid)
    assert await broken(world.store) == []


async def test_requests_of_one_call_may_wait_for_one_another(operations: Operations, world: World) -> None:
    done = await operations.tasks.enqueue_many(
        [
            EnqueueRequest("read", id="a"),
            EnqueueRequest("read", id="b", after=["a"]),
            EnqueueRequest("ask", after=["b"]),
        ]
    )
    assert [(await world.task(one.uid))["status"] for one in done] == ["pending", "blocked", "blocked"]


async def test_nothing_may_wait_for_a_best_effort_lane(operations: Operations) -> None:
    tick = await operations.tasks.enqueue(EnqueueRequest("scheduled_job", {"job": "heal"}))
    with pytest.raises(Conflict, match="best-effort"):
        await operations.tasks.enqueue(EnqueueRequest("read", after=[tick.id]))


async def test_the_same_key_gives_the_live_task_and_another_payload_is_a_conflict(operations: Operations) -> None:
    first = await operations.tasks.enqueue(EnqueueRequest("read", {"n": 1}, key="k"))
    again = await operations.tasks.enqueue(EnqueueRequest("read", {"n": 1}, key="k"))
    assert (again.uid, again.answer) == (first.uid, Answer.EXISTING)
    with pytest.raises(Conflict, match="another type or payload"):
        await operations.tasks.enqueue(EnqueueRequest("read", {"n": 2}, key="k"))


async def test_in_a_transaction_the_task_exists_if_and_only_if_it_commits(operations: Operations, world: World) -> None:
    parent = await operations.tasks.enqueue(EnqueueRequest("read"))

    async def fail() -> None:
        async with world.store.graph.transaction() as tx:
            await operations.tasks.enqueue(EnqueueRequest("read", id="lost"), tx=tx)
            await operations.tasks.enqueue(EnqueueRequest("read", weight=1000), tx=tx)

    with pytest.raises(InvalidValue):
        await fail()
    async with world.store.graph.transaction() as tx:
        kept = await operations.tasks.enqueue(EnqueueRequest("read", id="kept", after=[parent.id]), tx=tx)
        await operations.tasks.enqueue(EnqueueRequest("read", id="grandchild", after=[kept.uid]), tx=tx)
    await operations.jobs.run("settle")
    rows = await world.cypher("MATCH (t:Task) RETURN t.id AS id, t.status AS status ORDER BY t.uid")
    assert [(row["id"], row["status"]) for row in rows][1:] == [("kept", "blocked"), ("grandchild", "blocked")]
    assert await broken(world.store) == []


def test_what_is_no_option_of_an_enqueue_is_an_argument_of_the_handler() -> None:
    request = request_of("read", {"url": "u", "priority": "high", "payload": {"x": 1}})
    assert (request.payload, request.priority) == ({"x": 1, "url": "u"}, "high")
    with pytest.raises(InvalidValue, match="takes no arguments"):
        request_of("read", {"payload": [1], "url": "u"})
