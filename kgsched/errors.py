"""The error tree of kgsched.

    KgschedError                     exit code 1
    ├── UsageError                   the caller's input is wrong: exit code 2, nothing was changed
    │   ├── InvalidValue             a value is not of its kind, or too long
    │   ├── UnknownName              no such schedule, task, type, lane …; carries near misses
    │   └── InvalidFile              a file with one or more mistakes, each with its line
    ├── NotFound                     the task or schedule does not exist (any more)
    ├── Conflict                     it exists, but its state or another request refuses this
    │   └── Stale                    it was changed since the caller read it
    ├── StoreError                   the database could not do it
    │   ├── StorageConnectionError   not reachable, or the answer was lost: the outcome is unknown
    │   ├── StorageConflict          a transient conflict that lasted longer than the quick retries
    │   ├── ServerTooOld             older than the oldest supported server
    │   └── SchemaTooNew             a newer kgsched wrote this database
    ├── LocalDbError                 the managed Neo4j could not be brought up or down
    ├── TaskFailed                   a task that was waited for did not complete
    ├── LeaseConflict                the claim is no longer ours
    ├── SecurityError                refused on purpose
    │   ├── Unauthorized             nobody knows who asks: no token, or one that does not count
    │   └── Forbidden                it is known who asks, and it is not allowed
    └── BudgetExceeded               a limit set by the user was reached

    HandlerSignal                    raised by a handler to say what to do; never an error of kgsched
    ├── Retry, Permanent, Snooze, Cancel

Each message says what happened, to which thing, and what to do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import timedelta
from decimal import Decimal
from difflib import get_close_matches


class KgschedError(Exception):
    """Root of all errors that kgsched raises on purpose."""

    exit_code = 1


class UsageError(KgschedError):
    """The caller's input is wrong; nothing was changed."""

    exit_code = 2


class InvalidValue(UsageError, ValueError):
    """A value is not of its kind, out of range, or too long."""


class UnknownName(UsageError):
    """A name that does not exist, with the nearest names that do. plain: the message without the remedy."""

    def __init__(self, kind: str, name: str, known: Iterable[str] = (), remedy: str = "") -> None:
        names = sorted(set(known))
        near = get_close_matches(name, names, n=3, cutoff=0.6)
        hint = f"; did you mean {' or '.join(repr(one) for one in near)}?" if near else ""
        if not near and names:
            hint = f"; known: {', '.join(names[:10])}{' …' if len(names) > 10 else ''}"
        self.plain = f"no {kind} named {name!r}{hint}"
        super().__init__(f"{self.plain}{' ' + remedy if remedy else ''}")
        self.kind, self.name, self.near = kind, name, near


class InvalidFile(UsageError):
    """A file with mistakes; all of them are reported, none of the file was applied."""

    def __init__(self, path: str, problems: Iterable[tuple[int | None, str]]) -> None:
        self.path, self.problems = path, tuple(problems)
        lines = [f"{path}:{line}: {text}" if line else f"{path}: {text}" for line, text in self.problems]
        super().__init__("\n".join(lines))


class NotFound(KgschedError):
    """The task or schedule does not exist, or does not exist any more."""


class Conflict(KgschedError):
    """It exists, but its state or another request refuses this."""


class Stale(Conflict):
    """It was changed since the caller read it."""


class StoreError(KgschedError):
    """The database could not do it."""


class StorageConnectionError(StoreError):
    """The database is not reachable, or its answer was lost: the outcome is unknown."""


class StorageConflict(StoreError):
    """A transient conflict that outlasted the quick retries."""


class ServerTooOld(StoreError):
    """The server is older than the oldest that kgsched supports."""


class SchemaTooNew(StoreError):
    """A newer kgsched wrote this database."""


class LocalDbError(KgschedError):
    """The managed Neo4j could not be brought up, reached or stopped."""


class TaskFailed(KgschedError):
    """A task that was waited for is over and did not complete."""

    def __init__(self, id_: str, status: str, error: str | None) -> None:
        super().__init__(f"task {id_} ended as {status}{f': {error}' if error else ''}")
        self.id, self.status, self.error = id_, status, error


class LeaseConflict(KgschedError):
    """The claim that this write presented is no longer the current one."""


class SecurityError(KgschedError):
    """Refused on purpose."""


class Unauthorized(SecurityError):
    """No token was presented, or one that does not count; `presented` tells which."""

    def __init__(self, message: str, *, presented: bool) -> None:
        super().__init__(message)
        self.presented = presented


class Forbidden(SecurityError):
    """Who asks may not do this; `scope` is what a token would need, if one would help."""

    def __init__(self, message: str, *, scope: str | None = None) -> None:
        super().__init__(message)
        self.scope = scope


class BudgetExceeded(KgschedError):
    """A limit that the user set was reached."""


class HandlerSignal(Exception):
    """Raised by a handler to say what is to happen with its task."""


Wait = float | Decimal | timedelta


class Retry(HandlerSignal):
    """Try again, after `after` (seconds or a timedelta; at most 30 days) if given, else after the type's backoff."""

    def __init__(self, reason: str = "", *, after: Wait | None = None) -> None:
        super().__init__(reason)
        self.after = None if after is None else _seconds("Retry", after)


class Permanent(HandlerSignal):
    """No further attempt can succeed: the task ends as failed."""


class Snooze(HandlerSignal):
    """Not now: run again after `after` (seconds or a timedelta), without using up an attempt."""

    def __init__(self, after: Wait, reason: str = "") -> None:
        super().__init__(reason)
        self.after = _seconds("Snooze", after)


class Cancel(HandlerSignal):
    """The task has become pointless: it ends as cancelled."""


def _seconds(signal: str, after: object) -> float:
    """Seconds of a wait. Raises InvalidValue: a handler that says nonsense is to hear of it, not to run at once."""
    if isinstance(after, timedelta):
        return after.total_seconds()
    if isinstance(after, (int, float, Decimal)) and not isinstance(after, bool) and math.isfinite(after):
        return float(min(max(after, 0), 10**10))
    raise InvalidValue(f"after of {signal} must be seconds or a timedelta, not {after!r}")
