"""Enrichment: articles that lack concepts, a vector or related links get them, in batches."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any

from kgsched.ports import Graph
from kgsched.research.article import Article
from kgsched.research.embedding import Embedder, HashingEmbedder
from kgsched.research.library import Library, add_concepts
from kgsched.research.paper import Paper
from kgsched.research.transactions import in_transaction

PAGE = 200
NEIGHBOURS = 5
NEAR = 0.3
FAINT = 0.1


async def enrich(graph: Graph, embedder: Embedder | None = None, page: int = PAGE) -> dict[str, Any]:
    """Walk all articles and give each what it lacks; a second run changes nothing."""
    model = embedder or HashingEmbedder()
    library = Library(graph)
    embedded = with_concepts = alone = related = 0
    async for batch in _pages(library, model.model, page):
        embedded += await _embed(library, model, batch)
        with_concepts += await _add_concepts(graph, model, batch)
    async for batch in _pages(library, model.model, page):
        links, lonely = await _relate(library, model.model, batch)
        related, alone = related + links, alone + lonely
    return {"status": "ok", "embedded": embedded, "concepts": with_concepts, "related": related, "alone": alone}


async def _pages(library: Library, model: str, page: int) -> AsyncIterator[list[dict[str, Any]]]:
    after: str | None = ""
    while after is not None:
        after, lacking = await library.enrichable(after, page, model)
        if lacking:
            yield lacking


async def _embed(library: Library, embedder: Embedder, batch: Sequence[dict[str, Any]]) -> int:
    vectors = {row["id"]: embedder.embed(_text(row)) for row in batch if row["embedding"] is None}
    usable = {one: vector for one, vector in vectors.items() if any(vector)}
    if usable:
        await library.embed_articles(usable, embedder.model)
    return len(usable)


async def _add_concepts(graph: Graph, embedder: Embedder, batch: Sequence[dict[str, Any]]) -> int:
    articles = [_article(row, embedder) for row in batch if not row["concepts"]]
    if articles:
        await in_transaction(graph, partial(add_concepts, articles=articles))
    return len(articles)


async def _relate(library: Library, model: str, batch: Sequence[dict[str, Any]]) -> tuple[int, int]:
    lonely = [row for row in batch if not row["related"]]
    if not lonely:
        return 0, 0
    vectors = {row["id"]: row["embedding"] for row in lonely if row["embedding"] is not None}
    nearest = await library.nearest_articles(vectors, model, NEIGHBOURS + 1) if vectors else {}
    links: dict[tuple[str, str], float] = {}
    alone = []
    for row in lonely:
        chosen = choose(nearest.get(row["id"], []))
        links |= {(min(row["id"], other), max(row["id"], other)): round(cosine, 4) for other, cosine in chosen}
        if not chosen:
            alone.append(row["id"])
    await library.relate([(low, high, cosine) for (low, high), cosine in sorted(links.items())], alone)
    return len(links), len(alone)


def choose(nearest: Sequence[tuple[str, float]]) -> list[tuple[str, float]]:
    """The near ones, at most five; without any, the nearest one if it is not a stranger."""
    near = [one for one in nearest if one[1] >= NEAR][:NEIGHBOURS]
    return near or [one for one in nearest[:1] if one[1] >= FAINT]


def _text(row: dict[str, Any]) -> str:
    return f"{row['title'] or ''}\n{row['abstract'] or ''}"


def _article(row: dict[str, Any], embedder: Embedder) -> Article:
    paper = Paper(row["arxiv_id"] or "", 1, row["title"] or row["id"], row["abstract"] or "")
    return Article(paper, embedder, article_id=row["id"])
