"""The sign that a run is to stop, for handlers on an event loop and in threads alike."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Generator

from kgsched.runtime.side_loop import SideLoop


class CancelSign:
    """True once the run is to stop; `reason` says why. `await` it on the event loop, `wait` for it in a thread."""

    def __init__(self, bodies: SideLoop) -> None:
        self._bodies = bodies
        self._event = threading.Event()
        self._bell = asyncio.Event()
        self.reason: str | None = None

    def __bool__(self) -> bool:
        return self._event.is_set()

    def __await__(self) -> Generator[object, None, bool]:
        return self._bell.wait().__await__()

    def wait(self, timeout: float | None = None) -> bool:
        """Block this thread until the sign is given; False when `timeout` seconds passed before."""
        return self._event.wait(timeout)

    def give(self, reason: str) -> None:
        if not self._event.is_set():
            self.reason = reason
            self._event.set()
            self._bodies.call(self._bell.set)
