"""The papers of the last days: today's from the RSS feed of each category, earlier ones from the API."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import quote

import httpx

from kgsched.config import Settings, load_settings
from kgsched.errors import HandlerSignal, Permanent, Retry
from kgsched.research.api import recent_papers
from kgsched.research.feed import FeedDocument, error_of, parse_feed
from kgsched.research.http import RATE_PAUSE, fetch, new_client, refuse_bad_status
from kgsched.research.paper import Paper
from kgsched.research.throttle import Throttle, shared_throttle

GRADED_TYPES = ("new", "cross")
_FEED_LIMIT = 32 * 1024 * 1024
_FEED_TYPES = "application/rss+xml, application/atom+xml;q=0.9, application/xml;q=0.8"
_API = "api"


@dataclass(frozen=True, slots=True)
class FeedOutcome:
    """What became of one category: `ok`, `empty` (no items: weekend, holiday), `stale` (none unseen) or `failed`.

    `items` counts the papers that are graded, replacements left out. `error` says whether a failure may pass.
    """

    category: str
    status: str
    items: int = 0
    reason: str = ""
    day: str | None = None
    arxiv_ids: tuple[str, ...] = ()
    error: HandlerSignal | None = None

    def without_unseen(self) -> FeedOutcome:
        """The same feed after all of its items turned out to be known."""
        return replace(self, status="stale", reason=f"0 unseen of {self.items}")


@dataclass(frozen=True, slots=True)
class RecentPapers:
    """Papers, each once, with one outcome per category (and one named `api` when earlier days were asked for)."""

    papers: tuple[Paper, ...]
    outcomes: tuple[FeedOutcome, ...]


async def get_recent_papers(
    days: int = 1,
    *,
    settings: Settings | None = None,
    throttle: Throttle | None = None,
    announce_types: Sequence[str] = GRADED_TYPES,
) -> RecentPapers:
    """Papers announced in the last `days` days in the categories of the settings.

    A category that fails never hides the others: its outcome tells. Replacements are left out.
    """
    settings = settings or load_settings()
    throttle = throttle or shared_throttle(settings)
    found: list[Paper] = []
    outcomes: list[FeedOutcome] = []
    async with new_client(settings) as client:
        for category in settings.categories:
            outcome, papers = await _one_category(client, settings, throttle, category, announce_types)
            outcomes.append(outcome)
            found += papers
    if days > 1:
        outcome, papers = await _earlier_days(settings, throttle, days)
        outcomes.append(outcome)
        found += papers
    return RecentPapers(union(found), tuple(outcomes))


def union(papers: Sequence[Paper]) -> tuple[Paper, ...]:
    """Each paper once, in first-seen order: the newest version, `new` before `cross`, categories of all."""
    merged: dict[str, Paper] = {}
    for paper in papers:
        known = merged.setdefault(paper.arxiv_id, paper)
        newest = paper if paper.version > known.version else known
        merged[paper.arxiv_id] = replace(
            newest,
            announce_type="new" if "new" in {paper.announce_type, known.announce_type} else known.announce_type,
            categories=tuple(dict.fromkeys(known.categories + paper.categories)),
            license=newest.license or known.license or paper.license,
        )
    return tuple(merged.values())


async def _one_category(
    client: httpx.AsyncClient, settings: Settings, throttle: Throttle, category: str, announce_types: Sequence[str]
) -> tuple[FeedOutcome, Sequence[Paper]]:
    url = f"{settings.arxiv_rss_url.rstrip('/')}/rss/{quote(category)}"
    try:
        document = await _read_feed(client, throttle, url)
    except (Retry, Permanent) as error:
        return FeedOutcome(category, "failed", reason=str(error), error=error), ()
    papers = tuple(paper for paper in document.papers if paper.announce_type in announce_types)
    status, reason = ("ok", "") if papers else ("empty", "the feed had 0 items to grade")
    if document.cut:
        reason = "the feed broke off; its whole items were taken"
    ids = tuple(paper.arxiv_id for paper in papers)
    return FeedOutcome(category, status, len(papers), reason, document.day, ids), papers


async def _read_feed(client: httpx.AsyncClient, throttle: Throttle, url: str) -> FeedDocument:
    answer = await fetch(client, throttle, url, accept=_FEED_TYPES, limit=_FEED_LIMIT)
    if answer.status == 400 and (reason := error_of(answer.body)):
        raise Permanent(f"{url}: {reason} Check KGSCHED_ARXIV_CATEGORIES")
    refuse_bad_status(throttle, url, answer.status, answer.headers)
    if answer.body.lstrip()[:13].lower() == b"rate exceeded":
        throttle.hold_off(url, RATE_PAUSE)
        raise Retry(f"{url} answered 'Rate exceeded.'", after=RATE_PAUSE)
    return parse_feed(answer.body, url)


async def _earlier_days(settings: Settings, throttle: Throttle, days: int) -> tuple[FeedOutcome, Sequence[Paper]]:
    try:
        papers = await recent_papers(settings, throttle, settings.categories, days)
    except (Retry, Permanent) as error:
        return FeedOutcome(_API, "failed", reason=str(error), error=error), []
    ids = tuple(paper.arxiv_id for paper in papers)
    return FeedOutcome(_API, "ok" if papers else "empty", len(papers), arxiv_ids=ids), papers
