"""What the feed's handlers need of the context that they run in; a task's own context has it."""

from __future__ import annotations

from collections.abc import Awaitable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from kgsched.core.task import Enqueued
from kgsched.ports import Graph, Transaction


class ResearchContext(Protocol):
    """One run of a task."""

    @property
    def uid(self) -> str: ...
    @property
    def space(self) -> str: ...
    @property
    def payload(self) -> Any: ...
    @property
    def graph(self) -> Graph: ...
    def enqueue(self, what: str, /, *, tx: Transaction | None = None, **keywords: Any) -> Awaitable[Enqueued]: ...
    async def limit(self, key: str) -> None: ...
    def finishing(self, *, result: Any = None, timeout: float = 30.0) -> AbstractAsyncContextManager[Transaction]: ...
