"""What the demonstration tells: lines for a person, from the results of its ticks and reads of the graph. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]


def describe_day(tick: Row, fetched: Sequence[str], graded: Sequence[Row]) -> Iterator[str]:
    """What one tick read, skipped, fetched (in which order, and why), demoted, kept as abstract and rejected."""
    rows = {str(row["arxiv_id"]): row for row in graded}
    yield (
        f"  read {tick['feed_items']} papers, skipped {tick['seen_skipped']} seen before, graded {tick['graded']}: "
        f"{tick['queued_full']} to fetch, {tick['ingested_marginal']} kept as abstracts, {tick['rejected']} rejected"
    )
    if fetched:
        yield "  fetched, in this order:"
    for place, arxiv_id in enumerate(fetched, start=1):
        yield f"  {place:>3}. {_fetched(rows[arxiv_id])}"
    day = [row for row in graded if row["demoted"]] if tick["demoted"] else []
    for row in day:
        yield (
            f"  demoted: {row['title']} (score {row['score']:.1f}, but novelty {row['novelty']:.2f}: "
            "the graph has something like it); kept as an abstract"
        )


def describe_library(graded: Sequence[Row], counts: Mapping[str, int]) -> Iterator[str]:
    """What is in the graph at the end."""
    whole = [row for row in graded if row["has_full_text"]]
    abstracts = [row for row in graded if row["has_full_text"] is False]
    rejected = [row for row in graded if row["verdict"] == "rejected"]
    yield (
        f"in the graph: {counts['articles']} articles ({len(whole)} with their full text in "
        f"{sum(row['chunks'] for row in whole)} chunks, {len(abstracts)} as abstracts), {counts['concepts']} concepts, "
        f"{counts['authors']} authors, {counts['domains']} domains; of {len(rejected)} rejected papers only the verdict"
    )
    for row in whole[:3]:
        size = f"{row['pages']} pages, {row['chunks']} chunks, {row['concepts']} concepts"
        yield f"  article:scholarx:arxiv-{row['arxiv_id']}  {row['title']} ({size})"


def _fetched(row: Row) -> str:
    why = ", ".join(row["terms"][:4])
    bucket = "critical" if row["prio_bucket"] == 0 else "high"
    novelty = "unknown" if row["novelty"] is None else f"{row['novelty']:.2f}"
    return f"{row['score']:>4.1f}  {row['title']}  [{bucket}; {why}; novelty {novelty}]"
