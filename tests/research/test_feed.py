"""Reading RSS documents, also bad ones."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from kgsched.demo.arxiv_documents import rss, rss_error
from kgsched.errors import Permanent, Retry
from kgsched.research.feed import parse_feed
from kgsched.research.paper import Author, Paper

DAY = date(2026, 9, 15)
BUILT = datetime(2026, 9, 15, 4, 0, 1, tzinfo=UTC)
URL = "http://127.0.0.1/rss/cs.AI"


def body_of(*papers: Paper) -> bytes:
    return rss("cs.AI", papers, DAY, BUILT)


def paper(**fields: object) -> Paper:
    base: dict[str, object] = {"arxiv_id": "2609.00004", "version": 1, "title": "T", "abstract": "A."}
    return Paper(**{**base, "categories": ("cs.AI",), **fields})  # type: ignore[arg-type]


def test_a_paper_comes_out_as_it_went_in() -> None:
    sent = paper(
        version=3,
        title="Sets & $K_n$ with $a<b$",
        abstract="if $a<b$ and $n<m>0$ then R&D, see https://x.y/z?a=1&b=2 and <b>bold</b>",
        authors=(Author("Jos\\'e P\\'erez", "A, B"), Author("Li Wei Jr.")),
        categories=("cs.AI", "cs.LG"),
        announce_type="cross",
        license="http://creativecommons.org/licenses/by/4.0/",
    )
    document = parse_feed(body_of(sent), URL)
    (got,) = document.papers
    assert got == paper(
        version=3, title=sent.title, abstract=sent.abstract, authors=sent.authors, categories=sent.categories,
        announce_type="cross", license=sent.license, published="2026-09-15T05:00:00Z",
    )  # fmt: skip
    assert document.day == "2026-09-15"


def test_an_abstract_without_the_preamble_is_kept_whole() -> None:
    body = body_of(paper(abstract="No preamble."))
    assert parse_feed(body.replace(b"arXiv:2609.00004v1 Announce Type: new \nAbstract: ", b""), URL).papers[
        0
    ].abstract == ("No preamble.")


def test_an_empty_channel_is_a_feed_without_papers() -> None:
    assert parse_feed(body_of(), URL).papers == ()


def test_a_feed_that_breaks_off_keeps_its_whole_items() -> None:
    body = body_of(paper(), paper(arxiv_id="2609.00005"), paper(arxiv_id="2609.00006"))
    document = parse_feed(body[: body.index(b"oai:arXiv.org:2609.00006") + 40], URL)
    assert [one.arxiv_id for one in document.papers] == ["2609.00004", "2609.00005"]
    assert document.cut


@pytest.mark.parametrize(
    "body", [b"", b"Rate exceeded.", b"<!DOCTYPE html><html><body>busy</body></html>", body_of(paper())[:700]]
)
def test_what_is_no_feed_may_be_one_later(body: bytes) -> None:
    with pytest.raises(Retry):
        parse_feed(body, URL)


def test_the_error_feed_is_a_mistake_in_the_settings() -> None:
    with pytest.raises(Permanent, match=r"Bad subject class 'XX'.*KGSCHED_ARXIV_CATEGORIES"):
        parse_feed(rss_error("cs.XX", "Bad subject class 'XX'.", DAY, BUILT), URL)


def test_items_without_identifier_or_announce_type_are_left_out() -> None:
    body = body_of(paper(), paper(arxiv_id="2609.00005"), paper(arxiv_id="2609.00006"))
    body = body.replace(b"oai:arXiv.org:2609.00004v1", b"oai:elsewhere:1").replace(
        b"2609.00005</link>", b"2609.00005</link><!-- -->"
    )
    first = body.index(b"<arxiv:announce_type>", body.index(b"oai:arXiv.org:2609.00005"))
    end = body.index(b"</arxiv:announce_type>", first) + len(b"</arxiv:announce_type>")
    document = parse_feed(body[:first] + body[end:], URL)
    assert [one.arxiv_id for one in document.papers] == ["2609.00006"]
