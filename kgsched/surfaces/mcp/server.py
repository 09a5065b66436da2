"""The tools as an MCP server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import structlog
from mcp import types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from pydantic import TypeAdapter, ValidationError

from kgsched.errors import (
    Forbidden,
    KgschedError,
    NotFound,
    SecurityError,
    StoreError,
    Unauthorized,
    UnknownName,
    UsageError,
)
from kgsched.surfaces.doors.action import Tool
from kgsched.surfaces.doors.tools import TOOLS
from kgsched.surfaces.mcp.reception import Reception
from kgsched.surfaces.mcp.resources import RESOURCES, read_resource
from kgsched.version import __version__

log = structlog.get_logger(__name__)

INSTRUCTIONS = """kgsched is a durable task scheduler inside a Neo4j graph. Tasks are queued and run by workers: a
call that enqueues, retries or runs something now answers at once with an id, and get_task tells how it ends. Lists
are short and have a next_cursor. Start with graph_schedules {"action": "list"}, list_tasks {"status": ["failed"]},
or lanes."""
_HINTS: tuple[tuple[type[KgschedError], str], ...] = (
    (UnknownName, "Use one of the names that exist."),
    (UsageError, "Correct the arguments and call again."),
    (NotFound, "list_tasks or graph_schedules list what there is."),
    (Unauthorized, "Ask the person for a token that counts."),
    (Forbidden, "Do not try to get around this; ask the person for a token with that right, or leave it."),
    (SecurityError, "No token allows this; ask in another way, or leave it."),
    (StoreError, "Nothing may have happened; wait a moment and look before you call again."),
)


def make_server(reception: Reception, *, read_only: bool = False) -> Server[Any]:
    """A server that answers whom its reception lets in."""
    tools = {tool.name: tool for tool in TOOLS if not read_only or all(one.reads for one in tool.actions)}

    async def list_tools(context: Any, _: Any) -> types.ListToolsResult:
        try:
            caller = await reception.caller(context.request)
        except KgschedError as error:
            raise MCPError(types.INTERNAL_ERROR, str(error)) from None
        return types.ListToolsResult(tools=[described(tool) for tool in tools.values() if tool.may(caller)])

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = tools.get(params.name)
        if tool is None:
            return _failed(f"no tool named {params.name!r}; there are {', '.join(tools)}")
        return await call(tool, reception, context.request, params.arguments or {})

    async def list_resources(_: Any, __: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=list(RESOURCES))

    async def read(context: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        try:
            return await read_resource(await reception.desk(context.request), str(params.uri))
        except KgschedError as error:
            raise MCPError(types.INTERNAL_ERROR, str(error)) from None

    return Server(
        "kgsched",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read,
    )


async def call(tool: Tool, reception: Reception, request: Any, arguments: Mapping[str, Any]) -> types.CallToolResult:
    """Carry out one call; what goes wrong is told in words that say what to do next."""
    try:
        given = tool.adapter.validate_python(dict(arguments))
        answer = await tool(await reception.desk(request), given)
    except ValidationError as error:
        return _failed(explained(tool, error))
    except KgschedError as error:
        hint = next((hint for kind, hint in _HINTS if isinstance(error, kind)), "Look at the state before you go on.")
        return _failed(f"{error}. {hint}")
    except Exception as error:  # one call never stops the server
        log.error("mcp_call_failed", tool=tool.name, error=f"{type(error).__name__}: {error}", exc_info=error)
        return _failed(f"{tool.name} failed inside kgsched; its log says why. Do not repeat the same call.")
    text = json.dumps(answer, ensure_ascii=False)
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], structured_content=answer)


def explained(tool: Tool, error: ValidationError) -> str:
    """What is wrong with the arguments, without repeating them."""
    lines = []
    for one in error.errors(include_url=False, include_input=False, include_context=False)[:8]:
        place = ".".join(str(part) for part in one["loc"]) or "arguments"
        lines.append(f"{place}: {one['msg']}")
    which = f"; actions are {', '.join(one.name for one in tool.actions)}" if tool.chooses else ""
    return f"{tool.name}: {'; '.join(lines)}. Correct the arguments and call again{which}."


@cache
def described(tool: Tool) -> types.Tool:
    """The tool as clients list it. Hints are the worst of its actions."""
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=input_schema(tool),
        output_schema=tool.answer.model_json_schema(mode="serialization"),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=all(one.reads for one in tool.actions),
            destructive_hint=any(one.destroys for one in tool.actions),
            idempotent_hint=all(one.repeatable for one in tool.actions),
            open_world_hint=False,
        ),
    )


def input_schema(tool: Tool) -> dict[str, Any]:
    """One flat object: many clients take no choice at the top. What goes with which action is said in words."""
    if not tool.chooses:
        return TypeAdapter(tool.body).json_schema()
    fields: dict[str, Any] = {}
    goes: dict[str, list[str]] = {}
    definitions: dict[str, Any] = {}
    for name, model in tool.models.items():
        schema = model.model_json_schema()
        definitions |= schema.get("$defs", {})
        for key, field in schema["properties"].items():
            fields.setdefault(key, dict(field))
            goes.setdefault(key, []).append(f"{name}{'' if key in schema.get('required', ()) else ' (optional)'}")
    for key, field in fields.items():
        field["description"] = f"{field.get('description', '')} For: {', '.join(goes[key])}.".strip()
    names = [one.name for one in tool.actions]
    fields["action"] = {"type": "string", "enum": names, "description": "What to do."}
    schema = {"type": "object", "properties": fields, "required": ["action"], "additionalProperties": False}
    return schema | ({"$defs": definitions} if definitions else {})


def _failed(text: str) -> types.CallToolResult:
    clean = text.encode("utf-8", "replace").decode()
    return types.CallToolResult(content=[types.TextContent(type="text", text=clean)], is_error=True)
