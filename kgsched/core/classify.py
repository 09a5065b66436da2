"""What an error of a handler means for its task: try again, give up, later, or pointless.

The first rule that applies decides: the handler's own signal; the type's own lists, nearest base class first; the
permanent classes, unless the error was explicitly raised from a transient one; the transient classes and HTTP codes;
for classes in no list, the message; else transient.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from kgsched.core.http_error import MAX_SECONDS, http_status, retry_after_ms
from kgsched.errors import (
    BudgetExceeded,
    Cancel,
    HandlerSignal,
    LeaseConflict,
    Permanent,
    Retry,
    SecurityError,
    Snooze,
    StorageConflict,
    StorageConnectionError,
    UsageError,
)

PERMANENT_CLASSES: tuple[type[BaseException], ...] = (
    UsageError,
    ValueError,
    TypeError,
    AttributeError,
    NameError,
    ImportError,
    AssertionError,
    PermissionError,
    SecurityError,
    BudgetExceeded,
)
TRANSIENT_CLASSES: tuple[type[BaseException], ...] = (
    StorageConflict,
    StorageConnectionError,
    LeaseConflict,
    ConnectionError,
    TimeoutError,
)
MAX_SERVER_WAIT_MS = 24 * 3_600_000
PERMANENT_NAMES = frozenset({"jsonschema.exceptions.ValidationError"})
TRANSIENT_NAMES = frozenset(
    {
        "socket.gaierror",
        "socket.herror",
        "ssl.SSLEOFError",
        "ssl.SSLZeroReturnError",
        "http.client.HTTPException",
        "urllib.error.URLError",
        "httpx.TransportError",
        "httpx.RemoteProtocolError",
        "requests.ConnectionError",
        "requests.Timeout",
        "requests.ChunkedEncodingError",
        "urllib3.exceptions.HTTPError",
    }
)
TRANSIENT_HTTP = frozenset({408, 425, 429})
MESSAGE_PATTERNS = re.compile(
    r"(?:read|write) conflict|transaction can be retried|temporarily unavailable|time(?:d )?out|rate limit"
    r"|too many requests|connection reset|broken pipe",
    re.IGNORECASE,
)
MAX_CHAIN = 20
MAX_MESSAGE_SEARCHED = 10_000


class Fate(StrEnum):
    """What is to become of the task."""

    TRANSIENT = "transient"
    PERMANENT = "permanent"
    SNOOZE = "snooze"
    CANCEL = "cancel"


@dataclass(frozen=True, slots=True)
class ErrorClass:
    """A fate, and the wait in milliseconds that the handler or a server asked for."""

    fate: Fate
    after_ms: int | None = None


TypeList = tuple[type[BaseException], ...]


def classify(error: BaseException, now: datetime, *, permanent: TypeList = (), transient: TypeList = ()) -> ErrorClass:
    """The class of an error that a handler raised; `now` dates a Retry-After. Never raises."""
    if isinstance(error, HandlerSignal):
        return _signal(error)
    if isinstance(error, BaseExceptionGroup):
        return _group(error, now, permanent, transient)
    causes = tuple(_causes(error))
    fate = _nearest(error, permanent, transient) or _fate(error, causes)
    if fate is Fate.PERMANENT:
        return ErrorClass(fate)
    waits = (retry_after_ms(one, now) for one in (error, *causes))
    return ErrorClass(fate, next((min(wait, MAX_SERVER_WAIT_MS) for wait in waits if wait is not None), None))


def _fate(error: BaseException, causes: tuple[BaseException, ...]) -> Fate:
    if any(_transient(cause) for cause in causes):
        return Fate.TRANSIENT
    if _permanent(error):
        return Fate.PERMANENT
    if _transient(error) or MESSAGE_PATTERNS.search(_message(error)):
        return Fate.TRANSIENT
    status = http_status(error)
    return Fate.PERMANENT if status is not None and 400 <= status < 500 else Fate.TRANSIENT


def _signal(signal: HandlerSignal) -> ErrorClass:
    match signal:
        case Retry():
            return ErrorClass(Fate.TRANSIENT, _millis(signal.after))
        case Snooze():
            return ErrorClass(Fate.SNOOZE, _millis(signal.after) or 0)
        case Cancel():
            return ErrorClass(Fate.CANCEL)
        case Permanent():
            return ErrorClass(Fate.PERMANENT)
        case _:
            return ErrorClass(Fate.TRANSIENT)


def _group(
    group: BaseExceptionGroup[BaseException], now: datetime, permanent: TypeList, transient: TypeList
) -> ErrorClass:
    """A signal among the members decides; else it takes all members to make a group permanent."""
    leaves = list(_leaves(group))
    for leaf in leaves:
        if isinstance(leaf, HandlerSignal):
            return _signal(leaf)
    classes = [classify(leaf, now, permanent=permanent, transient=transient) for leaf in leaves]
    waits = [one.after_ms for one in classes if one.after_ms is not None]
    if all(one.fate is Fate.PERMANENT for one in classes):
        return ErrorClass(Fate.PERMANENT)
    return ErrorClass(Fate.TRANSIENT, max(waits, default=None))


def _leaves(group: BaseExceptionGroup[BaseException]) -> Iterator[BaseException]:
    waiting: list[BaseException] = [group]
    while waiting:
        one = waiting.pop()
        if isinstance(one, BaseExceptionGroup):
            waiting.extend(reversed(one.exceptions))
        else:
            yield one


def _nearest(error: BaseException, permanent: TypeList, transient: TypeList) -> Fate | None:
    for base in type(error).__mro__:
        if base in permanent:
            return Fate.PERMANENT
        if base in transient:
            return Fate.TRANSIENT
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen, cause = {id(error)}, error.__cause__
    while cause is not None and id(cause) not in seen and len(seen) < MAX_CHAIN:
        seen.add(id(cause))
        yield cause
        cause = cause.__cause__


def _permanent(error: BaseException) -> bool:
    return isinstance(error, PERMANENT_CLASSES) or _named(error, PERMANENT_NAMES)


def _transient(error: BaseException) -> bool:
    if _permanent(error):
        return False
    if isinstance(error, TRANSIENT_CLASSES) or _named(error, TRANSIENT_NAMES) or _retryable(error):
        status = http_status(error)
        return status is None or _transient_status(status)
    status = http_status(error)
    return status is not None and _transient_status(status)


def _transient_status(status: int) -> bool:
    return status in TRANSIENT_HTTP or status >= 500


def _named(error: BaseException, names: frozenset[str]) -> bool:
    return any(_name(base) in names for base in type(error).__mro__)


def _name(base: type) -> str:
    """Public name of a class: private modules of a package are left out, as in `httpx.TransportError`."""
    module = str(getattr(base, "__module__", ""))
    if module.split(".", 1)[0] in ("httpx", "requests"):
        module = module.split(".", 1)[0]
    parts = [part for part in module.split(".") if not part.startswith("_") or part == module]
    return f"{'.'.join(parts)}.{base.__name__}"


def _retryable(error: BaseException) -> bool:
    """What the database driver says of its own errors."""
    if not any(str(base.__module__).split(".", 1)[0] == "neo4j" for base in type(error).__mro__):
        return False
    return bool(getattr(error, "is_retryable", bool)())


def _message(error: BaseException) -> str:
    try:
        return str(error)[:MAX_MESSAGE_SEARCHED]
    except Exception:  # noqa: BLE001 - a handler's own __str__ may raise anything; the class then decides
        return ""


def _millis(seconds: object) -> int | None:
    """Whole milliseconds of seconds, never negative; None for what is not a finite number."""
    if not isinstance(seconds, (int, float)) or isinstance(seconds, bool) or math.isnan(seconds):
        return None
    return round(max(0.0, float(min(seconds, MAX_SECONDS))) * 1000)
