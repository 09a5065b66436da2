"""Connections that break: answers lost on the way, partitions, and a database that is away for a while."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest

from kgsched.core.task import Ack, AckOutcome, ErrorInfo, Verdict
from kgsched.errors import StorageConnectionError
from kgsched.ports import Store
from kgsched.runtime.acks import Outbox
from kgsched.runtime.context import TaskContext
from kgsched.runtime.side_loop import StoreSource
from kgsched.store import Neo4jStore, client
from tests.runtime.bench import Bench, until
from tests.runtime.proxy import COMMIT, Proxy

CLAIM = b"SET t.status = 'running', t.claim_token"


@pytest.fixture
async def proxy(bench: Bench) -> AsyncIterator[Proxy]:
    async with Proxy(bench.address.uri) as one:
        yield one


def through(bench: Bench, proxy: Proxy) -> Neo4jStore:
    one = bench.address
    return Neo4jStore(proxy.uri, one.user, one.password, one.database, pool=4)


async def test_an_acknowledgement_whose_answer_is_lost_is_sent_again_and_counts_once(
    bench: Bench, proxy: Proxy
) -> None:
    await bench.enqueue("a")
    claim = await bench.world.claim_one()
    store = through(bench, proxy)
    await store.tasks.read_payloads([claim])

    async def opened() -> Store:
        return store

    outbox = Outbox(StoreSource(opened))
    outbox.start()
    proxy.losing = True
    sending = outbox.post(Ack(claim.uid, claim.token, AckOutcome.COMPLETED, "1"))
    await until(lambda: outbox.loop.status.failing > 0)
    proxy.mend()
    receipt = await sending
    assert receipt.answer.verdict is Verdict.REPEATED
    assert await outbox.stop(1.0) == 0
    await store.close()
    assert await bench.world.counters() == {"completed": 1}


async def test_a_row_that_the_store_cannot_take_fails_alone(bench: Bench) -> None:
    for _ in range(5):
        await bench.enqueue("a")
    claims = await bench.world.claim(5)

    async def opened() -> Store:
        return bench.world.store

    outbox = Outbox(StoreSource(opened))
    acks = [Ack(claim.uid, claim.token, AckOutcome.COMPLETED, "1") for claim in claims]
    acks[2] = Ack(claims[2].uid, claims[2].token, AckOutcome.CANCELLED, error=ErrorInfo("x", "\ud800"))
    sending = [outbox.post(ack) for ack in acks]
    outbox.start()
    receipts = await asyncio.gather(*sending)
    await outbox.stop(1.0)
    assert all(receipt.answer.verdict is Verdict.WON for receipt in receipts)
    assert await bench.world.statuses(*claims) == ["completed", "completed", "failed", "completed", "completed"]
    assert "could not be recorded" in (await bench.world.task(claims[2]))["last_error"]


async def test_what_a_claim_with_a_lost_answer_took_is_run_by_the_same_worker(bench: Bench, proxy: Proxy) -> None:
    async def quick(ctx: TaskContext) -> None: ...

    bench.on("quick", quick)

    async def opened() -> Store:
        return through(bench, proxy)

    async with bench.worker(open_store=opened) as worker:
        await bench.until_ready(worker)
        proxy.losing_after = CLAIM
        tasks = [await bench.enqueue("quick") for _ in range(3)]
        await until(lambda: bench.world.count("MATCH (t:Task {status: 'running'})"))
        await until(lambda: proxy.lost)
        proxy.mend()
        done = await bench.ended(*tasks)
    assert [one["claims"] for one in done] == [1, 1, 1]
    assert await bench.world.broken() == []


async def test_a_drain_gives_back_what_a_claim_with_a_lost_answer_took(bench: Bench, proxy: Proxy) -> None:
    async def quick(ctx: TaskContext) -> None: ...

    bench.on("quick", quick)

    async def opened() -> Store:
        return through(bench, proxy)

    async with bench.worker(open_store=opened) as worker:
        await bench.until_ready(worker)
        proxy.losing_after = CLAIM
        task = await bench.enqueue("quick")
        await until(lambda: proxy.lost)
        draining = asyncio.create_task(worker.drain())
        proxy.mend()
        assert await draining == 0
        row = await bench.world.task(task)
    assert (row["status"], row["attempts"]) in [("pending", 0), ("completed", 1)]


async def test_a_claim_that_nobody_here_knows_is_given_back_unused(bench: Bench) -> None:
    ran: list[int] = []

    async def quick(ctx: TaskContext) -> None:
        ran.append(ctx.attempt)

    bench.on("quick", quick)
    async with bench.worker(lease=3.0) as worker:
        await bench.until_ready(worker)
        task = await bench.enqueue("quick", eta=2**45)
        await bench.world.cypher(
            "MATCH (t:Task {uid: $uid}) SET t.status = 'running', t.due_at = NULL, t.claim_token = 'silent',"
            " t.session = $session, t.running_lane = 'ingestion', t.lane = 'ingestion', t.attempts = 1, t.claims = 1,"
            " t.worker_id = 'w', t.started_at = timestamp() - 60000, t.lease_expires_at = timestamp() + 600000",
            uid=task.uid,
            session=worker.identity.session,
        )
        (done,) = await bench.ended(task)
    assert ran == [1]
    assert (done["claims"], done["attempts"], done["releases"]) == (2, 1, 1)


async def test_a_worker_that_cannot_beat_stops_its_bodies_before_the_lease_ends(bench: Bench, proxy: Proxy) -> None:
    began, stopped = threading.Event(), threading.Event()

    async def long(ctx: TaskContext) -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    bench.on("long", long, lease_ms=3_000)

    async def opened() -> Store:
        return through(bench, proxy)

    async with bench.worker(open_store=opened) as worker:
        task = await bench.enqueue("long")
        await until(began.is_set)
        proxy.cut()
        await until(stopped.is_set)
        row = await bench.world.task(task)
        assert row["lease_expires_at"] > await bench.world.now() - 1_000
        assert row["status"] == "running"
        proxy.mend()
        await until(lambda: worker.counts.get("lost") == 1)
    assert (await bench.world.task(task))["status"] == "running"


async def test_every_loop_comes_back_after_the_database_was_away(bench: Bench, proxy: Proxy) -> None:
    """CN01."""

    async def quick(ctx: TaskContext) -> None: ...

    bench.on("quick", quick)

    async def opened() -> Store:
        return through(bench, proxy)

    proxy.cut()
    async with bench.daemon(open_store=opened) as daemon:
        await until(lambda: daemon.worker.loop.status.failing or daemon.loops()[1].status.failing)
        proxy.mend()
        first = await bench.enqueue("quick")
        await bench.ended(first)
        proxy.cut()
        await until(lambda: daemon.worker.loop.status.away)
        proxy.mend()
        second = await bench.enqueue("quick", eta=1)
        await bench.ended(second)
        for loop in daemon.loops():
            await until(lambda loop=loop: not loop.status.failing)


async def test_a_drain_comes_to_an_end_while_the_database_is_away(bench: Bench, proxy: Proxy) -> None:
    began = threading.Event()

    async def long(ctx: TaskContext) -> None:
        began.set()
        await asyncio.Event().wait()

    bench.on("long", long)

    async def opened() -> Store:
        return through(bench, proxy)

    async with bench.worker(open_store=opened, drain=0.1) as worker:
        await bench.enqueue("long")
        await until(began.is_set)
        proxy.cut()
        async with asyncio.timeout(60):
            assert await worker.drain() == 1


@pytest.mark.parametrize("after", [b"lock_v", COMMIT])
async def test_a_finishing_transaction_with_a_lost_answer_leaves_both_or_neither(
    bench: Bench, proxy: Proxy, after: bytes
) -> None:
    mending: list[asyncio.Task[None]] = []

    async def mend_once_lost() -> None:
        while not proxy.lost:  # noqa: ASYNC110 - the proxy has no event for it
            await asyncio.sleep(0.02)
        proxy.mend()

    async def make(ctx: TaskContext) -> None:
        async with ctx.finishing() as tx:
            await tx.run("CREATE (:Made {fence: $fence})", fence=ctx.fence)
            if ctx.fence == 1:
                proxy.losing_after = after
                mending.append(asyncio.create_task(mend_once_lost()))

    async def opened() -> Store:
        return through(bench, proxy)

    bench.on("make", make)
    async with bench.daemon(open_store=opened) as daemon:
        await bench.until_ready(daemon.worker)
        task = await bench.enqueue("make")
        (done,) = await bench.ended(task)
    made = await bench.world.cypher("MATCH (n:Made) RETURN n.fence AS fence")
    assert made == [{"fence": done["claims"]}]
    assert not done.get("crashes")
    assert proxy.lost > 0
    if after == COMMIT:
        assert done["claims"] == 1
    assert await bench.world.broken() == []


async def test_an_answer_that_never_comes_is_given_up(
    bench: Bench, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that says nothing and is not closed either: new ones work, so it must not be waited for."""
    monkeypatch.setattr(client, "SILENCE_S", 0.5)
    store = through(bench, proxy)
    await store.cluster.pulse()
    proxy.deaf = True
    with pytest.raises(StorageConnectionError, match="said nothing"):
        await store.client.run("cluster/pulse", lease="leader", timeout=0.5)
    proxy.deaf = False
    assert (await store.cluster.pulse()).now
    await store.close()
