"""The type of built-in ticks: runs the job that the payload names."""

from __future__ import annotations

from typing import Any

from kgsched.core.lanes import MAINT
from kgsched.errors import Permanent, UnknownName
from kgsched.registry import SCHEDULED_JOB, Registry, TaskType
from kgsched.runtime.context import TaskContext


def add_scheduled_job(registry: Registry) -> None:
    """Register the type `scheduled_job`, which finds its jobs in the same registry. Does nothing the second time."""
    if registry.find(SCHEDULED_JOB) is not None:
        return

    async def scheduled_job(ctx: TaskContext) -> dict[str, Any]:
        name = ctx.payload.get("job") if isinstance(ctx.payload, dict) else None
        if not isinstance(name, str):
            raise Permanent(f'payload of a {SCHEDULED_JOB} must be {{"job": name}}')
        try:
            job = registry.job(name)
        except UnknownName as error:
            raise Permanent(f"unknown handler: {error}") from None
        return await job.body(ctx)

    registry.add(TaskType(SCHEDULED_JOB, scheduled_job, lane=MAINT.name))
