"""The context's coroutines for handlers that are plain functions in a thread."""

from __future__ import annotations

import threading
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from kgsched.core.task import Enqueued
from kgsched.ports import Transaction
from kgsched.registry import Handler
from kgsched.runtime.side_loop import SideLoop

if TYPE_CHECKING:
    from kgsched.runtime.context import TaskContext

T = TypeVar("T")


class SyncContext:
    """Runs the context's own coroutines on the handlers' event loop and waits for them: no second copy."""

    def __init__(self, context: TaskContext, bodies: SideLoop) -> None:
        self._context = context
        self._bodies = bodies

    def enqueue(self, what: str | Handler, /, *, tx: SyncTransaction | None = None, **keywords: Any) -> Enqueued:
        """As TaskContext.enqueue."""
        inner = None if tx is None else tx.inner
        return self.wait(self._context.enqueue(what, tx=inner, **keywords))

    def progress(self, value: Any) -> None:
        """As TaskContext.progress."""
        self.wait(self._context.progress(value))

    def limit(self, key: str) -> None:
        """As TaskContext.limit."""
        self.wait(self._context.limit(key))

    def query(self, cypher: str, /, **params: Any) -> list[dict[str, Any]]:
        """As TaskContext.graph.query."""
        return self.wait(self._context.graph.query(cypher, **params))

    @contextmanager
    def finishing(self, *, result: Any = None, timeout: float = 30.0) -> Iterator[SyncTransaction]:
        """As TaskContext.finishing."""
        manager = self._context.finishing(result=result, timeout=timeout)
        tx = self.wait(_enter(manager.__aenter__()))
        try:
            yield SyncTransaction(tx, self)
        except BaseException as error:
            if not self.wait(_enter(manager.__aexit__(type(error), error, error.__traceback__))):
                raise
        else:
            self.wait(_enter(manager.__aexit__(None, None, None)))

    def wait(self, work: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """Run a coroutine on the handlers' event loop and return its result; TimeoutError after `timeout` seconds."""
        if threading.current_thread() is self._bodies.thread:
            work.close()
            raise RuntimeError("ctx.sync would wait for itself here: an async handler awaits the context's own methods")
        return self._bodies.submit(work).result(timeout)


class SyncTransaction:
    """A transaction for a plain function."""

    def __init__(self, inner: Transaction, sync: SyncContext) -> None:
        self.inner = inner
        self._sync = sync

    def run(self, cypher: str, /, **params: Any) -> list[dict[str, Any]]:
        return self._sync.wait(_enter(self.inner.run(cypher, **params)))


async def _enter(step: Any) -> Any:
    return await step
