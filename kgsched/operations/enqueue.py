"""Enqueue: check all requests, find what they wait for, write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from kgsched.config import Settings
from kgsched.core.binding import bind
from kgsched.core.lanes import DEFAULT_LANE
from kgsched.core.limits import check_text
from kgsched.core.task import Enqueued, Gate, Limits, NewTask, OnConflict
from kgsched.errors import InvalidValue, NotFound, Permanent
from kgsched.operations.ids import missing_task
from kgsched.operations.new_task import MAX_AFTER, EnqueueRequest, Surroundings, build
from kgsched.ports import Store, Transaction
from kgsched.registry import Registry

ONE = Limits(limit=1)


class Enqueuer:
    """Enqueues requests of one space."""

    def __init__(self, store: Store, registry: Registry, settings: Settings) -> None:
        self._store, self._registry, self._settings = store, registry, settings

    async def enqueue(
        self,
        requests: Sequence[EnqueueRequest],
        *,
        space: str | None = None,
        tx: Transaction | None = None,
        mark: str | None = None,
    ) -> list[Enqueued]:
        """Enqueue all requests or none, as far as one batch reaches; a request may wait for the id of an earlier one.

        What was enqueued before under the same mark is told again.

        Raises InvalidValue or UnknownName (nothing was written), NotFound for a task waited for that does not exist,
        Conflict for an id or key that belongs to another task or a task in a best-effort lane that is waited for.
        With `tx`, an error after a part was written keeps that transaction from being committed.
        """
        if tx is not None and not hasattr(tx, "named"):
            raise InvalidValue(f"tx must be what `async with app.transaction() as tx` gives, not {tx!r}")
        if not all(isinstance(one, EnqueueRequest) for one in requests):
            raise InvalidValue("enqueue_many takes a list of kgsched.EnqueueRequest(type, payload=…, …)")
        around = await self._surroundings(requests, space or self._settings.space)
        known = await self._uids(requests, around.space, trust_uids=tx is not None)
        tasks: list[NewTask] = []
        notes: list[tuple[str, ...]] = []
        for place, request in enumerate(requests):
            try:
                self._check(request, known, tx)
                task, said = build(request, around, known, self._store.new_uid)
            except (InvalidValue, NotFound) as error:
                if len(requests) > 1:
                    error.args = (f"task {place} of this enqueue: {error}",)
                raise
            known[task.id or task.uid] = task.uid
            tasks.append(task)
            notes.append(said)
        await self._ensure_gates(tasks, around)
        done = await self._store.tasks.enqueue(tasks, tx=tx, mark=mark)
        return [replace(one, notes=said) if said else one for one, said in zip(done, notes, strict=True)]

    def _check(self, request: EnqueueRequest, known: Mapping[str, str], tx: Transaction | None) -> None:
        for one in request.after:
            if one not in known:
                raise missing_task(one, "it was to be waited for, and ")
        self._check_payload(request)
        if tx is not None and request.on_conflict == OnConflict.REPLACE:
            raise InvalidValue(
                "on_conflict='replace' cannot be used in a transaction of your own: "
                "what it replaces would be locked until you commit; enqueue it without tx"
            )

    def _check_payload(self, request: EnqueueRequest) -> None:
        """A handler that is here must be able to take it; one elsewhere judges when it runs."""
        known = self._registry.find(request.type)
        if known is None:
            return
        try:
            bind(known.name, known.handler, None, {} if request.payload is None else request.payload)
        except Permanent as error:
            raise InvalidValue(str(error)) from None

    async def _surroundings(self, requests: Sequence[EnqueueRequest], space: str) -> Surroundings:
        lanes = {one.name: one.lane for one in self._registry}
        limits = {one.name: one.limits for one in self._registry if one.limits is not None}
        attempts = {one.name: one.max_attempts for one in self._registry if one.max_attempts is not None}
        if any(request.type not in lanes for request in requests):
            rows = [row for row in await self._store.cluster.list_types() if row["lane"] and row["name"] not in lanes]
            lanes |= {row["name"]: row["lane"] for row in rows}
            limits |= {row["name"]: bounds for row in rows if (bounds := _limits(row)) is not None}
            attempts |= {row["name"]: row["max_attempts"] for row in rows if row["max_attempts"] is not None}
        return Surroundings(
            space=space,
            lanes=lanes,
            limits=limits,
            max_attempts=attempts,
            default_attempts=self._settings.max_attempts,
            default_lane=DEFAULT_LANE,
        )

    async def _ensure_gates(self, tasks: Sequence[NewTask], around: Surroundings) -> None:
        """A gate that is not there would let nobody through. A key without limits of its own lets one through."""
        gates = {
            task.gate: Gate(task.space, task.gate, around.limits.get(task.type, ONE), task.type in around.limits)
            for task in tasks
            if task.gate is not None
        }
        await self._store.gates.ensure(gates.values())

    async def _uids(self, requests: Sequence[EnqueueRequest], space: str, *, trust_uids: bool) -> dict[str, str]:
        """Uid of each task waited for. In a transaction of the user's a uid may be of a task that nobody sees yet."""
        wanted = list(dict.fromkeys(one for request in requests for one in _after(request)))
        if not wanted:
            return {}
        found = await self._store.reads.resolve(space, wanted)
        uids: dict[str, str] = {asked: row["uid"] for asked, row in found.items()}
        if trust_uids:
            uids = {one: one for one in wanted if _is_uid(one)} | uids
        return uids


def _limits(row: Mapping[str, Any]) -> Limits | None:
    if row["limit"] is None and row["rate"] is None:
        return None
    return Limits(row["limit"], row["rate"], row["period_ms"])


def _after(request: EnqueueRequest) -> Sequence[str]:
    if not isinstance(request.after, (list, tuple, set, frozenset)):
        raise InvalidValue(f"after must be a list of ids, not {request.after!r}")
    if len(request.after) > MAX_AFTER:
        raise InvalidValue(f"after names {len(request.after)} tasks; the limit is {MAX_AFTER}")
    return [check_text("id in after", one) for one in request.after]


def _is_uid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def enqueued_record(one: Enqueued) -> Mapping[str, object]:
    """An answer as surfaces show it."""
    status = one.status.value if one.status else None
    return {"id": one.id, "uid": one.uid, "answer": one.answer.value, "status": status, "notes": list(one.notes)}
