"""What the feed missed: announcement days that nobody read, and full texts that are owed."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from datetime import date, timedelta
from functools import partial
from typing import Any

import structlog

from kgsched.core.priority import BACKGROUND
from kgsched.core.task import Answer
from kgsched.errors import Conflict
from kgsched.ports import Transaction
from kgsched.research.context import ResearchContext
from kgsched.research.manifest import DeltaManifest, FeedDays, Owed
from kgsched.research.runner import enqueue_fetch
from kgsched.research.transactions import in_transaction

_log = structlog.get_logger(__name__)
MISSED_DAY_TYPE = "research_missed_day"
LOOK_BACK = 14
MOST_REFETCHES = 3
MOST_AT_ONCE = 100
_WEEKDAYS = 5


async def close_gaps(ctx: ResearchContext, categories: Sequence[str]) -> dict[str, Any]:
    """Enqueue a task for each missed day and each owed text that no live task is about; says which."""
    manifest = DeltaManifest(ctx.graph)
    days = missed_days(await manifest.feed_days(categories, LOOK_BACK))
    enqueued = [day for day, missing in days.items() if await _enqueue_day(ctx, day, missing)]
    owed = await manifest.unfetched(ctx.space, MOST_REFETCHES, MOST_AT_ONCE)
    refetched = [one.arxiv_id for one in owed if await _refetch(ctx, manifest, one)]
    return {"status": "ok", "missed_days": [day.isoformat() for day in enqueued], "refetched": refetched}


def missed_days(known: Sequence[FeedDays]) -> dict[date, list[str]]:
    """Days on which arXiv announces (Monday to Friday), since the first that was read, and who was not read on them.

    Holidays count too: asking the API about one costs little and finds nothing.
    """
    missed: defaultdict[date, list[str]] = defaultdict(list)
    for one in known:
        if one.first is None:
            continue
        for back in range(LOOK_BACK, 0, -1):
            day = one.today - timedelta(days=back)
            if day > one.first and day.weekday() < _WEEKDAYS and day not in one.read:
                missed[day].append(one.category)
    return dict(sorted(missed.items()))


async def _enqueue_day(ctx: ResearchContext, day: date, categories: Sequence[str]) -> bool:
    """Whether a new task was made; one that is live already stands for the day."""
    payload = {"day": day.isoformat(), "categories": list(categories)}
    source = f"https://arxiv.org/list/{categories[0]}/recent"
    try:
        done = await ctx.enqueue(
            MISSED_DAY_TYPE, payload=payload, priority=BACKGROUND, source=source, key=f"arxiv-day:{day.isoformat()}"
        )
    except Conflict as error:
        _log.info("missed_day_is_queued_already", day=day.isoformat(), reason=str(error))
        return False
    return done.answer is Answer.CREATED


async def _refetch(ctx: ResearchContext, manifest: DeltaManifest, owed: Owed) -> bool:
    try:
        return await in_transaction(ctx.graph, partial(_refetch_in, ctx, manifest, owed))
    except Conflict as error:
        _log.info("fetch_is_queued_already", arxiv_id=owed.arxiv_id, reason=str(error))
        return False


async def _refetch_in(ctx: ResearchContext, manifest: DeltaManifest, owed: Owed, tx: Transaction) -> bool:
    if not await manifest.record_refetch(tx, owed):
        return False
    await enqueue_fetch(ctx, tx, json.loads(owed.fetch), owed.prio_bucket, owed.weight)
    return True
