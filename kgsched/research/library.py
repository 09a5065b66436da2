"""The feed's part of the graph: articles and what they share, and reads on them. One method a statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kgsched.ports import Graph, Transaction
from kgsched.research.article import Article

CHUNK_BATCH = 500


class Library:
    """Reads and writes of articles. Writes of a whole article go into a transaction of the caller's."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def nearest_concept(self, embedding: Sequence[float], model: str) -> tuple[str, float] | None:
        """Name and cosine of the nearest concept of that model, None when there is none."""
        rows = await self._graph.named("research/nearest_concept", embedding=list(embedding), model=model)
        return (str(rows[0]["name"]), float(rows[0]["cosine"])) if rows else None

    async def nearest_articles(
        self, vectors: Mapping[str, Sequence[float]], model: str, k: int
    ) -> dict[str, list[tuple[str, float]]]:
        """Per article id the nearest others and their cosines, nearest first."""
        rows = [{"id": one, "embedding": list(vector)} for one, vector in vectors.items()]
        found: dict[str, list[tuple[str, float]]] = {one: [] for one in vectors}
        for row in await self._graph.named("research/nearest_articles", rows=rows, model=model, k=k):
            found[row["id"]].append((row["other"], row["cosine"]))
        return found

    async def enrichable(self, after: str, n: int, model: str) -> tuple[str | None, list[dict[str, Any]]]:
        """The last id of the page after `after` (None at the end), and what lacks something on it."""
        row = (await self._graph.named("research/enrichable", after=after, n=n, model=model))[0]
        return row["last"], row["lacking"]

    async def embed_articles(self, vectors: Mapping[str, Sequence[float]], model: str) -> None:
        rows = [{"id": one, "embedding": list(vector)} for one, vector in vectors.items()]
        await self._graph.named("research/embed_articles", rows=rows, model=model)

    async def relate(self, links: Sequence[tuple[str, str, float]], alone: Sequence[str]) -> int:
        """Link pairs (lesser id, greater id, cosine); mark those without neighbours. Returns the number of links."""
        rows = [{"low": low, "high": high, "cosine": cosine} for low, high, cosine in links]
        return int((await self._graph.named("research/relate", rows=rows, alone=list(alone)))[0]["n"])


async def write_article(tx: Transaction, article: Article, produced_by: str | None) -> bool:
    """Write an article with all it is linked to, and the link from its task; whether it now has its full text."""
    await tx.named("research/merge_names", **article.names())
    row = (await tx.named("research/write_article", **article.links()))[0]
    if article.full or not row["has_full_text"]:
        await _write_chunks(tx, article)
    if produced_by is not None:
        await tx.named("research/link_produced", task=produced_by, article=article.id)
    return bool(row["has_full_text"])


async def _write_chunks(tx: Transaction, article: Article) -> None:
    rows = article.chunk_rows()
    for start in range(0, max(len(rows), 1), CHUNK_BATCH):
        batch = rows[start : start + CHUNK_BATCH]
        await tx.named("research/write_chunks", article=article.id, chunks=batch, total=len(rows))


async def add_concepts(tx: Transaction, articles: Sequence[Article]) -> None:
    """Give articles that exist their concepts."""
    for article in articles:
        await tx.named("research/merge_names", **(article.names() | {"sources": [], "authors": []}))
    rows = [{"id": one.id, "mentions": one.mention_rows(), "contribution": one.contribution_id} for one in articles]
    await tx.named("research/add_concepts", rows=rows)
