"""Status, lanes, workers, types, jobs by name, and what the doctor makes of it all."""

from __future__ import annotations

from typing import Any

import pytest

from kgsched.core.task import AckOutcome
from kgsched.errors import Conflict, UnknownName
from kgsched.operations.doctor import (
    Finding,
    Level,
    check_clock,
    check_leader,
    check_loops,
    check_paused,
    check_schema,
    check_types,
)
from kgsched.operations.facade import Operations
from kgsched.operations.new_task import EnqueueRequest
from kgsched.registry import Job, Registry
from tests.store.worlds import World, broken
from tests.surfaces.rules import RULES

INFO: dict[str, Any] = {
    "host": "h",
    "pid": 1,
    "version": "v",
    "slots": 4,
    "types": ["read"],
    "session": "s",
    "mode": "d",
}


async def test_status_counts_every_state_and_lane(operations: Operations, world: World) -> None:
    await operations.tasks.enqueue_many([EnqueueRequest("read", id=name) for name in ("dead", "runs", "p1", "p2")])
    await world.finish(await world.claim_one(RULES), AckOutcome.DEAD_LETTER)
    await world.claim_one(RULES)
    await operations.tasks.enqueue(EnqueueRequest("ask", delay=60))
    await operations.tasks.enqueue(EnqueueRequest("ask", after=["p1"]))
    record = await operations.cluster.status()
    assert {name: n for name, n in record["tasks"].items() if n} == {
        "pending": 2,
        "running": 1,
        "scheduled": 1,
        "blocked": 1,
        "dead_letter": 1,
    }
    assert record["lanes"]["queries"] == {"scheduled": 1, "blocked": 1}
    assert record["oldest_ready_age"] >= 0
    assert record["leader"]["worker"] is None


async def test_status_names_the_leader_while_its_lease_lasts(operations: Operations, world: World) -> None:
    await world.store.cluster.acquire("w1", 60_000)
    await world.store.cluster.note_loop("tick", "w1", "0")
    record = await operations.cluster.status()
    assert record["leader"]["worker"] == "w1"
    assert record["loops"][0]["name"] == "tick"
    await world.store.cluster.resign("w1")
    assert (await operations.cluster.status())["leader"]["worker"] is None


async def test_workers_that_fell_silent_are_not_listed(operations: Operations, world: World) -> None:
    await world.store.cluster.register_worker("w1", INFO, 60_000)
    await world.store.cluster.register_worker("w2", INFO, -1)
    rows = await operations.cluster.workers()
    assert [(row["id"], row["types"], row["slots"]) for row in rows] == [("w1", ["read"], 4)]


async def test_a_lane_and_a_type_can_be_paused_and_resumed(operations: Operations, world: World) -> None:
    await world.store.cluster.publish_types({"read": "ingestion"})
    await operations.tasks.enqueue(EnqueueRequest("read"))
    for change, name in ((operations.cluster.pause_lane, "ingestion"), (operations.cluster.pause_type, "read")):
        await change(name, True, "ada", "disk full")
        assert await world.claim(1, RULES) == []
        await change(name, False, "ada")
    assert len(await world.claim(1, RULES)) == 1
    with pytest.raises(UnknownName, match="did you mean 'ingestion'"):
        await operations.cluster.pause_lane("ingestoin", True, "ada")
    with pytest.raises(UnknownName, match="did you mean 'read'"):
        await operations.cluster.pause_type("reed", True, "ada")


async def test_lanes_say_who_paused_them_and_why(operations: Operations) -> None:
    await operations.cluster.pause_lane("research", True, "ada", "quota")
    rows = {row["name"]: row for row in await operations.cluster.lanes()}
    assert (rows["research"]["paused_by"], rows["research"]["paused_why"]) == ("ada", "quota")
    assert len(rows) == 8


JOBS = ["promotion_sweep", "reaper", "collapse_stale_ticks", "settle", "cascade", "release", "revive", "heal", "purge"]


@pytest.mark.parametrize("name", [*JOBS, "archive", "count_check", "forget_workers"])
async def test_every_job_runs_by_name_on_an_empty_graph(operations: Operations, name: str) -> None:
    assert await operations.jobs.run(name) == {"job": name, "count": 0} | (await operations.jobs.run(name))


async def test_a_job_repeats_until_nothing_is_left(operations: Operations, world: World) -> None:
    await operations.tasks.enqueue_many([EnqueueRequest("read", delay=60) for _ in range(501)])
    await world.cypher("MATCH (t:Task) SET t.due_at = 1, t.eta = 1")
    report = await operations.jobs.run("promotion_sweep")
    assert (report["count"], report["passes"]) == (501, 2)
    assert await broken(world.store) == []


