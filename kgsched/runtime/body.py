"""One run of a handler, however it is executed."""

from __future__ import annotations

import asyncio
from typing import Protocol

import structlog

from kgsched.core.outcome import Outcome

log = structlog.get_logger(__name__)


class Body(Protocol):
    """A handler at work. Created, stopped and abandoned on the control loop, where `ended` gets the outcome."""

    ended: asyncio.Future[Outcome]

    def stop(self) -> None:
        """Ask the body to end, as its kind allows."""

    def abandon(self) -> None:
        """It did not end in time: kill it where that is possible."""


class End:
    """Carries the outcome of a body from its own thread to the control loop."""

    def __init__(self) -> None:
        self._control = asyncio.get_running_loop()
        self.future: asyncio.Future[Outcome] = self._control.create_future()

    def tell(self, outcome: Outcome) -> None:
        """From any thread; the first outcome stands."""
        try:
            self._control.call_soon_threadsafe(self._set, outcome)
        except RuntimeError:
            log.warning("body_outlived_its_worker", outcome=type(outcome).__name__)

    def _set(self, outcome: Outcome) -> None:
        if not self.future.done():
            self.future.set_result(outcome)
