"""Faults under load, in short: nothing is lost, no claim runs twice, writes made with a completion are there once.

scripts/torture runs the same scenarios with 20,000 tasks each.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kgsched.localdb import ManagedServer, ServerAddress
from kgsched.store import probe
from tests.conftest import open_store
from tests.faults.scenarios import ON_A_SERVER_THAT_STAYS, Scenario, restarts
from tests.faults.stage import Scale, Stage
from tests.server import local_settings
from tests.store.worlds import World

SHORT = Scale(tasks=200, faults=2, pause=0.4)


@pytest.mark.processes
@pytest.mark.parametrize("scenario", ON_A_SERVER_THAT_STAYS, ids=lambda one: one.__name__)
async def test_nothing_is_lost_and_nothing_is_done_twice(
    scenario: Scenario, world: World, neo4j_server: ServerAddress, tmp_path: Path
) -> None:
    verdict = await scenario(Stage(neo4j_server, world, tmp_path, SHORT))
    assert verdict.wrong == {}
    assert verdict.tasks >= SHORT.tasks
    assert verdict.faults >= 1


@pytest.fixture
async def own_server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[ManagedServer, World]]:
    """A server that may be killed."""
    server = ManagedServer(local_settings(tmp_path_factory.mktemp("own")), probe)
    with server.hold() as address:
        store = open_store(address)
        await store.migrate()
        yield server, World(store)
        await store.close()


@pytest.mark.processes
@pytest.mark.timeout(400)
async def test_a_killed_database_loses_nothing(own_server: tuple[ManagedServer, World], tmp_path: Path) -> None:
    server, world = own_server
    stage = Stage(server.ensure(), world, tmp_path, Scale(tasks=100, faults=1, pause=0.4, patience=350.0))
    verdict = await restarts(server)(stage)
    assert verdict.wrong == {}
    assert verdict.faults == 1
