"""The feed's loop: what its schedules run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

import structlog

from kgsched.config import Settings
from kgsched.errors import InvalidValue, Permanent, Retry
from kgsched.research.api import submitted_between
from kgsched.research.context import ResearchContext
from kgsched.research.embedding import Embedder, HashingEmbedder
from kgsched.research.gaps import close_gaps
from kgsched.research.library import Library
from kgsched.research.manifest import DeltaManifest
from kgsched.research.novelty import ConceptMatcher
from kgsched.research.runner import ResearchPipelineRunner
from kgsched.research.screening import Screener, Screening
from kgsched.research.source import FeedOutcome, get_recent_papers
from kgsched.research.throttle import LIMITER, Throttle, is_loopback, shared_throttle

_log = structlog.get_logger(__name__)
_SUBMITTED_DAYS_BEFORE = 4


class LoopController:
    """Runs the feed for one process; the contexts of its tasks come from outside."""

    def __init__(self, settings: Settings, throttle: Throttle | None = None, embedder: Embedder | None = None) -> None:
        self._settings = settings
        self._throttle = throttle or shared_throttle(settings)
        self._embedder = embedder or HashingEmbedder()
        self.runner = ResearchPipelineRunner(settings, self._throttle, self._embedder)

    async def run_rss_feed_screen(
        self, ctx: ResearchContext, days: int = 1, limit: int | None = None
    ) -> dict[str, Any]:
        """Read the feeds, skip what was seen, grade the rest, queue and ingest. What the tick of `research_feed` runs.

        The result has status (ok, partial, empty), feed_items, seen_skipped, graded, queued_full, ingested_marginal,
        demoted, rejected, queued (the first ten), categories and errors. Raises when every category failed.
        """
        recent = await get_recent_papers(days, settings=self._settings, throttle=self._throttle)
        _refuse_if_all_failed(recent.outcomes)
        manifest = DeltaManifest(ctx.graph)
        seen = await manifest.seen(paper.arxiv_id for paper in recent.papers)
        outcomes = [_judge(outcome, seen) for outcome in recent.outcomes]
        done = await self._screen(ctx, recent.papers, limit)
        await manifest.record_feed_days(
            [(one.category, one.day, one.items) for one in outcomes if one.status == "ok" and one.day]
        )
        result = {
            "status": _status(outcomes, done, len(recent.papers)),
            "feed_items": len(recent.papers),
            **done.counts(),
            "categories": [_shown(outcome) for outcome in outcomes],
        }
        _log.info("feed_screened", **{key: value for key, value in result.items() if not isinstance(value, list)})
        return result

    async def run_missed_day(self, ctx: ResearchContext) -> dict[str, Any]:
        """Body of `research_missed_day`: screen what was announced on a day, as far as the API can tell.

        Announced papers were submitted in the four days before (weekends and the daily cut-off lie between).
        """
        day, categories = _read_payload(ctx.payload)
        first = day - timedelta(days=_SUBMITTED_DAYS_BEFORE)
        if not is_loopback(self._settings.arxiv_api_url):
            await ctx.limit(LIMITER)
        papers = await submitted_between(self._settings, self._throttle, categories, first, day)
        done = await self._screen(ctx, papers, None)
        await DeltaManifest(ctx.graph).record_feed_days(
            [(category, day.isoformat(), len(papers)) for category in categories], via="api"
        )
        return {"status": "partial" if done.errors else "ok", "feed_items": len(papers), **done.counts()}

    async def run_loop_cycle(self, ctx: ResearchContext) -> dict[str, Any]:
        """Find missed days and full texts that are owed, and enqueue them. What the tick of `loop_cycle` runs."""
        return await close_gaps(ctx, self._settings.categories)

    async def _screen(self, ctx: ResearchContext, papers: Sequence[Any], limit: int | None) -> Screening:
        matcher = ConceptMatcher(Library(ctx.graph), self._embedder)
        return await Screener(ctx, self.runner, matcher).screen(papers, limit)


def _refuse_if_all_failed(outcomes: Sequence[FeedOutcome]) -> None:
    errors = [outcome.error for outcome in outcomes if outcome.error is not None]
    if not outcomes:
        raise Permanent("no categories to read; set KGSCHED_ARXIV_CATEGORIES")
    if len(errors) < len(outcomes):
        return
    told = Counter(_why(outcome) for outcome in outcomes)
    reasons = "; ".join(f"{reason} ({n} of {len(outcomes)} feeds)" for reason, n in told.items())
    passing = [error for error in errors if isinstance(error, Retry)]
    if not passing:
        raise Permanent(f"all feeds failed: {reasons}")
    raise Retry(f"all feeds failed: {reasons}", after=max((one.after or 0.0 for one in passing), default=0.0) or None)


def _why(outcome: FeedOutcome) -> str:
    """The reason without the category's own address, so that six feeds on one dead host are told once."""
    return outcome.reason.replace(f"/rss/{outcome.category}", "")


def _judge(outcome: FeedOutcome, seen: set[str]) -> FeedOutcome:
    """A feed of which everything was seen is stale: it may be yesterday's under today's date."""
    if outcome.status == "ok" and seen.issuperset(outcome.arxiv_ids):
        return outcome.without_unseen()
    return outcome


def _status(outcomes: Sequence[FeedOutcome], done: Screening, items: int) -> str:
    if done.errors or any(outcome.status == "failed" for outcome in outcomes):
        return "partial"
    return "ok" if items else "empty"


def _shown(outcome: FeedOutcome) -> dict[str, Any]:
    return {
        "category": outcome.category,
        "status": outcome.status,
        "items": outcome.items,
        "reason": outcome.reason,
        "day": outcome.day,
    }


def _read_payload(payload: Any) -> tuple[date, list[str]]:
    try:
        if isinstance(payload, Mapping):
            return date.fromisoformat(payload["day"]), [str(one) for one in payload["categories"]]
    except (KeyError, TypeError, ValueError) as error:
        raise InvalidValue(
            f"payload of research_missed_day: {error}; it needs day YYYY-MM-DD and categories"
        ) from error
    raise InvalidValue("payload of research_missed_day needs day YYYY-MM-DD and categories")
