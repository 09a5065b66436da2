"""arXiv's query API: what was submitted in a range of days, through the `arxiv` package.

The package has no timeout, ignores Retry-After, retries what cannot succeed and takes a page of anything for an empty
result. So its session is ours: it waits for its turn, and refuses answers that are not a full page.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import arxiv
import requests
import structlog

from kgsched.config import Settings
from kgsched.core.times import show_instant, to_millis
from kgsched.errors import InvalidValue, Retry
from kgsched.research.http import RATE_PAUSE, refuse_bad_status, user_agent
from kgsched.research.paper import Author, Paper, parse_identifier, tidy
from kgsched.research.throttle import Throttle, is_loopback

_log = structlog.get_logger(__name__)
PAGE = 100
MOST = 2000
_TOTAL = re.compile(rb"<opensearch:totalResults[^>]*>\s*(\d+)")
_START = re.compile(rb"<opensearch:startIndex[^>]*>\s*(\d+)")


class _PoliteSession(requests.Session):
    def __init__(self, settings: Settings, throttle: Throttle) -> None:
        super().__init__()
        self._name, self._throttle = user_agent(settings), throttle
        self.trust_env = not is_loopback(settings.arxiv_api_url)

    def get(self, url: str | bytes, params: Any = None, **options: Any) -> requests.Response:
        headers = {"User-Agent": self._name, "Accept": "application/atom+xml"}
        with self._throttle.blocking_turn(str(url)):
            try:
                response = super().get(url, params=params, headers=headers, timeout=(10, 30))
            except requests.RequestException as error:
                raise Retry(f"{url!s}: {type(error).__name__} {error}") from error
        refuse_bad_status(self._throttle, str(url), response.status_code, response.headers)
        self._refuse_empty_page(str(url), response.content)
        return response

    def _refuse_empty_page(self, url: str, body: bytes) -> None:
        total, start = _TOTAL.search(body), _START.search(body)
        if total is None or b"</feed>" not in body:
            self._throttle.hold_off(url, RATE_PAUSE)
            raise Retry(f"{url} answered no feed but {body[:60]!r}", after=RATE_PAUSE)
        if int(total[1]) > (int(start[1]) if start else 0) and b"<entry" not in body:
            raise Retry(f"{url} answered an empty page of {int(total[1])} results", after=RATE_PAUSE)


async def submitted_between(
    settings: Settings, throttle: Throttle, categories: Sequence[str], first: date, last: date
) -> list[Paper]:
    """Papers of the categories that were submitted from `first` to `last`, oldest first, at most 2,000.

    Raises Retry when arXiv cannot answer now, Permanent when it refuses the query.
    """
    return await asyncio.to_thread(_search, settings, throttle, tuple(categories), first, last)


async def recent_papers(settings: Settings, throttle: Throttle, categories: Sequence[str], days: int) -> list[Paper]:
    """Papers submitted in the last `days` days, today included."""
    today = datetime.now(UTC).date()
    return await submitted_between(settings, throttle, categories, today - timedelta(days=days), today)


def _search(
    settings: Settings, throttle: Throttle, categories: tuple[str, ...], first: date, last: date
) -> list[Paper]:
    client = arxiv.Client(page_size=PAGE, delay_seconds=0, num_retries=0)
    client.query_url_format = f"{settings.arxiv_api_url.rstrip('/')}/api/query?{{}}"
    wanted = " OR ".join(f"cat:{category}" for category in categories)
    search = arxiv.Search(
        query=f"({wanted}) AND submittedDate:[{first:%Y%m%d}0000 TO {last:%Y%m%d}2359]",
        max_results=MOST,
        sort_by=arxiv.SortCriterion.SubmittedDate,
        sort_order=arxiv.SortOrder.Ascending,
    )
    with _PoliteSession(settings, throttle) as session:
        client._session = session
        try:
            found = [_paper(result, categories) for result in client.results(search)]
        except arxiv.ArxivError as error:
            raise Retry(str(error)) from error
    return [paper for paper in found if paper is not None]


def _paper(result: arxiv.Result, asked: tuple[str, ...]) -> Paper | None:
    try:
        arxiv_id, version = parse_identifier(result.entry_id)
    except InvalidValue as error:
        _log.warning("result_left_out", error=str(error))
        return None
    return Paper(
        arxiv_id=arxiv_id,
        version=version or 1,
        title=tidy(result.title),
        abstract=tidy(result.summary),
        authors=tuple(Author(tidy(one.name), ", ".join(one.affiliation) or None) for one in result.authors),
        categories=tuple(dict.fromkeys((result.primary_category, *result.categories))),
        announce_type="new" if result.primary_category in asked else "cross",
        published=show_instant(to_millis(result.published)),
        doi=result.doi or None,
    )
