"""Helpers for tests of code that uses kgsched: a graph of its own, and running what is queued."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from kgsched.app import Kgsched
from kgsched.config import load_settings
from kgsched.core.states import Status

__all__ = ["run_until_idle", "temporary_app"]

_BUSY = frozenset({Status.PENDING, Status.RUNNING})
_POLL = 0.05


@asynccontextmanager
async def temporary_app(app: Kgsched | None = None, **settings: Any) -> AsyncIterator[Kgsched]:
    """An open application on a managed Neo4j in a temporary folder, which is stopped and deleted afterwards.

    The task types of `app` are taken; `settings` are those of kgsched.Settings. Takes seconds: keep one a session.
    """
    with tempfile.TemporaryDirectory(prefix="kgsched-test-") as folder:
        chosen = load_settings(**{"poll": 0.05, **settings, "home": Path(folder)})
        own = Kgsched(chosen.model_copy(update={"neo4j_uri": None}), registry=app.registry if app else None)
        async with own.connection.held(), own:
            yield own


async def run_until_idle(app: Kgsched, timeout: float = 30.0) -> None:
    """Run tasks in this process until none is pending or running. Raises TimeoutError.

    What is scheduled for later or waits for another task that failed stays as it is.
    """
    async with asyncio.timeout(timeout), app.worker():
        while await _busy(app):  # noqa: ASYNC110 - the state lies in the database, where no event comes from
            await asyncio.sleep(_POLL)


async def _busy(app: Kgsched) -> bool:
    counts = await app.store.cluster.count_tasks(app.settings.space)
    return any(row["status"] in _BUSY for row in counts)
