"""A worker under test: handlers are added to its registry, tasks are enqueued in a real, empty graph."""

from __future__ import annotations

import pytest

from kgsched.localdb import ServerAddress
from tests.runtime.bench import Bench
from tests.store.worlds import World


@pytest.fixture
def bench(world: World, neo4j_server: ServerAddress) -> Bench:
    return Bench(world, neo4j_server)
