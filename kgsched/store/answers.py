"""Answers that are kept for those who ask the same again, and deeds that are done once, however often asked for."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from kgsched.core.limits import KEEP_ANSWERS_MS
from kgsched.core.task import Swept
from kgsched.errors import StorageConflict
from kgsched.store.client import Client
from kgsched.store.open_transaction import OpenTransaction

Outcome = TypeVar("Outcome")
_TRIES = 8


class Answers:
    """Methods are the statements of the same name under cypher/idempotency/."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def take(self, key: str, print_: str, holder: str, keep_ms: int, patience_ms: int) -> dict[str, Any]:
        """Row {mine, again, print, since, status, body, kind, etag}."""
        for _ in range(_TRIES):
            rows = await self._client.run(
                "idempotency/take", key=key, print=print_, holder=holder, keep_ms=keep_ms, patience_ms=patience_ms
            )
            if rows and rows[0]["print"] is not None:
                return rows[0]
        raise StorageConflict("the Idempotency-Key keeps being forgotten; try again")

    async def keep(self, key: str, holder: str, status: int, body: str, kind: str, etag: str | None) -> None:
        await self._client.run(
            "idempotency/keep", key=key, holder=holder, status=status, body=body, kind=kind, etag=etag
        )

    async def release(self, key: str, holder: str, *, refused: bool) -> None:
        await self._client.run("idempotency/release", key=key, holder=holder, refused=refused)

    async def forget(self, n: int = 1000) -> Swept:
        """Delete what is no longer kept."""
        count = int((await self._client.run("idempotency/forget", n=n))[0]["forgotten"])
        return Swept("forget_answers", count, more=count >= n)


@dataclass(frozen=True, slots=True)
class Mark:
    """What a deed is known by, and for how long (ms)."""

    key: str
    keep_ms: int = KEEP_ANSWERS_MS


async def once(
    tx: OpenTransaction, mark: Mark, deed: Callable[[], Awaitable[Outcome]], done: Callable[[Outcome], bool] = bool
) -> Outcome:
    """What a deed came to (a JSON value): when it was done under this mark before, what it came to then.

    The outcome is kept by the transaction of the deed itself, if `done` says that there is something to keep.
    """
    row = (await tx.named("idempotency/begin", key=mark.key, keep_ms=mark.keep_ms))[0]
    if row["outcome"] is not None:
        before: Outcome = json.loads(row["outcome"])
        return before
    outcome = await deed()
    if done(outcome):
        await tx.named("idempotency/settle", key=mark.key, outcome=json.dumps(outcome))
    return outcome


async def done_once(
    client: Client, name: str, params: Mapping[str, Any], mark: str | None, done: Callable[[dict[str, Any]], bool]
) -> list[dict[str, Any]]:
    """Rows of a statement that answers with one row or none; with a mark, those of the time when it did something."""
    if mark is None:
        return await client.run(name, **params)
    own = Mark(mark)
    return await client.atomically(
        name, lambda tx: once(tx, own, lambda: tx.named(name, **params), lambda rows: bool(rows) and done(rows[0]))
    )
