"""The documents that arXiv serves, in its layout: RSS channel, error channel, API feed, API error."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from email.utils import format_datetime
from xml.sax.saxutils import escape

from kgsched.research.paper import Paper

_HEAD = "<?xml version='1.0' encoding='UTF-8'?>\n"
_RSS = (
    '<rss xmlns:arxiv="http://arxiv.org/schemas/atom" xmlns:dc="http://purl.org/dc/elements/1.1/" '
    'xmlns:atom="http://www.w3.org/2005/Atom" xmlns:content="http://purl.org/rss/1.0/modules/content/" version="2.0">'
)
_ATOM = (
    '<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv="http://arxiv.org/schemas/atom" '
    'xmlns="http://www.w3.org/2005/Atom">'
)


@dataclass(frozen=True, slots=True)
class Submission:
    """A paper with the instant at which its first version was submitted."""

    paper: Paper
    submitted: datetime


def rss(spec: str, papers: Sequence[Paper], day: date, built: datetime) -> bytes:
    """The channel of `spec` (`cs.AI` or `cs.AI+cs.LG`) announced on `day`; papers already in the feed's order."""
    names = ", ".join(spec.split("+"))
    stamp = _midnight(day)
    skip = "<skipDays><day>Saturday</day><day>Sunday</day></skipDays>"
    items = "".join(_item(paper, stamp) for paper in papers)
    return _channel(
        spec, f"{names} updates on arXiv.org", f"{names} updates on the arXiv.org e-print archive.",
        built, stamp, "rss-help@arxiv.org", skip + items,
    )  # fmt: skip


def rss_error(spec: str, message: str, day: date, built: datetime) -> bytes:
    """What a bad category is answered with, at status 400."""
    title = f"Feed error for query: http://rss.arxiv.org/rss/{spec}"
    return _channel(spec, title, message, built, _midnight(day), "rss-help.arxiv.org", "")


def api_feed(query: str, found: Sequence[Submission], start: int, size: int, total: int, pdf_base: str) -> bytes:
    """One page of API results."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    digest = b64encode(hashlib.sha1(query.encode(), usedforsecurity=False).digest()).decode().rstrip("=")
    entries = "".join(_entry(one, pdf_base) for one in found)
    return (
        f"{_HEAD}{_ATOM}<id>https://arxiv.org/api/{digest}</id><title>arXiv Query: {escape(query)}</title>"
        f"<updated>{now}</updated>"
        f'<link href="https://arxiv.org/api/query?{escape(query)}" type="application/atom+xml"/>'
        f"<opensearch:itemsPerPage>{size}</opensearch:itemsPerPage>"
        f"<opensearch:totalResults>{total}</opensearch:totalResults>"
        f"<opensearch:startIndex>{start}</opensearch:startIndex>{entries}</feed>"
    ).encode()


def api_error(name: str, message: str) -> bytes:
    """What a bad API query is answered with, at status 400."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    link = f"https://arxiv.org/api/errors#{escape(name)}"
    return (
        f"{_HEAD}{_ATOM}<id>https://arxiv.org/</id><title>arXiv Search Results</title><updated>{now}</updated>"
        "<opensearch:itemsPerPage>1</opensearch:itemsPerPage><opensearch:totalResults>1</opensearch:totalResults>"
        f"<opensearch:startIndex>0</opensearch:startIndex><entry><id>{link}</id><title>Error</title>"
        f'<updated>{now}</updated><link href="{link}" rel="alternate" type="text/html"/>'
        f"<summary>{escape(message)}</summary><author><name>arXiv api core</name></author></entry></feed>"
    ).encode()


def _channel(spec: str, title: str, text: str, built: datetime, published: str, editor: str, rest: str) -> bytes:
    link = f"http://rss.arxiv.org/rss/{escape(spec)}"
    return (
        f"{_HEAD}{_RSS}<channel><title>{escape(title)}</title><link>{link}</link>"
        f"<description>{escape(text)}</description>"
        f'<atom:link href="{link}" rel="self" type="application/rss+xml"/>'
        "<docs>http://www.rssboard.org/rss-specification</docs><language>en-us</language>"
        f"<lastBuildDate>{format_datetime(built)}</lastBuildDate><managingEditor>{editor}</managingEditor>"
        f"<pubDate>{published}</pubDate>{rest}</channel></rss>"
    ).encode()


def _item(paper: Paper, stamp: str) -> str:
    name = f"{paper.arxiv_id}v{paper.version}"
    text = f"arXiv:{name} Announce Type: {paper.announce_type} \nAbstract: {paper.abstract}"
    categories = "".join(f"<category>{escape(one)}</category>" for one in paper.categories)
    rights = f"<dc:rights>{escape(paper.license)}</dc:rights>" if paper.license else ""
    return (
        f"<item><title>{escape(paper.title)}</title><link>https://arxiv.org/abs/{paper.arxiv_id}</link>"
        f'<description>{escape(text)}</description><guid isPermaLink="false">oai:arXiv.org:{name}</guid>{categories}'
        f"<pubDate>{stamp}</pubDate><arxiv:announce_type>{paper.announce_type}</arxiv:announce_type>{rights}"
        f"<dc:creator>{escape(creators(paper))}</dc:creator></item>"
    )


def creators(paper: Paper) -> str:
    """All authors in one line, affiliations in parentheses."""
    return ", ".join(f"{one.name} ({one.affiliation})" if one.affiliation else one.name for one in paper.authors)


def _entry(one: Submission, pdf_base: str) -> str:
    paper, stamp = one.paper, one.submitted.strftime("%Y-%m-%dT%H:%M:%SZ")
    name = f"{paper.arxiv_id}v{paper.version}"
    authors = "".join(f"<author><name>{escape(author.name)}</name></author>" for author in paper.authors)
    categories = "".join(
        f'<category term="{escape(term)}" scheme="http://arxiv.org/schemas/atom"/>' for term in paper.categories
    )
    return (
        f"<entry><id>http://arxiv.org/abs/{name}</id><title>{escape(paper.title)}</title><updated>{stamp}</updated>"
        f'<link href="https://arxiv.org/abs/{name}" rel="alternate" type="text/html"/>'
        f'<link href="{pdf_base}/pdf/{name}" rel="related" type="application/pdf" title="pdf"/>'
        f"<summary>{escape(paper.abstract)}</summary>{categories}<published>{stamp}</published>"
        f'<arxiv:primary_category term="{escape(paper.categories[0])}"/>{authors}</entry>'
    )


def _midnight(day: date) -> str:
    return f"{day:%a, %d %b %Y} 00:00:00 -0500"
