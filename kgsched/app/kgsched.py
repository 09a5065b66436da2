"""The public interface and composition root: puts settings, registry, store, operations and runtime together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import cached_property
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from kgsched.app.built_in import add_built_in
from kgsched.app.connection import Connection
from kgsched.app.logs import set_up_logs
from kgsched.app.sync import SyncKgsched
from kgsched.config import Settings, load_settings
from kgsched.core.access import Caller
from kgsched.core.backoff import Backoff
from kgsched.core.lanes import DEFAULT_LANE
from kgsched.core.states import Status
from kgsched.core.task import Enqueued, Limits
from kgsched.errors import KgschedError, TaskFailed
from kgsched.operations.facade import Operations, Spawner, request_of
from kgsched.ports import Transaction
from kgsched.registry import Executor, Handler, Registry, TaskType, classes, millis, pair
from kgsched.store import Neo4jStore

if TYPE_CHECKING:
    from kgsched.runtime.daemon import Daemon

F = TypeVar("F", bound=Callable[..., Any])
Progress = Callable[[str], None]
Duration = timedelta | float


def _silent(line: str) -> None:
    """Progress for nobody."""


class Kgsched:
    """An application: its task types, and a connection to the graph while it is open.

    `async with Kgsched() as app:` connects by the settings of the environment; without KGSCHED_NEO4J_URI the managed
    Neo4j is started. `progress` is told, line by line, what takes long.
    """

    def __init__(
        self, settings: Settings | None = None, *, registry: Registry | None = None, progress: Progress = _silent
    ) -> None:
        self.settings = settings or load_settings()
        self.registry = registry or Registry()
        self._progress = progress
        self._store: Neo4jStore | None = None
        self.caller: Caller | None = None  # whose changes the audit keeps; those of the program itself are not
        set_up_logs(self.settings)

    # task types

    def task(
        self,
        handler: F | None = None,
        *,
        name: str | None = None,
        lane: str = DEFAULT_LANE,
        executor: Executor | None = None,
        max_attempts: int | None = None,
        timeout: Duration | None = None,
        deadline: Duration | None = None,
        lease: Duration | None = None,
        grace: Duration | None = None,
        beat: Duration | None = None,
        max_share: float = 1.0,
        backoff: tuple[Duration, Duration] | None = None,
        permanent: Iterable[type[BaseException]] | type[BaseException] = (),
        transient: Iterable[type[BaseException]] | type[BaseException] = (),
        memory_mb: int | None = None,
        concurrency: int | None = None,
        rate: tuple[int, Duration] | None = None,
    ) -> Any:
        """Register a handler as a task type: `@app.task` or `@app.task(lane="research", max_attempts=5)`.

        name: the function's name unless given. executor: `async` for coroutine functions, else `thread`; `process` can
        be killed. A first parameter called `ctx`, or typed as a context, gets the TaskContext, the others the payload's
        members by name. Durations are timedeltas or seconds; backoff is (base, cap). permanent
        and transient list error classes beyond the general ones. beat, the pause between beats, must be below a third
        of the lease; grace is how long after the lease's end a task is left to its worker.
        concurrency bounds how many run at a time, rate is (starts, period); both hold for the whole cluster, and per
        key where an enqueue gives `gate=`.
        Raises InvalidValue or UnknownName.
        """

        def register(function: F) -> F:
            base, cap = (None, None) if backoff is None else map(millis, pair("backoff", backoff))
            base_cap = None if base is None or cap is None else Backoff(base, cap)
            self.registry.add(
                TaskType(
                    name=name or function.__name__,
                    handler=function,
                    lane=lane,
                    executor=executor,
                    max_attempts=max_attempts,
                    timeout_ms=millis(timeout),
                    deadline_ms=millis(deadline),
                    lease_ms=millis(lease),
                    grace_ms=millis(grace),
                    beat_ms=millis(beat),
                    max_share=max_share,
                    backoff=base_cap,
                    permanent=classes(permanent),
                    transient=classes(transient),
                    memory_mb=memory_mb,
                    limits=_limits(concurrency, rate),
                )
            )
            return function

        return register if handler is None else register(handler)

    def limiter(self, key: str, rate: tuple[int, Duration]) -> None:
        """Declare what `await ctx.limit(key)` waits for: (starts, period), shared by all processes of the cluster."""
        starts, period = pair("rate", rate)
        self.registry.add_limiter(key, Limits(rate=starts, period_ms=millis(period)))

    # the connection

    @cached_property
    def connection(self) -> Connection:
        return Connection(self.settings, self._progress)

    async def open(self, *, migrate: bool = True) -> None:
        """Connect; bring the schema up to date unless told not to."""
        if self._store is not None:
            return
        store = await self.connection.open()
        try:
            await store.verify()
            if migrate:
                await store.migrate()
        except BaseException:
            await store.close()
            raise
        self._store = store

    async def close(self) -> None:
        """Disconnect."""
        store, self._store = self._store, None
        if store is not None:
            await store.close()

    async def __aenter__(self) -> Kgsched:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def store(self) -> Neo4jStore:
        """The store of the open application."""
        if self._store is None:
            raise KgschedError("the application is not connected; use `async with app:` around this")
        return self._store

    @property
    def connected(self) -> bool:
        return self._store is not None

    @property
    def operations(self) -> Operations:
        """All use-cases, as every surface calls them."""
        return self.operations_of(self.caller)

    def operations_of(self, caller: Caller | None) -> Operations:
        """The use-cases as this caller may see them, in the caller's space, its changes kept in the audit."""
        return Operations(self.store, self.registry, self.settings, caller)

    @cached_property
    def sync(self) -> SyncKgsched:
        """The same for code that is not asynchronous."""
        return SyncKgsched(self)

    # tasks

    async def enqueue(self, what: str | Handler, /, *, tx: Transaction | None = None, **keywords: Any) -> Enqueued:
        """Enqueue a task of a type, or of the type of a handler; the keywords are its arguments and these options:

        priority (name or 0 to 3), weight (-400 to 400), eta (datetime, ISO text, epoch ms) or delay (seconds or
        `90s`), id, key with unique_for and on_conflict, source, after (ids) with on_failure, max_attempts, gate, trace.
        With `tx` (`app.transaction()`) the task exists if and only if that transaction commits.
        Returns the task that stands for the request; its `answer` says whether it is new. Raises UsageError, Conflict.
        """
        type_ = what if isinstance(what, str) else self.registry.handler_of(what).name
        return await self.operations.tasks.enqueue(request_of(type_, keywords), tx=tx)

    async def wait(self, id_: str, timeout: float | None = None) -> Any:
        """The result of a task, once it is over. Raises TaskFailed when it did not complete, TimeoutError."""
        waited = await self.operations.tasks.wait([id_], timeout=timeout)
        if not waited.done:
            raise TimeoutError(f"task {id_} is not over after {timeout:g} s")
        task = waited.tasks[0]
        if task["status"] != Status.COMPLETED:
            raise TaskFailed(id_, str(task["status"]), task.get("last_error"))
        return task["result"]

    async def cancel(self, *ids: str) -> list[str]:
        """Cancel tasks; per id `cancelled`, `requested` (it runs and was asked to stop) or `over`."""
        return [one.answer for one in await self.operations.tasks.cancel(ids)]

    async def retry(self, *ids: str) -> list[str]:
        """Bring back tasks that ended badly, and what was cancelled because of them. Raises Conflict."""
        return [one.answer for one in await self.operations.tasks.retry(ids, by="python")]

    async def query(self, cypher: str, /, **params: Any) -> list[dict[str, Any]]:
        """Rows of a read statement."""
        return await self.store.graph.query(cypher, **params)

    def transaction(self, timeout: float = 30.0) -> Any:
        """A transaction on the graph that `enqueue(…, tx=tx)` can join."""
        return self.store.graph.transaction(timeout)

    # running

    @cached_property
    def spawner(self) -> Spawner:
        """Enqueues children of tasks that run here."""
        return Spawner(self.registry, self.settings)

    @asynccontextmanager
    async def worker(self, *, services: bool = True) -> AsyncIterator[Daemon]:
        """Run tasks in this process as long as the block lasts, then drain. `services` fires schedules, reaps, …"""
        from kgsched.runtime.daemon import Daemon

        add_built_in(self.registry, self.settings)
        daemon = Daemon(self.settings, self.registry, self.connection.open, self.spawner, services=services)
        await daemon.start()
        try:
            yield daemon
        finally:
            await daemon.drain()


def _limits(concurrency: int | None, rate: tuple[int, Duration] | None) -> Limits | None:
    if concurrency is None and rate is None:
        return None
    starts, period = (None, None) if rate is None else pair("rate", rate)
    return Limits(concurrency, starts, millis(period))
