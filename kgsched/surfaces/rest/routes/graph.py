"""`POST /graph/<name>`: the graph_ tools as they are."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import APIRouter, Body

from kgsched.surfaces.doors.action import Tool
from kgsched.surfaces.doors.tools import GRAPH_PREFIX, TOOLS
from kgsched.surfaces.rest.problems import documented
from kgsched.surfaces.rest.routes.common import AtDesk, RepeatKey

router = APIRouter(tags=["graph"])
EXAMPLES: dict[str, list[dict[str, Any]]] = {
    "graph_schedules": [{"action": "list"}, {"action": "run_now", "name": "research_feed"}],
    "graph_query": [{"query": "MATCH (s:Schedule) RETURN s.name, s.enabled"}],
    "graph_jobs": [{"action": "list"}],
    "graph_tasks": [{"action": "list", "status": ["failed"]}],
}


def _endpoint(tool: Tool) -> Callable[..., Awaitable[dict[str, Any]]]:
    async def call(desk: AtDesk, given: Any, repeat: RepeatKey = None) -> dict[str, Any]:
        return await tool(desk, given)

    examples = {
        str(place): {"summary": str(one.get("action", "query")), "value": one}
        for place, one in enumerate(EXAMPLES[tool.name])
    }
    body = _body(tool, examples)
    call.__annotations__ = {"desk": AtDesk, "given": body, "repeat": RepeatKey, "return": dict[str, Any]}
    call.__name__ = tool.name
    return call


def _body(tool: Tool, examples: dict[str, Any]) -> Any:
    from typing import Annotated

    return Annotated[tool.body, Body(openapi_examples=examples)]


CHOICES: dict[str, frozenset[str]] = {}  # by path: actions, which are named where a mistake lies


for _tool in TOOLS:
    if _tool.name.startswith(GRAPH_PREFIX):
        _path = f"/graph/{_tool.name.removeprefix(GRAPH_PREFIX)}"
        if _tool.chooses:
            CHOICES[_path] = frozenset(_tool.models)
        _scopes = sorted({one.scope.value for one in _tool.actions})
        router.add_api_route(
            _path,
            _endpoint(_tool),
            methods=["POST"],
            summary=_tool.title,
            description=_tool.description,
            response_model=None,
            responses={**documented(404, 409, 412), 200: {"model": _tool.answer}},
            openapi_extra={"security": [{"token": [scope]} for scope in _scopes]},
        )
