"""Types and jobs that every daemon has: the sweeps, and the research feed."""

from __future__ import annotations

from kgsched.config import Settings
from kgsched.operations.sweep_jobs import sweep_jobs
from kgsched.registry import SCHEDULED_JOB, Registry


def add_built_in(registry: Registry, settings: Settings) -> None:
    """Register them once; a registry that has them stays as it is."""
    from kgsched.research.handlers import register  # slow to import, and only who runs tasks needs it
    from kgsched.runtime.scheduled_job import add_scheduled_job

    if registry.find(SCHEDULED_JOB) is not None:
        return
    add_scheduled_job(registry)
    for job in sweep_jobs(settings, registry):
        registry.add_job(job)
    register(registry, settings)
