"""The turn to ask arXiv, shared by all processes of this machine: a small file that is locked while one asks.

It remembers when the last request began and until when arXiv wants to be left alone, also over a restart.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import structlog

_log = structlog.get_logger(__name__)
_FARTHEST = 24 * 3600.0


class Turnstile:
    """One file. Where it cannot be used there is a log line, and this process keeps the pace for itself alone."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path, self._clock = path, clock
        self._descriptor: int | None = None
        self._usable = True

    def take(self, interval: float) -> float | None:
        """0.0 when the turn was taken, seconds to wait before it may be asked for again, None while another asks."""
        descriptor = self._open()
        if descriptor is None:
            return 0.0
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        now = self._clock()
        begun, _ = _read(descriptor)
        if 0 <= now - begun < interval:
            os.close(descriptor)
            return interval - (now - begun)
        _write(descriptor, now, self._until(descriptor, now))
        self._descriptor = descriptor
        return 0.0

    def give_back(self) -> None:
        """Let others ask."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)

    def blocked_for(self) -> float:
        """Seconds for which arXiv wants to be left alone; 0.0 when it may be asked."""
        descriptor = self._open()
        if descriptor is None:
            return 0.0
        try:
            now = self._clock()
            return max(0.0, self._until(descriptor, now) - now)
        finally:
            os.close(descriptor)

    def hold_off(self, seconds: float) -> None:
        """Nobody on this machine asks for `seconds`."""
        descriptor = self._open()
        if descriptor is not None:
            try:
                begun, until = _read(descriptor)
                _write(descriptor, begun, max(until, self._clock() + seconds))
            finally:
                os.close(descriptor)

    def _until(self, descriptor: int, now: float) -> float:
        """A pause that ends too far ahead was written by a clock that was wrong."""
        _, until = _read(descriptor)
        return until if until - now <= _FARTHEST else 0.0

    def _open(self) -> int | None:
        if not self._usable:
            return None
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            return os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            self._usable = False
            _log.warning("arxiv_pace_not_shared", path=str(self._path), error=str(error))
            return None


def _read(descriptor: int) -> tuple[float, float]:
    """When the last request began, and until when nothing is asked; zeros for a file that says nothing."""
    with suppress(ValueError, KeyError, TypeError):
        values = json.loads(os.pread(descriptor, 200, 0))
        return float(values["begun"]), float(values["until"])
    return 0.0, 0.0


def _write(descriptor: int, begun: float, until: float) -> None:
    text = json.dumps({"begun": begun, "until": until}).encode()
    os.pwrite(descriptor, text.ljust(120), 0)
