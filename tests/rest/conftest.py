"""The application with two task types, and clients of its HTTP door, on an empty graph."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from kgsched import Kgsched
from kgsched.config import Settings, load_settings
from kgsched.localdb import ServerAddress
from kgsched.surfaces.rest.app import HttpApp
from tests.rest.running import client, running
from tests.store.worlds import World


async def _nothing(ctx: object) -> None:
    """A handler."""


@pytest.fixture
def settings(neo4j_server: ServerAddress, tmp_path: Path) -> Settings:
    return load_settings(
        neo4j_uri=neo4j_server.uri,
        neo4j_user=neo4j_server.user,
        neo4j_password=neo4j_server.password,
        home=tmp_path,
        log_level="error",
    )


@pytest.fixture
async def app(world: World, settings: Settings) -> AsyncIterator[Kgsched]:
    """Types `read` (ingestion) and `ask` (queries)."""
    one = Kgsched(settings)
    one.task(_nothing, name="read", max_attempts=5)
    one.task(_nothing, name="ask", lane="queries")
    async with one:
        yield one


@pytest.fixture
async def http(app: Kgsched) -> AsyncIterator[HttpApp]:
    async with running(HttpApp(app)) as one:
        yield one


@pytest.fixture
async def web(http: HttpApp) -> AsyncIterator[httpx.AsyncClient]:
    """The local user: no token, from this machine."""
    async with client(http) as one:
        yield one
