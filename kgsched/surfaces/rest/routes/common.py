"""What all routes share: the desk of the caller, and how they are documented."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Header, Path, Request

from kgsched.core.access import Scope
from kgsched.surfaces.doors.action import Action, Desk
from kgsched.surfaces.rest.problems import documented
from kgsched.surfaces.rest.repeats import MARK


def desk_of(request: Request) -> Desk:
    """The desk of whoever sent the request."""
    return Desk(request.app.state.graph.app, request.state.caller, getattr(request.state, MARK, None))


AtDesk = Annotated[Desk, Depends(desk_of)]
RepeatKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        pattern=r"^[!-~]+( [!-~]+)*$",
        description="Any text; the same request under the same key gets its answer again, for a day, unless refused.",
    ),
]
TaskId = Annotated[
    str,
    Path(alias="id", min_length=1, max_length=128, pattern=r"^[^\x00]*$", description="Id or uid of the task."),
]
ScheduleName = Annotated[str, Path(pattern=r"^[a-z0-9_-]{1,64}$", description="Name of the schedule.")]
PlainName = Annotated[str, Path(min_length=1, max_length=128, pattern=r"^[^\x00/]*$")]


def about(action: Action, *statuses: int, summary: str | None = None) -> dict[str, Any]:
    """Keywords of a route that carries out an action."""
    return needs(action.scope, *statuses) | {
        "summary": summary or f"{action.summary[0].upper()}{action.summary[1:]}",
        "response_model": action.answer,
    }


def needs(scope: Scope, *statuses: int) -> dict[str, Any]:
    """Keywords of a route that needs a scope, and may answer with these problems."""
    return {
        "responses": documented(*statuses),
        "openapi_extra": {"security": [{"token": [scope.value]}]},
    }
