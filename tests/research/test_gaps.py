"""loop_cycle: missed days and owed texts are found and enqueued, once."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from kgsched.config import Settings
from kgsched.core.task import AckOutcome
from kgsched.demo.arxiv_server import ArxivServer, Reply
from kgsched.research import DeltaManifest, LoopController
from kgsched.research.gaps import LOOK_BACK, MISSED_DAY_TYPE, MOST_REFETCHES, missed_days
from kgsched.research.manifest import FeedDays
from kgsched.research.runner import FETCH_TYPE
from kgsched.store import Neo4jStore
from tests.research.desk import next_task, sit_down
from tests.store.worlds import World

MONDAY = date(2026, 11, 30)


@pytest.fixture
def loop(settings: Settings) -> LoopController:
    return LoopController(settings)


async def cycle(store: Neo4jStore, loop: LoopController) -> dict[str, Any]:
    desk = await sit_down(store)
    result = await loop.run_loop_cycle(desk)
    await desk.done()
    await store.sweeps.settle()
    return result


async def screen(store: Neo4jStore, loop: LoopController, limit: int) -> None:
    desk = await sit_down(store)
    await loop.run_rss_feed_screen(desk, limit=limit)
    await desk.done()


async def snapshot(world: World) -> list[dict[str, Any]]:
    """All that the cycle could change, ticks left out."""
    return await world.cypher("""
        MATCH (n) WHERE NOT n:Migration AND NOT coalesce(n.type = 'scheduled_job', false) AND NOT n:Stat
        RETURN labels(n) AS labels, n {.id, .arxiv_id, .status, .refetches, .fetch_pending, .key} AS properties
        ORDER BY labels, coalesce(n.id, n.arxiv_id, n.category)""")


def week(*read: int, first: date | None = date(2026, 11, 1)) -> FeedDays:
    return FeedDays("cs.AI", MONDAY, first, frozenset(date(2026, 11, day) for day in read))


def test_weekdays_that_nobody_read_are_missed() -> None:
    missed = missed_days([week(16, 17, 18, 19, 20, 23, 24, 26)])
    assert missed == {date(2026, 11, 25): ["cs.AI"], date(2026, 11, 27): ["cs.AI"]}


def test_today_and_days_before_the_first_are_not_missed() -> None:
    assert missed_days([week(26, 27, first=date(2026, 11, 26))]) == {}
    assert missed_days([week(first=None)]) == {}
    assert all(day < MONDAY for day in missed_days([week()]))


def test_looking_back_is_bounded() -> None:
    missed = missed_days([week(first=date(2020, 1, 1))])
    assert min(missed) >= MONDAY - timedelta(days=LOOK_BACK)
    assert len(missed) == 10


async def test_a_missed_day_is_enqueued_once_and_then_closed_by_the_api(
    store: Neo4jStore, world: World, loop: LoopController, settings: Settings
) -> None:
    today = datetime.fromtimestamp(await world.now() / 1000, UTC).date()
    manifest = DeltaManifest(store.graph)
    days = [today - timedelta(days=back) for back in range(9, 0, -1)]
    missing = max(day for day in days[1:] if day.weekday() < 5)
    read = [day.isoformat() for day in days if day != missing]
    await manifest.record_feed_days([(name, day, 3) for name in settings.categories for day in read])

    before = await world.count(f"MATCH (t:Task {{type: '{MISSED_DAY_TYPE}'}})")
    assert (await cycle(store, loop))["missed_days"] == [missing.isoformat()]
    after = await snapshot(world)
    assert (await cycle(store, loop))["missed_days"] == []
    assert await snapshot(world) == after
    assert before == 0

    desk = await next_task(store, MISSED_DAY_TYPE)
    assert desk is not None
    assert desk.payload == {"day": missing.isoformat(), "categories": list(settings.categories)}
    result = await loop.run_missed_day(desk)
    await desk.done()
    assert result["status"] == "ok"
    assert (await cycle(store, loop))["missed_days"] == []
    assert await world.count("MATCH (d:FeedDay {via: 'api'})") == len(settings.categories)


async def test_a_missed_day_brings_the_papers_that_the_feed_lost(
    store: Neo4jStore, world: World, loop: LoopController, arxiv: ArxivServer
) -> None:
    desk = await sit_down(store, {"day": arxiv.first_day.isoformat(), "categories": ["cs.AI", "cs.MA"]})
    result = await loop.run_missed_day(desk)
    assert (result["feed_items"], result["queued_full"], result["ingested_marginal"]) == (14, 7, 4)
    again = await loop.run_missed_day(desk)
    assert (again["seen_skipped"], again["graded"]) == (14, 0)


async def test_a_paper_whose_fetch_died_is_fetched_again_a_few_times(
    store: Neo4jStore, world: World, loop: LoopController
) -> None:
    await screen(store, loop, limit=1)
    assert (await cycle(store, loop))["refetched"] == [], "its task is live"
    for _ in range(MOST_REFETCHES):
        desk = await next_task(store, FETCH_TYPE)
        assert desk is not None
        await world.finish(desk.claim, AckOutcome.FAILED)
        assert (await cycle(store, loop))["refetched"] == ["2611.90001"]
        once = await snapshot(world)
        assert (await cycle(store, loop))["refetched"] == []
        assert await snapshot(world) == once
    desk = await next_task(store, FETCH_TYPE)
    assert desk is not None
    await world.finish(desk.claim, AckOutcome.FAILED)
    assert (await cycle(store, loop))["refetched"] == []


async def test_an_abstract_only_article_gets_its_text_when_it_can_come(
    store: Neo4jStore, world: World, loop: LoopController, arxiv: ArxivServer
) -> None:
    await screen(store, loop, limit=1)
    arxiv.script("/pdf/", Reply(200, b"<html>busy</html>", {"Content-Type": "application/pdf"}))
    desk = await next_task(store, FETCH_TYPE)
    assert desk is not None
    await loop.runner.ingest_paper_full(desk)
    assert await world.count("MATCH (a:Article {has_full_text: false, no_text_reason: 'not_pdf'})") == 1

    assert (await cycle(store, loop))["refetched"] == ["2611.90001"]
    desk = await next_task(store, FETCH_TYPE)
    assert desk is not None
    assert (desk.claim.prio_bucket, desk.payload["grade"]["score"]) == (0, 9.4)
    await loop.runner.ingest_paper_full(desk)
    assert await world.count("MATCH (a:Article {has_full_text: true}) WHERE a.no_text_reason IS NULL") == 1
    once = await snapshot(world)
    assert (await cycle(store, loop))["refetched"] == []
    assert await snapshot(world) == once


async def test_a_withdrawn_paper_is_left_alone(
    store: Neo4jStore, world: World, loop: LoopController, arxiv: ArxivServer
) -> None:
    await screen(store, loop, limit=1)
    arxiv.withdrawn.add("2611.90001")
    desk = await next_task(store, FETCH_TYPE)
    assert desk is not None
    await loop.runner.ingest_paper_full(desk)
    assert (await cycle(store, loop))["refetched"] == []
    assert await world.count("MATCH (s:SeenPaper {no_text_reason: 'no_pdf'})") == 1


async def test_a_stale_batch_does_not_close_the_day(
    store: Neo4jStore, world: World, loop: LoopController, arxiv: ArxivServer
) -> None:
    await screen(store, loop, limit=100)
    assert await world.count("MATCH (d:FeedDay)") == 2
    stale = arxiv.reply("/rss/cs.AI", {}).body
    tomorrow = arxiv.first_day + timedelta(days=1)
    body = stale.replace(f"{arxiv.first_day:%d %b %Y} 00:00".encode(), f"{tomorrow:%d %b %Y} 00:00".encode())
    arxiv.script("/rss/cs.AI", Reply(200, body))
    desk = await sit_down(store)
    result = await loop.run_rss_feed_screen(desk)
    assert result["categories"][0]["status"] == "stale"
    assert result["categories"][0]["day"] == tomorrow.isoformat()
    assert await world.count("MATCH (d:FeedDay)") == 2
