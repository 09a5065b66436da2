"""What the server makes of the statements: indexes are sought, nothing is scanned, what reads is planned as a read."""

from __future__ import annotations

import pytest

from kgsched.store import Neo4jStore
from tests.queries.headers import header, names
from tests.queries.plans import Plan, explain
from tests.store.worlds import World, new_task

STATEMENTS = [name for name in names() if header(name).mode.split()[0] != "schema"]
UID, CLAIM, RUNNING = "Task(uid)", "Task(type, ready, rank)", "Task(running_lane, session)"
HOT = {
    "tasks/look": {CLAIM, RUNNING, "TaskType(name)", "Lane(name)"},
    "tasks/claim": {CLAIM, "TaskType(name)", "Lane(name)"},
    "tasks/claim_capped": {CLAIM, RUNNING, UID, "Lane(name)"},
    "tasks/finish": {UID, "Stat(key)"},
    "tasks/reschedule": {UID, "Stat(key)"},
    "tasks/beat": {UID, RUNNING},
    "tasks/cancels": {RUNNING},
    "tasks/enqueue_keyed": {"Task(live_key)"},
    "tasks/find_existing": {UID, "Task(space, id)", "Task(live_key)"},
    "jobs/promotion_sweep": {"Task(due_at)"},
    "jobs/reaper": {"Task(lease_expires_at)", "Stat(key)"},
    "jobs/settle": {"Task(unsettled)", UID},
    "jobs/cascade_step": {"Task(cascade_pending)", UID},
    "jobs/release_step": {"Task(release_pending)", UID},
    "jobs/purge": {"Task(finished_at)", UID},
    "gates/admit": {"Gate(space, key)", "Task(space, gate_held)", "Task(space, gate_waiting, prio_bucket, rank)", UID},
    "schedules/due": {"Schedule(next_run)"},
    "schedules/fire": {"Schedule(space, name)", "Task(space, tick_of)", "Task(space, id)"},
    "cluster/pulse": {
        "Task(due_at)",
        "Schedule(next_run)",
        "Task(lease_expires_at)",
        "Task(unsettled)",
        "Task(release_pending)",
        "Task(cascade_pending)",
        "Task(revive_pending)",
        "Lease(name)",
    },
}
# indexes with an entry for nearly every task or run, however old
BULK = {
    UID,
    "Task(space, id)",
    "Task(live_key)",
    "Task(source)",
    "Task(space, gate)",
    "Task(space, gate, started_at)",
    "Task(enqueued_at)",
    "Task(finished_at)",
    "Attempt(ended_at)",
}
READ_WHOLE = {"jobs/count_check": ["Task(finished_at)"]}  # counts what is counted anew
SLOTTED = "CYPHER runtime=slotted"
SAMPLE = "CALL db.prepareForReplanning(60)"


@pytest.fixture(scope="module", params=["sampled when empty", "sampled"])
async def crowded(request: pytest.FixtureRequest, migrated_store: Neo4jStore) -> Neo4jStore:
    """A store with enough of everything that the planner's estimates are not all zero.

    The server looks into its indexes from time to time: what it knows of them is of now, or of a time when there was
    nothing, as in a new graph or after a purge.
    """
    world = World(migrated_store)
    await world.wipe()
    await world.cypher(SAMPLE)
    first = [new_task("abc"[i % 3], key=f"k{i}" if i % 5 == 0 else None) for i in range(1500)]
    await world.enqueue(*first)
    await world.enqueue(*(new_task(after=[first[i], first[i + 1]]) for i in range(0, 1000, 2)))
    await world.enqueue(*(new_task(eta=4_000_000_000_000) for _ in range(200)))
    for claim in await world.claim(200):
        await world.finish(claim)
    await world.claim(100)
    if request.param == "sampled":
        await world.cypher(SAMPLE)
    return migrated_store


@pytest.mark.parametrize("name", STATEMENTS)
async def test_a_plan_scans_nothing_and_does_what_the_header_says(name: str, crowded: Neo4jStore) -> None:
    plan, mode = await explain(crowded, name, "CYPHER replan=force"), header(name).mode
    assert plan.poor == []
    assert plan.reads_whole(BULK) == READ_WHOLE.get(name, [])
    unnamed = set(plan.columns) - header(name).returned
    assert unnamed == set(), "columns that the header does not name"
    reads = mode == "read" or "follower" in mode
    assert ("w" not in plan.query_type) is reads, f"declared {mode}, planned {plan.query_type}"


@pytest.mark.parametrize("prefix", ["CYPHER replan=force", f"{SLOTTED} replan=force"])
@pytest.mark.parametrize("name", HOT)
async def test_a_hot_statement_seeks_its_indexes(name: str, prefix: str, crowded: Neo4jStore) -> None:
    plan = await explain(crowded, name, prefix)
    missing = {index for index in HOT[name] if not plan.finds(index)}
    assert missing == set(), sorted({one.details for one in plan.operators if one.finds_nodes})
    assert plan.poor == []
    assert plan.reads_whole(BULK) == []


@pytest.mark.parametrize("name", ["tasks/claim", "tasks/claim_capped", "tasks/look", "jobs/heal_ready"])
@pytest.mark.parametrize("prefix", ["CYPHER replan=force", f"{SLOTTED} replan=force"])
async def test_the_claim_index_gives_the_order(name: str, prefix: str, crowded: Neo4jStore) -> None:
    """A sort below the LIMIT would read the whole backlog for a handful of tasks."""
    seeks = _claim_seeks(await explain(crowded, name, prefix))
    for above in seeks:
        below_limit = above[: above.index("Limit")]
        assert not any("Sort" in one or "Top" in one for one in below_limit), below_limit


@pytest.mark.parametrize("name", ["tasks/claim", "tasks/claim_capped"])
@pytest.mark.parametrize("prefix", ["CYPHER replan=force", f"{SLOTTED} replan=force"])
async def test_a_task_that_moves_in_the_index_is_claimed_once(name: str, prefix: str, crowded: Neo4jStore) -> None:
    """`prioritize` while a claim reads puts a task behind the place that was read: it is met again."""
    for above in _claim_seeks(await explain(crowded, name, prefix)):
        assert "Distinct" in above


def _claim_seeks(plan: Plan) -> list[tuple[str, ...]]:
    seeks = [one.above for one in plan.finds(CLAIM)]
    assert seeks, "the claim index is not used"
    return seeks
