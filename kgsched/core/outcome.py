"""From the outcome of a run to the one guarded write that records it."""

from __future__ import annotations

from dataclasses import dataclass

from kgsched.core.backoff import Backoff
from kgsched.core.task import Ack, AckOutcome, Claim, ErrorInfo

MAX_RELEASES = 20
MAX_SNOOZES = 100
MAX_RETRY_AFTER_MS = 30 * 24 * 3_600_000


@dataclass(frozen=True, slots=True)
class Completed:
    """The body returned; `result` is JSON text or None."""

    result: str | None = None


@dataclass(frozen=True, slots=True)
class Failed:
    """The body raised. `after_ms` is what the handler or a server asked for."""

    error: ErrorInfo
    transient: bool = True
    after_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Snoozed:
    """The body asked to run later."""

    delay_ms: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Released:
    """The worker gives the task back unfinished, `reason` says why."""

    reason: str = "drain"


@dataclass(frozen=True, slots=True)
class Cancelled:
    """The body stopped because that was asked for, or asked for it itself."""

    reason: str = ""


Outcome = Completed | Failed | Snoozed | Released | Cancelled


def decide(claim: Claim, outcome: Outcome, backoff: Backoff, jitter: float) -> Ack:
    """The acknowledgement for an outcome. Pure: the statement adds the delay to the database's own clock.

    A tick of a schedule is not retried when its handler fails: the next slot is its retry.
    """
    match outcome:
        case Completed(result):
            return _ack(claim, AckOutcome.COMPLETED, result=result)
        case Cancelled(reason):
            return _ack(claim, AckOutcome.CANCELLED, error=ErrorInfo("cancelled", reason or "cancelled"))
        case Released(reason) if claim.releases < MAX_RELEASES:
            return _ack(claim, AckOutcome.RELEASE, error=ErrorInfo("released", reason))
        case Released(reason):
            text = f"{reason}: given back {claim.releases} times, the limit is {MAX_RELEASES}"
            return _failed(claim, Failed(ErrorInfo("released", text)), backoff, jitter)
        case Snoozed(delay_ms, reason) if claim.snoozes < MAX_SNOOZES:
            return _ack(claim, AckOutcome.SNOOZE, error=ErrorInfo("snoozed", reason or "snoozed"), delay_ms=delay_ms)
        case Snoozed(_, reason):
            text = f"{reason or 'snoozed'}: snoozed {claim.snoozes} times, the limit is {MAX_SNOOZES}"
            return _failed(claim, Failed(ErrorInfo("snoozed", text), transient=False), backoff, jitter)
        case Failed():
            return _failed(claim, outcome, backoff, jitter)


def _failed(claim: Claim, failed: Failed, backoff: Backoff, jitter: float) -> Ack:
    if not failed.transient or claim.schedule is not None:
        return _ack(claim, AckOutcome.FAILED, error=failed.error)
    if claim.attempt >= claim.max_attempts:
        return _ack(claim, AckOutcome.DEAD_LETTER, error=failed.error)
    delay = backoff.delay(claim.attempt, jitter)
    if failed.after_ms is not None:
        delay = min(max(failed.after_ms, 0), MAX_RETRY_AFTER_MS)
    return _ack(claim, AckOutcome.RETRY, error=failed.error, delay_ms=delay)


def _ack(
    claim: Claim,
    outcome: AckOutcome,
    *,
    result: str | None = None,
    error: ErrorInfo | None = None,
    delay_ms: int = 0,
) -> Ack:
    return Ack(claim.uid, claim.token, outcome, result, error, delay_ms, claims=claim.claims)