async def test_heal_makes_claimable_what_a_write_by_hand_broke(operations: Operations, world: World) -> None:
    await operations.tasks.enqueue(EnqueueRequest("read"))
    await world.cypher("MATCH (t:Task) SET t.ready = NULL")
    assert (await operations.jobs.run("heal"))["lost"] == 1
    assert await broken(world.store) == []


async def test_count_check_reports_the_difference(operations: Operations, world: World) -> None:
    await operations.tasks.enqueue(EnqueueRequest("read"))
    await world.finish(await world.claim_one(RULES))
    await world.cypher("MATCH (c:Stat) SET c.n = c.n + 1")
    report = await operations.jobs.run("count_check")
    assert report["differences"] == [
        {"space": "default", "lane": "ingestion", "type": "read", "status": "completed", "counted": 2, "found": 1}
    ]


async def test_an_unknown_job_has_near_names(operations: Operations) -> None:
    with pytest.raises(UnknownName, match="did you mean 'promotion_sweep'"):
        await operations.jobs.run("promote_sweep")


async def test_a_job_by_hand_may_enqueue_but_has_no_task_to_finish(
    operations: Operations, registry: Registry, world: World
) -> None:
    async def body(ctx: Any) -> dict[str, Any]:
        done = await ctx.enqueue("read", payload={"from": ctx.payload["job"]}, priority="high")
        with pytest.raises(Conflict, match="run-now"):
            ctx.finishing()
        return {"enqueued": done.id}

    registry.add_job(Job("mine", body))
    report = await operations.jobs.run("mine")
    assert (await world.task(report["enqueued"]))["prio_bucket"] == 1


async def test_the_doctor_finds_a_lonely_queue_and_says_what_to_do(operations: Operations) -> None:
    findings = {one.check: one for one in await operations.doctor.examine()}
    assert {findings["leader"].level, findings["workers"].level} == {Level.FAIL}
    assert "kgsched daemon" in str(findings["leader"].remedy)
    assert {findings["version"].level, findings["schema"].level, findings["clock"].level} == {Level.OK}


async def test_the_doctor_finds_types_without_a_handler(operations: Operations, world: World) -> None:
    await world.store.cluster.register_worker("w1", INFO, 60_000)
    await operations.tasks.enqueue_many(
        [EnqueueRequest("ask"), EnqueueRequest("ask", delay=60), EnqueueRequest("read")]
    )
    findings = [one for one in await operations.doctor.examine() if one.check == "types"]
    assert [(one.level, one.found) for one in findings] == [
        (Level.WARN, "type 'ask' has 2 that wait, and no worker handles it")
    ]


WORKER = {"id": "w", "slots": 4, "types": ["read"]}
LOOP = {"name": "reaper", "worker": "w", "age": 400.0}


@pytest.mark.parametrize(
    ("findings", "level", "text"),
    [
        ([check_schema(9, 9)], Level.OK, "migration 9"),
        ([check_schema(3, 9)], Level.WARN, "3 of 9"),
        ([check_schema(10, 9)], Level.FAIL, "newer kgsched"),
        ([check_clock(0.2, -1)], Level.OK, "within"),
        ([check_clock(-90, -1)], Level.WARN, "behind"),
        ([check_clock(90, -1)], Level.WARN, "ahead of"),
        ([check_clock(0, 120)], Level.FAIL, "set back by 120 s"),
        (check_leader({"leader": {"worker": "w"}}, [WORKER]), Level.OK, "1 with 4 slots"),
        (
            check_leader({"leader": {"worker": "w"}}, [WORKER, WORKER | {"id": "x", "silent_for": 46.0}]),
            Level.WARN,
            "x says nothing for 46 s",
        ),
        (check_leader({"leader": {"worker": "w"}}, [WORKER | {"silent_for": 46.0}])[:2], Level.FAIL, "0 with 0 slots"),
        (check_leader({"leader": {"worker": "w"}}, []), Level.FAIL, "nobody runs tasks"),
        (check_types([], [WORKER]), Level.OK, "has a handler"),
        (check_loops([LOOP], True), Level.WARN, "400 s ago"),
        (check_loops([{**LOOP, "age": 1.0}], True), Level.OK, "pass regularly"),
        (
            check_paused([{"name": "x", "paused": True, "paused_by": "a", "paused_at": "t", "paused_why": "w"}], []),
            Level.WARN,
            "paused by a",
        ),
    ],
)
def test_each_check_judges(findings: list[Finding], level: Level, text: str) -> None:
    assert findings[-1].level is level
    assert text in findings[-1].found
    assert level is Level.OK or findings[-1].remedy
