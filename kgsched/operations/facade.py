"""All operations of one process, for every surface."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kgsched.config import Settings
from kgsched.core.access import Caller
from kgsched.core.query_guard import QueryAnswer
from kgsched.core.task import Claim, Enqueued
from kgsched.errors import InvalidValue
from kgsched.operations.audit import AuditLog, recorded
from kgsched.operations.cluster import ClusterOperations
from kgsched.operations.doctor import Doctor
from kgsched.operations.gates import GateOperations
from kgsched.operations.jobs import JobOperations
from kgsched.operations.new_task import EnqueueRequest
from kgsched.operations.query import ROWS, graph_query
from kgsched.operations.schedules import ScheduleOperations
from kgsched.operations.sweep_jobs import sweep_jobs
from kgsched.operations.tasks import TaskOperations
from kgsched.operations.token_key import token_key
from kgsched.operations.tokens import TokenOperations
from kgsched.ports import Store, Transaction
from kgsched.registry import Handler, Registry


class Operations:
    """What can be done, by noun. Adds the queue's own jobs to the registry.

    With a caller all is done in the caller's space, and every change is kept in the audit.
    """

    def __init__(self, store: Store, registry: Registry, settings: Settings, caller: Caller | None = None) -> None:
        if caller is not None:
            settings = settings.model_copy(update={"space": caller.space})
        self._store, self.space = store, settings.space
        for job in sweep_jobs(settings, registry):
            registry.add_job(job)
        self.audit = AuditLog(store, settings, caller)
        tasks, cluster = TaskOperations(store, registry, settings), ClusterOperations(store, registry, settings.space)
        self.tasks = recorded(tasks, "tasks", self.audit)
        self.schedules = recorded(ScheduleOperations(store, registry, settings), "schedules", self.audit)
        self.jobs = recorded(JobOperations(store, registry, tasks, settings.space), "jobs", self.audit)
        self.cluster = recorded(cluster, "cluster", self.audit)
        self.gates = recorded(GateOperations(store, settings.space), "gates", self.audit)
        self.tokens = recorded(TokenOperations(store, lambda: token_key(settings)), "tokens", self.audit)
        self.doctor = Doctor(store, cluster, settings.space)

    async def query(self, text: str, params: Mapping[str, Any] | None = None, rows: int = ROWS) -> QueryAnswer:
        """See query.graph_query."""
        return await graph_query(self._store, text, params, rows)


class Spawner:
    """Enqueues children of running tasks: what a task's context calls, with the store of the calling loop."""

    def __init__(self, registry: Registry, settings: Settings) -> None:
        self._registry, self._settings = registry, settings

    async def __call__(
        self, store: Store, parent: Claim, what: str | Handler, keywords: Mapping[str, Any], tx: Transaction | None
    ) -> Enqueued:
        name = what if isinstance(what, str) else self._registry.handler_of(what).name
        request = request_of(name, {**keywords, "spawned_by": parent.uid})
        return await TaskOperations(store, self._registry, self._settings).enqueue(request, tx=tx, space=parent.space)


def request_of(type_: str, keywords: Mapping[str, Any]) -> EnqueueRequest:
    """The request for `enqueue(type, **keywords)`: what is no option of an enqueue is an argument of the handler."""
    options = {name: value for name, value in keywords.items() if name in _OPTIONS}
    arguments = {name: value for name, value in keywords.items() if name not in _OPTIONS}
    if arguments:
        given = options.get("payload")
        if given is not None and not isinstance(given, Mapping):
            raise InvalidValue(f"{', '.join(arguments)}: a payload that is no object takes no arguments besides")
        options["payload"] = {**(given or {}), **arguments}
    return EnqueueRequest(type_, **options)


_OPTIONS = frozenset(EnqueueRequest.__dataclass_fields__) - {"type"}
