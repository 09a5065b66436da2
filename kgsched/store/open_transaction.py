"""A transaction that is open, and whether it can still be committed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from neo4j import AsyncTransaction
from neo4j.exceptions import DriverError, Neo4jError

from kgsched.errors import Conflict, KgschedError, StoreError
from kgsched.store.driver_errors import undone
from kgsched.store.queries import statement


class OpenTransaction:
    """A transaction that is open: the user's Cypher, or a statement of kgsched by name."""

    def __init__(self, inner: AsyncTransaction, prefix: str) -> None:
        self._inner, self._prefix = inner, prefix
        self.gates: list[Sequence[str]] = []
        self.spoiled: str | None = None
        self._failed: KgschedError | None = None
        self._over = False

    def spoil(self, why: str) -> None:
        """Refuse the commit: what was written cannot stay as it is."""
        self.spoiled = why

    def owe(self, gates: Iterable[Sequence[str]]) -> None:
        """Gates [space, key] to admit to, once this is committed."""
        self.gates += gates

    def _check(self) -> None:
        if self._inner.closed():
            raise Conflict("this transaction is over; statements and enqueues in it belong inside of its block")
        if self._failed is not None:
            raise StoreError(f"a statement of this transaction failed and undid it; leave its block ({self._failed})")

    async def run(self, cypher: str, /, **params: Any) -> list[dict[str, Any]]:
        self._check()
        try:
            result = await self._inner.run(cypher, params)
            return await result.data()
        except (Neo4jError, DriverError, OSError) as error:
            self._failed = undone(error, "statement in a transaction")
            raise self._failed from error

    async def named(self, name: str, /, **params: Any) -> list[dict[str, Any]]:
        self._check()
        one = statement(name)
        try:
            result = await self._inner.run(self._prefix + one.text, one.arguments(params))
            return await result.data()
        except (Neo4jError, DriverError, OSError) as error:
            self._failed = undone(error, name)
            raise self._failed from error

    async def commit(self) -> None:
        """Commit, unless it was rolled back on purpose. Raises Conflict or StoreError where nothing can be."""
        if self._over:
            return
        if self.spoiled is not None:
            raise Conflict(f"the transaction was rolled back: {self.spoiled}")
        if self._failed is not None:
            raise StoreError(f"the transaction was rolled back: a statement in it failed ({self._failed})")
        if self._inner.closed():
            raise StoreError("the transaction was rolled back: a statement in it was cancelled")
        self._over = True
        await self._inner.commit()

    async def rollback(self) -> None:
        self._over = True
        await self._inner.rollback()
