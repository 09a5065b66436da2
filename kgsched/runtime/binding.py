"""How a handler gets its arguments: the context, then what it declares, by name, from the payload."""

from __future__ import annotations

import inspect
import json
from typing import Any

from kgsched.errors import Permanent
from kgsched.registry import Handler

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def parse_payload(type_name: str, text: str | None) -> Any:
    """The payload of a task; absent means an empty object. Raises Permanent when it is not JSON."""
    if text is None:
        return {}
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Permanent(f"payload of this task of type {type_name!r} is not JSON: {error}") from None


def bind(type_name: str, handler: Handler, context: object, payload: Any) -> Arguments:
    """Positional and keyword arguments of one call.

    A handler with one parameter gets the context only; one with more gets the payload's members by name. Raises
    Permanent that names the argument that is missing or unknown.
    """
    signature = inspect.signature(handler)
    parameters = list(signature.parameters.values())
    if not parameters:
        return (), {}
    if len(parameters) == 1 and parameters[0].kind is not inspect.Parameter.VAR_KEYWORD:
        return (context,), {}
    if not isinstance(payload, dict):
        raise Permanent(f"task type {type_name!r} takes named arguments; its payload must be a JSON object")
    try:
        bound = signature.bind(context, **payload)
    except TypeError as error:
        raise Permanent(f"task type {type_name!r}: {error}; its payload has {_names(payload)}") from None
    return bound.args, bound.kwargs


def _names(payload: dict[str, Any]) -> str:
    return ", ".join(repr(name) for name in sorted(payload)[:10]) or "nothing"
