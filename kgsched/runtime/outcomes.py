"""From what a body returned or raised to its outcome. Recording a failure must itself never fail."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from datetime import UTC, datetime

from kgsched.core.classify import Fate, TypeList, classify
from kgsched.core.limits import to_json
from kgsched.core.outcome import Cancelled, Completed, Failed, Outcome, Snoozed
from kgsched.core.printable import MAX_KIND, MAX_MESSAGE, MAX_TRACEBACK, printable, printable_end
from kgsched.core.task import ErrorInfo
from kgsched.errors import HandlerSignal

MAX_FRAMES = 30
MAX_CAUSES = 10
MAX_TRACE_MESSAGE = 500


def completed(type_name: str, value: object) -> Outcome:
    """The outcome of a body that returned `value`: a permanent failure when it is not JSON or too large."""
    if value is None:
        return Completed()
    try:
        return Completed(to_json(f"result of task type {type_name!r}", value, sort=False))
    except BaseException as error:  # noqa: BLE001 - whatever a strange value raises while it is encoded is its own fault
        return Failed(describe(error), transient=False)


def raised(error: BaseException, *, permanent: TypeList = (), transient: TypeList = ()) -> Outcome:
    """The outcome of a body that raised `error`, whatever its class. Keeps no reference to the error. Never raises."""
    try:
        return _judged(error, permanent, transient)
    except BaseException as inner:  # noqa: BLE001 - attributes and texts of a handler's error are the handler's code
        kind = printable(type(error).__name__, MAX_KIND)
        return Failed(ErrorInfo(kind, f"{kind} (it could not be read: {type(inner).__name__})"), transient=True)


def _judged(error: BaseException, permanent: TypeList, transient: TypeList) -> Outcome:
    kind = classify(error, datetime.now(UTC), permanent=permanent, transient=transient)
    match kind.fate:
        case Fate.SNOOZE:
            return Snoozed(kind.after_ms or 0, printable(_text(error), MAX_MESSAGE))
        case Fate.CANCEL:
            return Cancelled(printable(_text(error), MAX_MESSAGE))
        case fate:
            return Failed(describe(error), transient=fate is Fate.TRANSIENT, after_ms=kind.after_ms)


def describe(error: BaseException) -> ErrorInfo:
    """Kind, message and traceback of an error as printable, bounded text. Never raises."""
    kind = printable(type(error).__name__, MAX_KIND)
    message = printable(_text(error), MAX_MESSAGE)
    if isinstance(error, HandlerSignal) and error.__cause__ is None:
        return ErrorInfo(kind, message)
    return ErrorInfo(kind, message, printable_end("".join(_trace(error)), MAX_TRACEBACK))


def _text(error: BaseException) -> str:
    try:
        return str(error) or type(error).__name__
    except BaseException as inner:  # noqa: BLE001 - a handler's own __str__ may raise anything
        return f"{type(error).__name__} (its text could not be made: {type(inner).__name__})"


def _trace(error: BaseException) -> Iterator[str]:
    chain = list(_chain(error))
    for one in reversed(chain):
        yield from traceback.format_tb(one.__traceback__, limit=-MAX_FRAMES)
        yield f"{type(one).__name__}: {printable(_text(one), MAX_TRACE_MESSAGE)}\n"
        if isinstance(one, BaseExceptionGroup):
            yield from _members(one)


def _members(group: BaseExceptionGroup[BaseException]) -> Iterator[str]:
    for member in group.exceptions[:MAX_CAUSES]:
        yield "".join(traceback.format_tb(member.__traceback__, limit=-3))
        yield f"  - {type(member).__name__}: {printable(_text(member), MAX_TRACE_MESSAGE)}\n"


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    one: BaseException | None = error
    while one is not None and id(one) not in seen and len(seen) < MAX_CAUSES:
        seen.add(id(one))
        yield one
        one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
