"""The faults, each with the load it falls on. The same functions serve the quick tests and scripts/torture."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
from collections.abc import Awaitable, Callable

from kgsched.localdb import ManagedServer
from kgsched.store import Neo4jStore
from tests.faults.judge import Verdict
from tests.faults.proxy import FaultyProxy
from tests.faults.stage import Kinds, Stage
from tests.runtime.waiting import until
from tests.store.worlds import new_task

Scenario = Callable[[Stage], Awaitable[Verdict]]


async def calm(stage: Stage) -> Verdict:
    """No fault: every body begins once."""
    async with stage.fleet(lease=60.0, beat=5.0):
        await stage.under_load(_nothing, kinds=(("quick", {}), ("fact", {})))
    verdict = await stage.verdict("no fault")
    if verdict.again:
        verdict.wrong["ran again without a fault"] = verdict.again
    return verdict


async def kills(stage: Stage) -> Verdict:
    """SIGKILL of one worker after the other."""
    async with stage.fleet() as fleet:
        await stage.under_load(lambda n: fleet.kill(n % len(fleet)))
    return await stage.verdict("SIGKILL of workers")


async def stalls(stage: Stage) -> Verdict:
    """SIGSTOP for longer than lease and grace, then SIGCONT."""
    async with stage.fleet(lease=1.5, grace=0.1, beat=0.3) as fleet:
        await stage.under_load(lambda n: fleet.freeze(n % len(fleet), 2.5))
    return await stage.verdict("SIGSTOP past the lease")


async def cuts(stage: Stage) -> Verdict:
    """All connections of a worker are reset, new ones are refused for a moment."""
    async with stage.fleet(proxied=True) as fleet:

        async def inject(n: int) -> None:
            proxy = fleet.proxies[n % len(fleet)]
            proxy.cut()
            await asyncio.sleep(random.choice((0.0, 0.3)))
            proxy.mend()

        await stage.under_load(inject)
    return await stage.verdict("connections reset")


async def delays(stage: Stage) -> Verdict:
    """Every piece of every message of a worker is late."""
    async with stage.fleet(proxied=True) as fleet:

        async def inject(n: int) -> None:
            fleet.proxies[n % len(fleet)].delay = random.choice((0.0, 0.02, 0.1))

        await stage.under_load(inject)
        for proxy in fleet.proxies:
            proxy.mend()
    return await stage.verdict("connections delayed")


async def silence(stage: Stage) -> Verdict:
    """A worker hears nothing for longer than its lease, and nobody tells it; what it sent meanwhile arrives late."""
    async with stage.fleet(proxied=True, lease=1.5, grace=0.1, beat=0.3) as fleet:

        async def inject(n: int) -> None:
            proxy = fleet.proxies[n % len(fleet)]
            proxy.silent = True
            await asyncio.sleep(2.5)
            proxy.silent = False

        await stage.under_load(inject)
    return await stage.verdict("silent partition")


async def lost_answers(stage: Stage) -> Verdict:
    """Answers to claims, finishes, reschedules, enqueues and commits of handlers are swallowed after the commit."""
    one = stage.address
    async with FaultyProxy(one.uri) as mine, stage.fleet(proxied=True) as fleet:
        store = Neo4jStore(mine.uri, one.user, one.password, one.database, pool=2)
        mine.swallow("enqueue", every=4)
        kinds = ("claim", "finish", "commit", "reschedule")

        async def inject(n: int) -> None:
            fleet.proxies[n % len(fleet)].swallow(kinds[n % len(kinds)], every=3)

        await stage.under_load(inject, store=store)
        for proxy in fleet.proxies:
            proxy.mend()
        await store.close()
        lost = mine.lost + sum(proxy.lost for proxy in fleet.proxies)
    stage.faults = lost
    return await stage.verdict("answers lost after the commit")


async def drains(stage: Stage) -> Verdict:
    """SIGTERM of one worker after the other, with a single attempt a task: a release burns none."""
    codes: list[int] = []
    async with stage.fleet(drain=0.1, lease=30.0, beat=2.0) as fleet:

        async def inject(n: int) -> None:
            place = n % len(fleet)
            codes.append(await fleet.drain(place))
            await fleet.replace(place)

        kinds: Kinds = (("quick", {}), ("quick", {"seconds": 0.05}), ("quick", {"seconds": 0.4}))
        await stage.under_load(inject, kinds=kinds, max_attempts=1)
    verdict = await stage.verdict("SIGTERM: drain and release")
    if any(codes):
        verdict.wrong["exit codes"] = codes
    return verdict


def restarts(server: ManagedServer) -> Scenario:
    """SIGKILL of Neo4j, which is started again at once."""

    async def scenario(stage: Stage) -> Verdict:
        async with stage.fleet() as fleet:

            async def inject(n: int) -> None:
                await asyncio.to_thread(_kill_server, server)
                assert all(process.returncode is None for process in fleet.processes)

            await stage.under_load(inject)
        return await stage.verdict("SIGKILL of Neo4j")

    return scenario


async def open_transaction(stage: Stage) -> Verdict:
    """A user's transaction that touches running tasks stays open; nobody waits for it."""
    world, scale = stage.world, stage.scale
    many = min(200, scale.tasks)
    late: list[str] = []
    async with stage.fleet(slots=many, lease=scale.hold / 2, grace=0.2, beat=0.3):
        running = [new_task("held", max_attempts=1) for _ in range(many)]
        await world.enqueue(*running)
        await until(lambda: len(stage.journal) == many, scale.patience)
        child = new_task("quick", after=[running[0]])
        async with world.store.graph.transaction(timeout=scale.hold + 60) as tx:
            await tx.run(
                "MATCH (t:Task) WHERE t.uid IN $uids CREATE (t)-[:PRODUCED]->(:Note {id: t.uid})",
                uids=[task.uid for task in running[:20]],
            )
            await world.store.tasks.enqueue([child], tx=tx)
            end = asyncio.get_running_loop().time() + scale.hold
            while asyncio.get_running_loop().time() < end:
                quick = new_task("quick", payload=json.dumps({}))
                await world.enqueue(quick)
                await until(lambda uid=quick.uid: _completed(stage, uid), scale.hold)
                late += [row["uid"] for row in await world.cypher(_OVERDUE)]
                stage.acknowledged.append(quick.uid)
        (stage.folder / "go").touch()
        stage.acknowledged += [child.uid, *(task.uid for task in running)]
        await stage.all_over()
        stage.faults = 1
    verdict = await stage.verdict("a user's transaction open")
    if late or verdict.again:
        verdict.wrong["leases that ran out, runs again"] = (sorted(set(late))[:3], verdict.again)
    return verdict


_OVERDUE = "MATCH (t:Task {status: 'running'}) WHERE t.lease_expires_at < timestamp() RETURN t.uid AS uid"


async def _completed(stage: Stage, uid: str) -> bool:
    return bool(await stage.world.count("MATCH (t:Task {uid: $uid, status: 'completed'})", uid=uid))


async def _nothing(n: int) -> None:
    """No fault."""


def _kill_server(server: ManagedServer) -> None:
    os.kill(server.ensure().pid, signal.SIGKILL)
    server.ensure()


ON_A_SERVER_THAT_STAYS: tuple[Scenario, ...] = (
    calm,
    kills,
    stalls,
    cuts,
    delays,
    silence,
    lost_answers,
    drains,
    open_transaction,
)
