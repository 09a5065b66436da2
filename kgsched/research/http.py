"""Asking arXiv over HTTP: who we are, how long we wait, and what an answer's status means."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version

import httpx

from kgsched.config import Settings
from kgsched.core.http_error import parse_retry_after
from kgsched.errors import Permanent, Retry
from kgsched.research.throttle import Throttle

TIMEOUT = httpx.Timeout(30.0, connect=10.0)
LONGEST_ANSWER = 300.0
RATE_PAUSE = 60.0
ABUSE_PAUSE = 6 * 3600.0
LONGEST_PAUSE = 24 * 3600.0
_TRANSIENT = frozenset({406, 408, 425, 429})


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer; `body` is cut when `truncated` says that it was longer than asked for."""

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    truncated: bool = False


def user_agent(settings: Settings) -> str:
    """The name that arXiv sees, with a contact."""
    try:
        number = version("kgsched")
    except PackageNotFoundError:
        number = "0"
    return f"kgsched/{number} (+{settings.arxiv_contact})"


def new_client(settings: Settings) -> httpx.AsyncClient:
    """A client with one connection, a timeout and a name; loopback goes past any proxy."""
    return httpx.AsyncClient(
        timeout=TIMEOUT,
        limits=httpx.Limits(max_connections=1),
        headers={"User-Agent": user_agent(settings)},
        mounts={"all://127.0.0.1": None, "all://localhost": None},
        follow_redirects=True,
        max_redirects=5,
    )


async def fetch(client: httpx.AsyncClient, throttle: Throttle, url: str, *, accept: str, limit: int) -> Answer:
    """One polite GET of at most `limit` bytes, whatever its status. Raises Retry when the network fails."""
    async with throttle.turn(url):
        try:
            async with asyncio.timeout(LONGEST_ANSWER):
                return await _get(client, url, accept, limit)
        except TimeoutError as error:
            raise Retry(f"{url} was not answered whole within {LONGEST_ANSWER:g} s") from error
        except httpx.TooManyRedirects as error:
            raise Permanent(f"{url} redirects in a circle") from error
        except httpx.HTTPError as error:
            raise Retry(f"{url}: {type(error).__name__} {error}".rstrip()) from error


async def _get(client: httpx.AsyncClient, url: str, accept: str, limit: int) -> Answer:
    async with client.stream("GET", url, headers={"Accept": accept}) as response:
        body = bytearray()
        async for part in response.aiter_bytes():
            body += part
            if len(body) > limit:
                break
        cut = len(body) > limit
        return Answer(str(response.url), response.status_code, response.headers, bytes(body[:limit]), cut)


def refuse_bad_status(throttle: Throttle, url: str, status: int, headers: Mapping[str, str]) -> None:
    """Return for 200; raise Retry for what may pass, Permanent for what cannot; hold off when arXiv asks for it."""
    if status == 200:
        return
    after = retry_after(headers.get("Retry-After"))
    if status == 403:
        throttle.hold_off(url, ABUSE_PAUSE)
        raise Retry(f"{url} answered 403: arXiv refuses us; nothing is asked for six hours", after=ABUSE_PAUSE)
    if status in {406, 429, 503}:
        pause = max(after or 0.0, RATE_PAUSE)
        throttle.hold_off(url, pause)
        raise Retry(f"{url} answered {status}: too many requests", after=pause)
    if status in _TRANSIENT or status >= 500:
        raise Retry(f"{url} answered {status}", after=after)
    raise Permanent(f"{url} answered {status}")


def retry_after(value: str | None) -> float | None:
    """Seconds of a Retry-After header, from 0 to a day; None when there is none that can be read."""
    millis = None if value is None else parse_retry_after(value, datetime.now(UTC))
    return None if millis is None else min(millis / 1000, LONGEST_PAUSE)
