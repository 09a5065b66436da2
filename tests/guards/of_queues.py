"""Guards of who may be claimed, how many at a time, and what people may do."""

from __future__ import annotations

from kgsched.core.claiming import TypeRule
from kgsched.core.task import AckOutcome, Gate, Limits, OnConflict
from kgsched.errors import Conflict, KgschedError
from tests.guards.guard import Guard
from tests.store.worlds import World, new_task
from tests.store.worlds.making import EVERYTHING, LANE
from tests.store.worlds.plans import make_schedule, move_next_run, schedule, ticks

HOUR = 3_600_000


async def a_pause_holds_back(world: World) -> bool:
    await world.enqueue_one()
    await world.store.cluster.pause_type("a", True, "somebody", "because")
    return await world.claim() == []


async def a_pause_of_a_lane_holds_back(world: World) -> bool:
    await world.enqueue_one()
    await world.store.cluster.pause_lane(LANE, True, "somebody", "because")
    return await world.claim() == []


async def a_cap_of_a_lane_is_kept(world: World) -> bool:
    await world.store.cluster.ensure_lanes({LANE: 2})
    await world.enqueue(*(new_task() for _ in range(5)))
    claims = await world.store.tasks.claim_capped(LANE, EVERYTHING, 5, token="t", worker="w", session="s")
    return len(claims) == 2


async def a_gate_holds_no_more_than_its_limit(world: World) -> bool:
    await world.store.gates.open([Gate("default", "g", Limits(1))])
    await world.enqueue(new_task(gate="g"), new_task(gate="g"))
    return len(await world.claim()) == 1


async def a_rate_counts_what_has_started(world: World) -> bool:
    await world.store.gates.open([Gate("default", "g", Limits(None, 1, HOUR))])
    await world.enqueue(new_task(gate="g"), new_task(gate="g"))
    await world.finish(await world.claim_one())
    return await world.claim() == []


async def a_rate_counts_each_start_of_one_task(world: World) -> bool:
    await world.store.gates.open([Gate("default", "g", Limits(None, 3, HOUR))])
    await world.enqueue_one(gate="g")
    for _ in range(2):
        await world.finish(await world.claim_one(), AckOutcome.RELEASE)
    await world.enqueue(new_task(gate="g"), new_task(gate="g"))
    return len(await world.claim()) == 1


async def what_runs_is_not_retried_beside_itself(world: World) -> bool:
    await world.enqueue_one()
    claim = await world.claim_one()
    await world.store.tasks.retry(claim.uid, "somebody")
    return await world.status(claim) == "running"


async def what_waits_for_a_dead_task_is_not_retried(world: World) -> bool:
    parent = await world.enqueue_one()
    child = await world.enqueue_one(after=[parent])
    await world.run_one(AckOutcome.FAILED)
    await world.sweep()
    answer = await world.store.tasks.retry(child.uid, "somebody")
    return answer is not None and answer["answer"] == "parent_dead"


async def what_is_over_is_not_cancelled(world: World) -> bool:
    await world.enqueue_one()
    claim = await world.run_one()
    await world.store.tasks.cancel([claim.uid])
    return await world.status(claim) == "completed"


async def what_was_claimed_is_not_replaced(world: World) -> bool:
    await world.enqueue_one(key="k", payload='"old"')
    await world.finish(await world.claim_one(), AckOutcome.RELEASE)
    try:
        await world.enqueue_one(key="k", payload='"new"', on_conflict=OnConflict.REPLACE)
    except Conflict:
        return True
    return False


async def one_key_has_one_live_task(world: World) -> bool:
    try:
        await world.enqueue(new_task(key="k"))
        await world.enqueue(new_task(key="k"))
    except KgschedError:
        return False
    return await world.count("MATCH (t:Task {key: 'k'})") == 1


async def a_key_for_ever_outlives_its_task(world: World) -> bool:
    first = new_task(key="k", unique="ever")
    await world.enqueue(first)
    await world.run_one()
    await world.enqueue(new_task(key="k", unique="ever"))
    return await world.count("MATCH (t:Task {key: 'k'})") == 1


async def nothing_waits_for_a_task_that_does_not_exist(world: World) -> bool:
    try:
        await world.enqueue(new_task(after=["00000000-0000-7000-8000-000000000000"]))
    except Exception:  # noqa: BLE001 - that it is refused is all that matters here
        return True
    return False


async def nothing_waits_for_a_best_effort_lane(world: World) -> bool:
    parent = await world.enqueue_one(lane="maint")
    try:
        await world.enqueue_one(after=[parent])
    except Conflict:
        return True
    return False


async def a_child_waits_for_all_its_parents(world: World) -> bool:
    parents = [await world.enqueue_one() for _ in range(2)]
    child = await world.enqueue_one(after=parents)
    await world.run_one()
    return await world.status(child) == "blocked"


