"""Gates that people list and set, types that nobody handles, and what a task tells of a report that came too late."""

from __future__ import annotations

import asyncio

import pytest

from kgsched.core.task import Ack, AckOutcome
from kgsched.errors import InvalidValue
from kgsched.operations.facade import Operations
from kgsched.operations.new_task import EnqueueRequest
from tests.store.worlds import World
from tests.surfaces.commands import Commands
from tests.surfaces.rules import RULES


async def test_a_gate_that_is_set_lets_through_what_it_may(operations: Operations, world: World) -> None:
    await operations.tasks.enqueue_many([EnqueueRequest("read", gate="customer:42") for _ in range(5)])
    assert await operations.gates.gates() == [{"key": "customer:42", "limit": 1, "rate": None, "held": 1, "waiting": 4}]
    row = await operations.gates.set("customer:42", limit=3, rate="10/1m")
    assert row == {"key": "customer:42", "limit": 3, "rate": "10/1m", "held": 3, "waiting": 2}
    row = await operations.gates.set("customer:42")
    assert (row["limit"], row["rate"], row["held"], row["waiting"]) == (None, None, 5, 0)
    assert len(await world.claim(10, RULES)) == 5


@pytest.mark.parametrize(
    ("key", "limit", "rate"),
    [
        ("t:read", 1, None),
        ("s:nightly", 1, None),
        ("k", 0, None),
        ("k", None, "10"),
        ("k", None, "x/1m"),
        ("k", None, "0/1m"),
        ("", 1, None),
    ],
)
async def test_a_gate_that_cannot_be_set_is_refused_with_the_reason(
    operations: Operations, key: str, limit: int | None, rate: str | None
) -> None:
    with pytest.raises(InvalidValue):
        await operations.gates.set(key, limit, rate)


async def test_the_command_sets_and_lists(commands: Commands) -> None:
    def run(*words: str) -> tuple[int, str]:
        answer = commands.run(*words)
        return answer.code, answer.out or answer.err

    assert (await asyncio.to_thread(run, "gates", "set", "k", "--limit", "2", "--rate", "5/10s"))[0] == 0
    code, shown = await asyncio.to_thread(run, "gates", "list")
    assert code == 0
    assert shown.splitlines()[1].split() == ["k", "2", "5/10s", "0", "0"]
    code, complaint = await asyncio.to_thread(run, "gates", "set", "k")
    assert (code, "--unbounded" in complaint) == (2, True)


async def test_types_that_nobody_handles_are_told(operations: Operations, world: World) -> None:
    await operations.tasks.enqueue(EnqueueRequest("unknown", allow_unknown_type=True))
    info = {"host": "h", "pid": 1, "slots": 4, "types": ["read"], "session": "s"}
    await world.store.cluster.register_worker("w", info, 60_000)
    assert await operations.cluster.unhandled() == [{"type": "unknown", "tasks": 1}]
    assert await world.claim(5, RULES) == []


async def test_the_timeline_tells_of_a_report_that_came_too_late(operations: Operations, world: World) -> None:
    await operations.tasks.enqueue(EnqueueRequest("read", id="story"))
    old = await world.claim_one(RULES)
    await world.crash(old)
    await world.claim_one(RULES)
    ack = Ack(old.uid, old.token, AckOutcome.COMPLETED, '{"n":1}', claims=old.claims, worker="the slow one")
    await world.store.tasks.finish([ack])
    record = await operations.tasks.show("story")
    (late,) = [event for event in record["timeline"] if event["event"] == "late finish refused"]
    assert late["detail"] == "run 1 on the slow one reported completed, but the task was running"
    (run,) = [one for one in record["attempt_history"] if one["outcome"] == "refused"]
    assert (run["worker"], run["result"]) == ("the slow one", {"n": 1})
