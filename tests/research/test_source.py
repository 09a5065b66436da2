"""Recent papers over real HTTP: outcomes per category, politeness, earlier days from the API."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from kgsched.config import Settings, load_settings
from kgsched.demo.arxiv_server import ArxivServer, Reply
from kgsched.errors import Permanent, Retry
from kgsched.research.api import submitted_between
from kgsched.research.paper import Paper
from kgsched.research.source import get_recent_papers, union
from kgsched.research.throttle import Throttle

TEXT = {"Content-Type": "text/plain"}


async def test_both_categories_are_read_and_each_paper_comes_once(arxiv: ArxivServer, settings: Settings) -> None:
    recent = await get_recent_papers(settings=settings)
    assert [(one.category, one.status, one.items) for one in recent.outcomes] == [
        ("cs.AI", "ok", 12),
        ("cs.MA", "ok", 5),
    ]
    assert len({paper.arxiv_id for paper in recent.papers}) == len(recent.papers) == 14
    assert all(paper.announce_type == "new" for paper in recent.papers)
    assert all(one.user_agent.startswith("kgsched/") for one in arxiv.log)


async def test_replacements_are_left_out(arxiv: ArxivServer, settings: Settings) -> None:
    arxiv.day = 2
    recent = await get_recent_papers(settings=settings)
    assert "2604.90099" not in {paper.arxiv_id for paper in recent.papers}
    assert "2611.90022" in {paper.arxiv_id for paper in recent.papers}


async def test_cross_listed_papers_can_be_left_out(settings: Settings) -> None:
    recent = await get_recent_papers(settings=settings, announce_types=("new",))
    assert [one.items for one in recent.outcomes] == [11, 3]


@pytest.mark.parametrize(
    ("reply", "kind", "after"),
    [
        (Reply(429, b"Rate exceeded.", {**TEXT, "Retry-After": "120"}), Retry, 120.0),
        (Reply(429, b"Rate exceeded.", TEXT), Retry, 60.0),
        (Reply(200, b"Rate exceeded.", TEXT), Retry, 60.0),
        (Reply(503, b"busy", {"Retry-After": "9999999999"}), Retry, 86400.0),
        (Reply(503, b"busy", {"Retry-After": "Mon, 01 Jan 2024 00:00:00 GMT"}), Retry, 60.0),
        (Reply(406, b""), Retry, 60.0),
        (Reply(403, b"blocked"), Retry, 21600.0),
        (Reply(500, b"broken"), Retry, None),
        (Reply(200, b"<html>hello</html>"), Retry, None),
        (Reply(200, b"x" * 4000, drop=True), Retry, None),
        (Reply(404, b"gone"), Permanent, None),
    ],
)
async def test_one_bad_answer_fails_its_category_only(
    arxiv: ArxivServer, settings: Settings, reply: Reply, kind: type[Exception], after: float | None
) -> None:
    arxiv.script("/rss/cs.AI", reply)
    recent = await get_recent_papers(settings=settings)
    bad, good = recent.outcomes
    assert (bad.status, good.status) == ("failed", "ok")
    assert isinstance(bad.error, kind)
    assert getattr(bad.error, "after", None) == after
    assert len(recent.papers) == 5


async def test_an_unknown_category_is_a_permanent_failure(settings: Settings) -> None:
    asked = settings.model_copy(update={"arxiv_categories": "cs.XX,cs.MA"})
    bad, good = (await get_recent_papers(settings=asked)).outcomes
    assert isinstance(bad.error, Permanent)
    assert "Bad subject class 'XX'" in bad.reason
    assert good.status == "ok"


async def test_a_quiet_category_is_empty_not_failed(settings: Settings) -> None:
    asked = settings.model_copy(update={"arxiv_categories": "cs.LG"})
    (outcome,) = (await get_recent_papers(settings=asked)).outcomes
    assert (outcome.status, outcome.error) == ("empty", None)


async def test_nobody_listening_is_transient() -> None:
    with ArxivServer() as gone:
        asked = load_settings(**gone.settings())
    recent = await get_recent_papers(days=3, settings=asked)
    assert [type(one.error) for one in recent.outcomes] == [Retry, Retry, Retry]


async def test_earlier_days_come_from_the_api(arxiv: ArxivServer, settings: Settings) -> None:
    arxiv.script("/rss/", Reply(500, b""), Reply(500, b""))
    recent = await get_recent_papers(days=3, settings=settings)
    assert recent.outcomes[-1].category == "api"
    assert len(recent.papers) == 14
    (asked,) = arxiv.asked("/api/query")
    assert "submittedDate" in asked.path
    assert asked.user_agent.startswith("kgsched/")


@pytest.mark.parametrize(
    "reply",
    [
        Reply(429, b"Rate exceeded.", TEXT),
        Reply(200, b"Rate exceeded.", TEXT),
        Reply(200, b""),
        Reply(
            200,
            b'<feed xmlns="http://www.w3.org/2005/Atom" xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">'
            b"<opensearch:totalResults>5</opensearch:totalResults><opensearch:startIndex>0</opensearch:startIndex></feed>",
        ),
    ],
)
async def test_an_api_answer_that_is_no_page_is_never_an_empty_result(
    arxiv: ArxivServer, settings: Settings, throttle: Throttle, reply: Reply
) -> None:
    arxiv.script("/api/query", reply)
    first, last = arxiv.first_day - timedelta(days=2), arxiv.first_day
    with pytest.raises(Retry):
        await submitted_between(settings, throttle, settings.categories, first, last)
    assert len(await submitted_between(settings, throttle, settings.categories, first, last)) == 14


async def test_a_range_without_submissions_is_empty(settings: Settings, throttle: Throttle) -> None:
    day = date(2020, 1, 1)
    assert await submitted_between(settings, throttle, settings.categories, day, day) == []


def test_versions_and_categories_of_a_paper_are_united() -> None:
    old = Paper("2609.00004", 1, "T", "old", categories=("cs.LG",), announce_type="cross")
    new = Paper("2609.00004", 2, "T", "new", categories=("cs.AI", "cs.LG"), announce_type="new")
    (one,) = union([old, new, old])
    assert (one.version, one.abstract, one.announce_type, one.categories) == (2, "new", "new", ("cs.LG", "cs.AI"))
