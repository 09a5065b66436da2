"""One connection pool to one database: statements by name, quick retries, errors translated at one place."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import structlog
from neo4j import READ_ACCESS, WRITE_ACCESS, AsyncDriver, AsyncGraphDatabase, Query
from neo4j.exceptions import (
    ConfigurationError,
    DriverError,
    Neo4jError,
)

from kgsched.core.limits import check_transaction_time
from kgsched.errors import (
    ServerTooOld,
    StorageConflict,
    StorageConnectionError,
    StoreError,
)
from kgsched.store.driver_errors import QUICK_RETRIES, quick, timed_out, translate
from kgsched.store.open_transaction import OpenTransaction
from kgsched.store.queries import statement

log = structlog.get_logger(__name__)
Result = TypeVar("Result")

SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
OLDEST_SERVER = (5, 26, 10)
SILENCE_S = 5.0  # beyond the time after which a server that lives gives up by itself
OVERTIME_RETRIES = 2


class Client:
    """Runs statements. Bound to the event loop that first uses it; one session a call, so calls may overlap.

    A connection that was idle for `liveness` seconds is tried before it is used: what lies between may have cut it.
    """

    def __init__(
        self,
        uri: str,
        user: str,
        password: str,
        database: str = "neo4j",
        *,
        pool: int = 16,
        timeout: float = 30.0,
        liveness: float = 10.0,
    ) -> None:
        self.uri, self.user, self.database, self._timeout = uri, user, database, timeout
        self._prefix = ""
        self.quick_retries: Counter[str] = Counter()  # hidden from callers, by code and statement
        if uri.split("://", maxsplit=1)[0] not in SCHEMES:
            raise StoreError(f"KGSCHED_NEO4J_URI {uri!r} must begin with one of {', '.join(SCHEMES)} and ://")
        try:
            self._driver: AsyncDriver = AsyncGraphDatabase.driver(
                uri,
                auth=(user, password),
                max_connection_pool_size=pool,
                connection_timeout=10.0,
                connection_acquisition_timeout=30.0,
                liveness_check_timeout=liveness,
                notifications_min_severity="OFF",
                disable_auto_commit_retries=True,
                user_agent="kgsched",
            )
        except (ConfigurationError, ValueError) as error:
            raise StoreError(f"KGSCHED_NEO4J_URI {uri!r} is not usable: {error}") from None

    async def verify(self) -> tuple[str, str]:
        """Version and edition of the server. Raises ServerTooOld, StorageConnectionError or StoreError."""
        row = (await self.run("cluster/components"))[0]
        version, edition = str(row["version"]), str(row["edition"])
        numbers = tuple(int(part) for part in version.split("-", maxsplit=1)[0].split(".")[:3] if part.isdigit())
        if numbers < OLDEST_SERVER:
            oldest = ".".join(map(str, OLDEST_SERVER))
            raise ServerTooOld(
                f"Neo4j {version} at {self.uri} is older than {oldest}, the oldest that kgsched supports"
            )
        if edition != "community":
            # other runtimes may keep values that were read before a lock was taken
            self._prefix = "CYPHER runtime=slotted "
        return version, edition

    async def run(self, name: str, /, *, timeout: float | None = None, **params: Any) -> list[dict[str, Any]]:
        """Run the statement `noun/verb` as one auto-commit transaction and return its rows.

        Deadlocks and the like are tried again at once, and so is what was rolled back for its time: a first compile on
        a busy machine can take seconds, the second try finds the plan. Raises StorageConnectionError when the outcome
        is unknown.
        """
        one = statement(name)
        text = one.text if one.mode == "schema" else self._prefix + one.text
        limit = timeout or self._timeout
        query = Query(text, timeout=limit)
        access = READ_ACCESS if one.reads_only else WRITE_ACCESS

        async def once() -> list[dict[str, Any]]:
            async with self._driver.session(database=self.database, default_access_mode=access) as session:
                return await (await session.run(query, one.arguments(params))).data()

        return await self._until_done(name, limit, once)

    async def read(self, cypher: str, params: Mapping[str, Any], timeout: float) -> list[dict[str, Any]]:
        """Rows of a user's read statement; writes are refused by the server."""
        try:
            async with self._driver.session(database=self.database, default_access_mode=READ_ACCESS) as session:
                result = await session.run(Query(cypher, timeout=timeout), dict(params))
                return await result.data()
        except (Neo4jError, DriverError, OSError) as error:
            raise translate(error, "query") from error

    @asynccontextmanager
    async def transaction(self, timeout: float = 30.0) -> AsyncIterator[OpenTransaction]:
        """An explicit transaction: committed at the end of the block, rolled back when the block raises.

        Raises StorageConnectionError when the answer to the commit is lost, InvalidValue for a timeout that is none,
        Conflict when it was spoiled.
        """
        limit = check_transaction_time(timeout)
        session = self._driver.session(database=self.database, default_access_mode=WRITE_ACCESS)
        try:
            async with session:
                inner = await session.begin_transaction(timeout=limit)
                async with inner:
                    tx = OpenTransaction(inner, self._prefix)
                    yield tx
                    await tx.commit()
        except (Neo4jError, DriverError, OSError) as error:
            raise translate(error, "transaction") from error

    async def atomically(self, doing: str, work: Callable[[OpenTransaction], Awaitable[Result]]) -> Result:
        """Do several statements in one transaction, all of it again after what `run` tries again.

        Raises StorageConnectionError when the outcome is unknown; what `work` raises rolls all back.
        """

        async def once() -> Result:
            async with self.transaction(self._timeout) as tx:
                return await work(tx)

        return await self._until_done(doing, self._timeout, once)

    async def _until_done(self, doing: str, limit: float, once: Callable[[], Awaitable[Result]]) -> Result:
        overtime = 0
        for attempt in range(QUICK_RETRIES):
            try:
                async with asyncio.timeout(limit + SILENCE_S):
                    return await once()
            except (Neo4jError, StorageConflict) as error:
                why = error.__cause__ if isinstance(error, StorageConflict) else error
                if not isinstance(why, Neo4jError):
                    raise
                overtime += timed_out(why)
                again = quick(why) or 0 < overtime <= OVERTIME_RETRIES
                if not again or attempt == QUICK_RETRIES - 1:
                    raise translate(why, doing) from why
                self.quick_retries[f"{(why.code or '?').rsplit('.', maxsplit=1)[-1]} in {doing}"] += 1
                log.debug("quick retry", statement=doing, code=why.code, attempt=attempt)
                await asyncio.sleep(random.uniform(0.0, 0.01) * min(attempt + 1, 20))
            except TimeoutError as error:
                silent = f"the database said nothing for {limit + SILENCE_S:g} s"
                raise StorageConnectionError(f"{doing}: {silent}") from error
            except (DriverError, OSError) as error:
                raise translate(error, doing) from error
        raise AssertionError("unreachable")

    def raw_session(self, *, read: bool, fetch_size: int = 1000) -> Any:
        """A driver session, for the guarded reader alone."""
        access = READ_ACCESS if read else WRITE_ACCESS
        return self._driver.session(database=self.database, default_access_mode=access, fetch_size=fetch_size)

    async def close(self) -> None:
        await self._driver.close()
