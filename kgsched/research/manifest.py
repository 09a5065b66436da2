"""The DeltaManifest: every paper that was ever graded, rejects too, and the days that were read.

It lives in the graph, keyed by the arXiv identifier without its version. A record and what follows from it (a queued
fetch, an ingested abstract) are one transaction, and the first record of a paper stands, whoever makes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import uuid4

from kgsched.core.limits import to_json
from kgsched.ports import Graph, Transaction
from kgsched.research.grading import Grade
from kgsched.research.paper import Paper

_PAGE = 500


@dataclass(frozen=True, slots=True)
class Owed:
    """A relevant paper whose full text is owed; `fetch` is the payload of its fetch."""

    arxiv_id: str
    fetch: str
    prio_bucket: int
    weight: int
    refetches: int


@dataclass(frozen=True, slots=True)
class FeedDays:
    """Days of one category that were read; `first` is the first one ever, None when there is none."""

    category: str
    today: date
    first: date | None
    read: frozenset[date]


class DeltaManifest:
    """The seen-set of one graph."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def seen(self, arxiv_ids: Iterable[str]) -> set[str]:
        """Which of these papers were graded before."""
        asked = sorted(set(arxiv_ids))
        known: set[str] = set()
        for start in range(0, len(asked), _PAGE):
            rows = await self._graph.named("research/seen", arxiv_ids=asked[start : start + _PAGE])
            known.update(row["arxiv_id"] for row in rows)
        return known

    async def record(self, graded: Sequence[tuple[Paper, Grade]]) -> int:
        """Record papers that nothing follows from; returns how many nobody else had recorded."""
        count = 0
        for start in range(0, len(graded), _PAGE):
            rows = [_row(paper, grade, None) for paper, grade in graded[start : start + _PAGE]]
            answers = await self._graph.named("research/record_seen", rows=rows, mark=str(uuid4()))
            count += sum(answer["first"] for answer in answers)
        return count

    async def record_in(
        self, tx: Transaction, paper: Paper, grade: Grade, fetch: Mapping[str, Any] | None = None
    ) -> bool:
        """Record one paper in a transaction; False when somebody else recorded it: then do nothing about it.

        `fetch` is the payload of its fetch, kept until the full text is there.
        """
        row = _row(paper, grade, None if fetch is None else to_json("payload of a fetch", fetch))
        answers = await tx.named("research/record_seen", rows=[row], mark=str(uuid4()))
        return bool(answers[0]["first"])

    async def close_fetch(self, tx: Transaction, arxiv_id: str, reason: str | None) -> None:
        """Nothing is owed any more: the full text is there, or `reason` says why it never will be."""
        await tx.named("research/close_fetch", arxiv_id=arxiv_id, reason=reason)

    async def unfetched(self, space: str, most: int, n: int) -> list[Owed]:
        """Relevant papers without full text, not fetched by a live task, refetched less than `most` times."""
        rows = await self._graph.named("research/unfetched", space=space, most=most, n=n)
        return [Owed(**row) for row in rows]

    async def record_refetch(self, tx: Transaction, owed: Owed) -> bool:
        """Count a refetch; False when somebody else did meanwhile."""
        rows = await tx.named("research/record_refetch", arxiv_id=owed.arxiv_id, refetches=owed.refetches)
        return bool(rows[0]["n"])

    async def record_feed_days(self, days: Sequence[tuple[str, str, int]], via: str = "rss") -> None:
        """Record (category, day, items) as read."""
        if days:
            rows = [{"category": category, "day": day, "items": items, "via": via} for category, day, items in days]
            await self._graph.named("research/record_feed_days", rows=rows)

    async def feed_days(self, categories: Sequence[str], look_back: int) -> list[FeedDays]:
        """Per category what was read of the last `look_back` days before the database's today."""
        rows = await self._graph.named("research/feed_days", categories=list(categories), look_back=look_back)
        return [
            FeedDays(
                row["category"],
                date.fromisoformat(row["today"]),
                date.fromisoformat(row["first_day"]) if row["first_day"] else None,
                frozenset(map(date.fromisoformat, row["days"])),
            )
            for row in rows
        ]


def _row(paper: Paper, grade: Grade, fetch: str | None) -> dict[str, Any]:
    return {
        "arxiv_id": paper.arxiv_id,
        "version": paper.version,
        "title": paper.title,
        "verdict": grade.verdict.value,
        "score": grade.score,
        "novelty": grade.novelty,
        "demoted": grade.demoted,
        "domains": list(grade.domains),
        "terms": list(grade.terms),
        "bucket": grade.bucket,
        "weight": grade.weight,
        "fetch": fetch,
    }
