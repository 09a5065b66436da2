"""Where the graph is: the database that the settings name, or the managed Neo4j."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from kgsched.config import Settings
from kgsched.errors import InvalidValue
from kgsched.localdb import ManagedServer, Progress
from kgsched.store import Neo4jStore, probe

BEAT_POOL = 2


@dataclass(frozen=True, slots=True)
class Address:
    """Where to log in."""

    uri: str
    user: str
    password: str = field(repr=False)
    database: str


class Connection:
    """Opens stores for one database. With the managed Neo4j it starts the server, and again when it died."""

    def __init__(self, settings: Settings, progress: Progress) -> None:
        self._settings = settings
        self._address: Address | None = None
        self._starting = asyncio.Lock()
        self.server = None if settings.neo4j_uri else ManagedServer(settings, probe, progress)

    async def address(self) -> Address:
        """The database's address; the managed server is started when none runs."""
        if self.server is None:
            return _named(self._settings)
        async with self._starting:
            found = await asyncio.to_thread(self.server.ensure)
        self._address = Address(found.uri, found.user, found.password, found.database)
        return self._address

    async def open(self, pool: int = 16) -> Neo4jStore:
        """A store on the running event loop."""
        address = await self.address()
        return Neo4jStore(address.uri, address.user, address.password, address.database, pool=pool)

    async def open_for_beats(self) -> Neo4jStore:
        return await self.open(BEAT_POOL)

    async def revive(self) -> bool:
        """Start the managed server again if it died; False where somebody else runs the database."""
        if self.server is None:
            return False
        await self.address()
        return True

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Keep the managed server running as long as the block lasts; the last one that leaves stops it."""
        if self.server is None:
            yield
            return
        async with _in_thread(self.server) as found:
            self._address = Address(found.uri, found.user, found.password, found.database)
            yield


@asynccontextmanager
async def _in_thread(server: ManagedServer) -> AsyncIterator[Address]:
    holder = server.hold()
    found = await asyncio.to_thread(holder.__enter__)
    try:
        yield Address(found.uri, found.user, found.password, found.database)
    finally:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.shield(asyncio.to_thread(holder.__exit__, None, None, None))


def _named(settings: Settings) -> Address:
    if settings.neo4j_password is None:
        raise InvalidValue("KGSCHED_NEO4J_URI is set but KGSCHED_NEO4J_PASSWORD is not; set it, or unset both")
    assert settings.neo4j_uri is not None
    return Address(
        settings.neo4j_uri, settings.neo4j_user, settings.neo4j_password.get_secret_value(), settings.neo4j_database
    )
