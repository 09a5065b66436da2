"""Operations on an empty graph, and commands as processes of their own on the same one."""

from __future__ import annotations

import pytest

from kgsched.config import load_settings
from kgsched.localdb import ServerAddress
from kgsched.operations.facade import Operations
from kgsched.registry import Registry, TaskType
from tests.store.worlds import World
from tests.surfaces.commands import Commands


async def _nothing(ctx: object) -> None:
    """A handler."""


@pytest.fixture
def registry() -> Registry:
    """Types `read` (ingestion), `ask` (queries) and `scheduled_job` (maint, best effort)."""
    one = Registry()
    one.add(TaskType("read", _nothing, max_attempts=5))
    one.add(TaskType("ask", _nothing, lane="queries"))
    one.add(TaskType("scheduled_job", _nothing, lane="maint"))
    return one


@pytest.fixture
def operations(world: World, registry: Registry) -> Operations:
    return Operations(world.store, registry, load_settings())


@pytest.fixture
def commands(world: World, neo4j_server: ServerAddress) -> Commands:
    """Runs `kgsched …` on the empty graph."""
    return Commands(neo4j_server)
