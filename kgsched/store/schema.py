"""Migrations: NNNN_name.cypher in cypher/schema/ and cypher/research/schema/, idempotent, recorded as :Migration."""

from __future__ import annotations

import asyncio
import random
import re

import structlog

from kgsched.errors import SchemaTooNew, StoreError
from kgsched.store.client import Client
from kgsched.store.queries import Statement, statements
from kgsched.version import __version__

log = structlog.get_logger(__name__)
_NUMBER = re.compile(r"(?:research/)?schema/(\d{4})_(\w+)")
_TRIES = 30


def migrations() -> dict[int, Statement]:
    """Migrations by number, in order."""
    found = {}
    for name, one in statements().items():
        match = _NUMBER.fullmatch(name)
        if match:
            found[int(match[1])] = one
    return dict(sorted(found.items()))


async def migrate(client: Client) -> int:
    """Carry out the migrations that the database lacks; return how many. Safe when many processes start at once.

    Raises SchemaTooNew when a newer kgsched wrote the database; nothing is changed then.
    """
    known = migrations()
    done = await recorded(client)
    newer = sorted(set(done) - set(known))
    if newer:
        raise SchemaTooNew(
            f"this database was written by kgsched {done[newer[-1]]} (migration {newer[-1]}), this is {__version__}; "
            "upgrade kgsched, or use another database"
        )
    missing = [number for number in known if number not in done]
    for number in missing:
        await _carry_out(client, number, known[number])
    if missing:
        await client.run("cluster/await_indexes", seconds=300, timeout=310.0)
        log.info("schema migrated", migrations=len(missing))
    return len(missing)


async def recorded(client: Client) -> dict[int, str]:
    """Number of each migration that the database has, and the version that carried it out."""
    return {int(row["number"]): str(row["by"]) for row in await client.run("cluster/migrations")}


async def _carry_out(client: Client, number: int, one: Statement) -> None:
    """Two processes that create the same constraint at once can each be refused once; then it is there."""
    for attempt in range(_TRIES):
        try:
            await client.run(one.name, timeout=120.0)
            await client.run(
                "cluster/record_migration", number=number, name=one.name.rpartition("/")[2], by=__version__
            )
            return
        except StoreError as error:
            if attempt == _TRIES - 1 or not _passing(error):
                raise
            await asyncio.sleep(random.uniform(0.02, 0.2))


def _passing(error: StoreError) -> bool:
    return any(
        text in str(error)
        for text in ("AlreadyExists", "already exists", "Transient", "ConstraintCreationFailed", "Conflict", "Deadlock")
    )
