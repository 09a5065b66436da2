"""`/v1/work-items`: tasks, for clients that know that vocabulary."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query

from kgsched.surfaces.doors import arguments
from kgsched.surfaces.doors import work_items as actions
from kgsched.surfaces.doors.fields import Count
from kgsched.surfaces.rest.routes.common import AtDesk, RepeatKey, about

router = APIRouter(prefix="/v1/work-items", tags=["work items"])
WorkItemId = Annotated[
    str,
    Path(alias="id", min_length=1, max_length=140, pattern=r"^[^\x00/]*$", description="Its id, `work_item:<uid>`."),
]


class Filter(arguments.ListWorkItems, strict=False):
    """Which work items to list."""

    limit: Count = 50


@router.get("", **about(actions.LIST))
async def list_work_items(desk: AtDesk, chosen: Annotated[Filter, Query()]) -> Any:
    return await actions.LIST(desk, chosen)


@router.get("/{id}", **about(actions.SHOW, 404))
async def show_work_item(desk: AtDesk, id_: WorkItemId) -> Any:
    return await actions.SHOW(desk, arguments.OneWorkItem(id=id_))


@router.post("/{id}/retry", status_code=202, **about(actions.RETRY, 404, 409))
async def retry_work_item(desk: AtDesk, id_: WorkItemId, repeat: RepeatKey = None) -> Any:
    """Failed and dead-lettered ones only; 409 for all others. The answer says that it is queued, not done."""
    return await actions.RETRY(desk, arguments.OneWorkItem(id=id_))
