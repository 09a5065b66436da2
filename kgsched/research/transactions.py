"""Short transactions that may be tried again when another one was in their way."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_attempt, wait_random

from kgsched.errors import StorageConflict
from kgsched.ports import Graph, Transaction

T = TypeVar("T")
_TRIES = 6


async def in_transaction(graph: Graph, work: Callable[[Transaction], Awaitable[T]]) -> T:
    """Do the work in a transaction of its own, again after a deadlock; what it raises rolls the transaction back."""
    async for attempt in AsyncRetrying(
        retry=retry_if_exception_type(StorageConflict),
        stop=stop_after_attempt(_TRIES),
        wait=wait_random(0, 0.1),
        reraise=True,
    ):
        with attempt:
            async with graph.transaction() as tx:
                result = await work(tx)
    return result
