"""Changes to all tasks that a filter finds: counted first, then carried out in chunks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from kgsched.core.states import LIVE, Status
from kgsched.core.task_filter import TaskFilter
from kgsched.errors import InvalidValue
from kgsched.operations.records import Record
from kgsched.operations.tasks import Changed, TaskOperations

DEFAULTS: dict[str, frozenset[Status]] = {
    "cancel": LIVE,
    "prioritize": LIVE,
    "retry": frozenset({Status.FAILED, Status.DEAD_LETTER}),
}


@dataclass(frozen=True, slots=True)
class Selection:
    """What a bulk command is about: all of it, by status."""

    tasks: tuple[Record, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(str(one["uid"]) for one in self.tasks)

    @property
    def by_status(self) -> dict[str, int]:
        return dict(sorted(Counter(str(one["status"]) for one in self.tasks).items()))


@dataclass(frozen=True, slots=True)
class BulkReport:
    """How many tasks each answer was given for, and the first refusals."""

    matched: int
    answers: dict[str, int]
    refused: tuple[Changed, ...]


async def select_for(tasks: TaskOperations, action: str, chosen: TaskFilter) -> Selection:
    """What `cancel`, `retry` or `prioritize` would be about; without statuses, those that the action can change.

    Raises InvalidValue for a filter that is empty.
    """
    if chosen == TaskFilter():
        raise InvalidValue("name tasks by id, or choose them with --status, --type, --schedule, --source or --since")
    if chosen.statuses is None:
        chosen = replace(chosen, statuses=tuple(sorted(one.value for one in DEFAULTS[action])))
    return Selection(tuple(await tasks.select(chosen)))


async def carry_out(
    ids: Sequence[str], change: Callable[[Sequence[str]], Awaitable[Iterable[Changed]]], chunk: int = 200
) -> BulkReport:
    """Change chunk by chunk; what was purged meanwhile is counted, not an error."""
    answers: Counter[str] = Counter()
    refused: list[Changed] = []
    for start in range(0, len(ids), chunk):
        for one in await change(ids[start : start + chunk]):
            answers[one.answer] += 1
            if one.refused and len(refused) < 20:
                refused.append(one)
    return BulkReport(len(ids), dict(sorted(answers.items())), tuple(refused))
