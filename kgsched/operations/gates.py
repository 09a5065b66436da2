"""Gates: how many tasks of a concurrency key run at a time, and how many start in a period, over all processes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kgsched.core.limits import MAX_KEY, check_text
from kgsched.core.task import Gate, Limits
from kgsched.core.times import parse_duration, show_duration
from kgsched.errors import InvalidValue, NotFound
from kgsched.operations.new_task import RESERVED_GATES
from kgsched.operations.records import Record
from kgsched.ports import Store


class GateOperations:
    """The gates of one space."""

    def __init__(self, store: Store, space: str) -> None:
        self._store, self._space = store, space

    async def gates(self) -> list[Record]:
        """Each gate with its limits, what it holds and who waits; `t:` belongs to a type, `s:` to a schedule."""
        return [_record(row) for row in await self._store.gates.read(self._space)]

    async def set(self, key: str, limit: int | None = None, rate: str | None = None) -> Record:
        """Set what a concurrency key lets through: `limit` tasks at a time, and `rate` starts like `10/1m`.

        None is no bound of that kind. What runs goes on; what waits is let through as the new bounds allow. Raises
        InvalidValue, also for the gate of a type (its declaration bounds it) or of a schedule.
        """
        if check_text("concurrency key", key, MAX_KEY).startswith(RESERVED_GATES):
            raise InvalidValue(f"gate {key!r} follows its task type or schedule; change that one instead")
        starts, period = (None, None) if rate is None else parse_rate(rate)
        await self._store.gates.open([Gate(self._space, key, Limits(limit, starts, period))])
        await self._store.sweeps.admission()
        found = [row for row in await self.gates() if row["key"] == key]
        if not found:
            raise NotFound(f"gate {key!r} was deleted while it was set; set it again")
        return found[0]


def parse_rate(text: str) -> tuple[int, int]:
    """Starts and milliseconds of `10/1m`. Raises InvalidValue."""
    starts, slash, period = text.partition("/")
    if not slash or not starts.strip().isdecimal() or len(starts) > 9:
        raise InvalidValue(f"rate {text!r} is not starts per period, like 10/1m")
    return int(starts), parse_duration(period, "period")


def _record(row: Mapping[str, Any]) -> Record:
    rate = None if row["rate"] is None else f"{row['rate']}/{show_duration(row['period_ms'])}"
    return {"key": row["key"], "limit": row["limit"], "rate": rate, "held": row["held"], "waiting": row["waiting"]}
