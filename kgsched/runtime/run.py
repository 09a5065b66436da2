"""The supervision of one run: its time bounds, why it was stopped, and what that makes of its outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import structlog

from kgsched.core.lanes import DEFAULT_LANE, LANES
from kgsched.core.outcome import Cancelled, Completed, Failed, Outcome, Released
from kgsched.core.task import Claim, ErrorInfo
from kgsched.core.times import show_duration
from kgsched.registry import TaskType
from kgsched.runtime.body import Body
from kgsched.runtime.context import TaskContext

log = structlog.get_logger(__name__)


class StopReason(StrEnum):
    """Why a body was told to stop."""

    TIMEOUT = "timeout"
    DEADLINE = "deadline"
    CANCEL = "cancel"
    DRAIN = "drain"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Bound:
    """The earlier of timeout and deadline of one run."""

    ms: int
    reason: StopReason


def bound_of(task_type: TaskType, lane: str, default_deadline_ms: int | None) -> Bound:
    """What bounds a run: the type's timeout, else its lane's; the type's deadline, else the process's."""
    timeout = task_type.timeout_ms or LANES.get(lane, LANES[DEFAULT_LANE]).timeout_ms
    deadline = task_type.deadline_ms or default_deadline_ms
    if deadline is not None and deadline <= timeout:
        return Bound(deadline, StopReason.DEADLINE)
    return Bound(timeout, StopReason.TIMEOUT)


def settle(outcome: Outcome | None, reason: StopReason | None, bound: Bound, why: str) -> Outcome | None:
    """The outcome to report for a body that was stopped for `reason`; None outcome: it did not end in time.

    A time bound stands whatever the body made of it. Otherwise a body that returned has completed. Of a lost claim
    nothing but a completion is reported: None.
    """
    match reason:
        case None:
            return outcome
        case StopReason.TIMEOUT | StopReason.DEADLINE:
            text = f"stopped after {show_duration(bound.ms)}, its {reason.value}"
            return Failed(ErrorInfo(reason.value, text), transient=reason is StopReason.TIMEOUT)
        case _ if isinstance(outcome, Completed):
            return outcome
        case StopReason.CANCEL:
            return Cancelled(why or "cancel requested")
        case StopReason.DRAIN:
            return Released("drain")
        case StopReason.LOST:
            return None


class Run:
    """One claimed task while its body runs. Lives on the control loop."""

    def __init__(
        self, claim: Claim, context: TaskContext, bound: Bound, grace: float, start: Callable[[], Body]
    ) -> None:
        self.claim = claim
        self.context = context
        self.reason: StopReason | None = None
        self._bound = bound
        self._grace = grace
        self._start = start
        self.why = ""
        self.settled = asyncio.Event()
        self._told = asyncio.Event()
        self._body: Body | None = None

    def stop(self, reason: StopReason, why: str = "") -> None:
        """Tell the body to stop. The first reason stands, but a lost claim overrides every other."""
        if self.reason is None or reason is StopReason.LOST:
            self.reason, self.why = reason, why
        self.context.cancelled.give(self.reason.value)
        self._told.set()

    async def outcome(self) -> Outcome | None:
        """Run the body to its end, or to the end of the grace after it was told to stop."""
        body = self._body = self._start()
        timer = asyncio.get_running_loop().call_later(self._bound.ms / 1000, self.stop, self._bound.reason)
        told = asyncio.ensure_future(self._told.wait())
        try:
            either: set[asyncio.Future[Any]] = {body.ended, told}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        finally:
            timer.cancel()
            told.cancel()
        if not body.ended.done():
            await self._stop_body(body)
            return settle(_result(body), self.reason, self._bound, self.why)
        late = self.reason if self.reason is StopReason.LOST else None
        return settle(_result(body), late, self._bound, self.why)

    @property
    def over(self) -> bool:
        """Whether the body has really ended."""
        return self._body is None or self._body.ended.done()

    def late(self) -> Outcome | None:
        """What to report of a lost claim whose body has ended at last."""
        return None if self._body is None else settle(_result(self._body), self.reason, self._bound, self.why)

    async def ended(self) -> None:
        """Return when the body has really ended; a body that ignores its stop still fills its slot."""
        if self._body is not None and not self.over:
            log.warning("body_ignores_stop", task=self.claim.id, type=self.claim.type, reason=self.reason)
            await asyncio.wait({self._body.ended})
            log.info("body_ended_late", task=self.claim.id, type=self.claim.type)

    def hurry(self, grace: float) -> None:
        """Give the body back at once: `grace` seconds to stop, whatever it was promised before."""
        self._grace = min(self._grace, grace)
        self.stop(StopReason.DRAIN)

    async def _stop_body(self, body: Body) -> None:
        body.stop()
        await asyncio.wait({body.ended}, timeout=self._grace)
        if not body.ended.done():
            body.abandon()
            await asyncio.wait({body.ended}, timeout=min(1.0, self._grace))


def _result(body: Body) -> Outcome | None:
    return body.ended.result() if body.ended.done() else None
