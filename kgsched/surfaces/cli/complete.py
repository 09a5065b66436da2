"""Shell completion of names: quick, and silent when the graph cannot be asked."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgsched.store import Neo4jStore

WITHIN = 2.0
MOST = 50


def schedule_names(incomplete: str) -> list[str]:
    async def ask(store: Neo4jStore, space: str) -> Iterable[str]:
        return [row["schedule"]["name"] for row in await store.schedules.read(space)]

    return _matching(incomplete, ask)


def task_types(incomplete: str) -> list[str]:
    async def ask(store: Neo4jStore, space: str) -> Iterable[str]:
        return await store.cluster.read_types()

    return _matching(incomplete, ask)


def task_ids(incomplete: str) -> list[str]:
    async def ask(store: Neo4jStore, space: str) -> Iterable[str]:
        from kgsched.core.task_filter import TaskFilter

        return [row["id"] for row in await store.reads.list_tasks(space, TaskFilter(), 200)]

    return _matching(incomplete, ask)


def gate_keys(incomplete: str) -> list[str]:
    async def ask(store: Neo4jStore, space: str) -> Iterable[str]:
        return [row["key"] for row in await store.gates.read(space)]

    return _matching(incomplete, ask)


def statuses(incomplete: str) -> list[str]:
    from kgsched.core.states import Status

    return [one.value for one in Status if one.value.startswith(incomplete)]


def priorities(incomplete: str) -> list[str]:
    from kgsched.core.priority import NAMES

    return [name for name in NAMES if name.startswith(incomplete)]


def lanes(incomplete: str) -> list[str]:
    from kgsched.core.lanes import LANES

    return [name for name in LANES if name.startswith(incomplete)]


def _matching(incomplete: str, ask: Callable[[Neo4jStore, str], Awaitable[Iterable[str]]]) -> list[str]:
    found: Iterable[str] = ()
    with contextlib.suppress(Exception):  # a shell must not see a traceback in the middle of a line
        found = asyncio.run(_ask(ask))
    return sorted({name for name in found if name.startswith(incomplete)})[:MOST]


async def _ask(ask: Callable[[Neo4jStore, str], Awaitable[Iterable[str]]]) -> Iterable[str]:
    """Ask the database that is there; none is started for it."""
    from kgsched.config import load_settings
    from kgsched.localdb import ManagedServer
    from kgsched.store import Neo4jStore, probe

    settings = load_settings()
    if settings.neo4j_uri:
        password = settings.neo4j_password.get_secret_value() if settings.neo4j_password else ""
        login = (settings.neo4j_uri, settings.neo4j_user, password, settings.neo4j_database)
    else:
        status = ManagedServer(settings, probe).status()
        if not status.ready or status.uri is None:
            return ()
        login = (status.uri, "neo4j", status.password_file.read_text(encoding="utf-8").strip(), "neo4j")
    store = Neo4jStore(*login, pool=1, timeout=WITHIN)
    try:
        async with asyncio.timeout(WITHIN):
            return await ask(store, settings.space)
    finally:
        await store.close()
