"""Many processes at one graph: nothing runs twice, nothing is lost, nobody sees an error, nothing is left broken."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from kgsched.core.claiming import TypeRule
from kgsched.core.task import Ack, AckOutcome
from kgsched.localdb import ServerAddress
from tests.store.crowd.actor import Actor, Address
from tests.store.crowd.crowd import Crowd
from tests.store.crowd.diamonds import play
from tests.store.crowd.firing import fire_soak
from tests.store.crowd.soak import soak
from tests.store.worlds import World, new_task
from tests.store.worlds.making import LANE

pytestmark = [pytest.mark.processes, pytest.mark.timeout(300)]
TASKS = 5000
TYPES = {name: TypeRule(LANE, lease_ms=600_000) for name in ("a", "b", "c")}


@pytest.fixture
def address(neo4j_server: ServerAddress) -> Address:
    return Address(neo4j_server.uri, neo4j_server.user, neo4j_server.password, neo4j_server.database)


async def executor(actor: Actor) -> None:
    """Execute all there is: the log says what ran before it is acknowledged."""
    tasks, turn = actor.store.tasks, 0
    while claims := await tasks.claim(
        TYPES, 25, token=f"{actor.session}-{turn}", worker=actor.name, session=actor.session
    ):
        turn += 1
        for claim in claims:
            actor.log("executed", claim.uid)
        await tasks.finish([Ack(claim.uid, claim.token, AckOutcome.COMPLETED, "{}") for claim in claims])
    (actor.folder / "stop").touch()


async def test_eight_processes_execute_each_of_five_thousand_tasks_once(
    world: World, address: Address, tmp_path: Path
) -> None:
    tasks = [new_task("abc"[number % 3], prio_bucket=number % 4) for number in range(TASKS)]
    await world.enqueue(*tasks)
    with Crowd(address, tmp_path, [executor] * 8) as crowd:
        await asyncio.to_thread(crowd.wait)
    executed = Counter(words[0] for words in crowd.lines("executed"))
    assert executed == {task.uid: 1 for task in tasks}
    assert crowd.errors == []
    assert await world.counters() == {"completed": TASKS}
    assert await world.broken() == []
    print(f"quick retries: {dict(crowd.quick_retries) or 'none'}")


async def test_all_statements_at_once_for_half_a_minute_no_error_reaches_a_caller(
    world: World, address: Address, tmp_path: Path
) -> None:
    report = await soak(world, address, tmp_path, seconds=30)
    print(report)
    assert report.wrong == {}
    assert report.claims > 100


async def test_killed_processes_lose_nothing_and_leave_nothing_broken(
    world: World, address: Address, tmp_path: Path
) -> None:
    report = await soak(world, address, tmp_path, seconds=12, kill_every=1.0)
    print(report)
    assert report.wrong == {}
    assert report.kills > 3


async def test_diamonds_come_out_as_the_model_says(world: World, address: Address, tmp_path: Path) -> None:
    outcome = await play(world, address, tmp_path, diamonds=300, rounds=1)
    print(outcome)
    assert outcome.wrong == {}
    assert outcome.retries["retried"] > 20


async def test_no_slot_fires_twice_and_none_is_missed_whoever_is_killed(
    world: World, address: Address, tmp_path: Path
) -> None:
    outcome = await fire_soak(world, address, tmp_path, schedules=50, seconds=8)
    print(outcome)
    assert outcome.wrong == {}
    assert outcome.slots > 50
