"""What keeps the graph small and sound: purge, archive, counters, healing."""

from __future__ import annotations

from tests.store.worlds import EVERYTHING, World, new_task

EVER = 4_000_000_000_000


async def test_purge_deletes_what_is_over_with_its_history_and_counts(world: World) -> None:
    await world.enqueue(*(new_task() for _ in range(4)))
    for outcome in ("completed", "failed", "dead_letter"):
        await world.run_one(outcome)
    assert (await world.store.sweeps.purge(1)).count == 0, "not old enough"
    swept = await world.store.sweeps.purge(EVER, 2)
    assert (swept.count, swept.more) == (2, True)
    assert (await world.store.sweeps.purge(EVER, 2)).count == 1
    assert await world.count("MATCH (t:Task)") == 1
    assert await world.count("MATCH (a:Attempt)") == 0
    assert await world.counters() == {}
    assert await world.broken() == []


async def test_purge_leaves_what_something_still_waits_for(world: World) -> None:
    parent = await world.enqueue_one()
    held = await world.enqueue_one(after=[(parent, "hold")])
    await world.run_one("failed")
    await world.sweep()
    assert (await world.store.sweeps.purge(EVER)).count == 0
    await world.store.tasks.cancel([held.uid])
    await world.sweep()
    while (await world.store.sweeps.purge(EVER)).count:
        pass
    assert await world.count("MATCH (t:Task)") == 0


async def test_purge_leaves_the_met_edge_s_child_alone(world: World) -> None:
    parent = await world.enqueue_one()
    child = await world.enqueue_one(after=[parent])
    await world.run_one()
    assert (await world.store.sweeps.purge(EVER)).count == 1
    assert (await world.run_one()).uid == child.uid
    assert await world.broken() == []


async def test_purge_keeps_the_graph_that_a_task_made(world: World) -> None:
    task = await world.enqueue_one()
    await world.run_one()
    await world.cypher("MATCH (t:Task {uid: $uid}) CREATE (t)-[:PRODUCED]->(:Article {id: 'x'})", uid=task.uid)
    assert (await world.store.sweeps.purge(EVER)).count == 1
    assert await world.count("MATCH (:Article)") == 1


async def test_archive_drops_the_heavy_text_of_completed_tasks(world: World) -> None:
    done, failed = new_task(payload='{"big":1}'), new_task(payload='{"big":2}')
    await world.enqueue(done, failed)
    await world.run_one()
    await world.run_one("failed")
    assert (await world.store.sweeps.archive(1)).count == 0
    assert (await world.store.sweeps.archive(EVER)).count == 1
    assert (await world.store.sweeps.archive(EVER)).count == 0
    assert "payload" not in await world.task(done)
    assert (await world.task(failed))["payload"] == '{"big":2}'
    assert await world.broken() == []


async def test_the_count_check_tells_counters_that_are_wrong(world: World) -> None:
    await world.enqueue_one()
    await world.run_one()
    assert await world.store.sweeps.count_check() == []
    await world.cypher("MATCH (c:Stat) SET c.n = c.n + 2")
    cells = await world.store.sweeps.count_check()
    assert [(cell["status"], cell["counted"], cell["found"]) for cell in cells] == [("completed", 3, 1)]


async def test_counts_are_those_of_the_tasks(world: World) -> None:
    first = await world.enqueue_one()
    await world.enqueue(new_task("b"), new_task("b", prio_bucket=3), new_task(eta=EVER), new_task("b", after=[first]))
    await world.run_one()
    await world.claim(1)
    counts: dict[str, int] = {}
    for row in await world.store.cluster.count_tasks("default"):
        counts[row["status"]] = counts.get(row["status"], 0) + row["n"]
    assert counts == {"completed": 1, "running": 1, "pending": 2, "scheduled": 1}
    assert await world.store.cluster.count_tasks("other") == []


async def test_a_pending_task_that_nobody_would_find_is_found(world: World) -> None:
    await world.enqueue(*(new_task() for _ in range(3)))
    await world.cypher("MATCH (t:Task) SET t.ready = NULL")
    assert await world.claim() == []
    assert (await world.store.sweeps.heal_lost()).count == 3
    assert len(await world.claim()) == 3
    assert await world.broken() == []


async def test_what_blocks_the_head_of_a_bucket_is_healed(world: World) -> None:
    tasks = [new_task() for _ in range(5)]
    await world.enqueue(*tasks)
    await world.run_one()
    await world.cypher("MATCH (t:Task {uid: $uid}) SET t.ready = 2", uid=tasks[0].uid)
    await world.cypher("MATCH (t:Task {uid: $uid}) SET t.ready = 0", uid=tasks[1].uid)
    assert (await world.store.sweeps.heal_ready(list(EVERYTHING))).count == 2
    assert await world.broken() == []
    assert len(await world.claim()) == 4


async def test_a_wrong_count_of_edges_is_healed(world: World) -> None:
    parent = await world.enqueue_one()
    stuck, waits = await world.enqueue_one(after=[parent]), await world.enqueue_one(after=[parent])
    await world.cypher("MATCH (t:Task {uid: $uid})-[e:DEPENDS_ON]->() SET e.met = true", uid=stuck.uid)
    await world.cypher("MATCH (t:Task {uid: $uid}) SET t.deps_left = 7", uid=waits.uid)
    assert (await world.store.sweeps.blocked_sweep()).count == 2
    assert await world.statuses(stuck, waits) == ["pending", "blocked"]
    assert (await world.task(waits))["deps_left"] == 1


async def test_sweeps_with_nothing_to_do_do_nothing(world: World) -> None:
    await world.enqueue(new_task(), new_task(eta=EVER))
    await world.enqueue_one(after=[await world.enqueue_one()])
    before = await world.cypher("MATCH (t:Task) RETURN t {.*} AS t ORDER BY t.uid")
    sweeps = world.store.sweeps
    for sweep in (sweeps.promotion_sweep, sweeps.settle, sweeps.cascade_step, sweeps.release_step, sweeps.revive_step):
        assert (await sweep()).count == 0
    for sweep in (sweeps.admission, sweeps.collapse_stale_ticks, sweeps.blocked_sweep, sweeps.heal_lost):
        assert (await sweep()).count == 0
    assert (await sweeps.forget_workers()).count == (await sweeps.forget_keys()).count == 0
    assert await world.cypher("MATCH (t:Task) RETURN t {.*} AS t ORDER BY t.uid") == before


async def test_warming_changes_nothing(world: World) -> None:
    await world.enqueue_one(key="k")
    await world.enqueue_one("gated", gate="g")
    await world.claim_one()
    before = await world.cypher("MATCH (n) RETURN elementId(n) AS id, properties(n) AS all ORDER BY id")
    await world.store.tasks.warm()
    assert await world.cypher("MATCH (n) RETURN elementId(n) AS id, properties(n) AS all ORDER BY id") == before
