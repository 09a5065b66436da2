"""`kgsched demo`: the whole feed, offline, with invented papers."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgsched.app import Kgsched
from kgsched.config import Settings
from kgsched.core.task_filter import TaskFilter
from kgsched.demo.arxiv_server import ArxivServer
from kgsched.demo.papers import PAPERS
from kgsched.demo.report import describe_day, describe_library
from kgsched.errors import Conflict, KgschedError
from kgsched.localdb import QUICK_JIT
from kgsched.research.runner import FETCH_TYPE

Say = Callable[[str], None]
WAIT_S = 100.0
_SCHEDULES = "schedules:\n  research_feed:\n    job: research_feed\n    every: 30m\n"


@dataclass(frozen=True, slots=True)
class DemoResult:
    """What the demonstration did: the results of its two ticks, the papers as graded, counts of what there is."""

    ticks: tuple[dict[str, Any], ...]
    fetched: tuple[str, ...]
    graded: tuple[dict[str, Any], ...]
    counts: dict[str, int] = field(default_factory=dict)


def demo_settings(settings: Settings, arxiv: ArxivServer) -> Settings:
    """The user's settings, turned to the loopback server and to a data folder of the demonstration's own."""
    more = {
        "home": settings.home / "demo",
        "slots": 2,
        "log_level": "warning",
        "neo4j_java_options": settings.neo4j_java_options or QUICK_JIT,
    }
    return settings.model_copy(update={**arxiv.settings(), **more})


async def run_demo(settings: Settings, say: Say, *, progress: Say | None = None, keep: bool = False) -> DemoResult:
    """Run the feed on two invented days and `say` what happened; `progress` is told what takes long.

    Without a database of the user's it takes a managed Neo4j in `<home>/demo`, which is emptied first and, unless
    `keep`, deleted at the end. A database of the user's has to be empty: Conflict says so.
    """
    with ArxivServer() as arxiv:
        app = Kgsched(demo_settings(settings, arxiv), progress=progress or say)
        say(f"serving {len(PAPERS)} invented papers at {arxiv.url}: RSS, API and PDFs, as arXiv does")
        await _destroy(app)
        try:
            async with app.connection.held(), app:
                await _refuse_if_used(app)
                async with app.worker():
                    result = await _two_days(app, arxiv, say)
            if keep and app.connection.server is not None:
                say(f"kept; to look at it: KGSCHED_HOME={app.settings.home} kgsched tasks list")
            return result
        finally:
            if not keep:
                await _destroy(app)


async def _destroy(app: Kgsched) -> None:
    if app.connection.server is not None and app.settings.home.exists():
        await asyncio.to_thread(app.connection.server.destroy)


async def _refuse_if_used(app: Kgsched) -> None:
    counts = await _counts(app)
    if counts["articles"] or counts["seen"] or counts["tasks"]:
        raise Conflict(
            "the demonstration needs an empty database, and this one has tasks or articles; unset KGSCHED_NEO4J_URI "
            "to use a managed Neo4j of its own, or name another by KGSCHED_NEO4J_DATABASE"
        )


async def _two_days(app: Kgsched, arxiv: ArxivServer, say: Say) -> DemoResult:
    with tempfile.TemporaryDirectory(prefix="kgsched-demo-") as folder:
        path = Path(folder) / "schedules.yml"
        path.write_text(_SCHEDULES, encoding="utf-8")
        await app.operations.schedules.apply(path, by="demo")
    ticks: list[dict[str, Any]] = []
    fetched: list[str] = []
    for day in (1, 2):
        arxiv.day = day
        say(f"day {day}: kgsched schedules run-now research_feed")
        ticks.append(await _tick(app))
        order = [one for one in await _fetched(app) if one not in fetched]
        for line in describe_day(ticks[-1], order, await _graded(app)):
            say(line)
        fetched += order
    enriched = await app.operations.jobs.run("enrichment")
    say(f"enrichment: {enriched['related']} pairs of related articles linked")
    graded, counts = await _graded(app), await _counts(app)
    for line in describe_library(graded, counts):
        say(line)
    return DemoResult(tuple(ticks), tuple(fetched), tuple(graded), counts)


async def _tick(app: Kgsched) -> dict[str, Any]:
    run = await app.operations.schedules.run_now("research_feed")
    result: dict[str, Any] = await app.wait(run.id, WAIT_S)
    return result


async def _fetched(app: Kgsched) -> list[str]:
    """Identifiers in the order in which they were fetched, once all fetches are over."""
    tasks = await app.operations.tasks.select(TaskFilter(types=(FETCH_TYPE,)))
    waited = await app.operations.tasks.wait([one["uid"] for one in tasks], WAIT_S)
    if not waited.done:
        raise KgschedError(
            f"the fetches are not over after {WAIT_S:g} s; `kgsched demo --keep` leaves the graph to look at"
        )
    tasks = await app.operations.tasks.select(TaskFilter(types=(FETCH_TYPE,)))
    tasks.sort(key=lambda one: (one["started_at"], one["prio_bucket"], -one["weight"], one["uid"]))
    return [str(one["key"]) for one in tasks]


async def _graded(app: Kgsched) -> list[dict[str, Any]]:
    ids: Sequence[str] = [one.paper.arxiv_id for one in PAPERS]
    return await app.store.graph.named("research/graded", arxiv_ids=ids)


async def _counts(app: Kgsched) -> dict[str, int]:
    return (await app.store.graph.named("research/count_library"))[0]
