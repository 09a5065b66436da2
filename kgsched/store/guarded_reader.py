"""Runs a person's read statement: judged first, one at a time, bounded in time, rows and bytes, rolled back."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from neo4j import Record
from neo4j.exceptions import BrokenRecordError, DriverError, Neo4jError

from kgsched.core.query_guard import QueryAnswer, check_plan, check_text
from kgsched.errors import BudgetExceeded, InvalidValue
from kgsched.store.client import Client
from kgsched.store.driver_errors import translate
from kgsched.store.plain_values import plain

SECONDS = 4.0
CLOSE_AFTER = 2.0  # beyond the server's own timeout, then the connection is closed
STOPPING_LOOKS = 10
FETCH = 5
MAX_PARAMS = 64 * 1024
APP = "kgsched graph_query"
_TAG = {"app": APP}
_PLACE = re.compile(r"line (\d+), column (\d+) \(offset: \d+\)")
_BEYOND = "(a value that Python cannot hold, such as a year beyond 9999)"


class GuardedReader:
    """A connection of its own for guarded queries, opened at the first one."""

    def __init__(self, connect: Callable[[], Client]) -> None:
        self._connect = connect
        self._client: Client | None = None
        self._one = asyncio.Lock()

    async def run(
        self, text: str, params: Mapping[str, Any], *, rows: int, size: int, seconds: float = SECONDS
    ) -> QueryAnswer:
        """Rows of one statement, up to `rows` and `size` bytes of JSON.

        Raises SecurityError when it is refused (it was not run then), BudgetExceeded when the time is over before
        the first row, InvalidValue when the server does not understand it.
        """
        _check_params(params)
        statement = check_text(text, params)
        if any(0xD800 <= ord(char) <= 0xDFFF for char in text):
            raise InvalidValue("the statement is not valid UTF-8 text")
        async with self._one:
            self._client = self._client or self._connect()
            await self._after_the_last(self._client)
            found: list[dict[str, Any]] = []
            columns: list[str] = []
            try:
                async with asyncio.timeout(seconds + CLOSE_AFTER):
                    cut = await self._run(statement, params, seconds, (rows, size), columns, found)
            except TimeoutError:
                cut = "time"
            except (Neo4jError, DriverError, OSError) as error:
                if not _timed_out(error):
                    raise _explained(error) from error
                cut = "time"
        if cut == "time" and not found:
            raise BudgetExceeded(
                f"the query took longer than {seconds:g} s and was stopped; narrow it, or use an index"
            )
        return QueryAnswer(tuple(columns), tuple(found), cut)

    async def _run(
        self,
        statement: str,
        params: Mapping[str, Any],
        seconds: float,
        limits: tuple[int, int],
        columns: list[str],
        found: list[dict[str, Any]],
    ) -> str | None:
        """Fill `columns` and `found`; return why it stopped early. Cancelling it closes the connection."""
        assert self._client is not None
        async with self._client.raw_session(read=True, fetch_size=FETCH) as session:
            tx = await session.begin_transaction(timeout=seconds, metadata=_TAG)
            async with tx:  # never committed
                summary = await (await tx.run(f"EXPLAIN\n{statement}", dict(params))).consume()
                check_plan(summary.query_type, summary.plan)
                result = await tx.run(statement, dict(params))
                columns.extend(result.keys())
                left = limits[1]
                async for record in result:
                    if len(found) >= limits[0]:
                        return "rows"
                    row = {name: _value(record, name) for name in record.keys()}  # noqa: SIM118 - of a Record, values
                    left -= len(json.dumps(row, ensure_ascii=False).encode("utf-8", "replace"))
                    if left < 0:
                        return "bytes"
                    found.append(row)
        return None

    async def _after_the_last(self, client: Client) -> None:
        """What was stopped, by whatever process, may still burn a processor: nothing new beside it."""
        for _ in range(STOPPING_LOOKS):
            if not (await client.run("cluster/guarded_queries", app=APP))[0]["stopping"]:
                return
            await asyncio.sleep(0.2)
        raise BudgetExceeded("an earlier query took too long, and the server is still stopping it; try again later")

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()


def _value(record: Record, name: str) -> Any:
    try:
        return plain(record[name])
    except BrokenRecordError:
        return _BEYOND


def _check_params(params: Mapping[str, Any]) -> None:
    try:
        size = len(json.dumps(dict(params), allow_nan=False, ensure_ascii=False).encode())
        _check_numbers(params)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidValue(f"the parameters are not usable: {error}") from None
    if size > MAX_PARAMS:
        raise InvalidValue(f"the parameters are {size} bytes; the limit is {MAX_PARAMS}")


def _check_numbers(value: Any) -> None:
    """The database knows whole numbers of 64 bits."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise ValueError(f"{str(value)[:40]} is beyond 64 bits")
    for inner in value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ():
        _check_numbers(inner)


def _timed_out(error: Exception) -> bool:
    code = getattr(error, "code", None) or ""
    return "TimedOut" in code or "Terminated" in code


def _as_written(place: re.Match[str]) -> str:
    """EXPLAIN stands on a line of its own before the query."""
    return f"line {max(1, int(place[1]) - 1)}, column {place[2]}"


def _explained(error: Exception) -> Exception:
    code = getattr(error, "code", None) or ""
    if "Statement" in code:
        told = _PLACE.sub(_as_written, str(getattr(error, "message", error)))
        return InvalidValue(f"the query is not usable: {told}")
    if "MemoryPool" in code or "OutOfMemory" in code:
        return BudgetExceeded("the query needs more memory than the server gives it; narrow it")
    return translate(error, "graph-query")
