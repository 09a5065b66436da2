"""The queue's own upkeep as jobs that run by name, in a tick or by hand: each until nothing is left to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from kgsched.config import Settings
from kgsched.core.task import Swept
from kgsched.ports import Store
from kgsched.registry import Job, Registry

MAX_PASSES = 10_000
Sweep = Callable[[Store], Awaitable[Swept]]
Report = dict[str, Any]


def sweep_jobs(settings: Settings, registry: Registry) -> tuple[Job, ...]:
    """All jobs that are nothing but statements under cypher/jobs/."""
    grace_ms = round(settings.grace * 1000)

    async def reaper(store: Store) -> Report:
        return await _reap(store, grace_ms)

    async def heal(store: Store) -> Report:
        return await _heal(store, registry)

    async def purge(store: Store) -> Report:
        return await _purge(store, await _before(store, settings.keep_finished))

    async def archive(store: Store) -> Report:
        before = await _before(store, settings.archive_after)
        return await _repeat("archive", store, lambda one: one.sweeps.archive(before))

    return (
        _swept("promotion_sweep", "make pending what is due", lambda one: one.sweeps.promotion_sweep()),
        _job("reaper", "end claims whose lease and grace are over", reaper),
        _swept(
            "collapse_stale_ticks",
            "cancel all un-run ticks of a schedule but the newest",
            lambda one: one.sweeps.collapse_stale_ticks(),
        ),
        _swept("settle", "make the edges of what was enqueued in a transaction", lambda one: one.sweeps.settle()),
        _swept("cascade", "cancel what waits for tasks that ended badly", lambda one: one.sweeps.cascade_step()),
        _swept("release", "release what waits for completed tasks", lambda one: one.sweeps.release_step()),
        _swept(
            "revive", "bring back what was cancelled because of a retried task", lambda one: one.sweeps.revive_step()
        ),
        _job("heal", "mend what a crash or a write by hand left wrong: counts, ready marks, gates", heal),
        _job("purge", "delete tasks that finished long ago (KGSCHED_KEEP_FINISHED), and what only they needed", purge),
        _job("archive", "drop payloads and results of completed tasks (KGSCHED_ARCHIVE_AFTER)", archive),
        _job("count_check", "compare the counters of finished tasks with the tasks", _count_check),
        _swept("forget_workers", "forget workers that have fallen silent", lambda one: one.sweeps.forget_workers()),
    )


def _job(name: str, description: str, run: Callable[[Store], Awaitable[Report]]) -> Job:
    async def body(context: Any) -> Report:
        return await run(context.store)

    return Job(name, body, description)


def _swept(name: str, description: str, sweep: Sweep) -> Job:
    async def run(store: Store) -> Report:
        return await _repeat(name, store, sweep)

    return _job(name, description, run)


async def _repeat(name: str, store: Store, sweep: Sweep) -> Report:
    """Passes until one says that nothing is left; numbers in their details are added up."""
    total, passes, more, details = 0, 0, True, Counter[str]()
    while more and passes < MAX_PASSES:
        swept = await sweep(store)
        total, passes, more = total + swept.count, passes + 1, swept.more
        details.update({key: value for key, value in swept.details.items() if isinstance(value, int)})
    return {"job": name, "count": total, "passes": passes, **details}


async def _reap(store: Store, grace_ms: int) -> Report:
    statuses: Counter[str] = Counter()
    for _ in range(MAX_PASSES):
        swept, reaped = await store.sweeps.reaper(grace_ms)
        for one in reaped:
            statuses[one.status.value] += 1
            if one.schedule is not None and one.status.terminal:
                await store.schedules.record_run(one.space, one.schedule, one.uid, False, "worker lost")
        if not swept.more:
            break
    return {"job": "reaper", "count": statuses.total(), **dict(statuses)}


async def _purge(store: Store, before: int) -> Report:
    """Tasks that ended before an instant; then keys and answers whose time is over, old gates, silent workers."""
    tasks = await _repeat("purge", store, lambda one: one.sweeps.purge(before))
    rest = {
        "keys": await _repeat("forget_keys", store, lambda one: one.sweeps.forget_keys()),
        "answers": await _repeat("forget_answers", store, lambda one: one.answers.forget()),
        "gates": await _repeat("forget_gates", store, lambda one: one.sweeps.forget_gates()),
        "workers": await _repeat("forget_workers", store, lambda one: one.sweeps.forget_workers()),
    }
    return tasks | {name: part["count"] for name, part in rest.items()}


async def _heal(store: Store, registry: Registry) -> Report:
    types = sorted({*registry.names(), *await store.cluster.read_types()})
    parts = {
        "blocked": await _repeat("blocked_sweep", store, lambda one: one.sweeps.blocked_sweep()),
        "ready": await _repeat("heal_ready", store, lambda one: one.sweeps.heal_ready(types)),
        "lost": await _repeat("heal_lost", store, lambda one: one.sweeps.heal_lost()),
        "admitted": await _repeat("admission", store, lambda one: one.sweeps.admission()),
    }
    counts = {name: part["count"] for name, part in parts.items()}
    return {"job": "heal", "count": sum(counts.values()), **counts}


async def _count_check(store: Store) -> Report:
    differences = await store.sweeps.count_check()
    return {"job": "count_check", "count": len(differences), "differences": differences[:50]}


async def _before(store: Store, seconds: float) -> int:
    """The instant that long ago, by the database's clock."""
    return (await store.cluster.pulse()).now - round(seconds * 1000)
