"""What befell other queues: many askers at once, priorities, connections that go bad, things left behind."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kgsched.core.task import AckOutcome, Answer, Unique
from kgsched.errors import StorageConnectionError
from kgsched.localdb import ServerAddress
from kgsched.operations.cluster import ClusterOperations
from kgsched.registry import Registry
from kgsched.store.client import Client
from tests.conftest import open_store
from tests.runtime.proxy import Proxy
from tests.store.worlds import World, new_task

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("unique", [Unique.LIVE, Unique.EVER])
async def test_thirty_two_requests_for_one_key_at_once_make_one_task(
    world: World, neo4j_server: ServerAddress, unique: Unique
) -> None:
    stores = [open_store(neo4j_server, pool=8) for _ in range(4)]
    requests = [new_task(key="k", unique=unique) for _ in range(32)]
    try:
        answers = await asyncio.gather(
            *(stores[place % 4].tasks.enqueue([request]) for place, request in enumerate(requests))
        )
    finally:
        for store in stores:
            await store.close()
    assert [one.answer for (one,) in answers].count(Answer.CREATED) == 1
    assert len({one.uid for (one,) in answers}) == 1
    assert await world.count("MATCH (t:Task)") == 1
    assert await world.broken() == []


async def test_a_low_task_runs_as_soon_as_the_flood_ends_and_its_wait_can_be_seen(world: World) -> None:
    """PF05: priorities are strict; the oldest wait of each is shown."""
    low = await world.enqueue_one(prio_bucket=3)
    for _ in range(5):
        await world.enqueue(*(new_task(prio_bucket=1) for _ in range(4)))
        assert low.uid not in {claim.uid for claim in await world.claim(2)}
    status = await ClusterOperations(world.store, Registry(), "default").status()
    assert list(status["oldest_ready_by_priority"]) == ["high", "background"]
    await world.claim(10)
    assert (await world.claim_one()).uid == low.uid


async def test_an_overdue_low_task_does_not_go_before_a_ready_high_one(world: World) -> None:
    """PF07: eta decides when a task may run, priority who goes first."""
    overdue = await world.enqueue_one(prio_bucket=3, eta=await world.now() - 3_600_000)
    high = await world.enqueue_one(prio_bucket=1)
    assert [claim.uid for claim in await world.claim(2)] == [high.uid, overdue.uid]


def test_help_and_docs_say_the_same_order_of_priorities() -> None:
    """PF07: 0 is the most urgent, everywhere."""
    from kgsched.core.priority import NAMES

    assert NAMES == ("critical", "high", "normal", "background")
    page = (ROOT / "docs/graph.md").read_text(encoding="utf-8")
    assert "0 critical, 1 high, 2 normal, 3 background" in page
    words = [sys.executable, "-m", "kgsched", "tasks", "enqueue", "--help"]
    shown = subprocess.run(
        words, capture_output=True, text=True, check=True, env={"COLUMNS": "200", "PATH": "/bin"}
    ).stdout
    assert re.search(r"critical, high, normal, background, or\s+0 to\s+3", shown)


async def test_a_connection_that_was_cut_while_idle_is_replaced_before_it_is_used(neo4j_server: ServerAddress) -> None:
    """CN03: the first statement after the pause succeeds."""
    one = neo4j_server
    async with Proxy(one.uri) as proxy:
        client = Client(proxy.uri, one.user, one.password, one.database, pool=2, liveness=0.0)
        await client.run("cluster/components")
        for _ in range(3):
            proxy.cut()
            proxy.mend()
            assert len(await client.run("cluster/components")) == 1
        proxy.cut()
        with pytest.raises(StorageConnectionError):
            await client.run("cluster/components")
        await client.close()


async def test_errors_and_cancellations_in_a_transaction_give_its_connection_back(neo4j_server: ServerAddress) -> None:
    """CN07: hundreds of times, with a pool of one."""
    store = open_store(neo4j_server, pool=1)

    async def breaks(place: int) -> None:
        async with store.graph.transaction() as tx:
            await tx.run("RETURN 1")
            if place % 2:
                raise ValueError("in the block")
            await asyncio.Event().wait()

    for place in range(400):
        task = asyncio.create_task(breaks(place))
        if place % 2 == 0:
            await asyncio.sleep(0)
            task.cancel()
        with pytest.raises((ValueError, asyncio.CancelledError)):
            await task
    assert await store.graph.query("RETURN 1 AS n") == [{"n": 1}]
    await store.close()


async def test_bookkeeping_is_bounded_by_its_keeping_time(world: World) -> None:
    """LK03: a thousand workers that died, keys, gates and attempts leave nothing behind."""
    cluster, sweeps = world.store.cluster, world.store.sweeps
    info = {"host": "h", "pid": 1, "slots": 1, "types": ["a"], "session": "s"}
    for start in range(0, 1000, 50):
        names = [f"w{number}" for number in range(start, start + 50)]
        await asyncio.gather(*(cluster.register_worker(name, info, 1) for name in names))
    await world.enqueue(*(new_task(key=f"k{n}", unique=Unique.PERIOD, unique_ms=1) for n in range(20)))
    for outcome in (AckOutcome.RETRY, AckOutcome.RELEASE, AckOutcome.COMPLETED):
        for claim in await world.claim(50):
            await world.finish(claim, outcome)
    await world.cypher("CREATE (:Gate {space: 'default', key: 'old', limit: 1, used_at: 1})")
    await world.cypher("MATCH (w:Worker) SET w.expires_at = 1")
    await world.cypher("MATCH (t:Task) SET t.finished_at = 1")
    await world.cypher("MATCH (k:UniqueKey|Answer) SET k.until = 1")
    while (await sweeps.purge(1000)).more:
        pass
    for forget in (sweeps.forget_workers, sweeps.forget_keys, sweeps.forget_gates, world.store.answers.forget):
        while (await forget()).more:
            pass
    rows = await world.cypher("MATCH (n) UNWIND labels(n) AS label RETURN label, count(*) AS n")
    left = {row["label"]: row["n"] for row in rows}
    assert set(left) <= {"Migration", "Stat"}, left
    assert await world.count("MATCH (c:Stat) WHERE c.n <> 0 WITH c.status AS s, sum(c.n) AS n WHERE n <> 0") == 0


async def test_a_gate_that_tasks_still_have_is_kept(world: World) -> None:
    await world.store.gates.ensure([])
    await world.cypher("CREATE (:Gate {space: 'default', key: 'g', limit: 1, used_at: 1})")
    await world.enqueue_one(gate="g", eta=4_000_000_000_000)
    assert (await world.store.sweeps.forget_gates()).count == 0
