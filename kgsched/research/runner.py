"""Ingest: from a graded paper to an article in the graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import structlog

from kgsched.config import Settings
from kgsched.core.task import Enqueued
from kgsched.errors import InvalidValue
from kgsched.ports import Transaction
from kgsched.research.article import Article
from kgsched.research.context import ResearchContext
from kgsched.research.embedding import Embedder, HashingEmbedder
from kgsched.research.extract import FullText, extract_text
from kgsched.research.grading import Grade
from kgsched.research.http import new_client
from kgsched.research.library import write_article
from kgsched.research.manifest import DeltaManifest
from kgsched.research.paper import Paper
from kgsched.research.pdf import NoText, download_pdf
from kgsched.research.throttle import LIMITER, Throttle, is_loopback

_log = structlog.get_logger(__name__)

FETCH_TYPE = "research_paper_fetch"
FINISH_S = 120.0
MAY_COME_LATER = frozenset({"not_pdf", "timeout"})


def fetch_payload(paper: Paper, grade: Grade) -> dict[str, Any]:
    """Payload of the task that fetches a paper."""
    marks = {"score": grade.score, "verdict": grade.verdict.value, "novelty": grade.novelty}
    return {"paper": paper.payload(), "grade": marks}


async def enqueue_fetch(
    ctx: ResearchContext, tx: Transaction, payload: Mapping[str, Any], bucket: int, weight: int
) -> Enqueued:
    """Enqueue the fetch of a paper in the transaction; one live fetch a paper."""
    paper = Paper.from_payload(payload["paper"])
    return await ctx.enqueue(
        FETCH_TYPE,
        tx=tx,
        payload=dict(payload),
        priority=bucket,
        weight=weight,
        source=paper.url,
        key=paper.arxiv_id,
    )


class ResearchPipelineRunner:
    """Writes papers into the graph, whole or as abstracts."""

    def __init__(self, settings: Settings, throttle: Throttle, embedder: Embedder | None = None) -> None:
        self._settings, self._throttle = settings, throttle
        self._embedder = embedder or HashingEmbedder()

    async def ingest_paper_full(self, ctx: ResearchContext) -> dict[str, Any]:
        """Body of `research_paper_fetch`: fetch and read the PDF, then write article and completion together.

        Without a PDF the abstract is written, with the reason. Raises Retry when arXiv cannot serve it now.
        """
        paper, marks = _read_payload(ctx.payload)
        if not is_loopback(self._settings.arxiv_pdf_url):
            await ctx.limit(LIMITER)
        text = await self._full_text(paper)
        article = self._article(paper, marks, text)
        result = {
            "article": article.id,
            "full_text": article.full,
            "pages": article.pages,
            "chunks": len(article.chunks),
            "concepts": len(article.terms) + 1,
            "reason": article.no_text_reason,
        }
        manifest = DeltaManifest(ctx.graph)
        async with ctx.finishing(result=result, timeout=FINISH_S) as tx:
            await write_article(tx, article, ctx.uid)
            if article.no_text_reason not in MAY_COME_LATER:
                await manifest.close_fetch(tx, paper.arxiv_id, article.no_text_reason)
        _log.info("paper_ingested", arxiv_id=paper.arxiv_id, task=ctx.uid, full_text=article.full)
        return result

    async def ingest_abstract(self, ctx: ResearchContext, tx: Transaction, paper: Paper, grade: Grade) -> str:
        """Write the abstract of a paper in the caller's transaction; the article's id."""
        marks = fetch_payload(paper, grade)["grade"]
        reason = "demoted" if grade.demoted else "marginal"
        article = self._article(paper, marks, NoText(reason, ""))
        await write_article(tx, article, ctx.uid)
        return article.id

    async def _full_text(self, paper: Paper) -> FullText | NoText:
        async with new_client(self._settings) as client:
            pdf = await download_pdf(client, self._settings, self._throttle, paper)
        text = pdf if isinstance(pdf, NoText) else await extract_text(pdf, self._settings.pdf_timeout)
        if isinstance(text, NoText):
            _log.warning("no_full_text", arxiv_id=paper.arxiv_id, reason=text.reason, detail=text.detail)
        return text

    def _article(self, paper: Paper, marks: Mapping[str, Any], text: FullText | NoText) -> Article:
        found, missing = (text, None) if isinstance(text, FullText) else (None, text)
        return Article(
            paper,
            self._embedder,
            text=found.text if found else None,
            no_text_reason=missing.reason if missing else None,
            pages=found.pages if found else None,
            score=marks.get("score"),
            verdict=marks.get("verdict"),
            novelty=marks.get("novelty"),
        )


def _read_payload(payload: Any) -> tuple[Paper, Mapping[str, Any]]:
    if not isinstance(payload, Mapping) or not isinstance(payload.get("paper"), Mapping):
        raise InvalidValue(f"payload of {FETCH_TYPE} needs 'paper' with arxiv_id, title and abstract")
    marks = payload.get("grade")
    return Paper.from_payload(payload["paper"]), marks if isinstance(marks, Mapping) else {}
