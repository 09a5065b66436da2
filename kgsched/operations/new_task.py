"""From what a caller asks for to a row to enqueue: everything is checked before anything is written."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from kgsched.core.limits import MAX_KEY, check_slug, check_text, to_json
from kgsched.core.priority import parse_priority, parse_weight
from kgsched.core.task import Dependency, Limits, NewTask, OnConflict, OnFailure, Unique
from kgsched.core.times import MAX_INSTANT, parse_duration, parse_instant, to_millis
from kgsched.errors import InvalidValue, UnknownName

UID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
RESERVED_IDS = ("sched:", "run:")
RESERVED_GATES = ("s:", "t:")
MAX_AFTER = 1000


@dataclass(frozen=True, slots=True)
class EnqueueRequest:
    """A task as a caller asks for it.

    priority: name, 0 to 3 or numeric text. eta: an instant as ISO text, datetime or epoch ms; or delay: a duration
    from the database's now as text, seconds or timedelta. key: unique in the space while the task is live, or for
    unique_for (a duration, or `ever`) from the enqueue; on_conflict: existing, refuse or replace (what was never
    claimed). after: ids of tasks to wait for; on_failure: cancel, hold or ignore.
    gate: concurrency key. payload: any JSON value; an object is given to the handler as keywords.
    """

    type: str
    payload: Any = None
    id: str | None = None
    priority: str | int | None = None
    weight: int = 0
    eta: str | int | datetime | None = None
    delay: str | float | timedelta | None = None
    max_attempts: int | None = None
    source: str | None = None
    key: str | None = None
    unique_for: str | float | timedelta | None = None
    on_conflict: str = OnConflict.EXISTING.value
    gate: str | None = None
    trace: str | None = None
    after: Sequence[str] = ()
    on_failure: str = OnFailure.CANCEL.value
    spawned_by: str | None = None
    allow_unknown_type: bool = False


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a request is read against. lanes and limits: of the known types."""

    space: str
    lanes: Mapping[str, str]
    limits: Mapping[str, Limits]
    max_attempts: Mapping[str, int]
    default_attempts: int
    default_lane: str


def build(
    request: EnqueueRequest, around: Surroundings, uids: Mapping[str, str], new_uid: Callable[[list[str]], str]
) -> tuple[NewTask, tuple[str, ...]]:
    """The row, and notes on how the request was read. `uids` has the uid of each id in `after`.

    Raises InvalidValue or UnknownName; the message names the field.
    """
    check_text("task type", request.type)
    if request.type not in around.lanes and not request.allow_unknown_type:
        remedy = "(allow_unknown_type enqueues it for a worker that comes later)"
        raise UnknownName("task type", request.type, around.lanes, remedy)
    eta, notes = _eta(request)
    unique, unique_ms = _unique(request)
    rule = _on_failure(request.on_failure)
    after = tuple(Dependency(uids[one], rule) for one in dict.fromkeys(request.after))
    parents = [one.uid for one in after] + ([request.spawned_by] if request.spawned_by else [])
    task = NewTask(
        uid=new_uid(parents),
        type=request.type,
        lane=around.lanes.get(request.type, around.default_lane),
        payload=to_json("payload", {} if request.payload is None else request.payload),
        space=check_slug("space", around.space),
        id=None if request.id is None else _id(request.id),
        prio_bucket=parse_priority(request.priority),
        weight=parse_weight(request.weight),
        eta=eta,
        delay_ms=_delay(request),
        max_attempts=_attempts(request, around),
        source=_text("source", request.source, MAX_KEY),
        key=_text("key", request.key, MAX_KEY),
        unique=unique,
        unique_ms=unique_ms,
        on_conflict=_on_conflict(request.on_conflict),
        gate=_gate(request.gate, request.type, around.limits.get(request.type)),
        trace=_text("trace", request.trace, MAX_KEY),
        after=after,
        spawned_by=request.spawned_by,
    )
    if request.gate is not None and task.gate != request.gate:
        notes += (f"type {request.type} has limits of its own; they apply per key, at gate {task.gate}",)
    return task, notes


def _eta(request: EnqueueRequest) -> tuple[int | None, tuple[str, ...]]:
    if request.eta is not None and request.delay is not None:
        raise InvalidValue("give eta or delay, not both")
    match request.eta:
        case None:
            return None, ()
        case str(text):
            eta, naive = parse_instant(text)
            return eta, (f"eta {text!r} has no offset; it was read as UTC",) if naive else ()
        case datetime() as moment:
            naive = moment.tzinfo is None
            return _instant(to_millis(moment)), (f"eta {moment} has no zone; it was read as UTC",) if naive else ()
        case other:
            return _instant(other), ()


def _delay(request: EnqueueRequest) -> int | None:
    if request.delay is None:
        return None
    delay = request.delay.total_seconds() if isinstance(request.delay, timedelta) else request.delay
    return parse_duration(delay, "delay")


def _unique(request: EnqueueRequest) -> tuple[Unique, int | None]:
    if request.key is None and (request.unique_for is not None or request.on_conflict != OnConflict.EXISTING):
        raise InvalidValue("unique_for and on_conflict need a key")
    if request.on_conflict == OnConflict.REPLACE and (request.after or request.spawned_by):
        raise InvalidValue("on_conflict replace cannot be combined with after, nor with a child of a task")
    if request.unique_for is None:
        return Unique.LIVE, None
    if request.after or request.spawned_by:
        raise InvalidValue("a key for a period (unique_for) cannot be combined with after, nor with a child of a task")
    if request.unique_for == Unique.EVER:
        return Unique.EVER, None
    period = request.unique_for
    return Unique.PERIOD, parse_duration(
        period.total_seconds() if isinstance(period, timedelta) else period, "unique_for"
    )


def _on_conflict(text: str) -> OnConflict:
    try:
        return OnConflict(text)
    except ValueError:
        raise UnknownName("on_conflict rule", str(text), [one.value for one in OnConflict]) from None


def _instant(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MAX_INSTANT:
        raise InvalidValue(f"eta {value!r} is not an instant of the years 1970 to 9999")
    return value


def _on_failure(text: str) -> OnFailure:
    try:
        return OnFailure(text)
    except ValueError:
        raise UnknownName("on_failure rule", str(text), [one.value for one in OnFailure]) from None


def _attempts(request: EnqueueRequest, around: Surroundings) -> int:
    value = request.max_attempts
    if value is None:
        return around.max_attempts.get(request.type, around.default_attempts)
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1000:
        raise InvalidValue(f"max_attempts {value!r} is not a whole number from 1 to 1000")
    return value


def _id(value: str) -> str:
    check_text("id", value)
    if value.startswith(RESERVED_IDS):
        raise InvalidValue(f"id {value!r}: ids that begin with {' or '.join(RESERVED_IDS)} belong to schedules")
    if UID.fullmatch(value):
        raise InvalidValue(f"id {value!r} has the form of a uid, by which tasks are found too; choose another form")
    return value


def _gate(value: str | None, type_: str, limits: Limits | None) -> str | None:
    """The task's gate: its type's, per key if one is given, where the type has limits; else the key's own."""
    key = _text("concurrency key", value)
    if key is not None and key.startswith(RESERVED_GATES):
        raise InvalidValue(f"concurrency key {key!r}: keys that begin with s: or t: belong to schedules and types")
    if limits is not None:
        return check_text("concurrency key", f"t:{type_}" if key is None else f"t:{type_}:{key}", MAX_KEY)
    return key


def _text(kind: str, value: str | None, limit: int = 128) -> str | None:
    return None if value is None else check_text(kind, value, limit)
