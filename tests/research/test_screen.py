"""The tick of the feed and the fetches that follow it, on a real graph and over real HTTP."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from kgsched.config import Settings
from kgsched.demo.arxiv_server import ArxivServer, Reply
from kgsched.demo.pdf_writer import write_pdf
from kgsched.errors import LeaseConflict, Permanent, Retry, Snooze
from kgsched.registry import Registry
from kgsched.research import DeltaManifest, LoopController
from kgsched.research.handlers import register
from kgsched.research.runner import FETCH_TYPE
from kgsched.research.throttle import Throttle
from kgsched.store import Neo4jStore
from tests.research.desk import Desk, next_task, sit_down
from tests.store.worlds import World


@pytest.fixture
def loop(settings: Settings) -> LoopController:
    return LoopController(settings)


async def fetch_all(store: Neo4jStore, loop: LoopController) -> list[str]:
    """Run the queued fetches as a worker would, one after the other; identifiers in that order."""
    order = []
    while desk := await next_task(store, FETCH_TYPE):
        order.append(desk.payload["paper"]["arxiv_id"])
        await loop.runner.ingest_paper_full(desk)
    return order


async def tick(store: Neo4jStore, loop: LoopController, **options: Any) -> dict[str, Any]:
    desk = await sit_down(store)
    result = await loop.run_rss_feed_screen(desk, **options)
    await desk.done()
    return result


async def test_the_first_tick_grades_everything_and_the_second_skips_it(
    store: Neo4jStore, world: World, loop: LoopController
) -> None:
    first = await tick(store, loop)
    assert first["status"] == "ok"
    assert (first["feed_items"], first["seen_skipped"], first["graded"]) == (14, 0, 14)
    assert (first["queued_full"], first["ingested_marginal"], first["rejected"]) == (7, 4, 3)
    assert [(one["id"], one["score"], one["bucket"]) for one in first["queued"][:4]] == [
        ("2611.90001", 9.4, 0),
        ("2611.90002", 7.0, 0),
        ("2611.90003", 6.1, 0),
        ("2611.90004", 4.3, 1),
    ]
    second = await tick(store, loop)
    assert (second["feed_items"], second["seen_skipped"], second["graded"]) == (14, 14, 0)
    assert [one["status"] for one in second["categories"]] == ["stale", "stale"]
    counts = await world.cypher(f"MATCH (t:Task {{type: '{FETCH_TYPE}'}}) RETURN count(t) AS n")
    assert counts == [{"n": 7}]
    seen = await world.cypher("MATCH (s:SeenPaper) RETURN s.verdict AS verdict, count(*) AS n ORDER BY verdict")
    assert seen == [{"verdict": "marginal", "n": 4}, {"verdict": "rejected", "n": 3}, {"verdict": "relevant", "n": 7}]


async def test_better_papers_are_fetched_first_and_land_whole(
    store: Neo4jStore, world: World, loop: LoopController
) -> None:
    await tick(store, loop)
    order = await fetch_all(store, loop)
    assert order[:4] == ["2611.90001", "2611.90002", "2611.90003", "2611.90004"]
    rows = await world.cypher("""
        MATCH (t:Task {type: 'research_paper_fetch'})-[:PRODUCED]->(a:Article:Document {arxiv_id: '2611.90001'})
        RETURN a.id AS id, a.has_full_text AS whole, a.pages AS pages, t.status AS status, t.source AS source,
          a.license AS license, a.score AS score,
          COUNT { (a)-[:HAS_CHUNK]->(:Chunk) } AS chunks,
          [(a)-[w:WRITTEN_BY]->(n:Author) | [w.position, n.name]] AS authors,
          [(a)-[:FROM_SOURCE]->(s:Source) | s.id] AS sources,
          [(a)-[:IN_DOMAIN]->(d:Domain) | d.name] AS domains,
          [(a)-[:MENTIONS]->(c:Concept) | c.name] AS terms,
          [(a)-[:CONTRIBUTES]->(c:Concept) | [c.kind, c.name, size(c.embedding)]] AS contribution""")
    (row,) = rows
    assert row["id"] == "article:scholarx:arxiv-2611.90001"
    assert (row["whole"], row["pages"], row["status"], row["score"]) == (True, 2, "completed", 9.4)
    assert row["source"] == "https://arxiv.org/abs/2611.90001"
    assert row["license"].endswith("/by/4.0/")
    assert row["chunks"] >= 4
    assert sorted(row["authors"]) == [[1, "Mara Ellwood"], [2, "Tunde Akerele"], [3, "Ines Quiroga"]]
    assert row["sources"] == ["source:arxiv:cs.AI"]
    assert sorted(row["domains"]) == ["memory", "ontology", "orchestration"]
    assert {"graph memory", "multi agent", "knowledge graph"} <= set(row["terms"])
    assert row["contribution"] == [["contribution", "Graph Memory for Multi-Agent Teams", 512]]
    owed = await world.cypher("MATCH (s:SeenPaper) WHERE s.fetch_pending IS NOT NULL RETURN count(s) AS n")
    assert owed == [{"n": 0}]
    assert await world.broken() == []


async def test_marginal_papers_are_ingested_as_abstracts_by_the_tick(
    store: Neo4jStore, world: World, loop: LoopController
) -> None:
    await tick(store, loop)
    rows = await world.cypher("""
        MATCH (t:Task {type: 'scheduled_job'})-[:PRODUCED]->(a:Article)
        RETURN a.arxiv_id AS arxiv_id, a.has_full_text AS whole, a.no_text_reason AS reason,
          [(a)-[:HAS_CHUNK]->(c) | c.text] = [a.abstract] AS abstract_only ORDER BY arxiv_id""")
    assert [row["arxiv_id"] for row in rows] == ["2611.90007", "2611.90008", "2611.90009", "2611.90010"]
    assert all((row["whole"], row["reason"], row["abstract_only"]) == (False, "marginal", True) for row in rows)


async def test_a_near_copy_of_what_the_graph_has_is_demoted(
    store: Neo4jStore, world: World, loop: LoopController, arxiv: ArxivServer
) -> None:
    await tick(store, loop, limit=1)
    await fetch_all(store, loop)
    arxiv.day = 2
    second = await tick(store, loop)
    assert (second["seen_skipped"], second["graded"], second["demoted"]) == (1, 6, 1)
    assert "2611.90021" not in {one["id"] for one in second["queued"]}
    rows = await world.cypher("""
        MATCH (s:SeenPaper {arxiv_id: '2611.90021'}) MATCH (a:Article {arxiv_id: s.arxiv_id})
        RETURN s.demoted AS demoted, s.verdict AS verdict, s.novelty < 0.25 AS known, a.no_text_reason AS reason""")
    assert rows == [{"demoted": True, "verdict": "marginal", "known": True, "reason": "demoted"}]
    assert await world.cypher("MATCH (s:SeenPaper {arxiv_id: '2604.90099'}) RETURN s") == [], "a replacement"


async def test_without_the_graphs_vectors_keywords_decide(
    store: Neo4jStore, world: World, loop: LoopController, arxiv: ArxivServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await tick(store, loop, limit=1)
    await fetch_all(store, loop)
    arxiv.day = 2
    monkeypatch.setattr("kgsched.research.embedding.HashingEmbedder.embed", lambda self, text: [1.0, 2.0])
    second = await tick(store, loop)
    assert "2611.90021" in {one["id"] for one in second["queued"]}
    rows = await world.cypher("MATCH (s:SeenPaper {arxiv_id: '2611.90021'}) RETURN s.novelty AS novelty")
    assert rows == [{"novelty": None}]


async def test_the_limit_counts_unseen_papers_only(store: Neo4jStore, loop: LoopController) -> None:
    first = await tick(store, loop, limit=3)
    assert [one["id"] for one in first["queued"]] == ["2611.90001", "2611.90002", "2611.90003"]
    second = await tick(store, loop, limit=3)
    assert (second["seen_skipped"], second["graded"]) == (3, 3)
    assert second["queued"][0]["id"] == "2611.90004"


async def test_one_failed_category_makes_the_tick_partial(
    store: Neo4jStore, loop: LoopController, arxiv: ArxivServer
) -> None:
    arxiv.script("/rss/cs.AI", Reply(500, b""))
    result = await tick(store, loop)
    assert result["status"] == "partial"
    assert [one["status"] for one in result["categories"]] == ["failed", "ok"]
    assert result["graded"] == 5
    again = await tick(store, loop)
    assert (again["status"], again["seen_skipped"], again["graded"]) == ("ok", 5, 9)


async def test_when_all_categories_fail_the_tick_fails_and_nothing_is_seen(
    store: Neo4jStore, world: World, loop: LoopController, arxiv: ArxivServer
) -> None:
    arxiv.script("/rss/", Reply(429, b"Rate exceeded.", {"Retry-After": "90"}), Reply(500, b""))
    desk = await sit_down(store)
    with pytest.raises(Retry, match="all feeds failed") as error:
        await loop.run_rss_feed_screen(desk)
    assert error.value.after == 90.0
    assert await world.cypher("MATCH (s:SeenPaper) RETURN s") == []


async def test_only_bad_categories_are_a_permanent_failure(store: Neo4jStore, settings: Settings) -> None:
    loop = LoopController(settings.model_copy(update={"arxiv_categories": "cs.XX"}))
    with pytest.raises(Permanent, match="Bad subject class"):
        await loop.run_rss_feed_screen(await sit_down(store))


async def test_a_quiet_day_is_empty(store: Neo4jStore, settings: Settings) -> None:
    loop = LoopController(settings.model_copy(update={"arxiv_categories": "cs.LG"}))
    result = await loop.run_rss_feed_screen(await sit_down(store))
    assert (result["status"], result["feed_items"]) == ("empty", 0)


async def test_two_ticks_at_once_queue_each_paper_once(store: Neo4jStore, world: World, loop: LoopController) -> None:
    desks = [await sit_down(store), await sit_down(store)]
    results = await asyncio.gather(*(loop.run_rss_feed_screen(desk) for desk in desks))
    assert sum(one["queued_full"] for one in results) == 7
    assert sum(one["ingested_marginal"] for one in results) == 4
    rows = await world.cypher("MATCH (t:Task {type: 'research_paper_fetch'}) RETURN count(t) AS n")
    assert rows == [{"n": 7}]


async def test_a_record_and_its_task_are_made_together_or_not_at_all(
    store: Neo4jStore, world: World, loop: LoopController, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(self: Desk, what: str, /, **_: Any) -> None:
        raise RuntimeError("the process dies here")

    monkeypatch.setattr(Desk, "enqueue", refuse)
    with pytest.raises(RuntimeError):
        await tick(store, loop)
    assert await world.cypher("MATCH (s:SeenPaper) RETURN s") == []


async def test_a_paper_whose_key_is_taken_is_recorded_without_a_second_task(
    store: Neo4jStore, world: World, loop: LoopController
) -> None:
    await world.enqueue_one("a", key="2611.90001")
    result = await tick(store, loop)
    assert result["errors"] == []
    rows = await world.cypher("MATCH (t:Task {key: '2611.90001'}) RETURN t.type AS type")
    assert rows == [{"type": "a"}]
    assert await DeltaManifest(store.graph).seen(["2611.90001"]) == {"2611.90001"}


@pytest.mark.parametrize(
    ("reply", "reason", "owed"),
    [
        (Reply(404, b"<h1>Withdrawn</h1>", {"Content-Type": "text/html"}), "no_pdf", 0),
        (Reply(403, b"<h1>not public</h1>", {"Content-Type": "text/html"}), "closed", 0),
        (Reply(200, b"<!DOCTYPE html>are you a robot?", {"Content-Type": "application/pdf"}), "not_pdf", 1),
    ],
)
async def test_a_paper_without_pdf_lands_as_abstract_with_the_reason(
    store: Neo4jStore, world: World, loop: LoopController, arxiv: ArxivServer, reply: Reply, reason: str, owed: int
) -> None:
    await tick(store, loop, limit=1)
    arxiv.script("/pdf/2611.90001", reply)
    assert await fetch_all(store, loop) == ["2611.90001"]
    rows = await world.cypher("""
        MATCH (a:Article)<-[:PRODUCED]-(t:Task)
        RETURN a.has_full_text AS whole, a.no_text_reason AS reason, t.status AS status,
          [(a)-[:HAS_CHUNK]->(c) | c.text CONTAINS 'robot'] AS robot""")
    assert rows == [{"whole": False, "reason": reason, "status": "completed", "robot": [False]}]
    pending = await world.cypher("MATCH (s:SeenPaper) WHERE s.fetch_pending IS NOT NULL RETURN count(s) AS n")
    assert pending == [{"n": owed}]


async def test_a_pdf_that_cannot_be_served_now_is_tried_again_and_nothing_is_written(
    store: Neo4jStore, world: World, loop: LoopController, arxiv: ArxivServer
) -> None:
    await tick(store, loop, limit=1)
    arxiv.script("/pdf/2611.90001", Reply(503, b"", {"Retry-After": "75"}))
    desk = await next_task(store, FETCH_TYPE)
    assert desk is not None
    with pytest.raises(Retry) as error:
        await loop.runner.ingest_paper_full(desk)
    assert error.value.after == 75.0
    assert await world.cypher("MATCH (a:Article) RETURN a") == []


async def test_while_arxiv_wants_a_pause_a_fetch_waits_without_using_an_attempt(
    store: Neo4jStore, settings: Settings
) -> None:
    throttle = Throttle()
    registry = Registry()
    far = settings.model_copy(update={"arxiv_pdf_url": "https://arxiv.invalid"})
    loop = register(registry, far, LoopController(far, throttle))
    await tick(store, loop, limit=1)
    throttle.hold_off(far.arxiv_pdf_url, 300.0)
    desk = await next_task(store, FETCH_TYPE)
    assert desk is not None
    with pytest.raises(Snooze) as pause:
        await registry.get(FETCH_TYPE).handler(desk)
    assert 0 < pause.value.after <= 300.0
    assert desk.limited == ["arxiv"], "the cluster's pace was asked for"
    assert registry.limiter("arxiv").period_ms == 3000


async def test_a_long_text_lands_in_order_and_whole(
    store: Neo4jStore, world: World, loop: LoopController, arxiv: ArxivServer
) -> None:
    await tick(store, loop, limit=1)
    paragraphs = [f"Paragraph {number}. " + "It goes on and on. " * 50 for number in range(700)]
    arxiv.pdfs["2611.90001"] = write_pdf(paragraphs)
    await fetch_all(store, loop)
    rows = await world.cypher("MATCH (:Article)-[:HAS_CHUNK]->(c) RETURN c.seq AS seq, c.text AS text ORDER BY seq")
    assert [row["seq"] for row in rows] == list(range(len(rows)))
    assert len(rows) > 500
    assert all(f"Paragraph {number}." in "\n".join(row["text"] for row in rows) for number in (0, 350, 699))


async def test_who_lost_the_claim_writes_nothing(store: Neo4jStore, world: World, loop: LoopController) -> None:
    await tick(store, loop, limit=1)
    desk = await next_task(store, FETCH_TYPE)
    assert desk is not None
    await world.cypher("MATCH (t:Task {uid: $uid}) SET t.claim_token = 'of another'", uid=desk.uid)
    with pytest.raises(LeaseConflict):
        await loop.runner.ingest_paper_full(desk)
    assert await world.cypher("MATCH (a:Article) RETURN a") == []
    assert await world.cypher("MATCH (n) WHERE n:Chunk OR n:Concept RETURN n") == []


async def test_a_full_text_is_never_replaced_by_an_abstract(
    store: Neo4jStore, world: World, loop: LoopController, arxiv: ArxivServer
) -> None:
    await tick(store, loop, limit=1)
    assert await fetch_all(store, loop) == ["2611.90001"]
    before = await world.cypher("MATCH (c:Chunk) RETURN c.id AS id, c.text AS text ORDER BY id")
    arxiv.script("/pdf/2611.90001", Reply(404, b""))
    rows = await world.cypher("MATCH (s:SeenPaper) RETURN s.fetch AS fetch")
    desk = await sit_down(store)
    desk.payload = json.loads(rows[0]["fetch"])
    await loop.runner.ingest_paper_full(desk)
    assert await world.cypher("MATCH (c:Chunk) RETURN c.id AS id, c.text AS text ORDER BY id") == before
    rows = await world.cypher("MATCH (a:Article) RETURN a.has_full_text AS whole, a.no_text_reason AS reason")
    assert rows == [{"whole": True, "reason": None}]


async def test_many_fetches_at_once_share_authors_and_concepts(
    store: Neo4jStore, world: World, loop: LoopController
) -> None:
    await tick(store, loop)
    desks = []
    while desk := await next_task(store, FETCH_TYPE):
        desks.append(desk)
    await asyncio.gather(*(loop.runner.ingest_paper_full(desk) for desk in desks))
    rows = await world.cypher("MATCH (a:Article {has_full_text: true}) RETURN count(a) AS n")
    assert rows == [{"n": 7}]
    assert await world.broken() == []
