"""Screening: skip what was seen, grade the rest, and act on each verdict, the best paper first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import structlog

from kgsched.errors import Conflict, InvalidValue, StorageConnectionError, StoreError
from kgsched.ports import Transaction
from kgsched.research.context import ResearchContext
from kgsched.research.grading import Grade, Verdict, score_paper
from kgsched.research.manifest import DeltaManifest
from kgsched.research.novelty import ConceptMatcher
from kgsched.research.paper import Paper
from kgsched.research.runner import ResearchPipelineRunner, enqueue_fetch, fetch_payload
from kgsched.research.transactions import in_transaction

_log = structlog.get_logger(__name__)
SHOWN = 10


@dataclass(slots=True)
class Screening:
    """What one screening did with its papers."""

    seen: set[str] = field(default_factory=set)
    queued: list[tuple[Paper, Grade]] = field(default_factory=list)
    ingested: list[tuple[Paper, Grade]] = field(default_factory=list)
    rejected: list[tuple[Paper, Grade]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def counts(self) -> dict[str, Any]:
        """The part of a tick's result that tells about papers."""
        return {
            "seen_skipped": len(self.seen),
            "graded": len(self.queued) + len(self.ingested) + len(self.rejected),
            "queued_full": len(self.queued),
            "ingested_marginal": len(self.ingested),
            "demoted": sum(grade.demoted for _, grade in self.ingested),
            "rejected": len(self.rejected),
            "queued": [
                {"id": paper.arxiv_id, "score": grade.score, "bucket": grade.bucket, "title": paper.title}
                for paper, grade in self.queued[:SHOWN]
            ],
            "errors": self.errors[:SHOWN],
        }


class Screener:
    """Grades papers and acts on the grades, in the context of one task."""

    def __init__(self, ctx: ResearchContext, runner: ResearchPipelineRunner, matcher: ConceptMatcher) -> None:
        self._ctx, self._runner, self._matcher = ctx, runner, matcher
        self._manifest = DeltaManifest(ctx.graph)

    async def screen(self, papers: Sequence[Paper], limit: int | None = None) -> Screening:
        """Screen papers; `limit` bounds how many unseen ones are graded, those with the best keywords first.

        One paper that the database refuses never stops the others: it is listed in `errors` and stays unseen.
        """
        done = Screening(seen=await self._manifest.seen(paper.arxiv_id for paper in papers))
        unseen = [paper for paper in papers if paper.arxiv_id not in done.seen]
        unseen.sort(key=lambda paper: (-score_paper(paper).score, paper.arxiv_id))
        for paper in unseen[:limit]:
            grade = await self._grade(paper)
            try:
                await self._act(done, paper, grade)
            except StorageConnectionError:
                raise
            except (StoreError, Conflict, InvalidValue) as error:
                _log.warning("paper_not_screened", arxiv_id=paper.arxiv_id, error=str(error))
                done.errors.append(f"{paper.arxiv_id}: {error}")
        await self._manifest.record(done.rejected)
        return done

    async def _grade(self, paper: Paper) -> Grade:
        """Novelty can only demote, so it is not asked for what keywords reject already."""
        by_keywords = score_paper(paper)
        if by_keywords.verdict is Verdict.REJECTED:
            return by_keywords
        return score_paper(paper, await self._matcher.novelty(paper.text))

    async def _act(self, done: Screening, paper: Paper, grade: Grade) -> None:
        match grade.verdict:
            case Verdict.REJECTED:
                done.rejected.append((paper, grade))
            case Verdict.MARGINAL:
                first = await in_transaction(self._ctx.graph, partial(self._ingest, paper, grade))
                (done.ingested.append((paper, grade)) if first else done.seen.add(paper.arxiv_id))
            case Verdict.RELEVANT:
                first = await self._queue(paper, grade)
                (done.queued.append((paper, grade)) if first else done.seen.add(paper.arxiv_id))

    async def _ingest(self, paper: Paper, grade: Grade, tx: Transaction) -> bool:
        if not await self._manifest.record_in(tx, paper, grade):
            return False
        await self._runner.ingest_abstract(self._ctx, tx, paper, grade)
        return True

    async def _queue(self, paper: Paper, grade: Grade) -> bool:
        """Record and enqueue together. When another live task holds the paper's key, that one stands for the fetch."""
        try:
            return await in_transaction(self._ctx.graph, partial(self._record_and_enqueue, paper, grade, True))
        except Conflict as error:
            _log.info("fetch_is_queued_already", arxiv_id=paper.arxiv_id, reason=str(error))
            return await in_transaction(self._ctx.graph, partial(self._record_and_enqueue, paper, grade, False))

    async def _record_and_enqueue(self, paper: Paper, grade: Grade, enqueue: bool, tx: Transaction) -> bool:
        payload = fetch_payload(paper, grade)
        if not await self._manifest.record_in(tx, paper, grade, payload):
            return False
        if enqueue:
            await enqueue_fetch(self._ctx, tx, payload, grade.bucket, grade.weight)
        return True
