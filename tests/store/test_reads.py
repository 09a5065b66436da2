"""Lists, one task in full, and the transactions and errors of the client."""

from __future__ import annotations

import pytest

from kgsched.core.task import Ack, AckOutcome
from kgsched.core.task_filter import TaskFilter
from kgsched.errors import KgschedError, StorageConnectionError, StoreError
from kgsched.localdb import ServerAddress
from kgsched.store import Neo4jStore
from tests.store.worlds import World, new_task
from tests.store.worlds.world import uids

EVER = 4_000_000_000_000


async def listed(world: World, **chosen: object) -> list[str]:
    rows = await world.store.reads.list_tasks("default", TaskFilter(**chosen))  # type: ignore[arg-type]
    return [row["uid"] for row in rows]


async def test_a_list_is_newest_first_and_pages_neither_repeat_nor_skip(world: World) -> None:
    tasks = [new_task() for _ in range(10)]
    await world.enqueue(*tasks)
    seen: list[str] = []
    before = "~"
    while rows := await world.store.reads.list_tasks("default", TaskFilter(), 3, before):
        seen += [row["uid"] for row in rows]
        before = seen[-1]
        await world.enqueue_one()  # arrives while somebody turns the pages
    assert seen == uids(tasks)[::-1]


async def test_filters_go_together(world: World) -> None:
    a, b = await world.enqueue_one("a", source="s1"), await world.enqueue_one("b", source="s1", eta=EVER)
    other = await world.enqueue_one("a", lane="research", source="s2")
    await world.enqueue_one("a", space="other", source="s1")
    assert await listed(world) == uids([other, b, a])
    assert await listed(world, types=("a",)) == uids([other, a])
    assert await listed(world, statuses=("scheduled",)) == [b.uid]
    assert await listed(world, source="s1") == uids([b, a])
    assert await listed(world, source="s1", types=("a",)) == [a.uid]
    assert await listed(world, lane="research") == [other.uid]
    assert await listed(world, since=EVER) == []
    assert await listed(world, schedule="none") == []


async def test_a_task_is_shown_with_its_family_and_history(world: World) -> None:
    parent = await world.enqueue_one(id="parent")
    child = await world.enqueue_one(id="child", after=[(parent, "hold")], spawned_by=parent.uid)
    await world.run_one("failed")
    shown = await world.store.reads.show("default", "parent")
    assert shown is not None
    assert shown["task"]["status"] == "failed"
    assert [one["outcome"] for one in shown["attempts"]] == ["failed"]
    assert (shown["dependents"], shown["spawned"]) == (1, ["child"])
    shown = await world.store.reads.show("default", child.uid)
    assert shown is not None
    (edge,) = shown["waits_for"]
    assert (edge["id"], edge["status"], edge["on_failure"], edge["met"]) == ("parent", "failed", "hold", False)
    assert await world.store.reads.show("default", "nope") is None
    assert await world.store.reads.show("other", "parent") is None


async def test_ids_and_uids_are_resolved_alike(world: World) -> None:
    task = await world.enqueue_one(id="mine")
    found = await world.store.reads.resolve("default", ["mine", task.uid, "nope"])
    assert {asked: row["uid"] for asked, row in found.items()} == {"mine": task.uid, task.uid: task.uid}


async def test_results_of_what_ended_are_read(world: World) -> None:
    done, failed, waits = [await world.enqueue_one() for _ in range(3)]
    await world.finish(await world.claim_one(), result='{"n":1}')
    await world.run_one("failed")
    rows = await world.store.reads.read_results(uids([done, failed, waits]))
    assert [
        (rows[uid]["status"], rows[uid]["result"], rows[uid]["last_error"]) for uid in uids([done, failed, waits])
    ] == [
        ("completed", '{"n":1}', None),
        ("failed", "{}", "it went wrong"),
        ("pending", None, None),
    ]


async def test_a_statement_that_does_not_exist_is_named(world: World) -> None:
    with pytest.raises(KgschedError, match="no statement cypher/tasks/nope"):
        await world.store.graph.named("tasks/nope")


async def test_a_read_cannot_write(world: World) -> None:
    with pytest.raises(StoreError):
        await world.store.graph.query("CREATE (:Article {id: 'x'})")
    assert await world.count("MATCH (:Article)") == 0


async def test_a_wrong_password_and_a_closed_port_say_what_to_do(neo4j_server: ServerAddress) -> None:
    wrong = Neo4jStore(neo4j_server.uri, neo4j_server.user, "wrong")
    with pytest.raises(StoreError, match="KGSCHED_NEO4J_USER"):
        await wrong.verify()
    await wrong.close()
    closed = Neo4jStore("bolt://127.0.0.1:9", "neo4j", "x")
    with pytest.raises(StorageConnectionError, match="does not answer"):
        await closed.verify()
    await closed.close()
    with pytest.raises(StoreError, match="KGSCHED_NEO4J_URI"):
        Neo4jStore("http://127.0.0.1", "neo4j", "x")


async def test_what_failed_is_listed_from_its_own_index(world: World) -> None:
    lost, kept = new_task(source="s"), new_task(source="s")
    await world.enqueue(lost, kept)
    claims = {claim.uid: claim for claim in await world.claim(2)}
    await world.store.tasks.finish([Ack(lost.uid, claims[lost.uid].token, AckOutcome.FAILED)])
    assert await listed(world, statuses=("failed", "dead_letter")) == [lost.uid]
    assert await listed(world, statuses=("failed",), source="s") == [lost.uid]
    assert await listed(world, statuses=("failed",), source="another") == []