async def what_something_waits_for_is_not_purged(world: World) -> bool:
    parent = await world.enqueue_one()
    await world.enqueue_one(after=[(parent, "hold")])
    await world.run_one(AckOutcome.FAILED)
    await world.cypher("MATCH (t:Task) WHERE t.finished_at IS NOT NULL SET t.finished_at = 1")
    return (await world.store.sweeps.purge(1000)).count == 0


async def what_is_not_due_is_not_promoted(world: World) -> bool:
    task = await world.enqueue_one(eta=await world.now() + HOUR)
    await world.store.sweeps.promotion_sweep()
    return await world.status(task) == "scheduled"


async def a_slot_fires_once_though_the_clock_went_back(world: World) -> bool:
    slot = await make_schedule(world, overlap="allow")
    await world.store.schedules.fire_due()
    await world.cypher("MATCH (t:Task) DETACH DELETE t")
    await move_next_run(world, slot)
    version = (await schedule(world))["version"]
    tick = {"slot": slot, "uid": world.store.new_uid(), "eta": None}
    again = {"next_run": slot, "version": version, "ticks": [tick], "missed": 0, "new_next_run": slot + HOUR}
    await world.store.client.run("schedules/fire", space="default", name="n", **again)
    return await ticks(world) == []


async def a_foreign_type_is_left_alone(world: World) -> bool:
    task = await world.enqueue_one("unknown")
    await world.claim(5, {"a": TypeRule(LANE)})
    return await world.status(task) == "pending"


OPEN = "WITH name, k, l WHERE k.paused_at IS NULL AND l.paused_at IS NULL"
FREE = "CASE WHEN free < starts THEN free ELSE starts END AS room"
UNMET = "NOT EXISTS { (t)<-[:DEPENDS_ON {met: false}]-() }"
DUE = "t.due_at <= timestamp()"
PARENTS = "WHEN dead_parent IS NOT NULL THEN 'parent_dead'"
DEAD = "WHEN NOT root.status IN $given.of THEN 'not_dead'"
STARTS = "coalesce(t.starts, [t.started_at])"
GUARDS = [
    Guard(a_pause_holds_back, "tasks/claim", OPEN, "WITH name, k, l WHERE l.paused_at IS NULL"),
    Guard(a_pause_of_a_lane_holds_back, "tasks/claim", OPEN, "WITH name, k, l WHERE k.paused_at IS NULL"),
    Guard(a_cap_of_a_lane_is_kept, "tasks/claim_capped", "candidates[0..free]", "candidates"),
    Guard(a_gate_holds_no_more_than_its_limit, "gates/admit", FREE, "starts AS room"),
    Guard(a_rate_counts_what_has_started, "gates/admit", "g.rate - started - admitted", "g.rate - admitted"),
    Guard(a_rate_counts_each_start_of_one_task, "gates/admit", STARTS, "[t.started_at]"),
    Guard(what_runs_is_not_retried_beside_itself, "tasks/retry", DEAD, "WHEN false THEN 'not_dead'"),
    Guard(what_waits_for_a_dead_task_is_not_retried, "tasks/retry", PARENTS),
    Guard(
        what_is_over_is_not_cancelled,
        "tasks/cancel",
        "t.status IN ['pending', 'scheduled', 'blocked']",
        "t.status <> 'running'",
    ),
    Guard(what_was_claimed_is_not_replaced, "tasks/replace", " AND t.claims = 0"),
    Guard(one_key_has_one_live_task, "tasks/enqueue_keyed", "live_key: live_key", "live_key: live_key + r.uid"),
    Guard(
        a_key_for_ever_outlives_its_task,
        "tasks/enqueue_unique",
        "coalesce(until <= now, false) AS free",
        "coalesce(until <= now, true) AS free",
    ),
    Guard(
        nothing_waits_for_a_task_that_does_not_exist,
        "tasks/enqueue_with_edges",
        "collect(CASE WHEN p.status IS NULL THEN uid END) AS missing",
        "[] AS missing",
    ),
    Guard(
        nothing_waits_for_a_best_effort_lane,
        "tasks/enqueue_with_edges",
        "p.lane IN $given.best_effort",
        "false",
    ),
    Guard(a_child_waits_for_all_its_parents, "tasks/finish", "CASE WHEN left > 0 THEN 'blocked' WHEN", "CASE WHEN"),
    Guard(what_something_waits_for_is_not_purged, "jobs/purge", f" AND {UNMET}"),
    Guard(what_is_not_due_is_not_promoted, "jobs/promotion_sweep", DUE, "t.due_at IS NOT NULL"),
    Guard(
        a_slot_fires_once_though_the_clock_went_back,
        "schedules/fire",
        " WHERE tick.slot > coalesce(last_slot, -1)",
    ),
    Guard(
        a_foreign_type_is_left_alone,
        "tasks/claim",
        "MATCH (t:Task {type: type, ready: bucket})",
        "MATCH (t:Task {ready: bucket})",
    ),
]
