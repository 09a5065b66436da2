"""Routes, by resource."""

from __future__ import annotations

from kgsched.surfaces.rest.routes import cluster, events, graph, health, schedules, tasks, work_items

ROUTERS = (
    health.router,
    graph.router,
    tasks.router,
    schedules.router,
    cluster.router,
    work_items.router,
    events.router,
)

__all__ = ["ROUTERS"]
