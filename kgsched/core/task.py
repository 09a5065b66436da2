"""What crosses the border between the queue and its store: rows to enqueue, claims, acknowledgements and answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from kgsched.core.priority import NORMAL
from kgsched.core.states import Status
from kgsched.errors import InvalidValue


class Unique(StrEnum):
    """How long a key stays taken."""

    LIVE = "live"
    PERIOD = "period"
    EVER = "ever"


class OnConflict(StrEnum):
    """What an enqueue does when its key is taken."""

    EXISTING = "existing"
    REFUSE = "refuse"
    REPLACE = "replace"


class OnFailure(StrEnum):
    """What becomes of a dependent when the task it waits for ends badly."""

    CANCEL = "cancel"
    HOLD = "hold"
    IGNORE = "ignore"


@dataclass(frozen=True, slots=True)
class Dependency:
    """An edge to a task that must complete first."""

    uid: str
    on_failure: OnFailure = OnFailure.CANCEL


@dataclass(frozen=True, slots=True)
class NewTask:
    """A task to enqueue.

    payload: JSON text. eta: epoch ms, or delay_ms from the database's now. key: unique in the space while the task is
    live, for unique_ms from the enqueue, or for ever.
    """

    uid: str
    type: str
    lane: str
    payload: str
    space: str = "default"
    id: str | None = None
    prio_bucket: int = NORMAL
    weight: int = 0
    eta: int | None = None
    delay_ms: int | None = None
    max_attempts: int = 3
    source: str | None = None
    key: str | None = None
    unique: Unique = Unique.LIVE
    unique_ms: int | None = None
    on_conflict: OnConflict = OnConflict.EXISTING
    gate: str | None = None
    trace: str | None = None
    after: tuple[Dependency, ...] = ()
    spawned_by: str | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """Cluster-wide bounds: tasks at a time, and starts in any period. None is no bound."""

    limit: int | None = None
    rate: int | None = None
    period_ms: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("limit", self.limit), ("rate", self.rate), ("period", self.period_ms)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
                raise InvalidValue(f"{name} {value!r} of a gate is not a whole number of at least 1")
        if (self.rate is None) != (self.period_ms is None):
            raise InvalidValue("a rate needs the period that it counts in, and the other way round")


@dataclass(frozen=True, slots=True)
class Gate:
    """A concurrency key and its limits. typed: they are those of a task type, and follow its declaration."""

    space: str
    key: str
    limits: Limits
    typed: bool = False


class Answer(StrEnum):
    """What an enqueue came to."""

    CREATED = "created"
    EXISTING = "existing"
    REPLACED = "replaced"


@dataclass(frozen=True, slots=True)
class Enqueued:
    """The task that now stands for an enqueue: a new one, or the live one with the same key or id.

    notes: what a person should know about how the request was read.
    """

    uid: str
    id: str
    answer: Answer
    status: Status | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Claim:
    """A task that this process runs, and the token that every later write about it presents."""

    uid: str
    id: str
    space: str
    type: str
    lane: str
    token: str
    attempt: int
    max_attempts: int
    claims: int
    prio_bucket: int
    rank: int
    lease_expires_at: int
    lease_ms: int
    releases: int = 0
    snoozes: int = 0
    schedule: str | None = None
    slot: int | None = None


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """An error as it is recorded: printable, bounded text."""

    kind: str
    message: str
    traceback: str | None = None


class AckOutcome(StrEnum):
    """The outcome that an acknowledgement reports. The last three give the task back."""

    COMPLETED = "completed"
    FAILED = "failed"
    DEAD_LETTER = "dead_letter"
    CANCELLED = "cancelled"
    RETRY = "retry"
    SNOOZE = "snooze"
    RELEASE = "release"

    @property
    def ends(self) -> bool:
        """Whether the task is over with it."""
        return self not in (AckOutcome.RETRY, AckOutcome.SNOOZE, AckOutcome.RELEASE)


@dataclass(frozen=True, slots=True)
class Ack:
    """One acknowledgement: what the holder of `token` reports about its claim. `result` is JSON text.

    claims and worker name the run, for the record of one that comes too late.
    """

    uid: str
    token: str
    outcome: AckOutcome
    result: str | None = None
    error: ErrorInfo | None = None
    delay_ms: int = 0
    log: tuple[str, ...] = ()
    claims: int = 0
    worker: str | None = None

    def params(self) -> dict[str, object]:
        error = self.error
        return {
            "uid": self.uid,
            "token": self.token,
            "outcome": self.outcome.value,
            "result": self.result,
            "delay_ms": self.delay_ms,
            "log": list(self.log) or None,
            "claims": self.claims,
            "worker": self.worker,
            "error": None
            if error is None
            else {"kind": error.kind, "message": error.message, "traceback": error.traceback},
        }


class Verdict(StrEnum):
    """How the store answered an acknowledgement."""

    WON = "won"
    LATE = "late"
    REPEATED = "repeated"
    REFUSED = "refused"
    GONE = "gone"

    @property
    def counts(self) -> bool:
        """Whether the outcome is recorded, now or by an earlier try."""
        return self in (Verdict.WON, Verdict.LATE, Verdict.REPEATED)


@dataclass(frozen=True, slots=True)
class AckAnswer:
    """Verdict on one acknowledgement and the status the task has now."""

    verdict: Verdict
    status: Status | None


@dataclass(frozen=True, slots=True)
class AckReport:
    """Answers by uid, and how many dependents were released."""

    answers: Mapping[str, AckAnswer]
    released: int = 0


@dataclass(frozen=True, slots=True)
class BeatReport:
    """Claims that are lost, claims to stop, and strangers: (uid, token) that run under this session unknown to it."""

    lost: frozenset[str] = frozenset()
    cancel_requested: frozenset[str] = frozenset()
    strangers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Reaped:
    """A claim that the reaper ended."""

    uid: str
    status: Status
    worker_id: str | None
    token: str
    space: str = "default"
    schedule: str | None = None


@dataclass(frozen=True, slots=True)
class Swept:
    """What one pass of a sweep did; `more` asks for another pass at once."""

    job: str
    count: int
    more: bool = False
    details: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pulse:
    """Heads of what is due, and the leader, as one read returned them. All instants are the database's."""

    now: int
    holder: str | None = None
    term: int | None = None
    lease_until: int | None = None
    due_at: int | None = None
    next_run: int | None = None
    lease_expires_at: int | None = None
    unsettled: int | None = None
    release_pending: int | None = None
    cascade_pending: int | None = None
    revive_pending: int | None = None
    gate_at: int | None = None
