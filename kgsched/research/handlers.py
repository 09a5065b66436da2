"""Task types and jobs of the feed, for the registry."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Any

from kgsched.config import Settings
from kgsched.core.lanes import RESEARCH
from kgsched.core.task import Limits
from kgsched.errors import Snooze
from kgsched.registry import Job, Registry, TaskType
from kgsched.research.context import ResearchContext
from kgsched.research.enrichment import enrich
from kgsched.research.gaps import MISSED_DAY_TYPE
from kgsched.research.http import RATE_PAUSE
from kgsched.research.loop import LoopController
from kgsched.research.runner import FETCH_TYPE
from kgsched.research.throttle import LIMITER, HeldOff


def register(registry: Registry, settings: Settings, loop: LoopController | None = None) -> LoopController:
    """Add the feed's types and jobs; returns the controller that they share (one throttle for all)."""
    controller = loop or LoopController(settings)

    async def research_paper_fetch(ctx: ResearchContext) -> dict[str, Any]:
        return await _unless_held_off(controller.runner.ingest_paper_full(ctx))

    async def research_missed_day(ctx: ResearchContext) -> dict[str, Any]:
        return await _unless_held_off(controller.run_missed_day(ctx))

    async def enrichment(ctx: ResearchContext) -> dict[str, Any]:
        return await enrich(ctx.graph)

    registry.add_limiter(LIMITER, Limits(rate=1, period_ms=round(settings.arxiv_interval * 1000)))
    registry.add(TaskType(FETCH_TYPE, research_paper_fetch, lane=RESEARCH.name))
    registry.add(TaskType(MISSED_DAY_TYPE, research_missed_day, lane=RESEARCH.name))
    registry.add_job(Job("research_feed", controller.run_rss_feed_screen, "read arXiv, grade, queue and ingest"))
    registry.add_job(Job("loop_cycle", controller.run_loop_cycle, "enqueue missed days and full texts that are owed"))
    registry.add_job(Job("enrichment", enrichment, "give articles the concepts and related links that they lack"))
    return controller


async def _unless_held_off(body: Awaitable[dict[str, Any]]) -> dict[str, Any]:
    """A task that did not get to ask arXiv anything waits without using up an attempt."""
    try:
        return await body
    except HeldOff as pause:
        raise Snooze(pause.after or RATE_PAUSE, str(pause)) from None
