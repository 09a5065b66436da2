"""The faults, each with the load it falls on. The same functions serve the quick tests and scripts/torture."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from collections.abc import Awaitable, Callable
from functools import partial

import psutil

from kgsched.localdb import ManagedServer
from kgsched.store import Neo4jStore
from tests.faults.judge import Verdict
from tests.faults.proxy import FaultyProxy
from tests.faults.stage import Kinds, Stage
from tests.runtime.waiting import until
from tests.store.worlds import new_task

GROWTH = 10 * 1024 * 1024
"""More than this, and something is kept of what has run."""

Scenario = Callable[[Stage], Awaitable[Verdict]]


async def calm(stage: Stage) -> Verdict:
    """No fault: every body begins once, and the second half of the load does not make a worker larger."""
    sizes: list[int] = []
    async with stage.fleet(lease=60.0, beat=5.0) as fleet:

        async def weigh(n: int) -> None:
            if len(stage.journal) > stage.scale.tasks / 2:
                sizes.append(max(psutil.Process(one.pid).memory_info().rss for one in fleet.processes))

        await stage.under_load(weigh, kinds=(("quick", {}), ("fact", {})))
        await weigh(0)
    verdict = await stage.verdict("no fault")
    if sizes[-1] - sizes[0] > GROWTH:
        verdict.wrong["grew by bytes"] = sizes[-1] - sizes[0]
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
    if any(codes):  # they say that outcomes went unrecorded, as on a machine too busy to answer: those leases run out
        verdict.wrong.pop("not completed", None)
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
    """A user's transaction that touches running tasks stays open until each kind of work was done beside it."""
    world, scale = stage.world, stage.scale
    many = min(200, scale.tasks)
    running = [new_task("held", max_attempts=1) for _ in range(many)]
    abandoned = new_task("quick", eta=FAR)
    async with stage.fleet(slots=many, lease=30.0, beat=1.0):
        await world.enqueue(*running, abandoned)
        await until(lambda: len(stage.journal) >= many, scale.patience)
        child = new_task("quick", after=[running[0]])
        async with world.store.graph.transaction(timeout=2 * scale.patience) as tx:
            await tx.run(_PRODUCE, uids=[task.uid for task in running[:20]])
            await world.store.tasks.enqueue([child], tx=tx)
            opened = await world.now()
            until_then = time.monotonic() + scale.hold
            await world.cypher(_LEFT_BEHIND, uid=abandoned.uid)
            await until(lambda: _renewed(stage, opened), scale.patience)
            await until(lambda: _completed(stage, abandoned.uid), scale.patience)
            while stage.faults < scale.faults or time.monotonic() < until_then:
                later = new_task("quick", eta=await world.now() + 100)
                others = [new_task("quick") for _ in range(scale.tasks // scale.faults)]
                await world.enqueue(later, *others)
                stage.acknowledged += [later.uid, *(task.uid for task in others)]
                for one in (others[-1], later):
                    await until(partial(_completed, stage, one.uid), scale.patience)
                stage.faults += 1
        (stage.folder / "go").touch()
        stage.acknowledged += [child.uid, abandoned.uid, *(task.uid for task in running)]
        await stage.all_over()
    verdict = await stage.verdict("a user's transaction stays open")
    if verdict.again:
        verdict.wrong["leases were lost"] = verdict.again
    return verdict


FAR = 4_000_000_000_000
_PRODUCE = "MATCH (t:Task) WHERE t.uid IN $uids CREATE (t)-[:PRODUCED]->(:Note {id: t.uid})"
_LEFT_BEHIND = """MATCH (t:Task {uid: $uid}) SET t.status = 'running', t.due_at = NULL, t.claim_token = 'of the dead',
  t.session = 'gone', t.running_lane = t.lane, t.attempts = 1, t.claims = 1, t.started_at = 1, t.lease_expires_at = 2"""
"""As a worker leaves it that died long ago."""
_HELD = "MATCH (t:Task {type: 'held', status: 'running'}) WHERE t.lease_expires_at > $opened + 30500"


async def _renewed(stage: Stage, opened: int) -> bool:
    """Whether every lease was renewed since."""
    return await stage.world.count(_HELD, opened=opened) == min(200, stage.scale.tasks)


async def _completed(stage: Stage, uid: str) -> bool:
    return bool(await stage.world.count("MATCH (t:Task {uid: $uid, status: 'completed'})", uid=uid))


def _kill_server(server: ManagedServer) -> None:
    pid = server.ensure().pid
    os.kill(pid, signal.SIGKILL)
    psutil.wait_procs([psutil.Process(pid)] if psutil.pid_exists(pid) else [], timeout=30)
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
