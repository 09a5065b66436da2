"""Kinds of values that callers send."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from kgsched.core.lanes import LANES
from kgsched.core.states import Status

NO_NUL = r"^[^\x00]*$"
Name = Annotated[str, StringConstraints(min_length=1, max_length=128, pattern=NO_NUL)]
Key = Annotated[str, StringConstraints(min_length=1, max_length=512, pattern=NO_NUL)]
Id = Annotated[
    str,
    StringConstraints(min_length=1, max_length=128, pattern=NO_NUL),
    Field(description="Id or uid of a task.", examples=["sum:2601.00001"]),
]
Ids = Annotated[
    list[Id], Field(min_length=1, max_length=500, description="Ids or uids of tasks.", examples=[["sum:2601.00001"]])
]
ScheduleName = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9_-]{1,64}$"),
    Field(description="Name of the schedule.", examples=["research_feed"]),
]
PriorityName = Literal["critical", "high", "normal", "background", "low", "0", "1", "2", "3"]
Priority = Annotated[
    PriorityName | Annotated[int, Field(ge=0, le=3)],
    Field(description="critical, high, normal, background (or low), or 0 to 3; 0 is the most urgent."),
]
Weight = Annotated[int, Field(ge=-400, le=400, description="Inside a priority, higher goes first.")]
Duration = Annotated[
    Annotated[int, Field(ge=0, le=10**9)]
    | Annotated[float, Field(ge=0, le=1e9)]
    | Annotated[str, Field(max_length=60)],
    Field(description="Seconds, or a text like 90s, 15m, 1h30m, 2d."),
]
Cursor = Annotated[str, Field(max_length=200, description="next_cursor of the page before; left out: the first page.")]
Count = Annotated[int, Field(ge=1, le=500, description="Items of a page.")]
StatusName = Literal["pending", "running", "scheduled", "blocked", "completed", "failed", "cancelled", "dead_letter"]
LaneName = Literal[
    "queries", "ingestion", "connectors", "research", "worldview", "extraction", "enrichment", "maint"
]  # as in core.lanes; a test holds them together
Instant = Annotated[str, Field(description="ISO 8601 in UTC.", examples=["2026-11-30T21:19:00.000Z"])]
MAX_DEPTH = 60


def not_deep(value: Any) -> Any:
    """A value that is nested within bounds."""
    layer, depth = [value], 0
    while layer:
        depth += 1
        if depth > MAX_DEPTH:
            raise ValueError(f"it is nested more than {MAX_DEPTH} levels deep")
        layer = [
            inner
            for outer in layer
            for inner in (outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ())
            if isinstance(inner, (dict, list))
        ]
    return value


Payload = Annotated[JsonValue, AfterValidator(not_deep), Field(description="Any JSON value, up to 1 MiB.")]


class Arguments(BaseModel):
    """What a caller sends: exactly these fields, of exactly these kinds."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Answer(BaseModel):
    """What a caller gets."""

    model_config = ConfigDict(extra="ignore")


assert set(LaneName.__args__) == set(LANES)  # type: ignore[attr-defined]
assert set(StatusName.__args__) == set(Status)  # type: ignore[attr-defined]
