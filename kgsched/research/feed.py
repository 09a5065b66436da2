"""Reading one arXiv RSS document.

feedparser never raises and guesses: it answers an HTML page or `Rate exceeded.` with an empty feed, and it cleans HTML
out of titles and abstracts, which eats inequalities. So its cleaning is off, and a document counts only when it is
RSS or Atom and is not arXiv's error feed.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import feedparser

from kgsched.errors import InvalidValue, Permanent, Retry
from kgsched.research.paper import Paper, parse_identifier, split_authors, tidy

_PREAMBLE = re.compile(r"^arXiv:\S+\s+Announce Type:\s*\S+\s+Abstract:\s*")
_ERROR_TITLE = "Feed error for query"


@dataclass(frozen=True, slots=True)
class FeedDocument:
    """Papers of one feed in its order; `day` is the announcement day `YYYY-MM-DD`; `cut` if the document broke off."""

    papers: tuple[Paper, ...]
    day: str | None
    cut: bool = False


def parse_feed(body: bytes, url: str) -> FeedDocument:
    """The papers of an RSS or Atom body. Raises Retry for what is no feed, Permanent for arXiv's error feed."""
    parsed: Mapping[str, Any] = feedparser.parse(io.BytesIO(body), sanitize_html=False, resolve_relative_uris=False)
    refuse_error_feed(parsed, url)
    if parsed.get("version") not in {"rss20", "atom10"}:
        raise Retry(f"{url} answered no feed but {body[:60]!r}")
    cut = bool(parsed.get("bozo"))
    entries = list(parsed["entries"])
    if cut:
        entries = entries[:-1]
        if not entries:
            raise Retry(f"{url} broke off: {parsed.get('bozo_exception')}")
    papers = (_paper(entry) for entry in entries)
    return FeedDocument(tuple(paper for paper in papers if paper), _day(parsed["feed"]), cut)


def error_of(body: bytes) -> str | None:
    """What arXiv's error feed says, or None when the body is none."""
    parsed = feedparser.parse(io.BytesIO(body), sanitize_html=False, resolve_relative_uris=False)
    if not str(parsed["feed"].get("title", "")).startswith(_ERROR_TITLE):
        return None
    return tidy(str(parsed["feed"].get("subtitle") or parsed["feed"]["title"]))


def refuse_error_feed(parsed: Mapping[str, Any], url: str) -> None:
    title = str(parsed["feed"].get("title", ""))
    if title.startswith(_ERROR_TITLE):
        reason = tidy(str(parsed["feed"].get("subtitle") or title))
        raise Permanent(f"{url}: {reason} Check KGSCHED_ARXIV_CATEGORIES")


def _paper(entry: Mapping[str, Any]) -> Paper | None:
    """The paper of one entry; None when it has no identifier or no announce type, as a half entry."""
    try:
        arxiv_id, version = parse_identifier(str(entry.get("id", "")))
    except InvalidValue:
        return None
    kind = str(entry.get("arxiv_announce_type", "")).strip()
    if not kind:
        return None
    return Paper(
        arxiv_id=arxiv_id,
        version=version or 1,
        title=tidy(str(entry.get("title", ""))),
        abstract=tidy(_PREAMBLE.sub("", str(entry.get("summary", "")))),
        authors=split_authors(", ".join(str(one.get("name", "")) for one in entry.get("authors", ()))),
        categories=tuple(dict.fromkeys(str(tag["term"]) for tag in entry.get("tags", ()) if tag.get("term"))),
        announce_type=kind,
        license=str(entry["rights"]) if entry.get("rights") else None,
        published=_instant(entry.get("published_parsed")),
        doi=str(entry["arxiv_doi"]) if entry.get("arxiv_doi") else None,
    )


def _instant(parsed: Any) -> str | None:
    return None if parsed is None else "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z".format(*parsed[:6])


def _day(feed: Mapping[str, Any]) -> str | None:
    """The announcement day: pubDate is midnight in New York, thus the same date in UTC."""
    stamp = _instant(feed.get("published_parsed"))
    return stamp[:10] if stamp else None
