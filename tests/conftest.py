"""Fixtures for all tests that need a database: one server and one connection pool a session, an empty graph a test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from kgsched.localdb import ServerAddress
from kgsched.store import Neo4jStore
from tests import docker
from tests.server import neo4j_server
from tests.store.worlds import World

__all__ = ["neo4j_server"]


@pytest.fixture(scope="session")
async def migrated_store(neo4j_server: ServerAddress) -> AsyncIterator[Neo4jStore]:
    """A store of the session's database, with the schema. Tests take `store`, which is empty as well."""
    one = open_store(neo4j_server)
    await one.verify()
    await one.migrate()
    yield one
    await one.close()


@pytest.fixture
async def world(migrated_store: Neo4jStore) -> World:
    """An empty graph with shorthands."""
    one = World(migrated_store)
    await one.wipe()
    return one


@pytest.fixture
def store(world: World) -> Neo4jStore:
    """The store of an empty graph."""
    return world.store


def open_store(address: ServerAddress, *, pool: int = 16) -> Neo4jStore:
    """Another connection pool to the same database."""
    return Neo4jStore(address.uri, address.user, address.password, address.database, pool=pool)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    docker.deselect(config, items)
