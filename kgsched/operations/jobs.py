"""Jobs by name: listing them, and running one here and now, outside of any task."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any

from kgsched.core.task import Enqueued
from kgsched.errors import Conflict
from kgsched.operations.new_task import EnqueueRequest
from kgsched.operations.records import Record
from kgsched.operations.tasks import TaskOperations
from kgsched.ports import Graph, Store, Transaction
from kgsched.registry import Registry


@dataclass(frozen=True, slots=True)
class JobContext:
    """What a job is given when it runs by hand: all that a task's context has, but there is no task."""

    store: Store
    space: str
    tasks: TaskOperations
    uid: str
    payload: Mapping[str, Any] = field(default_factory=dict)

    @property
    def graph(self) -> Graph:
        return self.store.graph

    async def enqueue(self, what: str, /, *, tx: Transaction | None = None, **keywords: Any) -> Enqueued:
        """Enqueue a task; there is no parent that it could be a child of."""
        return await self.tasks.enqueue(EnqueueRequest(what, **keywords), tx=tx)

    def finishing(self, *, result: Any = None, timeout: float = 30.0) -> AbstractAsyncContextManager[Transaction]:
        raise Conflict(
            "this job finishes a task, and there is none when it runs by hand; use `kgsched schedules run-now`"
        )


class JobOperations:
    """The jobs that this process knows."""

    def __init__(self, store: Store, registry: Registry, tasks: TaskOperations, space: str) -> None:
        self._store, self._registry, self._tasks, self._space = store, registry, tasks, space

    def list_jobs(self) -> list[Record]:
        return [{"name": job.name, "description": job.description} for job in self._registry.jobs()]

    async def run(self, name: str) -> Record:
        """Run a job to its end and return what it counted. Raises UnknownName with near names."""
        job = self._registry.job(name)
        context = JobContext(self._store, self._space, self._tasks, self._store.new_uid(), {"job": name})
        return await job.body(context)
