"""`/v1/lanes`, `/v1/types`, `/v1/workers`."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Body

from kgsched.core.access import Scope
from kgsched.surfaces.doors import arguments
from kgsched.surfaces.doors import cluster as actions
from kgsched.surfaces.doors import cluster_answers as answers
from kgsched.surfaces.rest.routes.common import AtDesk, PlainName, RepeatKey, about, needs

router = APIRouter(prefix="/v1", tags=["cluster"])
Why = Annotated[arguments.Pause | None, Body()]
_PAUSE = needs(Scope.WRITE_WORKER, 404) | {"response_model": answers.Paused}


@router.get("/lanes", **about(actions.LANES))
async def list_lanes(desk: AtDesk) -> Any:
    return await actions.LANES(desk, arguments.Nothing())


@router.get("/workers", **about(actions.WORKERS))
async def list_workers(desk: AtDesk) -> Any:
    return await actions.WORKERS(desk, arguments.Nothing())


@router.post("/lanes/{name}/pause", summary="Hold back new claims of a lane", **_PAUSE)
async def pause_lane(desk: AtDesk, name: PlainName, why: Why = None, repeat: RepeatKey = None) -> Any:
    return await _pause(desk, "lane", name, True, why)


@router.post("/lanes/{name}/resume", summary="Let a lane go on", **_PAUSE)
async def resume_lane(desk: AtDesk, name: PlainName, repeat: RepeatKey = None) -> Any:
    return await _pause(desk, "lane", name, False, None)


@router.post("/types/{name}/pause", summary="Hold back new claims of a task type", **_PAUSE)
async def pause_type(desk: AtDesk, name: PlainName, why: Why = None, repeat: RepeatKey = None) -> Any:
    return await _pause(desk, "type", name, True, why)


@router.post("/types/{name}/resume", summary="Let a task type go on", **_PAUSE)
async def resume_type(desk: AtDesk, name: PlainName, repeat: RepeatKey = None) -> Any:
    return await _pause(desk, "type", name, False, None)


async def _pause(desk: AtDesk, kind: str, name: str, paused: bool, why: arguments.Pause | None) -> dict[str, Any]:
    await desk.need(Scope.WRITE_WORKER, f"{kind} {'pause' if paused else 'resume'}")
    cluster = desk.operations.cluster
    change = cluster.pause_lane if kind == "lane" else cluster.pause_type
    await change(name, paused, desk.caller.by, why.why if why else None)
    return {"name": name, "paused": paused}
