"""`/healthz`: the process; `/readyz`: the database, its schema, the leader and the loops."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from kgsched.errors import KgschedError
from kgsched.operations.doctor import STALE_LOOP
from kgsched.operations.facade import Operations
from kgsched.surfaces.rest.problems import documented

router = APIRouter(tags=["health"])
READY_S = 5.0


class Health(BaseModel):
    """The process answers."""

    status: str


class Readiness(BaseModel):
    """What was looked at; each check is `ok` or says what is wrong."""

    ready: bool
    checks: dict[str, str]


_PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: one for status, one in documented().items() if status in (408, 413, 415, 421, 403, 400, 500)
}


@router.get("/healthz", responses=_PROBLEMS)
async def healthz() -> Health:
    """The process is alive. Asks nobody."""
    return Health(status="ok")


@router.get("/readyz", responses={**_PROBLEMS, 503: {"model": Readiness}})
async def readyz(request: Request, response: Response) -> Readiness:
    """Whether work that is enqueued here would be done."""
    app = request.app.state.graph.app
    try:
        async with asyncio.timeout(READY_S):
            checks = await _examine(app.operations_of(None), app.store)
    except (KgschedError, TimeoutError):
        checks = {"database": "it does not answer"}
    ready = all(found == "ok" for found in checks.values())
    if not ready:
        response.status_code = 503
    return Readiness(ready=ready, checks=checks)


async def _examine(operations: Operations, store: Any) -> dict[str, str]:
    has, knows = await store.schema_version()
    status = await operations.cluster.status()
    stale = [loop["name"] for loop in status["loops"] if loop["age"] > STALE_LOOP]
    return {
        "database": "ok",
        "schema": "ok" if has == knows else f"migration {has} of {knows}",
        "leader": "ok" if status["leader"]["worker"] else "nobody fires schedules and sweeps",
        "loops": "ok" if not stale else f"stale: {', '.join(stale)}",
        "workers": "ok" if status["workers"] else "nobody runs tasks",
    }
