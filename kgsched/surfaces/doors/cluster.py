"""What all share: lanes, types, workers, jobs, and the read-only query."""

from __future__ import annotations

import asyncio
from typing import Any

from kgsched.core.access import Scope
from kgsched.errors import BudgetExceeded
from kgsched.operations.query import answer_record
from kgsched.surfaces.doors import arguments
from kgsched.surfaces.doors import cluster_answers as answers
from kgsched.surfaces.doors.action import Action, Desk

JOB_S = 60.0


async def _lanes(desk: Desk, _: arguments.Nothing) -> dict[str, Any]:
    cluster = desk.operations.cluster
    return {"lanes": await cluster.lanes(), "types": await cluster.types()}


async def _workers(desk: Desk, _: arguments.Nothing) -> dict[str, Any]:
    return {"workers": await desk.operations.cluster.workers()}


async def _jobs(desk: Desk, _: arguments.Nothing) -> dict[str, Any]:
    return {"jobs": desk.operations.jobs.list_jobs()}


async def _run_job(desk: Desk, given: arguments.OneJob) -> dict[str, Any]:
    try:
        async with asyncio.timeout(JOB_S):
            return {"report": await desk.operations.jobs.run(given.name)}
    except TimeoutError:
        raise BudgetExceeded(
            f"job {given.name!r} took longer than {JOB_S:g} s and was stopped; run it again to go on, "
            "or its schedule, whose ticks may take longer"
        ) from None


async def _query(desk: Desk, given: arguments.Query) -> dict[str, Any]:
    return answer_record(await desk.operations.query(given.query, given.params, given.limit))


LANES = Action(
    "list",
    "lanes and types",
    arguments.Nothing,
    answers.Lanes,
    Scope.READ_WORKER,
    _lanes,
    reads=True,
    repeatable=True,
)
WORKERS = Action(
    "list",
    "the workers that are alive",
    arguments.Nothing,
    answers.Workers,
    Scope.READ_WORKER,
    _workers,
    reads=True,
    repeatable=True,
)
JOBS = Action(
    "list",
    "the jobs that can be run by name",
    arguments.Nothing,
    answers.Jobs,
    Scope.READ_ADMIN,
    _jobs,
    reads=True,
    repeatable=True,
)
RUN_JOB = Action(
    "run",
    "run one here and now, outside of any task, up to a minute",
    arguments.OneJob,
    answers.JobReport,
    Scope.WRITE_ADMIN,
    _run_job,
    repeatable=True,
)
QUERY = Action(
    "query",
    "rows of one statement",
    arguments.Query,
    answers.QueryRows,
    Scope.READ_GRAPH,
    _query,
    reads=True,
    repeatable=True,
)
