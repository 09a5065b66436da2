"""How handlers run: on the handlers' event loop, in a thread, or in a process."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from typing import Any

from kgsched.core.binding import bind
from kgsched.core.outcome import Outcome
from kgsched.registry import TaskType
from kgsched.runtime.body import Body, End
from kgsched.runtime.context import TaskContext
from kgsched.runtime.outcomes import completed, raised
from kgsched.runtime.process_body import ProcessBody
from kgsched.runtime.side_loop import SideLoop


def start_body(task_type: TaskType, context: TaskContext, bodies: SideLoop) -> Body:
    """Start the handler of a task in the way its type asks for."""
    match task_type.executor:
        case "thread":
            return ThreadBody(task_type, context)
        case "process":
            return ProcessBody(task_type, context)
        case _:
            return AsyncBody(task_type, context, bodies)


class AsyncBody:
    """A coroutine on the handlers' event loop; `stop` cancels it."""

    def __init__(self, task_type: TaskType, context: TaskContext, bodies: SideLoop) -> None:
        self._type = task_type
        self._context = context
        self._bodies = bodies
        self._end = End()
        self._task: asyncio.Task[Outcome] | None = None
        self._stopped = False
        self.ended = self._end.future
        bodies.call(self._begin)

    def stop(self) -> None:
        self._bodies.call(self._cancel)

    def abandon(self) -> None:
        """Nothing more can be done to it."""

    def _begin(self) -> None:
        self._task = self._bodies.loop.create_task(self._main(), name=f"task:{self._context.id}")
        self._task.add_done_callback(self._done)
        if self._stopped:
            self._task.cancel()

    def _cancel(self) -> None:
        self._stopped = True
        if self._task is not None:
            self._task.cancel()

    async def _main(self) -> Outcome:
        try:
            value = _call(self._type, self._context)
            if inspect.isawaitable(value):
                value = await value
        except BaseException as error:  # noqa: BLE001 - every way out of a handler has an outcome, SystemExit too
            return _raised(self._type, error)
        return completed(self._type.name, value)

    def _done(self, task: asyncio.Task[Outcome]) -> None:
        cancelled = _raised(self._type, asyncio.CancelledError("cancelled before it began"))
        self._end.tell(cancelled if task.cancelled() else task.result())


class ThreadBody:
    """A plain function in a thread of its own; it can only see `ctx.cancelled`, nothing ends it from outside."""

    def __init__(self, task_type: TaskType, context: TaskContext) -> None:
        self._type = task_type
        self._context = context
        self._end = End()
        self.ended = self._end.future
        where = contextvars.copy_context()
        name = f"kgsched-body-{context.id[:40]}"
        threading.Thread(target=where.run, args=(self._main,), name=name, daemon=True).start()

    def stop(self) -> None:
        """The context's cancel sign has been given already."""

    def abandon(self) -> None:
        """Nothing more can be done to it."""

    def _main(self) -> None:
        try:
            value = _call(self._type, self._context)
            if inspect.iscoroutine(value):
                value = self._context.sync.wait(value)
        except BaseException as error:  # noqa: BLE001 - every way out of a handler has an outcome, SystemExit too
            self._end.tell(_raised(self._type, error))
            return
        self._end.tell(completed(self._type.name, value))


def _call(task_type: TaskType, context: TaskContext) -> Any:
    args, kwargs = bind(task_type.name, task_type.handler, context, context.payload)
    return task_type.handler(*args, **kwargs)


def _raised(task_type: TaskType, error: BaseException) -> Outcome:
    return raised(error, permanent=task_type.permanent, transient=task_type.transient)
