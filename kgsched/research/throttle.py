"""Politeness towards arXiv: one request at a time, a pause between two, and a stop when arXiv asks for one.

The limit is one request in three seconds over RSS, API and PDF together (arXiv API terms of use), so one `Throttle`
serves all of them; with a turnstile it holds for all processes of the machine, and tasks also wait for the limiter
`arxiv` of the cluster. Loopback hosts are not limited.
"""

from __future__ import annotations

import asyncio
import ipaddress
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from urllib.parse import urlsplit

from kgsched.config import Settings
from kgsched.errors import Retry
from kgsched.research.turnstile import Turnstile

_BUSY_POLL = 0.05
LIMITER = "arxiv"


class HeldOff(Retry):
    """Nothing was asked: arXiv wants to be left alone for `after` seconds."""


class Throttle:
    """Turns to ask arXiv, shared by threads and event loops of this process. `interval` is in seconds."""

    def __init__(
        self, interval: float = 3.0, clock: Callable[[], float] = time.monotonic, turnstile: Turnstile | None = None
    ) -> None:
        self._interval, self._clock, self._turnstile = interval, clock, turnstile
        self._lock = threading.Lock()
        self._busy = False
        self._next_at = self._blocked_until = float("-inf")

    @asynccontextmanager
    async def turn(self, url: str) -> AsyncIterator[None]:
        """Wait for the turn to ask `url`, and hold it. Raises HeldOff while arXiv wants to be left alone."""
        if is_loopback(url):
            yield
            return
        while delay := self.take():  # noqa: ASYNC110 - shared with threads, which cannot set an asyncio.Event
            await asyncio.sleep(delay)
        try:
            yield
        finally:
            self.give_back()

    @contextmanager
    def blocking_turn(self, url: str) -> Iterator[None]:
        """`turn` for threads."""
        if is_loopback(url):
            yield
            return
        while delay := self.take():
            time.sleep(delay)
        try:
            yield
        finally:
            self.give_back()

    def take(self) -> float:
        """0.0 when the turn was taken, else the seconds after which to ask again. Raises HeldOff in a pause."""
        with self._lock:
            now = self._clock()
            blocked = max(self._blocked_until - now, self._turnstile.blocked_for() if self._turnstile else 0.0)
            if blocked > 0:
                raise HeldOff("arXiv asked for a pause", after=blocked)
            if self._busy:
                return _BUSY_POLL
            if now < self._next_at:
                return self._next_at - now
            delay = self._turnstile.take(self._interval) if self._turnstile else 0.0
            if delay != 0.0:
                return delay or _BUSY_POLL
            self._busy, self._next_at = True, now + self._interval
            return 0.0

    def give_back(self) -> None:
        with self._lock:
            self._busy = False
            if self._turnstile is not None:
                self._turnstile.give_back()

    def hold_off(self, url: str, seconds: float) -> None:
        """Ask nothing for `seconds`: arXiv answered that it was too much."""
        if is_loopback(url):
            return
        with self._lock:
            self._blocked_until = max(self._blocked_until, self._clock() + seconds)
            if self._turnstile is not None:
                self._turnstile.hold_off(seconds)


def shared_throttle(settings: Settings) -> Throttle:
    """The throttle of a process that keeps arXiv's pace together with the others on this machine."""
    return Throttle(settings.arxiv_interval, turnstile=Turnstile(settings.cache / "arxiv.turn"))


def is_loopback(url: str) -> bool:
    """Whether the URL's host is this machine's loopback."""
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
