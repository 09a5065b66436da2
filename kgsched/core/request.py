"""What a caller asks for when it enqueues, checked and turned into a row, on every door alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from kgsched.core.limits import MAX_KEY, check_text, to_json
from kgsched.core.priority import parse_priority, parse_weight
from kgsched.core.task import Dependency, NewTask, OnFailure
from kgsched.core.times import MAX_INSTANT, parse_duration, parse_instant, to_millis
from kgsched.errors import InvalidValue

MAX_ATTEMPTS = 1000


@dataclass(frozen=True, slots=True)
class EnqueueRequest:
    """One task to enqueue.

    eta: epoch ms, a datetime (naive is UTC) or ISO 8601 text. delay: seconds or text like `90s`, from the
    database's now.
    after: ids or uids of tasks that must complete first. on_failure: what a bad end of one of them does to this task.
    """

    type: str
    payload: Mapping[str, Any] = field(default_factory=dict)
    priority: str | int | None = None
    weight: int = 0
    eta: int | str | datetime | None = None
    delay: float | str | None = None
    id: str | None = None
    key: str | None = None
    source: str | None = None
    after: Sequence[str] = ()
    on_failure: str = OnFailure.CANCEL.value
    max_attempts: int | None = None
    trace: str | None = None
    spawned_by: str | None = None

    def check(self) -> None:
        """Raise InvalidValue for the first thing that is wrong, without looking at any graph."""
        check_text("task type", self.type)
        parse_priority(self.priority)
        parse_weight(self.weight)
        for kind, value, limit in (("id", self.id, 128), ("key", self.key, MAX_KEY), ("source", self.source, MAX_KEY)):
            if value is not None:
                check_text(kind, value, limit)
        if self.on_failure not in set(OnFailure):
            raise InvalidValue(f"on_failure {self.on_failure!r} is not one of {', '.join(OnFailure)}")
        if self.max_attempts is not None and self.max_attempts not in range(1, MAX_ATTEMPTS + 1):
            raise InvalidValue(f"max_attempts {self.max_attempts!r} is not a whole number from 1 to {MAX_ATTEMPTS}")
        if self.eta is not None and self.delay is not None:
            raise InvalidValue("give eta or delay, not both")
        if isinstance(self.after, str) or any(not isinstance(one, str) or not one for one in self.after):
            raise InvalidValue(f"after {self.after!r} is not a list of task ids")
        read_eta(self.eta)
        if self.delay is not None:
            parse_duration(self.delay)

    def row(self, *, uid: str, space: str, lane: str, max_attempts: int, parents: Sequence[str]) -> NewTask:
        """The row to enqueue. `parents` are the uids that `after` names; doubles count once."""
        self.check()
        eta, _ = read_eta(self.eta)
        on_failure = OnFailure(self.on_failure)
        return NewTask(
            uid=uid,
            type=self.type,
            lane=lane,
            payload=to_json(f"payload of {self.type}", dict(self.payload)),
            space=space,
            id=self.id,
            prio_bucket=parse_priority(self.priority),
            weight=self.weight,
            eta=eta,
            delay_ms=None if self.delay is None else parse_duration(self.delay),
            max_attempts=self.max_attempts or max_attempts,
            source=self.source,
            key=self.key,
            trace=self.trace,
            after=tuple(Dependency(parent, on_failure) for parent in dict.fromkeys(parents)),
            spawned_by=self.spawned_by,
        )


def read_eta(eta: int | str | datetime | None) -> tuple[int | None, bool]:
    """Epoch ms of an eta, and whether it came without an offset and was read as UTC. Raises InvalidValue."""
    match eta:
        case None:
            return None, False
        case bool():
            raise InvalidValue(f"eta {eta!r} is not an instant")
        case int():
            if not 0 <= eta <= MAX_INSTANT:
                raise InvalidValue(f"eta {eta} is outside the years 1970 to 9999 (it is read as epoch milliseconds)")
            return eta, False
        case datetime():
            return to_millis(eta), eta.tzinfo is None
        case _:
            return parse_instant(eta)
