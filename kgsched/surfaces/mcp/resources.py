"""Resources for agents: what is in the graph, and the state of the queue."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from importlib.resources import files
from pathlib import Path

from mcp import types
from mcp.shared.exceptions import MCPError

from kgsched.core.access import Scope
from kgsched.errors import KgschedError
from kgsched.surfaces.doors.action import Desk

SCHEMA = "kgsched://graph/schema"
STATUS = "kgsched://status"
RESOURCES = (
    types.Resource(
        uri=SCHEMA,
        name="schema of the graph",
        description="Labels, properties and relationships that graph_query may rely on, with examples.",
        mime_type="text/markdown",
    ),
    types.Resource(
        uri=STATUS,
        name="state of the queue",
        description="Counts by state and lane, leader, workers, and when each loop last did its work.",
        mime_type="application/json",
    ),
)


async def _schema(_: Desk) -> str:
    return _page()


def _page() -> str:
    packaged = files("kgsched") / "_docs" / "graph.md"
    if packaged.is_file():
        return packaged.read_text(encoding="utf-8")
    return (Path(__file__).resolve().parents[3] / "docs" / "graph.md").read_text(encoding="utf-8")


async def _status(desk: Desk) -> str:
    desk.caller.need(Scope.READ_WORKER)
    return json.dumps(await desk.operations.cluster.status(), ensure_ascii=False)


_READERS: dict[str, Callable[[Desk], Awaitable[str]]] = {SCHEMA: _schema, STATUS: _status}


async def read_resource(desk: Desk, uri: str) -> types.ReadResourceResult:
    """The text of a resource. Raises MCPError for one that does not exist or may not be read."""
    reader = _READERS.get(uri)
    if reader is None:
        raise MCPError(types.INVALID_PARAMS, f"no resource {uri[:200]!r}; there are {', '.join(_READERS)}")
    kind = next(one.mime_type for one in RESOURCES if str(one.uri) == uri)
    try:
        text = await reader(desk)
    except KgschedError as error:
        raise MCPError(types.INVALID_PARAMS, str(error)) from None
    return types.ReadResourceResult(contents=[types.TextResourceContents(uri=uri, text=text, mime_type=kind)])
