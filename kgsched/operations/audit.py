"""Who did what, through which door: every change that a caller makes is recorded here, whatever the door."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar, cast

import structlog

from kgsched.config import Settings
from kgsched.core.access import Caller, Door
from kgsched.core.printable import printable
from kgsched.core.times import show_instant
from kgsched.errors import InvalidValue, KgschedError, StoreError, UnknownName
from kgsched.operations import cursor
from kgsched.operations.filters import read_filter
from kgsched.operations.records import Record
from kgsched.ports import Store

log = structlog.get_logger(__name__)
T = TypeVar("T")

MAX_PAGE = 500
FORGET_EVERY = 100
NAMED = 10
_CHANGES: Mapping[str, frozenset[str]] = {
    "tasks": frozenset({"enqueue", "enqueue_many", "cancel", "retry", "prioritize"}),
    "schedules": frozenset({"run_now", "enable", "disable", "prioritize", "set_interval", "change", "apply"}),
    "jobs": frozenset({"run"}),
    "cluster": frozenset({"pause_lane", "pause_type"}),
    "gates": frozenset({"set"}),
    "tokens": frozenset({"create", "revoke"}),
}
_SHOWN = ("priority", "weight", "interval", "enabled", "paused", "why", "space", "scopes")


class AuditLog:
    """The audit as one caller writes it and as administrators read it. Without a caller nothing is written."""

    _written = 0  # by this process, to forget from time to time

    def __init__(self, store: Store, settings: Settings, caller: Caller | None) -> None:
        self._store, self._settings, self.caller = store, settings, caller

    async def record(self, action: str, target: str, outcome: str, detail: str | None = None) -> None:
        """Keep one entry. A database that fails now is logged: what was done cannot be taken back."""
        caller = self.caller
        if caller is None:
            return
        entry = {
            "space": caller.space,
            "who": caller.name,
            "token": caller.token,
            "door": caller.door.value,
            "action": action,
            "target": printable(target, 1000),
            "outcome": outcome,
            "detail": None if detail is None else printable(detail, 1000),
        }
        try:
            await self._store.audit.record([entry])
            AuditLog._written += 1
            if AuditLog._written % FORGET_EVERY == 1:
                await self.forget()
        except StoreError as error:
            log.error("audit_not_written", action=action, target=entry["target"], error=str(error))

    async def forget(self) -> int:
        """Delete what is too old or too much; return how many entries went."""
        keep_ms = round(self._settings.keep_audit * 1000)
        forgotten = 0
        while gone := await self._store.audit.forget(keep_ms, self._settings.audit_most):
            forgotten += gone
        return forgotten

    async def list_entries(
        self, *, limit: int = 50, after: str | None = None, since: str | None = None, **chosen: Any
    ) -> tuple[list[Record], str | None]:
        """Entries of all spaces, newest first, and the next page's cursor; `chosen` as in AuditStore.list_entries."""
        if not 1 <= limit <= MAX_PAGE:
            raise InvalidValue(f"limit {limit} is not between 1 and {MAX_PAGE}")
        if (door := chosen.get("door")) is not None and door not in set(Door):
            raise UnknownName("door", door, [one.value for one in Door])
        before = cursor.decode(after) if after else "~"
        now = (await self._store.cluster.pulse()).now if since else None
        moment = read_filter(since=since, now=now)[0].since
        rows = await self._store.audit.list_entries(before=before, n=limit + 1, since=moment, **chosen)
        keys = ("uid", "space", "who", "token", "door", "action", "target", "outcome", "detail")
        entries = [{"at": show_instant(row["at"])} | {key: row.get(key) for key in keys} for row in rows[:limit]]
        return entries, cursor.encode(rows[limit - 1]["uid"]) if len(rows) > limit else None


class _Recorded:
    """Stands for operations of one noun, and records those of its methods that change something."""

    def __init__(self, inner: object, noun: str, audit: AuditLog) -> None:
        self._inner, self._noun, self._audit = inner, noun, audit

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)
        if name not in _CHANGES[self._noun]:
            return method

        async def changed(*args: Any, **keywords: Any) -> Any:
            action, detail = f"{self._noun}.{name}", _detail(args, keywords)
            try:
                result = await method(*args, **keywords)
            except BaseException as error:
                known = isinstance(error, KgschedError) and not isinstance(error, StoreError)
                outcome, why = "refused" if known else "failed", f"{type(error).__name__} {detail}"
                await asyncio.shield(self._audit.record(action, _target(args, None), outcome, why))
                raise
            refused = [one for one in _each(result) if getattr(one, "refused", None)]
            if refused and len(refused) == len(_each(result)):
                await self._audit.record(action, _target(args, result), "refused", f"{refused[0].refused} {detail}")
                return result
            if refused:
                detail = f"{detail} (refused: {_names([str(one.id) for one in refused])})"
            await self._audit.record(action, _target(args, result), "done", detail or None)
            return result

        return changed


def recorded(operations: T, noun: str, audit: AuditLog) -> T:
    """The same operations, with their changes recorded if there is a caller."""
    return operations if audit.caller is None else cast(T, _Recorded(operations, noun, audit))


def _each(result: Any) -> list[Any]:
    return result if isinstance(result, list) else [result]


def _target(args: Sequence[Any], result: Any) -> str:
    """What a change was about: the ids that came of it, or those that were named. Never a payload."""
    made = _each(result)
    if made and all(hasattr(one, "uid") and hasattr(one, "id") for one in made):
        return _names([str(one.id) for one in made])
    first = args[0] if args else getattr(result, "id", "")
    if isinstance(first, str):
        return first
    if isinstance(first, Sequence):
        return _names([one if isinstance(one, str) else str(getattr(one, "type", "")) for one in first])
    return str(getattr(first, "type", "") or first or "")


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def _detail(args: Sequence[Any], keywords: Mapping[str, Any]) -> str:
    words = [str(one) for one in args[1:] if isinstance(one, (str, int, float))]
    words += [f"{name}={_word(keywords[name])}" for name in _SHOWN if keywords.get(name) is not None]
    return " ".join(words)


def _word(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, (list, tuple, set, frozenset)) else str(value)
