"""Tasks that take their worker with them, and workers that die at a gate."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from kgsched.core.task import Gate, Limits
from kgsched.localdb import ServerAddress
from tests.faults.fleet import Fleet, fleet_of
from tests.faults.journal import Journal
from tests.runtime.waiting import until
from tests.store.worlds import World, new_task


@asynccontextmanager
async def replaced(fleet: Fleet) -> AsyncIterator[None]:
    """While the block lasts, a worker that dies has a successor, as a process manager gives it one."""

    async def watch(place: int) -> None:
        while True:
            await fleet.processes[place].wait()
            await fleet.replace(place)

    watches = [asyncio.create_task(watch(place)) for place in range(len(fleet))]
    try:
        yield
    finally:
        for one in watches:
            one.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await one


async def bury(world: World, journal: Journal) -> None:
    """Time passes for the claims of the dead: those whose body has begun and killed."""
    began = set(journal.executions())
    running = await world.cypher(
        "MATCH (t:Task {status: 'running'}) WHERE t.type = 'kills' OR t.type = 'kills_once' AND t.claims = 1"
        " RETURN t.uid AS uid, t.claims AS claims"
    )
    dead = [row["uid"] for row in running if (row["uid"], row["claims"]) in began]
    if dead:
        await world.expire_leases(*dead)
        await world.reap()


@pytest.mark.processes
async def test_a_task_that_kills_its_worker_runs_as_often_as_it_may_and_is_buried(
    world: World, neo4j_server: ServerAddress, tmp_path: Path
) -> None:
    """CL01: max_attempts counts claims, so that a crash counts, too."""
    once, thrice = new_task("kills", max_attempts=1), new_task("kills", max_attempts=3)
    await world.enqueue(once, thrice)
    journal = Journal(tmp_path)
    over = "MATCH (t:Task) WHERE t.finished_at IS NOT NULL WITH count(*) AS n WHERE n = 2"

    async def done() -> bool:
        await bury(world, journal)
        return bool(await world.count(over))

    async with fleet_of(2, neo4j_server, tmp_path, slots=1, lease=60.0, beat=10.0) as fleet, replaced(fleet):
        await until(done, 170)
    runs = journal.executions()
    assert {uid: sum(n for (one, _), n in runs.items() if one == uid) for uid in (once.uid, thrice.uid)} == {
        once.uid: 1,
        thrice.uid: 3,
    }
    for task in (once, thrice):
        kept = await world.task(task)
        assert (kept["status"], kept["last_error"]) == ("dead_letter", "worker lost")
        assert {one["kind"] for one in await world.attempts(task)} == {"worker_lost"}
    assert await world.broken() == []


@pytest.mark.processes
async def test_a_worker_that_dies_at_a_gate_does_not_keep_its_place(
    world: World, neo4j_server: ServerAddress, tmp_path: Path
) -> None:
    """CL07: places are counted from the tasks themselves, so that a crash leaks none; and never two at a time."""
    await world.store.gates.open([Gate("default", "g", Limits(1))])
    journal = Journal(tmp_path)
    tasks = [new_task("kills_once", gate="g"), *(new_task("quick", gate="g") for _ in range(5))]
    await world.enqueue(*tasks)
    over = "MATCH (t:Task) WHERE t.finished_at IS NOT NULL WITH count(*) AS n WHERE n = 6"
    most = 0
    async with fleet_of(2, neo4j_server, tmp_path, lease=60.0, beat=10.0) as fleet, replaced(fleet):

        async def done() -> bool:
            nonlocal most
            await bury(world, journal)
            most = max(most, await world.count("MATCH (t:Task) WHERE t.gate_held IS NOT NULL"))
            return bool(await world.count(over))

        await until(done, 170)
    assert await world.statuses(*tasks) == ["completed"] * 6
    assert most == 1
    assert await world.broken() == []
