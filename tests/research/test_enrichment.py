"""enrichment: articles get the concepts and related links that they lack, and a second run changes nothing."""

from __future__ import annotations

from typing import Any

import pytest

from kgsched.research.enrichment import choose, enrich
from kgsched.store import Neo4jStore
from tests.store.worlds import World

OLD = [
    ("note:1", "Episodic memory for agents", "Agents keep episodic memory in a knowledge graph and read it each day."),
    (
        "note:2",
        "Episodic memory for agents, again",
        "Agents keep episodic memory in a knowledge graph and read it daily.",
    ),
    ("note:3", "Order books at night", "A trading strategy reads the order book while markets sleep."),
    ("note:4", "Boats", "We count boats in a bay."),
]


async def library(world: World) -> dict[str, Any]:
    """Everything about articles: concepts, related links, vectors, marks."""
    rows = await world.cypher("""
        MATCH (a:Article)
        RETURN a.id AS id, size(a.embedding) AS size, a.embedding_model AS model, a.alone_since AS alone,
          COLLECT { MATCH (a)-[:MENTIONS]->(c:Concept) RETURN c.name ORDER BY c.name } AS terms,
          COLLECT { MATCH (a)-[:CONTRIBUTES]->(c:Concept) RETURN c.id } AS contributions,
          COLLECT { MATCH (a)-[r:RELATED_TO]-(b) RETURN b.id ORDER BY b.id } AS related
        ORDER BY id""")
    return {row.pop("id"): row for row in rows}


@pytest.fixture
async def old_articles(world: World) -> None:
    """Articles that another program wrote: a title and an abstract, nothing else."""
    rows = [{"id": one, "title": title, "abstract": abstract} for one, title, abstract in OLD]
    await world.cypher("UNWIND $rows AS r CREATE (a:Article) SET a = r", rows=rows)


@pytest.mark.usefixtures("old_articles")
@pytest.mark.parametrize("page", [1, 3, 200])
async def test_articles_get_what_they_lack_once(store: Neo4jStore, world: World, page: int) -> None:
    before = await library(world)
    assert all(row["terms"] == row["related"] == row["contributions"] == [] for row in before.values())

    result = await enrich(store.graph, page=page)
    after = await library(world)
    assert (result["embedded"], result["concepts"]) == (4, 4)
    assert after["note:1"]["terms"] == ["episodic memory", "knowledge graph"]
    assert after["note:3"]["terms"] == ["order book", "trading strategy"]
    assert after["note:4"]["contributions"] == ["concept:note:4"], "no term, but what it adds"
    assert after["note:1"]["related"] == ["note:2"]
    assert after["note:2"]["related"] == ["note:1"]
    assert all(row["size"] == 512 for row in after.values())
    assert all(row["related"] or row["alone"] for row in after.values())

    again = await enrich(store.graph, page=page)
    assert again == {"status": "ok", "embedded": 0, "concepts": 0, "related": 0, "alone": 0}
    assert await library(world) == after


@pytest.mark.usefixtures("old_articles")
async def test_a_newcomer_links_to_those_that_were_alone(store: Neo4jStore, world: World) -> None:
    await enrich(store.graph)
    title, abstract = "Boats, counted twice", "We count boats in a bay, and then we count boats again."
    await world.cypher(
        "CREATE (:Article {id: 'note:5', title: $title, abstract: $abstract})", title=title, abstract=abstract
    )
    result = await enrich(store.graph)
    assert result["related"] == 1
    assert (await library(world))["note:4"]["related"] == ["note:5"]


async def test_an_article_without_words_does_not_stop_the_others(store: Neo4jStore, world: World) -> None:
    await world.cypher(
        "CREATE (:Article {id: 'a:empty'}), (:Article {id: 'b', title: 'Tool use', abstract: 'by agents'})"
    )
    await enrich(store.graph)
    after = await library(world)
    assert after["a:empty"]["size"] is None
    assert after["b"]["terms"] == ["tool use"]
    once = await library(world)
    await enrich(store.graph)
    assert await library(world) == once


async def test_an_empty_graph_needs_nothing(store: Neo4jStore, world: World) -> None:
    assert (await enrich(store.graph))["concepts"] == 0


def test_strangers_are_not_related() -> None:
    assert choose([("b", 0.9), ("c", 0.31), ("d", 0.2)]) == [("b", 0.9), ("c", 0.31)]
    assert choose([("b", 0.2), ("c", 0.15)]) == [("b", 0.2)]
    assert choose([("b", 0.05)]) == []
    assert choose([]) == []
